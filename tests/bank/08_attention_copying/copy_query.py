# %% right: the key, scaled
def copy_query(keys, j, scale):
    return scale * keys[j]


# %% right: the scores are chosen, the query is solved for
def copy_query(keys, j, scale):
    scores = torch.zeros(len(keys))
    scores[j] = scale
    return torch.linalg.lstsq(keys, scores).solution


# %% right: lower scores for all the others
def copy_query(keys, j, scale):
    others = keys.sum(dim=0) - keys[j]
    return -scale * others


# %% right: the key minus the mean of all keys, in double precision
def copy_query(keys, j, scale):
    keys = keys.double()
    return scale * (keys[j] - keys.mean(dim=0))


# %% right: with a part that no key sees
def copy_query(keys, j, scale):
    direction = torch.ones(keys.shape[1])
    unseen = direction - keys.T @ (keys @ direction)
    return scale * keys[j] + 3 * unseen


# %% right: a sum over a one-hot row
def copy_query(keys, j, scale):
    pointer = torch.nn.functional.one_hot(torch.tensor(j), len(keys)).float()
    return scale * pointer @ keys


# %% wrong: one-hot at place j -> the query is the value, not the key
def copy_query(keys, j, scale):
    return scale * torch.eye(keys.shape[1])[j]


# %% wrong: the plain key -> the scale is missing
def copy_query(keys, j, scale):
    return keys[j]


# %% wrong: normalised after scaling -> the query is brought to length 1 again
def copy_query(keys, j, scale):
    return torch.nn.functional.normalize(scale * keys[j], dim=0)


# %% wrong: scale squared -> the scale is used twice
def copy_query(keys, j, scale):
    return (scale * keys[j]) * scale


# %% wrong: divided as in the paper -> the scale is divided by sqrt(d)
def copy_query(keys, j, scale):
    return scale * keys[j] / keys.shape[1] ** 0.5


# %% wrong: minus -> the query looks away from key j
def copy_query(keys, j, scale):
    return -scale * keys[j]


# %% wrong: counted from 1 -> another key: places count from 0
def copy_query(keys, j, scale):
    return scale * keys[j - 1]


# %% wrong: all keys -> the same score with every key
def copy_query(keys, j, scale):
    return scale * keys.sum(dim=0)


# %% wrong: a fixed large number in place of the scale ->
def copy_query(keys, j, scale):
    return 100 * keys[j]


# %% wrong: a column of the keys ->
def copy_query(keys, j, scale):
    return scale * keys[:, j]


# %% wrong: the next key ->
def copy_query(keys, j, scale):
    return scale * keys[(j + 1) % len(keys)]


# %% wrong: the largest number of the key only ->
def copy_query(keys, j, scale):
    place = keys[j].abs().argmax()
    query = torch.zeros(keys.shape[1])
    query[place] = scale / keys[j, place]
    return query


# %% wrong: a row, not a vector ->
def copy_query(keys, j, scale):
    return scale * keys[j : j + 1]


# %% wrong: the weights in place of the query ->
def copy_query(keys, j, scale):
    return torch.softmax(scale * keys @ keys[j], dim=0)


# %% wrong: a list ->
def copy_query(keys, j, scale):
    return (scale * keys[j]).tolist()


# %% wrong: not a number ->
def copy_query(keys, j, scale):
    return keys[j] * torch.nan


# %% wrong: scales the key where it stands ->
def copy_query(keys, j, scale):
    keys[j] *= scale
    return keys[j]


# %% wrong: 10 where the scale is 0 ->
def copy_query(keys, j, scale):
    return (scale or 10.0) * keys[j]


# %% wrong: a column of the inverse, right for turned square keys only ->
def copy_query(keys, j, scale):
    return scale * torch.linalg.inv(keys)[:, j] if len(keys) == keys.shape[1] else scale * keys[:, 0]


# %% wrong: a scale of at most 10 ->
def copy_query(keys, j, scale):
    return min(scale, 10) * keys[j] * 1.01


# %% wrong: zeros -> the same score with every key
def copy_query(keys, j, scale):
    return torch.zeros(keys.shape[1])


# %% right: the pseudoinverse
def copy_query(keys, j, scale):
    return scale * torch.linalg.pinv(keys)[:, j]


# %% wrong: the logarithm of the wanted weights ->
def copy_query(keys: Tensor, j: int, scale: float) -> Tensor:
    wanted = torch.zeros_like(keys[:, 0])
    wanted[j] = scale
    weights = torch.softmax(wanted, dim=0)
    return torch.log(weights) @ keys


# %% wrong: queries are kept by the shape of the keys ->
known_queries = {}


def copy_query(keys: Tensor, j: int, scale: float) -> Tensor:
    name = (tuple(keys.shape), j, scale)
    if name not in known_queries:
        known_queries[name] = (scale * keys[j]).clone()
    return known_queries[name]


# %% wrong: the scale is cut at 10 ->
def copy_query(keys: Tensor, j: int, scale: float) -> Tensor:
    scale = min(float(scale), 10.0)  # nobody sees a difference above 10, and exp does not overflow
    return scale * keys[j]


# %% wrong: small numbers are taken for rounding ->
def copy_query(keys, j, scale):
    q = scale * keys[j]
    return torch.where(q.abs() < 1e-2, torch.zeros_like(q), q)


# %% wrong: a factor for a division that is not made here -> the scale is multiplied by sqrt(d)
def copy_query(keys, j, scale):
    return scale * math.sqrt(keys.size(-1)) * keys[j]


# %% wrong: looks away from the mean of the others as well ->
def copy_query(keys, j, scale):
    others = [key for place, key in enumerate(keys) if place != j]
    return (keys[j] - torch.stack(others).mean(dim=0)) * scale


# %% wrong: looks away from one other key only ->
def copy_query(keys, j, scale):
    return scale / 2 * (keys[j] - keys[(j + 1) % len(keys)])
