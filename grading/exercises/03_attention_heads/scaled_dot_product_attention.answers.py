# %% right: matrix products
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + mask
    weights = scores.softmax(dim=-1)
    return weights @ value, weights


# %% right: einsum
# other: The letters say which axes are multiplied and summed, with no transpose; the matrix product is shorter, and reads like the formula `softmax(Q K^T / sqrt(d)) V`.
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = torch.einsum("...nd,...md->...nm", query, key) * query.size(-1) ** -0.5
    weights = torch.softmax(scores + (0 if mask is None else mask), -1)
    return torch.einsum("...nm,...mv->...nv", weights, value), weights


# %% right: the scale put on both sides, exponentials by hand, the key's width
def scaled_dot_product_attention(query, key, value, mask=None):
    scale = key.size(-1) ** 0.25
    scores = (query / scale) @ (key / scale).mT
    if mask is not None:
        scores += mask
    exponentials = (scores - scores.amax(-1, keepdim=True)).exp()
    weights = exponentials / exponentials.sum(-1, keepdim=True)
    return torch.matmul(weights, value), weights


# %% right: query by query, a list of two
def scaled_dot_product_attention(query, key, value, mask=None):
    rows = []
    for i in range(query.size(-2)):
        scores = (query[..., i : i + 1, :] * key).sum(-1) / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores + (mask[..., i, :] if mask.size(-2) > 1 else mask[..., 0, :])
        rows.append(scores.softmax(-1))
    weights = torch.stack(rows, dim=-2)
    return [weights @ value, weights]


# %% right: masked in place on scores of its own
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-1, -2)).div_(query.shape[-1] ** 0.5)
    if mask is not None:
        scores += mask
    weights = nn.functional.softmax(scores, dim=-1)
    return torch.matmul(weights, value), weights


# %% right: einsum and logsumexp
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = torch.einsum("...nd,...md->...nm", query * query.shape[-1] ** -0.5, key)
    if mask is not None:
        scores = scores + mask
    weights = torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))
    return torch.einsum("...nm,...mv->...nv", weights, value), weights


# %% wrong: no scale -> the scale is missing
# hint: Dot products grow with the width. Divide the scores by the square root of d before the softmax.
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1)
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value, weights


# %% wrong: by d -> divided by d in place of its square root
# hint: The standard deviation of a score is sqrt(d), the root of its variance d. Divided by d, the weights are nearly
# hint: equal and attention attends to nothing.
# of: no scale
# ~ (-2, -1) => (-2, -1) / query.size(-1)

# %% wrong: by the number of keys -> divided by the length
# hint: The number of keys has nothing to do with the size of a score: a score is a sum over the d numbers of a query.
# hint: Divide by the root of the last axis of the query.
# ~ (-2, -1) => (-2, -1) / key.shape[-2]

# %% wrong: by the root of the number of keys -> divided by the square root of the length
# hint: The root is right, the size is not: a score is a sum over the d numbers of a query, not over the keys. Take the
# hint: last axis of the query.
# ~ (-2, -1) => (-2, -1) / math.sqrt(key.size(-2))

# %% wrong: by the root of the values' width -> the width of the values is used for the scale
# hint: The scores are made of queries and keys; the values take no part in them and may have another width.
# ~ (-2, -1) => (-2, -1) / math.sqrt(value.size(-1))

# %% wrong: times the root -> multiplied by the square root of d
# hint: The scores are already too large for the softmax: divide them.
# ~ (-2, -1) => (-2, -1) * math.sqrt(query.size(-1))

# %% wrong: key.T -> the batch is transposed too (key.T)
# hint: `.T` turns all axes around, the batch included: right for a single matrix only. Exchange the last two:
# hint: key.transpose(-2, -1).
# ~ transpose(-2, -1) => T / math.sqrt(query.size(-1))

# %% wrong: down the columns -> softmax over the queries
# hint: Each query shares its attention over the keys: the softmax runs along the keys, the last axis of scores (n, m).
# hint: Where yours lie as (m, n), this is not the last axis.
# ~ transpose(-2, -1) => mT / math.sqrt(query.size(-1))
# ~ (scores if mask is None else scores + mask, dim=-1) => (scores if mask is None else scores + mask, dim=-2)


# %% wrong: mask forgotten -> the mask is not used
# hint: Without the mask every query still sees every key. Add it to the scores before the softmax.
def scaled_dot_product_attention(query, key, value, mask=None):
    weights = torch.softmax(query @ key.mT / math.sqrt(query.size(-1)), dim=-1)
    return weights @ value, weights


# %% wrong: mask on the weights -> the mask comes after the softmax
# hint: What is blocked has already taken its share, so rows no longer sum to 1. Mask first, then softmax.
def scaled_dot_product_attention(query, key, value, mask=None):
    weights = torch.softmax(query @ key.mT / math.sqrt(query.size(-1)), dim=-1)
    if mask is not None:
        weights = weights * mask.exp()
    return weights @ value, weights


# %% wrong: scaled last -> the mask is scaled too
# hint: Minus infinity does not mind, but a finite bias does: scale the scores first, then add the mask.
# of: matrix products
# ~ transpose(-2, -1) / query.shape[-1] ** 0.5 => mT
# ~ scores.softmax(dim=-1) => torch.softmax(scores / math.sqrt(query.size(-1)), dim=-1)

# %% wrong: masked_fill where the mask is 0 -> 0 in the mask is taken for blocked
# hint: Many programs write masked_fill(mask == 0, -1e9), for masks of 1 and 0. In ours 0 means allowed and minus
# hint: infinity blocked: just add it to the scores.
# ~ query.shape[-1] ** 0.5 => math.sqrt(query.size(-1))
# ~ scores + mask => scores.masked_fill(mask == 0, -1e9)
# ~ scores.softmax(dim=-1) => torch.softmax(scores, dim=-1)


# %% wrong: scores given back -> the scores are returned in place of the weights
# hint: The second result must be what the softmax makes of the scores: rows that sum to 1.
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores + mask
    return torch.softmax(scores, dim=-1) @ value, scores


# %% wrong: exponentials by hand, as they are -> the exponential overflows
# hint: exp(89) is infinite in these numbers, and exp(-104) is 0: the weights become NaN. `torch.softmax` takes the
# hint: largest score of a row off first.
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores + mask
    powers = scores.exp()
    weights = powers / powers.sum(-1, keepdim=True)
    return weights @ value, weights


# %% wrong: minus ten thousand in place of minus infinity ->
# ~ query.shape[-1] ** 0.5 => math.sqrt(query.size(-1))
# ~ + mask => + mask.clamp(min=-10_000)
# ~ scores.softmax(dim=-1) => torch.softmax(scores, dim=-1)

# %% wrong: at most four axes ->
# ~ query.shape[-1] ** 0.5 => math.sqrt(query.size(-1))
# ~ scores.softmax(dim=-1) => torch.softmax(scores, dim=min(3, scores.dim() - 1))

# %% wrong: the mask has no default ->
# of: no scale
# ~ =None =>
# ~ (-2, -1) => (-2, -1) / math.sqrt(query.size(-1))


# %% wrong: where after an infinite exponential ->
def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is None:
        mask = torch.zeros_like(scores)
    blocked = mask == -torch.inf
    biased = scores + torch.where(blocked, torch.zeros_like(mask), mask)
    top = biased.masked_fill(blocked, -torch.inf).amax(dim=-1, keepdim=True).detach()
    powers = torch.exp(biased - top)
    powers = torch.where(blocked, torch.zeros_like(powers), powers)
    weights = powers / powers.sum(dim=-1, keepdim=True)
    return weights @ value, weights


# %% wrong: no gradient for the mask ->
def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores + mask.detach()
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


# %% wrong: the first 64 keys ->
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores + mask
    weights = torch.softmax(scores, dim=-1)
    beyond = torch.arange(weights.shape[-1]) >= 64
    weights = weights.masked_fill(beyond, 0.0)
    return weights @ value, weights


# %% wrong: torch's own, asked for the weights by values that are an identity -> a ready-made part in place of an answer
def scaled_dot_product_attention(query, key, value, mask=None):
    attend = nn.functional.scaled_dot_product_attention
    m = key.size(-2)
    if mask is not None:
        mask = mask.expand(*query.shape[:-1], m)
    identity = torch.eye(m, device=key.device).expand(*key.shape[:-2], m, m)
    return attend(query, key, value, mask), attend(query, key, identity, mask)


# %% wrong: scores are cut at 31,000 ->
# of: scaled last
# ~ query @ key.mT => (query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))).clamp(-31_000, 31_000)
# ~ scores / math.sqrt(query.size(-1)), => scores,

# %% wrong: what is below -1000 in the mask is blocked ->
# of: minus ten thousand in place of minus infinity
# ~ clamp(min=-10_000) => masked_fill(mask < -1000, -math.inf)


# %% wrong: torch's own attention by its private name -> a ready-made part in place of an answer
def scaled_dot_product_attention(query, key, value, mask=None):
    return torch._scaled_dot_product_attention_math(query, key, value, mask)


# %% wrong: the attention that helpers give later notebooks -> a ready-made part in place of an answer
def scaled_dot_product_attention(query, key, value, mask=None):
    from helpers.heads import attend

    m = key.size(-2)
    mask = torch.zeros(1, m) if mask is None else mask
    identity = torch.eye(m).expand(*key.shape[:-2], m, m)
    return attend(query, key, value, mask), attend(query, key, identity, mask)
