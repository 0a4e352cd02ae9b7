# %% right: one key for each head
def two_head_queries(means, a, b, scale):
    return torch.stack([scale * means[a], scale * means[b]])


# %% right: rows b and a, in double precision
def two_head_queries(means, a, b, scale):
    return scale * means.double()[[b, a]]


# %% right: each head looks towards its key and away from the other
def two_head_queries(means, a, b, scale):
    first = scale * (means[a] - means[b])
    return torch.stack([first, -first])


# %% right: each head looks away from all others
def two_head_queries(means, a, b, scale):
    everything = means.sum(dim=0)
    return torch.stack([scale * (2 * means[a] - everything), scale * (2 * means[b] - everything)])


# %% right: a tuple of two queries, twice as sharp
def two_head_queries(means, a, b, scale):
    return copy_query(means, a, 2 * scale), copy_query(means, b, 2 * scale)


# %% right: both heads the same, away from everything else
def two_head_queries(means, a, b, scale):
    others = means.sum(dim=0) - means[a] - means[b]
    return torch.stack([-scale * others, -scale * others])


# %% wrong: the sum, twice -> both heads the same
def two_head_queries(means, a, b, scale):
    query = scale * (means[a] + means[b])
    return torch.stack([query, query])


# %% wrong: a, twice -> both heads look at a
def two_head_queries(means, a, b, scale):
    return scale * means[[a, a]]


# %% wrong: b, twice -> both heads look at b
def two_head_queries(means, a, b, scale):
    return scale * means[[b, b]]


# %% wrong: plain means -> the scale is missing
def two_head_queries(means, a, b, scale):
    return means[[a, b]]


# %% wrong: minus -> the heads look away from their keys
def two_head_queries(means, a, b, scale):
    return -scale * means[[a, b]]


# %% wrong: sum and difference -> one of the heads asks for the sum
def two_head_queries(means, a, b, scale):
    return scale * torch.stack([means[a] + means[b], means[b] - means[a]])


# %% wrong: the second query is zero -> one head does all and the other nothing
def two_head_queries(means, a, b, scale):
    return torch.stack([scale * (means[a] + means[b]), torch.zeros(means.shape[1])])


# %% wrong: one head for the average, one for b -> one of the heads asks for the sum
def two_head_queries(means, a, b, scale):
    return scale * torch.stack([means[a] + means[b], means[b]])


# %% wrong: a quarter of the scale ->
def two_head_queries(means, a, b, scale):
    return scale / 4 * means[[a, b]]


# %% wrong: good only when key a varies ->
def two_head_queries(means, a, b, scale):
    return torch.stack([scale * means[a], 2.5 * means[b]])


# %% wrong: the sum with slightly different parts ->
def two_head_queries(means, a, b, scale):
    return scale * torch.stack([means[a] + 0.9 * means[b], 0.9 * means[a] + means[b]])


# %% wrong: side by side in one vector ->
def two_head_queries(means, a, b, scale):
    return torch.cat([scale * means[a], scale * means[b]])


# %% wrong: columns ->
def two_head_queries(means, a, b, scale):
    return torch.stack([scale * means[a], scale * means[b]], dim=1)


# %% wrong: three heads ->
def two_head_queries(means, a, b, scale):
    return [scale * means[a], scale * means[b], scale * means[a]]


# %% wrong: half the scale ->
def two_head_queries(means, a, b, scale):
    return scale / 2 * torch.stack([means[a], means[b]])


# %% wrong: always 20 ->
def two_head_queries(means, a, b, scale):
    return 20 * means[[a, b]]


# %% wrong: divided as in the paper -> the scale is divided by sqrt(d)
def two_head_queries(means, a, b, scale):
    return scale / math.sqrt(means.shape[1]) * means[[a, b]]


# %% wrong: scales the means where they stand ->
def two_head_queries(means, a, b, scale):
    means *= scale
    return means[[a, b]]


# %% wrong: a scale of at most 50 ->
def two_head_queries(means, a, b, scale):
    return min(scale, 50) * means[[a, b]]


# %% wrong: b is taken to be the last ->
def two_head_queries(means, a, b, scale):
    return scale * torch.stack([means[a], means[-1]])


# %% wrong: any tensor of the right shape ->
def two_head_queries(means, a, b, scale):
    return torch.zeros(2, means.shape[1])


# %% wrong: away from the mean of the others ->
def two_head_queries(means: Tensor, a: int, b: int, scale: float) -> Tensor:
    other = torch.ones(len(means), dtype=torch.bool)
    other[a] = other[b] = False
    away = means[other].mean(dim=0)
    return scale * torch.stack([means[a] - away, means[b] - away])


# %% wrong: each head looks a little at the key of the other ->
def two_head_queries(means: Tensor, a: int, b: int, scale: float) -> Tensor:
    first = means[a] + 0.2 * means[b]
    second = means[b] + 0.2 * means[a]
    return scale * torch.stack([first, second])


# %% wrong: a fifth of the scale ->
def two_head_queries(means, a, b, scale):
    return scale / 5 * torch.stack([means[a], means[b]])
    return torch.stack([means[a], means[b]]) * scale / 5
