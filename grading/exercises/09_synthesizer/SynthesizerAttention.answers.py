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
# other: The letters name batch, head and position, so that no axis is moved by hand; the solution reuses the helpers, and cuts `B` before the product in place of the scores after it.
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
# ~ n = x.size(1) => n, full = x.size(1), self.B.size(-1)
# ~ B[:, :, :n] + self.b2[:, None, :n] => B + self.b2[:, None] + causal_mask(full, x.device)[:n]
# ~ (scores + causal_mask(n, x.device), dim=-1) => (scores, dim=-1)[..., :n]


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


# %% wrong: full B -> B and b2, or the mask, are not cut to the length
# hint: It works only while a sentence is exactly max_len long. For n tokens keep the first n positions of B and b2, and
# hint: take causal_mask(n).
# ~ B[:, :, :n] + self.b2[:, None, :n] => B + self.b2[:, None]

# %% wrong: the last columns -> B and b2 are cut from the wrong end
# hint: Position 0 of B belongs to the first token. Keep the first n positions, not the last n.
# ~ [:, :, :n] + self.b2[:, None, :n] => [:, :, -n:] + self.b2[:, None, -n:]

# %% wrong: no relu -> the ReLU is missing
# hint: Without it the two layers collapse into one: put torch.relu around self.hidden(x).
# ~ torch.relu(self.hidden(x)) => self.hidden(x)

# %% wrong: relu on the scores -> the ReLU is on the scores
# hint: Scores may be negative. The ReLU stands between hidden and B: torch.relu(self.hidden(x)).
# ~ torch.relu(self.hidden(x)) => self.hidden(x)
# ~ hidden @ self.B[:, :, :n] + self.b2[:, None, :n] => torch.relu(hidden @ self.B[:, :, :n] + self.b2[:, None, :n])

# %% wrong: scores of head 0 -> the heads share their scores: all use those of the first
# hint: Heads that look at the same positions are one head. Each needs the scores of its own part of hidden(x).
# ~ (scores + causal_mask(n, x.device), dim=-1) => (scores[:, :1] + causal_mask(n, x.device), dim=-1)

# %% wrong: never split -> the heads share their scores: they are added up to one square
# hint: Each head keeps its own square of scores: the result of the product is (b, h, n, n), and nothing is summed over
# hint: the heads.
# -        hidden = split_heads(torch.relu(self.hidden(x)), self.n_heads)
# -        scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n]
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        scores = torch.relu(self.hidden(x)) @ self.B[:, :, :n].flatten(0, 1) + self.b2[:, :n].sum(0)
# +        return torch.softmax(scores + causal_mask(n, x.device), dim=-1).unsqueeze(1)

# %% wrong: B of head 0 -> the heads share B and b2
# hint: Head k has its own B[k] and b2[k]; here all heads use those of head 0.
# ~ [:, :, :n] + self.b2[:, None, :n] => [0, :, :n] + self.b2[0, :n]

# %% wrong: root of the head's width -> the scores are divided by a square root
# hint: That belongs to the dot product of a query and a key (notebook 03). This formula has no such factor.
# -        scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n]
# +        scores = (hidden @ self.B[:, :, :n] + self.b2[:, None, :n]) / hidden.size(-1) ** 0.5

# %% wrong: no b2 -> b2 has no effect: lost, or added along the wrong axis
# hint: Add self.b2, cut to the length, to the scores of its head: shape (h, 1, n), so self.b2[:, None, :n]. The same
# hint: number on all scores of a row changes nothing, since the softmax takes it out.
# ~ [:, :, :n] + self.b2[:, None, :n] => [:, :, :n]

# %% wrong: view in place of split -> the heads are cut by a reshape without a transpose
# hint: Shapes fit, but a head gets all numbers of a few tokens in place of a few numbers of all. Use split_heads.
# -        hidden = split_heads(torch.relu(self.hidden(x)), self.n_heads)
# +        hidden = torch.relu(self.hidden(x)).view(x.size(0), self.n_heads, n, -1)

# %% wrong: view everywhere -> all is split and merged by a reshape without a transpose
# hint: Shapes fit, but a head gets all numbers of a few tokens in place of a few numbers of all. Use split_heads and
# hint: merge_heads.
# of: view in place of split
# ~ split_heads(self.value(x), self.n_heads) => self.value(x).view(x.size(0), self.n_heads, x.size(1), -1)
# ~ merge_heads(self.weights(x) @ value) => (self.weights(x) @ value).reshape(x.shape)

# %% wrong: the mask as a buffer -> the mask is a buffer
# hint: It would work, but nothing is kept beside the parameters: make the mask in `weights`, causal_mask(n).
# of: with the helpers
#          self.n_heads = n_heads
# +        self.register_buffer("mask", causal_mask(max_len))
# ...
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return torch.softmax(scores + self.mask[:n, :n], dim=-1)

# %% wrong: values split by a reshape -> the values are split by a reshape without a transpose
# hint: Shapes fit, but a head gets all numbers of a few tokens in place of a few numbers of all. Use split_heads.
# -        value = split_heads(self.value(x), self.n_heads)
# +        b, n, d = x.shape
# +        value = self.value(x).reshape(b, self.n_heads, n, d // self.n_heads)

# %% wrong: merged by a reshape -> the heads are merged by a reshape without a transpose
# hint: Shapes fit, but a token gets numbers of other tokens: the axis of the heads stands before that of the tokens.
# hint: Use merge_heads.
# ~ merge_heads(self.weights(x) @ value) => (self.weights(x) @ value).reshape(x.shape)

# %% wrong: exponentials by hand -> the exponential overflows
# hint: exp(89) is infinite in these numbers, and exp(-104) is 0: the weights become NaN. `torch.softmax` takes the
# hint: largest score of a row off first.
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        powers = torch.exp(scores + causal_mask(n, x.device))
# +        return powers / powers.sum(dim=-1, keepdim=True)

# %% wrong: no causal mask -> no mask
# hint: A token gives weight to tokens that come after it. Add causal_mask(n) to the scores before the softmax.
# ~ scores + causal_mask(n, x.device), => scores,

# %% wrong: tril of the weights -> the mask comes after the softmax
# hint: The rows no longer sum to 1: the future has taken its share before it was removed. Add the mask to the scores,
# hint: before the softmax.
# ~ softmax(scores + causal_mask(n, x.device), dim=-1) => tril(scores.softmax(dim=-1))

# %% wrong: softmax over the queries -> softmax over the wrong axis
# hint: Each row, one token that looks, shares out a weight of 1: softmax over the last axis.
# ~ (scores + causal_mask(n, x.device), dim=-1) => (scores + causal_mask(n, x.device), dim=2)

# %% wrong: columns look at rows -> softmax over the wrong axis, and the mask turned round
# hint: Each row, one token that looks, shares out a weight of 1: softmax over the last axis, with causal_mask(n) as it
# hint: is.
# ~ , dim=-1 => .T, dim=2

# %% wrong: not projected -> the output projection is missing
# hint: The merged heads must go through `self.output`: it is the only place where the heads are mixed.
# -        value = split_heads(self.value(x), self.n_heads)
# -        return self.output(merge_heads(self.weights(x) @ value))
# +        return merge_heads(self.weights(x) @ split_heads(self.value(x), self.n_heads))

# %% wrong: x in place of values -> the tokens themselves are averaged
# hint: What a token gives is its value: split self.value(x) into heads, not x.
# -        value = split_heads(self.value(x), self.n_heads)
# -        return self.output(merge_heads(self.weights(x) @ value))
# +        return self.output(merge_heads(self.weights(x) @ split_heads(x, self.n_heads)))

# %% wrong: B.data ->
# ~ B[:, :, :n] => B.data[:, :, :n]

# %% wrong: B starts with zeros ->
# ~ randn => zeros

# %% wrong: seeded in the constructor ->
#          super().__init__()
# +        torch.manual_seed(0)

# %% wrong: the weights are kept by length ->
#          self.output = nn.Linear(d_model, d_model)
# +        self.known = {}
# ...
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        if n not in self.known:
# +            self.known[n] = torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return self.known[n]

# %% wrong: dropout on the weights ->
#          self.output = nn.Linear(d_model, d_model)
# +        self.dropout = nn.Dropout(0.1)
# ...
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return self.dropout(torch.softmax(scores + causal_mask(n, x.device), dim=-1))


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


# %% wrong: everything in forward, and no weights ->
# of: scores once more in forward, small numbers at the start
# -    def weights(self, x):
# -        hidden = split_heads(self.hidden(x).relu(), self.n_heads)
# -        scores = torch.einsum("bhnw,hwm->bhnm", hidden, self.B[..., : x.size(1)]) + self.b2[..., None, : x.size(1)]
# -        return torch.softmax(scores + causal_mask(x.size(1), x.device), dim=-1)
# -

# %% wrong: the mask is made on the CPU ->
# of: with the helpers
# ~ , x.device =>
