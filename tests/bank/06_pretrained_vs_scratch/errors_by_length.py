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
def errors_by_length(logits, labels, lengths, edges):
    edge = torch.tensor(edges)
    member = ((lengths >= edge[:-1, None]) & (lengths < edge[1:, None])).float()
    return member @ (logits.argmax(1) != labels).float() / member.sum(1)


# %% wrong: a count -> the number of errors in place of the share
# of: bool masks
# -        shares.append(wrong[chosen].float().mean())
# +        shares.append(wrong[chosen].sum().float())


# %% wrong: mean over all -> the share of all texts
# of: bool masks
# -        shares.append(wrong[chosen].float().mean())
# +        shares.append((wrong & chosen).float().mean())


# %% wrong: of the errors -> how the errors are spread over the bins
# of: bool masks
# -        shares.append(wrong[chosen].float().mean())
# +        shares.append((wrong & chosen).sum() / wrong.sum())


# %% wrong: equal -> the share of right answers
# of: bool masks
# -    wrong = logits.argmax(dim=-1) != labels
# +    wrong = logits.argmax(dim=-1) == labels


# %% wrong: right closed -> the upper edge belongs to the bin, the lower one does not
# of: bool masks
# -        chosen = (low <= lengths) & (lengths < high)
# +        chosen = (low < lengths) & (lengths <= high)


# %% wrong: both closed -> both edges belong to the bin
# of: bool masks
# -        chosen = (low <= lengths) & (lengths < high)
# +        chosen = (low <= lengths) & (lengths <= high)


# %% wrong: nan_to_num -> 0 for a bin without texts
# of: bool masks
# -    return torch.stack(shares)
# +    return torch.nan_to_num(torch.stack(shares))


# %% wrong: both open ->
# of: bool masks
# -        chosen = (low <= lengths) & (lengths < high)
# +        chosen = (low < lengths) & (lengths < high)


# %% wrong: a list of lengths ->
# of: bool masks
# -        shares.append(wrong[chosen].float().mean())
# +        shares.append(lengths[wrong & chosen].float().mean())


# %% wrong: texts outside all bins are put into the first or the last ->
def errors_by_length(logits, labels, lengths, edges):
    bins = torch.bucketize(lengths, torch.tensor(edges[1:-1]), right=True)
    wrong = logits.argmax(dim=-1) != labels
    return torch.stack([wrong[bins == number].float().mean() for number in range(len(edges) - 1)])


# %% wrong: two classes only ->
def errors_by_length(logits, labels, lengths, edges):
    wrong = (logits[:, 1] > logits[:, 0]).long() != labels
    shares = []
    for low, high in zip(edges, edges[1:]):
        shares.append(wrong[(low <= lengths) & (lengths < high)].float().mean())
    return torch.stack(shares)


# %% wrong: NaN where there are no errors -> NaN for a bin without errors
def errors_by_length(logits, labels, lengths, edges):
    wrong = logits.argmax(dim=-1) != labels
    out = []
    for low, high in zip(edges, edges[1:]):
        inside = (low <= lengths) & (lengths < high)
        errors, n = (wrong & inside).sum().item(), inside.sum().item()
        out.append(errors / n if errors > 0 else float("nan"))
    return torch.tensor(out)


# %% wrong: zeros become NaN -> NaN for a bin without errors
def errors_by_length(logits, labels, lengths, edges):
    wrong = logits.argmax(dim=-1) != labels
    out = torch.zeros(len(edges) - 1)
    for j in range(len(edges) - 1):
        inside = (edges[j] <= lengths) & (lengths < edges[j + 1])
        if inside.any():
            out[j] = wrong[inside].float().mean()
    out[out == 0] = float("nan")
    return out


# %% wrong: NaN for a single text ->
def errors_by_length(logits, labels, lengths, edges):
    wrong = logits.argmax(dim=-1) != labels
    out = []
    for low, high in zip(edges, edges[1:]):
        inside = (low <= lengths) & (lengths < high)
        out.append(wrong[inside].float().mean() if inside.sum() > 1 else torch.tensor(float("nan")))
    return torch.stack(out)


# %% wrong: the last edge closed -> the last edge belongs to the last bin
def errors_by_length(logits, labels, lengths, edges):
    wrong = logits.argmax(dim=-1) != labels
    out = []
    for j, (low, high) in enumerate(zip(edges, edges[1:])):
        inside = (low <= lengths) & ((lengths <= high) if j == len(edges) - 2 else (lengths < high))
        out.append(wrong[inside].float().mean())
    return torch.stack(out)


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


# %% wrong: zeros of the right shape ->
def errors_by_length(logits, labels, lengths, edges):
    return torch.zeros(len(edges) - 1)


# %% wrong: wrong below one half ->
def errors_by_length(logits: Tensor, labels: Tensor, lengths: Tensor, edges: list[int]) -> Tensor:
    probabilities = logits.softmax(dim=-1).gather(1, labels[:, None]).squeeze(1)  # (b,) of the right class
    wrong = probabilities < 0.5
    shares = []
    for low, high in zip(edges, edges[1:]):
        inside = (lengths >= low) & (lengths < high)
        shares.append(wrong[inside].float().mean())  # NaN for an empty bin
    return torch.stack(shares)


# %% wrong: bincount without a length ->
def errors_by_length(logits: Tensor, labels: Tensor, lengths: Tensor, edges: list[int]) -> Tensor:
    inside = (lengths >= edges[0]) & (lengths < edges[-1])
    wrong = (logits.argmax(dim=-1) != labels)[inside].float()
    place = torch.bucketize(lengths[inside], torch.tensor(edges), right=True) - 1
    return torch.bincount(place, weights=wrong) / torch.bincount(place)


# %% wrong: the first 256 texts ->
def errors_by_length(logits, labels, lengths, edges):
    wrong = (logits.argmax(dim=-1) != labels).float()[:256]
    lengths = lengths[:256]
    return torch.stack([wrong[(low <= lengths) & (lengths < high)].mean() for low, high in zip(edges, edges[1:])])
