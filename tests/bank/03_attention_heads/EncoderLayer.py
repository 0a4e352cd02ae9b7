# %% right: two branches
class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_feedforward)
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        if self.norm_first:
            y = self.attention_norm(x)
            x = x + self.attention(y, y, mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% right: the spare attention and a loop over the parts
class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = SpareAttention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_feedforward)
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        parts = [
            (lambda y: self.attention(y, y, mask), self.attention_norm),
            (self.feed_forward, self.feed_forward_norm),
        ]
        for part, norm in parts:
            x = x + part(norm(x)) if self.norm_first else norm(x + part(x))
        return x


# %% right: norms with another small eps
# of: two branches
# -        self.attention_norm = nn.LayerNorm(d_model)
# +        self.attention_norm = nn.LayerNorm(d_model, eps=1e-6)
# ...
# -        self.feed_forward_norm = nn.LayerNorm(d_model)
# +        self.feed_forward_norm = nn.LayerNorm(d_model, eps=1e-6)


# %% wrong: a subclass of the layer in helpers -> a ready-made part in place of an answer
class EncoderLayer(Layer):
    def __init__(self, d_model, n_heads, d_feedforward, norm_first=False):
        super().__init__(d_model, n_heads, d_feedforward, 0.0, norm_first, False)

    def forward(self, x, mask=None):
        return super().forward(x, Context(mask=mask))


# %% right: identities in place of the norm that is not there
class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_feedforward)
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        before, after = (0, 1) if self.norm_first else (1, 0)
        same = nn.Identity()
        norms = [self.attention_norm, same]
        y = norms[before](x)
        x = norms[after](x + self.attention(y, y, mask))
        norms = [self.feed_forward_norm, same]
        return norms[after](x + self.feed_forward(norms[before](x)))


# %% wrong: both replaced -> the residuals are missing
# of: two branches
# -            x = x + self.attention(y, y, mask)
# -            return x + self.feed_forward(self.feed_forward_norm(x))
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# -        return self.feed_forward_norm(x + self.feed_forward(x))
# +            x = self.attention(y, y, mask)
# +            return self.feed_forward(self.feed_forward_norm(x))
# +        x = self.attention_norm(self.attention(x, x, mask))
# +        return self.feed_forward_norm(self.feed_forward(x))


# %% wrong: attention replaces -> the residual around the attention is missing
# of: two branches
# -            x = x + self.attention(y, y, mask)
# +            x = self.attention(y, y, mask)
#              return x + self.feed_forward(self.feed_forward_norm(x))
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# +        x = self.attention_norm(self.attention(x, x, mask))


# %% wrong: feed-forward replaces -> the residual around the feed-forward part is missing
# of: two branches
# -            return x + self.feed_forward(self.feed_forward_norm(x))
# +            return self.feed_forward(self.feed_forward_norm(x))
#          x = self.attention_norm(x + self.attention(x, x, mask))
# -        return self.feed_forward_norm(x + self.feed_forward(x))
# +        return self.feed_forward_norm(self.feed_forward(x))


# %% wrong: as in 2017 only -> always post-norm
# of: two branches
# -        if self.norm_first:
# -            y = self.attention_norm(x)
# -            x = x + self.attention(y, y, mask)
# -            return x + self.feed_forward(self.feed_forward_norm(x))


# %% wrong: as in GPT-2 only -> always pre-norm
class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_feedforward)
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        y = self.attention_norm(x)
        x = x + self.attention(y, y, mask)
        return x + self.feed_forward(self.feed_forward_norm(x))


# %% wrong: the wrong way round -> pre-norm and post-norm are exchanged
# of: two branches
# -        if self.norm_first:
# +        if not self.norm_first:


# %% wrong: norm inside the sum -> post-norm takes the norm before the sum
# of: two branches
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# -        return self.feed_forward_norm(x + self.feed_forward(x))
# +        x = x + self.attention_norm(self.attention(x, x, mask))
# +        return x + self.feed_forward_norm(self.feed_forward(x))


# %% wrong: x overwritten -> pre-norm adds to the normalised x
# of: two branches
# -            y = self.attention_norm(x)
# -            x = x + self.attention(y, y, mask)
# -            return x + self.feed_forward(self.feed_forward_norm(x))
# +            x = self.attention_norm(x)
# +            x = x + self.attention(x, x, mask)
# +            x = self.feed_forward_norm(x)
# +            return x + self.feed_forward(x)


# %% wrong: the source is not normalised -> in pre-norm only the queries are normalised
# of: two branches
# -            y = self.attention_norm(x)
# -            x = x + self.attention(y, y, mask)
# +            x = x + self.attention(self.attention_norm(x), x, mask)


# %% wrong: made but not used -> the norms are missing
# of: as in GPT-2 only
# -        y = self.attention_norm(x)
# -        x = x + self.attention(y, y, mask)
# -        return x + self.feed_forward(self.feed_forward_norm(x))
# +        x = x + self.attention(x, x, mask)
# +        return x + self.feed_forward(x)


# %% wrong: attention_norm in both places -> one norm is used twice
# of: two branches
# -            return x + self.feed_forward(self.feed_forward_norm(x))
# +            return x + self.feed_forward(self.attention_norm(x))
#          x = self.attention_norm(x + self.attention(x, x, mask))
# -        return self.feed_forward_norm(x + self.feed_forward(x))
# +        return self.attention_norm(x + self.feed_forward(x))


# %% wrong: attention only -> the feed-forward part is missing
# of: two branches
# -            x = x + self.attention(y, y, mask)
# -            return x + self.feed_forward(self.feed_forward_norm(x))
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# -        return self.feed_forward_norm(x + self.feed_forward(x))
# +            return x + self.attention(y, y, mask)
# +        return self.attention_norm(x + self.attention(x, x, mask))


# %% wrong: thinks before it reads -> the feed-forward part comes first
class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_feedforward)
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        if self.norm_first:
            x = x + self.feed_forward(self.feed_forward_norm(x))
            y = self.attention_norm(x)
            return x + self.attention(y, y, mask)
        x = self.feed_forward_norm(x + self.feed_forward(x))
        return self.attention_norm(x + self.attention(x, x, mask))


# %% wrong: mask not handed on -> the mask is not used
# of: two branches
# -            x = x + self.attention(y, y, mask)
# +            x = x + self.attention(y, y)
#              return x + self.feed_forward(self.feed_forward_norm(x))
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# +        x = self.attention_norm(x + self.attention(x, x))


# %% wrong: both parts read the same x ->
# of: two branches
# -            x = x + self.attention(y, y, mask)
# -            return x + self.feed_forward(self.feed_forward_norm(x))
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# -        return self.feed_forward_norm(x + self.feed_forward(x))
# +            return x + self.attention(y, y, mask) + self.feed_forward(self.feed_forward_norm(x))
# +        y = self.attention_norm(x + self.attention(x, x, mask))
# +        return self.feed_forward_norm(y + self.feed_forward(x))


# %% wrong: the second residual comes from the bottom ->
# of: two branches
# -            x = x + self.attention(y, y, mask)
# -            return x + self.feed_forward(self.feed_forward_norm(x))
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# -        return self.feed_forward_norm(x + self.feed_forward(x))
# +            z = x + self.attention(y, y, mask)
# +            return x + self.feed_forward(self.feed_forward_norm(z))
# +        z = self.attention_norm(x + self.attention(x, x, mask))
# +        return self.feed_forward_norm(x + self.feed_forward(z))


# %% wrong: pre-norm without a mask ->
# of: two branches
# -            x = x + self.attention(y, y, mask)
# +            x = x + self.attention(y, y)


# %% wrong: its own causal mask in place of the given one ->
# of: two branches
#      def forward(self, x, mask=None):
# +        if mask is not None:
# +            mask = torch.full((x.size(1), x.size(1)), -torch.inf).triu(1)


# %% wrong: norms exchanged -> the two norms are exchanged
class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_feedforward)
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        if self.norm_first:
            y = self.feed_forward_norm(x)
            x = x + self.attention(y, y, mask)
            return x + self.feed_forward(self.attention_norm(x))
        x = self.feed_forward_norm(x + self.attention(x, x, mask))
        return self.attention_norm(x + self.feed_forward(x))


# %% wrong: dropout as in the paper ->
# of: two branches
#          self.feed_forward_norm = nn.LayerNorm(d_model)
# +        self.dropout = nn.Dropout(0.1)
# ...
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# -        return self.feed_forward_norm(x + self.feed_forward(x))
# +        x = self.attention_norm(x + self.dropout(self.attention(x, x, mask)))
# +        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))


# %% wrong: without gradients ->
# of: two branches
# +    @torch.no_grad()
#      def forward(self, x, mask=None):


# %% wrong: pre-norm is the default ->
# of: two branches
# -    def __init__(self, d_model, n_heads, d_feedforward, norm_first=False):
# +    def __init__(self, d_model, n_heads, d_feedforward, norm_first=True):


# %% wrong: norm_first must be given ->
# of: two branches
# -    def __init__(self, d_model, n_heads, d_feedforward, norm_first=False):
# +    def __init__(self, d_model, n_heads, d_feedforward, norm_first):


# %% wrong: the mask must be given ->
# of: two branches
# -    def forward(self, x, mask=None):
# +    def forward(self, x, mask):


# %% wrong: whatever is not 0 is blocked ->
# of: two branches
#      def forward(self, x, mask=None):
# +        if mask is not None:
# +            mask = torch.zeros_like(mask).masked_fill(mask != 0, -torch.inf)


# %% wrong: the residual is added in place ->
# of: two branches
# -            x = x + self.attention(y, y, mask)
# +            x += self.attention(y, y, mask)


# %% wrong: one norm for both parts ->
# of: two branches
# -        self.feed_forward_norm = nn.LayerNorm(d_model)
# +        self.feed_forward_norm = self.attention_norm


# %% wrong: the detached residual ->
# of: two branches
# -            return x + self.feed_forward(self.feed_forward_norm(x))
# +            return x.detach() + self.feed_forward(self.feed_forward_norm(x))
#          x = self.attention_norm(x + self.attention(x, x, mask))
# -        return self.feed_forward_norm(x + self.feed_forward(x))
# +        return self.feed_forward_norm(x.detach() + self.feed_forward(x))


# %% wrong: no norm for a single token ->
# of: two branches
#      def forward(self, x, mask=None):
# +        if x.size(1) == 1:
# +            return self.feed_forward_norm(x)


# %% right: norms with an eps of their own
# of: two branches
# -        self.attention_norm = nn.LayerNorm(d_model)
# +        self.attention_norm = nn.LayerNorm(d_model, eps=1e-6)
#          self.feed_forward = FeedForward(d_model, d_feedforward)
# -        self.feed_forward_norm = nn.LayerNorm(d_model)
# +        self.feed_forward_norm = nn.LayerNorm(d_model, eps=1e-6)


# %% wrong: norm_first is kept on the class ->
class EncoderLayer(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, norm_first: bool = False) -> None:
        super().__init__()
        EncoderLayer.norm_first = norm_first
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_feedforward)
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if self.norm_first:
            normed = self.attention_norm(x)
            x = x + self.attention(normed, normed, mask)
            return x + self.feed_forward(self.feed_forward_norm(x))
        x = self.attention_norm(x + self.attention(x, x, mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: norms with a large eps ->
# of: two branches
# -        self.attention_norm = nn.LayerNorm(d_model)
# +        self.attention_norm = nn.LayerNorm(d_model, eps=1e-3)
# ...
# -        self.feed_forward_norm = nn.LayerNorm(d_model)
# +        self.feed_forward_norm = nn.LayerNorm(d_model, eps=1e-3)


# %% wrong: the first layer of a whole base of helpers -> a ready-made part in place of an answer
from helpers.models import TransformerBase


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_feedforward, norm_first=False):
        super().__init__()
        options = {"d_feedforward": d_feedforward, "dropout": 0.0, "norm_first": norm_first}
        made = TransformerBase(2, d_model, 1, n_heads, **options).layers[0]
        self.attention, self.attention_norm = made.attention, made.attention_norm
        self.feed_forward, self.feed_forward_norm = made.feed_forward, made.feed_forward_norm
        self.made = [made]

    def forward(self, x, mask=None):
        return self.made[0](x, Context(mask=mask))


# %% wrong: the first layer of a whole base of helpers, as it comes -> a ready-made part in place of an answer
def EncoderLayer(d_model, n_heads, d_feedforward, norm_first=False):
    import helpers.models as models

    return models.TransformerBase(
        2, d_model, 1, n_heads, d_feedforward=d_feedforward, dropout=0.0, norm_first=norm_first
    ).layers[0]
