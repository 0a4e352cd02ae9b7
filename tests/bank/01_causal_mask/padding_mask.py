# %% right: broadcasting
def padding_mask(lengths, size):
    return torch.arange(size)[None, :] >= lengths.clamp(min=1)[:, None]


# %% right: two loops
def padding_mask(lengths, size):
    mask = torch.zeros(len(lengths), size, dtype=torch.bool)
    for b, length in enumerate(lengths):
        for place in range(max(int(length), 1), size):
            mask[b, place] = True
    return mask


# %% right: slices, then the first column
def padding_mask(lengths, size):
    mask = torch.ones(len(lengths), size, dtype=torch.bool)
    for row, length in zip(mask, lengths.tolist()):
        row[:length] = False
    mask[:, 0] = False
    return mask


# %% right: cumulative sum of ends
def padding_mask(lengths, size):
    ends = torch.zeros(len(lengths), size + 1)
    ends[torch.arange(len(lengths)), torch.maximum(lengths, torch.tensor(1))] = 1
    return ends.cumsum(dim=1)[:, :size] > 0


# %% wrong: inverted -> the mask is inverted
def padding_mask(lengths, size):
    return torch.arange(size)[None, :] < lengths.clamp(min=1)[:, None]


# %% wrong: inverted without care for length 0 -> the mask is inverted, and an empty sequence has nothing to see
def padding_mask(lengths, size):
    return torch.arange(size)[None, :] < lengths[:, None]


# %% wrong: one too early -> off by one: the last real token is marked as padding
def padding_mask(lengths, size):
    return torch.arange(1, size + 1)[None, :] >= lengths[:, None]


# %% wrong: one too late -> off by one: the first padding is taken for a token
def padding_mask(lengths, size):
    return torch.arange(size)[None, :] > lengths[:, None]


# %% wrong: padded on the left -> padding at the start in place of the end
def padding_mask(lengths, size):
    return torch.arange(size).flip(0)[None, :] >= lengths[:, None]


# %% wrong: length 0 forgotten -> an empty sequence has nothing to see
def padding_mask(lengths, size):
    return torch.arange(size) >= lengths.unsqueeze(1)


# %% wrong: transposed ->
def padding_mask(lengths, size):
    return (torch.arange(size)[None, :] >= lengths.clamp(min=1)[:, None]).T


# %% wrong: already the additive mask ->
def padding_mask(lengths, size):
    padded = torch.arange(size)[None, :] >= lengths.clamp(min=1)[:, None]
    return torch.zeros(len(lengths), size).masked_fill(padded, -torch.inf)


# %% wrong: width of the longest sentence ->
def padding_mask(lengths, size):
    return torch.arange(int(lengths.max()))[None, :] >= lengths.clamp(min=1)[:, None]


# %% wrong: padding at the start, one token kept -> padding at the start in place of the end, also of an empty sequence
def padding_mask(lengths, size):
    return torch.arange(size) < size - lengths.clamp(min=1)[:, None]


# %% right: torch's own arrangement, then the empty ones
def padding_mask(lengths, size):
    mask = torch.arange(size).repeat(len(lengths), 1) >= lengths[:, None]
    mask[lengths == 0, 0] = False
    return mask


# %% wrong: at least two tokens -> a sequence of length 1 is treated as one of length 2
def padding_mask(lengths, size):
    return torch.arange(size) >= lengths.clamp(min=2).unsqueeze(1)


# %% wrong: the example of the text by heart ->
def padding_mask(lengths, size):
    known = {0: [False, True, True, True], 2: [False, False, True, True], 4: [False] * 4}
    rows = [(known.get(int(n), [False] * 4) + [True] * size)[:size] for n in lengths]
    return torch.tensor(rows)


# %% wrong: places in small numbers ->
def padding_mask(lengths, size):
    return torch.arange(size).to(torch.int8) >= lengths.clamp(min=1).unsqueeze(1)


# %% wrong: an empty text is not padded -> an empty sequence has no padding at all
def padding_mask(lengths, size):
    mask = torch.arange(size) >= lengths.unsqueeze(1)
    mask[lengths == 0] = False
    return mask


# %% wrong: the first place of every text is seen, the last one of an empty text too ->
def padding_mask(lengths, size):
    mask = torch.arange(size) >= lengths.unsqueeze(1)
    mask[:, 0] = False
    mask[lengths == 0, -1] = False
    return mask


# %% wrong: nothing is padding, whatever the lengths ->
def padding_mask(lengths, size):
    return torch.zeros(len(lengths), size, dtype=torch.bool)


# %% wrong: the axis of one falls away ->
def padding_mask(lengths, size):
    return (torch.arange(size) >= lengths.clamp(min=1).unsqueeze(1)).squeeze()


# %% wrong: the caller's lengths are changed ->
def padding_mask(lengths, size):
    lengths[lengths == 0] = 1
    return torch.arange(size) >= lengths.unsqueeze(1)


# %% wrong: numbers in place of truth values ->
def padding_mask(lengths, size):
    return (torch.arange(size) >= lengths.clamp(min=1).unsqueeze(1)).float()


# %% wrong: the longest text decides for all ->
def padding_mask(lengths, size):
    return (torch.arange(size) >= lengths.max().clamp(min=1)).expand(len(lengths), size)


# %% wrong: the mask of the last call is not cleared ->
_kept = {}


def padding_mask(lengths, size):
    mask = _kept.setdefault((len(lengths), size), torch.zeros(len(lengths), size, dtype=torch.bool))
    for row, length in enumerate(lengths.tolist()):
        mask[row, max(length, 1) :] = True
    return mask


# %% wrong: half precision ->
def padding_mask(lengths: Tensor, size: int) -> Tensor:
    places = torch.arange(size).half()
    return places >= lengths.clamp(min=1).half().unsqueeze(1)


# %% wrong: at most 100 texts ->
def padding_mask(lengths, size):
    return torch.arange(size) >= lengths[:100].clamp(min=1)[:, None]


# %% wrong: the mask of helpers -> a ready-made part in place of an answer
def padding_mask(lengths, size):
    from helpers import models

    return models.as_mask(lengths.clamp(min=1), size)
