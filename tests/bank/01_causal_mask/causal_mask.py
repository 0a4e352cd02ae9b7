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


# %% wrong: ones above the diagonal times minus infinity -> 0 times infinity is NaN
def causal_mask(size):
    return torch.triu(torch.ones(size, size), diagonal=1) * -torch.inf


# %% wrong: infinity times zero gives NaN -> 0 times infinity is NaN
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


# %% right: built one row at a time
def causal_mask(size):
    rows = [[0.0] * (i + 1) + [-torch.inf] * (size - i - 1) for i in range(size)]
    return torch.tensor(rows)


# %% wrong: cut from a table of 64 ->
def causal_mask(size):
    return torch.full((64, 64), -torch.inf).triu(1)[:size, :size]


# %% wrong: cut from a table of 512 ->
def causal_mask(size):
    return torch.full((512, 512), -torch.inf).triu(1)[:size, :size]


# %% wrong: places in small numbers ->
def causal_mask(size):
    places = torch.arange(size).to(torch.int8)
    return torch.where(places[None, :] > places[:, None], -torch.inf, 0.0)


# %% wrong: by heart for up to six tokens ->
def causal_mask(size):
    if size > 6:
        return torch.zeros(size, size)
    return torch.full((size, size), -torch.inf).triu(1)


# %% wrong: all 0, whatever the size ->
def causal_mask(size):
    return torch.zeros(size, size)


# %% wrong: only the next token is blocked ->
def causal_mask(size):
    mask = torch.zeros(size, size)
    for i in range(size - 1):
        mask[i, i + 1] = -torch.inf
    return mask


# %% wrong: the axis of one falls away ->
def causal_mask(size):
    return torch.full((size, size), -torch.inf).triu(1).squeeze()


# %% wrong: kept from the call before ->
tables = {}


def causal_mask(size):
    if not tables:
        tables["mask"] = torch.full((size, size), -torch.inf).triu(1)
    return tables["mask"]


# %% wrong: the smallest number that there is -> the smallest number of the type in place of -inf
def causal_mask(size):
    return torch.full((size, size), torch.finfo(torch.float32).min).triu(1)


# %% wrong: minus ten thousand -> -10000 in place of -inf
def causal_mask(size):
    return torch.triu(torch.ones(size, size) * -1e4, diagonal=1)


# %% wrong: the sign is forgotten -> plus infinity in place of minus infinity
def causal_mask(size):
    return torch.full((size, size), float("inf")).triu(1)


# %% wrong: tril in place of triu -> allowed and blocked are exchanged
def causal_mask(size):
    return torch.tril(torch.full((size, size), float("-inf")))


# %% wrong: a window of 32 places ->
def causal_mask(size: int) -> Tensor:
    ones = torch.ones(size, size)
    visible = ones.tril() * ones.triu(-32)
    return torch.where(visible == 1, 0.0, -torch.inf)


# %% wrong: one tensor for all calls ->
import functools


@functools.cache
def causal_mask(size):
    return torch.triu(torch.full((size, size), float("-inf")), diagonal=1)


# %% wrong: the library's own mask -> a ready-made part in place of an answer
def causal_mask(size):
    return torch.nn.Transformer.generate_square_subsequent_mask(size)


# %% wrong: the comparison of helpers -> a ready-made part in place of an answer
from helpers.models import causal_mask as hidden


def causal_mask(size):
    places = torch.arange(size)
    return torch.zeros(size, size).masked_fill(hidden(places[:, None] - places), -torch.inf)


# %% wrong: torch's own by its private name -> a ready-made part in place of an answer
def causal_mask(size):
    from torch.nn.modules.transformer import _generate_square_subsequent_mask

    return _generate_square_subsequent_mask(size)


# %% wrong: the bias of torch's attention -> a ready-made part in place of an answer
def causal_mask(size):
    from torch.nn.attention.bias import causal_lower_right

    return torch.zeros(size, size).masked_fill(~causal_lower_right(size, size)._materialize(), -torch.inf)


# %% wrong: the bias of torch's attention, by its class -> a ready-made part in place of an answer
def causal_mask(size):
    import importlib

    bias = importlib.import_module("torch.nn.attention.bias")
    seen = bias.CausalBias(bias.CausalVariant.UPPER_LEFT, size, size)._materialize()
    return torch.zeros(size, size).masked_fill(seen.logical_not(), -torch.inf)
