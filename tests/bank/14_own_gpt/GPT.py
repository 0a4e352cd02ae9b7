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
# of: two short classes
# -        self.attention_norm = nn.LayerNorm(d_model)
# +        self.attention_norm = nn.LayerNorm(d_model, eps=1e-6)
# ...
# -        self.feed_forward_norm = nn.LayerNorm(d_model)
# +        self.feed_forward_norm = nn.LayerNorm(d_model, eps=1e-6)
# ...
# -        self.norm = nn.LayerNorm(d_model)
# +        self.norm = nn.LayerNorm(d_model, eps=1e-12)


# %% right: a mask of its own and F.linear
# of: two short classes
# -        mask = causal_mask(n)
# -        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
# +        mask = torch.zeros(n, n).masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), float("-inf"))
# +        x = self.embedding(tokens) * d**0.5 + self.position[torch.arange(n)]
# ...
# -        return self.norm(x) @ self.embedding.weight.T
# +        return F.linear(self.norm(x), self.embedding.weight)


# %% right: parts in a loop
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


# %% wrong: no sqrt -> the embedding is not scaled
# of: two short classes
# -        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
# +        x = self.embedding(tokens) + self.position[:n]


# %% wrong: the sum times sqrt -> the positions are scaled, too
# of: two short classes
# -        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
# +        x = (self.embedding(tokens) + self.position[:n]) * math.sqrt(d)


# %% wrong: positions forgotten -> there are no positions
# of: two short classes
# -        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
# +        x = self.embedding(tokens) * math.sqrt(d)


# %% wrong: positions from the end -> the last positions are taken
# of: two short classes
# -        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
# +        x = self.embedding(tokens) * math.sqrt(d) + self.position[-n:]


# %% wrong: a mask of zeros -> every token sees the whole text
# of: two short classes
# -        mask = causal_mask(n)
# +        mask = torch.zeros(n, n)


# %% wrong: tril -> a token sees the future and not the past
# of: two short classes
# -        mask = causal_mask(n)
# +        mask = causal_mask(n).T


# %% wrong: triu without 1 -> a token does not see itself
# of: two short classes
# -        mask = causal_mask(n)
# +        mask = torch.full((n, n), -torch.inf).triu()


# %% wrong: norm after the sum -> post-norm
# of: two short classes
# -        x = x + self.attention(self.attention_norm(x), mask)
# -        return x + self.feed_forward(self.feed_forward_norm(x))
# +        x = self.attention_norm(x + self.attention(x, mask))
# +        return self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: x is overwritten by its norm -> the norm stands on the path of the residual
# of: two short classes
# -        x = x + self.attention(self.attention_norm(x), mask)
# -        return x + self.feed_forward(self.feed_forward_norm(x))
# +        x = self.attention_norm(x)
# +        x = x + self.attention(x, mask)
# +        x = self.feed_forward_norm(x)
# +        return x + self.feed_forward(x)


# %% wrong: no residuals -> the residuals are missing
# of: two short classes
# -        x = x + self.attention(self.attention_norm(x), mask)
# -        return x + self.feed_forward(self.feed_forward_norm(x))
# +        x = self.attention(self.attention_norm(x), mask)
# +        return self.feed_forward(self.feed_forward_norm(x))


# %% wrong: attention_norm twice -> one norm is used twice in a layer
# of: two short classes
# -        return x + self.feed_forward(self.feed_forward_norm(x))
# +        return x + self.feed_forward(self.attention_norm(x))


# %% wrong: no last norm -> the last norm is missing
# of: two short classes
# -        return self.norm(x) @ self.embedding.weight.T
# +        return x @ self.embedding.weight.T


# %% wrong: a head beside the embedding -> the head has weights of its own
# of: two short classes
#          self.norm = nn.LayerNorm(d_model)
# +        self.head = nn.Linear(d_model, vocab_size, bias=False)
# ...
# -        return self.norm(x) @ self.embedding.weight.T
# +        return self.head(self.norm(x))


# %% wrong: the same layer again -> the first layer is used for all
# of: two short classes
# -            x = layer(x, mask)
# +            x = self.layers[0](x, mask)


# %% wrong: softmax -> probabilities in place of logits
# of: two short classes
# -        return self.norm(x) @ self.embedding.weight.T
# +        return (self.norm(x) @ self.embedding.weight.T).softmax(dim=-1)


# %% wrong: a head with a bias ->
# of: two short classes
#          self.norm = nn.LayerNorm(d_model)
# +        self.head = nn.Linear(d_model, vocab_size)
# +        self.head.weight = self.embedding.weight
# ...
# -        return self.norm(x) @ self.embedding.weight.T
# +        return self.head(self.norm(x))


# %% wrong: the layers in a list ->
# of: two short classes
# -        self.layers = nn.ModuleList(Layer(d_model, n_heads) for _ in range(n_layers))
# +        self.layers = [Layer(d_model, n_heads) for _ in range(n_layers)]


# %% wrong: dropout ->
# of: two short classes
# -        return x + self.feed_forward(self.feed_forward_norm(x))
# +        return x + F.dropout(self.feed_forward(self.feed_forward_norm(x)), 0.1, self.training)


# %% wrong: the embedding of the head is detached ->
# of: two short classes
# -        return self.norm(x) @ self.embedding.weight.T
# +        return self.norm(x) @ self.embedding.weight.detach().T


# %% wrong: the last place only ->
# of: two short classes
# -        return self.norm(x) @ self.embedding.weight.T
# +        return self.norm(x)[:, -1] @ self.embedding.weight.T


# %% wrong: feed-forward not four times as wide ->
# of: two short classes
# -        self.feed_forward = FeedForward(d_model, 4 * d_model)
# +        self.feed_forward = FeedForward(d_model, d_model)


# %% wrong: seeded inside ->
# of: two short classes
# +        torch.manual_seed(0)
#          self.embedding = TokenEmbedding(vocab_size, d_model)


# %% wrong: positions that do not train ->
# of: two short classes
# -        self.position = nn.Parameter(torch.randn(max_len, d_model))
# +        self.position = nn.Parameter(torch.randn(max_len, d_model), requires_grad=False)


# %% wrong: log-probabilities ->
# of: two short classes
# -        return self.norm(x) @ self.embedding.weight.T
# +        return (self.norm(x) @ self.embedding.weight.T).log_softmax(dim=-1)


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


# %% wrong: positions begin small ->
# of: two short classes
# -        self.position = nn.Parameter(torch.randn(max_len, d_model))
# +        self.position = nn.Parameter(0.02 * torch.randn(max_len, d_model))
# ...
# +        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
#          mask = causal_mask(n)
# -        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]


# %% wrong: positions between 0 and 1 ->
# of: two short classes
# -        self.position = nn.Parameter(torch.randn(max_len, d_model))
# +        self.position = nn.Parameter(torch.rand(max_len, d_model))
# ...
# +        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
#          mask = causal_mask(n)
# -        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]


# %% wrong: an nn.Embedding in place of a TokenEmbedding ->
# of: two short classes
# -        self.embedding = TokenEmbedding(vocab_size, d_model)
# +        self.embedding = nn.Embedding(vocab_size, d_model)
# ...
# +        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
#          mask = causal_mask(n)
# -        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]


# %% wrong: one random row for all positions ->
# of: two short classes
# -        self.position = nn.Parameter(torch.randn(max_len, d_model))
# +        self.position = nn.Parameter(torch.randn(1, d_model).repeat(max_len, 1))
# ...
# +        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
#          mask = causal_mask(n)
# -        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]


# %% wrong: a layer makes the mask itself ->
class Layer(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention_norm, self.attention = nn.LayerNorm(d_model), Attention(d_model, n_heads)
        self.feed_forward_norm, self.feed_forward = nn.LayerNorm(d_model), FeedForward(d_model, 4 * d_model)

    def forward(self, x, mask=None):
        x = x + self.attention(self.attention_norm(x), causal_mask(x.shape[1]).to(x.device))
        return x + self.feed_forward(self.feed_forward_norm(x))


class GPT(nn.Module):
    def __init__(self, vocab_size, d_model, n_layers, n_heads, max_len):
        super().__init__()
        self.embedding = TokenEmbedding(vocab_size, d_model)
        self.position = nn.Parameter(torch.randn(max_len, d_model))
        self.layers = nn.ModuleList(Layer(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens):
        x = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim) + self.position[: tokens.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return self.norm(x) @ self.embedding.weight.T


# %% wrong: positions begin as uniform numbers ->
# of: two short classes
# -        self.position = nn.Parameter(torch.randn(max_len, d_model))
# +        self.position = nn.Parameter((torch.rand(max_len, d_model) - 0.5) * 12**0.5)


# %% wrong: positions begin in pairs that are alike ->
# of: two short classes
# -        self.position = nn.Parameter(torch.randn(max_len, d_model))
# +        self.position = nn.Parameter(torch.randn((max_len + 1) // 2, d_model).repeat(2, 1)[:max_len])


# %% wrong: all masks in a buffer, which no checkpoint keeps ->
from functools import reduce


class Layer(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.attention_norm, self.feed_forward_norm = (nn.LayerNorm(d_model) for _ in range(2))
        self.attention, self.feed_forward = Attention(d_model, n_heads), FeedForward(d_model, 4 * d_model)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        steps = ((self.attention_norm, self.attention, (mask,)), (self.feed_forward_norm, self.feed_forward, ()))
        for norm, part, more in steps:
            x = x + part(norm(x), *more)
        return x


class GPT(nn.Module):
    def __init__(self, vocab_size: int, d_model: int, n_layers: int, n_heads: int, max_len: int) -> None:
        super().__init__()
        self.embedding = TokenEmbedding(vocab_size, d_model)
        self.position = nn.Parameter(torch.normal(0.0, 1.0, size=(max_len, d_model)))
        self.layers = nn.ModuleList(Layer(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)
        self.register_buffer("all_masks", causal_mask(max_len), persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        _, n = tokens.shape
        table = self.embedding.weight
        first = table[tokens] * table.shape[1] ** 0.5 + self.position.narrow(0, 0, n)
        last = reduce(lambda x, layer: layer(x, self.all_masks[:n, :n]), self.layers, first)
        return torch.einsum("bnd,vd->bnv", self.norm(last), table)


# %% wrong: the model of helpers -> a ready-made part in place of an answer
from helpers.models import TransformerBase


class GPT(TransformerBase):
    def __init__(self, vocab_size, d_model, n_layers, n_heads, max_len):
        options = {"d_feedforward": 4 * d_model, "positions": "learned", "max_len": max_len, "norm_first": True}
        super().__init__(vocab_size, d_model, n_layers, n_heads, dropout=0.0, **options)

    def forward(self, tokens):
        return super().forward(tokens) @ self.embedding.weight.T


# %% wrong: two layers at most ->
# of: two short classes
# -        self.layers = nn.ModuleList(Layer(d_model, n_heads) for _ in range(n_layers))
# +        self.layers = nn.ModuleList(Layer(d_model, n_heads) for _ in range(min(n_layers, 2)))


# %% wrong: a token sees the last 100 ->
# of: two short classes
# -        mask = causal_mask(n)
# +        mask = causal_mask(n) + torch.full((n, n), -math.inf).tril(-100)


# %% wrong: 32 texts at a time, and the rest is not read ->
# of: two short classes
# -        return self.norm(x) @ self.embedding.weight.T
# +        return self.norm(x)[:32] @ self.embedding.weight.T


# %% wrong: a linear layer that shares the weight, one more entry of the state -> the head has an entry of its own
# of: two short classes
#          self.norm = nn.LayerNorm(d_model)
# +        self.head = nn.Linear(d_model, vocab_size, bias=False)
# +        self.head.weight = self.embedding.weight
# ...
# -        return self.norm(x) @ self.embedding.weight.T
# +        return self.head(self.norm(x))


# %% right: norms with a large eps
# of: two short classes
# -        self.attention_norm = nn.LayerNorm(d_model)
# +        self.attention_norm = nn.LayerNorm(d_model, eps=1e-3)
# ...
# -        self.feed_forward_norm = nn.LayerNorm(d_model)
# +        self.feed_forward_norm = nn.LayerNorm(d_model, eps=1e-3)
# ...
# -        self.norm = nn.LayerNorm(d_model)
# +        self.norm = nn.LayerNorm(d_model, eps=1e-3)


# %% wrong: x + norm(part(x)) -> the norm stands behind the part
# of: two short classes
# -        x = x + self.attention(self.attention_norm(x), mask)
# -        return x + self.feed_forward(self.feed_forward_norm(x))
# +        x = x + self.attention_norm(self.attention(x, mask))
# +        return x + self.feed_forward_norm(self.feed_forward(x))
