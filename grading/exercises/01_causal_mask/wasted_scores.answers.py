# %% right: product over two
def wasted_scores():
    return L * (L - 1) / 2


# %% right: square without the diagonal, expanded
# ~ L * (L - 1) => (L**2 - L)


# %% right: sum over the rows
# other: It counts as the picture does, row by row, and lets sympy find the closed form; the product is the closed form itself.
def wasted_scores():
    i = sympy.Symbol("i", integer=True)
    return sympy.summation(L - 1 - i, (i, 0, L - 1))


# %% right: binomial coefficient, written out
# ~ L * (L - 1) / 2 => sympy.expand_func(sympy.binomial(L, 2))


# %% right: a symbol of its own
def wasted_scores():
    length = sympy.symbols("L")
    return length * length / 2 - sympy.Rational(1, 2) * length


# %% right: a quotient of factorials
# ~ L * (L - 1) / 2 => sympy.factorial(L) / (2 * sympy.factorial(L - 2))

# %% right: a binomial coefficient
# ~ L * (L - 1) / 2 => sympy.binomial(L, 2)

# %% right: a sum that is not worked out
# of: sum over the rows
# ~ summation(L - 1 - i, (i, 0, L - 1)) => Sum(i, (i, 1, L - 1))


# %% right: with a decimal number
def wasted_scores():
    return 0.5 * L * (L - 1)


# %% wrong: diagonal counted -> the diagonal is counted
# hint: The L scores of the diagonal are kept: each token looks at itself. Take them off.
def wasted_scores():
    return L * (L + 1) / 2


# %% wrong: the whole square -> all scores are counted
# hint: The scores of the past and of the token itself are used; only j > i is wasted.
def wasted_scores():
    return L * L


# %% wrong: both triangles -> both triangles are counted
# hint: The scores below the diagonal are the past, which is used. Only one of the two triangles is wasted.
def wasted_scores():
    return L**2 - L


# %% wrong: half of the square -> half of all scores
# hint: Exactly half would split the diagonal in two. First take the diagonal off, then halve.
def wasted_scores():
    return L**2 / 2


# %% wrong: the first row only -> one row in place of all
# hint: L - 1 is what the first row throws away; the second one throws away L - 2, and so on. Sum over the rows.
def wasted_scores():
    return L - 1


# %% wrong: the number for five tokens -> a number, not a formula: 10
# hint: 10 is right for five tokens only. Write how many there are for any number of tokens, with the symbol L.
def wasted_scores():
    return 10


# %% wrong: the squares of the picture -> a number, not a formula: 15
# hint: 15 is right for the six words of the picture only. Write how many there are for any number of tokens, with the
# hint: symbol L.
def wasted_scores():
    return 15


# %% wrong: the triangle with one row more -> one row too many
# hint: Row i throws away L - 1 - i scores, from row 0 (L - 1) to the last row (none): the sum is (L - 1) + ... + 1 + 0.
def wasted_scores():
    return (L + 1) * (L + 2) / 2


# %% wrong: right for five and for two ->
def wasted_scores():
    return 3 * L - 5
