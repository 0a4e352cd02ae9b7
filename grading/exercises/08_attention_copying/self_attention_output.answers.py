# %% right: the softmax by hand
def self_attention_output():
    power = sympy.exp(beta**2)
    total = power + 2
    return {"u_a": power / total, "u_b": 2 / total, "u_c": 1 / total, "u_d": 1 / total}


# %% right: the tokens as rows of coefficients
# other: It computes scores, softmax and mixture from the tokens, and so works for other tokens too; the solution uses that only one score is not 0, and writes the four weights down.
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


# %% right: hyperbolic functions in place of the exponential
# ~ exp => cosh(beta**2) + sympy.sinh


# %% wrong: beta once -> the score is beta in place of beta squared
# hint: The dot product of a vector of length beta with itself is beta times beta.
def self_attention_output():
    total = sympy.exp(beta) + 2
    return {"u_a": sympy.exp(beta) / total, "u_b": 2 / total, "u_c": 1 / total, "u_d": 1 / total}


# %% wrong: the limit -> the other two tokens get no weight
# hint: That is the limit of a large beta. For each beta, a score of 0 still adds e^0 = 1 to the sum: x1 and x3 keep a
# hint: weight of 1/(e^(beta^2) + 2) each.
def self_attention_output():
    return {"u_a": 1, "u_b": 0, "u_c": 0, "u_d": 0}


# %% wrong: u_b from one token -> u_b is counted once
# hint: u_b is in x1 and in x3: it comes in with both of their weights.
def self_attention_output():
    small = 1 / (2 + sympy.exp(beta**2))
    return {"u_a": 1 - 2 * small, "u_b": small, "u_c": small, "u_d": small}


# %% wrong: the first row -> c1 in place of c2
# hint: This is the output of the first token. Token 2 asks with q2 = x2 = u_a.
def self_attention_output():
    first, second, third = sympy.exp(2 * beta**2), 1, sympy.exp(beta**2)
    total = first + second + third
    return {"u_a": second / total, "u_b": (first + third) / total, "u_c": third / total, "u_d": first / total}


# %% wrong: the sum of the others -> a token's own score is left out of the sum
# hint: The softmax divides by the sum over all three tokens, the one that looks included.
# ~ total = power + 2 => half = sympy.Rational(1, 2)
# ~ total, "u_b": 2 / total, "u_c": 1 / total, "u_d": 1 / total => 2, "u_b": 1, "u_c": half, "u_d": half


# %% wrong: only the own power below -> a score of 0 adds nothing to the sum, but has a weight
# hint: The denominator is the sum of the same three powers that stand on top: e^(beta^2) + 1 + 1.
def self_attention_output():
    small = sympy.exp(-(beta**2))
    return {"u_a": 1, "u_b": 2 * small, "u_c": small, "u_d": small}


# %% wrong: a softmax over u_a, u_b, u_c and u_d -> the softmax is over four vectors
# hint: Token 2 looks at three tokens, x1, x2 and x3, not at the four u's: the softmax is over three scores.
def self_attention_output():
    powers = [sympy.exp(score) for score in (beta**2, 0, 0, 0)]
    own, other = (power / sum(powers) for power in powers[:2])
    return {"u_a": own, "u_b": 2 * other, "u_c": other, "u_d": other}


# %% wrong: c2 times each u -> dot products in place of shares
# hint: The dot product of c2 with a vector u is beta^2 times how much of u is in c2. Divide by u . u = beta^2.
def self_attention_output():
    u_a, u_b, u_c, u_d = (sympy.eye(4).col(i) * beta for i in range(4))
    powers = [1, sympy.exp(beta**2), 1]
    c2 = (powers[0] * (u_d + u_b) + powers[1] * u_a + powers[2] * (u_c + u_b)) / sum(powers)
    return {name: c2.dot(u) for name, u in (("u_a", u_a), ("u_b", u_b), ("u_c", u_c), ("u_d", u_d))}


# %% wrong: nothing collected -> the weights, not multiplied out
# hint: These are the weights of x1, x2 and x3. Each x is a sum of u's: multiply out and collect.
def self_attention_output():
    power = sympy.exp(beta**2)
    return {"u_a": power / (power + 2), "u_b": 1 / (power + 2), "u_c": 0, "u_d": 0}


# %% wrong: the numbers of the example by hand ->
def self_attention_output():
    quarter = sympy.Rational(1, 4)
    return {"u_a": 2 * quarter, "u_b": 2 * quarter, "u_c": quarter, "u_d": quarter}
