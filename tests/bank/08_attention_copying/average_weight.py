# %% right: the softmax, written down
def average_weight():
    return sympy.exp(s) / (2 * sympy.exp(s) + n - 2)


# %% right: divided by e to the s
def average_weight():
    return 1 / (2 + (n - 2) * sympy.exp(-s))


# %% right: one half minus what leaks
def average_weight():
    return sympy.Rational(1, 2) - (n - 2) / (2 * (2 * sympy.E**s + n - 2))


# %% right: symbols of its own
def average_weight():
    scale, count = sympy.symbols("s n")
    terms = [sympy.exp(scale), sympy.exp(scale), (count - 2) * sympy.exp(0)]
    return terms[0] / sum(terms)


# %% right: solved from the sum of all weights
def average_weight():
    w = sympy.Symbol("w")
    return sympy.solve(2 * w + (n - 2) * w * sympy.exp(-s) - 1, w)[0]


# %% wrong: the two alone -> the n - 2 others are forgotten
def average_weight():
    return sympy.exp(s) / (2 * sympy.exp(s))


# %% wrong: n others -> the sum has n others
def average_weight():
    return sympy.exp(s) / (2 * sympy.exp(s) + n)


# %% wrong: the weight of a copy -> only one key has the score s
def average_weight():
    return sympy.exp(s) / (sympy.exp(s) + n - 1)


# %% wrong: two weights -> the weight of both together
def average_weight():
    return 2 / (2 + (n - 2) * sympy.exp(-s))


# %% wrong: no exponentials -> scores in place of their exponentials
def average_weight():
    return s / (2 * s + n - 2)


# %% wrong: e for each other -> the others count 0 points each
def average_weight():
    return sympy.exp(s) / (2 * sympy.exp(s) + (n - 2) * sympy.exp(1))


# %% wrong: e cut to 2.718 ->
def average_weight():
    power = 2.718**s
    return power / (2 * power + n - 2)


# %% wrong: the scale squared ->
def average_weight():
    return sympy.exp(s**2) / (2 * sympy.exp(s**2) + n - 2)


# %% wrong: the limit of n ->
def average_weight():
    return 1 / n


# %% wrong: a number -> the n - 2 others are forgotten
def average_weight():
    return 0.5


# %% wrong: a text ->
def average_weight():
    return "e^s / (2 e^s + n - 2)"


# %% wrong: another symbol ->
def average_weight():
    t = sympy.Symbol("t")
    return sympy.exp(t) / (2 * sympy.exp(t) + n - 2)


# %% right: the hyperbolic tangent of half the scale
def average_weight():
    half = sympy.tanh(s / 2)
    return (1 + half) / (2 * (1 + half) + (n - 2) * (1 - half))


# %% right: hyperbolic functions in place of the exponential
def average_weight():
    power = sympy.cosh(s) + sympy.sinh(s)
    return power / (2 * power + n - 2)


# %% wrong: the scale without its sign ->
def average_weight():
    return sympy.exp(sympy.Abs(s)) / (2 * sympy.exp(sympy.Abs(s)) + n - 2)


# %% wrong: right at scale 0 only ->
def average_weight():
    return (1 + s) / n
