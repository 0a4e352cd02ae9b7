# %% right: solve, then look at the solution
def when_is_it_right(claim):
    solutions = sympy.solve(sympy.Eq(claim, 6 * D**2 + 10 * D), A)
    if len(solutions) == 1 and solutions[0].is_Integer:
        return solutions[0]
    return None


# %% wrong: every number of heads up to a limit is tried ->
def when_is_it_right(claim):
    right = 6 * D**2 + 10 * D
    for heads in range(1, 100):
        if sympy.expand(claim.subs(A, heads) - right) == 0:
            return heads
    return None


# %% right: every power of D must agree
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
def when_is_it_right(claim):
    return sympy.solve(sympy.Eq(claim, 6 * D**2 + 10 * D), A)


# %% wrong: the first solution, unseen -> the solution is not looked at
def when_is_it_right(claim):
    return sympy.solve(sympy.Eq(claim, 6 * D**2 + 10 * D), A)[0]


# %% wrong: simplified, but not looked at -> the solution is not looked at
def when_is_it_right(claim):
    solution = sympy.solve(claim - (6 * D**2 + 10 * D), A)[0]
    return sympy.simplify(solution)


# %% wrong: at D = 200 -> solved at one width only
def when_is_it_right(claim):
    at_200 = claim.subs(D, 200)
    solutions = sympy.solve(sympy.Eq(at_200, 242_000), A)
    return solutions[0] if solutions else None


# %% wrong: 8D -> compared with a count that has one norm
def when_is_it_right(claim):
    return sympy.solve(sympy.Eq(claim, 6 * D**2 + 8 * D), A)[0]


# %% wrong: 4D -> compared with a count without biases
def when_is_it_right(claim):
    return sympy.solve(sympy.Eq(claim, 6 * D**2 + 4 * D), A)[0]


# %% wrong: heads never multiply -> one head, whatever the claim says
def when_is_it_right(claim):
    return 1


# %% wrong: 2 is the answer of the text -> two heads, whatever the claim says
def when_is_it_right(claim):
    return 2


# %% wrong: the claim is solved for 0 -> None, whatever the claim says
def when_is_it_right(claim):
    solutions = sympy.solve(claim, A)
    return solutions[0] if solutions else None


# %% wrong: a sentence ->
def when_is_it_right(claim):
    return "A = 2"


# %% wrong: layer_total() as it is -> F is left in the count that the claim is compared with
def when_is_it_right(claim):
    return sympy.solve(sympy.Eq(claim, layer_total()), A)[0]


# %% wrong: layer_total() as it is, and the solution is looked at -> None, whatever the claim says
# of: solve, then look at the solution
# -    solutions = sympy.solve(sympy.Eq(claim, 6 * D**2 + 10 * D), A)
# +    solutions = sympy.solve(sympy.Eq(claim, layer_total()), A)


# %% wrong: a symbol that may be 0 ->
def when_is_it_right(claim):
    a = sympy.Symbol("a")
    solutions = sympy.solve(sympy.expand(claim.subs(A, a) - 6 * D**2 - 10 * D), a)
    return solutions[0] if solutions and solutions[0].is_Integer else None


# %% wrong: compared by form ->
def when_is_it_right(claim):
    for heads in range(1, 50):
        if claim.subs(A, heads) == 6 * D**2 + 10 * D:
            return heads
    return None


# %% wrong: at D = 1 ->
def when_is_it_right(claim):
    solutions = sympy.solve(claim.subs(D, 1) - 16, A)
    return solutions[0] if solutions and solutions[0].is_Integer else None


# %% wrong: at the width of the picture ->
def when_is_it_right(claim):
    solutions = sympy.solve(claim.subs(D, 4) - 136, A)
    return solutions[0] if solutions and solutions[0].is_Integer else None


# %% wrong: at most 16 heads are tried ->
def when_is_it_right(claim):
    for heads in range(1, 17):
        if sympy.expand(claim.subs(A, heads) - 6 * D**2 - 10 * D) == 0:
            return heads
    return None


# %% wrong: the coefficients of D and D squared only ->
def when_is_it_right(claim):
    expanded = sympy.expand(claim)
    for heads in range(1, 100):
        at = sympy.expand(expanded.subs(A, heads))
        if at.coeff(D, 2) == 6 and at.coeff(D, 1) == 10:
            return heads
    return None


# %% wrong: the coefficient of D squared only ->
def when_is_it_right(claim):
    for heads in range(1, 100):
        if sympy.expand(claim.subs(A, heads)).coeff(D, 2) == 6:
            return heads
    return None


# %% wrong: 8D, and the solution is looked at -> compared with a count that has one norm, where the claim fits it
# of: solve, then look at the solution
# -    solutions = sympy.solve(sympy.Eq(claim, 6 * D**2 + 10 * D), A)
# +    solutions = sympy.solve(sympy.Eq(claim, 6 * D**2 + 8 * D), A)


# %% wrong: 4D, and the solution is looked at -> compared with a count without biases, where the claim fits it
def when_is_it_right(claim):
    solutions = sympy.solve(sympy.Eq(claim, 6 * D**2 + 4 * D), A)
    return solutions[0] if len(solutions) == 1 and solutions[0].is_Integer else None


# %% wrong: None without a look -> None, whatever the claim says
def when_is_it_right(claim):
    return None


# %% wrong: linear in A, by two values ->
def when_is_it_right(claim: sympy.Expr) -> int | None:
    at_one, at_two = sympy.expand(claim.subs(A, 1)), sympy.expand(claim.subs(A, 2))
    heads = sympy.cancel(1 + (6 * D**2 + 10 * D - at_one) / (at_two - at_one))
    return int(heads) if heads.is_Integer and heads >= 1 else None


# %% wrong: the factor of A, unexpanded ->
def when_is_it_right(claim: sympy.Expr) -> int | None:
    factor = claim.coeff(A)
    if factor == 0:
        return None
    heads = sympy.cancel((6 * D**2 + 10 * D - claim.subs(A, 0)) / factor)
    return int(heads) if heads.is_Integer and heads >= 1 else None


# %% wrong: three widths stand for all ->
def when_is_it_right(claim: sympy.Expr) -> int | None:
    difference = claim - (6 * D**2 + 10 * D)
    found = [set(sympy.solve(difference.subs(D, width), A)) for width in (1, 2, 3)]
    common = set.intersection(*found)
    return int(min(common)) if common else None


# %% wrong: 1 to 64 heads are tried ->
def when_is_it_right(claim: sympy.Expr) -> int | None:
    """Returns the A for which a claim about one layer (at F = D) is right for every width D."""
    right = 6 * D**2 + 10 * D
    for heads in range(1, 65):
        if sympy.expand(claim.subs(A, heads) - right) == 0:
            return heads
    return None


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


# %% wrong: 1 to 100 heads are tried ->
# of: 1 to 64 heads are tried
# -    for heads in range(1, 65):
# +    for heads in range(1, 101):


# %% wrong: 1 to 999 heads are tried ->
# of: 1 to 64 heads are tried
# -    for heads in range(1, 65):
# +    for heads in range(1, 1000):


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
