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


# %% right: an encoder layer with a part in the middle
# other: It inherits what an encoder layer has, and writes the choice of the norm only once; the solution stands in one place, and no change of EncoderLayer can break it.
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


# %% right: norms with an eps of their own
# ~ .attention_norm = nn.LayerNorm(d_model) => .attention_norm = nn.LayerNorm(d_model, eps=1e-6)
# ~ cross_attention_norm = nn.LayerNorm(d_model) => cross_attention_norm = nn.LayerNorm(d_model, eps=1e-6)
# ~ (d_model) => (d_model, eps=1e-6)

# %% wrong: the memory asks -> memory and queries are swapped
# hint: The decoder asks: queries come from x. The encoder's memory answers: keys and values come from it.
# ~ self.cross_attention_norm(x), memory, memory_mask => memory, self.cross_attention_norm(x)
# ~ x, memory, memory_mask => memory, x

# %% wrong: reads itself twice -> cross-attention reads x in place of the memory
# hint: The memory has no effect: nothing of the source sentence can reach the translation. Its keys and values come
# hint: from the memory.
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# +            y = self.cross_attention_norm(x)
# +            x = x + self.cross_attention(y, y)
# ...
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# +        x = self.cross_attention_norm(x + self.cross_attention(x, x))

# %% wrong: as an encoder -> there is no cross-attention
# hint: This is an encoder layer. Between self-attention and feed-forward, x must read the memory.
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# ...
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))

# %% wrong: one attention for both -> self-attention is used for the memory, too
# hint: cross_attention has weights of its own: self.cross_attention(x, memory, memory_mask).
# ~ cross_attention(self => attention(self
# ~ cross_attention(x, memory, memory_mask) => attention(x, memory, memory_mask)

# %% wrong: memory first -> cross-attention comes first
# hint: First x reads itself, then the memory, then comes the feed-forward part.
# of: as an encoder
#          if self.norm_first:
# +            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# ...
#              return x + self.feed_forward(self.feed_forward_norm(x))
# +        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))

# %% wrong: nothing is added -> the residuals are missing
# hint: The token is replaced by what each part makes of it. It must be added to: x + part(x).
# -            x = x + self.attention(y, y, mask)
# -            return x + self.feed_forward(self.feed_forward_norm(x))
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# -        return self.feed_forward_norm(x + self.feed_forward(x))
# +            x = self.attention(y, y, mask)
# +            x = self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# +            return self.feed_forward(self.feed_forward_norm(x))
# +        x = self.attention_norm(self.attention(x, x, mask))
# +        x = self.cross_attention_norm(self.cross_attention(x, memory, memory_mask))
# +        return self.feed_forward_norm(self.feed_forward(x))

# %% wrong: only the memory is kept -> the residual around the cross-attention is missing
# hint: Here the decoder forgets its own words and keeps only what it found in the memory: x + cross_attention(...).
# of: two branches
# ~ x + self.cross_attention(self => self.cross_attention(self
# ~ x + self.cross_attention => self.cross_attention

# %% wrong: no residual around self-attention -> the residual around the self-attention is missing
# hint: The other two parts have one; self-attention needs one too: x + attention(...).
# ~ x + self.attention(y, y, mask) => self.attention(y, y, mask)
# ~ x + self.attention => self.attention

# %% wrong: no residual around feed-forward -> the residual around the feed-forward part is missing
# hint: The two attentions have one; the feed-forward part needs one too: x + feed_forward(...).
# ~ x + self.feed_forward(self.feed_forward_norm(x)) => self.feed_forward(self.feed_forward_norm(x))
# ~ x + self.feed_forward => self.feed_forward

# %% wrong: the first residual is used for the second part, too -> what the memory gives is added to the x that came in
# hint: Add it to what self-attention has left, not to the x that came in: a residual that is kept in a variable must be
# hint: set anew before each part.
#          if self.norm_first:
# +            residual = x
# ...
# -            x = x + self.attention(y, y, mask)
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# +            x = residual + self.attention(y, y, mask)
# +            x = residual + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# ...
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# +        residual = x
# +        x = self.attention_norm(residual + self.attention(x, x, mask))
# +        x = self.cross_attention_norm(residual + self.cross_attention(x, memory, memory_mask))

# %% wrong: norm_first the wrong way round -> pre-norm and post-norm are exchanged
# hint: norm_first=True means norm, then part: x + part(norm(x)). False, the default, means norm(x + part(x)).
# ~ self.norm_first: => not self.norm_first:

# %% wrong: norm of the part alone -> post-norm takes the norm before the sum
# hint: x + norm(part(x)) never normalises x itself. Post-norm takes the norm of the sum: norm(x + part(x)).
# ~ self.attention_norm(x + self.attention(x, x, mask)) => x + self.attention_norm(self.attention(x, x, mask))
# ~ self.cross_attention_norm(x + self => x + self.cross_attention_norm(self
# ~ self.feed_forward_norm(x + self.feed_forward(x)) => x + self.feed_forward_norm(self.feed_forward(x))

# %% wrong: pre-norm overwrites x -> pre-norm adds to the normalised x
# hint: The residual path must stay free: x + part(norm(x)). `x = norm(x)` overwrites the x that you add to.
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

# %% wrong: as in 2017 only -> always post-norm
# hint: norm_first is not looked at. When it is True, the norm stands before the part: x + part(norm(x)).
# -        if self.norm_first:
# -            y = self.attention_norm(x)
# -            x = x + self.attention(y, y, mask)
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# -            return x + self.feed_forward(self.feed_forward_norm(x))

# %% wrong: as in GPT-2 only -> always pre-norm
# hint: This is pre-norm, x + part(norm(x)), also when norm_first is False: then it is norm(x + part(x)).
# of: as in 2017 only
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# -        return self.feed_forward_norm(x + self.feed_forward(x))
# +        y = self.attention_norm(x)
# +        x = x + self.attention(y, y, mask)
# +        x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# +        return x + self.feed_forward(self.feed_forward_norm(x))

# %% wrong: norm on both -> the memory is normalised again
# hint: In pre-norm, norm x before the cross-attention, but not the memory: the encoder has already normalised it.
# of: two branches
# ~ ), memory, memory_mask) => ), self.cross_attention_norm(memory), memory_mask)

# %% wrong: attention_norm for both attentions -> the norm of the self-attention is used for the cross-attention, too
# hint: cross_attention_norm has weights of its own: each part has its norm.
# ~ cross_attention_norm(x) => attention_norm(x)
# ~ cross_attention_norm( => attention_norm(

# %% wrong: attention_norm everywhere -> one norm is used three times
# hint: Each of the three parts has a norm with weights of its own: use each at its place.
# of: attention_norm for both attentions
# ~ feed_forward_norm(x) => attention_norm(x)
# ~ feed_forward_norm(x + self.feed_forward(x)) => attention_norm(x + self.feed_forward(x))

# %% wrong: sees the future -> self-attention without the causal mask
# hint: While training, the words to come stand in x: without the mask each position reads its own answer.
# of: two branches
# ~ (y, y, mask) => (y, y)
# ~ (x, x, mask) => (x, x)

# %% wrong: the same mask twice -> the causal mask is used for the memory, too
# hint: `mask` says what x may see of itself. The source sentence is known as a whole: cross-attention gets memory_mask.
# ~ (self.cross_attention_norm(x), memory, memory_mask) => (self.cross_attention_norm(x), memory, mask)
# ~ (x, memory, memory_mask) => (x, memory, mask)

# %% wrong: padding is read -> the mask is dropped in the second attention
# hint: memory_mask never reaches the cross-attention, so that x reads the padding of the source.
# ~ (self.cross_attention_norm(x), memory, memory_mask) => (self.cross_attention_norm(x), memory)
# ~ (x, memory, memory_mask) => (x, memory)

# %% wrong: memory_mask for x -> the two masks are exchanged
# hint: `mask` says what x may see of itself, `memory_mask` what it may see of the memory.
# of: the same mask twice
# ~ (y, y, mask) => (y, y, memory_mask)
# ~ (x + self.attention(x, x, mask)) => (x + self.attention(x, x, memory_mask))


# %% wrong: a subclass of the layer in helpers -> a ready-made part in place of an answer
class DecoderLayer(Layer):
    def __init__(self, d_model, n_heads, d_feedforward, norm_first=False):
        super().__init__(d_model, n_heads, d_feedforward, 0.0, norm_first, True)

    def forward(self, x, memory, mask=None, memory_mask=None):
        return super().forward(x, Context(mask=mask, memory=memory, memory_mask=memory_mask))


# %% wrong: the memory is detached ->
# of: two branches
# ~ (self.cross_attention_norm(x), memory, memory_mask) => (self.cross_attention_norm(x), memory.detach(), memory_mask)
# ~ memory, memory_mask => memory.detach(), memory_mask

# %% wrong: the causal mask for a memory without one ->
#      def forward(self, x, memory, mask=None, memory_mask=None):
# +        if memory_mask is None and memory.size(1) == x.size(1):
# +            memory_mask = mask

# %% wrong: the memory's mask for x without one ->
#      def forward(self, x, memory, mask=None, memory_mask=None):
# +        if mask is None and memory.size(1) == x.size(1):
# +            mask = memory_mask

# %% wrong: whatever is not 0 is the future ->
#      def forward(self, x, memory, mask=None, memory_mask=None):
# +        if mask is not None:
# +            mask = torch.zeros_like(mask).masked_fill(mask != 0, -torch.inf)

# %% wrong: always causal ->
#      def forward(self, x, memory, mask=None, memory_mask=None):
# +        n = x.size(1)
# +        mask = torch.full((n, n), -torch.inf).triu(1)

# %% wrong: dropout ->
#          self.feed_forward_norm = nn.LayerNorm(d_model)
# +        self.dropout = nn.Dropout(0.1)
# ...
# -            return x + self.feed_forward(self.feed_forward_norm(x))
# +            return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
# ...
# -        return self.feed_forward_norm(x + self.feed_forward(x))
# +        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))

# %% wrong: pre-norm is the default ->
# ~ False => True

# %% wrong: the masks must be given ->
# ~ =None, memory_mask=None => , memory_mask

# %% wrong: the memory of the first call is kept ->
#          self.feed_forward_norm = nn.LayerNorm(d_model)
# +        self.memory = None
# ...
#      def forward(self, x, memory, mask=None, memory_mask=None):
# +        if self.memory is None or self.memory.shape != memory.shape:
# +            self.memory = memory
# ...
# -            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
# +            x = x + self.cross_attention(self.cross_attention_norm(x), self.memory, memory_mask)
# ...
# -        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
# +        x = self.cross_attention_norm(x + self.cross_attention(x, self.memory, memory_mask))

# %% wrong: no more of the memory than x is long ->
# -    def __init__(self, d_model, n_heads, d_feedforward, norm_first=False):
# +    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, norm_first: bool = False) -> None:
# ...
# -    def forward(self, x, memory, mask=None, memory_mask=None):
# +    def forward(
# +        self, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None
# +    ) -> Tensor:
# +        n = x.shape[1]
# +        memory = memory[:, :n]  # word i has the words 0 ... n - 1 of the source to read
# +        if memory_mask is not None:
# +            memory_mask = memory_mask[..., :n]
# ...
# -            y = self.attention_norm(x)
# -            x = x + self.attention(y, y, mask)
# +            normed = self.attention_norm(x)
# +            x = x + self.attention(normed, normed, mask)

# %% wrong: the residual is added in place ->
# ~ = x + self.attention => += self.attention
