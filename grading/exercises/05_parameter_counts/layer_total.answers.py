# %% right: part by part
def layer_total():
    attention = 4 * (D**2 + D)
    feed_forward = (D * F + F) + (F * D + D)
    norms = 2 * (D + D)
    return attention + feed_forward + norms


# %% right: expanded
def layer_total():
    return 4 * D**2 + 2 * D * F + 9 * D + F


# %% right: a sum over Linears
# other: One rule, `i * o + o`, counts all six Linears from their shapes; the solution names the parts, so that each term can be checked by itself.
def layer_total():
    shapes = [(D, D)] * 4 + [(D, F), (F, D)]
    return sympy.Add(*[i * o + o for i, o in shapes]) + 4 * D


# %% right: heads one by one
def layer_total():
    width = D / A
    one_head = 3 * (D * width + width)
    attention = A * one_head + D * D + D
    return sympy.simplify(attention + 2 * D + (D + 1) * F + (F + 1) * D + 2 * D)


# %% wrong: a single norm -> 2D of the two norms is missing
# hint: At F = D you have 8D in place of 10D. A layer has two norms, and each has a weight and a bias: 4D.
def layer_total():
    return 4 * (D**2 + D) + (D * F + F) + (F * D + D) + 2 * D


# %% wrong: norms without biases -> 2D of the two norms is missing
# ~ D**2 => D * D
# ~ (D * F + F) + (F * D + D) => 2 * D * F + D + F
# ~ 2 * (D + D) => D + D

# %% wrong: feed-forward part without biases -> the biases of the feed-forward part are lost
# hint: Both Linears of the feed-forward part have a bias, a number for each output: F for hidden, D for output.
# ~ (D * F + F) + (F * D + D) => D * F + F * D
# ~ 2 * (D + D) => 4 * D


# %% wrong: no norms at all -> 4D is missing: the norms, or the biases of the attention
# hint: Each of the two norms has a weight and a bias of D numbers, and each of the four Linears of the attention has a
# hint: bias of D numbers. One of these is not in your formula.
def layer_total():
    return 4 * (D**2 + D) + D * (F + 1) + F * (D + 1)


# %% wrong: matrices and norms -> biases are lost
# hint: All six Linears have a bias: one number for each output.
def layer_total():
    return 4 * D**2 + 2 * D * F + 4 * D


# %% wrong: weights only -> all biases are lost, those of the norms too
# hint: Six Linears and two norms have a bias each.
def layer_total():
    return 4 * D**2 + 2 * D * F + 2 * D


# %% wrong: matrices only -> only matrices are counted
# hint: Biases and norms are small but they are there: at D = 4, count the narrow columns in the picture.
def layer_total():
    return 4 * D**2 + 2 * D * F


# %% wrong: attention times A -> the heads multiply the weights
# hint: Heads split the width D among them: with more heads, each gets fewer rows of the same matrices.
def layer_total():
    one_head = 4 * (D**2 + D)
    return A * one_head + 2 * D * F + D + F + 4 * D


# %% wrong: query, key and value for each head -> the heads multiply query, key and value
# hint: Heads split the width D among them: with more heads, each gets fewer rows of the same matrices.
def layer_total():
    attention = A * 3 * (D**2 + D) + D**2 + D
    return attention + 2 * D * F + F + D + 4 * D


# %% wrong: matrices for each head, biases once -> the heads multiply matrices, not biases
# hint: Heads split the width D among them: with more heads, each gets fewer rows of the same matrices.
def layer_total():
    return 4 * (A * D**2 + D) + 2 * D * F + F + D + 4 * D


# %% wrong: query, key and value only -> the output projection is lost
# hint: Attention has four matrices: query, key, value, and the output that joins the heads.
def layer_total():
    return 3 * (D**2 + D) + 2 * D * F + D + F + 4 * D


# %% wrong: the formula of F = D -> F is taken to be D
# hint: Your formula is right at F = D. The feed-forward part has a width of its own: keep F in it.
def layer_total():
    return 6 * D**2 + 10 * D


# %% wrong: bias D twice -> both biases of the feed-forward part have D numbers
# hint: hidden puts out F numbers, so its bias has F.
def layer_total():
    return 4 * (D**2 + D) + 2 * (D * F + D) + 4 * D


# %% wrong: bias F twice -> both biases of the feed-forward part have F numbers
# hint: output puts out D numbers, so its bias has D.
def layer_total():
    return 4 * (D**2 + D) + 2 * (D * F + F) + 4 * D


# %% wrong: no way back from F to D -> one matrix of the feed-forward part is lost
# hint: The feed-forward part goes from D to F and back from F to D: two matrices.
def layer_total():
    return 4 * (D**2 + D) + D * F + F + 4 * D


# %% wrong: whole rows for each head only ->
def layer_total():
    rows = A * sympy.floor(D / A)
    return 3 * (rows * D + rows) + D**2 + D + 2 * D * F + F + D + 4 * D


# %% wrong: the wider of the two has the bias ->
def layer_total() -> sympy.Expr:
    return 4 * D**2 + 9 * D + 2 * D * F + sympy.Max(F, D)
