# %% right: matrix products
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + mask
    weights = scores.softmax(dim=-1)
    return weights @ value, weights


# %% right: einsum
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


# %% wrong: no scale -> the scale is missing
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1)
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value, weights


# %% wrong: by d -> divided by d in place of its square root
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / query.size(-1)
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value, weights


# %% wrong: both sides by the root -> divided by d in place of its square root
def scaled_dot_product_attention(query, key, value, mask=None):
    root = math.sqrt(query.size(-1))
    scores = (query / root) @ (key / root).mT
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value, weights


# %% wrong: by the number of keys -> divided by the length
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / key.shape[-2]
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value, weights


# %% wrong: by the root of the number of keys -> divided by the square root of the length
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-2))
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value, weights


# %% wrong: by the root of the values' width -> the width of the values is used for the scale
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(value.size(-1))
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value, weights


# %% wrong: times the root -> multiplied by the square root of d
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) * math.sqrt(query.size(-1))
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value, weights


# %% wrong: key.T -> the batch is transposed too (key.T)
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.T / math.sqrt(query.size(-1))
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value, weights


# %% wrong: down the columns -> softmax over the queries
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.size(-1))
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-2)
    return weights @ value, weights


# %% wrong: mask forgotten -> the mask is not used
def scaled_dot_product_attention(query, key, value, mask=None):
    weights = torch.softmax(query @ key.mT / math.sqrt(query.size(-1)), dim=-1)
    return weights @ value, weights


# %% wrong: mask on the weights -> the mask comes after the softmax
def scaled_dot_product_attention(query, key, value, mask=None):
    weights = torch.softmax(query @ key.mT / math.sqrt(query.size(-1)), dim=-1)
    if mask is not None:
        weights = weights * mask.exp()
    return weights @ value, weights


# %% wrong: scaled last -> the mask is scaled too
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.mT
    if mask is not None:
        scores = scores + mask
    weights = torch.softmax(scores / math.sqrt(query.size(-1)), dim=-1)
    return weights @ value, weights


# %% wrong: scores given back -> the scores are returned in place of the weights
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores + mask
    return torch.softmax(scores, dim=-1) @ value, scores


# %% wrong: by 8, as in the paper ->
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.mT / 8
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value, weights


# %% wrong: by the root of the number of queries ->
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.size(-2))
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value, weights


# %% wrong: by the fourth root ->
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.mT / query.size(-1) ** 0.25
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value, weights


# %% wrong: cosines, lengths divided away ->
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = nn.functional.normalize(query, dim=-1) @ nn.functional.normalize(key, dim=-1).mT
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value, weights


# %% wrong: the root rounded down ->
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.mT / math.isqrt(query.size(-1))
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value, weights


# %% wrong: weights scaled in place of scores ->
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.mT
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1) / math.sqrt(query.size(-1))
    return weights @ value, weights


# %% wrong: the axis counted from the front ->
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.size(-1))
    weights = torch.softmax(scores if mask is None else scores + mask, dim=1)
    return weights @ value, weights


# %% wrong: output only ->
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.size(-1))
    return torch.softmax(scores if mask is None else scores + mask, dim=-1) @ value


# %% wrong: the two results in the other order ->
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.size(-1))
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights, weights @ value


# %% wrong: masked_fill where the mask is 0 -> 0 in the mask is taken for blocked
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


# %% right: masked in place on scores of its own
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-1, -2)).div_(query.shape[-1] ** 0.5)
    if mask is not None:
        scores += mask
    weights = nn.functional.softmax(scores, dim=-1)
    return torch.matmul(weights, value), weights


# %% wrong: exponentials by hand, as they are -> the exponential overflows
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores + mask
    powers = scores.exp()
    weights = powers / powers.sum(-1, keepdim=True)
    return weights @ value, weights


# %% wrong: one maximum for the whole tensor ->
# of: exponentials by hand, as they are
# -    powers = scores.exp()
# +    powers = (scores - scores.max()).exp()


# %% wrong: the maximum before the mask ->
# of: exponentials by hand, as they are
#      scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
# +    scores = scores - scores.amax(-1, keepdim=True)


# %% wrong: minus ten thousand in place of minus infinity ->
# of: masked_fill where the mask is 0
# -        scores = scores.masked_fill(mask == 0, -1e9)
# +        scores = scores + mask.clamp(min=-10_000)


# %% wrong: blocked places filled with minus ten thousand ->
# of: masked_fill where the mask is 0
# -        scores = scores.masked_fill(mask == 0, -1e9)
# +        scores = (scores + mask).masked_fill(mask == -torch.inf, -1e4)


# %% wrong: scores clamped ->
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores + mask
    weights = torch.softmax(scores.clamp(-50, 50), dim=-1)
    return weights @ value, weights


# %% wrong: whatever is not 0 is blocked ->
# of: masked_fill where the mask is 0
# -        scores = scores.masked_fill(mask == 0, -1e9)
# +        scores = scores.masked_fill(mask != 0, -torch.inf)


# %% wrong: the axis of the width counted from the front ->
def scaled_dot_product_attention(query, key, value, mask=None):
    d = query.size(2) if query.dim() > 2 else query.size(1)
    scores = query @ key.transpose(-2, -1) / math.sqrt(d)
    if mask is not None:
        scores = scores + mask
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


# %% wrong: at most four axes ->
# of: scores clamped
# -    weights = torch.softmax(scores.clamp(-50, 50), dim=-1)
# +    weights = torch.softmax(scores, dim=min(3, scores.dim() - 1))


# %% wrong: the mask has no default ->
def scaled_dot_product_attention(query, key, value, mask):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value, weights


# %% wrong: the weights are detached ->
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores + mask
    weights = torch.softmax(scores, dim=-1)
    return weights.detach() @ value, weights


# %% wrong: without gradients ->
@torch.no_grad()
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.size(-1))
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value, weights


# %% wrong: the query is scaled in place ->
def scaled_dot_product_attention(query, key, value, mask=None):
    query /= math.sqrt(query.size(-1))
    scores = query @ key.mT
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
    return weights @ value, weights


# %% wrong: sizes of 1 are squeezed away ->
# of: the weights are detached
# -    return weights.detach() @ value, weights
# +    return (weights @ value).squeeze(), weights.squeeze()


# %% wrong: all weights alike ->
def scaled_dot_product_attention(query, key, value, mask=None):
    weights = torch.full((*query.shape[:-1], key.size(-2)), 1 / key.size(-2))
    return weights @ value, weights


# %% right: einsum and logsumexp
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = torch.einsum("...nd,...md->...nm", query * query.shape[-1] ** -0.5, key)
    if mask is not None:
        scores = scores + mask
    weights = torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))
    return torch.einsum("...nm,...mv->...nv", weights, value), weights


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


# %% wrong: the mask of a sentence goes to others ->
def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    leading = query.shape[:-2]
    flat_query, flat_key, flat_value = (x.reshape(-1, *x.shape[-2:]) for x in (query, key, value))
    scores = flat_query @ flat_key.transpose(-2, -1) / math.sqrt(query.shape[-1])  # (b * h, n, m)
    if mask is not None:
        if mask.dim() > 2:
            mask = mask.reshape(-1, *mask.shape[-2:])
            mask = mask.repeat(len(scores) // len(mask), 1, 1)
        scores = scores + mask
    weights = torch.softmax(scores, dim=-1)
    output = weights @ flat_value
    return output.reshape(*leading, *output.shape[-2:]), weights.reshape(*leading, *weights.shape[-2:])


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


# %% wrong: scores of keys and queries, along the last axis -> softmax over the queries
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = key @ query.mT / math.sqrt(query.size(-1))
    weights = torch.softmax(scores if mask is None else scores + mask.mT, dim=-1).mT
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
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = (query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))).clamp(-31_000, 31_000)
    if mask is not None:
        scores = scores + mask
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


# %% wrong: what is below -1000 in the mask is blocked ->
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores + mask.masked_fill(mask < -1000, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


# %% wrong: torch's own attention by its private name -> a ready-made part in place of an answer
def scaled_dot_product_attention(query, key, value, mask=None):
    return torch._scaled_dot_product_attention_math(query, key, value, mask)
