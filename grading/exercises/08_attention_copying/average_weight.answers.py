# %% right: the softmax, written down
def average_weight():
    return sympy.exp(s) / (2 * sympy.exp(s) + n - 2)


# %% right: divided by e to the s
# other: It shows the limit: as s grows, `exp(-s)` vanishes and 1/2 is left; the solution is the softmax as one writes it down, term by term.
# ~ sympy.exp(s) / (2 * sympy.exp(s) + n - 2) => 1 / (2 + (n - 2) * sympy.exp(-s))

# %% right: one half minus what leaks
# ~ exp(s) / (2 * sympy.exp(s) + n - 2) => Rational(1, 2) - (n - 2) / (2 * (2 * sympy.E**s + n - 2))


# %% right: symbols of its own
def average_weight():
    scale, count = sympy.symbols("s n")
    terms = [sympy.exp(scale), sympy.exp(scale), (count - 2) * sympy.exp(0)]
    return terms[0] / sum(terms)


# %% right: solved from the sum of all weights
def average_weight():
    w = sympy.Symbol("w")
    return sympy.solve(2 * w + (n - 2) * w * sympy.exp(-s) - 1, w)[0]


# %% right: the hyperbolic tangent of half the scale
def average_weight():
    half = sympy.tanh(s / 2)
    return (1 + half) / (2 * (1 + half) + (n - 2) * (1 - half))


# %% right: hyperbolic functions in place of the exponential
def average_weight():
    power = sympy.cosh(s) + sympy.sinh(s)
    return power / (2 * power + n - 2)


# %% wrong: the two alone -> the n - 2 others are forgotten
# hint: A score of 0 is not a weight of 0: each of the other n - 2 keys adds e^0 = 1 to the sum.
# ~ (2 * sympy.exp(s) + n - 2) => (2 * sympy.exp(s))

# %% wrong: a number -> the n - 2 others are forgotten
# ~ sympy.exp(s) / (2 * sympy.exp(s) + n - 2) => 0.5

# %% wrong: n others -> the sum has n others
# hint: a and b are among the n keys: only n - 2 are left with a score of 0.
# ~ (2 * sympy.exp(s) + n - 2) => (2 * sympy.exp(s) + n)

# %% wrong: the weight of a copy -> only one key has the score s
# hint: That is the weight when one value is copied, with n - 1 others. Here two keys have the score s.
# ~ 2 * sympy.exp(s) + n - 2 => sympy.exp(s) + n - 1

# %% wrong: two weights -> the weight of both together
# hint: The formula is for one of the two. You have added the weights of a and b.
# ~ sympy.exp(s) / (2 * sympy.exp(s) + n - 2) => 2 / (2 + (n - 2) * sympy.exp(-s))

# %% wrong: no exponentials -> scores in place of their exponentials
# hint: The softmax divides e to the score by the sum of these powers, not the score by the sum of the scores.
# ~ sympy.exp(s) / (2 * sympy.exp(s) + n - 2) => s / (2 * s + n - 2)

# %% wrong: e for each other -> the others count 0 points each
# hint: e^0 is 1. You have multiplied n - 2 with something else than 1.
# ~ n - 2 => (n - 2) * sympy.exp(1)

# %% wrong: the scale without its sign ->
# ~ (s) / (2 * sympy.exp(s) + n - 2) => (sympy.Abs(s)) / (2 * sympy.exp(sympy.Abs(s)) + n - 2)
