# %% right: part by part
def language_model_total():
    embedding = V * D
    layer = 6 * D**2 + 10 * D
    head = V * D + V
    return embedding + M * layer + head


# %% right: collected
def language_model_total():
    return V * (2 * D + 1) + 2 * D * M * (3 * D + 5)


# %% right: the general formula, then C = V
def language_model_total():
    total = V * D + M * (4 * D**2 + 2 * D * F + 9 * D + F) + C * (D + 1)
    return total.subs({F: D, C: V})


# %% right: F left in the formula
def language_model_total():
    return V * D + M * (4 * (D**2 + D) + 2 * D * F + F + D + 4 * D) + V * D + V


# %% wrong: a head without bias -> the head bias is lost
def language_model_total():
    return V * D + M * (6 * D**2 + 10 * D) + V * D


# %% wrong: one number for the bias -> the bias of the head is one number
def language_model_total():
    return V * D + M * (6 * D**2 + 10 * D) + V * D + 1


# %% wrong: D biases -> the bias of the head has D numbers
def language_model_total():
    return V * D + M * (6 * D**2 + 10 * D) + (V + 1) * D


# %% wrong: base only -> the head is lost
def language_model_total():
    return V * D + M * (6 * D**2 + 10 * D)


# %% wrong: 2048 positions -> positions are counted
def language_model_total():
    return V * D + 2048 * D + M * (6 * D**2 + 10 * D) + V * (D + 1)


# %% wrong: L positions -> positions are counted
def language_model_total():
    return (V + L) * D + M * (6 * D**2 + 10 * D) + V * (D + 1)


# %% wrong: the head uses the embedding's matrix -> V*D is counted once, and is there twice: in the embedding and in the head
def language_model_total():
    shared = V * D
    return shared + M * (6 * D**2 + 10 * D) + V


# %% wrong: no M -> one layer is counted
def language_model_total():
    return V * D + (6 * D**2 + 10 * D) + V * (D + 1)


# %% wrong: 8D -> 2D is missing in each layer, such as one norm
def language_model_total():
    return V * D + M * (6 * D**2 + 8 * D) + V * (D + 1)


# %% wrong: Linears without bias -> biases are lost in the layers
def language_model_total():
    return V * D + M * (6 * D**2 + 4 * D) + V * (D + 1)


# %% wrong: attention times A -> the heads multiply the weights
def language_model_total():
    attention = A * 4 * (D**2 + D)
    return V * D + M * (attention + 2 * (D**2 + D) + 4 * D) + V * (D + 1)


# %% wrong: one more norm at the end -> a norm after the last layer is counted
def language_model_total():
    return V * D + M * (6 * D**2 + 10 * D) + 2 * D + V * (D + 1)


# %% wrong: the number only ->
def language_model_total():
    return 21018401


# %% wrong: F and C left in the formula -> the head has C outputs
def language_model_total():
    return V * D + M * (4 * (D**2 + D) + 2 * D * F + F + D + 4 * D) + C * D + C


# %% wrong: biases and norms once -> biases and norms are counted once for all layers
def language_model_total():
    return V * D + M * 6 * D**2 + 10 * D + V * D + V


# %% wrong: query, key and value for each head -> the heads multiply query, key and value
def language_model_total():
    layer = 3 * A * (D**2 + D) + D**2 + D + 2 * (D**2 + D) + 4 * D
    return V * D + M * layer + V * (D + 1)


# %% wrong: never wider than the vocabulary ->
def language_model_total() -> sympy.Expr:
    embedding = V * sympy.Min(V, D)
    return embedding + M * (6 * D**2 + 10 * D) + V * (D + 1)


# %% wrong: layers and head only -> V*D is counted once, and is there twice: in the embedding and in the head
def language_model_total():
    return M * (6 * D**2 + 10 * D) + V * (D + 1)
