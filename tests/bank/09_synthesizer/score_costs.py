# %% right: from the layers
def score_costs():
    layer = D**2 + D
    square = A * L * (D / A) * L
    return {
        "key-query parameters": 2 * layer,
        "dense parameters": layer + A * (D / A) * N + A * N,
        "random parameters": A * N**2,
        "key-query products": 2 * L * D**2 + square,
        "dense products": L * D**2 + square,
        "random products": 0,
    }


# %% right: factorized
def score_costs():
    return {
        "key-query parameters": 2 * D * (D + 1),
        "dense parameters": D * (D + 1) + N * (D + A),
        "random parameters": A * N * N,
        "key-query products": L * D * (2 * D + L),
        "dense products": L * D * (D + L),
        "random products": sympy.Integer(0),
    }


# %% right: with a function for matrix products and symbols of one's own
def score_costs():
    D, A, N, L = sympy.symbols("D A N L")

    def products(p, q, r):
        return p * q * r

    names = ["key-query", "dense", "random"]
    parameters = [2 * (D * D + D), D * D + D + A * (D / A * N + N), A * N**2]
    work = [2 * products(L, D, D) + A * products(L, D / A, L), products(L, D, D) + A * products(L, D / A, L), 0]
    found = {f"{name} parameters": value for name, value in zip(names, parameters)}
    return found | {f"{name} products": value for name, value in zip(names, work)}


# %% right: the differences
def score_costs():
    costs = {"key-query parameters": 2 * D**2 + 2 * D, "key-query products": 2 * L * D**2 + D * L**2}
    costs["dense parameters"] = costs["key-query parameters"] - (D**2 + D) + sympy.expand((D + A) * N)
    costs["dense products"] = costs["key-query products"] - L * D**2
    costs["random parameters"] = A * N**2
    costs["random products"] = costs["dense products"] - L * D * (D + L)
    return costs


# %% wrong: no biases at all -> biases are lost
def score_costs():
    return {
        "key-query parameters": 2 * D**2,
        "dense parameters": D**2 + N * D,
        "random parameters": A * N**2,
        "key-query products": 2 * L * D**2 + L**2 * D,
        "dense products": L * D**2 + L**2 * D,
        "random products": 0,
    }


# %% wrong: layers without bias -> the biases of the layers are lost
# of: no biases at all
# -        "dense parameters": D**2 + N * D,
# +        "dense parameters": D**2 + N * (D + A),


# %% wrong: hidden and B only -> b2 is lost
def score_costs():
    return {
        "key-query parameters": 2 * (D**2 + D),
        "dense parameters": D * (D + 1) + D * N,
        "random parameters": A * N**2,
        "key-query products": 2 * L * D**2 + L**2 * D,
        "dense products": L * D**2 + L**2 * D,
        "random products": 0,
    }


# %% wrong: one b2 -> b2 is counted for one head
# of: hidden and B only
# -        "dense parameters": D * (D + 1) + D * N,
# +        "dense parameters": D * (D + 1) + D * N + N,


# %% wrong: one B -> B is counted for one head
# of: hidden and B only
# -        "dense parameters": D * (D + 1) + D * N,
# +        "dense parameters": D * (D + 1) + D * N / A + A * N,


# %% wrong: D rows in each head -> every head has a B as wide as the model
# of: hidden and B only
# -        "dense parameters": D * (D + 1) + D * N,
# +        "dense parameters": D * (D + 1) + A * D * N + A * N,


# %% wrong: L columns -> B is as long as the sentence
# of: hidden and B only
# -        "dense parameters": D * (D + 1) + D * N,
# -        "random parameters": A * N**2,
# +        "dense parameters": D * (D + 1) + L * (D + A),
# +        "random parameters": A * L**2,


# %% wrong: N squared -> one square is counted
def score_costs():
    return {
        "key-query parameters": 2 * (D**2 + D),
        "dense parameters": D**2 + D + D * N + A * N,
        "random parameters": N**2,
        "key-query products": 2 * L * D**2 + L**2 * D,
        "dense products": L * D**2 + L**2 * D,
        "random products": 0,
    }


# %% wrong: all layers -> value and output are counted
def score_costs():
    return {
        "key-query parameters": 4 * (D**2 + D),
        "dense parameters": 3 * (D**2 + D) + N * (D + A),
        "random parameters": A * N**2 + 2 * (D**2 + D),
        "key-query products": 2 * L * D**2 + L**2 * D,
        "dense products": L * D**2 + L**2 * D,
        "random products": 0,
    }


# %% wrong: only the squares -> the layers' products are lost
def score_costs():
    return {
        "key-query parameters": 2 * (D**2 + D),
        "dense parameters": D**2 + D + D * N + A * N,
        "random parameters": A * N**2,
        "key-query products": D * L**2,
        "dense products": D * L**2,
        "random products": 0,
    }


# %% wrong: only the layers -> the products with the square are lost
# of: only the squares
# -        "key-query products": D * L**2,
# -        "dense products": D * L**2,
# +        "key-query products": 2 * D**2 * L,
# +        "dense products": D**2 * L,


# %% wrong: every head of full width -> the heads multiply the products
# of: only the squares
# -        "key-query products": D * L**2,
# -        "dense products": D * L**2,
# +        "key-query products": 2 * L * D**2 + A * D * L**2,
# +        "dense products": L * D**2 + A * D * L**2,


# %% wrong: one head's square -> the products of one head
# of: only the squares
# -        "key-query products": D * L**2,
# -        "dense products": D * L**2,
# +        "key-query products": 2 * L * D**2 + L * L * D / A,
# +        "dense products": L * D**2 + L * L * D / A,


# %% wrong: all N columns -> B is used without a cut
def score_costs():
    return {
        "key-query parameters": 2 * (D**2 + D),
        "dense parameters": D**2 + D + D * N + A * N,
        "random parameters": A * N**2,
        "key-query products": 2 * L * D**2 + L**2 * D,
        "dense products": L * D**2 + L * D * N,
        "random products": 0,
    }


# %% wrong: nothing compared, nothing multiplied -> the dense synthesizer has no square
# of: all N columns
# -        "dense products": L * D**2 + L * D * N,
# +        "dense products": L * D**2,


# %% wrong: one layer for both -> queries and keys are counted once
def score_costs():
    return {
        "key-query parameters": D**2 + D,
        "dense parameters": D**2 + D + D * N + A * N,
        "random parameters": A * N**2,
        "key-query products": L * D**2 + L**2 * D,
        "dense products": L * D**2 + L**2 * D,
        "random products": 0,
    }


# %% wrong: a product for each score -> random scores cost products
def score_costs():
    return {
        "key-query parameters": 2 * (D**2 + D),
        "dense parameters": D**2 + D + D * N + A * N,
        "random parameters": A * N**2,
        "key-query products": 2 * L * D**2 + L**2 * D,
        "dense products": L * D**2 + L**2 * D,
        "random products": L**2,
    }


# %% wrong: an entry is missing ->
# of: a product for each score
# -        "random products": L**2,


# %% wrong: numbers in place of formulas ->
# of: only the squares
# -        "key-query products": D * L**2,
# -        "dense products": D * L**2,
# +        "key-query products": 384,
# +        "dense products": 240,


# %% wrong: key-query without the bias of the key ->
def score_costs():
    return {
        "key-query parameters": 2 * D**2 + D,
        "dense parameters": D**2 + D + D * N + A * N,
        "random parameters": A * N**2,
        "key-query products": 2 * L * D**2 + L**2 * D,
        "dense products": L * D**2 + L**2 * D,
        "random products": 0,
    }


# %% wrong: a tuple ->
def score_costs():
    return 2 * (D**2 + D), D**2 + D + D * N + A * N, A * N**2


# %% right: written with sympy's own products and powers
def score_costs():
    layer = sympy.Mul(D, D + 1)
    square = sympy.expand(A * L * (D / A) * L)
    return {
        "key-query parameters": 2 * layer,
        "dense parameters": sympy.factor(layer + N * (D + A)),
        "random parameters": sympy.Pow(N, 2) * A,
        "key-query products": 2 * L * D**2 + square,
        "dense products": L * D * (D + L),
        "random products": sympy.S.Zero,
    }


# %% wrong: zero for everything ->
def score_costs():
    kinds, counts = ("key-query", "dense", "random"), ("parameters", "products")
    return {f"{kind} {count}": sympy.Integer(0) for kind in kinds for count in counts}


# %% wrong: an addition for each product ->
# of: only the squares
# -        "key-query products": D * L**2,
# -        "dense products": D * L**2,
# +        "key-query products": 2 * (2 * L * D**2 + L**2 * D),
# +        "dense products": 2 * (L * D**2 + L**2 * D),


# %% wrong: half of the square, as the mask hides the rest ->
# of: only the squares
# -        "key-query products": D * L**2,
# -        "dense products": D * L**2,
# +        "key-query products": 2 * L * D**2 + L * (L + 1) * D / 2,
# +        "dense products": L * D**2 + L * (L + 1) * D / 2,
