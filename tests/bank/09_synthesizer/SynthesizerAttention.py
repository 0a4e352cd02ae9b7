# %% right: with the helpers
class SynthesizerAttention(nn.Module):
    def __init__(self, d_model, n_heads, max_len):
        super().__init__()
        self.n_heads = n_heads
        self.hidden = nn.Linear(d_model, d_model)
        self.B = nn.Parameter(torch.randn(n_heads, d_model // n_heads, max_len))
        self.b2 = nn.Parameter(torch.zeros(n_heads, max_len))
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def weights(self, x):
        n = x.size(1)
        hidden = split_heads(torch.relu(self.hidden(x)), self.n_heads)
        scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n]
        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)

    def forward(self, x):
        value = split_heads(self.value(x), self.n_heads)
        return self.output(merge_heads(self.weights(x) @ value))


# %% right: head by head with slices
class SynthesizerAttention(nn.Module):
    def __init__(self, d_model, n_heads, max_len):
        super().__init__()
        self.n_heads = n_heads
        self.hidden = nn.Linear(d_model, d_model)
        self.B = nn.Parameter(torch.randn(n_heads, d_model // n_heads, max_len))
        self.b2 = nn.Parameter(torch.zeros(n_heads, max_len))
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def weights(self, x):
        n, w = x.size(1), self.B.size(1)
        hidden = self.hidden(x).relu()
        mask = causal_mask(n, x.device)
        found = []
        for k in range(self.n_heads):
            scores = hidden[..., k * w : (k + 1) * w] @ self.B[k, :, :n] + self.b2[k, :n]
            found.append((scores + mask).softmax(-1))
        return torch.stack(found, dim=1)

    def forward(self, x):
        weights, values = self.weights(x), self.value(x).chunk(self.n_heads, dim=-1)
        return self.output(torch.cat([weights[:, k] @ value for k, value in enumerate(values)], dim=-1))


# %% right: einsum and masked_fill
class SynthesizerAttention(nn.Module):
    def __init__(self, d_model, n_heads, max_len):
        super().__init__()
        self.n_heads = n_heads
        self.hidden = nn.Linear(d_model, d_model)
        self.B = nn.Parameter(torch.randn(n_heads, d_model // n_heads, max_len))
        self.b2 = nn.Parameter(torch.zeros(n_heads, max_len))
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def weights(self, x):
        n = x.shape[1]
        hidden = nn.functional.relu(self.hidden(x)).unflatten(-1, (self.n_heads, -1))
        scores = torch.einsum("bnhw,hwj->bhnj", hidden, self.B) + self.b2.unsqueeze(1)
        scores = scores[..., :n]
        future = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
        return scores.masked_fill(future, float("-inf")).softmax(dim=-1)

    def forward(self, x):
        value = self.value(x).unflatten(-1, (self.n_heads, -1))
        return self.output(torch.einsum("bhnm,bmhw->bnhw", self.weights(x), value).flatten(2))


# %% right: scores once more in forward, small numbers at the start
class SynthesizerAttention(nn.Module):
    def __init__(self, d_model, n_heads, max_len):
        super().__init__()
        self.n_heads = n_heads
        self.hidden = nn.Linear(d_model, d_model)
        self.B = nn.Parameter(torch.randn(n_heads, d_model // n_heads, max_len) * 0.02)
        self.b2 = nn.Parameter(torch.zeros(n_heads, max_len))
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def weights(self, x):
        hidden = split_heads(self.hidden(x).relu(), self.n_heads)
        scores = torch.einsum("bhnw,hwm->bhnm", hidden, self.B[..., : x.size(1)]) + self.b2[..., None, : x.size(1)]
        return torch.softmax(scores + causal_mask(x.size(1), x.device), dim=-1)

    def forward(self, x):
        b, n, d = x.shape
        w = d // self.n_heads
        hidden = torch.relu(self.hidden(x)).view(b, n, self.n_heads, w).transpose(1, 2)
        value = self.value(x).view(b, n, self.n_heads, w).transpose(1, 2)
        scores = torch.matmul(hidden, self.B[..., :n]) + self.b2[..., :n].unsqueeze(1)
        att = torch.softmax(scores + causal_mask(n, x.device), dim=-1)
        return self.output((att @ value).transpose(1, 2).contiguous().view(b, n, d))


# %% right: not cut, but masked at full width and padded with zeros
# of: with the helpers
# -        n = x.size(1)
# +        n, full = x.size(1), self.B.size(-1)
#          hidden = split_heads(torch.relu(self.hidden(x)), self.n_heads)
# -        scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n]
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        scores = hidden @ self.B + self.b2[:, None] + causal_mask(full, x.device)[:n]
# +        return torch.softmax(scores, dim=-1)[..., :n]


# %% wrong: full B -> B and b2, or the mask, are not cut to the length
# of: with the helpers
# -        scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n]
# +        scores = hidden @ self.B + self.b2[:, None]


# %% wrong: only b2 is cut -> B and b2, or the mask, are not cut to the length
# of: with the helpers
# -        scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n]
# +        scores = hidden @ self.B + self.b2[:, None, :n]


# %% wrong: the last columns -> B and b2 are cut from the wrong end
# of: with the helpers
# -        scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n]
# +        scores = hidden @ self.B[:, :, -n:] + self.b2[:, None, -n:]


# %% wrong: no relu -> the ReLU is missing
# of: with the helpers
# -        hidden = split_heads(torch.relu(self.hidden(x)), self.n_heads)
# +        hidden = split_heads(self.hidden(x), self.n_heads)


# %% wrong: relu on the scores -> the ReLU is on the scores
# of: with the helpers
# -        hidden = split_heads(torch.relu(self.hidden(x)), self.n_heads)
# -        scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n]
# +        hidden = split_heads(self.hidden(x), self.n_heads)
# +        scores = torch.relu(hidden @ self.B[:, :, :n] + self.b2[:, None, :n])


# %% wrong: scores of head 0 -> the heads share their scores: all use those of the first
# of: with the helpers
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return torch.softmax(scores[:, :1] + causal_mask(n, x.device), dim=-1)


# %% wrong: never split -> the heads share their scores: they are added up to one square
# of: with the helpers
# -        hidden = split_heads(torch.relu(self.hidden(x)), self.n_heads)
# -        scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n]
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        scores = torch.relu(self.hidden(x)) @ self.B[:, :, :n].flatten(0, 1) + self.b2[:, :n].sum(0)
# +        return torch.softmax(scores + causal_mask(n, x.device), dim=-1).unsqueeze(1)


# %% wrong: B of head 0 -> the heads share B and b2
# of: with the helpers
# -        scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n]
# +        scores = hidden @ self.B[0, :, :n] + self.b2[0, :n]


# %% wrong: root of the head's width -> the scores are divided by a square root
# of: with the helpers
# -        scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n]
# +        scores = (hidden @ self.B[:, :, :n] + self.b2[:, None, :n]) / hidden.size(-1) ** 0.5


# %% wrong: no b2 -> b2 has no effect: lost, or added along the wrong axis
# of: with the helpers
# -        scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n]
# +        scores = hidden @ self.B[:, :, :n]


# %% wrong: view in place of split -> the heads are cut by a reshape without a transpose
# of: with the helpers
# -        hidden = split_heads(torch.relu(self.hidden(x)), self.n_heads)
# +        hidden = torch.relu(self.hidden(x)).view(x.size(0), self.n_heads, n, -1)


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
# +        return torch.softmax(scores + causal_mask(n, x.device), dim=2)


# %% wrong: columns look at rows -> softmax over the wrong axis, and the mask turned round
# of: with the helpers
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return torch.softmax(scores + causal_mask(n, x.device).T, dim=2)


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


# %% wrong: the mask is added as 0 and 1 ->
# of: with the helpers
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return torch.softmax(scores + torch.ones(n, n).tril(), dim=-1)


# %% wrong: other names ->
# of: with the helpers
# -        self.hidden = nn.Linear(d_model, d_model)
# -        self.B = nn.Parameter(torch.randn(n_heads, d_model // n_heads, max_len))
# +        self.w1 = nn.Linear(d_model, d_model)
# +        self.w2 = nn.Parameter(torch.randn(n_heads, d_model // n_heads, max_len))
# ...
# -        hidden = split_heads(torch.relu(self.hidden(x)), self.n_heads)
# -        scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n]
# +        hidden = split_heads(torch.relu(self.w1(x)), self.n_heads)
# +        scores = hidden @ self.w2[:, :, :n] + self.b2[:, None, :n]


# %% wrong: one B for all heads ->
# of: with the helpers
# -        self.B = nn.Parameter(torch.randn(n_heads, d_model // n_heads, max_len))
# +        self.B = nn.Parameter(torch.randn(d_model // n_heads, max_len))
# ...
# -        scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n]
# +        scores = hidden @ self.B[:, :n] + self.b2[:, None, :n]


# %% wrong: a residual inside ->
# of: with the helpers
# -        return self.output(merge_heads(self.weights(x) @ value))
# +        return x + self.output(merge_heads(self.weights(x) @ value))


# %% wrong: scores averaged over the heads ->
# of: with the helpers
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return torch.softmax(scores.mean(1, keepdim=True) + causal_mask(n, x.device), dim=-1)


# %% wrong: b2 without its head ->
# of: with the helpers
# -        scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n]
# +        scores = hidden @ self.B[:, :, :n] + self.b2.mean(0)[:n]


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


# %% wrong: the mask of max_len -> B and b2, or the mask, are not cut to the length
# of: with the helpers
#          self.n_heads = n_heads
# +        self.mask = causal_mask(max_len)
# ...
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return torch.softmax(scores + self.mask, dim=-1)


# %% wrong: view everywhere -> all is split and merged by a reshape without a transpose
# of: with the helpers
# -        hidden = split_heads(torch.relu(self.hidden(x)), self.n_heads)
# +        hidden = torch.relu(self.hidden(x)).view(x.size(0), self.n_heads, n, -1)
# ...
# -        value = split_heads(self.value(x), self.n_heads)
# -        return self.output(merge_heads(self.weights(x) @ value))
# +        value = self.value(x).view(x.size(0), self.n_heads, x.size(1), -1)
# +        return self.output((self.weights(x) @ value).reshape(x.shape))


# %% wrong: B.data ->
# of: with the helpers
# -        scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n]
# +        scores = hidden @ self.B.data[:, :, :n] + self.b2[:, None, :n]


# %% wrong: B detached ->
# of: with the helpers
# -        scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n]
# +        scores = hidden @ self.B.detach()[:, :, :n] + self.b2[:, None, :n]


# %% wrong: the hidden layer detached ->
# of: with the helpers
# -        hidden = split_heads(torch.relu(self.hidden(x)), self.n_heads)
# +        hidden = split_heads(torch.relu(self.hidden(x).detach()), self.n_heads)


# %% wrong: weights without gradients ->
# of: with the helpers
# +    @torch.no_grad()
#      def weights(self, x):


# %% wrong: B starts with zeros ->
# of: with the helpers
# -        self.B = nn.Parameter(torch.randn(n_heads, d_model // n_heads, max_len))
# +        self.B = nn.Parameter(torch.zeros(n_heads, d_model // n_heads, max_len))


# %% wrong: B starts with ones ->
# of: with the helpers
# -        self.B = nn.Parameter(torch.randn(n_heads, d_model // n_heads, max_len))
# +        self.B = nn.Parameter(torch.ones(n_heads, d_model // n_heads, max_len))


# %% wrong: seeded in the constructor ->
# of: with the helpers
#          super().__init__()
# +        torch.manual_seed(0)


# %% wrong: the mask of the first sentence is kept ->
# of: with the helpers
#          self.output = nn.Linear(d_model, d_model)
# +        self.mask = None
# ...
#          n = x.size(1)
# +        if self.mask is None:
# +            self.mask = causal_mask(n, x.device)
# ...
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


# %% wrong: dropout on the weights ->
# of: with the helpers
#          self.output = nn.Linear(d_model, d_model)
# +        self.dropout = nn.Dropout(0.1)
# ...
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return self.dropout(torch.softmax(scores + causal_mask(n, x.device), dim=-1))


# %% wrong: noise on the scores while training ->
# of: with the helpers
#          scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n]
# +        if self.training:
# +            scores = scores + 0.1 * torch.randn_like(scores)


# %% wrong: exponentials by hand -> the exponential overflows
# of: with the helpers
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        powers = torch.exp(scores + causal_mask(n, x.device))
# +        return powers / powers.sum(dim=-1, keepdim=True)


# %% wrong: the future gets minus a hundred ->
# of: with the helpers
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        future = torch.ones(n, n, device=x.device).triu(1)
# +        return torch.softmax(scores - 100 * future, dim=-1)


# %% wrong: one sentence loses its axis ->
# of: with the helpers
# -        return self.output(merge_heads(self.weights(x) @ value))
# +        return self.output(merge_heads(self.weights(x) @ value)).squeeze(0)


# %% wrong: only values and output ->
# of: with the helpers
# -        value = split_heads(self.value(x), self.n_heads)
# -        return self.output(merge_heads(self.weights(x) @ value))
# +        return self.output(self.value(x))


# %% wrong: GELU in place of ReLU ->
# of: with the helpers
# -        hidden = split_heads(torch.relu(self.hidden(x)), self.n_heads)
# +        hidden = split_heads(nn.functional.gelu(self.hidden(x)), self.n_heads)


# %% wrong: -10000 for what is blocked ->
class SynthesizerAttention(nn.Module):
    def __init__(self, d_model, n_heads, max_len):
        super().__init__()
        self.n_heads = n_heads
        self.hidden = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)
        self.B = nn.Parameter(torch.randn(n_heads, d_model // n_heads, max_len))
        self.b2 = nn.Parameter(torch.zeros(n_heads, max_len))

    def weights(self, x):
        n = x.size(1)
        heads = split_heads(torch.relu(self.hidden(x)), self.n_heads)
        scores = heads @ self.B[:, :, :n] + self.b2[:, None, :n]
        return torch.softmax(
            scores.masked_fill(torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1), -1e4), dim=-1
        )

    def forward(self, x):
        value = split_heads(self.value(x), self.n_heads)
        return self.output(merge_heads(self.weights(x) @ value))


# %% wrong: the weights of the last sentence are kept ->
class SynthesizerAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__()
        self.hidden, self.value, self.output = (nn.Linear(d_model, d_model) for _ in range(3))
        self.n_heads, self.last = n_heads, None
        self.B = nn.Parameter(0.1 * torch.randn(n_heads, d_model // n_heads, max_len))
        self.b2 = nn.Parameter(torch.zeros(n_heads, max_len))

    def weights(self, x: Tensor) -> Tensor:
        if not self.training and self.last is not None and self.last[0] == x.shape:
            return self.last[1]
        n = x.shape[1]
        hidden = torch.relu(split_heads(self.hidden(x), self.n_heads))
        scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n] + causal_mask(n, x.device)
        self.last = (x.shape, torch.softmax(scores, dim=-1))
        return self.last[1]

    def forward(self, x: Tensor) -> Tensor:
        return self.output(merge_heads(self.weights(x) @ split_heads(self.value(x), self.n_heads)))


# %% wrong: B begins with ones, b2 with random numbers ->
class SynthesizerAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.hidden = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)
        self.B = nn.Parameter(torch.ones(n_heads, d_model // n_heads, max_len))  # not zeros
        self.b2 = nn.Parameter(torch.randn(n_heads, max_len))

    def weights(self, x: Tensor) -> Tensor:
        n = x.shape[1]
        hidden = torch.relu(split_heads(self.hidden(x), self.n_heads))
        scores = hidden @ self.B[..., :n] + self.b2[:, None, :n] + causal_mask(n, x.device)
        return torch.softmax(scores, dim=-1)

    def forward(self, x: Tensor) -> Tensor:
        return self.output(merge_heads(self.weights(x) @ split_heads(self.value(x), self.n_heads)))


# %% right: clamp in place of relu, xavier
class SynthesizerAttention(nn.Module):
    """einsum, and a mask of True and False."""

    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__()
        self.hidden, self.value, self.output = (nn.Linear(d_model, d_model) for _ in range(3))
        self.B = nn.Parameter(torch.empty(n_heads, d_model // n_heads, max_len))
        self.b2 = nn.Parameter(torch.empty(n_heads, max_len))
        nn.init.xavier_uniform_(self.B)
        nn.init.normal_(self.b2, std=0.02)

    def weights(self, x: Tensor) -> Tensor:
        b, n, _ = x.shape
        h, w, _ = self.B.shape
        hidden = self.hidden(x).clamp(min=0).reshape(b, n, h, w)
        scores = torch.einsum("bihw,hwj->bhij", hidden, self.B[:, :, :n]) + self.b2[:, None, :n]
        future = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
        return scores.masked_fill(future, float("-inf")).softmax(dim=-1)

    def forward(self, x: Tensor) -> Tensor:
        b, n, d = x.shape
        values = self.value(x).reshape(b, n, len(self.B), -1)
        mixed = torch.einsum("bhij,bjhw->bihw", self.weights(x), values)
        return self.output(mixed.reshape(b, n, d))


# %% wrong: everything in forward, and no weights ->
# of: scores once more in forward, small numbers at the start
# -    def weights(self, x):
# -        hidden = split_heads(self.hidden(x).relu(), self.n_heads)
# -        scores = torch.einsum("bhnw,hwm->bhnm", hidden, self.B[..., : x.size(1)]) + self.b2[..., None, : x.size(1)]
# -        return torch.softmax(scores + causal_mask(x.size(1), x.device), dim=-1)
# -
#      def forward(self, x):
#          b, n, d = x.shape


# %% wrong: the weights that can be looked at are not masked ->
# of: scores once more in forward, small numbers at the start
# -        return torch.softmax(scores + causal_mask(x.size(1), x.device), dim=-1)
# +        return torch.softmax(scores, dim=-1)


# %% wrong: the mask is made on the CPU ->
# of: with the helpers
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return torch.softmax(scores + causal_mask(n), dim=-1)
