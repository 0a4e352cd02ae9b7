# %% right: the sum, scaled
def average_query(keys, a, b, scale):
    return scale * (keys[a] + keys[b])


# %% right: two copies
def average_query(keys, a, b, scale):
    return copy_query(keys, a, scale) + copy_query(keys, b, scale)


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
def average_query(keys, a, b, scale):
    return keys[[a, b]].mul(scale).sum(dim=0)


# %% wrong: the plain sum -> the scale is missing
def average_query(keys, a, b, scale):
    return keys[a] + keys[b]


# %% wrong: the mean -> the average of the two keys: half the scale
def average_query(keys, a, b, scale):
    return scale * torch.stack([keys[a], keys[b]]).mean(dim=0)


# %% wrong: a direction of length 1 -> the sum is scaled to length 1 first
def average_query(keys, a, b, scale):
    direction = keys[a] + keys[b]
    return scale * direction / direction.norm()


# %% wrong: the first key -> only one of the two keys
def average_query(keys, a, b, scale):
    return scale * keys[a]


# %% wrong: the second key -> only the second of the two keys
def average_query(keys, a, b, scale):
    return scale * keys[b]


# %% wrong: a minus -> the difference of the two keys
def average_query(keys, a, b, scale):
    return scale * (keys[a] - keys[b])


# %% wrong: elementwise product -> the product of the two keys, number by number
def average_query(keys, a, b, scale):
    return scale * keys[a] * keys[b]


# %% wrong: only one is scaled ->
def average_query(keys, a, b, scale):
    return scale * keys[a] + keys[b]


# %% wrong: a fixed large scale ->
def average_query(keys, a, b, scale):
    return 50 * (keys[a] + keys[b])


# %% wrong: a slice from a to b ->
def average_query(keys, a, b, scale):
    return scale * keys[min(a, b) : max(a, b) + 2].sum(dim=0)


# %% wrong: the scores are nearly equal ->
def average_query(keys, a, b, scale):
    return scale * (keys[a] + 0.99 * keys[b])


# %% wrong: the larger of the two numbers at each place ->
def average_query(keys, a, b, scale):
    return scale * torch.maximum(keys[a], keys[b])


# %% wrong: two queries ->
def average_query(keys, a, b, scale):
    return scale * keys[a], scale * keys[b]


# %% wrong: the wanted weights ->
def average_query(keys, a, b, scale):
    weights = torch.zeros(len(keys))
    weights[[a, b]] = 0.5
    return weights


# %% wrong: adds where the key stands ->
def average_query(keys, a, b, scale):
    query = keys[a]
    query += keys[b]
    return query * scale


# %% wrong: scales the keys where they stand ->
def average_query(keys, a, b, scale):
    keys *= scale
    return keys[a] + keys[b]


# %% wrong: 10 where the scale is 0 ->
def average_query(keys, a, b, scale):
    return (scale or 10.0) * (keys[a] + keys[b])


# %% wrong: b is taken to be the last ->
def average_query(keys, a, b, scale):
    return scale * (keys[a] + keys[-1])


# %% wrong: nearly one half, whatever the scale ->
def average_query(keys, a, b, scale):
    return max(scale, 8) * (keys[a] + keys[b])


# %% wrong: any vector of the right shape ->
def average_query(keys, a, b, scale):
    return torch.ones(keys.shape[1])


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
