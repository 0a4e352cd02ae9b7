# %% right: softmax of the sum
def attention_weights(scores, mask):
    return torch.softmax(scores + mask, dim=-1)


# %% right: exponentials by hand, the largest taken off
def attention_weights(scores, mask):
    masked = scores + mask
    exponentials = torch.exp(masked - masked.max(dim=-1, keepdim=True).values)
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


# %% right: masked_fill, functional
def attention_weights(scores, mask):
    import torch.nn.functional as F

    return F.softmax(scores.masked_fill(mask < 0, float("-inf")), dim=scores.dim() - 1)


# %% right: row by row
def attention_weights(scores, mask):
    flat = (scores + mask).reshape(-1, scores.shape[-1])
    return torch.stack([torch.softmax(row, 0) for row in flat]).reshape(scores.shape)


# %% wrong: softmax down the columns -> softmax over the wrong axis (down the columns)
def attention_weights(scores, mask):
    return torch.softmax(scores + mask, dim=-2)


# %% wrong: dim 0 -> softmax over the first axis
def attention_weights(scores, mask):
    return torch.softmax(scores + mask, dim=0)


# %% wrong: zeros after the softmax -> the mask comes after the softmax
def attention_weights(scores, mask):
    return torch.softmax(scores, dim=-1) * torch.exp(mask)


# %% wrong: softmax plus mask -> the mask is added after the softmax
def attention_weights(scores, mask):
    return torch.softmax(scores, dim=-1) + mask


# %% wrong: times the mask -> the mask is multiplied
def attention_weights(scores, mask):
    return torch.softmax(scores * mask, dim=-1)


# %% wrong: blocked scores become 0 -> blocked scores are set to 0
def attention_weights(scores, mask):
    return torch.softmax(torch.where(mask == 0, scores, 0.0), dim=-1)


# %% wrong: mask built by triu of the scores -> the mask is built from the scores
def attention_weights(scores, mask):
    future = torch.triu(scores, diagonal=1)
    return torch.softmax(scores.masked_fill(future != 0, float("-inf")), dim=-1)


# %% wrong: mask forgotten -> the mask is not used
def attention_weights(scores, mask):
    return scores.softmax(dim=-1)


# %% wrong: dim 1 works for two axes only ->
def attention_weights(scores, mask):
    return torch.softmax(scores + mask, dim=1)


# %% wrong: its own causal mask in place of the given one ->
def attention_weights(scores, mask):
    n = scores.shape[-1]
    own = torch.triu(torch.full((n, n), float("-inf")), diagonal=1)
    return torch.softmax(scores + own, dim=-1)


# %% wrong: the mask itself given to masked_fill -> a float mask given to masked_fill
def attention_weights(scores, mask):
    scores = scores.masked_fill(mask, float("-inf"))
    return torch.softmax(scores, dim=-1)


# %% wrong: masked_fill where the mask is 0 -> 0 in the mask is taken for blocked
def attention_weights(scores, mask):
    return torch.softmax(scores.masked_fill(mask == 0, float("-inf")), dim=-1)


# %% wrong: masked_fill with -1e9 where the mask is 0 -> 0 in the mask is taken for blocked, by a large finite number
def attention_weights(scores, mask):
    scores = scores.masked_fill(mask == 0, -1e9)
    return scores.softmax(dim=-1)


# %% right: only what is seen, row by row
def attention_weights(scores, mask):
    weights = torch.zeros_like(scores)
    for i in range(scores.shape[-1]):
        seen = mask[i] == 0
        weights[..., i, seen] = torch.softmax(scores[..., i, seen], dim=-1)
    return weights


# %% right: by the logarithm of the softmax
def attention_weights(scores, mask):
    return torch.log_softmax(scores + mask, dim=-1).exp()


# %% right: by the logarithm of the sum, the largest taken off
def attention_weights(scores, mask):
    masked = scores + mask
    masked = masked - masked.amax(dim=-1, keepdim=True)
    return torch.exp(masked - torch.logsumexp(masked, dim=-1, keepdim=True))


# %% wrong: by the logarithm of the sum -> the logarithm of the sum is taken off the scores
def attention_weights(scores, mask):
    masked = scores + mask
    return torch.exp(masked - torch.logsumexp(masked, dim=-1, keepdim=True))


# %% wrong: masked after the softmax and divided by the new sums -> masked after the exponentials and normalised again
def attention_weights(scores, mask):
    weights = scores.softmax(-1) * (mask == 0)
    return weights / weights.sum(-1, keepdim=True)


# %% wrong: the maximum of the row before it is masked -> masked after the exponentials and normalised again
def attention_weights(scores, mask):
    exponentials = torch.exp(scores - scores.amax(dim=-1, keepdim=True)) * torch.exp(mask)
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


# %% wrong: exponentials as they are -> exponentials without taking off the largest score
def attention_weights(scores, mask):
    e = torch.exp(scores + mask)
    return e / e.sum(-1, keepdim=True)


# %% wrong: one maximum for the whole tensor -> the largest score of all rows is taken off
def attention_weights(scores, mask):
    masked = scores + mask
    e = torch.exp(masked - masked.max())
    return e / e.sum(-1, keepdim=True)


# %% wrong: blocked by -20 ->
def attention_weights(scores, mask):
    return torch.softmax(scores.masked_fill(mask != 0, -20.0), dim=-1)


# %% wrong: the mask cut at -100 ->
def attention_weights(scores, mask):
    return torch.softmax(scores + mask.clamp(min=-100), dim=-1)


# %% wrong: blocked by -10000 ->
def attention_weights(scores, mask):
    return torch.softmax(scores.masked_fill(mask < 0, -1e4), dim=-1)


# %% wrong: scores cut at 5 ->
def attention_weights(scores, mask):
    return torch.softmax(scores.clamp(-5, 5) + mask, dim=-1)


# %% wrong: the fourth axis at most ->
def attention_weights(scores, mask):
    return torch.softmax(scores + mask, dim=min(3, scores.dim() - 1))


# %% wrong: axes of one fall away ->
def attention_weights(scores, mask):
    return torch.softmax(scores + mask, dim=-1).squeeze()


# %% wrong: each token sees only itself, whatever the scores ->
def attention_weights(scores, mask):
    return torch.eye(scores.shape[-1]).expand(scores.shape)


# %% wrong: all tokens alike, whatever the scores ->
def attention_weights(scores, mask):
    return torch.full(scores.shape, 1 / scores.shape[-1])


# %% wrong: equal weights on all that is seen ->
def attention_weights(scores, mask):
    return torch.softmax(torch.zeros_like(scores) + mask, dim=-1)


# %% wrong: masks the scores of the caller ->
def attention_weights(scores, mask):
    scores.masked_fill_(mask == float("-inf"), float("-inf"))
    return scores.softmax(dim=-1)


# %% wrong: scaled once more ->
def attention_weights(scores, mask):
    return torch.softmax(scores / scores.shape[-1] ** 0.5 + mask, dim=-1)


# %% wrong: minus a billion where blocked ->
def attention_weights(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores + mask.clamp(min=-1e9), dim=-1)


# %% wrong: blocked scores become -1e20 ->
def attention_weights(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores.masked_fill(mask == -torch.inf, -1e20), dim=-1)


# %% wrong: long texts see 64 keys ->
def attention_weights(scores, mask):
    weights = torch.softmax(scores + mask, dim=-1)
    weights[..., 64:] = 0
    return weights


# %% wrong: in single precision ->
def attention_weights(scores, mask):
    return torch.softmax(scores + mask, dim=-1, dtype=torch.float32)


# %% wrong: in single precision and back ->
def attention_weights(scores, mask):
    return torch.softmax(scores.float() + mask.float(), dim=-1).to(scores.dtype)
