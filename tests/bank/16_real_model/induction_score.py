# %% right: indices
def induction_score(attention):
    n = attention.size(-1)
    rows = torch.arange(n // 2, n)
    return attention[:, :, rows, rows - (n // 2 - 1)].mean(dim=(0, 2))


# %% right: a diagonal without its first place
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


# %% right: a mask of places
def induction_score(attention):
    n = attention.size(-1)
    rows, columns = torch.arange(n).unsqueeze(1), torch.arange(n)
    wanted = (rows >= n // 2) & (rows - columns == n // 2 - 1)
    return (attention * wanted).sum(dim=(-2, -1)).mean(dim=0) / (n // 2)


# %% wrong: the twin -> it looks at the same token, not at the one after it
def induction_score(attention):
    n = attention.size(-1)
    rows = torch.arange(n // 2, n)
    return attention[:, :, rows, rows - n // 2].mean(dim=(0, 2))


# %% wrong: a diagonal at minus n/2 -> it looks at the same token, not at the one after it
def induction_score(attention):
    n = attention.size(-1)
    return attention.diagonal(-(n // 2), -2, -1).mean(dim=(0, 2))


# %% wrong: two after the twin -> it looks two places after the same token
def induction_score(attention):
    n = attention.size(-1)
    rows = torch.arange(n // 2, n)
    return attention[:, :, rows, rows - n // 2 + 2].mean(dim=(0, 2))


# %% wrong: one before the twin -> it looks at the token before the same token
def induction_score(attention):
    n = attention.size(-1)
    return attention.diagonal(-(n // 2) - 1, -2, -1).mean(dim=(0, 2))


# %% wrong: one back -> the token before
def induction_score(attention):
    n = attention.size(-1)
    rows = torch.arange(n // 2, n)
    return attention[:, :, rows, rows - 1].mean(dim=(0, 2))


# %% wrong: turned round -> rows and columns are exchanged
def induction_score(attention):
    n = attention.size(-1)
    rows = torch.arange(n // 2, n)
    return attention[:, :, rows - n // 2 + 1, rows].mean(dim=(0, 2))


# %% wrong: the whole diagonal -> the last row of the first half counts too
def induction_score(attention):
    n = attention.size(-1)
    return attention.diagonal(1 - n // 2, -2, -1).mean(dim=(0, 2))


# %% wrong: over n -> divided by the number of all rows
def induction_score(attention):
    n = attention.size(-1)
    rows = torch.arange(n // 2, n)
    return attention[:, :, rows, rows - n // 2 + 1].sum(dim=2).mean(dim=0) / n


# %% wrong: sum over rows -> the sum in place of the mean
def induction_score(attention):
    n = attention.size(-1)
    rows = torch.arange(n // 2, n)
    return attention[:, :, rows, rows - n // 2 + 1].sum(dim=2).mean(dim=0)


# %% wrong: one number -> the mean over the heads too
def induction_score(attention):
    n = attention.size(-1)
    rows = torch.arange(n // 2, n)
    return attention[:, :, rows, rows - n // 2 + 1].mean()


# %% wrong: the first of the batch -> only the first text
def induction_score(attention):
    n = attention.size(-1)
    rows = torch.arange(n // 2, n)
    return attention[0, :, rows, rows - n // 2 + 1].mean(dim=-1)


# %% wrong: for each text -> one score for each text
def induction_score(attention):
    n = attention.size(-1)
    rows = torch.arange(n // 2, n)
    return attention[:, :, rows, rows - n // 2 + 1].mean(dim=-1)


# %% wrong: the best row -> the largest weight in place of the mean
def induction_score(attention):
    n = attention.size(-1)
    rows = torch.arange(n // 2, n)
    return attention[:, :, rows, rows - n // 2 + 1].amax(dim=(0, 2))


# %% wrong: how often it is the largest -> the share of rows whose largest weight is there
def induction_score(attention):
    n = attention.size(-1)
    rows = torch.arange(n // 2, n)
    found = attention.argmax(dim=-1)[:, :, n // 2 :] == rows - n // 2 + 1
    return found.float().mean(dim=(0, 2))


# %% wrong: the last row alone ->
def induction_score(attention):
    n = attention.size(-1)
    return attention[:, :, -1, n // 2].mean(dim=0)


# %% wrong: all weights of the second half ->
def induction_score(attention):
    n = attention.size(-1)
    return attention[:, :, n // 2 :].mean(dim=(0, 2, 3))


# %% wrong: the mean over heads and rows ->
def induction_score(attention):
    n = attention.size(-1)
    rows = torch.arange(n // 2, n)
    return attention[:, :, rows, rows - n // 2 + 1].mean(dim=(1, 2))


# %% wrong: a block of three by heart ->
def induction_score(attention):
    n = attention.size(-1)
    rows = torch.arange(3, min(6, n))
    return attention[:, :, rows, rows - 2].mean(dim=(0, 2))


# %% wrong: a list ->
def induction_score(attention):
    n = attention.size(-1)
    rows = torch.arange(n // 2, n)
    return attention[:, :, rows, rows - n // 2 + 1].mean(dim=(0, 2)).tolist()


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


# %% wrong: squeezes away a single head ->
def induction_score(attention: Tensor) -> Tensor:
    half = attention.shape[-1] // 2
    picked = attention[:, :, half:].diagonal(1, dim1=-2, dim2=-1)  # (b, h, half)
    return picked.mean(dim=-1, keepdim=True).mean(dim=0).squeeze()


# %% wrong: blocks of 32 tokens at most ->
# of: indices
# -    n = attention.size(-1)
# +    n = min(attention.size(-1), 64)


# %% wrong: the first 32 texts ->
# of: indices
# -    n = attention.size(-1)
# +    attention, n = attention[:32], attention.size(-1)


# %% wrong: filled into zeros ->
def induction_score(attention):
    b, h, n, _ = attention.shape
    scores = torch.zeros(h)
    for head in range(h):
        picked = [attention[:, head, i, i + 1 - n // 2] for i in range(n // 2, n)]
        scores[head] = torch.stack(picked).mean()
    return scores


# %% wrong: the first 64 rows of the second half ->
def induction_score(attention):
    half = attention.size(-1) // 2
    rows = torch.arange(half, half + min(half, 64))
    return attention[:, :, rows, rows - half + 1].mean(dim=(0, 2))
