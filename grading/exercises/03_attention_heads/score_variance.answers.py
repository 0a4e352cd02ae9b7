# %% right: width of a head
def score_variance():
    return D / A


# %% right: a sum of ones
# other: It adds up a variance of 1 for each product in the score, as the derivation does; the quotient is the result at once, the width of a head.
def score_variance():
    i = sympy.Symbol("i", integer=True)
    return sympy.summation(sympy.Integer(1), (i, 1, D / A))


# %% right: the square of the scale
# ~ D / A => sympy.sqrt(D) ** 2 * A**-1


# %% right: symbols of one's own, without assumptions
def score_variance():
    width, heads = sympy.symbols("D A")
    return width / heads


# %% wrong: only D -> the heads are forgotten
# hint: D is right for a single head. With A heads, a head has only D/A of the numbers, so its dot product has fewer
# hint: terms.
# ~ D / A => D

# %% wrong: d/h squared -> squared
# hint: Each of the products has variance 1, and variances of independent terms ADD: a sum of w terms has variance w,
# hint: not w squared.
# ~ D / A => D**2 / A**2

# %% wrong: the square of D -> D squared
# hint: Variances add up, they do not multiply; and a head has only D/A of the D numbers.
# ~ / A => * D

# %% wrong: root -> the standard deviation in place of the variance
# hint: That is the square root of the variance: the right number to divide the scores by, but the question was the
# hint: variance.
# ~ D / A => sympy.sqrt(D) / sympy.sqrt(A)

# %% wrong: one over the root -> the scale in place of the variance
# hint: That is what the scores are multiplied with. The question was the variance of the scores before that.
# ~ D / A => (D / A) ** sympy.Rational(-1, 2)

# %% wrong: one -> the variance of one product, or of a scaled score
# hint: 1 is the variance of a single product, or of a score that has been scaled. Asked is the unscaled one, a sum of
# hint: many products: of how many?
# ~ D / A => 1

# %% wrong: times A -> the variances of all heads are added
# hint: The question is one score of one head, and a head has D/A numbers: divide by A, do not multiply.
# ~ D / A => A * D


# %% wrong: the width cut at 512 ->
def score_variance() -> sympy.Expr:
    return sympy.Piecewise((D / A, D <= 512), (512 / A, True))
