# %% right: indices
def induction_score(attention):
    n = attention.size(-1)
    rows = torch.arange(n // 2, n)
    return attention[:, :, rows, rows - (n // 2 - 1)].mean(dim=(0, 2))


# %% right: a diagonal without its first position
# other: It uses that all these weights lie on one diagonal; the solution says for each row which column is looked for, with no offset of a diagonal to work out.
def induction_score(attention):
    n = attention.size(-1)
    return attention.diagonal(offset=1 - n // 2, dim1=-2, dim2=-1)[..., 1:].mean(dim=-1).mean(dim=0)


# %% right: the lower half, then a diagonal
def induction_score(attention):
    n = attention.size(-1)
    lower = attention[:, :, n // 2 :, 1:]
    return lower.diagonal(dim1=-2, dim2=-1)[..., : n // 2].mean(dim=(0, -1))


# %% right: a loop over rows
def induction_score(attention):
    n = attention.size(-1)
    scores = torch.zeros(attention.size(1))
    for row in range(n // 2, n):
        scores = scores + attention[:, :, row, row - n // 2 + 1].mean(dim=0)
    return scores / (n // 2)


# %% right: a mask of positions
def induction_score(attention):
    n = attention.size(-1)
    rows, columns = torch.arange(n).unsqueeze(1), torch.arange(n)
    wanted = (rows >= n // 2) & (rows - columns == n // 2 - 1)
    return (attention * wanted).sum(dim=(-2, -1)).mean(dim=0) / (n // 2)


# %% wrong: the twin -> it looks at the same token, not at the one after it
# hint: One position too far back: that is where the token itself stood one block earlier. What followed it stands one
# hint: position to the right.
# ~ (n // 2 - 1) => n // 2

# %% wrong: two after the twin -> it looks two positions after the same token
# hint: One position too near: n/2 back stands the token itself, n/2 - 1 back the one that followed it.
# ~ (n // 2 - 1) => n // 2 + 2

# %% wrong: one before the twin -> it looks at the token before the same token
# hint: The one that FOLLOWED it is wanted: n/2 - 1 back, not n/2 + 1.
# of: a diagonal without its first position
# ~ (offset=1 - n // 2, dim1=-2, dim2=-1)[..., 1:].mean(dim=-1).mean(dim=0) => (-(n // 2) - 1, -2, -1).mean(dim=(0, 2))

# %% wrong: one back -> the token before
# hint: That finds heads that look one position back, a part of the trick. Here: n/2 - 1 positions back.
# of: indices
# ~ (n // 2 - 1) => 1

# %% wrong: turned round -> rows and columns are exchanged
# hint: Row i is the token that looks, column j the one that is looked at.
# ~ [:, :, rows, rows - (n // 2 - 1)].mean(dim=(0, 2)) => [:, :, rows - n // 2 + 1, rows].mean(dim=(0, 2))

# %% wrong: the whole diagonal -> the last row of the first half counts too
# hint: The diagonal has n/2 + 1 positions. The first of them is in a row of the first half, where nothing has come
# hint: twice yet.
# of: a diagonal without its first position
# ~ (offset=1 - n // 2, dim1=-2, dim2=-1)[..., 1:].mean(dim=-1).mean(dim=0) => (1 - n // 2, -2, -1).mean(dim=(0, 2))

# %% wrong: over n -> divided by the number of all rows
# hint: The mean runs over the n/2 rows of the second half only.
# of: indices
# ~ [:, :, rows, rows - (n // 2 - 1)].mean(dim=(0, 2)) => [:, :, rows, rows - n // 2 + 1].sum(dim=2).mean(dim=0) / n

# %% wrong: sum over rows -> the sum in place of the mean
# hint: A head that always looks there has the score 1, however long the text is.
# ~ [:, :, rows, rows - (n // 2 - 1)].mean(dim=(0, 2)) => [:, :, rows, rows - n // 2 + 1].sum(dim=2).mean(dim=0)

# %% wrong: one number -> the mean over the heads too
# hint: Each head has a score of its own: the result is (h,).
# ~ [:, :, rows, rows - (n // 2 - 1)].mean(dim=(0, 2)) => [:, :, rows, rows - n // 2 + 1].mean()

# %% wrong: the first of the batch -> only the first text
# hint: The mean runs over all texts of the batch.
# ~ [:, :, rows, rows - (n // 2 - 1)].mean(dim=(0, 2)) => [0, :, rows, rows - n // 2 + 1].mean(dim=-1)

# %% wrong: for each text -> one score for each text
# hint: The mean runs over the texts as well: the result is (h,).
# ~ [:, :, rows, rows - (n // 2 - 1)].mean(dim=(0, 2)) => [:, :, rows, rows - n // 2 + 1].mean(dim=-1)

# %% wrong: the best row -> the largest weight in place of the mean
# hint: One lucky row says little: take the mean.
# ~ [:, :, rows, rows - (n // 2 - 1)].mean => [:, :, rows, rows - n // 2 + 1].amax

# %% wrong: how often it is the largest -> the share of rows whose largest weight is there
# hint: The weights themselves are averaged, not how often one is the largest.
# -    return attention[:, :, rows, rows - (n // 2 - 1)].mean(dim=(0, 2))
# +    found = attention.argmax(dim=-1)[:, :, n // 2 :] == rows - n // 2 + 1
# +    return found.float().mean(dim=(0, 2))

# %% wrong: a list ->
# ~ [:, :, rows, rows - (n // 2 - 1)].mean(dim=(0, 2)) => [:, :, rows, rows - n // 2 + 1].mean(dim=(0, 2)).tolist()


# %% wrong: through Python numbers ->
def induction_score(attention):
    b, h, n, _ = attention.shape
    half = n // 2
    return torch.tensor(
        [
            sum(attention[t, k, i, i - half + 1].item() for t in range(b) for i in range(half, n)) / (b * half)
            for k in range(h)
        ]
    )


# %% wrong: the first 32 texts ->
# ~ n = => attention, n = attention[:32],

# %% wrong: the first 64 rows of the second half ->
# ~ n = attention.size(-1) => half = attention.size(-1) // 2
# ~ n // 2, n => half, half + min(half, 64)
# ~ (n // 2 - 1) => half + 1
