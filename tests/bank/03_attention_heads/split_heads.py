# %% right: reshape and transpose
def split_heads(x, n_heads):
    b, n, d = x.shape
    return x.view(b, n, n_heads, d // n_heads).transpose(1, 2)


# %% right: chunks stacked
def split_heads(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


# %% right: unflatten and permute
def split_heads(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).permute(0, 2, 1, 3).contiguous()


# %% right: head by head
def split_heads(x, n_heads):
    b, n, d = x.shape
    w = d // n_heads
    heads = x.new_zeros(b, n_heads, n, w)
    for j in range(n_heads):
        heads[:, j] = x[:, :, j * w : (j + 1) * w]
    return heads


# %% wrong: straight to the shape -> reshaped without a transpose
def split_heads(x, n_heads):
    return x.view(x.size(0), n_heads, x.size(1), -1)


# %% wrong: cut the other way -> each head takes every h-th number
def split_heads(x, n_heads):
    return torch.stack([x[..., j::n_heads] for j in range(n_heads)], dim=1)


# %% wrong: transpose forgotten -> the heads stand after the tokens
def split_heads(x, n_heads):
    b, n, d = x.shape
    return x.view(b, n, n_heads, d // n_heads)


# %% wrong: h and d/h exchanged -> the number of heads and their width are exchanged
def split_heads(x, n_heads):
    b, n, d = x.shape
    return x.view(b, n, d // n_heads, n_heads).transpose(1, 2)


# %% wrong: b times h -> heads and sentences share one axis
def split_heads(x, n_heads):
    b, n, d = x.shape
    return x.view(b, n, n_heads, -1).transpose(1, 2).reshape(b * n_heads, n, -1)


# %% wrong: the transpose comes first ->
def split_heads(x, n_heads):
    b, n, d = x.shape
    return x.transpose(1, 2).reshape(b, n_heads, n, d // n_heads)


# %% wrong: token and number exchanged in each head ->
def split_heads(x, n_heads):
    b, n, d = x.shape
    return x.view(b, n, n_heads, d // n_heads).permute(0, 2, 3, 1).reshape(b, n_heads, n, d // n_heads)


# %% wrong: only right for the shape ->
def split_heads(x, n_heads):
    b, n, d = x.shape
    return torch.zeros(b, n_heads, n, d // n_heads)


# %% wrong: heads in the opposite order ->
def split_heads(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1)[::-1], dim=1)


# %% wrong: sentences and heads exchanged where they are as many ->
def split_heads(x, n_heads):
    b, n, d = x.shape
    heads = x.view(b, n, n_heads, d // n_heads).permute(2, 0, 1, 3)
    return heads if b == n_heads else heads.transpose(0, 1)


# %% wrong: squeezed where there is one head ->
def split_heads(x, n_heads):
    b, n, d = x.shape
    return x.view(b, n, n_heads, d // n_heads).transpose(1, 2).squeeze(1)


# %% wrong: squeezed wherever a size is 1 ->
def split_heads(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1).squeeze()


# %% wrong: two heads, whatever is asked ->
def split_heads(x, n_heads):
    b, n, d = x.shape
    return x.view(b, n, 2, d // 2).transpose(1, 2)


# %% wrong: as many heads as tokens are not turned ->
def split_heads(x, n_heads):
    b, n, d = x.shape
    heads = x.view(b, n, n_heads, d // n_heads)
    if heads.shape[1] != n_heads:
        heads = heads.transpose(1, 2)
    return heads


# %% wrong: the other axis is cut where tokens and numbers are as many ->
def split_heads(x, n_heads):
    b, n, d = x.shape
    if n == d:
        x = x.transpose(1, 2)
    return x.reshape(b, n, n_heads, d // n_heads).transpose(1, 2)


# %% wrong: numbers taken out of the graph ->
def split_heads(x, n_heads):
    b, n, d = x.shape
    heads = torch.zeros(b, n_heads, n, d // n_heads)
    for j, piece in enumerate(x.data.chunk(n_heads, dim=-1)):
        heads[:, j] = piece
    return heads


# %% wrong: a single head comes in front ->
def split_heads(x, n_heads):
    if n_heads == 1:
        return x.unsqueeze(0)
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


# %% wrong: a single sentence loses its axis ->
def split_heads(x, n_heads):
    y = x.squeeze(0) if x.shape[0] == 1 else x
    return y.unflatten(-1, (n_heads, -1)).transpose(-3, -2)


# %% wrong: the method of the attention in helpers -> a ready-made part in place of an answer
def split_heads(x, n_heads):
    return Attention(x.shape[-1], n_heads)._heads(x)


# %% wrong: the heads are gathered on the CPU ->
# of: head by head
# -    heads = x.new_zeros(b, n_heads, n, w)
# +    heads = torch.zeros(b, n_heads, n, w)


# %% wrong: heads of one sentence in several sentences ->
def split_heads(x, n_heads):
    b, n, d = x.shape
    rows = x.transpose(0, 1).reshape(n, b * n_heads, d // n_heads).transpose(0, 1)
    return rows.reshape(n_heads, b, n, d // n_heads).transpose(0, 1)


# %% wrong: one head is cut from the graph ->
def split_heads(x: Tensor, n_heads: int) -> Tensor:
    if n_heads == 1:
        return x.detach()[:, None]
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


# %% wrong: a single sentence is cut from the graph ->
def split_heads(x: Tensor, n_heads: int) -> Tensor:
    x = x.detach() if len(x) == 1 else x
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


# %% wrong: the method of the grouped attention in helpers -> a ready-made part in place of an answer
def split_heads(x, n_heads):
    from types import SimpleNamespace

    from helpers.llama import GroupedAttention

    return GroupedAttention._heads(SimpleNamespace(d_head=x.size(-1) // n_heads), x)


# %% wrong: in single precision ->
def split_heads(x, n_heads):
    return x.float().unflatten(-1, (n_heads, -1)).transpose(1, 2)


# %% wrong: written into zeros of another type ->
def split_heads(x, n_heads):
    b, n, d = x.shape
    width = d // n_heads
    heads = torch.zeros(b, n_heads, n, width, device=x.device)
    for h in range(n_heads):
        heads[:, h] = x[..., h * width : (h + 1) * width]
    return heads
