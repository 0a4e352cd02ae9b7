# %% right: the softmax by hand
def self_attention_output():
    power = sympy.exp(beta**2)
    total = power + 2
    return {"u_a": power / total, "u_b": 2 / total, "u_c": 1 / total, "u_d": 1 / total}


# %% right: the tokens as rows of coefficients
def self_attention_output():
    x = sympy.Matrix([[0, 1, 0, 1], [1, 0, 0, 0], [0, 1, 1, 0]])
    scores = beta**2 * x * x.row(1).T
    powers = scores.applyfunc(sympy.exp)
    mixture = powers.T * x / sum(powers)
    return dict(zip(["u_a", "u_b", "u_c", "u_d"], mixture))


# %% right: the small weight first
def self_attention_output():
    small = 1 / (2 + sympy.exp(beta * beta))
    return {"u_d": small, "u_c": small, "u_b": small + small, "u_a": 1 - 2 * small}


# %% right: a symbol of its own and negative powers
def self_attention_output():
    length = sympy.Symbol("beta")
    leak = sympy.exp(-(length**2))
    return {
        "u_a": 1 / (1 + 2 * leak),
        "u_b": 2 * leak / (1 + 2 * leak),
        "u_c": leak / (1 + 2 * leak),
        "u_d": leak / (1 + 2 * leak),
    }


# %% wrong: beta once -> the score is beta in place of beta squared
def self_attention_output():
    total = sympy.exp(beta) + 2
    return {"u_a": sympy.exp(beta) / total, "u_b": 2 / total, "u_c": 1 / total, "u_d": 1 / total}


# %% wrong: the limit -> the other two tokens get no weight
def self_attention_output():
    return {"u_a": 1, "u_b": 0, "u_c": 0, "u_d": 0}


# %% wrong: scores without exponentials -> the other two tokens get no weight
def self_attention_output():
    score = beta**2
    return {"u_a": score / score, "u_b": 0 * score, "u_c": 0 * score, "u_d": 0 * score}


# %% wrong: u_b from one token -> u_b is counted once
def self_attention_output():
    small = 1 / (2 + sympy.exp(beta**2))
    return {"u_a": 1 - 2 * small, "u_b": small, "u_c": small, "u_d": small}


# %% wrong: the first row -> c1 in place of c2
def self_attention_output():
    first, second, third = sympy.exp(2 * beta**2), 1, sympy.exp(beta**2)
    total = first + second + third
    return {"u_a": second / total, "u_b": (first + third) / total, "u_c": third / total, "u_d": first / total}


# %% wrong: the sum of the others -> a token's own score is left out of the sum
def self_attention_output():
    power = sympy.exp(beta**2)
    half = sympy.Rational(1, 2)
    return {"u_a": power / 2, "u_b": 1, "u_c": half, "u_d": half}


# %% wrong: only the own power below -> a score of 0 adds nothing to the sum, but has a weight
def self_attention_output():
    small = sympy.exp(-(beta**2))
    return {"u_a": 1, "u_b": 2 * small, "u_c": small, "u_d": small}


# %% wrong: nothing collected -> the weights, not multiplied out
def self_attention_output():
    power = sympy.exp(beta**2)
    return {"u_a": power / (power + 2), "u_b": 1 / (power + 2), "u_c": 0, "u_d": 0}


# %% wrong: one other token only ->
def self_attention_output():
    small = 1 / (1 + sympy.exp(beta**2))
    return {"u_a": 1 - small, "u_b": small, "u_c": small, "u_d": small}


# %% wrong: scores divided by beta squared ->
def self_attention_output():
    total = sympy.E + 2
    return {"u_a": sympy.E / total, "u_b": 2 / total, "u_c": 1 / total, "u_d": 1 / total}


# %% wrong: a missing entry ->
def self_attention_output():
    power = sympy.exp(beta**2)
    return {"u_a": power / (power + 2), "u_b": 2 / (power + 2)}


# %% wrong: a tuple of four ->
def self_attention_output():
    small = 1 / (2 + sympy.exp(beta**2))
    return 1 - 2 * small, 2 * small, small, small


# %% right: hyperbolic functions in place of the exponential
def self_attention_output():
    power = sympy.cosh(beta**2) + sympy.sinh(beta**2)
    total = power + 2
    return {"u_a": power / total, "u_b": 2 / total, "u_c": 1 / total, "u_d": 1 / total}


# %% wrong: the numbers of the example by hand ->
def self_attention_output():
    quarter = sympy.Rational(1, 4)
    return {"u_a": 2 * quarter, "u_b": 2 * quarter, "u_c": quarter, "u_d": quarter}


# %% wrong: u_c and u_d are forgotten ->
def self_attention_output():
    power = sympy.exp(beta**2)
    return {"u_a": power / (power + 2), "u_b": 2 / (power + 2), "u_c": 0, "u_d": 0}


# %% wrong: a softmax over u_a, u_b, u_c and u_d -> the softmax is over four vectors
def self_attention_output():
    powers = [sympy.exp(score) for score in (beta**2, 0, 0, 0)]
    own, other = (power / sum(powers) for power in powers[:2])
    return {"u_a": own, "u_b": 2 * other, "u_c": other, "u_d": other}


# %% wrong: c2 times each u -> dot products in place of shares
def self_attention_output():
    u_a, u_b, u_c, u_d = (sympy.eye(4).col(i) * beta for i in range(4))
    powers = [1, sympy.exp(beta**2), 1]
    c2 = (powers[0] * (u_d + u_b) + powers[1] * u_a + powers[2] * (u_c + u_b)) / sum(powers)
    return {name: c2.dot(u) for name, u in (("u_a", u_a), ("u_b", u_b), ("u_c", u_c), ("u_d", u_d))}
