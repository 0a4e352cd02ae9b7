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
# other: Pre-norm and post-norm differ in one line, the same for both parts; each branch of the solution reads from top to bottom, and needs no lambda.
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
# ~ attention_norm = nn.LayerNorm(d_model) => attention_norm = nn.LayerNorm(d_model, eps=1e-6)
# ~ (d_model) => (d_model, eps=1e-6)


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


# %% right: norms with an eps of their own
# ~ attention_norm = nn.LayerNorm(d_model) => attention_norm = nn.LayerNorm(d_model, eps=1e-6)
# ~ (d_model) => (d_model, eps=1e-6)

# %% wrong: both replaced -> the residuals are missing
# hint: The token is replaced by what the part makes of it. It must be added to: x + part(x).
# -            x = x + self.attention(y, y, mask)
# -            return x + self.feed_forward(self.feed_forward_norm(x))
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# -        return self.feed_forward_norm(x + self.feed_forward(x))
# +            x = self.attention(y, y, mask)
# +            return self.feed_forward(self.feed_forward_norm(x))
# +        x = self.attention_norm(self.attention(x, x, mask))
# +        return self.feed_forward_norm(self.feed_forward(x))

# %% wrong: attention replaces -> the residual around the attention is missing
# hint: There is one around the feed-forward part; the attention needs one too: x + attention(x).
# ~ x + self.attention(y, y, mask) => self.attention(y, y, mask)
# ~ x + self.attention => self.attention

# %% wrong: feed-forward replaces -> the residual around the feed-forward part is missing
# hint: There is one around the attention; the feed-forward part needs one too: x + feed_forward(x).
# ~ x + self.feed_forward(self.feed_forward_norm(x)) => self.feed_forward(self.feed_forward_norm(x))
# ~ x + self.feed_forward => self.feed_forward

# %% wrong: as in 2017 only -> always post-norm
# hint: norm_first is not looked at. When it is True, the norm stands before the part: x + part(norm(x)).
# -        if self.norm_first:
# -            y = self.attention_norm(x)
# -            x = x + self.attention(y, y, mask)
# -            return x + self.feed_forward(self.feed_forward_norm(x))

# %% wrong: as in GPT-2 only -> always pre-norm
# hint: This is pre-norm, x + part(norm(x)), also when norm_first is False: then it is norm(x + part(x)).
# of: as in 2017 only
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# -        return self.feed_forward_norm(x + self.feed_forward(x))
# +        y = self.attention_norm(x)
# +        x = x + self.attention(y, y, mask)
# +        return x + self.feed_forward(self.feed_forward_norm(x))

# %% wrong: the wrong way round -> pre-norm and post-norm are exchanged
# hint: norm_first=True means norm, then part: x + part(norm(x)). False, the default, means norm(x + part(x)).
# of: two branches
# ~ self.norm_first: => not self.norm_first:

# %% wrong: norm inside the sum -> post-norm takes the norm before the sum
# hint: x + norm(part(x)) never normalises x itself. Post-norm takes the norm of the sum: norm(x + part(x)).
# ~ self.attention_norm(x + self.attention(x, x, mask)) => x + self.attention_norm(self.attention(x, x, mask))
# ~ self.feed_forward_norm(x + self.feed_forward(x)) => x + self.feed_forward_norm(self.feed_forward(x))

# %% wrong: x overwritten -> pre-norm adds to the normalised x
# hint: The residual path must stay free: x + part(norm(x)). `x = norm(x)` overwrites the x that you add to.
# -            y = self.attention_norm(x)
# -            x = x + self.attention(y, y, mask)
# -            return x + self.feed_forward(self.feed_forward_norm(x))
# +            x = self.attention_norm(x)
# +            x = x + self.attention(x, x, mask)
# +            x = self.feed_forward_norm(x)
# +            return x + self.feed_forward(x)

# %% wrong: the source is not normalised -> in pre-norm only the queries are normalised
# hint: In self-attention, queries, keys and values come from the same tensor, and that is norm(x).
# -            y = self.attention_norm(x)
# -            x = x + self.attention(y, y, mask)
# +            x = x + self.attention(self.attention_norm(x), x, mask)

# %% wrong: made but not used -> the norms are missing
# hint: Nothing keeps the numbers at one size here. Each of the two parts has a norm.
# of: as in 2017 only
# ~ self.attention_norm(x + self.attention(x, x, mask)) => x + self.attention(x, x, mask)
# ~ self.feed_forward_norm(x + self.feed_forward(x)) => x + self.feed_forward(x)

# %% wrong: attention_norm in both places -> one norm is used twice
# hint: attention_norm and feed_forward_norm have weights of their own: use each at its place.
# of: two branches
# ~ feed_forward_norm(x) => attention_norm(x)
# ~ feed_forward_norm(x + self.feed_forward(x)) => attention_norm(x + self.feed_forward(x))

# %% wrong: norms exchanged -> the two norms are exchanged
# hint: attention_norm belongs to the attention, feed_forward_norm to the feed-forward part. Each has weights of its
# hint: own.
# of: attention_norm in both places
# ~ = self.attention_norm(x) => = self.feed_forward_norm(x)
# ~ self.attention_norm(x + self.attention(x, x, mask)) => self.feed_forward_norm(x + self.attention(x, x, mask))

# %% wrong: attention only -> the feed-forward part is missing
# hint: After the attention and its norm comes the feed-forward part, with its own residual and norm.
# of: two branches
# -            x = x + self.attention(y, y, mask)
# -            return x + self.feed_forward(self.feed_forward_norm(x))
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# -        return self.feed_forward_norm(x + self.feed_forward(x))
# +            return x + self.attention(y, y, mask)
# +        return self.attention_norm(x + self.attention(x, x, mask))

# %% wrong: thinks before it reads -> the feed-forward part comes first
# hint: First the tokens read each other (attention), then each token thinks for itself (feed-forward).
# of: attention only
#          if self.norm_first:
# +            x = x + self.feed_forward(self.feed_forward_norm(x))
# ...
#              return x + self.attention(y, y, mask)
# +        x = self.feed_forward_norm(x + self.feed_forward(x))

# %% wrong: mask not handed on -> the mask is not used
# hint: The layer takes a mask and must hand it on: self.attention(x, x, mask).
# of: two branches
# ~ (y, y, mask) => (y, y)
# ~ (x, x, mask) => (x, x)


# %% wrong: a subclass of the layer in helpers -> a ready-made part in place of an answer
class EncoderLayer(Layer):
    def __init__(self, d_model, n_heads, d_feedforward, norm_first=False):
        super().__init__(d_model, n_heads, d_feedforward, 0.0, norm_first, False)

    def forward(self, x, mask=None):
        return super().forward(x, Context(mask=mask))


# %% wrong: pre-norm without a mask ->
# ~ (y, y, mask) => (y, y)

# %% wrong: dropout as in the paper ->
#          self.feed_forward_norm = nn.LayerNorm(d_model)
# +        self.dropout = nn.Dropout(0.1)
# ...
# -        x = self.attention_norm(x + self.attention(x, x, mask))
# -        return self.feed_forward_norm(x + self.feed_forward(x))
# +        x = self.attention_norm(x + self.dropout(self.attention(x, x, mask)))
# +        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))

# %% wrong: without gradients ->
#
# +    @torch.no_grad()

# %% wrong: pre-norm is the default ->
# ~ False => True

# %% wrong: the mask must be given ->
# ~ =None =>

# %% wrong: the residual is added in place ->
# ~ = x + => +=

# %% wrong: no norm for a single token ->
#      def forward(self, x, mask=None):
# +        if x.size(1) == 1:
# +            return self.feed_forward_norm(x)


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
