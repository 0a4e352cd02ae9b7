# %% right: two branches
class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_feedforward)
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def forward(self, x, memory, mask=None, memory_mask=None):
        if self.norm_first:
            y = self.attention_norm(x)
            x = x + self.attention(y, y, mask)
            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% right: a loop over the parts, spare attention
class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = SpareAttention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        self.cross_attention = SpareAttention(d_model, n_heads)
        self.cross_attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_feedforward)
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def forward(self, x, memory, mask=None, memory_mask=None):
        parts = [
            (lambda y: self.attention(y, y, mask), self.attention_norm),
            (lambda y: self.cross_attention(y, memory, memory_mask), self.cross_attention_norm),
            (self.feed_forward, self.feed_forward_norm),
        ]
        for part, norm in parts:
            x = x + part(norm(x)) if self.norm_first else norm(x + part(x))
        return x


# %% wrong: a subclass of the layer in helpers -> a ready-made part in place of an answer
class DecoderLayer(Layer):
    def __init__(self, d_model, n_heads, d_feedforward, norm_first=False):
        super().__init__(d_model, n_heads, d_feedforward, 0.0, norm_first, True)

    def forward(self, x, memory, mask=None, memory_mask=None):
        return super().forward(x, Context(mask=mask, memory=memory, memory_mask=memory_mask))


# %% right: an encoder layer with a part in the middle
class DecoderLayer(EncoderLayer):
    def __init__(self, d_model, n_heads, d_feedforward, norm_first=False):
        super().__init__(d_model, n_heads, d_feedforward, norm_first)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention_norm = nn.LayerNorm(d_model)

    def add(self, x, norm, part):
        return x + part(norm(x)) if self.norm_first else norm(x + part(x))

    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add(x, self.attention_norm, lambda y: self.attention(y, y, mask))
        x = self.add(x, self.cross_attention_norm, lambda y: self.cross_attention(y, memory, memory_mask))
        return self.add(x, self.feed_forward_norm, self.feed_forward)


# %% wrong: the memory asks -> memory and queries are swapped
# of: two branches
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# +            x = x + self.cross_attention(memory, self.cross_attention_norm(x))
# ...
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# +        x = self.cross_attention_norm(x + self.cross_attention(memory, x))


# %% wrong: reads itself twice -> cross-attention reads x in place of the memory
# of: two branches
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# +            y = self.cross_attention_norm(x)
# +            x = x + self.cross_attention(y, y)
# ...
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# +        x = self.cross_attention_norm(x + self.cross_attention(x, x))


# %% wrong: as an encoder -> there is no cross-attention
# of: two branches
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# ...
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))


# %% wrong: one attention for both -> self-attention is used for the memory, too
# of: two branches
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# +            x = x + self.attention(self.cross_attention_norm(x), memory, memory_mask)
# ...
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# +        x = self.cross_attention_norm(x + self.attention(x, memory, memory_mask))


# %% wrong: memory first -> cross-attention comes first
# of: two branches
#          if self.norm_first:
# +            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# ...
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
#              return x + self.feed_forward(self.feed_forward_norm(x))
# +        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
#          x = self.attention_norm(x + self.attention(x, x, mask))
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))


# %% wrong: nothing is added -> the residuals are missing
class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_feedforward)
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def forward(self, x, memory, mask=None, memory_mask=None):
        if self.norm_first:
            y = self.attention_norm(x)
            x = self.attention(y, y, mask)
            x = self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
            return self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(self.attention(x, x, mask))
        x = self.cross_attention_norm(self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(self.feed_forward(x))


# %% wrong: only the memory is kept -> the residual around the cross-attention is missing
# of: two branches
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# +            x = self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# ...
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# +        x = self.cross_attention_norm(self.cross_attention(x, memory, memory_mask))


# %% wrong: as in 2017 only -> always post-norm
# of: two branches
# -        if self.norm_first:
# -            y = self.attention_norm(x)
# -            x = x + self.attention(y, y, mask)
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# -            return x + self.feed_forward(self.feed_forward_norm(x))


# %% wrong: as in GPT-2 only -> always pre-norm
class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_feedforward)
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def forward(self, x, memory, mask=None, memory_mask=None):
        y = self.attention_norm(x)
        x = x + self.attention(y, y, mask)
        x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
        return x + self.feed_forward(self.feed_forward_norm(x))


# %% wrong: norm on both -> the memory is normalised again
# of: two branches
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# +            x = x + self.cross_attention(self.cross_attention_norm(x), self.cross_attention_norm(memory), memory_mask)


# %% wrong: sees the future -> self-attention without the causal mask
# of: two branches
# -            x = x + self.attention(y, y, mask)
# +            x = x + self.attention(y, y)
# ...
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# +        x = self.attention_norm(x + self.attention(x, x))


# %% wrong: padding is read -> the mask is dropped in the second attention
# of: two branches
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# +            x = x + self.cross_attention(self.cross_attention_norm(x), memory)
# ...
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# +        x = self.cross_attention_norm(x + self.cross_attention(x, memory))


# %% wrong: memory_mask for x -> the two masks are exchanged
# of: two branches
# -            x = x + self.attention(y, y, mask)
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# +            x = x + self.attention(y, y, memory_mask)
# +            x = x + self.cross_attention(self.cross_attention_norm(x), memory, mask)
#              return x + self.feed_forward(self.feed_forward_norm(x))
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# +        x = self.attention_norm(x + self.attention(x, x, memory_mask))
# +        x = self.cross_attention_norm(x + self.cross_attention(x, memory, mask))


# %% wrong: no masks at all -> self-attention without the causal mask
# of: two branches
# -            x = x + self.attention(y, y, mask)
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# +            x = x + self.attention(y, y)
# +            x = x + self.cross_attention(self.cross_attention_norm(x), memory)
#              return x + self.feed_forward(self.feed_forward_norm(x))
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# +        x = self.attention_norm(x + self.attention(x, x))
# +        x = self.cross_attention_norm(x + self.cross_attention(x, memory))


# %% wrong: asks with the words from below ->
# of: two branches
# -            x = x + self.attention(y, y, mask)
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# +            z = x + self.attention(y, y, mask)
# +            x = z + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
#              return x + self.feed_forward(self.feed_forward_norm(x))
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# +        z = self.attention_norm(x + self.attention(x, x, mask))
# +        x = self.cross_attention_norm(z + self.cross_attention(x, memory, memory_mask))


# %% wrong: the norms of two parts exchanged ->
# of: two branches
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# -            return x + self.feed_forward(self.feed_forward_norm(x))
# +            x = x + self.cross_attention(self.feed_forward_norm(x), memory, memory_mask)
# +            return x + self.feed_forward(self.cross_attention_norm(x))
#          x = self.attention_norm(x + self.attention(x, x, mask))
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# -        return self.feed_forward_norm(x + self.feed_forward(x))
# +        x = self.feed_forward_norm(x + self.cross_attention(x, memory, memory_mask))
# +        return self.cross_attention_norm(x + self.feed_forward(x))


# %% wrong: memory and x read as one text ->
# of: two branches
#      def forward(self, x, memory, mask=None, memory_mask=None):
# +        both = torch.cat([memory, x], dim=1)
# ...
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# +            x = x + self.cross_attention(self.cross_attention_norm(x), both)
# ...
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# +        x = self.cross_attention_norm(x + self.cross_attention(x, both))


# %% wrong: the memory's mean only ->
# of: two branches
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# +            x = x + self.cross_attention(self.cross_attention_norm(x), memory.mean(1, keepdim=True))
# ...
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# +        x = self.cross_attention_norm(x + self.cross_attention(x, memory.mean(1, keepdim=True)))


# %% wrong: pre-norm overwrites x -> pre-norm adds to the normalised x
# of: two branches
# -            y = self.attention_norm(x)
# -            x = x + self.attention(y, y, mask)
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# -            return x + self.feed_forward(self.feed_forward_norm(x))
# +            x = self.attention_norm(x)
# +            x = x + self.attention(x, x, mask)
# +            x = self.cross_attention_norm(x)
# +            x = x + self.cross_attention(x, memory, memory_mask)
# +            x = self.feed_forward_norm(x)
# +            return x + self.feed_forward(x)


# %% wrong: norm of the part alone -> post-norm takes the norm before the sum
# of: two branches
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# -        return self.feed_forward_norm(x + self.feed_forward(x))
# +        x = x + self.attention_norm(self.attention(x, x, mask))
# +        x = x + self.cross_attention_norm(self.cross_attention(x, memory, memory_mask))
# +        return x + self.feed_forward_norm(self.feed_forward(x))


# %% wrong: no residual around self-attention -> the residual around the self-attention is missing
# of: two branches
# -            x = x + self.attention(y, y, mask)
# +            x = self.attention(y, y, mask)
# ...
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# +        x = self.attention_norm(self.attention(x, x, mask))


# %% wrong: no residual around feed-forward -> the residual around the feed-forward part is missing
# of: two branches
# -            return x + self.feed_forward(self.feed_forward_norm(x))
# +            return self.feed_forward(self.feed_forward_norm(x))
# ...
# -        return self.feed_forward_norm(x + self.feed_forward(x))
# +        return self.feed_forward_norm(self.feed_forward(x))


# %% wrong: norm_first the wrong way round -> pre-norm and post-norm are exchanged
# of: two branches
# -        if self.norm_first:
# +        if not self.norm_first:


# %% wrong: the same mask twice -> the causal mask is used for the memory, too
# of: two branches
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# +            x = x + self.cross_attention(self.cross_attention_norm(x), memory, mask)
# ...
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# +        x = self.cross_attention_norm(x + self.cross_attention(x, memory, mask))


# %% wrong: the memory is detached ->
# of: two branches
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# +            x = x + self.cross_attention(self.cross_attention_norm(x), memory.detach(), memory_mask)
# ...
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# +        x = self.cross_attention_norm(x + self.cross_attention(x, memory.detach(), memory_mask))


# %% wrong: the causal mask for a memory without one ->
# of: two branches
#      def forward(self, x, memory, mask=None, memory_mask=None):
# +        if memory_mask is None and memory.size(1) == x.size(1):
# +            memory_mask = mask


# %% wrong: the memory's mask for x without one ->
# of: two branches
#      def forward(self, x, memory, mask=None, memory_mask=None):
# +        if mask is None and memory.size(1) == x.size(1):
# +            mask = memory_mask


# %% wrong: whatever is not 0 is padding ->
# of: two branches
#      def forward(self, x, memory, mask=None, memory_mask=None):
# +        if memory_mask is not None:
# +            memory_mask = torch.zeros_like(memory_mask).masked_fill(memory_mask != 0, -torch.inf)


# %% wrong: whatever is not 0 is the future ->
# of: two branches
#      def forward(self, x, memory, mask=None, memory_mask=None):
# +        if mask is not None:
# +            mask = torch.zeros_like(mask).masked_fill(mask != 0, -torch.inf)


# %% wrong: always causal ->
# of: two branches
#      def forward(self, x, memory, mask=None, memory_mask=None):
# +        n = x.size(1)
# +        mask = torch.full((n, n), -torch.inf).triu(1)


# %% wrong: attention_norm for both attentions -> the norm of the self-attention is used for the cross-attention, too
# of: two branches
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# +            x = x + self.cross_attention(self.attention_norm(x), memory, memory_mask)
# ...
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# +        x = self.attention_norm(x + self.cross_attention(x, memory, memory_mask))


# %% wrong: attention_norm everywhere -> one norm is used three times
# of: two branches
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# -            return x + self.feed_forward(self.feed_forward_norm(x))
# +            x = x + self.cross_attention(self.attention_norm(x), memory, memory_mask)
# +            return x + self.feed_forward(self.attention_norm(x))
#          x = self.attention_norm(x + self.attention(x, x, mask))
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# -        return self.feed_forward_norm(x + self.feed_forward(x))
# +        x = self.attention_norm(x + self.cross_attention(x, memory, memory_mask))
# +        return self.attention_norm(x + self.feed_forward(x))


# %% wrong: dropout ->
# of: two branches
#          self.feed_forward_norm = nn.LayerNorm(d_model)
# +        self.dropout = nn.Dropout(0.1)
# ...
# -            return x + self.feed_forward(self.feed_forward_norm(x))
# +            return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
# ...
# -        return self.feed_forward_norm(x + self.feed_forward(x))
# +        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))


# %% wrong: without gradients ->
# of: two branches
# +    @torch.no_grad()
#      def forward(self, x, memory, mask=None, memory_mask=None):


# %% wrong: pre-norm is the default ->
# of: two branches
# -    def __init__(self, d_model, n_heads, d_feedforward, norm_first=False):
# +    def __init__(self, d_model, n_heads, d_feedforward, norm_first=True):


# %% wrong: the masks must be given ->
# of: two branches
# -    def forward(self, x, memory, mask=None, memory_mask=None):
# +    def forward(self, x, memory, mask, memory_mask):


# %% wrong: the memory of the first call is kept ->
# of: two branches
#          self.feed_forward_norm = nn.LayerNorm(d_model)
# +        self.memory = None
#
#      def forward(self, x, memory, mask=None, memory_mask=None):
# +        if self.memory is None or self.memory.shape != memory.shape:
# +            self.memory = memory
# ...
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# +            x = x + self.cross_attention(self.cross_attention_norm(x), self.memory, memory_mask)
# ...
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# +        x = self.cross_attention_norm(x + self.cross_attention(x, self.memory, memory_mask))


# %% right: norms with an eps of their own
# of: two branches
# -        self.attention_norm = nn.LayerNorm(d_model)
# +        self.attention_norm = nn.LayerNorm(d_model, eps=1e-6)
#          self.cross_attention = MultiHeadAttention(d_model, n_heads)
# -        self.cross_attention_norm = nn.LayerNorm(d_model)
# +        self.cross_attention_norm = nn.LayerNorm(d_model, eps=1e-6)
#          self.feed_forward = FeedForward(d_model, d_feedforward)
# -        self.feed_forward_norm = nn.LayerNorm(d_model)
# +        self.feed_forward_norm = nn.LayerNorm(d_model, eps=1e-6)


# %% wrong: no more of the memory than x is long ->
class DecoderLayer(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, norm_first: bool = False) -> None:
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_feedforward)
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def forward(
        self, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
    ) -> Tensor:
        n = x.shape[1]
        memory = memory[:, :n]  # word i has the words 0 ... n - 1 of the source to read
        if memory_mask is not None:
            memory_mask = memory_mask[..., :n]
        if self.norm_first:
            normed = self.attention_norm(x)
            x = x + self.attention(normed, normed, mask)
            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: the residual is added in place ->
# of: two branches
# -            x = x + self.attention(y, y, mask)
# +            x += self.attention(y, y, mask)


# %% wrong: the first residual is used for the second part, too -> what the memory gives is added to the x that came in
# of: two branches
#          if self.norm_first:
# -            y = self.attention_norm(x)
# -            x = x + self.attention(y, y, mask)
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# +            residual = x
# +            y = self.attention_norm(x)
# +            x = residual + self.attention(y, y, mask)
# +            x = residual + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
#              return x + self.feed_forward(self.feed_forward_norm(x))
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# +        residual = x
# +        x = self.attention_norm(residual + self.attention(x, x, mask))
# +        x = self.cross_attention_norm(residual + self.cross_attention(x, memory, memory_mask))
