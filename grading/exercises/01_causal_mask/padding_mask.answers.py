# %% right: broadcasting
def padding_mask(lengths, size):
    return torch.arange(size)[None, :] >= lengths.clamp(min=1)[:, None]


# %% right: two loops
def padding_mask(lengths, size):
    mask = torch.zeros(len(lengths), size, dtype=torch.bool)
    for b, length in enumerate(lengths):
        for position in range(max(int(length), 1), size):
            mask[b, position] = True
    return mask


# %% right: slices, then the first column
# other: Each line does what the text says, also for the empty text; broadcasting has no loop, and takes the same time for a large batch.
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


# %% right: torch's own arrangement, then the empty ones
def padding_mask(lengths, size):
    mask = torch.arange(size).repeat(len(lengths), 1) >= lengths[:, None]
    mask[lengths == 0, 0] = False
    return mask


# %% wrong: inverted -> the mask is inverted
# hint: It is True at the real tokens. A padding mask marks what is to be ignored.
# ~ >= lengths => < lengths

# %% wrong: inverted without care for length 0 -> the mask is inverted, and an empty sequence has nothing to see
# hint: It is True at the real tokens; a padding mask marks what is to be ignored. Mind length 0 as well.
# ~ >= lengths.clamp(min=1) => < lengths

# %% wrong: one too early -> off by one: the last real token is marked as padding
# hint: A sequence of length 2 has real tokens at positions 0 and 1; position 2 is the first padding.
# ~ (size)[None, :] >= lengths.clamp(min=1) => (1, size + 1)[None, :] >= lengths

# %% wrong: one too late -> off by one: the first padding is taken for a token
# hint: A sequence of length 2 has real tokens at positions 0 and 1; position 2 is padding already: >= and not >.
# ~ >= lengths.clamp(min=1)[:, None] => > lengths[:, None]

# %% wrong: padded on the left -> padding at the start in place of the end
# hint: Our batches are padded on the right. With padding at the start, the first rows of the causal mask see nothing
# hint: but padding, and their softmax would be NaN.
# ~ [None, :] >= lengths.clamp(min=1) => .flip(0)[None, :] >= lengths

# %% wrong: padding at the start, one token kept -> padding at the start in place of the end, also of an empty sequence
# hint: Our batches are padded on the right. With padding at the start, the first rows of the causal mask see nothing
# hint: but padding, and their softmax would be NaN.
# ~ (size)[None, :] >= => (size) < size -

# %% wrong: length 0 forgotten -> an empty sequence has nothing to see
# hint: With length 0 every position is padding, the whole row of scores is -inf and its softmax is NaN. Treat a length
# hint: of 0 as 1.
# ~ (size)[None, :] >= lengths.clamp(min=1)[:, None] => (size) >= lengths.unsqueeze(1)

# %% wrong: an empty text is not padded -> an empty sequence has no padding at all
# hint: Only its first position must stay visible. The others are padding: nobody may look at them.
# of: torch's own arrangement, then the empty ones
# ~ (size).repeat(len(lengths), 1) >= lengths[:, None] => (size) >= lengths.unsqueeze(1)
# ~ , 0 =>


# %% wrong: at least two tokens -> a sequence of length 1 is treated as one of length 2
# hint: A sequence of length 1 has one real token; position 1 is padding already. Only the length 0 is treated as 1.
def padding_mask(lengths, size):
    return torch.arange(size) >= lengths.clamp(min=2).unsqueeze(1)


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


# %% wrong: the mask of the last call is not cleared ->
_kept = {}


def padding_mask(lengths, size):
    mask = _kept.setdefault((len(lengths), size), torch.zeros(len(lengths), size, dtype=torch.bool))
    for row, length in enumerate(lengths.tolist()):
        mask[row, max(length, 1) :] = True
    return mask


# %% wrong: half precision ->
def padding_mask(lengths: Tensor, size: int) -> Tensor:
    positions = torch.arange(size).half()
    return positions >= lengths.clamp(min=1).half().unsqueeze(1)


# %% wrong: at most 100 texts ->
def padding_mask(lengths, size):
    return torch.arange(size) >= lengths[:100].clamp(min=1)[:, None]


# %% wrong: the mask of helpers -> a ready-made part in place of an answer
def padding_mask(lengths, size):
    from helpers import models

    return models.as_mask(lengths.clamp(min=1), size)
