# %% right: repeat_interleave
def grouped_query_attention(query, key, value, mask=None):
    share = query.size(1) // key.size(1)
    key, value = key.repeat_interleave(share, 1), value.repeat_interleave(share, 1)
    scores = query @ key.mT / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores + mask
    return scores.softmax(-1) @ value


# %% right: the groups as an axis of their own
# other: No key and no value is copied for the heads of its group; the solution is shorter: after `repeat_interleave` it is attention as you know it.
def grouped_query_attention(query, key, value, mask=None):
    b, h, n, d = query.shape
    g, m = key.shape[1:3]
    query = query.reshape(b, g, h // g, n, d)
    scores = torch.einsum("bgsnd,bgmd->bgsnm", query, key) / math.sqrt(d)
    scores = scores.reshape(b, h, n, m)
    if mask is not None:
        scores = scores + mask
    weights = torch.softmax(scores, dim=-1).reshape(b, g, h // g, n, m)
    return torch.einsum("bgsnm,bgmd->bgsnd", weights, value).reshape(b, h, n, d)


# %% right: head by head
def grouped_query_attention(query, key, value, mask=None):
    h, g = query.size(1), key.size(1)
    if mask is not None:
        mask = mask.expand(query.size(0), h, query.size(2), key.size(2))
    heads = []
    for i in range(h):
        group = i // (h // g)
        scores = query[:, i] @ key[:, group].transpose(1, 2) / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores + mask[:, i]
        heads.append(torch.softmax(scores, dim=-1) @ value[:, group])
    return torch.stack(heads, dim=1)


# %% right: expand and flatten
def grouped_query_attention(query, key, value, mask=None):
    share = query.size(1) // key.size(1)

    def spread(x):
        return x[:, :, None].expand(-1, -1, share, -1, -1).flatten(1, 2)

    scores = torch.matmul(query, spread(key).transpose(2, 3)) * query.shape[-1] ** -0.5
    scores = scores if mask is None else scores + mask
    return torch.matmul(F.softmax(scores, dim=3), spread(value))


# %% wrong: repeat -> the heads take turns: head 0 reads group 0, head 1 group 1, ...
# hint: That is `repeat` or `tile`. The heads of a group are neighbours: `repeat_interleave`, or head i reads group i //
# hint: (h / g).
def grouped_query_attention(query, key, value, mask=None):
    share = query.size(1) // key.size(1)
    key, value = key.repeat(1, share, 1, 1), value.repeat(1, share, 1, 1)
    scores = query @ key.mT / math.sqrt(query.size(-1))
    return torch.softmax(scores if mask is None else scores + mask, dim=-1) @ value


# %% wrong: the first group for all -> every head reads the first group
# hint: With more than one group, head i reads group i // (h / g).
def grouped_query_attention(query, key, value, mask=None):
    scores = query @ key[:, :1].mT / math.sqrt(query.size(-1))
    return torch.softmax(scores if mask is None else scores + mask, dim=-1) @ value[:, :1]


# %% wrong: the mean of the groups -> every head reads the mean of all groups
# hint: A mean makes one group of several; here they stay apart, and head i reads group i // (h / g).
def grouped_query_attention(query, key, value, mask=None):
    key, value = key.mean(1, keepdim=True), value.mean(1, keepdim=True)
    scores = query @ key.mT / math.sqrt(query.size(-1))
    return torch.softmax(scores if mask is None else scores + mask, dim=-1) @ value


# %% wrong: head i // g -> the head is divided by the number of groups
# hint: i // g is right only where as many heads share a group as there are groups. Divide by h / g, the number of heads
# hint: that share one.
def grouped_query_attention(query, key, value, mask=None):
    h, g = query.size(1), key.size(1)
    group = [min(i // g, g - 1) for i in range(h)]
    scores = query @ key[:, group].mT / math.sqrt(query.size(-1))
    return torch.softmax(scores if mask is None else scores + mask, dim=-1) @ value[:, group]


# %% wrong: values by turns -> keys and values are spread in different ways
# hint: A head reads keys and values of the same group.
# of: repeat
# ~ repeat(1, share, 1, 1), => repeat_interleave(share, dim=1),


# %% wrong: one query for a group -> the queries of a group are averaged
# hint: Only keys and values are shared. Each head asks with its own query.
def grouped_query_attention(query, key, value, mask=None):
    b, h, n, d = query.shape
    g = key.size(1)
    query = query.reshape(b, g, h // g, n, d).mean(2).repeat_interleave(h // g, dim=1)
    key, value = key.repeat_interleave(h // g, dim=1), value.repeat_interleave(h // g, dim=1)
    scores = query @ key.mT / math.sqrt(d)
    return torch.softmax(scores if mask is None else scores + mask, dim=-1) @ value


# %% wrong: no scale -> the scale is missing
# hint: Divide the dot products by the square root of d/h, as always.
def grouped_query_attention(query, key, value, mask=None):
    share = query.size(1) // key.size(1)
    scores = query @ key.repeat_interleave(share, dim=1).mT
    return torch.softmax(scores if mask is None else scores + mask, dim=-1) @ value.repeat_interleave(share, dim=1)


# %% wrong: by d -> divided by d in place of its square root
# hint: The standard deviation of a score is the square root of d.
# of: no scale
# ~ mT => mT / query.size(-1)

# %% wrong: the root of the heads -> divided by the square root of the number of heads
# hint: A score is a sum over the d/h numbers of one head: divide by the root of d/h.
# ~ mT => mT / math.sqrt(query.size(1))

# %% wrong: the root of the keys -> divided by the square root of the length
# hint: A score is a sum over the d/h numbers of one head, not over the keys.
# ~ mT => mT / math.sqrt(key.size(-2))


# %% wrong: without the mask -> the mask is not used
# hint: Add it to the scores before the softmax.
def grouped_query_attention(query, key, value, mask=None):
    share = query.size(1) // key.size(1)
    scores = query @ key.repeat_interleave(share, 1).mT / query.size(-1) ** 0.5
    return scores.softmax(-1) @ value.repeat_interleave(share, 1)


# %% wrong: the mask before the scale -> the mask is scaled too
# hint: Minus infinity does not mind, but a finite bias does: scale the scores first, then add the mask.
# -    return torch.softmax(scores if mask is None else scores + mask, dim=-1) @ value.repeat_interleave(share, dim=1)
# +    scores = (scores if mask is None else scores + mask) / math.sqrt(query.size(-1))
# +    return torch.softmax(scores, dim=-1) @ value.repeat_interleave(share, dim=1)


# %% wrong: dim=-2 -> softmax over the queries
# hint: Each query shares its attention over the keys: the softmax runs along the last axis, dim=-1.
def grouped_query_attention(query, key, value, mask=None):
    share = query.size(1) // key.size(1)
    scores = query @ key.repeat_interleave(share, dim=1).mT / math.sqrt(query.size(-1))
    weights = torch.softmax(scores if mask is None else scores + mask, dim=-2)
    return weights @ value.repeat_interleave(share, dim=1)


# %% wrong: causal where no mask is given -> without a mask it is causal
# hint: None: nothing is blocked, and every query sees all keys. Who wants the causal mask gives it.
# of: repeat_interleave
# ~ not None => None
# ~ scores = scores + mask => mask = torch.full((query.size(2), key.size(2)), -torch.inf).triu(1)
# ~ scores. => (scores + mask).


# %% wrong: always causal -> without a mask it is causal
def grouped_query_attention(query, key, value, mask=None):
    share = query.size(1) // key.size(1)
    key, value = key.repeat_interleave(share, 1), value.repeat_interleave(share, 1)
    scores = query @ key.mT / query.size(-1) ** 0.5
    causal = torch.full(scores.shape[-2:], -torch.inf).triu(1)
    return (scores + causal).softmax(-1) @ value


# %% wrong: torch's own, with an index -> a ready-made part in place of an answer
def grouped_query_attention(query, key, value, mask=None):
    group = torch.arange(query.size(1)) * key.size(1) // query.size(1)
    return F.scaled_dot_product_attention(query, key[:, group], value[:, group], attn_mask=mask)


# %% wrong: the mask's rows are shared like keys ->
def grouped_query_attention(query, key, value, mask=None):
    h, g = query.size(1), key.size(1)
    if mask is not None and mask.dim() == 3:
        mask = mask[[i * g // h for i in range(h)]]
    scores = query @ key.repeat_interleave(h // g, dim=1).mT / math.sqrt(query.size(-1))
    return torch.softmax(scores if mask is None else scores + mask, dim=-1) @ value.repeat_interleave(h // g, dim=1)


# %% wrong: the mask of head 0 for all ->
def grouped_query_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
) -> Tensor:
    b, h, n, d = query.shape
    g = key.shape[1]
    grouped = query.reshape(b, g, h // g, n, d)
    scores = grouped @ key[:, :, None].transpose(-2, -1) / math.sqrt(d)  # (b, g, h / g, n, m)
    if mask is not None:
        if mask.dim() == 4:  # (b, 1, 1, m)
            mask = mask[:, :1, None]
        elif mask.dim() == 3 and mask.shape[0] > 1:  # (h, n, m)
            mask = mask.unflatten(0, (g, h // g))
        scores = scores + mask
    return (scores.softmax(dim=-1) @ value[:, :, None]).reshape(b, h, n, d)


# %% wrong: one maximum for all rows ->
def grouped_query_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
) -> Tensor:
    shared = query.shape[1] // key.shape[1]
    key, value = (part.repeat_interleave(shared, dim=1) for part in (key, value))
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores + mask
    powers = torch.exp(scores - scores.max())
    return powers / powers.sum(dim=-1, keepdim=True) @ value


# %% wrong: groups by a rounded scale ->
def grouped_query_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
) -> Tensor:
    h, g = query.shape[1], key.shape[1]
    group = torch.linspace(0, g - 1, h, device=key.device).round().long()
    scores = query @ key[:, group].transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores + mask
    return scores.softmax(dim=-1) @ value[:, group]


# %% wrong: scores between -50 and 50 ->
# ~ query @ key.mT / query.size(-1) ** 0.5 => (query @ key.mT / query.size(-1) ** 0.5).clamp(-50, 50)

# %% wrong: the last 64 keys are read ->
#      key, value = key.repeat_interleave(share, 1), value.repeat_interleave(share, 1)
# +    key, value, mask = key[:, :, -64:], value[:, :, -64:], mask if mask is None else mask[..., -64:]

# %% wrong: eight heads share a group at most ->
# of: head by head
# ~ i // (h // g) => min(i // min(h // g, 8), g - 1)


# %% wrong: what is below -1000 in the mask is blocked ->
def grouped_query_attention(query, key, value, mask=None):
    share = query.size(1) // key.size(1)
    key, value = key.repeat_interleave(share, dim=1), value.repeat_interleave(share, dim=1)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores + mask.masked_fill(mask < -1000, -math.inf)
    return torch.softmax(scores, dim=-1) @ value


# %% wrong: the attention of helpers, with repeated keys -> a ready-made part in place of an answer
def grouped_query_attention(query, key, value, mask=None):
    from helpers.heads import attend

    share = query.size(1) // key.size(1)
    key, value = key.repeat_interleave(share, dim=1), value.repeat_interleave(share, dim=1)
    return attend(query, key, value, torch.zeros(1, key.size(2)) if mask is None else mask)
