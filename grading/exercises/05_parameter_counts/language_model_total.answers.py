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
# other: It puts `F = D` and `C = V` into a general formula, so that the language model is a special case of it; the solution can be checked term by term, without a substitution.
def language_model_total():
    total = V * D + M * (4 * D**2 + 2 * D * F + 9 * D + F) + C * (D + 1)
    return total.subs({F: D, C: V})


# %% right: F left in the formula
def language_model_total():
    return V * D + M * (4 * (D**2 + D) + 2 * D * F + F + D + 4 * D) + V * D + V


# %% wrong: a head without bias -> the head bias is lost
# hint: The head adds one number to each of its outputs: a weight of D numbers and a bias for each.
def language_model_total():
    return V * D + M * (6 * D**2 + 10 * D) + V * D


# %% wrong: one number for the bias -> the bias of the head is one number
# hint: The head has one bias for each of its outputs.
def language_model_total():
    return V * D + M * (6 * D**2 + 10 * D) + V * D + 1


# %% wrong: D biases -> the bias of the head has D numbers
# hint: The head has one bias for each of its outputs, not for each of its inputs.
def language_model_total():
    return V * D + M * (6 * D**2 + 10 * D) + (V + 1) * D


# %% wrong: base only -> the head is lost
# hint: After the last layer a Linear turns D numbers into the scores: it has weights too.
def language_model_total():
    return V * D + M * (6 * D**2 + 10 * D)


# %% wrong: 2048 positions -> positions are counted
# hint: Sinusoidal positions are computed once and kept in a buffer; nothing trains them.
def language_model_total():
    return V * D + 2048 * D + M * (6 * D**2 + 10 * D) + V * (D + 1)


# %% wrong: no M -> one layer is counted
# hint: There are M layers, each with its own weights.
def language_model_total():
    return V * D + (6 * D**2 + 10 * D) + V * (D + 1)


# %% wrong: 8D -> 2D is missing in each layer, such as one norm
# hint: You have 8D in place of 10D in each layer: there are two norms, of 2D numbers each (and the two biases of the
# hint: feed-forward part are 2D as well).
def language_model_total():
    return V * D + M * (6 * D**2 + 8 * D) + V * (D + 1)


# %% wrong: Linears without bias -> biases are lost in the layers
# hint: All six Linears of a layer have a bias.
def language_model_total():
    return V * D + M * (6 * D**2 + 4 * D) + V * (D + 1)


# %% wrong: biases and norms once -> biases and norms are counted once for all layers
# hint: Each of the M layers has its own biases and norms: M multiplies all of a layer, M * (6*D**2 + 10*D).
def language_model_total():
    return V * D + M * 6 * D**2 + 10 * D + V * D + V


# %% wrong: query, key and value for each head -> the heads multiply query, key and value
# hint: Heads split the width D among them; the number of weights does not depend on A.
def language_model_total():
    layer = 3 * A * (D**2 + D) + D**2 + D + 2 * (D**2 + D) + 4 * D
    return V * D + M * layer + V * (D + 1)


# %% wrong: attention times A -> the heads multiply the weights
# hint: Heads split the width D among them; the number of weights does not depend on A.
def language_model_total():
    attention = A * 4 * (D**2 + D)
    return V * D + M * (attention + 2 * (D**2 + D) + 4 * D) + V * (D + 1)


# %% wrong: one more norm at the end -> a norm after the last layer is counted
# hint: Ours is a post-norm model (section 3.1 of the paper): nothing follows the last layer but the head.
def language_model_total():
    return V * D + M * (6 * D**2 + 10 * D) + 2 * D + V * (D + 1)


# %% wrong: the head uses the embedding's matrix -> V*D is counted once, and is there twice: in the embedding and in the head
# hint: The embedding has a vector of D numbers for each of the V words, and the head a matrix of V*D numbers of its
# hint: own: here they do not share one.
def language_model_total():
    shared = V * D
    return shared + M * (6 * D**2 + 10 * D) + V


# %% wrong: F and C left in the formula -> the head has C outputs
# hint: The head of a language model scores all V words: the formula has V, D and M in it, and no C.
def language_model_total():
    return V * D + M * (4 * (D**2 + D) + 2 * D * F + F + D + 4 * D) + C * D + C


# %% wrong: never wider than the vocabulary ->
def language_model_total() -> sympy.Expr:
    embedding = V * sympy.Min(V, D)
    return embedding + M * (6 * D**2 + 10 * D) + V * (D + 1)
