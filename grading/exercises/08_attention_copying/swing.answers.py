# %% right: all heads at once
def swing(samples, queries, a, b):
    weights = torch.softmax(samples @ queries.T, dim=1).mean(dim=-1)
    return (weights[:, a] - weights[:, b]).var().item()


# %% right: two loops and the statistics module
def swing(samples, queries, a, b):
    import statistics

    outputs = []
    for keys in samples:
        output = 0.0
        for query in queries:
            weights = torch.softmax(keys @ query, dim=0)
            output += float(weights[a] - weights[b])
        outputs.append(output / len(queries))
    return statistics.pvariance(outputs)


# %% right: attend with values on a line
# other: Values of 1 and -1 make the difference of the weights an output of attention; the solution computes all heads in one product, without a loop.
def swing(samples, queries, a, b):
    values = torch.zeros(samples.shape[1], 1)
    values[a], values[b] = 1.0, -1.0
    outputs = torch.stack([attend(query, samples, values) for query in queries]).mean(dim=0)
    return outputs.var(dim=0)


# %% right: mean of squares minus square of the mean
def swing(samples, queries, a, b):
    powers = torch.einsum("mnd,hd->mhn", samples.double(), queries.double()).exp()
    weights = (powers / powers.sum(dim=-1, keepdim=True)).mean(dim=1)
    output = weights[:, a] - weights[:, b]
    return (output**2).mean() - output.mean() ** 2


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


# %% wrong: std -> the standard deviation, not the variance
# hint: The standard deviation is the root of the variance. Both are honest measures; the ratio in the text is one of
# hint: variances.
# ~ var => std

# %% wrong: mean square -> the mean is not taken off
# hint: The mean of the squares also counts how far the output lies from the middle on average. The variance is about
# hint: how much it moves.
# ~ (weights[:, a] - weights[:, b]).var => ((weights[:, a] - weights[:, b]) ** 2).mean


# %% wrong: w_a only -> the weight on a alone
# hint: Take w_a - w_b: +1 when the output is v_a, 0 in the middle, -1 when it is v_b.
def swing(samples, queries, a, b):
    return torch.softmax(samples @ queries.T, dim=1).mean(dim=-1)[:, a].var().item()


# %% wrong: no softmax -> the scores in place of the weights
# hint: What mixes the values are the weights: take the softmax of the scores over the keys.
# ~ weights = torch.softmax(samples @ queries.T, dim=1) => scores = (samples @ queries.T)
# ~ weights[:, a] - weights => scores[:, a] - scores

# %% wrong: divided as in the paper -> the scores are divided by sqrt(d)
# hint: Here the scores are plain dot products, as in `attend`.
# ~ T => T / math.sqrt(samples.shape[-1])

# %% wrong: softmax over axis 0 -> the softmax runs over the draws
# hint: Each draw is an attention of its own: its n weights sum to 1. samples is (m, n, d), so the scores are (m, n) for
# hint: one query and the softmax runs over n.
# ~ (samples @ queries.T, dim=1). => (samples @ queries.T, dim=0).

# %% wrong: one mean query -> the queries are averaged, not the outputs
# hint: One head with the mean of two queries is not two heads. Each head takes its own softmax, then the outputs are
# hint: averaged.
# ~ (samples @ queries.T, dim=1).mean(dim=-1) => (samples @ queries.mean(dim=0), dim=-1)

# %% wrong: sum over heads -> the heads are added
# hint: The output is the average of the heads: divide the sum by their number.
# ~ mean => sum

# %% wrong: head by head -> the swing of each head, averaged
# hint: First average the heads' outputs in each draw, then measure how much that average moves.
# ~ .mean(dim=-1) =>
# ~ (). => (dim=0).mean().

# %% wrong: the first head -> only the first head
# hint: queries is (h, d): use all h of them.
# ~ (samples @ queries.T, dim=1).mean(dim=-1) => (samples @ queries[0], dim=1)

# %% wrong: two heads at most -> only the first two heads
# hint: queries is (h, d): use all h of them, however many there are.
# ~ queries. => queries[:2].


# %% wrong: half of the sum, where there are several heads -> divided by 2, however many heads there are
# hint: The output is the average of the heads: divide the sum by h, the number of queries.
def swing(samples, queries, a, b):
    weights = torch.softmax(samples @ queries.T, dim=1)
    weights = weights[..., 0] if len(queries) == 1 else weights.sum(dim=-1) / 2
    return (weights[:, a] - weights[:, b]).var().item()


# %% wrong: max minus min -> the range in place of the variance
# hint: The range looks at two draws only, the most extreme ones. The variance uses all.
def swing(samples, queries, a, b):
    weights = torch.softmax(samples @ queries.T, dim=1).mean(dim=-1)
    output = weights[:, a] - weights[:, b]
    return (output.max() - output.min()).item()


# %% wrong: exponentials of large scores ->
def swing(samples, queries, a, b):
    powers = torch.exp(samples @ queries.T)
    weights = (powers / powers.sum(dim=1, keepdim=True)).mean(dim=-1)
    return (weights[:, a] - weights[:, b]).var().item()


# %% wrong: the queries are scaled where they stand ->
# of: exponentials of large scores
# ~ powers = torch.exp(samples @ queries.T) => queries /= len(queries)
# ~ (powers / powers.sum(dim=1, keepdim=True)) => torch.softmax(samples @ (len(queries) * queries).T, dim=1)


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


# %% wrong: the distance is that from the weights at the mean keys ->
def swing(samples, queries, a, b):
    def difference(keys):
        weights = torch.softmax(keys @ queries.T, dim=-2).mean(dim=-1)
        return weights[..., a] - weights[..., b]

    return ((difference(samples) - difference(samples.mean(dim=0))) ** 2).mean().item()
