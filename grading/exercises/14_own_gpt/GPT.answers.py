# %% right: two short classes
class Layer(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention_norm = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, n_heads)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, 4 * d_model)

    def forward(self, x, mask):
        x = x + self.attention(self.attention_norm(x), mask)
        return x + self.feed_forward(self.feed_forward_norm(x))


class GPT(nn.Module):
    def __init__(self, vocab_size, d_model, n_layers, n_heads, max_len):
        super().__init__()
        self.embedding = TokenEmbedding(vocab_size, d_model)
        self.position = nn.Parameter(torch.randn(max_len, d_model))
        self.layers = nn.ModuleList(Layer(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens):
        n, d = tokens.shape[1], self.embedding.embedding_dim
        mask = causal_mask(n)
        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x) @ self.embedding.weight.T


# %% right: norms with another small eps
# ~ attention_norm = nn.LayerNorm(d_model) => attention_norm = nn.LayerNorm(d_model, eps=1e-6)
# ~ feed_forward_norm = nn.LayerNorm(d_model) => feed_forward_norm = nn.LayerNorm(d_model, eps=1e-6)
# ~ (d_model) => (d_model, eps=1e-12)

# %% right: a mask of its own and F.linear
# ~ causal_mask(n) => torch.zeros(n, n).masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), float("-inf"))
# ~ math.sqrt(d) + self.position[:n] => d**0.5 + self.position[torch.arange(n)]
# ~ self.norm(x) @ self.embedding.weight.T => F.linear(self.norm(x), self.embedding.weight)


# %% right: parts in a loop
# other: A loop over norms and parts writes the residual connection only once; the solution shows the two steps of a layer as they follow, and makes the mask once for all layers.
class Layer(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention, self.feed_forward = Attention(d_model, n_heads), FeedForward(d_model, 4 * d_model)
        self.attention_norm, self.feed_forward_norm = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, mask):
        for norm, part in (
            (self.attention_norm, lambda y: self.attention(y, mask)),
            (self.feed_forward_norm, self.feed_forward),
        ):
            x = x + part(norm(x))
        return x


class GPT(nn.Module):
    def __init__(self, vocab_size, d_model, n_layers, n_heads, max_len):
        super().__init__()
        self.d_model = d_model
        self.position = nn.Parameter(torch.randn((max_len, d_model)))
        self.embedding = TokenEmbedding(vocab_size, d_model)
        self.norm = nn.LayerNorm(d_model)
        self.layers = nn.ModuleList([Layer(d_model, n_heads) for _ in range(n_layers)])

    def forward(self, tokens):
        batch, n = tokens.shape
        words = self.embedding(tokens).mul(math.sqrt(self.d_model))
        x = words + self.position[:n].expand(batch, n, self.d_model)
        for layer in self.layers:
            x = layer(x, causal_mask(n))
        return torch.einsum("bnd,vd->bnv", self.norm(x), self.embedding.weight)


# %% right: norms with a large eps
# ~ attention_norm = nn.LayerNorm(d_model) => attention_norm = nn.LayerNorm(d_model, eps=1e-3)
# ~ feed_forward_norm = nn.LayerNorm(d_model) => feed_forward_norm = nn.LayerNorm(d_model, eps=1e-3)
# ~ (d_model) => (d_model, eps=1e-3)

# %% wrong: no sqrt -> the embedding is not scaled
# hint: The rows of the embedding have length about 1, for they are the head's rows too; as inputs they are multiplied
# hint: by sqrt(d) (Vaswani et al. 2017, 3.4).
# ~ * math.sqrt(d) + => +

# %% wrong: the sum times sqrt -> the positions are scaled, too
# hint: Only the embedding is multiplied by sqrt(d); the position is added afterwards.
# -        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
# +        x = (self.embedding(tokens) + self.position[:n]) * math.sqrt(d)

# %% wrong: positions forgotten -> there are no positions
# hint: Without them a token knows which words stand before it, and not in which order: add self.position[:n].
# ~ (d) + self.position[:n] => (d)

# %% wrong: positions from the end -> the last positions are taken
# hint: The first token of a text has the first position: self.position[:n].
# ~ [:n] => [-n:]

# %% wrong: a mask of zeros -> every token sees the whole text
# hint: A token that sees the next one has nothing to guess. Give the causal mask to every layer.
# ~ causal_mask(n) => torch.zeros(n, n)

# %% wrong: tril -> a token sees the future and not the past
# hint: The mask is turned over: minus infinity stands above the diagonal, triu(1).
# ~ (n) => (n).T

# %% wrong: triu without 1 -> a token does not see itself
# hint: The diagonal is blocked too: triu(1) leaves it open, triu(0) does not.
# ~ causal_mask(n) => torch.full((n, n), -torch.inf).triu()

# %% wrong: norm after the sum -> post-norm
# hint: The norm stands before each part, and the path of the residual stays free: x + part(norm(x)).
# ~ x + self.attention(self.attention_norm(x), mask) => self.attention_norm(x + self.attention(x, mask))
# ~ x + self.feed_forward(self.feed_forward_norm(x)) => self.feed_forward_norm(x + self.feed_forward(x))

# %% wrong: x + norm(part(x)) -> the norm stands behind the part
# hint: A part reads what is normed: x + part(norm(x)), and not x + norm(part(x)).
# ~ attention(self.attention_norm(x), mask) => attention_norm(self.attention(x, mask))
# ~ feed_forward(self.feed_forward_norm(x)) => feed_forward_norm(self.feed_forward(x))

# %% wrong: x is overwritten by its norm -> the norm stands on the path of the residual
# hint: `x = norm(x)` overwrites the x that you add to: x + part(norm(x)).
# -        x = x + self.attention(self.attention_norm(x), mask)
# -        return x + self.feed_forward(self.feed_forward_norm(x))
# +        x = self.attention_norm(x)
# +        x = x + self.attention(x, mask)
# +        x = self.feed_forward_norm(x)
# +        return x + self.feed_forward(x)

# %% wrong: no residuals -> the residuals are missing
# hint: Each part adds to the token: x + part(norm(x)).
# ~ x + self.attention => self.attention
# ~ x + self => self

# %% wrong: attention_norm twice -> one norm is used twice in a layer
# hint: attention_norm stands before the attention, feed_forward_norm before the feed-forward part.
# ~ feed_forward_norm(x) => attention_norm(x)

# %% wrong: no last norm -> the last norm is missing
# hint: In a pre-norm stack the sum grows from layer to layer; a last norm stands before the head.
# ~ self.norm(x) => x

# %% wrong: a head beside the embedding -> the head has weights of its own
# hint: A tied head is the embedding once more: the product with its rows, and no parameter besides.
#          self.norm = nn.LayerNorm(d_model)
# +        self.head = nn.Linear(d_model, vocab_size, bias=False)
# ...
# -        return self.norm(x) @ self.embedding.weight.T
# +        return self.head(self.norm(x))

# %% wrong: a linear layer that shares the weight, one more entry of the state -> the head has an entry of its own
# hint: A Linear that shares the embedding's weight computes the same, but the model then has an entry more: whoever
# hint: loads weights that were saved without it is told that it is missing. Multiply with self.embedding.weight.
# of: a head beside the embedding
#          self.head = nn.Linear(d_model, vocab_size, bias=False)
# +        self.head.weight = self.embedding.weight

# %% wrong: the same layer again -> the first layer is used for all
# hint: Each layer has weights of its own: for layer in self.layers.
# of: two short classes
# ~ layer(x, mask) => self.layers[0](x, mask)

# %% wrong: softmax -> probabilities in place of logits
# hint: The loss takes the softmax itself: return the scores as they are.
# ~ self.norm(x) @ self.embedding.weight.T => (self.norm(x) @ self.embedding.weight.T).softmax(dim=-1)

# %% wrong: dropout ->
# -        return x + self.feed_forward(self.feed_forward_norm(x))
# +        return x + F.dropout(self.feed_forward(self.feed_forward_norm(x)), 0.1, self.training)

# %% wrong: the embedding of the head is detached ->
# ~ weight.T => weight.detach().T


# %% wrong: the position begins as zeros ->
class Layer(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention_norm, self.attention = nn.LayerNorm(d_model), Attention(d_model, n_heads)
        self.feed_forward_norm, self.feed_forward = nn.LayerNorm(d_model), FeedForward(d_model, 4 * d_model)

    def forward(self, x, mask):
        x = x + self.attention(self.attention_norm(x), mask)
        return x + self.feed_forward(self.feed_forward_norm(x))


class GPT(nn.Module):
    def __init__(self, vocab_size, d_model, n_layers, n_heads, max_len):
        super().__init__()
        self.embedding = TokenEmbedding(vocab_size, d_model)
        self.position = nn.Parameter(torch.zeros(max_len, d_model))
        self.layers = nn.ModuleList(Layer(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens):
        n = tokens.shape[1]
        x = self.embedding(tokens) * self.embedding.embedding_dim**0.5 + self.position[:n]
        for layer in self.layers:
            x = layer(x, causal_mask(n).to(x.device))
        return self.norm(x) @ self.embedding.weight.T


# %% wrong: a layer makes the mask itself ->
# of: the position begins as zeros
# -    def forward(self, x, mask):
# -        x = x + self.attention(self.attention_norm(x), mask)
# +    def forward(self, x, mask=None):
# +        x = x + self.attention(self.attention_norm(x), causal_mask(x.shape[1]).to(x.device))
# ...
# -        self.position = nn.Parameter(torch.zeros(max_len, d_model))
# +        self.position = nn.Parameter(torch.randn(max_len, d_model))
# ...
# -        n = tokens.shape[1]
# -        x = self.embedding(tokens) * self.embedding.embedding_dim**0.5 + self.position[:n]
# +        x = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim) + self.position[: tokens.shape[1]]
# ...
# -            x = layer(x, causal_mask(n).to(x.device))
# +            x = layer(x)


# %% wrong: the model of helpers -> a ready-made part in place of an answer
from helpers.models import TransformerBase


class GPT(TransformerBase):
    def __init__(self, vocab_size, d_model, n_layers, n_heads, max_len):
        options = {"d_feedforward": 4 * d_model, "positions": "learned", "max_len": max_len, "norm_first": True}
        super().__init__(vocab_size, d_model, n_layers, n_heads, dropout=0.0, **options)

    def forward(self, tokens):
        return super().forward(tokens) @ self.embedding.weight.T


# %% wrong: a token sees the last 100 ->
# of: two short classes
# ~ (n) => (n) + torch.full((n, n), -math.inf).tril(-100)

# %% wrong: 32 texts at a time, and the rest is not read ->
# ~ .norm(x) => .norm(x)[:32]
