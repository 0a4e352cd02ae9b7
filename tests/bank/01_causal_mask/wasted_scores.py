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


# %% wrong: the number for five tokens -> a number, not a formula: 10
def wasted_scores():
    return 10


# %% wrong: a right value at 5 only ->
def wasted_scores():
    return 2 * L


# %% wrong: another symbol ->
def wasted_scores():
    n = sympy.Symbol("n")
    return n * (n - 1) / 2


# %% right: a quotient of factorials
def wasted_scores():
    return sympy.factorial(L) / (2 * sympy.factorial(L - 2))


# %% right: a binomial coefficient
def wasted_scores():
    return sympy.binomial(L, 2)


# %% right: a sum that is not worked out
def wasted_scores():
    i = sympy.Symbol("i", integer=True)
    return sympy.Sum(i, (i, 1, L - 1))


# %% right: with a decimal number
def wasted_scores():
    return 0.5 * L * (L - 1)


# %% wrong: the squares of the picture -> a number, not a formula: 15
def wasted_scores():
    return 15


# %% wrong: the example -> a number, not a formula: 10
def wasted_scores():
    return sympy.Integer(10)


# %% wrong: 25 of a square of five ->
def wasted_scores():
    return 25


# %% wrong: right for five and for two ->
def wasted_scores():
    return 3 * L - 5


# %% wrong: one token too few ->
def wasted_scores():
    return (L - 1) * (L - 2) / 2


# %% wrong: a share in place of a number ->
def wasted_scores():
    return (L - 1) / (2 * L)


# %% wrong: the triangle with one row more -> one row too many
def wasted_scores():
    return (L + 1) * (L + 2) / 2
