# %% right: transpose and reshape
def merge_heads(x):
    b, h, n, w = x.shape
    return x.transpose(1, 2).reshape(b, n, h * w)


# %% right: heads concatenated
def merge_heads(x):
    return torch.cat([x[:, j] for j in range(x.size(1))], dim=-1)


# %% right: permute and flatten
def merge_heads(x):
    return x.permute(0, 2, 1, 3).flatten(start_dim=2)


# %% right: contiguous and view
def merge_heads(x):
    return x.transpose(1, 2).contiguous().view(x.size(0), x.size(2), -1)


# %% wrong: reshape only -> reshaped without a transpose
def merge_heads(x):
    b, h, n, w = x.shape
    return x.reshape(b, n, h * w)


# %% wrong: stacked along the last axis -> the numbers of the heads alternate
def merge_heads(x):
    return torch.stack(list(x.unbind(1)), dim=-1).flatten(2)


# %% wrong: mean -> the heads are averaged
def merge_heads(x):
    return x.mean(1)


# %% wrong: sum -> the heads are added
def merge_heads(x):
    return x.sum(dim=1)


# %% wrong: below each other -> the heads stand one below the other
def merge_heads(x):
    return torch.cat(list(x.unbind(1)), dim=1)


# %% wrong: the wrong axes exchanged ->
def merge_heads(x):
    b, h, n, w = x.shape
    return x.transpose(2, 3).reshape(b, n, h * w)


# %% wrong: heads in the opposite order ->
def merge_heads(x):
    return x.flip(1).transpose(1, 2).flatten(2)


# %% wrong: sentences and tokens exchanged ->
def merge_heads(x):
    b, h, n, w = x.shape
    return x.permute(2, 0, 1, 3).reshape(b, n, h * w)


# %% wrong: view without contiguous -> view after a transpose
def merge_heads(x):
    b, h, n, w = x.shape
    return x.transpose(1, 2).view(b, n, -1)


# %% wrong: one sentence loses its axis ->
def merge_heads(x):
    b, h, n, w = x.shape
    return x.transpose(1, 2).reshape(b, n, h * w).squeeze(0)


# %% wrong: every size of 1 is lost ->
def merge_heads(x):
    return x.transpose(1, 2).flatten(2).squeeze()


# %% wrong: zeros of the right shape ->
def merge_heads(x):
    b, h, n, w = x.shape
    return torch.zeros(b, n, h * w)


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
