# %% right: reshape and transpose
def split_heads(x, n_heads):
    b, n, d = x.shape
    return x.view(b, n, n_heads, d // n_heads).transpose(1, 2)


# %% right: chunks stacked
# other: It says what a head is: a chunk of the width; reshape and transpose copy no number where x is contiguous, and stacking copies all of them.
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
# hint: The shape is right, the content is not: a reshape goes on reading the numbers in their old order, so that a head
# hint: gets ALL numbers of a few tokens. Reshape to (b, n, h, d/h), then transpose(1, 2).
def split_heads(x, n_heads):
    return x.view(x.size(0), n_heads, x.size(1), -1)


# %% wrong: cut the other way -> each head takes every h-th number
# hint: The last axis is cut into h pieces of d/h neighbours: reshape to (b, n, h, d/h), not to (b, n, d/h, h).
def split_heads(x, n_heads):
    return torch.stack([x[..., j::n_heads] for j in range(n_heads)], dim=1)


# %% wrong: transpose forgotten -> the heads stand after the tokens
# hint: (b, n, h, d/h) is half of the way. Exchange the axes 1 and 2, so that each head has an n x d/h matrix.
# ~ .transpose(1, 2) =>

# %% wrong: h and d/h exchanged -> the number of heads and their width are exchanged
# hint: There are h heads with d/h numbers each: reshape to (b, n, h, d/h).
# ~ n_heads, d // => d // n_heads,

# %% wrong: b times h -> heads and sentences share one axis
# hint: Some programs do that, with (b * h, n, d/h). Here the heads keep an axis of their own.
# ~ (b, n, n_heads, d // n_heads).transpose(1, 2) => (b, n, n_heads, -1).transpose(1, 2).reshape(b * n_heads, n, -1)

# %% wrong: the transpose comes first ->
# ~ view(b, n, n_heads, d // n_heads).transpose(1, 2) => transpose(1, 2).reshape(b, n_heads, n, d // n_heads)


# %% wrong: sentences and heads exchanged where they are as many ->
def split_heads(x, n_heads):
    b, n, d = x.shape
    heads = x.view(b, n, n_heads, d // n_heads).permute(2, 0, 1, 3)
    return heads if b == n_heads else heads.transpose(0, 1)


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


# %% wrong: a single head comes in front ->
def split_heads(x, n_heads):
    if n_heads == 1:
        return x.unsqueeze(0)
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


# %% wrong: a single sentence loses its axis ->
# ~ b, n, d = x.shape => y = x.squeeze(0) if x.shape[0] == 1 else x
# ~ x.view(b, n, n_heads, d // n_heads).transpose(1, 2) => y.unflatten(-1, (n_heads, -1)).transpose(-3, -2)


# %% wrong: the method of the attention in helpers -> a ready-made part in place of an answer
def split_heads(x, n_heads):
    return Attention(x.shape[-1], n_heads)._heads(x)


# %% wrong: the heads are gathered on the CPU ->
# of: head by head
# ~ x.new_zeros => torch.zeros

# %% wrong: one head is cut from the graph ->
# of: a single head comes in front
# ~ (x, n_heads) => (x: Tensor, n_heads: int) -> Tensor
# ~ unsqueeze(0) => detach()[:, None]


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


# %% wrong: the function that helpers give later notebooks -> a ready-made part in place of an answer
def split_heads(x, n_heads):
    from helpers.heads import split_heads as cut

    return cut(x, n_heads)
