# %% right: bool masks
def errors_by_length(logits, labels, lengths, edges):
    wrong = logits.argmax(dim=-1) != labels
    shares = []
    for low, high in zip(edges, edges[1:]):
        chosen = (low <= lengths) & (lengths < high)
        shares.append(wrong[chosen].float().mean())
    return torch.stack(shares)


# %% right: bucketize and index_add
def errors_by_length(logits, labels, lengths, edges):
    bins = torch.bucketize(lengths, torch.tensor(edges), right=True) - 1
    inside = (bins >= 0) & (bins < len(edges) - 1)
    wrong = (logits.max(-1).indices != labels).double()
    zeros = torch.zeros(len(edges) - 1, dtype=torch.float64)
    errors = zeros.index_add(0, bins[inside], wrong[inside])
    return errors / zeros.index_add(0, bins[inside], torch.ones_like(wrong)[inside])


# %% right: plain Python
def errors_by_length(logits, labels, lengths, edges):
    shares = []
    for k in range(len(edges) - 1):
        found = [
            int(row.index(max(row)) != label)
            for row, label, length in zip(logits.tolist(), labels.tolist(), lengths.tolist())
            if edges[k] <= length < edges[k + 1]
        ]
        shares.append(sum(found) / len(found) if found else float("nan"))
    return torch.tensor(shares)


# %% right: a matrix of bins and texts
# other: One matrix product counts the errors of all bins, without a loop; the solution needs no table of bins and texts, and reads like the text, bin by bin.
def errors_by_length(logits, labels, lengths, edges):
    edge = torch.tensor(edges)
    member = ((lengths >= edge[:-1, None]) & (lengths < edge[1:, None])).float()
    return member @ (logits.argmax(1) != labels).float() / member.sum(1)


# %% wrong: a count -> the number of errors in place of the share
# hint: A bin with many texts has many errors. Divide by the number of its texts.
# ~ float().mean => sum().float

# %% wrong: mean over all -> the share of all texts
# hint: Divide by the texts of the bin, not by all texts: else the bins with most texts look worst.
# ~ wrong[chosen] => (wrong & chosen)

# %% wrong: of the errors -> how the errors are spread over the bins
# hint: This answers 'of all errors, how many are in this bin?'. Asked is 'of the texts in this bin, how many are
# hint: wrong?'.
# ~ wrong[chosen].float().mean => (wrong & chosen).sum() / wrong.sum

# %% wrong: equal -> the share of right answers
# hint: Asked is the share of wrong ones.
# ~ != labels => == labels

# %% wrong: right closed -> the upper edge belongs to the bin, the lower one does not
# hint: A bin holds its lower edge and not its upper one: low <= length < high.
# ~ (low <= lengths) & (lengths < high) => (low < lengths) & (lengths <= high)

# %% wrong: both closed -> both edges belong to the bin
# hint: A text whose length is an edge is counted in two bins.
# ~ < high => <= high


# %% wrong: the last edge closed -> the last edge belongs to the last bin
# hint: numpy.histogram does so. Here all bins are alike: low <= length < high.
def errors_by_length(logits, labels, lengths, edges):
    wrong = logits.argmax(dim=-1) != labels
    out = []
    for j, (low, high) in enumerate(zip(edges, edges[1:])):
        inside = (low <= lengths) & ((lengths <= high) if j == len(edges) - 2 else (lengths < high))
        out.append(wrong[inside].float().mean())
    return torch.stack(out)


# %% wrong: NaN where there are no errors -> NaN for a bin without errors
# hint: Where there are texts and none is wrong, the share is 0. NaN is for bins without texts.
def errors_by_length(logits, labels, lengths, edges):
    wrong = logits.argmax(dim=-1) != labels
    out = []
    for low, high in zip(edges, edges[1:]):
        inside = (low <= lengths) & (lengths < high)
        errors, n = (wrong & inside).sum().item(), inside.sum().item()
        out.append(errors / n if errors > 0 else float("nan"))
    return torch.tensor(out)


# %% wrong: nan_to_num -> 0 for a bin without texts
# hint: It would read as 'no errors at this length', and nobody has looked. Use NaN (not a number).
# ~ stack(shares) => nan_to_num(torch.stack(shares))

# %% wrong: both open ->
# ~ <= lengths => < lengths


# %% wrong: two classes only ->
def errors_by_length(logits, labels, lengths, edges):
    wrong = (logits[:, 1] > logits[:, 0]).long() != labels
    shares = []
    for low, high in zip(edges, edges[1:]):
        shares.append(wrong[(low <= lengths) & (lengths < high)].float().mean())
    return torch.stack(shares)


# %% wrong: NaN for a single text ->
# of: the last edge closed
# ~ j, (low, high) in enumerate(zip(edges, edges[1:])) => low, high in zip(edges, edges[1:])
# ~ (lengths <= high) if j == len(edges) - 2 else (lengths < high) => lengths < high
# ~ (wrong[inside].float().mean()) => (wrong[inside].float().mean() if inside.sum() > 1 else torch.tensor(float("nan")))


# %% wrong: shifts the lengths where they stand ->
def errors_by_length(logits, labels, lengths, edges):
    wrong = logits.argmax(dim=-1) != labels
    lengths -= edges[0]
    edges = [edge - edges[0] for edge in edges]
    out = [wrong[(low <= lengths) & (lengths < high)].float().mean() for low, high in zip(edges, edges[1:])]
    return torch.stack(out)


# %% wrong: lengths in one byte ->
def errors_by_length(logits, labels, lengths, edges):
    wrong = logits.argmax(dim=-1) != labels
    lengths = lengths.to(torch.uint8).long()
    out = [wrong[(low <= lengths) & (lengths < high)].float().mean() for low, high in zip(edges, edges[1:])]
    return torch.stack(out)


# %% wrong: bincount without a length ->
def errors_by_length(logits: Tensor, labels: Tensor, lengths: Tensor, edges: list[int]) -> Tensor:
    inside = (lengths >= edges[0]) & (lengths < edges[-1])
    wrong = (logits.argmax(dim=-1) != labels)[inside].float()
    number = torch.bucketize(lengths[inside], torch.tensor(edges), right=True) - 1
    return torch.bincount(number, weights=wrong) / torch.bincount(number)


# %% wrong: the first 256 texts ->
def errors_by_length(logits, labels, lengths, edges):
    wrong = (logits.argmax(dim=-1) != labels).float()[:256]
    lengths = lengths[:256]
    return torch.stack([wrong[(low <= lengths) & (lengths < high)].mean() for low, high in zip(edges, edges[1:])])
