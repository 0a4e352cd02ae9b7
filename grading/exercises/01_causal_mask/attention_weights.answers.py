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


# %% right: only what is seen, row by row
# other: What is blocked is never computed, so that no exponential of minus infinity is needed; the softmax of the whole square is one operation in place of one for each row.
def attention_weights(scores, mask):
    weights = torch.zeros_like(scores)
    for i in range(scores.shape[-1]):
        seen = mask[i] == 0
        weights[..., i, seen] = torch.softmax(scores[..., i, seen], dim=-1)
    return weights


# %% right: by the logarithm of the softmax
# ~ softmax(scores + mask, dim=-1) => log_softmax(scores + mask, dim=-1).exp()


# %% right: by the logarithm of the sum, the largest taken off
def attention_weights(scores, mask):
    masked = scores + mask
    masked = masked - masked.amax(dim=-1, keepdim=True)
    return torch.exp(masked - torch.logsumexp(masked, dim=-1, keepdim=True))


# %% wrong: softmax down the columns -> softmax over the wrong axis (down the columns)
# hint: Each query shares its attention over the keys: the softmax runs along the last axis, dim=-1.
# ~ (scores + mask, dim=-1) => (scores + mask, dim=-2)

# %% wrong: dim 0 -> softmax over the first axis
# hint: dim=0 is the batch as soon as there is one. Count from the end: dim=-1.
# ~ (scores + mask, dim=-1) => (scores + mask, dim=0)

# %% wrong: zeros after the softmax -> the mask comes after the softmax
# hint: The blocked scores have already taken their share, so rows no longer sum to 1. Mask first, then softmax.
# ~ (scores + mask, dim=-1) => (scores, dim=-1) * torch.exp(mask)

# %% wrong: softmax plus mask -> the mask is added after the softmax
# hint: Weights of -inf mean nothing. Add the mask to the scores, before the softmax.
# ~ (scores + mask, dim=-1) => (scores, dim=-1) + mask

# %% wrong: times the mask -> the mask is multiplied
# hint: 0 times a score is 0 and -inf times 0 is NaN. This mask is made to be added.
# ~ + mask => * mask

# %% wrong: blocked scores become 0 -> blocked scores are set to 0
# hint: A score of 0 still gets exp(0) = 1 before normalisation. A blocked score must be -inf.
# ~ scores + mask => torch.where(mask == 0, scores, 0.0)


# %% wrong: the mask itself given to masked_fill -> a float mask given to masked_fill
# hint: masked_fill wants True and False. This mask holds numbers, 0 and -inf, and is made to be added to the scores.
def attention_weights(scores, mask):
    scores = scores.masked_fill(mask, float("-inf"))
    return torch.softmax(scores, dim=-1)


# %% wrong: masked_fill where the mask is 0 -> 0 in the mask is taken for blocked
# hint: Many programs write masked_fill(mask == 0, ...), for masks of 1 and 0. In ours 0 means allowed and -inf blocked:
# hint: just add it to the scores.
# ~ scores + mask, => scores.masked_fill(mask == 0, float("-inf")),


# %% wrong: masked_fill with -1e9 where the mask is 0 -> 0 in the mask is taken for blocked, by a large finite number
# hint: Many programs write masked_fill(mask == 0, -1e9), for masks of 1 and 0. In ours 0 means allowed and -inf
# hint: blocked: just add it to the scores.
def attention_weights(scores, mask):
    scores = scores.masked_fill(mask == 0, -1e9)
    return scores.softmax(dim=-1)


# %% wrong: mask built by triu of the scores -> the mask is built from the scores
# hint: Where a score happens to be 0, `triu(scores)` is 0 too and the future leaks through. Use the mask you are given.
def attention_weights(scores, mask):
    future = torch.triu(scores, diagonal=1)
    return torch.softmax(scores.masked_fill(future != 0, float("-inf")), dim=-1)


# %% wrong: mask forgotten -> the mask is not used
# hint: These are the weights without any mask: every token still sees the future.
# ~ torch.softmax(scores + mask, dim=-1) => scores.softmax(dim=-1)


# %% wrong: exponentials as they are -> exponentials without taking off the largest score
# hint: exp(89) is already too large for a floating point number, and inf / inf is NaN. Take the largest masked score
# hint: off each row first, or use torch.softmax, which does so.
def attention_weights(scores, mask):
    e = torch.exp(scores + mask)
    return e / e.sum(-1, keepdim=True)


# %% wrong: one maximum for the whole tensor -> the largest score of all rows is taken off
# hint: In a row that lies far below it all exponentials are 0, and 0 / 0 is NaN. Each row needs its own largest score:
# hint: max(dim=-1, keepdim=True).
# of: by the logarithm of the sum, the largest taken off
# ~ masked = masked - masked.amax(dim=-1, keepdim=True) => e = torch.exp(masked - masked.max())
# ~ torch.exp(masked - torch.logsumexp(masked, dim=-1, keepdim=True)) => e / e.sum(-1, keepdim=True)


# %% wrong: masked after the softmax and divided by the new sums -> masked after the exponentials and normalised again
# hint: It is right as long as the exponentials leave something. The largest score of the row is taken off before them
# hint: (torch.softmax does so): where that is a blocked one, those of all others may be 0, and 0 / 0 is NaN. Mask
# hint: first.
def attention_weights(scores, mask):
    weights = scores.softmax(-1) * (mask == 0)
    return weights / weights.sum(-1, keepdim=True)


# %% wrong: by the logarithm of the sum -> the logarithm of the sum is taken off the scores
# hint: Floating point numbers near 1e8 are 8 apart: the logarithm of a sum is lost beside them, and a row of equal
# hint: scores sums to more than 1. Take the largest score off each row first, or use torch.softmax, which does so.
# -    masked = masked - masked.amax(dim=-1, keepdim=True)


# %% wrong: the fourth axis at most ->
def attention_weights(scores, mask):
    return torch.softmax(scores + mask, dim=min(3, scores.dim() - 1))


# %% wrong: masks the scores of the caller ->
# of: masked_fill with -1e9 where the mask is 0
# ~ scores = scores.masked_fill(mask == 0, -1e9) => scores.masked_fill_(mask == float("-inf"), float("-inf"))


# %% wrong: minus a billion where blocked ->
def attention_weights(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores + mask.clamp(min=-1e9), dim=-1)


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
