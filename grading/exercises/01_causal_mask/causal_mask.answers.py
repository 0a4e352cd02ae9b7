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
# other: It states the rule j > i itself, so that another rule is a change of one sign; the triangle needs no comparison, and is found in every code base.
def causal_mask(size):
    positions = torch.arange(size)
    return torch.where(positions[None, :] > positions[:, None], -torch.inf, 0.0)


# %% right: double precision and a logarithm
def causal_mask(size):
    return torch.log(torch.tril(torch.ones(size, size, dtype=torch.float64)))


# %% right: built one row at a time
def causal_mask(size):
    rows = [[0.0] * (i + 1) + [-torch.inf] * (size - i - 1) for i in range(size)]
    return torch.tensor(rows)


# %% wrong: triangle without the 1 -> the diagonal is blocked too
# hint: A token may look at itself: start the blocked part one step above the diagonal.
# ~ , diagonal=1 =>

# %% wrong: lower triangle -> the past is blocked in place of the future
# hint: Your mask is the transpose of the wanted one: -inf belongs above the diagonal, where j > i.
# ~ triu(torch.full((size, size), float("-inf")), diagonal= => tril(torch.full((size, size), float("-inf")), diagonal=-

# %% wrong: ones above the diagonal -> 1 where blocked, in place of -inf
# hint: The mask is added to the scores before the softmax; adding 1 makes a blocked token more likely. Blocked entries
# hint: need -inf, the others 0.
# ~ full((size, size), float("-inf")) => ones(size, size)

# %% wrong: ones below the diagonal -> 1 where allowed and 0 where blocked
# hint: This would be a mask to multiply with. Ours is added to the scores: 0 where allowed, -inf where blocked.
# ~ triu(torch.full((size, size), float("-inf")), diagonal=1) => tril(torch.ones(size, size, dtype=torch.bool))


# %% wrong: minus infinity written over the zeros of tril -> allowed entries hold 1, not 0
# hint: Blocked entries are right. But the mask is added to the scores, and what is allowed must stay as it is: add 0
# hint: there, not 1.
def causal_mask(size):
    mask = torch.tril(torch.ones(size, size))
    mask[mask == 0] = float("-inf")
    return mask


# %% wrong: minus a billion -> a large finite number in place of -inf
# hint: It mostly works, but not in half precision or beside scores of its own size, and when a whole row is blocked it
# hint: gives equal weights without a warning. Use float('-inf').
# ~ torch.triu(torch.full((size, size), float("-inf")), diagonal=1) => (1 - torch.tril(torch.ones(size, size))) * -1e9

# %% wrong: minus ten thousand -> -10000 in place of -inf
# hint: It mostly works, but not in half precision or beside scores of its own size, and when a whole row is blocked it
# hint: gives equal weights without a warning. Use float('-inf').
# ~ full((size, size), float("-inf")) => ones(size, size) * -1e4

# %% wrong: the smallest number that there is -> the smallest number of the type in place of -inf
# hint: It mostly works, but not in half precision or beside scores of its own size, and when a whole row is blocked it
# hint: gives equal weights without a warning. Use float('-inf').
# ~ triu(torch.full((size, size), float("-inf")), diagonal= => full((size, size), torch.finfo(torch.float32).min).triu(

# %% wrong: the sign is forgotten -> plus infinity in place of minus infinity
# hint: exp(inf) is infinite: a blocked token would take everything, and the softmax would be NaN. Mind the sign.
# ~ triu(torch.full((size, size), float("-inf")), diagonal=1) => full((size, size), float("inf")).triu(1)

# %% wrong: ones above the diagonal times minus infinity -> 0 times infinity is NaN
# hint: Where the mask should be 0 you have 0 * -inf, which is no number (NaN). Fill with -inf first and keep the upper
# hint: triangle, or use masked_fill or where: nothing may be multiplied by infinity.
# ~ (torch.full((size, size), float("-inf")), diagonal=1) => (torch.ones(size, size), diagonal=1) * -torch.inf

# %% wrong: tril in place of triu -> allowed and blocked are exchanged
# hint: -inf is what forbids. It belongs above the diagonal, where j > i, and 0 everywhere else.
# ~ triu(torch.full((size, size), float("-inf")), diagonal=1) => tril(torch.full((size, size), float("-inf")))

# %% wrong: cut from a table of 512 ->
# ~ triu(torch.full((size, size), float("-inf")), diagonal=1) => full((512, 512), -torch.inf).triu(1)[:size, :size]

# %% wrong: the axis of one falls away ->
# ~ triu(torch.full((size, size), float("-inf")), diagonal=1) => full((size, size), -torch.inf).triu(1).squeeze()


# %% wrong: one tensor for all calls ->
import functools


@functools.cache
def causal_mask(size):
    return torch.triu(torch.full((size, size), float("-inf")), diagonal=1)


# %% wrong: the library's own mask -> a ready-made part in place of an answer
# ~ triu(torch.full((size, size), float("-inf")), diagonal=1) => nn.Transformer.generate_square_subsequent_mask(size)


# %% wrong: the comparison of helpers -> a ready-made part in place of an answer
from helpers.models import causal_mask as hidden


def causal_mask(size):
    positions = torch.arange(size)
    return torch.zeros(size, size).masked_fill(hidden(positions[:, None] - positions), -torch.inf)


# %% wrong: torch's own by its private name -> a ready-made part in place of an answer
def causal_mask(size):
    from torch.nn.modules.transformer import _generate_square_subsequent_mask

    return _generate_square_subsequent_mask(size)


# %% wrong: the bias of torch's attention -> a ready-made part in place of an answer
def causal_mask(size):
    from torch.nn.attention.bias import causal_lower_right

    return torch.zeros(size, size).masked_fill(~causal_lower_right(size, size)._materialize(), -torch.inf)


# %% wrong: the mask that helpers give later notebooks -> a ready-made part in place of an answer
def causal_mask(size):
    from helpers import heads

    return heads.causal_mask(size)
