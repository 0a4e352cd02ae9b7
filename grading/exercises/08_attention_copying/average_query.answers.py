# %% right: the sum, scaled
def average_query(keys, a, b, scale):
    return scale * (keys[a] + keys[b])


# %% right: two copies
# other: It builds on the exercise before: scores add up as queries do; the solution multiplies by the scale only once, and depends on no other function.
# ~ scale * (keys[a] + keys[b]) => copy_query(keys, a, scale) + copy_query(keys, b, scale)


# %% right: solved for the scores
def average_query(keys, a, b, scale):
    scores = torch.zeros(len(keys), dtype=torch.float64)
    scores[[a, b]] = float(scale)
    return torch.linalg.pinv(keys.double()) @ scores


# %% right: away from all the others
def average_query(keys, a, b, scale):
    keep = torch.ones(len(keys), dtype=torch.bool)
    keep[[a, b]] = False
    return -scale * keys[keep].sum(dim=0)


# %% right: indexed and summed
# ~ scale * (keys[a] + keys[b]) => keys[[a, b]].mul(scale).sum(dim=0)

# %% wrong: the plain sum -> the scale is missing
# hint: Scores of 1 leave most of the weight with the other keys as soon as there are a few of them. Multiply by
# hint: `scale`.
# ~ scale * (keys[a] + keys[b]) => keys[a] + keys[b]

# %% wrong: the mean -> the average of the two keys: half the scale
# hint: The softmax makes the average for you. With (k_a + k_b)/2 both scores are scale/2, and the others keep more than
# hint: they should.
# ~ (keys[a] + keys[b]) => torch.stack([keys[a], keys[b]]).mean(dim=0)


# %% wrong: a direction of length 1 -> the sum is scaled to length 1 first
# hint: k_a + k_b has the length sqrt(2). Dividing by it makes both scores scale/sqrt(2); the keys already have length
# hint: 1.
def average_query(keys, a, b, scale):
    direction = keys[a] + keys[b]
    return scale * direction / direction.norm()


# %% wrong: the first key -> only one of the two keys
# hint: This query copies v_a. Both keys must get the same score.
# ~ (keys[a] + keys[b]) => keys[a]

# %% wrong: the second key -> only the second of the two keys
# hint: This query copies v_b. Both keys must get the same score.
# ~ (keys[a] + keys[b]) => keys[b]

# %% wrong: a minus -> the difference of the two keys
# hint: With k_a - k_b the score of b is -scale, the lowest of all: the output is v_a alone.
# ~ + keys => - keys

# %% wrong: elementwise product -> the product of the two keys, number by number
# hint: A query must have a large dot product with both keys; the sum has, the elementwise product has not.
# ~ (keys[a] + keys[b]) => keys[a] * keys[b]


# %% wrong: adds where the key stands ->
def average_query(keys, a, b, scale):
    query = keys[a]
    query += keys[b]
    return query * scale


# %% wrong: 10 where the scale is 0 ->
# ~ scale * => (scale or 10.0) *

# %% wrong: b is taken to be the last ->
# ~ (keys[a] + keys[b]) => (keys[a] + keys[-1])

# %% wrong: nearly one half, whatever the scale ->
# ~ scale * => max(scale, 8) *


# %% wrong: through the exponential of the scale ->
def average_query(keys: Tensor, a: int, b: int, scale: float) -> Tensor:
    scores = torch.zeros(keys.shape[0])
    scores[[a, b]] = float(scale)
    powers = torch.exp(scores)
    weights = powers / powers.sum()
    return torch.log(weights).to(keys.dtype) @ keys


# %% wrong: all keys from a to b ->
def average_query(keys, a, b, scale):
    first, last = sorted((a, b))
    return scale * keys[first : last + 1].sum(dim=0)
