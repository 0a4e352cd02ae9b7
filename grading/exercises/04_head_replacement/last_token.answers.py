# %% right: pairs of indices
def last_token(hidden, lengths):
    return hidden[torch.arange(len(hidden)), lengths - 1]


# %% right: gather
def last_token(hidden, lengths):
    position = (lengths - 1).view(-1, 1, 1).expand(-1, 1, hidden.size(-1))
    return hidden.gather(1, position).squeeze(1)


# %% right: text by text
def last_token(hidden, lengths):
    return torch.stack([rows[length - 1] for rows, length in zip(hidden, lengths.tolist())])


# %% right: one-hot and a sum
# other: A sum with weights 0 and 1 is attention to one token only; indexing reads only b rows, and what stands in the padding cannot matter, not even NaN.
def last_token(hidden, lengths):
    chosen = torch.nn.functional.one_hot(lengths - 1, hidden.shape[1]).to(hidden.dtype)
    return torch.einsum("bn,bnd->bd", chosen, hidden)


# %% right: a mask of one position in each row
def last_token(hidden, lengths):
    b, n, d = hidden.shape
    positions = torch.arange(n, device=lengths.device)
    return hidden[positions[None, :] == lengths[:, None] - 1].view(b, d)


# %% wrong: hidden[:, -1] -> the last row of the batch, which is mostly padding
# hint: hidden[:, -1] is the last real token of the longest text only. For all the others it is a row of <pad>.
# ~ torch.arange(len(hidden)), lengths - 1 => :, -1

# %% wrong: the longest length -> the last row of the batch, which is mostly padding
# ~ torch.arange(len(hidden)), lengths - 1 => :, hidden.shape[1] - 1, :

# %% wrong: at lengths -> one row too far: the first padding
# hint: Positions are counted from 0: a text of 3 tokens ends at position 2. At position 3 the padding begins, or the
# hint: batch ends.
# ~ [torch.arange(len(hidden)), lengths - 1] => [torch.arange(len(hidden)), lengths]

# %% wrong: at lengths, clamped -> one row too far, and held inside the batch
# hint: Positions are counted from 0: a text of 3 tokens ends at position 2. Clamping only hides the error for the
# hint: longest text.
# ~ [torch.arange(len(hidden)), lengths - 1] => [torch.arange(len(hidden)), lengths.clamp(max=hidden.size(1) - 1)]

# %% wrong: lengths - 2 -> one row too early
# hint: This is the last token but one. A text of 3 tokens ends at position 2.
# ~ (len(hidden)), lengths - 1 => (hidden.size(0)), lengths - 2

# %% wrong: positions first, then texts -> texts and positions are exchanged
# hint: hidden is (b, n, d), the texts first: hidden[texts, positions], and not hidden[positions, texts].
# ~ torch.arange(len(hidden)), lengths - 1 => lengths - 1, torch.arange(len(hidden))

# %% wrong: a slice and indices -> every text is read at the positions of all texts
# hint: hidden[:, positions] gives a table of every text with every position, (b, b, d). Pair them:
# hint: hidden[torch.arange(b), positions].
# ~ torch.arange(len(hidden)) => :

# %% wrong: the first length -> the length of the first text for all
# hint: Every text has a length of its own, lengths[k].
# ~ torch.arange(len(hidden)), lengths => :, lengths[0]

# %% wrong: mean over the axis -> the mean of all rows, padding included
# hint: The padding takes part in this mean, and the question is for one row.
# ~ [torch.arange(len(hidden)), lengths - 1] => .mean(1)


# %% wrong: masked mean -> the mean of the real rows
# hint: Mean pooling is another rule, with which section 7 compares. Here only the last real token counts: in a causal
# hint: model it is the one that has read everything.
def last_token(hidden, lengths):
    real = (torch.arange(hidden.shape[1]) < lengths[:, None]).float().unsqueeze(-1)
    return (hidden * real).sum(1) / real.sum(1)


# %% wrong: the position of <sos> -> the first row
# hint: Row 0 is <sos>, which in a causal model has seen nothing but itself.
# ~ torch.arange(len(hidden)), lengths - 1 => :, 0, :


# %% wrong: the lengths are counted down in place ->
def last_token(hidden, lengths):
    lengths -= 1
    return hidden[torch.arange(len(hidden)), lengths]


# %% wrong: in float32 ->
# ~ hidden[torch.arange(len(hidden)), lengths - 1] => hidden.float()[torch.arange(len(hidden)), lengths - 1]


# %% wrong: a copy that knows no gradient ->
def last_token(hidden, lengths):
    return torch.stack([hidden[k, length - 1].detach() for k, length in enumerate(lengths.tolist())])


# %% wrong: texts of at most twenty tokens ->
# ~ lengths - 1 => (lengths - 1).clamp(max=20)


# %% wrong: the one number of a width of 1 is squeezed away ->
def last_token(hidden: Tensor, lengths: Tensor) -> Tensor:
    index = (lengths - 1).view(-1, 1, 1).expand(-1, 1, hidden.shape[2])
    rows = hidden.gather(1, index).squeeze()
    if len(hidden) == 1:  # a batch of one text has lost its first dimension
        rows = rows.unsqueeze(0)
    return rows


# %% wrong: at most 32 texts ->
#  def last_token(hidden, lengths):
# +    hidden, lengths = hidden[:32], lengths[:32]


# %% wrong: positions on the CPU ->
def last_token(hidden, lengths):
    b, n, d = hidden.shape
    return hidden[torch.arange(n)[None, :] == lengths[:, None] - 1].view(b, d)


# %% wrong: one text is cut from the graph ->
def last_token(hidden: Tensor, lengths: Tensor) -> Tensor:
    if len(hidden) == 1:
        return hidden[:, int(lengths[0]) - 1].detach()
    return hidden[torch.arange(len(hidden)), lengths - 1]


# %% wrong: texts that fill the batch are cut from the graph ->
# of: one text is cut from the graph
# ~ len(hidden) == 1 => bool((lengths == hidden.size(1)).all())
# ~ int(lengths[0]) - 1 => -1


# %% wrong: the classifier of helpers picks it -> a ready-made part in place of an answer
def last_token(hidden, lengths):
    from types import SimpleNamespace

    from helpers.models import Classifier

    stub = SimpleNamespace(base=lambda tokens, padding: hidden, head=lambda last: last)
    return Classifier.forward(stub, hidden[..., 0], lengths)
