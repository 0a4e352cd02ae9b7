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
# -        query = split_heads(self.query(x), self.n_heads)
# -        key = split_heads(self.key(source), self.n_heads)
# -        value = split_heads(self.value(source), self.n_heads)
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        b, n, d = x.shape
# +        cut = lambda y: y.view(b, -1, self.n_heads, d // self.n_heads).transpose(1, 2)
# +        mixed = nn.functional.scaled_dot_product_attention(
# +            cut(self.query(x)), cut(self.key(source)), cut(self.value(source)), attn_mask=mask
# +        )
# +        return self.output(mixed.transpose(1, 2).flatten(2))

# %% right: head by head with slices
# other: It shows each head as attention on a slice of the width; the solution computes all heads in one product, and takes any mask that can be broadcast.
# -        query = split_heads(self.query(x), self.n_heads)
# -        key = split_heads(self.key(source), self.n_heads)
# -        value = split_heads(self.value(source), self.n_heads)
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        w = self.query.out_features // self.n_heads
# +        query, key, value = self.query(x), self.key(source), self.value(source)
# +        found = []
# +        for j in range(self.n_heads):
# +            part = slice(j * w, (j + 1) * w)
# +            scores = query[..., part] @ key[..., part].transpose(1, 2) / w**0.5
# +            if mask is not None:
# +                scores = scores + (mask if mask.dim() == 2 else mask[:, 0])
# +            found.append(scores.softmax(-1) @ value[..., part])
# +        return self.output(torch.cat(found, dim=-1))

# %% right: einsum
# -        query = split_heads(self.query(x), self.n_heads)
# -        key = split_heads(self.key(source), self.n_heads)
# -        value = split_heads(self.value(source), self.n_heads)
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        b, n, _ = x.shape
# +        shape = (self.n_heads, -1)
# +        query, key, value = (
# +            f(y).unflatten(-1, shape) for f, y in ((self.query, x), (self.key, source), (self.value, source))
# +        )
# +        scores = torch.einsum("bnhw,bmhw->bhnm", query, key) * query.shape[-1] ** -0.5
# +        weights = torch.softmax(scores + (0 if mask is None else mask), dim=-1)
# +        return self.output(torch.einsum("bhnm,bmhw->bnhw", weights, value).reshape(b, n, -1))

# %% wrong: never split -> the heads share their scores: there is only one softmax
# hint: The width is never split, so this is one head of width d. Split query, key and value first; each head then has
# hint: scores and a softmax of its own.
# -        query = split_heads(self.query(x), self.n_heads)
# -        key = split_heads(self.key(source), self.n_heads)
# -        value = split_heads(self.value(source), self.n_heads)
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        if mask is not None and mask.dim() == 4:
# +            mask = mask.squeeze(1)
# +        mixed, _ = scaled_dot_product_attention(self.query(x), self.key(source), self.value(source), mask)
# +        return self.output(mixed)

# %% wrong: weights of head 0 -> all heads use the scores of the first
# hint: Heads that share their scores all look at the same positions, and one would do. Each head needs its own weights.
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        weights = scaled_dot_product_attention(query, key, value, mask)[1][:, 0].unsqueeze(1)
# +        return self.output(merge_heads(weights @ value))

# %% wrong: not projected -> the output projection is missing
# hint: The merged heads must go through `self.output`: it is the only place where the heads are mixed.
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        return merge_heads(scaled_dot_product_attention(query, key, value, mask)[0])

# %% wrong: root of d_model -> scaled by the width of the model in place of that of a head
# hint: A head's dot product is a sum of d/h products: divide by the square root of d/h, the last axis of the split
# hint: query.
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        scores = query @ key.mT / math.sqrt(x.size(-1))
# +        if mask is not None:
# +            scores = scores + mask
# +        return self.output(merge_heads(scores.softmax(-1) @ value))

# %% wrong: scaled by the root of the number of heads -> scaled by the root of the number of heads
# hint: A head's dot product is a sum of d/h products, however many heads there are: divide by the square root of d/h,
# hint: the last axis of the split query.
# of: root of d_model
# ~ x.size(-1) => self.n_heads

# %% wrong: no scale -> the scale is missing
# hint: Divide the scores of each head by the square root of d/h.
# ~ mT / math.sqrt(x.size(-1)) => mT

# %% wrong: queries from the source -> x and the source are swapped
# hint: x asks, so it makes the queries; the source is read, so it makes keys and values. The result has a row for each
# hint: token of x.
# of: with the functions before
# ~ (x), => (source),
# ~ key(source), => key(x),
# ~ value(source), => value(x),

# %% wrong: self-attention only -> the source is not read
# hint: Keys and values are made from x, so x only ever looks at itself. They must come from the source.
# ~ key(source), => key(x),
# ~ (source) => (x)

# %% wrong: view to the shape -> the heads are cut by a reshape without a transpose
# hint: Shapes fit, but a head gets all numbers of a few tokens in place of a few numbers of all. Use split_heads.
# -        query = split_heads(self.query(x), self.n_heads)
# -        key = split_heads(self.key(source), self.n_heads)
# -        value = split_heads(self.value(source), self.n_heads)
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        cut = lambda y: y.reshape(y.size(0), self.n_heads, y.size(1), -1)
# +        mixed, _ = scaled_dot_product_attention(
# +            cut(self.query(x)), cut(self.key(source)), cut(self.value(source)), mask
# +        )
# +        return self.output(merge_heads(mixed))

# %% wrong: merged by view -> the heads are merged by a reshape without a transpose
# hint: Pieces of different tokens end up in one row. Use merge_heads.
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        mixed, _ = scaled_dot_product_attention(query, key, value, mask)
# +        return self.output(mixed.reshape(x.shape))

# %% wrong: both by view -> cut and merged by reshapes without a transpose
# hint: The two mistakes do not undo each other: in between, a head compared tokens that are mixtures. Use split_heads
# hint: and merge_heads.
# of: view to the shape
# ~ merge_heads(mixed) => mixed.reshape(x.shape)

# %% wrong: key for value -> the values are the keys
# hint: What a token offers to be found by (key) and what it gives (value) are two projections: use `self.value`.
# of: with the functions before
# ~ value(source) => key(source)

# %% wrong: masked_fill where the mask is 0 -> 0 in the mask is taken for blocked
# hint: Many programs write masked_fill(mask == 0, -1e9), for masks of 1 and 0. In ours 0 means allowed and minus
# hint: infinity blocked: add it to the scores, or hand it on to scaled_dot_product_attention.
# of: root of d_model
# ~ x.size => query.size
# ~ scores + mask => scores.masked_fill(mask == 0, -1e9)

# %% wrong: mask forgotten -> the mask is not used
# hint: The mask must reach the scores of every head: hand it on to scaled_dot_product_attention.
# of: with the functions before
# ~ (query, key, value, mask) => (query, key, value)

# %% wrong: scaled after the mask -> the mask is scaled too
# hint: Minus infinity does not mind, but a finite mask does: scale the scores first, then add the mask.
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        scores = query @ key.mT
# +        if mask is not None:
# +            scores = scores + mask
# +        mixed = torch.softmax(scores / math.sqrt(query.size(-1)), dim=-1) @ value
# +        return self.output(merge_heads(mixed))

# %% wrong: keys of x -> the keys come from x, the values from the source
# hint: What is read is the source: its tokens are found by their keys and give their values, so both are made from it.
# of: merged by view
# ~ key(source), => key(x),
# ~ mixed.reshape(x.shape) => merge_heads(mixed)

# %% wrong: values of x -> the keys come from the source, the values from x
# hint: What is read is the source: its tokens are found by their keys and give their values, so both are made from it.
# ~ value(source), => value(x),
# ~ mixed.reshape(x.shape) => merge_heads(mixed)


# %% wrong: a subclass of the attention in helpers -> a ready-made part in place of an answer
class MultiHeadAttention(Attention):
    def forward(self, x, source, mask=None):
        return super().forward(x, Context(memory=source, memory_mask=mask), cross=True)


# %% wrong: a matrix of width d for each head ->
# of: with the functions before
# -        self.query = nn.Linear(d_model, d_model)
# +        self.query = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(n_heads))
# ...
# -        query = split_heads(self.query(x), self.n_heads)
# -        key = split_heads(self.key(source), self.n_heads)
# -        value = split_heads(self.value(source), self.n_heads)
# -        return self.output(merge_heads(scaled_dot_product_attention(query, key, value, mask)[0]))
# +        return self.output(sum(layer(x) for layer in self.query))

# %% wrong: detached keys ->
# of: merged by view
# ~ key(source), => key(source).detach(),
# ~ mixed.reshape(x.shape) => merge_heads(mixed)

# %% wrong: dropout on the result ->
#          self.output = nn.Linear(d_model, d_model)
# +        self.dropout = nn.Dropout(0.1)
# ...
# -        return self.output(mixed.reshape(x.shape))
# +        return self.dropout(self.output(merge_heads(mixed)))

# %% wrong: the first sentence only ->
# ~ (mixed.reshape(x.shape)) => (merge_heads(mixed)).squeeze(0)

# %% wrong: no default for the mask ->
# ~ =None =>
# ~ mixed.reshape(x.shape) => merge_heads(mixed)


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


# %% wrong: the attention that helpers give later notebooks, subclassed -> a ready-made part in place of an answer
from helpers import heads


class MultiHeadAttention(heads.Attention):
    def forward(self, x, source, mask=None):
        query, key, value = self.query(x), self.key(source), self.value(source)
        query, key, value = (part.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for part in (query, key, value))
        scores = query @ key.mT / math.sqrt(query.size(-1))
        weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
        return self.output((weights @ value).transpose(1, 2).flatten(2))
