# %% right: triangle of a full tensor
def causal_mask(size):
    return torch.triu(torch.full((size, size), float("-inf")), diagonal=1)


# %% right: two loops
def causal_mask(size):
    mask = torch.zeros(size, size)
    for i in range(size):
        for j in range(i + 1, size):
            mask[i, j] = -torch.inf
    return mask


# %% right: broadcasting of positions
def causal_mask(size):
    positions = torch.arange(size)
    return torch.where(positions[None, :] > positions[:, None], -torch.inf, 0.0)


# %% right: the library's own mask
def causal_mask(size):
    return torch.nn.Transformer.generate_square_subsequent_mask(size)


# %% right: double precision and a logarithm
def causal_mask(size):
    return torch.log(torch.tril(torch.ones(size, size, dtype=torch.float64)))


# %% wrong: triangle without the 1 -> the diagonal is blocked too
def causal_mask(size):
    return torch.triu(torch.full((size, size), float("-inf")))


# %% wrong: lower triangle -> the past is blocked in place of the future
def causal_mask(size):
    return torch.tril(torch.full((size, size), float("-inf")), diagonal=-1)


# %% wrong: ones above the diagonal -> 1 where blocked, in place of -inf
def causal_mask(size):
    return torch.triu(torch.ones(size, size), diagonal=1)


# %% wrong: bool mask -> 1 where blocked, in place of -inf
def causal_mask(size):
    return torch.ones(size, size).triu(1).bool()


# %% wrong: ones below the diagonal -> 1 where allowed and 0 where blocked
def causal_mask(size):
    return torch.tril(torch.ones(size, size, dtype=torch.bool))


# %% wrong: minus a billion -> a large finite number in place of -inf
def causal_mask(size):
    return (1 - torch.tril(torch.ones(size, size))) * -1e9


# %% wrong: built from random scores, a whole triangle ->
def causal_mask(size):
    scores = torch.randn(size, size)
    return torch.triu(scores, 1)


# %% wrong: infinity times zero gives NaN ->
def causal_mask(size):
    return -torch.inf * (1 - torch.tril(torch.ones(size, size)))


# %% wrong: no return ->
def causal_mask(size):
    mask = torch.triu(torch.full((size, size), float("-inf")), diagonal=1)


# %% wrong: a list of lists ->
def causal_mask(size):
    return [[0.0 if j <= i else float("-inf") for j in range(size)] for i in range(size)]


# %% wrong: only for five tokens ->
def causal_mask(size):
    return torch.triu(torch.full((5, 5), float("-inf")), diagonal=1)


# %% wrong: minus infinity written over the zeros of tril -> allowed places hold 1, not 0
def causal_mask(size):
    mask = torch.tril(torch.ones(size, size))
    mask[mask == 0] = float("-inf")
    return mask
