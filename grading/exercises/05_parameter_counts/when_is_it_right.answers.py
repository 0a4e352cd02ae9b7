# %% right: solve, then look at the solution
def when_is_it_right(claim):
    solutions = sympy.solve(sympy.Eq(claim, 6 * D**2 + 10 * D), A)
    if len(solutions) == 1 and solutions[0].is_Integer:
        return solutions[0]
    return None


# %% right: every power of D must agree
# other: It compares the coefficients of each power of D, which is what "for every width" means; the solution solves once for A, and only looks whether a whole number comes out.
def when_is_it_right(claim):
    difference = sympy.Poly(sympy.expand(claim - 6 * D**2 - 10 * D), D)
    unknown = sympy.Symbol("a", positive=True)
    equations = [c.subs(A, unknown) for c in difference.all_coeffs()]
    found = sympy.solve(equations, unknown, dict=True)
    if found and found[0][unknown].is_integer and found[0][unknown] >= 1:
        return int(found[0][unknown])


# %% right: two widths must give the same
def when_is_it_right(claim):
    found = []
    for width in (7, 1000):
        right = 6 * width**2 + 10 * width
        answers = sympy.solve(sympy.expand(claim.subs(D, width)) - right, A)
        found.append(answers[0] if answers else None)
    return found[0] if found[0] == found[1] else None


# %% wrong: as solve gives it -> the list of solve is returned
# hint: sympy.solve gives a list of solutions; return the one in it, with [0].
def when_is_it_right(claim):
    return sympy.solve(sympy.Eq(claim, 6 * D**2 + 10 * D), A)


# %% wrong: the first solution, unseen -> the solution is not looked at
# hint: Look at what solve gives: where the list is empty, or its solution contains D, no number of heads makes the
# hint: claim right for every width. Return None there.
def when_is_it_right(claim):
    return sympy.solve(sympy.Eq(claim, 6 * D**2 + 10 * D), A)[0]


# %% wrong: at D = 200 -> solved at one width only
# hint: A claim may be right at D = 200 by chance. Solve with the symbol D, or try several widths.
def when_is_it_right(claim):
    at_200 = claim.subs(D, 200)
    solutions = sympy.solve(sympy.Eq(at_200, 242_000), A)
    return solutions[0] if solutions else None


# %% wrong: 8D -> compared with a count that has one norm
# hint: The right count of a layer has 10D, not 8D: two norms.
def when_is_it_right(claim):
    return sympy.solve(sympy.Eq(claim, 6 * D**2 + 8 * D), A)[0]


# %% wrong: 4D -> compared with a count without biases
# hint: The right count of a layer has the biases of all six Linears.
def when_is_it_right(claim):
    return sympy.solve(sympy.Eq(claim, 6 * D**2 + 4 * D), A)[0]


# %% wrong: 8D, and the solution is looked at -> compared with a count that has one norm, where the claim fits it
# hint: The right count of a layer has 10D, not 8D: two norms.
# ~ 10 * => 8 *


# %% wrong: 4D, and the solution is looked at -> compared with a count without biases, where the claim fits it
# hint: The right count of a layer has the biases of all six Linears.
def when_is_it_right(claim):
    solutions = sympy.solve(sympy.Eq(claim, 6 * D**2 + 4 * D), A)
    return solutions[0] if len(solutions) == 1 and solutions[0].is_Integer else None


# %% wrong: layer_total() as it is -> F is left in the count that the claim is compared with
# hint: Claims are about a layer at F = D, and your solution has F in it: put layer_total().subs(F, D) in the equation.
def when_is_it_right(claim):
    return sympy.solve(sympy.Eq(claim, layer_total()), A)[0]


# %% wrong: None without a look -> None, whatever the claim says
# hint: The count of the text is right for one number of heads. If you compare with layer_total(), put F = D in it
# hint: first: with F in it, no claim is right.
def when_is_it_right(claim):
    return None


# %% wrong: heads never multiply -> one head, whatever the claim says
# hint: Heads do not multiply the weights, that is true. But the question is for which A this claim, wrong as it is,
# hint: gives the right number.
def when_is_it_right(claim):
    return 1


# %% wrong: 2 is the answer of the text -> two heads, whatever the claim says
# hint: 2 is right for the count of the text. Solve for A: your function is asked about other claims too.
def when_is_it_right(claim):
    return 2


# %% wrong: a symbol that may be 0 ->
def when_is_it_right(claim):
    a = sympy.Symbol("a")
    solutions = sympy.solve(sympy.expand(claim.subs(A, a) - 6 * D**2 - 10 * D), a)
    return solutions[0] if solutions and solutions[0].is_Integer else None


# %% wrong: linear in A, by two values ->
def when_is_it_right(claim: sympy.Expr) -> int | None:
    at_one, at_two = sympy.expand(claim.subs(A, 1)), sympy.expand(claim.subs(A, 2))
    heads = sympy.cancel(1 + (6 * D**2 + 10 * D - at_one) / (at_two - at_one))
    return int(heads) if heads.is_Integer and heads >= 1 else None


# %% wrong: three widths stand for all ->
def when_is_it_right(claim: sympy.Expr) -> int | None:
    difference = claim - (6 * D**2 + 10 * D)
    found = [set(sympy.solve(difference.subs(D, width), A)) for width in (1, 2, 3)]
    common = set.intersection(*found)
    return int(min(common)) if common else None


# %% wrong: half heads are rounded ->
def when_is_it_right(claim):
    heads = sympy.Symbol("heads", real=True)
    for found in sympy.solve(sympy.expand(claim.subs(A, heads) - 6 * D**2 - 10 * D), heads):
        if not found.has(D) and found > 0:
            return max(1, int(found))
    return None


# %% wrong: solved at D = 64 ->
def when_is_it_right(claim):
    found = sympy.solve(sympy.Eq(claim.subs(D, 64), (6 * D**2 + 10 * D).subs(D, 64)), A)
    return int(found[0]) if len(found) == 1 and found[0].is_Integer else None


# %% wrong: 1 to 999 heads are tried ->
def when_is_it_right(claim: sympy.Expr) -> int | None:
    """Returns the A for which a claim about one layer (at F = D) is right for every width D."""
    right = 6 * D**2 + 10 * D
    for heads in range(1, 1000):
        if sympy.expand(claim.subs(A, heads) - right) == 0:
            return heads
    return None


# %% wrong: the first solution of a letter that may be negative ->
def when_is_it_right(claim: sympy.Expr) -> int | None:
    heads = sympy.Symbol("heads")
    solutions = sympy.solve(sympy.expand(claim.subs(A, heads) - 6 * D**2 - 10 * D), heads)
    if not solutions:
        return None
    first = sympy.simplify(solutions[0])
    return int(first) if first.is_Integer and first >= 1 else None


# %% wrong: up to ten thousand heads are tried ->
def when_is_it_right(claim: sympy.Expr) -> int | None:
    difference = sympy.lambdify((A, D), claim - 6 * D**2 - 10 * D, "math")
    for heads in range(1, 10_001):
        if all(difference(heads, d) == 0 for d in (1, 2, 3, 5, 7, 11)):
            return heads
    return None


# %% wrong: solved at one width of the table, and tried at another one ->
def when_is_it_right(claim):
    for solution in sympy.solve(sympy.Eq(claim.subs(D, 100), 61_000), A):
        if solution.is_Integer and solution >= 1 and claim.subs({A: solution, D: 200}) == 242_000:
            return solution
    return None


# %% wrong: at a width of 1 too, where A may drop out ->
# of: two widths must give the same
# ~ (7, 1000) => (1, 1000)
