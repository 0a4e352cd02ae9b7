# %% right: a mask of words
def mean_pool(states, lengths):
    is_word = torch.arange(states.shape[1]) < lengths.unsqueeze(1)  # (b, n)
    return (states * is_word.unsqueeze(2)).sum(dim=1) / lengths.unsqueeze(1)


# %% right: text by text
# other: It reads like the definition, one text at a time; the solution does all texts of a batch at once, which is what a GPU wants.
def mean_pool(states, lengths):
    return torch.stack([text[:length].mean(dim=0) for text, length in zip(states, lengths.tolist())])


# %% right: a product with the weights of the mean
def mean_pool(states, lengths):
    mask = torch.arange(states.size(1))[None, :] < lengths[:, None]
    weights = mask.to(states.dtype) / lengths[:, None].to(states.dtype)
    return torch.einsum("bn,bnd->bd", weights, states)


# %% right: padding filled with zeros
def mean_pool(states, lengths):
    padding = torch.arange(states.shape[1]).unsqueeze(0) >= lengths.unsqueeze(1)
    return states.masked_fill(padding[..., None], 0.0).sum(1) / lengths[:, None]


# %% wrong: the mean of all rows -> padding counts as words
# hint: The states at padding are in the mean. Only the first `length` rows of each text are words.
def mean_pool(states, lengths):
    return states.mean(dim=1)


# %% wrong: divided by the width of the batch -> divided by the length of the batch
# hint: Padding is left out of the sum, but not out of the divisor: divide by the length of each text.
# of: a mask of words
# ~ / lengths.unsqueeze(1) => / states.shape[1]

# %% wrong: all rows, divided by the lengths -> the sum has padding in it
# hint: You divide by the right number, but what is added up holds padding, too.
# of: a mask of words
# ~ (states * is_word.unsqueeze(2)).sum(dim=1) => states.sum(dim=1)

# %% wrong: one too many -> one row too many
# hint: A text of length 3 has the rows 0, 1 and 2: smaller than the length, not smaller or equal.
# of: a mask of words
# ~ < lengths => <= lengths


# %% wrong: the first row -> only the first token
# hint: The first row is BERT's way with a trained token [CLS]; wanted is the mean over all tokens.
def mean_pool(states, lengths):
    return states[:, 0]


# %% wrong: the last word -> only the last token
# hint: The last token's state is what a language model's head reads; wanted is the mean over all tokens.
def mean_pool(states, lengths):
    return states[torch.arange(len(states)), lengths - 1]


# %% wrong: the largest -> the largest value, not the mean
# hint: That is max pooling. Wanted is the mean over the tokens.
def mean_pool(states, lengths):
    padding = torch.arange(states.shape[1]) >= lengths.unsqueeze(1)
    return states.masked_fill(padding.unsqueeze(2), -torch.inf).amax(dim=1)


# %% wrong: one number of words for all -> one length for all texts
# hint: Each text is divided by its own length, in a column: lengths.unsqueeze(1).
# of: a mask of words
# ~ / lengths.unsqueeze(1) => / lengths.float().mean()


# %% wrong: a vector of length one -> scaled to length 1
# hint: Wanted is the mean itself; that the length of the vector does not count is the business of the cosine.
# of: a mask of words
# ~ return (states * is_word.unsqueeze(2)).sum(dim=1) / lengths.unsqueeze(1) => return F.normalize((states * is_word.unsqueeze(2)).sum(dim=1), dim=1)


# %% wrong: a mask of zeros in the states ->
def mean_pool(states, lengths):
    is_word = (states != 0).all(dim=2)
    return (states * is_word.unsqueeze(2)).sum(dim=1) / is_word.sum(dim=1, keepdim=True)


# %% wrong: at most 128 tokens ->
# of: text by text
# ~ text[:length] => text[: min(length, 128)]


# %% wrong: only values that are not zero -> zeros of real tokens are not counted
# hint: A token's state may hold a 0, and it counts like any other value: divide by the text's length.
# of: a mask of words
# -    return (states * is_word.unsqueeze(2)).sum(dim=1) / lengths.unsqueeze(1)
# +    kept = states * is_word.unsqueeze(2)
# +    return kept.sum(1) / (kept != 0).sum(1)

# %% wrong: tokens that are not all zeros ->
# of: a mask of words
# -    return (states * is_word.unsqueeze(2)).sum(dim=1) / lengths.unsqueeze(1)
# +    kept = states * is_word.unsqueeze(2)
# +    return kept.sum(1) / (kept != 0).any(dim=2).sum(dim=1, keepdim=True)
