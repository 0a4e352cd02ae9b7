# %% right: width of a head
def score_variance():
    return D / A


# %% right: a sum of ones
def score_variance():
    i = sympy.Symbol("i", integer=True)
    return sympy.summation(sympy.Integer(1), (i, 1, D / A))


# %% right: the square of the scale
def score_variance():
    return sympy.sqrt(D) ** 2 * A**-1


# %% right: symbols of one's own, without assumptions
def score_variance():
    width, heads = sympy.symbols("D A")
    return width / heads


# %% wrong: only D -> the heads are forgotten
def score_variance():
    return D


# %% wrong: d/h squared -> squared
def score_variance():
    return D**2 / A**2


# %% wrong: the square of D -> D squared
def score_variance():
    return D * D


# %% wrong: root -> the standard deviation in place of the variance
def score_variance():
    return sympy.sqrt(D) / sympy.sqrt(A)


# %% wrong: one over the root -> the scale in place of the variance
def score_variance():
    return (D / A) ** sympy.Rational(-1, 2)


# %% wrong: one -> the variance of one product, or of a scaled score
def score_variance():
    return 1


# %% wrong: times A -> the variances of all heads are added
def score_variance():
    return A * D


# %% wrong: D minus A ->
def score_variance():
    return D - A + 1


# %% wrong: root of D only -> the standard deviation in place of the variance
def score_variance():
    return sympy.sqrt(D)


# %% wrong: the numbers of the base model ->
def score_variance():
    return sympy.Integer(64)


# %% wrong: squared in the number of heads ->
def score_variance():
    return D / A**2


# %% wrong: a number, the width of a head in the base model as a float ->
def score_variance():
    return 512 / 8


# %% wrong: whole division by eight heads ->
def score_variance():
    return D / 8


# %% wrong: the width cut at 512 ->
def score_variance() -> sympy.Expr:
    return sympy.Piecewise((D / A, D <= 512), (512 / A, True))


# %% wrong: never wider than 64 ->
def score_variance() -> sympy.Expr:
    return sympy.Min(D / A, 64)


# %% wrong: the variances of query and key added for each product ->
def score_variance():
    return 2 * D / A


# %% wrong: other letters ->
def score_variance():
    d, h = sympy.symbols("d h", positive=True, integer=True)
    return d / h
