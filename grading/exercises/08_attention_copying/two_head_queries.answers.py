# %% right: one key for each head
def two_head_queries(means, a, b, scale):
    return torch.stack([scale * means[a], scale * means[b]])


# %% right: rows b and a, in double precision
# ~ torch.stack([scale * means[a], scale * means[b]]) => scale * means.double()[[b, a]]


# %% right: each head looks towards its key and away from the other
# other: Each head also lowers the score of the other's key, so that the two are twice as far apart at the same scale; in the solution each head depends on its own key alone.
def two_head_queries(means, a, b, scale):
    first = scale * (means[a] - means[b])
    return torch.stack([first, -first])


# %% right: each head looks away from all others
def two_head_queries(means, a, b, scale):
    everything = means.sum(dim=0)
    return torch.stack([scale * (2 * means[a] - everything), scale * (2 * means[b] - everything)])


# %% right: a tuple of two queries, twice as sharp
# ~ torch.stack([scale * means[a], scale * means[b]] => copy_query(means, a, 2 * scale), copy_query(means, b, 2 * scale


# %% right: both heads the same, away from everything else
def two_head_queries(means, a, b, scale):
    others = means.sum(dim=0) - means[a] - means[b]
    return torch.stack([-scale * others, -scale * others])


# %% wrong: the sum, twice -> both heads the same
# hint: Two heads with the same query swing together, and their average swings as much as one. Give each head one key to
# hint: look at.
def two_head_queries(means, a, b, scale):
    query = scale * (means[a] + means[b])
    return torch.stack([query, query])


# %% wrong: a, twice -> both heads look at a
# hint: Both copies are v_a, and so is their average. The second head must look at b.
# ~ torch.stack([scale * means[a], scale * means[b]]) => scale * means[[a, a]]

# %% wrong: b, twice -> both heads look at b
# hint: Both copies are v_b, and so is their average. The first head must look at a.
# ~ torch.stack([scale * means[a], scale * means[b]]) => scale * means[[b, b]]

# %% wrong: plain means -> the scale is missing
# hint: Without the scale each head gives nearly the average of all values. Multiply both queries by it.
# ~ torch.stack([scale * means[a], scale * means[b]]) => means[[a, b]]

# %% wrong: divided as in the paper -> the scale is divided by sqrt(d)
# hint: Here the scores are plain dot products. Dividing by sqrt(d) makes the gap smaller than `scale`, and the other
# hint: values leak in.
# ~ torch.stack([scale * means[a], scale * means[b]]) => scale / math.sqrt(means.shape[1]) * means[[a, b]]

# %% wrong: minus -> the heads look away from their keys
# hint: With a minus, each head copies everything but its own value.
# ~ torch.stack([scale * means[a], scale * means[b]]) => -scale * means[[a, b]]

# %% wrong: sum and difference -> one of the heads asks for the sum
# hint: The sum still needs two equal scores, so that head swings. Let each head look at one key.
# ~ torch.stack([scale * means[a], scale * means[b]]) => scale * torch.stack([means[a] + means[b], means[b] - means[a]])

# %% wrong: the second query is zero -> one head does all and the other nothing
# hint: A query of zeros gives the average of all values, which is half of your output.
# ~ means[a], scale * means[b] => (means[a] + means[b]), torch.zeros(means.shape[1])

# %% wrong: columns ->
# ~ ([scale * means[a], scale * means[b]]) => ([scale * means[a], scale * means[b]], dim=1)

# %% wrong: always 20 ->
# ~ torch.stack([scale * means[a], scale * means[b]]) => 20 * means[[a, b]]


# %% wrong: scales the means where they stand ->
def two_head_queries(means, a, b, scale):
    means *= scale
    return means[[a, b]]


# %% wrong: b is taken to be the last ->
# ~ torch.stack([scale * means[a], scale * means[b]]) => scale * torch.stack([means[a], means[-1]])


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
