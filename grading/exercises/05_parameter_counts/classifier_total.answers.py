# %% right: part by part
def classifier_total():
    return V * D + M * (6 * D**2 + 10 * D) + C * D + C


# %% right: D in front
# ~ V * D + M * (6 * D**2 + 10 * D) + C * D => D * (V + C + M * (6 * D + 10))


# %% right: from a dict of parts
# other: Each part of a layer has a name and can be checked; the solution takes over the total of a layer, and fits in one line.
def classifier_total():
    linear = lambda i, o: i * o + o
    norm = 2 * D
    layer = {"attention": 4 * linear(D, D), "feed-forward": 2 * linear(D, D), "norms": 2 * norm}
    return V * D + M * sum(layer.values()) + linear(D, C)


# %% right: a substitution that is left to sympy
# ~ V * D + M * (6 * D**2 + 10 * D) + C * D + C => sympy.Subs(V * D + M * layer_total() + C * (D + 1), F, D)

# %% wrong: weights of the head only -> the head bias is lost
# hint: The head adds one number to each of its outputs: a weight of D numbers and a bias for each.
# ~ D + C => D

# %% wrong: one number for the bias -> the bias of the head is one number
# hint: The head has one bias for each of its outputs.
# ~ D + C => D + 1

# %% wrong: D biases -> the bias of the head has D numbers
# hint: The head has one bias for each of its outputs, not for each of its inputs.
# ~ C * D + C => D * (C + 1)

# %% wrong: base only -> the head is lost
# hint: After the last layer a Linear turns D numbers into the scores: it has weights too.
# ~ (6 * D**2 + 10 * D) + C * D + C => (6 * D**2 + 10 * D)

# %% wrong: positions as if they were learned -> positions are counted
# hint: Sinusoidal positions are computed once and kept in a buffer; nothing trains them.
# ~ M * (6 * D**2 + 10 * D) + C * D + C => L * D + M * (6 * D**2 + 10 * D) + C * (D + 1)

# %% wrong: one layer -> one layer is counted
# hint: There are M layers, each with its own weights.
# ~ M * (6 * D**2 + 10 * D) + C * D + C => 6 * D**2 + 10 * D + C * (D + 1)

# %% wrong: 8D -> 2D is missing in each layer, such as one norm
# hint: You have 8D in place of 10D in each layer: there are two norms, of 2D numbers each (and the two biases of the
# hint: feed-forward part are 2D as well).
# ~ (6 * D**2 + 10 * D) + C * D + C => (6 * D**2 + 8 * D) + C * (D + 1)

# %% wrong: Linears without bias -> biases are lost in the layers
# hint: All six Linears of a layer have a bias.
# ~ (6 * D**2 + 10 * D) + C * D + C => (6 * D**2 + 4 * D) + C * (D + 1)

# %% wrong: biases and norms once -> biases and norms are counted once for all layers
# hint: Each of the M layers has its own biases and norms: M multiplies all of a layer, M * (6*D**2 + 10*D).
# ~ M * (6 * D**2 + 10 * D) => 6 * M * D**2 + 10 * D


# %% wrong: each head has a query, a key and a value -> the heads multiply query, key and value
# hint: Heads split the width D among them; the number of weights does not depend on A.
def classifier_total():
    attention = 3 * A * (D**2 + D) + D**2 + D
    return V * D + M * (attention + 2 * (D**2 + D) + 4 * D) + C * (D + 1)


# %% wrong: A times the attention -> the heads multiply the weights
# hint: Heads split the width D among them; the number of weights does not depend on A.
# ~ (6 * D**2 + 10 * D) + C * D + C => (4 * A * (D**2 + D) + 2 * (D**2 + D) + 4 * D) + C * (D + 1)

# %% wrong: a norm before the head -> a norm after the last layer is counted
# hint: Ours is a post-norm model (section 3.1 of the paper): nothing follows the last layer but the head.
# ~ C * D + C => 2 * D + C * (D + 1)

# %% wrong: layers and head only -> the embedding is lost
# hint: Each of the V words has a vector of D numbers.
# ~ V * D + M * (6 * D**2 + 10 * D) + C * D + C => M * (6 * D**2 + 10 * D) + C * (D + 1)

# %% wrong: the language model again -> the head has V outputs
# hint: A classifier has one output for each class: C, not V.
# ~ C * D + C => V * (D + 1)

# %% wrong: two classes -> C is taken to be 2
# hint: A classifier may have any number of classes: write C.
# ~ C * D + C => 2 * D + 2

# %% wrong: both heads -> the head of the language model is kept
# hint: The head of the language model is taken off, and a new one with C outputs is put on.
# ~ C * D + C => V * (D + 1) + C * (D + 1)

# %% wrong: a head for each position -> each word has its own head
# hint: One head serves all positions: the classifier puts it on the last token only.
# ~ D + C => L * (D + 1)


# %% wrong: never more classes than words ->
def classifier_total() -> sympy.Expr:
    outputs = sympy.Min(C, V)
    return V * D + M * (6 * D**2 + 10 * D) + outputs * (D + 1)


# %% wrong: at least two classes ->
def classifier_total() -> sympy.Expr:
    outputs = sympy.Max(C, 2)
    return V * D + M * (6 * D**2 + 10 * D) + outputs * D + outputs
