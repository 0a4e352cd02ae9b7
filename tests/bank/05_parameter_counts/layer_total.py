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
def layer_total():
    return 4 * (D**2 + D) + (D * F + F) + (F * D + D) + 2 * D


# %% wrong: norms without biases -> 2D of the two norms is missing
def layer_total():
    attention = 4 * (D * D + D)
    feed_forward = 2 * D * F + D + F
    norms = D + D
    return attention + feed_forward + norms


# %% wrong: no norms at all -> 4D is missing: the norms, or the biases of the attention
def layer_total():
    return 4 * (D**2 + D) + D * (F + 1) + F * (D + 1)


# %% wrong: matrices and norms -> biases are lost
def layer_total():
    return 4 * D**2 + 2 * D * F + 4 * D


# %% wrong: weights only -> all biases are lost, those of the norms too
def layer_total():
    return 4 * D**2 + 2 * D * F + 2 * D


# %% wrong: matrices only -> only matrices are counted
def layer_total():
    return 4 * D**2 + 2 * D * F


# %% wrong: attention times A -> the heads multiply the weights
def layer_total():
    one_head = 4 * (D**2 + D)
    return A * one_head + 2 * D * F + D + F + 4 * D


# %% wrong: query, key and value only -> the output projection is lost
def layer_total():
    return 3 * (D**2 + D) + 2 * D * F + D + F + 4 * D


# %% wrong: the formula of F = D -> F is taken to be D
def layer_total():
    return 6 * D**2 + 10 * D


# %% wrong: bias D twice -> both biases of the feed-forward part have D numbers
def layer_total():
    return 4 * (D**2 + D) + 2 * (D * F + D) + 4 * D


# %% wrong: bias F twice -> both biases of the feed-forward part have F numbers
def layer_total():
    return 4 * (D**2 + D) + 2 * (D * F + F) + 4 * D


# %% wrong: no way back from F to D -> one matrix of the feed-forward part is lost
def layer_total():
    return 4 * (D**2 + D) + D * F + F + 4 * D


# %% wrong: the number for D = 4 ->
def layer_total():
    return 136


# %% wrong: feed-forward part without biases -> the biases of the feed-forward part are lost
def layer_total():
    attention = 4 * (D**2 + D)
    feed_forward = D * F + F * D
    norms = 4 * D
    return attention + feed_forward + norms


# %% wrong: attention without biases -> 4D is missing: the norms, or the biases of the attention
def layer_total():
    return 4 * D**2 + (D * F + F) + (F * D + D) + 4 * D


# %% wrong: query, key and value for each head -> the heads multiply query, key and value
def layer_total():
    attention = A * 3 * (D**2 + D) + D**2 + D
    return attention + 2 * D * F + F + D + 4 * D


# %% wrong: matrices for each head, biases once -> the heads multiply matrices, not biases
def layer_total():
    return 4 * (A * D**2 + D) + 2 * D * F + F + D + 4 * D


# %% wrong: whole rows for each head only ->
def layer_total():
    rows = A * sympy.floor(D / A)
    return 3 * (rows * D + rows) + D**2 + D + 2 * D * F + F + D + 4 * D


# %% wrong: the output projection by heads ->
def layer_total():
    return 3 * (D**2 + D) + A * D**2 + D + 2 * D * F + F + D + 4 * D


# %% wrong: the wider of the two has the bias ->
def layer_total() -> sympy.Expr:
    return 4 * D**2 + 9 * D + 2 * D * F + sympy.Max(F, D)


# %% wrong: F is a multiple of D ->
def layer_total() -> sympy.Expr:
    times = F // D
    attention = 4 * (D**2 + D)
    feed_forward = 2 * times * D**2 + times * D + D
    return attention + feed_forward + 4 * D


# %% wrong: the second norm has the width F ->
def layer_total():
    return 4 * (D**2 + D) + 2 * D * F + F + D + 2 * D + 2 * F
