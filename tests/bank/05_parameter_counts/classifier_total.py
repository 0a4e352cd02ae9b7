# %% right: part by part
def classifier_total():
    return V * D + M * (6 * D**2 + 10 * D) + C * D + C


# %% right: D in front
def classifier_total():
    return D * (V + C + M * (6 * D + 10)) + C


# %% right: from a dict of parts
def classifier_total():
    linear = lambda i, o: i * o + o
    norm = 2 * D
    layer = {"attention": 4 * linear(D, D), "feed-forward": 2 * linear(D, D), "norms": 2 * norm}
    return V * D + M * sum(layer.values()) + linear(D, C)


# %% wrong: weights of the head only -> the head bias is lost
def classifier_total():
    return V * D + M * (6 * D**2 + 10 * D) + C * D


# %% wrong: one number for the bias -> the bias of the head is one number
def classifier_total():
    return V * D + M * (6 * D**2 + 10 * D) + C * D + 1


# %% wrong: D biases -> the bias of the head has D numbers
def classifier_total():
    return V * D + M * (6 * D**2 + 10 * D) + D * (C + 1)


# %% wrong: base only -> the head is lost
def classifier_total():
    return V * D + M * (6 * D**2 + 10 * D)


# %% wrong: positions as if they were learned -> positions are counted
def classifier_total():
    return V * D + L * D + M * (6 * D**2 + 10 * D) + C * (D + 1)


# %% wrong: layers and head only -> the embedding is lost
def classifier_total():
    return M * (6 * D**2 + 10 * D) + C * (D + 1)


# %% wrong: one layer -> one layer is counted
def classifier_total():
    return V * D + 6 * D**2 + 10 * D + C * (D + 1)


# %% wrong: 8D -> 2D is missing in each layer, such as one norm
def classifier_total():
    return V * D + M * (6 * D**2 + 8 * D) + C * (D + 1)


# %% wrong: Linears without bias -> biases are lost in the layers
def classifier_total():
    return V * D + M * (6 * D**2 + 4 * D) + C * (D + 1)


# %% wrong: A times the attention -> the heads multiply the weights
def classifier_total():
    return V * D + M * (4 * A * (D**2 + D) + 2 * (D**2 + D) + 4 * D) + C * (D + 1)


# %% wrong: a norm before the head -> a norm after the last layer is counted
def classifier_total():
    return V * D + M * (6 * D**2 + 10 * D) + 2 * D + C * (D + 1)


# %% wrong: the language model again -> the head has V outputs
def classifier_total():
    return V * D + M * (6 * D**2 + 10 * D) + V * (D + 1)


# %% wrong: both heads -> the head of the language model is kept
def classifier_total():
    return V * D + M * (6 * D**2 + 10 * D) + V * (D + 1) + C * (D + 1)


# %% wrong: a head for each position -> each word has its own head
def classifier_total():
    return V * D + M * (6 * D**2 + 10 * D) + C * L * (D + 1)


# %% wrong: embedding twice ->
def classifier_total():
    return 2 * V * D + M * (6 * D**2 + 10 * D) + C * (D + 1)


# %% wrong: a head with one output ->
def classifier_total():
    return V * D + M * (6 * D**2 + 10 * D) + D + 1


# %% right: a substitution that is left to sympy
def classifier_total():
    return sympy.Subs(V * D + M * layer_total() + C * (D + 1), F, D)


# %% wrong: biases and norms once -> biases and norms are counted once for all layers
def classifier_total():
    return V * D + 6 * M * D**2 + 10 * D + C * D + C


# %% wrong: two classes -> C is taken to be 2
def classifier_total():
    return V * D + M * (6 * D**2 + 10 * D) + 2 * D + 2


# %% wrong: each head has a query, a key and a value -> the heads multiply query, key and value
def classifier_total():
    attention = 3 * A * (D**2 + D) + D**2 + D
    return V * D + M * (attention + 2 * (D**2 + D) + 4 * D) + C * (D + 1)


# %% wrong: never more classes than words ->
def classifier_total() -> sympy.Expr:
    outputs = sympy.Min(C, V)
    return V * D + M * (6 * D**2 + 10 * D) + outputs * (D + 1)


# %% wrong: at least two classes ->
def classifier_total() -> sympy.Expr:
    outputs = sympy.Max(C, 2)
    return V * D + M * (6 * D**2 + 10 * D) + outputs * D + outputs
