# %% right: product over two
def wasted_scores():
    return L * (L - 1) / 2


# %% right: square without the diagonal, expanded
def wasted_scores():
    return (L**2 - L) / 2


# %% right: sum over the rows
def wasted_scores():
    i = sympy.Symbol("i", integer=True)
    return sympy.summation(L - 1 - i, (i, 0, L - 1))


# %% right: binomial coefficient, written out
def wasted_scores():
    return sympy.expand_func(sympy.binomial(L, 2))


# %% right: a symbol of its own
def wasted_scores():
    length = sympy.symbols("L")
    return length * length / 2 - sympy.Rational(1, 2) * length


# %% wrong: diagonal counted -> the diagonal is counted
def wasted_scores():
    return L * (L + 1) / 2


# %% wrong: the whole square -> all scores are counted
def wasted_scores():
    return L * L


# %% wrong: both triangles -> both triangles are counted
def wasted_scores():
    return L**2 - L


# %% wrong: half of the square -> half of all scores
def wasted_scores():
    return L**2 / 2


# %% wrong: the first row only -> one row in place of all
def wasted_scores():
    return L - 1


# %% wrong: the number for five tokens ->
def wasted_scores():
    return 10


# %% wrong: a right value at 5 only ->
def wasted_scores():
    return 2 * L


# %% wrong: another symbol ->
def wasted_scores():
    n = sympy.Symbol("n")
    return n * (n - 1) / 2
