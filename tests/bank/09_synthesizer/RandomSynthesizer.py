# %% right: with the helpers
class RandomSynthesizer(nn.Module):
    def __init__(self, d_model, n_heads, max_len):
        super().__init__()
        self.n_heads = n_heads
        self.scores = nn.Parameter(torch.zeros(n_heads, max_len, max_len))
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def weights(self, x):
        n = x.size(1)
        scores = self.scores[:, :n, :n]
        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)

    def forward(self, x):
        value = split_heads(self.value(x), self.n_heads)
        return self.output(merge_heads(self.weights(x) @ value))


# %% right: small random start, one head at a time
class RandomSynthesizer(nn.Module):
    def __init__(self, d_model, n_heads, max_len):
        super().__init__()
        self.n_heads = n_heads
        self.scores = nn.Parameter(0.02 * torch.randn(n_heads, max_len, max_len))
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def weights(self, x):
        n = x.size(1)
        return torch.stack([(scores[:n, :n] + causal_mask(n, x.device)).softmax(-1) for scores in self.scores])

    def forward(self, x):
        found = []
        for weights, value in zip(self.weights(x), self.value(x).chunk(self.n_heads, dim=-1)):
            found.append(weights @ value)
        return self.output(torch.cat(found, dim=-1))


# %% right: a subclass of the dense one
class RandomSynthesizer(SynthesizerAttention):
    def __init__(self, d_model, n_heads, max_len):
        super().__init__(d_model, n_heads, max_len)
        del self.hidden, self.B, self.b2
        self.scores = nn.Parameter(torch.randn(n_heads, max_len, max_len))

    def weights(self, x):
        n = x.size(1)
        future = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
        return self.scores[:, :n, :n].masked_fill(future, -torch.inf).softmax(-1)


# %% right: exponentials by hand, the largest score of each row taken off first
# of: with the helpers
# -        scores = self.scores[:, :n, :n]
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        scores = self.scores[:, :n, :n] + causal_mask(n, x.device)
# +        powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
# +        return powers / powers.sum(dim=-1, keepdim=True)


# %% wrong: hidden, B and b2 again -> depends on x: this is the dense synthesizer again
# of: with the helpers
# -        self.scores = nn.Parameter(torch.zeros(n_heads, max_len, max_len))
# +        self.hidden = nn.Linear(d_model, d_model)
# +        self.B = nn.Parameter(torch.randn(n_heads, d_model // n_heads, max_len))
# +        self.b2 = nn.Parameter(torch.zeros(n_heads, max_len))
# ...
# -        scores = self.scores[:, :n, :n]
# +        hidden = split_heads(torch.relu(self.hidden(x)), self.n_heads)
# +        scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n]


# %% wrong: values compared -> depends on x: values are compared with each other
# of: with the helpers
# -        scores = self.scores[:, :n, :n]
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        value = split_heads(self.value(x), self.n_heads)
# +        return torch.softmax(self.scores[:, :n, :n] + value @ value.transpose(-2, -1) + causal_mask(n, x.device), dim=-1)


# %% wrong: tokens compared -> depends on x: tokens are compared with each other
# of: with the helpers
# -        scores = self.scores[:, :n, :n]
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        heads = split_heads(x, self.n_heads)
# +        return torch.softmax(heads @ heads.mT + self.scores[:, :n, :n] + causal_mask(n, x.device), dim=-1)


# %% wrong: scores times the mean of each token -> depends on x: the scores are multiplied with x
# of: with the helpers
# -        scores = self.scores[:, :n, :n]
# +        scores = self.scores[:, :n, :n] * x.mean(-1)[:, None, :, None]


# %% wrong: a buffer -> the scores do not train
# of: with the helpers
# -        self.scores = nn.Parameter(torch.zeros(n_heads, max_len, max_len))
# +        self.register_buffer("scores", torch.randn(n_heads, max_len, max_len))


# %% wrong: requires_grad is False -> the scores do not train
# of: with the helpers
# -        self.scores = nn.Parameter(torch.zeros(n_heads, max_len, max_len))
# +        self.scores = nn.Parameter(torch.randn(n_heads, max_len, max_len), requires_grad=False)


# %% wrong: one square -> one square of scores for all heads
# of: with the helpers
# -        self.scores = nn.Parameter(torch.zeros(n_heads, max_len, max_len))
# +        self.scores = nn.Parameter(torch.zeros(max_len, max_len))
# ...
# -        scores = self.scores[:, :n, :n]
# +        scores = self.scores[:n, :n]


# %% wrong: scores of head 0 -> all heads use the square of the first
# of: with the helpers
# -        scores = self.scores[:, :n, :n]
# +        scores = self.scores[0, :n, :n]


# %% wrong: full square -> scores or mask are not cut to the length
# of: with the helpers
# -        scores = self.scores[:, :n, :n]
# +        scores = self.scores


# %% wrong: only rows are cut -> scores or mask are not cut to the length
# of: with the helpers
# -        scores = self.scores[:, :n, :n]
# +        scores = self.scores[:, :n]


# %% wrong: the last rows and columns -> cut from the wrong end
# of: with the helpers
# -        scores = self.scores[:, :n, :n]
# +        scores = self.scores[:, -n:, -n:]


# %% wrong: transposed -> rows and columns are exchanged
# of: with the helpers
# -        scores = self.scores[:, :n, :n]
# +        scores = self.scores[:, :n, :n].transpose(1, 2)


# %% wrong: no causal mask -> no mask
# of: with the helpers
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return torch.softmax(scores, dim=-1)


# %% wrong: tril of the weights -> the mask comes after the softmax
# of: with the helpers
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return torch.tril(scores.softmax(dim=-1))


# %% wrong: softmax over the queries -> softmax over the wrong axis
# of: with the helpers
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return torch.softmax(scores + causal_mask(n, x.device), dim=1)


# %% wrong: columns look at rows -> softmax over the wrong axis, and the mask turned round
# of: with the helpers
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return torch.softmax(scores + causal_mask(n, x.device).T, dim=1)


# %% wrong: not projected -> the output projection is missing
# of: with the helpers
# -        value = split_heads(self.value(x), self.n_heads)
# -        return self.output(merge_heads(self.weights(x) @ value))
# +        return merge_heads(self.weights(x) @ split_heads(self.value(x), self.n_heads))


# %% wrong: x in place of values -> the tokens themselves are averaged
# of: with the helpers
# -        value = split_heads(self.value(x), self.n_heads)
# -        return self.output(merge_heads(self.weights(x) @ value))
# +        return self.output(merge_heads(self.weights(x) @ split_heads(x, self.n_heads)))


# %% wrong: drawn anew at each call -> the scores are no parameter, and drawn anew at each call
# of: with the helpers
# -        self.scores = nn.Parameter(torch.zeros(n_heads, max_len, max_len))
# ...
# -        scores = self.scores[:, :n, :n]
# +        scores = torch.randn(self.n_heads, n, n)


# %% wrong: drawn anew, though the parameter is there -> the scores are drawn anew at each call
# of: with the helpers
# -        scores = self.scores[:, :n, :n]
# +        scores = torch.randn(self.n_heads, n, n)


# %% wrong: no softmax ->
# of: with the helpers
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return scores.tril()


# %% wrong: the name R ->
# of: with the helpers
# -        self.scores = nn.Parameter(torch.zeros(n_heads, max_len, max_len))
# +        self.R = nn.Parameter(torch.zeros(n_heads, max_len, max_len))
# ...
# -        scores = self.scores[:, :n, :n]
# +        scores = self.R[:, :n, :n]


# %% wrong: scores averaged over the heads ->
# of: with the helpers
# -        scores = self.scores[:, :n, :n]
# +        scores = self.scores[:, :n, :n].mean(0)


# %% wrong: merged by a reshape -> the heads are merged by a reshape without a transpose
# of: with the helpers
# -        return self.output(merge_heads(self.weights(x) @ value))
# +        return self.output((self.weights(x) @ value).reshape(x.shape))


# %% wrong: values split by a reshape -> the values are split by a reshape without a transpose
# of: with the helpers
# -        value = split_heads(self.value(x), self.n_heads)
# +        b, n, d = x.shape
# +        value = self.value(x).reshape(b, self.n_heads, n, d // self.n_heads)


# %% wrong: the mask as a buffer -> the mask is a buffer
# of: with the helpers
#          self.n_heads = n_heads
# +        self.register_buffer("mask", causal_mask(max_len))
# ...
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return torch.softmax(scores + self.mask[:n, :n], dim=-1)


# %% wrong: the mask of max_len -> scores or mask are not cut to the length
# of: with the helpers
#          self.n_heads = n_heads
# +        self.mask = causal_mask(max_len)
# ...
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return torch.softmax(scores + self.mask, dim=-1)


# %% wrong: split and merged by a reshape -> values split and heads merged by a reshape without a transpose
# of: with the helpers
# -        value = split_heads(self.value(x), self.n_heads)
# -        return self.output(merge_heads(self.weights(x) @ value))
# +        b, n, d = x.shape
# +        value = self.value(x).reshape(b, self.n_heads, n, d // self.n_heads)
# +        return self.output((self.weights(x) @ value).reshape(b, n, d))


# %% wrong: the length of the batch ->
# of: with the helpers
# -        n = x.size(1)
# +        n = x.size(0)


# %% wrong: scores.data ->
# of: with the helpers
# -        scores = self.scores[:, :n, :n]
# +        scores = self.scores.data[:, :n, :n]


# %% wrong: weights without gradients ->
# of: with the helpers
# +    @torch.no_grad()
#      def weights(self, x):


# %% wrong: scores start very large ->
# of: with the helpers
# -        self.scores = nn.Parameter(torch.zeros(n_heads, max_len, max_len))
# +        self.scores = nn.Parameter(100 * torch.randn(n_heads, max_len, max_len))


# %% wrong: the mask of the first sentence is kept ->
# of: with the helpers
#          self.output = nn.Linear(d_model, d_model)
# +        self.mask = None
# ...
# +        if self.mask is None:
# +            self.mask = causal_mask(n, x.device)
#          scores = self.scores[:, :n, :n]
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return torch.softmax(scores + self.mask, dim=-1)


# %% wrong: the weights are kept by length ->
# of: with the helpers
#          self.output = nn.Linear(d_model, d_model)
# +        self.known = {}
# ...
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        if n not in self.known:
# +            self.known[n] = torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return self.known[n]


# %% wrong: noise on the scores while training ->
# of: with the helpers
#          scores = self.scores[:, :n, :n]
# +        if self.training:
# +            scores = scores + torch.randn_like(scores)


# %% wrong: dropout on the result ->
# of: with the helpers
#          self.output = nn.Linear(d_model, d_model)
# +        self.dropout = nn.Dropout(0.1)
# ...
# -        return self.output(merge_heads(self.weights(x) @ value))
# +        return self.dropout(self.output(merge_heads(self.weights(x) @ value)))


# %% wrong: exponentials by hand -> the exponential overflows
# of: with the helpers
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        powers = torch.exp(scores).tril()
# +        return powers / powers.sum(dim=-1, keepdim=True)


# %% wrong: the future gets minus a hundred ->
# of: with the helpers
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        future = torch.ones(n, n, device=x.device).triu(1)
# +        return torch.softmax(scores - 100 * future, dim=-1)


# %% wrong: added up over the batch ->
# of: with the helpers
# -        value = split_heads(self.value(x), self.n_heads)
# +        value = split_heads(self.value(x).mean(dim=0, keepdim=True).expand_as(x), self.n_heads)


# %% wrong: one sentence loses its axis ->
# of: with the helpers
# -        return self.output(merge_heads(self.weights(x) @ value))
# +        return self.output(merge_heads(self.weights(x) @ value)).squeeze(0)


# %% wrong: only values and output ->
# of: with the helpers
# -        value = split_heads(self.value(x), self.n_heads)
# -        return self.output(merge_heads(self.weights(x) @ value))
# +        return self.output(self.value(x))


# %% wrong: seeded in the constructor ->
# of: with the helpers
# +        torch.manual_seed(0)
#          self.n_heads = n_heads
# -        self.scores = nn.Parameter(torch.zeros(n_heads, max_len, max_len))
# +        self.scores = nn.Parameter(0.1 * torch.randn(n_heads, max_len, max_len))


# %% wrong: -10000 for what is blocked ->
# of: with the helpers
# -        scores = self.scores[:, :n, :n]
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        later = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
# +        return torch.softmax(self.scores[:, :n, :n].masked_fill(later, -1e4), dim=-1)


# %% wrong: -10,000 is added in place of minus infinity ->
class RandomSynthesizer(nn.Module):
    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)
        self.scores = nn.Parameter(torch.zeros(n_heads, max_len, max_len))

    def weights(self, x: Tensor) -> Tensor:
        n = x.shape[1]
        mask = torch.full((n, n), -1e4, device=x.device).triu(diagonal=1)
        return torch.softmax(self.scores[:, :n, :n] + mask, dim=-1)

    def forward(self, x: Tensor) -> Tensor:
        values = split_heads(self.value(x), self.n_heads)
        return self.output(merge_heads(self.weights(x) @ values))


# %% wrong: a place of zeros is taken for padding ->
# of: -10,000 is added in place of minus infinity
# -        mask = torch.full((n, n), -1e4, device=x.device).triu(diagonal=1)
# -        return torch.softmax(self.scores[:, :n, :n] + mask, dim=-1)
# +        padding = (x == 0).all(dim=-1).all(dim=0)  # (n,)
# +        hidden = padding[None, :] & ~torch.eye(n, dtype=torch.bool, device=x.device)
# +        square = self.scores[:, :n, :n] + causal_mask(n, x.device)
# +        return square.masked_fill(hidden, -torch.inf).softmax(dim=-1)


# %% wrong: a call changes the parameter ->
# of: -10,000 is added in place of minus infinity
# -        mask = torch.full((n, n), -1e4, device=x.device).triu(diagonal=1)
# -        return torch.softmax(self.scores[:, :n, :n] + mask, dim=-1)
# +        block = self.scores.data[:, :n, :n]
# +        block -= block.amax(dim=-1, keepdim=True)  # so that no power is too large
# +        return (self.scores[:, :n, :n] + causal_mask(n, x.device)).softmax(dim=-1)


# %% wrong: weights for each text ->
# of: a subclass of the dense one
# -        return self.scores[:, :n, :n].masked_fill(future, -torch.inf).softmax(-1)
# +        return self.scores[:, :n, :n].masked_fill(future, -torch.inf).softmax(-1).expand(len(x), -1, -1, -1)


# %% wrong: weights without a mask, which is added in forward ->
# of: small random start, one head at a time
# -        return torch.stack([(scores[:n, :n] + causal_mask(n, x.device)).softmax(-1) for scores in self.scores])
# +        return torch.stack([scores[:n, :n].softmax(-1) for scores in self.scores])
# ...
# -            found.append(weights @ value)
# +            weights = weights * (causal_mask(x.size(1), x.device) == 0)
# +            found.append(weights / weights.sum(-1, keepdim=True) @ value)


# %% wrong: tells the weights of the last call ->
class RandomSynthesizer(nn.Module):
    def __init__(self, d_model, n_heads, max_len):
        super().__init__()
        self.n_heads, self.last = n_heads, None
        self.scores = nn.Parameter(torch.zeros(n_heads, max_len, max_len))
        self.value, self.output = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def weights(self, x):
        n = x.size(1)
        return (
            torch.softmax(self.scores[:, :n, :n] + causal_mask(n, x.device), dim=-1) if self.last is None else self.last
        )

    def forward(self, x):
        self.last = None
        weights = self.weights(x)
        self.last = weights.detach()
        return self.output(merge_heads(weights @ split_heads(self.value(x), self.n_heads)))


# %% wrong: scores divided by the root of the head's width ->
# of: with the helpers
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return torch.softmax(scores / (x.size(-1) // self.n_heads) ** 0.5 + causal_mask(n, x.device), dim=-1)


# %% wrong: the mask is made on the CPU ->
# of: with the helpers
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return torch.softmax(scores + causal_mask(n), dim=-1)


# %% wrong: an axis of size 1 for all heads -> one square, with an axis of size 1, for all heads
# of: with the helpers
# -        self.scores = nn.Parameter(torch.zeros(n_heads, max_len, max_len))
# +        self.scores = nn.Parameter(torch.zeros(1, max_len, max_len))
