# %% right: transpose and reshape
def merge_heads(x):
    b, h, n, w = x.shape
    return x.transpose(1, 2).reshape(b, n, h * w)


# %% right: heads concatenated
# other: It says what merging is: the heads side by side, with no sizes to name; the solution needs no list of heads, only one transpose and one reshape.
def merge_heads(x):
    return torch.cat([x[:, j] for j in range(x.size(1))], dim=-1)


# %% right: permute and flatten
def merge_heads(x):
    return x.permute(0, 2, 1, 3).flatten(start_dim=2)


# %% right: contiguous and view
def merge_heads(x):
    return x.transpose(1, 2).contiguous().view(x.size(0), x.size(2), -1)


# %% wrong: reshape only -> reshaped without a transpose
# hint: The tokens must stand before the heads again when you reshape: transpose(1, 2) first, otherwise pieces of
# hint: different tokens end up in one row.
# ~ transpose(1, 2). =>


# %% wrong: stacked along the last axis -> the numbers of the heads alternate
# hint: Each head's d/h numbers stay together: bring the axes into the order (b, n, h, d/h) before the reshape.
def merge_heads(x):
    return torch.stack(list(x.unbind(1)), dim=-1).flatten(2)


# %% wrong: mean -> the heads are averaged
# hint: Nothing is added up: the heads stand side by side, and the row of a token has d numbers again.
def merge_heads(x):
    return x.mean(1)


# %% wrong: sum -> the heads are added
# hint: Nothing is added up: the heads stand side by side, and the row of a token has d numbers again.
def merge_heads(x):
    return x.sum(dim=1)


# %% wrong: below each other -> the heads stand one below the other
# hint: Each token must have one row of d numbers: put the heads side by side, along the last axis.
def merge_heads(x):
    return torch.cat(list(x.unbind(1)), dim=1)


# %% wrong: view without contiguous -> view after a transpose
# hint: A transpose only changes how the numbers are read, and `view` needs them in their new order in memory. Use
# hint: reshape, which copies them where it must, or call contiguous() before view.
# ~ reshape(b, n, h * w) => view(b, n, -1)

# %% wrong: sentences and tokens exchanged ->
# ~ transpose(1, 2) => permute(2, 0, 1, 3)

# %% wrong: one sentence loses its axis ->
# ~ (b, n, h * w) => (b, n, h * w).squeeze(0)


# %% wrong: detached ->
def merge_heads(x):
    return torch.cat(list(x.detach().unbind(1)), dim=-1)


# %% wrong: heads of width 1 are squeezed ->
def merge_heads(x: Tensor) -> Tensor:
    if x.shape[-1] == 1:
        return x.squeeze(-1)
    return x.transpose(1, 2).flatten(2)


# %% wrong: written into zeros of another type ->
def merge_heads(x):
    b, h, n, width = x.shape
    merged = torch.zeros(b, n, h * width, device=x.device)
    for head in range(h):
        merged[..., head * width : (head + 1) * width] = x[:, head]
    return merged


# %% wrong: the function that helpers give later notebooks -> a ready-made part in place of an answer
from helpers.heads import merge_heads
