# %% right: two comparisons
def sliding_window_mask(size, window):
    i, j = torch.arange(size)[:, None], torch.arange(size)
    return torch.where((j <= i) & (j > i - window), 0.0, -torch.inf)


# %% right: two triangles
def sliding_window_mask(size, window):
    ones = torch.ones(size, size)
    seen = ones.tril() * ones.triu(1 - window)
    return torch.zeros(size, size).masked_fill(seen == 0, float("-inf"))


# %% right: two loops
def sliding_window_mask(size, window):
    mask = torch.full((size, size), float("-inf"))
    for i in range(size):
        for j in range(max(0, i - window + 1), i + 1):
            mask[i, j] = 0
    return mask


# %% right: two masks added up
def sliding_window_mask(size, window):
    causal = torch.full((size, size), -torch.inf).triu(1)
    far = torch.full((size, size), -torch.inf).tril(-window)
    return causal + far


# %% right: a logarithm
def sliding_window_mask(size, window):
    distance = torch.arange(size)[:, None] - torch.arange(size)
    return torch.log(((distance >= 0) & (distance < window)).float())


# %% wrong: window tokens before itself -> one token too many: the token itself is not counted
def sliding_window_mask(size, window):
    i, j = torch.arange(size)[:, None], torch.arange(size)
    return torch.where((j <= i) & (j >= i - window), 0.0, -torch.inf)


# %% wrong: one too few -> one token too few
def sliding_window_mask(size, window):
    i, j = torch.arange(size)[:, None], torch.arange(size)
    return torch.where((j <= i) & (j > i - window + 1), 0.0, -torch.inf)


# %% wrong: both sides -> the future is in the window
def sliding_window_mask(size, window):
    i, j = torch.arange(size)[:, None], torch.arange(size)
    return torch.where((i - j).abs() < window, 0.0, -torch.inf)


# %% wrong: transposed -> the window lies in the future
def sliding_window_mask(size, window):
    i, j = torch.arange(size)[:, None], torch.arange(size)
    return torch.where((i <= j) & (i > j - window), 0.0, -torch.inf)


# %% wrong: no window -> the causal mask alone
def sliding_window_mask(size, window):
    return torch.full((size, size), -torch.inf).triu(1)


# %% wrong: no future blocked -> the future is not blocked
def sliding_window_mask(size, window):
    i, j = torch.arange(size)[:, None], torch.arange(size)
    return torch.where(j > i - window, 0.0, -torch.inf)


# %% wrong: the first columns -> the window does not slide: only the first tokens are seen
def sliding_window_mask(size, window):
    i, j = torch.arange(size)[:, None], torch.arange(size)
    return torch.where((j <= i) & (j < window), 0.0, -torch.inf)


# %% wrong: cut into blocks -> blocks in place of a window that slides
def sliding_window_mask(size, window):
    i, j = torch.arange(size)[:, None], torch.arange(size)
    return torch.where((j <= i) & (i // window == j // window), 0.0, -torch.inf)


# %% wrong: the other way round -> inside and outside of the window are exchanged
def sliding_window_mask(size, window):
    i, j = torch.arange(size)[:, None], torch.arange(size)
    return torch.where((j <= i) & (j > i - window), -torch.inf, 0.0)


# %% wrong: the rest of the past -> only the far past is seen
def sliding_window_mask(size, window):
    i, j = torch.arange(size)[:, None], torch.arange(size)
    return torch.where(j <= i - window, 0.0, -torch.inf)


# %% wrong: truth values -> ones and zeros
def sliding_window_mask(size, window):
    i, j = torch.arange(size)[:, None], torch.arange(size)
    return (j <= i) & (j > i - window)


# %% wrong: a large finite number ->
def sliding_window_mask(size, window):
    i, j = torch.arange(size)[:, None], torch.arange(size)
    return torch.where((j <= i) & (j > i - window), 0.0, -1e9)


# %% wrong: infinity times zero ->
def sliding_window_mask(size, window):
    i, j = torch.arange(size)[:, None], torch.arange(size)
    return -torch.inf * ~((j <= i) & (j > i - window))


# %% wrong: all zeros ->
def sliding_window_mask(size, window):
    return torch.zeros(size, size)


# %% wrong: the axis of one falls away ->
def sliding_window_mask(size, window):
    i, j = torch.arange(size)[:, None], torch.arange(size)
    return torch.where((j <= i) & (j > i - window), 0.0, -torch.inf).squeeze()


# %% wrong: ones where allowed ->
def sliding_window_mask(size, window):
    i, j = torch.arange(size)[:, None], torch.arange(size)
    return torch.where((j <= i) & (j > i - window), 1.0, -torch.inf)


# %% wrong: the window goes round to the end ->
def sliding_window_mask(size, window):
    mask, i = torch.full((size, size), -math.inf), torch.arange(size)
    for back in range(min(window, size)):
        mask[i, i - back] = 0
    return mask


# %% wrong: a mask is kept for each size ->
KEPT = {}


def sliding_window_mask(size, window):
    if size not in KEPT:
        i, j = torch.arange(size)[:, None], torch.arange(size)
        KEPT[size] = torch.where((j <= i) & (j > i - window), 0.0, -torch.inf)
    return KEPT[size]


# %% wrong: distances in uint8 ->
def sliding_window_mask(size: int, window: int) -> Tensor:
    places = torch.arange(size).to(torch.uint8)
    back = (places[:, None] - places[None, :]).int()  # what lies ahead has wrapped round: 255, 254, ...
    return torch.zeros(size, size).masked_fill(back >= window, -torch.inf)


# %% wrong: at most 64 places are masked ->
def sliding_window_mask(size, window):
    i, j = torch.arange(size)[:, None], torch.arange(size)
    blocked = (j > i) | (j <= i - window)
    return torch.zeros(size, size).masked_fill(blocked & (i < 64), float("-inf"))
