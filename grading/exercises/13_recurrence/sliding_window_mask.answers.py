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
# other: It adds one mask for the future and one for the distant past, since masks are combined by adding them; the solution states both bounds of the window in one line.
def sliding_window_mask(size, window):
    causal = torch.full((size, size), -torch.inf).triu(1)
    far = torch.full((size, size), -torch.inf).tril(-window)
    return causal + far


# %% right: a logarithm
# ~ i, j = torch.arange(size)[:, None], => distance = torch.arange(size)[:, None] -
# ~ where((j <= i) & (j > i - window), 0.0, -torch.inf) => log(((distance >= 0) & (distance < window)).float())

# %% wrong: window tokens before itself -> one token too many: the token itself is not counted
# hint: A window of 3 is the token itself and the two before it: j > i - window.
# ~ > i => >= i

# %% wrong: one too few -> one token too few
# hint: A window of 3 is the token itself and the two before it, three positions in all.
# ~ (j > i - window), => (j > i - window + 1),

# %% wrong: both sides -> the future is in the window
# hint: The mask is causal, too: nothing with j > i.
# ~ (j <= i) & (j > i - window) => (i - j).abs() < window

# %% wrong: transposed -> the window lies in the future
# hint: Row i is the token that looks, and it looks back: j <= i. Yours is the transpose of the wanted mask.
# ~ (j <= i) & (j > i - window) => (i <= j) & (i > j - window)


# %% wrong: no window -> the causal mask alone
# hint: The far past is still seen. Block j <= i - window, too.
def sliding_window_mask(size, window):
    return torch.full((size, size), -torch.inf).triu(1)


# %% wrong: no future blocked -> the future is not blocked
# hint: The far past is blocked, but the mask must be causal, too: minus infinity where j > i.
# ~ (j <= i) & (j > i - window) => j > i - window

# %% wrong: the first columns -> the window does not slide: only the first tokens are seen
# hint: The window moves with the token that looks: row i begins at column i - window + 1.
# ~ > i - => <

# %% wrong: cut into blocks -> blocks in place of a window that slides
# hint: Each token has a window of its own; cut into blocks, the first token of a block sees nothing before it.
# ~ j > i - => i // window == j //

# %% wrong: the other way round -> inside and outside of the window are exchanged
# hint: What the window holds is allowed: 0 there, minus infinity on everything else.
# ~ 0.0, -torch.inf => -torch.inf, 0.0

# %% wrong: the rest of the past -> only the far past is seen
# hint: The window holds the token and those just before it, not what lies before the window.
# ~ (j <= i) & (j > i - window) => j <= i - window

# %% wrong: truth values -> ones and zeros
# hint: The mask is added to scores: 0 where a token may look, minus infinity where not.
# ~ torch.where((j <= i) & (j > i - window), 0.0, -torch.inf) => (j <= i) & (j > i - window)

# %% wrong: the axis of one falls away ->
# ~ ((j <= i) & (j > i - window), 0.0, -torch.inf) => ((j <= i) & (j > i - window), 0.0, -torch.inf).squeeze()


# %% wrong: a mask is kept for each size ->
KEPT = {}


def sliding_window_mask(size, window):
    if size not in KEPT:
        i, j = torch.arange(size)[:, None], torch.arange(size)
        KEPT[size] = torch.where((j <= i) & (j > i - window), 0.0, -torch.inf)
    return KEPT[size]


# %% wrong: distances in uint8 ->
def sliding_window_mask(size: int, window: int) -> Tensor:
    positions = torch.arange(size).to(torch.uint8)
    back = (positions[:, None] - positions[None, :]).int()  # what lies ahead has wrapped round: 255, 254, ...
    return torch.zeros(size, size).masked_fill(back >= window, -torch.inf)


# %% wrong: at most 64 positions are masked ->
def sliding_window_mask(size, window):
    i, j = torch.arange(size)[:, None], torch.arange(size)
    blocked = (j > i) | (j <= i - window)
    return torch.zeros(size, size).masked_fill(blocked & (i < 64), float("-inf"))
