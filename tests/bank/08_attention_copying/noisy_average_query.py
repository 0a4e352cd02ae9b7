# %% right: the sum of the means
def noisy_average_query(means, a, b, scale):
    return scale * (means[a] + means[b])


# %% right: as for keys without noise
def noisy_average_query(means, a, b, scale):
    return average_query(means, a, b, scale)


# %% right: shifted by the mean of all
def noisy_average_query(means, a, b, scale):
    return scale * (means[a] + means[b] - means.mean(dim=0))


# %% right: solved for the scores
def noisy_average_query(means, a, b, scale):
    scores = torch.zeros(len(means))
    scores[a] = scores[b] = scale
    return torch.linalg.lstsq(means, scores).solution


# %% wrong: no scale -> the scale is missing
def noisy_average_query(means, a, b, scale):
    return means[a] + means[b]


# %% wrong: the mean of the means -> the average of the two means: half the scale
def noisy_average_query(means, a, b, scale):
    return scale * 0.5 * (means[a] + means[b])


# %% wrong: a huge factor -> far too large a scale: the noise decides
def noisy_average_query(means, a, b, scale):
    return 1e3 * scale * (means[a] + means[b])


# %% wrong: the first mean -> only one of the two means
def noisy_average_query(means, a, b, scale):
    return scale * means[a]


# %% wrong: a minus -> the difference of the two means
def noisy_average_query(means, a, b, scale):
    return scale * (means[a] - means[b])


# %% wrong: all means -> the same score with every key
def noisy_average_query(means, a, b, scale):
    return scale * means.sum(dim=0)


# %% wrong: ten times the scale ->
def noisy_average_query(means, a, b, scale):
    return 10 * scale * (means[a] + means[b])


# %% wrong: draws keys of its own with a lot of noise ->
def noisy_average_query(means, a, b, scale):
    keys = means + 0.1 * torch.randn(means.shape)
    return scale * (keys[a] + keys[b])


# %% wrong: right only for small scales ->
def noisy_average_query(means, a, b, scale):
    return min(scale, 2.0) * (means[a] + means[b])


# %% wrong: a matrix of two rows ->
def noisy_average_query(means, a, b, scale):
    return scale * means[[a, b]]


# %% wrong: complex numbers ->
def noisy_average_query(means, a, b, scale):
    return (scale * (means[a] + means[b])).to(torch.complex64)


# %% right: away from all the others
def noisy_average_query(means, a, b, scale):
    return scale * (means[a] + means[b] - means.sum(0))


# %% wrong: three times the scale ->
def noisy_average_query(means, a, b, scale):
    return 3 * scale * (means[a] + means[b])


# %% wrong: twice the scale ->
def noisy_average_query(means, a, b, scale):
    return 2 * scale * (means[a] + means[b])


# %% wrong: the sum scaled to length 1 ->
def noisy_average_query(means, a, b, scale):
    return scale * torch.nn.functional.normalize(means[a] + means[b], dim=0)


# %% wrong: adds where the mean stands ->
def noisy_average_query(means, a, b, scale):
    query = means[a]
    query += means[b]
    return scale * query


# %% wrong: zeros -> the same score with every key
def noisy_average_query(means, a, b, scale):
    return torch.zeros(means.shape[1])
