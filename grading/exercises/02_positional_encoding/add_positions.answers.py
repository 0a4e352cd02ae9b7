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
# other: Looking rows up by number works for any positions, such as those after a cached text; the slice needs no indices, and is broadcast over the batch without copies of its rows.
def add_positions(x, encoding):
    b, n, d = x.shape
    positions = torch.arange(n, device=x.device).repeat(b, 1)
    return x + torch.nn.functional.embedding(positions, encoding)


# %% wrong: x.size(0) of a sequence-first tutorial -> positions are added along the batch axis
# hint: Sentence 0 gets position 0, sentence 1 gets position 1, and all words of a sentence get the same: nothing says
# hint: their order. Position j belongs to x[:, j], in every sentence.
def add_positions(x, encoding):
    table = encoding.unsqueeze(1)
    return x + table[: x.size(0)]


# %% wrong: sequence-first table, cut to n -> the table has its extra axis in the wrong place
# hint: (n, 1, d) belongs to sequence-first tensors (n, b, d). Against (b, n, d) it is added along the batch axis when b
# hint: = n, and fails otherwise. The table needs no extra axis here, or (1, n, d).
def add_positions(x, encoding):
    table = encoding[:, None, :]
    return x + table[: x.shape[1]]


# %% wrong: the whole table -> the table is not cut to the length
# hint: The table has rows for longer sentences too: take its first n rows, encoding[:x.shape[1]].
# ~ x + encoding[: x.shape[1]] => torch.add(x, encoding)

# %% wrong: cut to b -> the table is cut to the number of sentences
# hint: x.shape[0] is the batch size. It works by luck when b = n. The number of words is x.shape[1].
# ~ x.shape[1] => len(x)

# %% wrong: from the end -> the last rows of the table in place of the first
# hint: The first word has position 0: the table is cut at the end, not at the start.
# ~ : x.shape[1] => -x.shape[1] :

# %% wrong: the first row for all -> every word gets position 0
# hint: One row for all words does not tell them apart: word j gets row j.
# ~ [: x.shape[1]] => [:1]

# %% wrong: a product -> multiplied in place of added
# hint: Positions are added to the word vectors; a product would wipe out a word where the table is 0.
# ~ x + encoding[: x.shape[1]] => encoding[: x.shape[1]] * x

# %% wrong: scaled as an embedding -> x is scaled by the square root of d
# hint: The factor sqrt(d) of section 3.4 of the paper belongs to the embedding and is in x already.
# ~ + encoding => * x.shape[-1] ** 0.5 + encoding

# %% wrong: x is lost -> only the positions are returned
# hint: The words are lost: return x plus the positions.
# ~ x + encoding[: x.shape[1]] => encoding[: x.shape[1]].repeat(len(x), 1, 1)


# %% wrong: in place -> what was given is changed in place
# hint: `x += ...`, and calls with a name that ends in `_`, write into the tensors of the caller, who would add
# hint: positions to them a second time. Write x + ..., which makes a new tensor.
def add_positions(x, encoding):
    x += encoding[: x.shape[1]]
    return x


# %% wrong: never beyond position 511 ->
def add_positions(x, encoding):
    positions = torch.arange(x.shape[1]).clamp(max=511)
    return x + encoding[positions]


# %% wrong: cut off from training ->
# ~ [: x.shape[1]] => [: x.shape[1]].detach()


# %% wrong: the rows of an encoding are kept ->
_known_rows: dict = {}


def add_positions(x: Tensor, encoding: Tensor) -> Tensor:
    key = (id(encoding), x.size(1))
    if key not in _known_rows:
        _known_rows[key] = (encoding, encoding[: x.size(1)].clone())  # holds the encoding, so that its id stays taken
    return x + _known_rows[key][1]


# %% wrong: looked up by numbers on the CPU ->
def add_positions(x, encoding):
    b, n, d = x.shape
    return x + torch.nn.functional.embedding(torch.arange(n).repeat(b, 1), encoding)


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
