# %% right: a tuple
def batch_shape(b, n, d):
    return (b, n, d)


# %% right: asks a tensor
def batch_shape(b, n, d):
    return torch.zeros(b, n, d).shape


# %% right: a list
def batch_shape(b, n, d):
    return [b, n, d]


# %% right: from a nested list
def batch_shape(b, n, d):
    batch = [[[0.0] * d for _ in range(n)] for _ in range(b)]
    return tuple(torch.tensor(batch).size())


# %% wrong: sequence first -> the tokens come first
def batch_shape(b, n, d):
    return (n, b, d)


# %% wrong: width in the middle -> the width comes before the tokens
def batch_shape(b, n, d):
    return (b, d, n)


# %% wrong: backwards -> the order is reversed
def batch_shape(b, n, d):
    return d, n, b


# %% wrong: batch last -> the batch comes last
def batch_shape(b, n, d):
    return (n, d, b)


# %% wrong: width first -> the width comes first
def batch_shape(b, n, d):
    return (d, b, n)


# %% wrong: how many numbers -> the product in place of the shape
def batch_shape(b, n, d):
    return torch.zeros(b, n, d).numel()


# %% wrong: one sentence -> the batch is missing
def batch_shape(b, n, d):
    return (n, d)


# %% wrong: prints ->
def batch_shape(b, n, d):
    print((b, n, d))


# %% wrong: the example only ->
def batch_shape(b, n, d):
    return (2, 5, 8)


# %% wrong: the tensor itself ->
def batch_shape(b, n, d):
    return torch.zeros(b, n, d)


# %% wrong: text ->
def batch_shape(b, n, d):
    return f"({b}, {n}, {d})"


# %% wrong: axes of 1 fall away ->
def batch_shape(b, n, d):
    return torch.zeros(b, n, d).squeeze().shape


# %% wrong: the smallest first ->
def batch_shape(b, n, d):
    return tuple(sorted((b, n, d)))


# %% wrong: any three numbers ->
def batch_shape(b, n, d):
    return (2, 3, 4)


# %% wrong: one more axis ->
def batch_shape(b, n, d):
    return (1, b, n, d)


# %% right: the shape of random numbers
def batch_shape(b, n, d):
    x = torch.randn(b, n, d)
    return x.size(0), x.size(1), x.size(2)


# %% wrong: at most 1,000 tokens ->
def batch_shape(b, n, d):
    return min(b, 1000), n, d
