# %% right: by hand
def crossover_width():
    return (V - 10 * M) / (6 * M)


# %% right: by solve
def crossover_width():
    equation = sympy.Eq(V * D, M * (6 * D**2 + 10 * D))
    return sympy.solve(equation, D)[0]


# %% right: as a sum
def crossover_width():
    return V / M / 6 - sympy.Rational(5, 3)


# %% right: roots of a polynomial
def crossover_width():
    d = sympy.Symbol("d")
    roots = sympy.roots(sympy.Poly(M * (6 * d**2 + 10 * d) - V * d, d))
    return [root for root in roots if root != 0][0]


# %% wrong: one layer -> the number of layers is lost
def crossover_width():
    return sympy.solve(sympy.Eq(V * D, 6 * D**2 + 10 * D), D)[0]


# %% wrong: 6 D^2 only -> biases and norms are neglected
def crossover_width():
    return V / (6 * M)


# %% wrong: 8D -> one norm is counted
def crossover_width():
    return sympy.solve(sympy.Eq(V * D, M * (6 * D**2 + 8 * D)), D)[0]


# %% wrong: 4D -> biases are lost in the layers
def crossover_width():
    return sympy.solve(sympy.Eq(V * D, M * (6 * D**2 + 4 * D)), D)[0]


# %% wrong: M times the first term -> M multiplies the matrices only
def crossover_width():
    return sympy.solve(sympy.Eq(V * D, M * 6 * D**2 + 10 * D), D)[0]


# %% wrong: plus in place of minus -> a sign is turned
def crossover_width():
    return V / (6 * M) + sympy.Rational(10, 6)


# %% wrong: embedding and head -> the head is put beside the embedding
def crossover_width():
    return sympy.solve(sympy.Eq(2 * V * D, M * (6 * D**2 + 10 * D)), D)[0]


# %% wrong: as solve gives it -> the list of solve is returned
def crossover_width():
    return sympy.solve(sympy.Eq(V * D, M * (6 * D**2 + 10 * D)), D)


# %% wrong: attention times A -> the heads multiply the weights
def crossover_width():
    layers = M * (A * 4 * (D**2 + D) + 2 * (D**2 + D) + 4 * D)
    return sympy.solve(sympy.Eq(V * D, layers), D)[0]


# %% wrong: the equation itself ->
def crossover_width():
    return sympy.Eq(V * D, M * (6 * D**2 + 10 * D))


# %% wrong: the width for 50,001 words and 4 layers ->
def crossover_width():
    return 2082


# %% wrong: a width of at least 1 ->
def crossover_width() -> sympy.Expr:
    return sympy.Max(1, (V - 10 * M) / (6 * M))
