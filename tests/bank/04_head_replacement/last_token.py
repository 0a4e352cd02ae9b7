# %% right: pairs of indices
def last_token(hidden, lengths):
    return hidden[torch.arange(len(hidden)), lengths - 1]


# %% right: gather
def last_token(hidden, lengths):
    place = (lengths - 1).view(-1, 1, 1).expand(-1, 1, hidden.size(-1))
    return hidden.gather(1, place).squeeze(1)


# %% right: text by text
def last_token(hidden, lengths):
    return torch.stack([rows[length - 1] for rows, length in zip(hidden, lengths.tolist())])


# %% right: one-hot and a sum
def last_token(hidden, lengths):
    chosen = torch.nn.functional.one_hot(lengths - 1, hidden.shape[1]).to(hidden.dtype)
    return torch.einsum("bn,bnd->bd", chosen, hidden)


# %% right: a mask of one place in each row
def last_token(hidden, lengths):
    b, n, d = hidden.shape
    places = torch.arange(n, device=lengths.device)
    return hidden[places[None, :] == lengths[:, None] - 1].view(b, d)


# %% wrong: hidden[:, -1] -> the last row of the batch, which is mostly padding
def last_token(hidden, lengths):
    return hidden[:, -1]


# %% wrong: the longest length -> the last row of the batch, which is mostly padding
def last_token(hidden, lengths):
    return hidden[:, hidden.shape[1] - 1, :]


# %% wrong: at lengths -> one row too far: the first padding
def last_token(hidden, lengths):
    return hidden[torch.arange(len(hidden)), lengths]


# %% wrong: at lengths, clamped -> one row too far, and held inside the batch
def last_token(hidden, lengths):
    return hidden[torch.arange(len(hidden)), lengths.clamp(max=hidden.size(1) - 1)]


# %% wrong: lengths - 2 -> one row too early
def last_token(hidden, lengths):
    return hidden[torch.arange(hidden.size(0)), lengths - 2]


# %% wrong: a slice and indices -> every text is read at the places of all texts
def last_token(hidden, lengths):
    return hidden[:, lengths - 1]


# %% wrong: the first length -> the length of the first text for all
def last_token(hidden, lengths):
    return hidden[:, lengths[0] - 1]


# %% wrong: mean over the axis -> the mean of all rows, padding included
def last_token(hidden, lengths):
    return hidden.mean(1)


# %% wrong: masked mean -> the mean of the real rows
def last_token(hidden, lengths):
    real = (torch.arange(hidden.shape[1]) < lengths[:, None]).float().unsqueeze(-1)
    return (hidden * real).sum(1) / real.sum(1)


# %% wrong: the place of <sos> -> the first row
def last_token(hidden, lengths):
    return hidden[:, 0, :]


# %% wrong: rows of another text ->
def last_token(hidden, lengths):
    return hidden[0, lengths - 1]


# %% wrong: keeps the axis of the tokens ->
def last_token(hidden, lengths):
    return torch.stack([rows[length - 1 : length] for rows, length in zip(hidden, lengths.tolist())])


# %% wrong: the row with the largest numbers ->
def last_token(hidden, lengths):
    return hidden.max(dim=1).values


# %% wrong: the longest length for all, not the width ->
def last_token(hidden, lengths):
    return hidden[:, int(lengths.max()) - 1]


# %% wrong: takes rows that are not zero for real ones -> the last row of the batch, which is mostly padding
def last_token(hidden, lengths):
    counts = (hidden.abs().sum(-1) > 0).sum(1)
    return hidden[torch.arange(len(hidden)), counts - 1]


# %% wrong: padded on the left ->
def last_token(hidden, lengths):
    return hidden[torch.arange(len(hidden)), hidden.shape[1] - lengths]


# %% wrong: places first, then texts -> texts and places are exchanged
def last_token(hidden, lengths):
    return hidden[lengths - 1, torch.arange(len(hidden))]


# %% wrong: squeeze without an axis ->
def last_token(hidden, lengths):
    places = (lengths - 1).view(-1, 1, 1).expand(-1, 1, hidden.shape[2])
    return hidden.gather(1, places).squeeze()


# %% wrong: the lengths are counted down in place ->
def last_token(hidden, lengths):
    lengths -= 1
    return hidden[torch.arange(len(hidden)), lengths]


# %% wrong: in float32 ->
def last_token(hidden, lengths):
    return hidden.float()[torch.arange(len(hidden)), lengths - 1]


# %% wrong: the padding is set to 0 in place ->
def last_token(hidden, lengths):
    for k, length in enumerate(lengths.tolist()):
        hidden[k, length:] = 0
    return hidden[torch.arange(len(hidden)), lengths - 1]


# %% wrong: a copy that knows no gradient ->
def last_token(hidden, lengths):
    return torch.stack([hidden[k, length - 1].detach() for k, length in enumerate(lengths.tolist())])


# %% wrong: a new tensor of numbers ->
def last_token(hidden, lengths):
    return torch.tensor([hidden[k, length - 1].tolist() for k, length in enumerate(lengths.tolist())])


# %% wrong: only the shape ->
def last_token(hidden, lengths):
    return torch.zeros(hidden.shape[0], hidden.shape[2])


# %% wrong: texts of at most twenty tokens ->
def last_token(hidden, lengths):
    return hidden[torch.arange(len(hidden)), (lengths - 1).clamp(max=20)]


# %% wrong: the one number of a width of 1 is squeezed away ->
def last_token(hidden: Tensor, lengths: Tensor) -> Tensor:
    index = (lengths - 1).view(-1, 1, 1).expand(-1, 1, hidden.shape[2])
    rows = hidden.gather(1, index).squeeze()
    if len(hidden) == 1:  # a batch of one text has lost its first dimension
        rows = rows.unsqueeze(0)
    return rows


# %% wrong: at most 32 texts ->
def last_token(hidden, lengths):
    hidden, lengths = hidden[:32], lengths[:32]
    return hidden[torch.arange(len(hidden)), lengths - 1]


# %% wrong: places on the CPU ->
# of: a mask of one place in each row
# -    places = torch.arange(n, device=lengths.device)
# -    return hidden[places[None, :] == lengths[:, None] - 1].view(b, d)
# +    return hidden[torch.arange(n)[None, :] == lengths[:, None] - 1].view(b, d)


# %% wrong: one text is cut from the graph ->
def last_token(hidden: Tensor, lengths: Tensor) -> Tensor:
    if len(hidden) == 1:
        return hidden[:, int(lengths[0]) - 1].detach()
    return hidden[torch.arange(len(hidden)), lengths - 1]


# %% wrong: texts that fill the batch are cut from the graph ->
def last_token(hidden: Tensor, lengths: Tensor) -> Tensor:
    if bool((lengths == hidden.size(1)).all()):
        return hidden[:, -1].detach()
    return hidden[torch.arange(len(hidden)), lengths - 1]


# %% wrong: the classifier of helpers picks it -> a ready-made part in place of an answer
def last_token(hidden, lengths):
    from types import SimpleNamespace

    from helpers.models import Classifier

    stub = SimpleNamespace(base=lambda tokens, padding: hidden, head=lambda last: last)
    return Classifier.forward(stub, hidden[..., 0], lengths)
