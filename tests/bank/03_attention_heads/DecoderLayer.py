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


# %% right: a subclass of the layer in helpers
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
            x = x + self.cross_attention(memory, self.cross_attention_norm(x))
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(memory, x))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: reads itself twice -> cross-attention reads x in place of the memory
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
            y = self.cross_attention_norm(x)
            x = x + self.cross_attention(y, y)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, x))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: as an encoder -> there is no cross-attention
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
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: one attention for both -> self-attention is used for the memory, too
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
            x = x + self.attention(self.cross_attention_norm(x), memory, memory_mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: memory first -> cross-attention comes first
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
            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
            y = self.attention_norm(x)
            x = x + self.attention(y, y, mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
        x = self.attention_norm(x + self.attention(x, x, mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


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
            x = self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: as in 2017 only -> always post-norm
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
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


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
            x = x + self.cross_attention(self.cross_attention_norm(x), self.cross_attention_norm(memory), memory_mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: sees the future -> self-attention without the causal mask
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
            x = x + self.attention(y, y)
            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: padding is read -> the mask is dropped in the second attention
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
            x = x + self.cross_attention(self.cross_attention_norm(x), memory)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: memory_mask for x -> the two masks are exchanged
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
            x = x + self.attention(y, y, memory_mask)
            x = x + self.cross_attention(self.cross_attention_norm(x), memory, mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, memory_mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: no masks at all -> self-attention without the causal mask
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
            x = x + self.attention(y, y)
            x = x + self.cross_attention(self.cross_attention_norm(x), memory)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: asks with the words from below ->
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
            z = x + self.attention(y, y, mask)
            x = z + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        z = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(z + self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: the norms of two parts exchanged ->
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
            x = x + self.cross_attention(self.feed_forward_norm(x), memory, memory_mask)
            return x + self.feed_forward(self.cross_attention_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.feed_forward_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.cross_attention_norm(x + self.feed_forward(x))


# %% wrong: memory and x read as one text ->
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
        both = torch.cat([memory, x], dim=1)
        if self.norm_first:
            y = self.attention_norm(x)
            x = x + self.attention(y, y, mask)
            x = x + self.cross_attention(self.cross_attention_norm(x), both)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, both))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: the memory's mean only ->
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
            x = x + self.cross_attention(self.cross_attention_norm(x), memory.mean(1, keepdim=True))
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory.mean(1, keepdim=True)))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: pre-norm overwrites x -> pre-norm adds to the normalised x
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
            x = self.attention_norm(x)
            x = x + self.attention(x, x, mask)
            x = self.cross_attention_norm(x)
            x = x + self.cross_attention(x, memory, memory_mask)
            x = self.feed_forward_norm(x)
            return x + self.feed_forward(x)
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: norm of the part alone -> post-norm takes the norm before the sum
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
        x = x + self.attention_norm(self.attention(x, x, mask))
        x = x + self.cross_attention_norm(self.cross_attention(x, memory, memory_mask))
        return x + self.feed_forward_norm(self.feed_forward(x))


# %% wrong: no residual around self-attention -> the residual around the self-attention is missing
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
            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: no residual around feed-forward -> the residual around the feed-forward part is missing
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
            return self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(self.feed_forward(x))


# %% wrong: norm_first the wrong way round -> pre-norm and post-norm are exchanged
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
        if not self.norm_first:
            y = self.attention_norm(x)
            x = x + self.attention(y, y, mask)
            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: the same mask twice -> the causal mask is used for the memory, too
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
            x = x + self.cross_attention(self.cross_attention_norm(x), memory, mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: the memory is detached ->
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
            x = x + self.cross_attention(self.cross_attention_norm(x), memory.detach(), memory_mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory.detach(), memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: the causal mask for a memory without one ->
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
        if memory_mask is None and memory.size(1) == x.size(1):
            memory_mask = mask
        if self.norm_first:
            y = self.attention_norm(x)
            x = x + self.attention(y, y, mask)
            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: the memory's mask for x without one ->
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
        if mask is None and memory.size(1) == x.size(1):
            mask = memory_mask
        if self.norm_first:
            y = self.attention_norm(x)
            x = x + self.attention(y, y, mask)
            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: whatever is not 0 is padding ->
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
        if memory_mask is not None:
            memory_mask = torch.zeros_like(memory_mask).masked_fill(memory_mask != 0, -torch.inf)
        if self.norm_first:
            y = self.attention_norm(x)
            x = x + self.attention(y, y, mask)
            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: whatever is not 0 is the future ->
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
        if mask is not None:
            mask = torch.zeros_like(mask).masked_fill(mask != 0, -torch.inf)
        if self.norm_first:
            y = self.attention_norm(x)
            x = x + self.attention(y, y, mask)
            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: always causal ->
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
        n = x.size(1)
        mask = torch.full((n, n), -torch.inf).triu(1)
        if self.norm_first:
            y = self.attention_norm(x)
            x = x + self.attention(y, y, mask)
            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: attention_norm for both attentions -> the norm of the self-attention is used for the cross-attention, too
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
            x = x + self.cross_attention(self.attention_norm(x), memory, memory_mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.attention_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: attention_norm everywhere -> one norm is used three times
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
            x = x + self.cross_attention(self.attention_norm(x), memory, memory_mask)
            return x + self.feed_forward(self.attention_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.attention_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.attention_norm(x + self.feed_forward(x))


# %% wrong: dropout ->
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
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, memory, mask=None, memory_mask=None):
        if self.norm_first:
            y = self.attention_norm(x)
            x = x + self.attention(y, y, mask)
            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
            return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))


# %% wrong: without gradients ->
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

    @torch.no_grad()
    def forward(self, x, memory, mask=None, memory_mask=None):
        if self.norm_first:
            y = self.attention_norm(x)
            x = x + self.attention(y, y, mask)
            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: pre-norm is the default ->
class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, norm_first=True):
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


# %% wrong: the masks must be given ->
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

    def forward(self, x, memory, mask, memory_mask):
        if self.norm_first:
            y = self.attention_norm(x)
            x = x + self.attention(y, y, mask)
            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: the memory of the first call is kept ->
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
        self.memory = None

    def forward(self, x, memory, mask=None, memory_mask=None):
        if self.memory is None or self.memory.shape != memory.shape:
            self.memory = memory
        if self.norm_first:
            y = self.attention_norm(x)
            x = x + self.attention(y, y, mask)
            x = x + self.cross_attention(self.cross_attention_norm(x), self.memory, memory_mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, self.memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% right: norms with an eps of their own
class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model, eps=1e-6)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention_norm = nn.LayerNorm(d_model, eps=1e-6)
        self.feed_forward = FeedForward(d_model, d_feedforward)
        self.feed_forward_norm = nn.LayerNorm(d_model, eps=1e-6)

    def forward(self, x, memory, mask=None, memory_mask=None):
        if self.norm_first:
            y = self.attention_norm(x)
            x = x + self.attention(y, y, mask)
            x = x + self.cross_attention(self.cross_attention_norm(x), memory, memory_mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        x = self.cross_attention_norm(x + self.cross_attention(x, memory, memory_mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


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
