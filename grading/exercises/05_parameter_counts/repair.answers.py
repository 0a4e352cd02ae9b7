# %% right: a dict of right terms
def repair(claim):
    right = {
        "embedding": V * D,
        "positions": 0,
        "attention": M * 4 * (D**2 + D),
        "feed-forward": M * 2 * (D**2 + D),
        "norms": M * 4 * D,
        "head": C * (D + 1),
    }
    for name in claim:
        if sympy.expand(claim[name] - right[name]) != 0:
            return name, sum(right.values())


# %% right: the wrong term is exchanged in the claim's own total
# other: It corrects the claim's own sum by one difference, and leaves its other terms alone; the solution adds up the right terms, so that the total does not depend on the claim.
def repair(claim):
    right = dict(
        zip(
            ["embedding", "positions", "attention", "feed-forward", "norms", "head"],
            [V * D, sympy.Integer(0), 4 * M * D * (D + 1), 2 * M * D * (D + 1), 4 * D * M, C * D + C],
        )
    )
    total = sympy.Add(*claim.values())
    wrong = [name for name in right if not right[name].equals(claim[name])][0]
    return wrong, sympy.factor(total - claim[wrong] + right[wrong])


# %% right: compared by values at a point
def repair(claim):
    right = {
        "embedding": V * D,
        "positions": 0 * D,
        "attention": 4 * M * (D**2 + D),
        "feed-forward": 2 * M * (D**2 + D),
        "norms": 4 * M * D,
        "head": C * D + C,
    }
    point = {V: 1009, D: 101, M: 7, C: 13, A: 5, L: 31}
    wrong = [n for n in claim if sympy.sympify(claim[n]).subs(point) != right[n].subs(point)]
    return [wrong[0], V * D + M * (6 * D**2 + 10 * D) + C * (D + 1)]


# %% right: simplify
def repair(claim):
    total = V * D + M * (6 * D**2 + 10 * D) + C * (D + 1)
    right = {
        "embedding": V * D,
        "attention": 4 * M * (D**2 + D),
        "feed-forward": 2 * M * (D**2 + D),
        "norms": 4 * M * D,
        "head": C * (D + 1),
    }
    for name, term in claim.items():
        if sympy.simplify(term - right.get(name, 0)) != 0:
            return name, total


# %% wrong: != between formulas -> formulas are compared by their form
# hint: == compares how two formulas are written. Expand their difference and see whether it is 0: sympy.expand(term -
# hint: right) == 0.
def repair(claim):
    right = {
        "embedding": V * D,
        "positions": sympy.Integer(0),
        "attention": 4 * M * (D**2 + D),
        "feed-forward": 2 * M * (D**2 + D),
        "norms": 4 * M * D,
        "head": C * (D + 1),
    }
    for name in claim:
        if claim[name] != right[name]:
            return name, sum(right.values())


# %% wrong: the sum of the claim -> the total is not corrected
# hint: The name is right, but the total still has the wrong term in it: put the right one in its place.
# of: != between formulas
# ~ sympy.Integer(0) => 0
# ~ claim[name] != right[name] => sympy.expand(claim[name] - right[name]) != 0
# ~ right. => claim.

# %% wrong: the wrong term is thrown away -> the wrong term is removed, not corrected
# hint: Taking the wrong term off leaves a hole: add the right one.
# ~ sympy.Integer(0) => 0
# ~ claim[name] != right[name] => sympy.expand(claim[name] - right[name]) != 0
# ~ right.values() => term for other, term in claim.items() if other != name

# %% wrong: the corrected term -> the term alone in place of the total
# hint: The second value is the corrected count of the whole model: the sum of all terms.
# ~ sympy.Integer(0) => 0
# ~ claim[name] != right[name] => sympy.expand(claim[name] - right[name]) != 0
# ~ sum(right.values()) => right[name]

# %% wrong: total first -> name and total are exchanged
# hint: Return the name of the wrong term first, then the corrected total.
# ~ sympy.Integer(0) => 0
# ~ claim[name] != right[name] => sympy.expand(claim[name] - right[name]) != 0
# ~ name, sum(right.values()) => sum(right.values()), name

# %% wrong: which term -> only the name
# hint: Return two values: the name of the wrong term and the corrected total.
# ~ sympy.Integer(0) => 0
# ~ claim[name] != right[name] => sympy.expand(claim[name] - right[name]) != 0
# ~ , sum(right.values()) =>


# %% wrong: which total -> only the total
# hint: Return two values: the name of the wrong term and the corrected total.
def repair(claim):
    return V * D + M * (6 * D**2 + 10 * D) + C * (D + 1)


# %% wrong: L D positions -> positions are taken for trainable
# hint: Sinusoidal positions are a buffer: 0 parameters.
# ~ sympy.Integer(0) => L * D
# ~ claim[name] != right[name] => sympy.expand(claim[name] - right[name]) != 0

# %% wrong: 2 M D norms -> one norm is taken for right
# hint: A layer has two norms of 2D numbers each: 4 M D in all.
# ~ sympy.Integer(0) => 0
# ~ 4 * M * D => 2 * M * D
# ~ claim[name] != right[name] => sympy.expand(claim[name] - right[name]) != 0

# %% wrong: C D in the head -> a head without bias is taken for right
# hint: The head has C biases.
# ~ sympy.Integer(0) => 0
# ~ (D + 1) => D
# ~ claim[name] != right[name] => sympy.expand(claim[name] - right[name]) != 0

# %% wrong: 4 M D^2 attention -> attention without biases is taken for right
# hint: Each of the four projections has a bias of D numbers.
# ~ sympy.Integer(0) => 0
# ~ 4 * M * (D**2 + D), => 4 * M * D**2,
# ~ claim[name] != right[name] => sympy.expand(claim[name] - right[name]) != 0

# %% wrong: no biases in the layers -> layers without biases are taken for right
# hint: Each of the six Linears of a layer has a bias of D numbers (at F = D).
# of: 4 M D^2 attention
# ~ (D**2 + D) => D**2

# %% wrong: compares at four layers ->
# of: != between formulas
# -    for name in claim:
# -        if claim[name] != right[name]:
# -            return name, sum(right.values())
# +    wrong = [name for name in right if sympy.expand((claim[name] - right[name]).subs(M, 4)) != 0]
# +    return wrong[0], sum(right.values())

# %% wrong: compares at one width ->
# of: compares at four layers
# ~ M, 4 => D, 200

# %% wrong: terms by their index ->
# of: != between formulas
# ~ name in claim => (name, term), wanted in zip(claim.items(), right.values())
# ~ claim[name] != right[name] => sympy.expand(term - wanted) != 0

# %% wrong: the claim itself is put right ->
# -    for name in claim:
# -        if claim[name] != right[name]:
# -            return name, sum(right.values())
# +    wrong = next(name for name in right if sympy.expand(claim[name] - right[name]) != 0)
# +    claim[wrong] = right[wrong]
# +    return wrong, sum(claim.values())

# %% wrong: compared for two heads ->
# -        "positions": sympy.Integer(0),
# +        "positions": sympy.S.Zero,
# ...
# -    for name in claim:
# -        if claim[name] != right[name]:
# +    for name in right:
# +        if sympy.expand(sympy.sympify(claim[name]).subs(A, 2) - right[name]) != 0:
# ...
#              return name, sum(right.values())
# +    return "positions", sum(right.values())

# %% wrong: an error without letters is overlooked ->
# -def repair(claim):
# +def repair(claim: dict[str, sympy.Expr]) -> tuple[str, sympy.Expr]:
# ...
# -    for name in claim:
# -        if claim[name] != right[name]:
# -            return name, sum(right.values())
# +    wrong = "embedding"
# +    for name in right:
# +        if sympy.expand(claim[name] - right[name]).free_symbols:
# +            wrong = name
# +    return wrong, sum(right.values())


# %% wrong: by the index of a term ->
def repair(claim: dict[str, sympy.Expr]) -> tuple[str, sympy.Expr]:
    right = [V * D, 0, 4 * M * (D**2 + D), 2 * M * (D**2 + D), 4 * M * D, C * (D + 1)]
    wrong = "embedding"
    for (name, formula), expected in zip(claim.items(), right):
        if sympy.expand(formula - expected) != 0:
            wrong = name
    return wrong, sum(right)


# %% wrong: two heads, and the attention where nothing is found ->
# -def repair(claim):
# +def repair(claim: dict[str, sympy.Expr]) -> tuple[str, sympy.Expr]:
# ...
# -    for name in claim:
# -        if claim[name] != right[name]:
# +    for name, term in claim.items():
# +        if sympy.expand(sympy.sympify(term).subs({A: 2}) - right[name]) != 0:
# ...
#              return name, sum(right.values())
# +    return "attention", sum(right.values())

# %% wrong: three heads, and the head where nothing is found ->
# of: two heads, and the attention where nothing is found
# ~ ({A: 2}) => ({A: 3})
# ~ "attention", => "head",

# %% wrong: one head, and the attention where nothing is found ->
# ~ ({A: 2}) => ({A: 1})
