# %% right: the key, scaled
def copy_query(keys, j, scale):
    return scale * keys[j]


# %% right: the scores are chosen, the query is solved for
# other: It solves for the query that gives the wanted scores, and so works for any independent keys; the solution uses that they are at right angles, and needs no solver.
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


# %% right: the pseudoinverse
# ~ keys[j] => torch.linalg.pinv(keys)[:, j]

# %% wrong: one-hot at index j -> the query is the value, not the key
# hint: The query is compared with the keys; the values are only read out afterwards. A query made of what you want to
# hint: get out (1 at index j) looks at nothing in particular: build it from keys[j].
# ~ keys[j] => torch.eye(keys.shape[1])[j]

# %% wrong: the plain key -> the scale is missing
# hint: A score of 1 against 0 gives a weight of e/(e + n - 1) only: the others keep a large part. Multiply the key by
# hint: `scale`.
# ~ scale * keys => keys

# %% wrong: normalised after scaling -> the query is brought to length 1 again
# hint: Dividing the query by its length takes the scale out again.
# ~ scale * keys[j] => torch.nn.functional.normalize(scale * keys[j], dim=0)

# %% wrong: scale squared -> the scale is used twice
# ~ scale * keys[j] => (scale * keys[j]) * scale

# %% wrong: divided as in the paper -> the scale is divided by sqrt(d)
# hint: Here the scores are plain dot products. Dividing by sqrt(d) makes the gap smaller than `scale`.
# ~ [j] => [j] / keys.shape[1] ** 0.5

# %% wrong: a factor for a division that is not made here -> the scale is multiplied by sqrt(d)
# hint: Here the scores are plain dot products, and nothing divides them by sqrt(d) afterwards. One factor `scale` is
# hint: enough.
# ~ keys[j] => math.sqrt(keys.size(-1)) * keys[j]

# %% wrong: minus -> the query looks away from key j
# hint: With a minus, key j has the lowest score of all and every value but v_j is copied.
# ~ scale * => -scale *

# %% wrong: counted from 1 -> another key: indices count from 0
# hint: keys[j] is the key of value j; keys[j - 1] is its neighbour.
# ~ [j] => [j - 1]

# %% wrong: all keys -> the same score with every key
# hint: The sum of all keys has the same score with each of them, and so has a query of zeros: the output is the average
# hint: of all values.
# ~ [j] => .sum(dim=0)

# %% wrong: zeros -> the same score with every key
# ~ scale * keys[j] => torch.zeros(keys.shape[1])

# %% wrong: a list ->
# ~ scale * keys[j] => (scale * keys[j]).tolist()


# %% wrong: scales the key where it stands ->
def copy_query(keys, j, scale):
    keys[j] *= scale
    return keys[j]


# %% wrong: 10 where the scale is 0 ->
# ~ scale * => (scale or 10.0) *


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


# %% wrong: small numbers are taken for rounding ->
def copy_query(keys, j, scale):
    q = scale * keys[j]
    return torch.where(q.abs() < 1e-2, torch.zeros_like(q), q)
