# %% right: all heads at once
def swing(samples, queries, a, b):
    weights = torch.softmax(samples @ queries.T, dim=1).mean(dim=-1)
    return (weights[:, a] - weights[:, b]).var().item()


# %% right: two loops and the statistics module
def swing(samples, queries, a, b):
    import statistics

    places = []
    for keys in samples:
        place = 0.0
        for query in queries:
            weights = torch.softmax(keys @ query, dim=0)
            place += float(weights[a] - weights[b])
        places.append(place / len(queries))
    return statistics.pvariance(places)


# %% right: attend with values on a line
def swing(samples, queries, a, b):
    values = torch.zeros(samples.shape[1], 1)
    values[a], values[b] = 1.0, -1.0
    outputs = torch.stack([attend(query, samples, values) for query in queries]).mean(dim=0)
    return outputs.var(dim=0)


# %% right: mean of squares minus square of the mean
def swing(samples, queries, a, b):
    powers = torch.einsum("mnd,hd->mhn", samples.double(), queries.double()).exp()
    weights = (powers / powers.sum(dim=-1, keepdim=True)).mean(dim=1)
    place = weights[:, a] - weights[:, b]
    return (place**2).mean() - place.mean() ** 2


# %% wrong: std -> the standard deviation, not the variance
def swing(samples, queries, a, b):
    weights = torch.softmax(samples @ queries.T, dim=1).mean(dim=-1)
    return (weights[:, a] - weights[:, b]).std().item()


# %% wrong: mean square -> the mean is not taken off
def swing(samples, queries, a, b):
    weights = torch.softmax(samples @ queries.T, dim=1).mean(dim=-1)
    return ((weights[:, a] - weights[:, b]) ** 2).mean().item()


# %% wrong: w_a only -> the weight on a alone
def swing(samples, queries, a, b):
    return torch.softmax(samples @ queries.T, dim=1).mean(dim=-1)[:, a].var().item()


# %% wrong: no softmax -> the scores in place of the weights
def swing(samples, queries, a, b):
    scores = (samples @ queries.T).mean(dim=-1)
    return (scores[:, a] - scores[:, b]).var().item()


# %% wrong: softmax over axis 0 -> the softmax runs over the draws
def swing(samples, queries, a, b):
    weights = torch.softmax(samples @ queries.T, dim=0).mean(dim=-1)
    return (weights[:, a] - weights[:, b]).var().item()


# %% wrong: one mean query -> the queries are averaged, not the outputs
def swing(samples, queries, a, b):
    weights = torch.softmax(samples @ queries.mean(dim=0), dim=-1)
    return (weights[:, a] - weights[:, b]).var().item()


# %% wrong: sum over heads -> the heads are added
def swing(samples, queries, a, b):
    weights = torch.softmax(samples @ queries.T, dim=1).sum(dim=-1)
    return (weights[:, a] - weights[:, b]).var().item()


# %% wrong: head by head -> the swing of each head, averaged
def swing(samples, queries, a, b):
    weights = torch.softmax(samples @ queries.T, dim=1)
    return (weights[:, a] - weights[:, b]).var(dim=0).mean().item()


# %% wrong: the first head -> only the first head
def swing(samples, queries, a, b):
    weights = torch.softmax(samples @ queries[0], dim=1)
    return (weights[:, a] - weights[:, b]).var().item()


# %% wrong: max minus min -> the range in place of the variance
def swing(samples, queries, a, b):
    weights = torch.softmax(samples @ queries.T, dim=1).mean(dim=-1)
    place = weights[:, a] - weights[:, b]
    return (place.max() - place.min()).item()


# %% wrong: the softmax runs over the heads ->
def swing(samples, queries, a, b):
    weights = torch.softmax(samples @ queries.T, dim=-1).mean(dim=-1)
    return (weights[:, a] - weights[:, b]).var().item()


# %% wrong: always nothing ->
def swing(samples, queries, a, b):
    return 0.0


# %% wrong: the variance of both weights, added ->
def swing(samples, queries, a, b):
    weights = torch.softmax(samples @ queries.T, dim=1).mean(dim=-1)
    return (weights[:, a].var() + weights[:, b].var()).item()


# %% wrong: only a and b in the softmax ->
def swing(samples, queries, a, b):
    weights = torch.softmax(samples[:, [a, b]] @ queries.T, dim=1).mean(dim=-1)
    return (weights[:, 0] - weights[:, 1]).square().mean().item()


# %% wrong: the mean distance from the middle ->
def swing(samples, queries, a, b):
    weights = torch.softmax(samples @ queries.T, dim=1).mean(dim=-1)
    return (weights[:, a] - weights[:, b]).abs().mean().item()


# %% wrong: one number per draw ->
def swing(samples, queries, a, b):
    weights = torch.softmax(samples @ queries.T, dim=1).mean(dim=-1)
    return weights[:, a] - weights[:, b]


# %% wrong: divided as in the paper -> the scores are divided by sqrt(d)
def swing(samples, queries, a, b):
    weights = torch.softmax(samples @ queries.T / math.sqrt(samples.shape[-1]), dim=1).mean(dim=-1)
    return (weights[:, a] - weights[:, b]).var().item()


# %% wrong: the variance, with a softmax over a and b ->
def swing(samples, queries, a, b):
    weights = torch.softmax(samples[:, [a, b]] @ queries.T, dim=1).mean(dim=-1)
    return (weights[:, 0] - weights[:, 1]).var().item()


# %% wrong: half of the sum, where there are several heads -> divided by 2, however many heads there are
def swing(samples, queries, a, b):
    weights = torch.softmax(samples @ queries.T, dim=1)
    weights = weights[..., 0] if len(queries) == 1 else weights.sum(dim=-1) / 2
    return (weights[:, a] - weights[:, b]).var().item()


# %% wrong: two heads at most -> only the first two heads
def swing(samples, queries, a, b):
    weights = torch.softmax(samples @ queries[:2].T, dim=1).mean(dim=-1)
    return (weights[:, a] - weights[:, b]).var().item()


# %% wrong: exponentials of large scores ->
def swing(samples, queries, a, b):
    powers = torch.exp(samples @ queries.T)
    weights = (powers / powers.sum(dim=1, keepdim=True)).mean(dim=-1)
    return (weights[:, a] - weights[:, b]).var().item()


# %% wrong: one shift for all draws ->
def swing(samples, queries, a, b):
    scores = samples @ queries.T
    powers = torch.exp(scores - scores.max())
    weights = (powers / powers.sum(dim=1, keepdim=True)).mean(dim=-1)
    return (weights[:, a] - weights[:, b]).var().item()


# %% wrong: four times the variance of the weight on a ->
def swing(samples, queries, a, b):
    return 4 * torch.softmax(samples @ queries.T, dim=1).mean(dim=-1)[:, a].var().item()


# %% wrong: the queries are scaled where they stand ->
def swing(samples, queries, a, b):
    queries /= len(queries)
    weights = torch.softmax(samples @ (len(queries) * queries).T, dim=1).mean(dim=-1)
    return (weights[:, a] - weights[:, b]).var().item()


# %% wrong: the covariance left out ->
def swing(samples, queries, a, b):
    weights = torch.softmax(samples @ queries.T, dim=1).mean(dim=-1)
    return (weights[:, [a, b]].var(dim=0).mean() * 2).item()


# %% wrong: equal heads count once ->
def swing(samples: Tensor, queries: Tensor, a: int, b: int) -> float:
    heads = torch.unique(queries, dim=0)
    weights = torch.softmax(samples @ heads.T, dim=1).mean(dim=2)  # (m, n)
    return (weights[:, a] - weights[:, b]).var().item()


# %% wrong: heads that look at neither are left out ->
def swing(samples, queries, a, b):
    weights = torch.softmax(torch.einsum("mnd,hd->mhn", samples, queries), dim=-1)
    counts = (weights[..., a] + weights[..., b]).mean(dim=0) > 0.05
    kept = weights[:, counts] if counts.any() else weights
    return float((kept[..., a] - kept[..., b]).mean(dim=1).var())


# %% right: lists, shifted exponentials, and a variance that is updated draw by draw
def swing(samples, queries, a, b):
    mean = total = 0.0
    for count, keys in enumerate(samples.tolist(), 1):
        difference = 0.0
        for query in queries.tolist():
            scores = [sum(x * y for x, y in zip(key, query)) for key in keys]
            top = max(scores)
            powers = [math.exp(score - top) for score in scores]
            difference += (powers[a] - powers[b]) / sum(powers) / len(queries)
        step = difference - mean
        mean += step / count
        total += step * (difference - mean)
    return total / (len(samples) - 1)


# %% wrong: the distance is that from the weights at the mean keys ->
def swing(samples, queries, a, b):
    def difference(keys):
        weights = torch.softmax(keys @ queries.T, dim=-2).mean(dim=-1)
        return weights[..., a] - weights[..., b]

    return ((difference(samples) - difference(samples.mean(dim=0))) ** 2).mean().item()
