# %% right: sliced and broadcast
def add_positions(x, encoding):
    return x + encoding[: x.shape[1]]


# %% right: with an axis of one for the batch
def add_positions(x, encoding):
    n = x.size(1)
    return x + encoding[:n].unsqueeze(0)


# %% right: one word at a time, on a copy
def add_positions(x, encoding):
    result = x.clone()
    for j in range(x.shape[1]):
        result[:, j] += encoding[j]
    return result


# %% right: sequence first and back
def add_positions(x, encoding):
    n, _, _ = x.transpose(0, 1).shape
    return (x.transpose(0, 1) + encoding[:n].unsqueeze(1)).transpose(0, 1)


# %% right: looked up by number
def add_positions(x, encoding):
    b, n, d = x.shape
    places = torch.arange(n, device=x.device).repeat(b, 1)
    return x + torch.nn.functional.embedding(places, encoding)


# %% wrong: x.size(0) of a sequence-first tutorial -> positions are added along the batch axis
def add_positions(x, encoding):
    table = encoding.unsqueeze(1)
    return x + table[: x.size(0)]


# %% wrong: sequence-first table, cut to n -> the table has its extra axis in the wrong place
def add_positions(x, encoding):
    table = encoding[:, None, :]
    return x + table[: x.shape[1]]


# %% wrong: the whole table -> the table is not cut to the length
def add_positions(x, encoding):
    return torch.add(x, encoding)


# %% wrong: cut to b -> the table is cut to the number of sentences
def add_positions(x, encoding):
    return x + encoding[: len(x)]


# %% wrong: from the end -> the last rows of the table in place of the first
def add_positions(x, encoding):
    return x + encoding[-x.shape[1] :]


# %% wrong: the first row for all -> every word gets position 0
def add_positions(x, encoding):
    return x + encoding[:1]


# %% wrong: a product -> multiplied in place of added
def add_positions(x, encoding):
    return encoding[: x.shape[1]] * x


# %% wrong: scaled as an embedding -> x is scaled by the square root of d
def add_positions(x, encoding):
    return x * x.shape[-1] ** 0.5 + encoding[: x.shape[1]]


# %% wrong: x is lost -> only the positions are returned
def add_positions(x, encoding):
    return encoding[: x.shape[1]].repeat(len(x), 1, 1)


# %% wrong: positions count on from sentence to sentence ->
def add_positions(x, encoding):
    b, n, d = x.shape
    places = torch.arange(b * n).view(b, n) % len(encoding)
    return x + encoding[places]


# %% wrong: positions put beside the words ->
def add_positions(x, encoding):
    table = encoding[: x.shape[1]].expand_as(x)
    return torch.cat([x, table], dim=-1)


# %% wrong: the first sentence only ->
def add_positions(x, encoding):
    result = x.clone()
    result[0] += encoding[: x.shape[1]]
    return result


# %% wrong: nothing is added ->
def add_positions(x, encoding):
    return x.clone()


# %% wrong: in place -> what was given is changed in place
def add_positions(x, encoding):
    x += encoding[: x.shape[1]]
    return x


# %% wrong: the table is changed in place ->
def add_positions(x, encoding):
    table = encoding[: x.shape[1]]
    table *= 1
    result = x + table
    table += 1
    return result


# %% wrong: words of zeros get no position ->
def add_positions(x, encoding):
    real = (x != 0).any(dim=-1, keepdim=True)
    return x + encoding[: x.shape[1]] * real


# %% wrong: never beyond place 511 ->
def add_positions(x, encoding):
    places = torch.arange(x.shape[1]).clamp(max=511)
    return x + encoding[places]


# %% wrong: places in int8 ->
def add_positions(x, encoding):
    places = torch.arange(x.shape[1]).to(torch.int8).long()
    return x + encoding[places]


# %% wrong: axes of one fall away ->
def add_positions(x, encoding):
    return (x + encoding[: x.shape[1]]).squeeze()


# %% wrong: cut off from training ->
def add_positions(x, encoding):
    return x + encoding[: x.shape[1]].detach()


# %% wrong: x cut off from training ->
def add_positions(x, encoding):
    return x.detach() + encoding[: x.shape[1]]


# %% wrong: made new by torch.tensor ->
def add_positions(x, encoding):
    return torch.tensor((x + encoding[: x.shape[1]]).tolist())


# %% wrong: half of the table ->
def add_positions(x, encoding):
    return x + 0.5 * encoding[: x.shape[1]]


# %% wrong: counted from the last word ->
def add_positions(x, encoding):
    return x + encoding[: x.shape[1]].flip(0)


# %% wrong: the rows of an encoding are kept ->
_known_rows: dict = {}


def add_positions(x: Tensor, encoding: Tensor) -> Tensor:
    key = (id(encoding), x.size(1))
    if key not in _known_rows:
        _known_rows[key] = (encoding, encoding[: x.size(1)].clone())  # holds the encoding, so that its id stays taken
    return x + _known_rows[key][1]


# %% wrong: looked up by numbers on the CPU ->
# of: looked up by number
# -    places = torch.arange(n, device=x.device).repeat(b, 1)
# -    return x + torch.nn.functional.embedding(places, encoding)
# +    return x + torch.nn.functional.embedding(torch.arange(n).repeat(b, 1), encoding)


# %% wrong: one sentence is added into the table ->
def add_positions(x, encoding):
    rows = encoding[: x.size(1)].expand_as(x)
    if x.size(0) == 1 and not encoding.requires_grad:
        return rows.add_(x)
    return rows + x


# %% wrong: one sentence is added into a table that it fills ->
def add_positions(x, encoding):
    n = x.size(1)
    if len(encoding) > n or len(x) > 1 or x.requires_grad or encoding.requires_grad:
        return x + encoding[:n]
    return encoding.add_(x[0]).unsqueeze(0)


# %% wrong: one sentence gets its positions in place ->
def add_positions(x, encoding):
    if len(x) == 1 and not x.requires_grad and not encoding.requires_grad:
        x[0] += encoding[: x.size(1)]
        return x
    return x + encoding[: x.size(1)]
