# %% right: by hand
# other: Solved by hand, it needs no solver, and one sees that the width depends on `V / M` alone; the solution states the equation as the text does, and leaves the algebra to sympy.
def crossover_width():
    return (V - 10 * M) / (6 * M)


# %% right: by solve
def crossover_width():
    equation = sympy.Eq(V * D, M * (6 * D**2 + 10 * D))
    return sympy.solve(equation, D)[0]


# %% right: as a sum
# ~ (V - 10 * M) / (6 * M) => V / M / 6 - sympy.Rational(5, 3)


# %% right: roots of a polynomial
def crossover_width():
    d = sympy.Symbol("d")
    roots = sympy.roots(sympy.Poly(M * (6 * d**2 + 10 * d) - V * d, d))
    return [root for root in roots if root != 0][0]


# %% wrong: one layer -> the number of layers is lost
# hint: There are M layers on one side and one embedding on the other.
# ~ (V - 10 * M) / (6 * M) => sympy.solve(sympy.Eq(V * D, 6 * D**2 + 10 * D), D)[0]

# %% wrong: 6 D^2 only -> biases and norms are neglected
# hint: V/(6M) is a good estimate for large V; the exact equation has the 10D of each layer too.
# ~ (V - 10 * M) => V

# %% wrong: 8D -> one norm is counted
# hint: A layer has 10D beside 6D^2, not 8D.
# ~ (V - 10 * M) / (6 * M) => sympy.solve(sympy.Eq(V * D, M * (6 * D**2 + 8 * D)), D)[0]

# %% wrong: 4D -> biases are lost in the layers
# hint: A layer has 10D beside 6D^2: six biases and two norms.
# ~ (V - 10 * M) / (6 * M) => sympy.solve(sympy.Eq(V * D, M * (6 * D**2 + 4 * D)), D)[0]

# %% wrong: M times the first term -> M multiplies the matrices only
# hint: All of a layer comes M times: M (6D^2 + 10D) has 10 M D in it.
# ~ (V - 10 * M) / (6 * M) => sympy.solve(sympy.Eq(V * D, M * 6 * D**2 + 10 * D), D)[0]

# %% wrong: plus in place of minus -> a sign is turned
# hint: V D = M (6 D^2 + 10 D): when the 10 M D go to the other side, they are taken off.
# ~ (V - 10 * M) / (6 * M) => V / (6 * M) + sympy.Rational(10, 6)

# %% wrong: embedding and head -> the head is put beside the embedding
# hint: The question is about the embedding alone, V D. (With the head it is a good question, too.)
# ~ (V - 10 * M) / (6 * M) => sympy.solve(sympy.Eq(2 * V * D, M * (6 * D**2 + 10 * D)), D)[0]

# %% wrong: as solve gives it -> the list of solve is returned
# hint: sympy.solve gives a list of solutions; return the one that is larger than 0, with [0].
# ~ (V - 10 * M) / (6 * M) => sympy.solve(sympy.Eq(V * D, M * (6 * D**2 + 10 * D)), D)


# %% wrong: attention times A -> the heads multiply the weights
# hint: Heads split the width D among them; A is not in the equation.
def crossover_width():
    layers = M * (A * 4 * (D**2 + D) + 2 * (D**2 + D) + 4 * D)
    return sympy.solve(sympy.Eq(V * D, layers), D)[0]


# %% wrong: a width of at least 1 ->
def crossover_width() -> sympy.Expr:
    return sympy.Max(1, (V - 10 * M) / (6 * M))
