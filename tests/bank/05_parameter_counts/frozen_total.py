# %% right: weight and bias
def frozen_total():
    return C * D + C


# %% right: one row for each class
def frozen_total():
    row = D + 1
    return C * row


# %% right: the whole less what is frozen
def frozen_total():
    base = V * D + M * (6 * D**2 + 10 * D)
    whole = base + C * (D + 1)
    return sympy.simplify(whole - base)


# %% wrong: weight only -> the head bias is lost
def frozen_total():
    return C * D


# %% wrong: everything -> the frozen parameters are counted too
def frozen_total():
    return V * D + M * (6 * D**2 + 10 * D) + C * (D + 1)


# %% wrong: what is frozen -> the frozen parameters are counted in place of the others
def frozen_total():
    return V * D + M * (6 * D**2 + 10 * D)


# %% wrong: one number for the bias -> the bias of the head is one number
def frozen_total():
    return C * D + 1


# %% wrong: D biases -> the bias of the head has D numbers
def frozen_total():
    return (C + 1) * D


# %% wrong: embedding and head -> the embedding trains
def frozen_total():
    return V * D + C * (D + 1)


# %% wrong: last layer and head -> the last layer trains
def frozen_total():
    return 6 * D**2 + 10 * D + C * D + C


# %% wrong: the head of the language model -> the head has V outputs
def frozen_total():
    return V * (D + 1)


# %% wrong: the figure for D = 200 ->
def frozen_total():
    return 402


# %% wrong: two classes -> C is taken to be 2
def frozen_total():
    return 2 * D + 2
