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


# %% right: a linear layer that shares the weight
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
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens):
        n, d = tokens.shape[1], self.embedding.embedding_dim
        mask = causal_mask(n)
        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(self.norm(x))


# %% right: a mask of its own and F.linear
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
        mask = torch.zeros(n, n).masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), float("-inf"))
        x = self.embedding(tokens) * d**0.5 + self.position[torch.arange(n)]
        for layer in self.layers:
            x = layer(x, mask)
        return F.linear(self.norm(x), self.embedding.weight)


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
        x = self.embedding(tokens) + self.position[:n]
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x) @ self.embedding.weight.T


# %% wrong: the sum times sqrt -> the positions are scaled, too
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
        x = (self.embedding(tokens) + self.position[:n]) * math.sqrt(d)
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x) @ self.embedding.weight.T


# %% wrong: positions forgotten -> there are no positions
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
        x = self.embedding(tokens) * math.sqrt(d)
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x) @ self.embedding.weight.T


# %% wrong: positions from the end -> the last positions are taken
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
        x = self.embedding(tokens) * math.sqrt(d) + self.position[-n:]
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x) @ self.embedding.weight.T


# %% wrong: a mask of zeros -> every token sees the whole text
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
        mask = torch.zeros(n, n)
        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x) @ self.embedding.weight.T


# %% wrong: tril -> a token sees the future and not the past
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
        mask = causal_mask(n).T
        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x) @ self.embedding.weight.T


# %% wrong: triu without 1 -> a token does not see itself
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
        mask = torch.full((n, n), -torch.inf).triu()
        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x) @ self.embedding.weight.T


# %% wrong: norm after the sum -> post-norm
class Layer(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention_norm = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, n_heads)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, 4 * d_model)

    def forward(self, x, mask):
        x = self.attention_norm(x + self.attention(x, mask))
        return self.feed_forward_norm(x + self.feed_forward(x))


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


# %% wrong: x is overwritten by its norm -> the norm stands on the path of the residual
class Layer(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention_norm = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, n_heads)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, 4 * d_model)

    def forward(self, x, mask):
        x = self.attention_norm(x)
        x = x + self.attention(x, mask)
        x = self.feed_forward_norm(x)
        return x + self.feed_forward(x)


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


# %% wrong: no residuals -> the residuals are missing
class Layer(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention_norm = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, n_heads)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, 4 * d_model)

    def forward(self, x, mask):
        x = self.attention(self.attention_norm(x), mask)
        return self.feed_forward(self.feed_forward_norm(x))


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


# %% wrong: attention_norm twice -> one norm is used twice in a layer
class Layer(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention_norm = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, n_heads)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, 4 * d_model)

    def forward(self, x, mask):
        x = x + self.attention(self.attention_norm(x), mask)
        return x + self.feed_forward(self.attention_norm(x))


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


# %% wrong: no last norm -> the last norm is missing
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
        return x @ self.embedding.weight.T


# %% wrong: a head beside the embedding -> the head has weights of its own
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
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, tokens):
        n, d = tokens.shape[1], self.embedding.embedding_dim
        mask = causal_mask(n)
        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(self.norm(x))


# %% wrong: the same layer again -> the first layer is used for all
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
            x = self.layers[0](x, mask)
        return self.norm(x) @ self.embedding.weight.T


# %% wrong: softmax -> probabilities in place of logits
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
        return (self.norm(x) @ self.embedding.weight.T).softmax(dim=-1)


# %% wrong: a head with a bias ->
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
        self.head = nn.Linear(d_model, vocab_size)
        self.head.weight = self.embedding.weight

    def forward(self, tokens):
        n, d = tokens.shape[1], self.embedding.embedding_dim
        mask = causal_mask(n)
        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(self.norm(x))


# %% wrong: the layers in a list ->
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
        self.layers = [Layer(d_model, n_heads) for _ in range(n_layers)]
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens):
        n, d = tokens.shape[1], self.embedding.embedding_dim
        mask = causal_mask(n)
        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x) @ self.embedding.weight.T


# %% wrong: dropout ->
class Layer(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention_norm = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, n_heads)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, 4 * d_model)

    def forward(self, x, mask):
        x = x + self.attention(self.attention_norm(x), mask)
        return x + F.dropout(self.feed_forward(self.feed_forward_norm(x)), 0.1, self.training)


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


# %% wrong: the embedding of the head is detached ->
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
        return self.norm(x) @ self.embedding.weight.detach().T


# %% wrong: the last place only ->
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
        return self.norm(x)[:, -1] @ self.embedding.weight.T


# %% wrong: feed-forward not four times as wide ->
class Layer(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention_norm = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, n_heads)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_model)

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


# %% wrong: seeded inside ->
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
        torch.manual_seed(0)
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


# %% wrong: positions that do not train ->
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
        self.position = nn.Parameter(torch.randn(max_len, d_model), requires_grad=False)
        self.layers = nn.ModuleList(Layer(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens):
        n, d = tokens.shape[1], self.embedding.embedding_dim
        mask = causal_mask(n)
        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x) @ self.embedding.weight.T


# %% wrong: log-probabilities ->
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
        return (self.norm(x) @ self.embedding.weight.T).log_softmax(dim=-1)


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
        self.position = nn.Parameter(0.02 * torch.randn(max_len, d_model))
        self.layers = nn.ModuleList(Layer(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens):
        n, d = tokens.shape[1], self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
        mask = causal_mask(n)
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x) @ self.embedding.weight.T


# %% wrong: positions between 0 and 1 ->
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
        self.position = nn.Parameter(torch.rand(max_len, d_model))
        self.layers = nn.ModuleList(Layer(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens):
        n, d = tokens.shape[1], self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
        mask = causal_mask(n)
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x) @ self.embedding.weight.T


# %% wrong: an nn.Embedding in place of a TokenEmbedding ->
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
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.position = nn.Parameter(torch.randn(max_len, d_model))
        self.layers = nn.ModuleList(Layer(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens):
        n, d = tokens.shape[1], self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
        mask = causal_mask(n)
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x) @ self.embedding.weight.T


# %% wrong: one random row for all positions ->
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
        self.position = nn.Parameter(torch.randn(1, d_model).repeat(max_len, 1))
        self.layers = nn.ModuleList(Layer(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens):
        n, d = tokens.shape[1], self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
        mask = causal_mask(n)
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x) @ self.embedding.weight.T


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
        self.position = nn.Parameter((torch.rand(max_len, d_model) - 0.5) * 12**0.5)
        self.layers = nn.ModuleList(Layer(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens):
        n, d = tokens.shape[1], self.embedding.embedding_dim
        mask = causal_mask(n)
        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x) @ self.embedding.weight.T


# %% wrong: positions begin in pairs that are alike ->
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
        self.position = nn.Parameter(torch.randn((max_len + 1) // 2, d_model).repeat(2, 1)[:max_len])
        self.layers = nn.ModuleList(Layer(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens):
        n, d = tokens.shape[1], self.embedding.embedding_dim
        mask = causal_mask(n)
        x = self.embedding(tokens) * math.sqrt(d) + self.position[:n]
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x) @ self.embedding.weight.T


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
