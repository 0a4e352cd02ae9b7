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
# other: Factorized, `2 * D + L` against `D + L` shows at once what the dense synthesizer saves; the solution shows where each term comes from: layers, heads, matrix products.
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


# %% wrong: no biases at all -> biases are lost
# hint: query, key and hidden have a bias of D numbers each, and each head has N numbers b2.
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
# hint: query, key and hidden are nn.Linear layers, and each has a bias of D numbers.
# of: no biases at all
# ~ N * D, => N * (D + A),

# %% wrong: hidden and B only -> b2 is lost
# hint: Each of the A heads adds its own b2: N numbers each.
# ~ D**2, => (D**2 + D),
# ~ D**2 + N * D, => D * (D + 1) + D * N,

# %% wrong: one b2 -> b2 is counted for one head
# hint: Each of the A heads has its own b2: A times N numbers.
# ~ D**2, => (D**2 + D),
# ~ D**2 + N * D, => D * (D + 1) + D * N + N,

# %% wrong: one B -> B is counted for one head
# hint: D/A rows belong to the B of one head. There are A of them, so D rows in all.
# ~ D**2, => (D**2 + D),
# ~ D**2 + N * D, => D * (D + 1) + D * N / A + A * N,

# %% wrong: D rows in each head -> every head has a B as wide as the model
# hint: The heads share the width: the B of one head has D/A rows, not D.
# ~ D**2, => (D**2 + D),
# ~ D**2 + N * D, => D * (D + 1) + A * D * N + A * N,

# %% wrong: L columns -> B is as long as the sentence
# hint: B is made before any sentence is seen, for the longest one: N columns. It is only cut to L for a sentence.
# ~ D**2, => (D**2 + D),
# ~ D**2 + N * D, => D * (D + 1) + L * (D + A),
# ~ N => L

# %% wrong: N squared -> one square is counted
# hint: Each of the A heads has its own square of N times N scores.
# ~ D**2, => (D**2 + D),
# ~ N * D => D + D * N + A * N
# ~ A * N* => N*

# %% wrong: all layers -> value and output are counted
# hint: Count what makes the scores. Value and output are the same in all three kinds.
# ~ 2 * D**2 => 4 * (D**2 + D)
# ~ D**2 + N * D => 3 * (D**2 + D) + N * (D + A)
# ~ *2, => *2 + 2 * (D**2 + D),

# %% wrong: only the squares -> the layers' products are lost
# hint: Queries, keys and hidden have to be made first: (L, D) @ (D, D) takes L*D*D products.
# of: N squared
# ~ N** => A * N**
# ~ 2 * L * D**2 + L**2 * D => D * L**2
# ~ L * D**2 + L**2 * D => D * L**2

# %% wrong: only the layers -> the products with the square are lost
# hint: The last step has a cost, too: for each head (L, D/A) @ (D/A, L), in all L*L*D products.
# ~ N** => A * N**
# ~ * L * D**2 + L**2 * D, => * D**2 * L,
# ~ L * D**2 + L**2 * D => D**2 * L

# %% wrong: every head of full width -> the heads multiply the products
# hint: A head has D/A numbers of a token, so its square takes L*L*D/A products; A heads take L*L*D.
# ~ N** => A * N**
# ~ * L * D**2 + L**2 * D, => * L * D**2 + A * D * L**2,
# ~ L**2 * D => A * D * L**2

# %% wrong: one head's square -> the products of one head
# hint: L*L*D/A is the square of one head. There are A heads.
# ~ N** => A * N**
# ~ * L * D**2 + L**2 * D, => * L * D**2 + L * L * D / A,
# ~ L**2 * D, => L * L * D / A,

# %% wrong: all N columns -> B is used without a cut
# hint: B is cut to L columns before the product: (L, D/A) @ (D/A, L) for each head.
# ~ N** => A * N**
# ~ : L * D**2 + L**2 * D, => : L * D**2 + L * D * N,

# %% wrong: nothing compared, nothing multiplied -> the dense synthesizer has no square
# hint: It compares no tokens, but it still makes a score for each pair of positions: L rows of L numbers, each a sum of
# hint: D/A products in each head.
# ~ N** => A * N**
# ~ : L * D**2 + L**2 * D, => : L * D**2,

# %% wrong: one layer for both -> queries and keys are counted once
# hint: Queries and keys come from two layers: twice (L, D) @ (D, D).
# of: no biases at all
# ~ 2 * D**2 => D**2 + D
# ~ N * D => D + D * N + A * N
# ~ 2 * L => L

# %% wrong: a product for each score -> random scores cost products
# hint: Nothing is multiplied: the scores are read from the parameters.
# ~ D**2, => (D**2 + D),
# ~ N * D => D + D * N + A * N
# ~ : 0, => : L**2,

# %% wrong: numbers in place of formulas ->
# of: a product for each score
# ~ 2 * L * D**2 + L**2 * D => 384
# ~ L * D**2 + L**2 * D => 240
# ~ L**2 => 0

# %% wrong: key-query without the bias of the key ->
# of: no biases at all
# ~ D**2, => D**2 + D,
# ~ N * D => D + D * N + A * N
