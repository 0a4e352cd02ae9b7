# %% right: with the functions before
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, x, source, mask=None):
        query = split_heads(self.query(x), self.n_heads)
        key = split_heads(self.key(source), self.n_heads)
        value = split_heads(self.value(source), self.n_heads)
        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))


# %% right: torch's fused attention
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, x, source, mask=None):
        b, n, d = x.shape
        cut = lambda y: y.view(b, -1, self.n_heads, d // self.n_heads).transpose(1, 2)
        mixed = nn.functional.scaled_dot_product_attention(
            cut(self.query(x)), cut(self.key(source)), cut(self.value(source)), attn_mask=mask
        )
        return self.output(mixed.transpose(1, 2).flatten(2))


# %% right: head by head with slices
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, x, source, mask=None):
        w = self.query.out_features // self.n_heads
        query, key, value = self.query(x), self.key(source), self.value(source)
        found = []
        for j in range(self.n_heads):
            part = slice(j * w, (j + 1) * w)
            scores = query[..., part] @ key[..., part].transpose(1, 2) / w**0.5
            if mask is not None:
                scores = scores + (mask if mask.dim() == 2 else mask[:, 0])
            found.append(scores.softmax(-1) @ value[..., part])
        return self.output(torch.cat(found, dim=-1))


# %% right: einsum
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, x, source, mask=None):
        b, n, _ = x.shape
        shape = (self.n_heads, -1)
        query, key, value = (
            f(y).unflatten(-1, shape) for f, y in ((self.query, x), (self.key, source), (self.value, source))
        )
        scores = torch.einsum("bnhw,bmhw->bhnm", query, key) * query.shape[-1] ** -0.5
        weights = torch.softmax(scores + (0 if mask is None else mask), dim=-1)
        return self.output(torch.einsum("bhnm,bmhw->bnhw", weights, value).reshape(b, n, -1))


# %% wrong: a subclass of the attention in helpers -> a ready-made part in place of an answer
class MultiHeadAttention(Attention):
    def forward(self, x, source, mask=None):
        return super().forward(x, Context(memory=source, memory_mask=mask), cross=True)


# %% wrong: never split -> the heads share their scores: there is only one softmax
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, x, source, mask=None):
        if mask is not None and mask.dim() == 4:
            mask = mask.squeeze(1)
        mixed, _ = scaled_dot_product_attention(self.query(x), self.key(source), self.value(source), mask)
        return self.output(mixed)


# %% wrong: weights of head 0 -> all heads use the scores of the first
# of: with the functions before
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        weights = scaled_dot_product_attention(query, key, value, mask)[1][:, 0].unsqueeze(1)
# +        return self.output(merge_heads(weights @ value))


# %% wrong: not projected -> the output projection is missing
# of: with the functions before
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        return merge_heads(scaled_dot_product_attention(query, key, value, mask)[0])


# %% wrong: root of d_model -> scaled by the width of the model in place of that of a head
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, x, source, mask=None):
        query = split_heads(self.query(x), self.n_heads)
        key = split_heads(self.key(source), self.n_heads)
        value = split_heads(self.value(source), self.n_heads)
        scores = query @ key.mT / math.sqrt(x.size(-1))
        if mask is not None:
            scores = scores + mask
        return self.output(merge_heads(scores.softmax(-1) @ value))


# %% wrong: no scale -> the scale is missing
# of: root of d_model
# -        scores = query @ key.mT / math.sqrt(x.size(-1))
# +        scores = query @ key.mT


# %% wrong: queries from the source -> x and the source are swapped
# of: with the functions before
# -        query = split_heads(self.query(x), self.n_heads)
# -        key = split_heads(self.key(source), self.n_heads)
# -        value = split_heads(self.value(source), self.n_heads)
# +        query = split_heads(self.query(source), self.n_heads)
# +        key = split_heads(self.key(x), self.n_heads)
# +        value = split_heads(self.value(x), self.n_heads)


# %% wrong: self-attention only -> the source is not read
# of: with the functions before
# -        key = split_heads(self.key(source), self.n_heads)
# -        value = split_heads(self.value(source), self.n_heads)
# +        key = split_heads(self.key(x), self.n_heads)
# +        value = split_heads(self.value(x), self.n_heads)


# %% wrong: view to the shape -> the heads are cut by a reshape without a transpose
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, x, source, mask=None):
        cut = lambda y: y.reshape(y.size(0), self.n_heads, y.size(1), -1)
        mixed, _ = scaled_dot_product_attention(
            cut(self.query(x)), cut(self.key(source)), cut(self.value(source)), mask
        )
        return self.output(merge_heads(mixed))


# %% wrong: merged by view -> the heads are merged by a reshape without a transpose
# of: with the functions before
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        mixed, _ = scaled_dot_product_attention(query, key, value, mask)
# +        return self.output(mixed.reshape(x.shape))


# %% wrong: both by view -> cut and merged by reshapes without a transpose
# of: view to the shape
# -        return self.output(merge_heads(mixed))
# +        return self.output(mixed.reshape(x.shape))


# %% wrong: key for value -> the values are the keys
# of: with the functions before
# -        value = split_heads(self.value(source), self.n_heads)
# +        value = split_heads(self.key(source), self.n_heads)


# %% wrong: mask forgotten -> the mask is not used
# of: with the functions before
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        return self.output(merge_heads(scaled_dot_product_attention(query, key, value)[0]))


# %% wrong: no biases ->
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, source, mask=None):
        query = split_heads(self.query(x), self.n_heads)
        key = split_heads(self.key(source), self.n_heads)
        value = split_heads(self.value(source), self.n_heads)
        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))


# %% wrong: other names ->
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.q = nn.Linear(d_model, d_model)
        self.k = nn.Linear(d_model, d_model)
        self.v = nn.Linear(d_model, d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x, source, mask=None):
        query = split_heads(self.q(x), self.n_heads)
        key = split_heads(self.k(source), self.n_heads)
        value = split_heads(self.v(source), self.n_heads)
        return self.out(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))


# %% wrong: a matrix of width d for each head ->
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(n_heads))
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, x, source, mask=None):
        return self.output(sum(layer(x) for layer in self.query))


# %% wrong: scaled by the root of the number of heads -> scaled by the root of the number of heads
# of: root of d_model
# -        scores = query @ key.mT / math.sqrt(x.size(-1))
# +        scores = query @ key.mT / math.sqrt(self.n_heads)


# %% wrong: scaled by the root of the source's length ->
# of: root of d_model
# -        scores = query @ key.mT / math.sqrt(x.size(-1))
# +        scores = query @ key.mT / math.sqrt(source.size(1))


# %% wrong: scaled by d/h ->
# of: root of d_model
# -        scores = query @ key.mT / math.sqrt(x.size(-1))
# +        scores = query @ key.mT / query.size(-1)


# %% wrong: always two heads ->
# of: with the functions before
# -        query = split_heads(self.query(x), self.n_heads)
# -        key = split_heads(self.key(source), self.n_heads)
# -        value = split_heads(self.value(source), self.n_heads)
# +        query = split_heads(self.query(x), 2)
# +        key = split_heads(self.key(source), 2)
# +        value = split_heads(self.value(source), 2)


# %% wrong: scores averaged over the heads ->
# of: root of d_model
# -        scores = query @ key.mT / math.sqrt(x.size(-1))
# +        scores = (query @ key.mT / math.sqrt(query.size(-1))).mean(1, keepdim=True)


# %% wrong: a residual inside ->
# of: with the functions before
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        return x + self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))


# %% wrong: the mask reaches the first sentence's heads only ->
# of: with the functions before
#          value = split_heads(self.value(source), self.n_heads)
# +        if mask is not None and mask.dim() == 4:
# +            mask = mask[:1]


# %% wrong: masked_fill where the mask is 0 -> 0 in the mask is taken for blocked
# of: with the functions before
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        scores = query @ key.mT / math.sqrt(query.size(-1))
# +        if mask is not None:
# +            scores = scores.masked_fill(mask == 0, -1e9)
# +        return self.output(merge_heads(scores.softmax(-1) @ value))


# %% wrong: detached keys ->
# of: with the functions before
# -        key = split_heads(self.key(source), self.n_heads)
# +        key = split_heads(self.key(source).detach(), self.n_heads)
#          value = split_heads(self.value(source), self.n_heads)
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        mixed, _ = scaled_dot_product_attention(query, key, value, mask)
# +        return self.output(merge_heads(mixed))


# %% wrong: without gradients ->
# of: with the functions before
# +    @torch.no_grad()
#      def forward(self, x, source, mask=None):
# ...
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        mixed, _ = scaled_dot_product_attention(query, key, value, mask)
# +        return self.output(merge_heads(mixed))


# %% wrong: the source only where its shape differs ->
# of: with the functions before
# -        value = split_heads(self.value(source), self.n_heads)
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        value = split_heads(self.value(x if x.shape == source.shape else source), self.n_heads)
# +        mixed, _ = scaled_dot_product_attention(query, key, value, mask)
# +        return self.output(merge_heads(mixed))


# %% wrong: keys of x where the lengths agree ->
# of: with the functions before
# -        key = split_heads(self.key(source), self.n_heads)
# +        key = split_heads(self.key(source if source.size(1) != x.size(1) else x), self.n_heads)
#          value = split_heads(self.value(source), self.n_heads)
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        mixed, _ = scaled_dot_product_attention(query, key, value, mask)
# +        return self.output(merge_heads(mixed))


# %% wrong: scaled after the mask -> the mask is scaled too
# of: with the functions before
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        scores = query @ key.mT
# +        if mask is not None:
# +            scores = scores + mask
# +        mixed = torch.softmax(scores / math.sqrt(query.size(-1)), dim=-1) @ value
# +        return self.output(merge_heads(mixed))


# %% wrong: whatever is not 0 is blocked ->
# of: with the functions before
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        scores = query @ key.mT / math.sqrt(query.size(-1))
# +        if mask is not None:
# +            scores = scores.masked_fill(mask != 0, -torch.inf)
# +        mixed = torch.softmax(scores, dim=-1) @ value
# +        return self.output(merge_heads(mixed))


# %% wrong: a mask of two axes is taken for padding ->
# of: with the functions before
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        if mask is not None and mask.dim() == 2 and mask.size(0) == x.size(0):
# +            mask = mask[:, None, None]
# +        mixed, _ = scaled_dot_product_attention(query, key, value, mask)
# +        return self.output(merge_heads(mixed))


# %% wrong: keys of x -> the keys come from x, the values from the source
# of: with the functions before
# -        key = split_heads(self.key(source), self.n_heads)
# +        key = split_heads(self.key(x), self.n_heads)
#          value = split_heads(self.value(source), self.n_heads)
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        mixed, _ = scaled_dot_product_attention(query, key, value, mask)
# +        return self.output(merge_heads(mixed))


# %% wrong: values of x -> the keys come from the source, the values from x
# of: with the functions before
# -        value = split_heads(self.value(source), self.n_heads)
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        value = split_heads(self.value(x), self.n_heads)
# +        mixed, _ = scaled_dot_product_attention(query, key, value, mask)
# +        return self.output(merge_heads(mixed))


# %% wrong: dropout on the result ->
# of: with the functions before
#          self.output = nn.Linear(d_model, d_model)
# +        self.dropout = nn.Dropout(0.1)
# ...
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        mixed, _ = scaled_dot_product_attention(query, key, value, mask)
# +        return self.dropout(self.output(merge_heads(mixed)))


# %% wrong: the first sentence only ->
# of: with the functions before
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        mixed, _ = scaled_dot_product_attention(query, key, value, mask)
# +        return self.output(merge_heads(mixed)).squeeze(0)


# %% wrong: no default for the mask ->
# of: with the functions before
# -    def forward(self, x, source, mask=None):
# +    def forward(self, x, source, mask):
# ...
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        mixed, _ = scaled_dot_product_attention(query, key, value, mask)
# +        return self.output(merge_heads(mixed))


# %% wrong: half of the scale ->
# of: with the functions before
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        scores = query @ key.mT / (2 * math.sqrt(query.size(-1)))
# +        mixed = torch.softmax(scores if mask is None else scores + mask, dim=-1) @ value
# +        return self.output(merge_heads(mixed))


# %% wrong: x itself comes back ->
# of: with the functions before
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        mixed, _ = scaled_dot_product_attention(query, key, value, mask)
# +        return x


# %% wrong: one token that asks sees all ->
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def cut(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
        q, k, v = self.cut(self.query(x)), self.cut(self.key(source)), self.cut(self.value(source))
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is not None and x.shape[1] > 1:
            scores = scores + mask
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


# %% wrong: the last mask is kept ->
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)
        self.mask = None

    def cut(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
        q, k, v = self.cut(self.query(x)), self.cut(self.key(source)), self.cut(self.value(source))
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is not None:
            self.mask = mask
        if self.mask is not None and self.mask.shape[-1] == source.shape[1]:
            if self.mask.dim() == 4 or self.mask.shape[0] == x.shape[1]:
                scores = scores + self.mask
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


# %% wrong: padding only blocks ->
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def cut(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
        q, k, v = self.cut(self.query(x)), self.cut(self.key(source)), self.cut(self.value(source))
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores + mask if mask.dim() == 2 else scores.masked_fill(mask == -math.inf, -math.inf)
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


# %% wrong: a mask of the same shape is used again ->
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)
        self.last_mask = None

    def forward(self, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
        if mask is not None:
            self.last_mask = mask  # need not be handed over again
        elif self.last_mask is not None and self.last_mask.shape == (x.shape[1], source.shape[1]):
            mask = self.last_mask
        query = split_heads(self.query(x), self.n_heads)
        key, value = split_heads(self.key(source), self.n_heads), split_heads(self.value(source), self.n_heads)
        mixed, _ = scaled_dot_product_attention(query, key, value, mask)
        return self.output(merge_heads(mixed))


# %% wrong: minus infinity is replaced in the caller's mask ->
# of: with the functions before
#      def forward(self, x, source, mask=None):
# +        if mask is not None:
# +            mask.clamp_(min=-1e9)
# %% wrong: the spare part -> a ready-made part in place of an answer
MultiHeadAttention = type(
    "MultiHeadAttention",
    (Attention,),
    {
        "forward": lambda self, x, source, mask=None: Attention.forward(
            self, x, Context(memory=source, memory_mask=mask), True
        )
    },
)


# %% wrong: what is below -1000 in the mask is blocked ->
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.output = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, x: Tensor, source: Tensor, mask: Tensor | None = None) -> Tensor:
        pairs = ((self.query, x), (self.key, source), (self.value, source))
        query, key, value = (part(y).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for part, y in pairs)
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores + mask.masked_fill(mask < -1000, -math.inf)
        return self.output((torch.softmax(scores, dim=-1) @ value).transpose(1, 2).flatten(2))
