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
# other: It writes only what differs from the dense synthesizer, the scores; the solution makes no layers only to delete them, and can be read by itself.
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
# -        scores = self.scores[:, :n, :n]
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        scores = self.scores[:, :n, :n] + causal_mask(n, x.device)
# +        powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
# +        return powers / powers.sum(dim=-1, keepdim=True)

# %% wrong: hidden, B and b2 again -> depends on x: this is the dense synthesizer again
# hint: Here nothing makes the scores: they ARE the parameters, one number for each head, row and column.
# -        self.scores = nn.Parameter(torch.zeros(n_heads, max_len, max_len))
# +        self.hidden = nn.Linear(d_model, d_model)
# +        self.B = nn.Parameter(torch.randn(n_heads, d_model // n_heads, max_len))
# +        self.b2 = nn.Parameter(torch.zeros(n_heads, max_len))
# ...
# -        scores = self.scores[:, :n, :n]
# +        hidden = split_heads(torch.relu(self.hidden(x)), self.n_heads)
# +        scores = hidden @ self.B[:, :, :n] + self.b2[:, None, :n]

# %% wrong: values compared -> depends on x: values are compared with each other
# hint: A dot product of tokens is what this layer does without. The scores are self.scores alone.
# ~ scores = self.scores[:, :n, :n] => value = split_heads(self.value(x), self.n_heads)
# ~ (scores => (self.scores[:, :n, :n] + value @ value.transpose(-2, -1)

# %% wrong: tokens compared -> depends on x: tokens are compared with each other
# hint: A dot product of tokens is what this layer does without. The scores are self.scores alone.
# ~ scores = self.scores[:, :n, :n] => heads = split_heads(x, self.n_heads)
# ~ (scores => (heads @ heads.mT + self.scores[:, :n, :n]

# %% wrong: scores times the mean of each token -> depends on x: the scores are multiplied with x
# hint: Of x, only the length may matter for the scores. They are self.scores alone.
# ~ [:, :n, :n] => [:, :n, :n] * x.mean(-1)[:, None, :, None]

# %% wrong: a buffer -> the scores do not train
# hint: A buffer, or a parameter without gradient, keeps the numbers it started with. Use nn.Parameter, so that training
# hint: can choose them.
# ~ scores = nn.Parameter(torch.zeros => register_buffer("scores", torch.randn

# %% wrong: drawn anew, though the parameter is there -> the scores are drawn anew at each call
# hint: Random is only where they start. Make them once, in the constructor, and use self.scores in each call.
# ~ self.scores[:, :n, :n] => torch.randn(self.n_heads, n, n)

# %% wrong: drawn anew at each call -> the scores are no parameter, and drawn anew at each call
# hint: Random is only where they start, and training must be able to change them: make self.scores once, in the
# hint: constructor, with nn.Parameter.
# of: drawn anew, though the parameter is there
# -        self.scores = nn.Parameter(torch.zeros(n_heads, max_len, max_len))

# %% wrong: one square -> one square of scores for all heads
# hint: Each head has its own square: the parameter has the shape (h, max_len, max_len).
# of: with the helpers
# ~ n_heads, max_len, => max_len,
# ~ , :n, => n,

# %% wrong: an axis of size 1 for all heads -> one square, with an axis of size 1, for all heads
# hint: Each head has its own square: the first axis of scores has the size h.
# ~ (n_heads, max_len, max_len) => (1, max_len, max_len)

# %% wrong: scores of head 0 -> all heads use the square of the first
# hint: Head k has its own square of scores, self.scores[k].
# ~ [:, :n, :n] => [0, :n, :n]

# %% wrong: full square -> scores or mask are not cut to the length
# hint: It works only while a sentence is exactly max_len long. For n tokens keep the first n rows and columns of the
# hint: scores, and take causal_mask(n).
# ~ [:, :n, :n] =>

# %% wrong: the last rows and columns -> cut from the wrong end
# hint: Row 0 and column 0 belong to the first token. Keep the first n rows and columns, not the last.
# ~ :n, :n => -n:, -n:

# %% wrong: transposed -> rows and columns are exchanged
# hint: Row i is the token that looks, column j the one looked at: use the square as it stands.
# ~ [:, :n, :n] => [:, :n, :n].transpose(1, 2)

# %% wrong: split and merged by a reshape -> values split and heads merged by a reshape without a transpose
# hint: Shapes fit, but a head gets all numbers of a few tokens in place of a few numbers of all. Use split_heads and
# hint: merge_heads.
# -        value = split_heads(self.value(x), self.n_heads)
# -        return self.output(merge_heads(self.weights(x) @ value))
# +        b, n, d = x.shape
# +        value = self.value(x).reshape(b, self.n_heads, n, d // self.n_heads)
# +        return self.output((self.weights(x) @ value).reshape(b, n, d))

# %% wrong: the mask as a buffer -> the mask is a buffer
# hint: It would work, but nothing is kept beside the parameters: make the mask in `weights`, causal_mask(n).
#          self.n_heads = n_heads
# +        self.register_buffer("mask", causal_mask(max_len))
# ...
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        return torch.softmax(scores + self.mask[:n, :n], dim=-1)

# %% wrong: values split by a reshape -> the values are split by a reshape without a transpose
# hint: Shapes fit, but a head gets all numbers of a few tokens in place of a few numbers of all. Use split_heads.
# of: split and merged by a reshape
# ~ (self.weights(x) @ value).reshape(b, n, d) => merge_heads(self.weights(x) @ value)

# %% wrong: merged by a reshape -> the heads are merged by a reshape without a transpose
# hint: Shapes fit, but a token gets numbers of other tokens: the axis of the heads stands before that of the tokens.
# hint: Use merge_heads.
# of: with the helpers
# ~ merge_heads(self.weights(x) @ value) => (self.weights(x) @ value).reshape(x.shape)

# %% wrong: exponentials by hand -> the exponential overflows
# hint: exp(89) is infinite in these numbers, and exp(-104) is 0: the weights become NaN. `torch.softmax` takes the
# hint: largest score of a row off first.
# -        return torch.softmax(scores + causal_mask(n, x.device), dim=-1)
# +        powers = torch.exp(scores).tril()
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
# ~ (scores + causal_mask(n, x.device), dim=-1) => (scores + causal_mask(n, x.device), dim=1)

# %% wrong: columns look at rows -> softmax over the wrong axis, and the mask turned round
# hint: Each row, one token that looks, shares out a weight of 1: softmax over the last axis, with causal_mask(n) as it
# hint: is.
# ~ , dim=- => .T, dim=

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

# %% wrong: scores.data ->
# ~ scores[:, :n, :n] => scores.data[:, :n, :n]

# %% wrong: scores start very large ->
# ~ torch.zeros => 100 * torch.randn

# %% wrong: noise on the scores while training ->
#          scores = self.scores[:, :n, :n]
# +        if self.training:
# +            scores = scores + torch.randn_like(scores)

# %% wrong: seeded in the constructor ->
#          super().__init__()
# +        torch.manual_seed(0)
# ...
# -        self.scores = nn.Parameter(torch.zeros(n_heads, max_len, max_len))
# +        self.scores = nn.Parameter(0.1 * torch.randn(n_heads, max_len, max_len))

# %% wrong: -10000 for what is blocked ->
# ~ scores = self.scores[:, :n, :n] => later = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
# ~ scores + causal_mask(n, x.device) => self.scores[:, :n, :n].masked_fill(later, -1e4)


# %% wrong: a position of zeros is taken for padding ->
class RandomSynthesizer(nn.Module):
    def __init__(self, d_model: int, n_heads: int, max_len: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)
        self.scores = nn.Parameter(torch.zeros(n_heads, max_len, max_len))

    def weights(self, x: Tensor) -> Tensor:
        n = x.shape[1]
        padding = (x == 0).all(dim=-1).all(dim=0)  # (n,)
        hidden = padding[None, :] & ~torch.eye(n, dtype=torch.bool, device=x.device)
        square = self.scores[:, :n, :n] + causal_mask(n, x.device)
        return square.masked_fill(hidden, -torch.inf).softmax(dim=-1)

    def forward(self, x: Tensor) -> Tensor:
        values = split_heads(self.value(x), self.n_heads)
        return self.output(merge_heads(self.weights(x) @ values))


# %% wrong: a call changes the parameter ->
# of: a position of zeros is taken for padding
# -        padding = (x == 0).all(dim=-1).all(dim=0)  # (n,)
# -        hidden = padding[None, :] & ~torch.eye(n, dtype=torch.bool, device=x.device)
# -        square = self.scores[:, :n, :n] + causal_mask(n, x.device)
# -        return square.masked_fill(hidden, -torch.inf).softmax(dim=-1)
# +        block = self.scores.data[:, :n, :n]
# +        block -= block.amax(dim=-1, keepdim=True)  # so that no power is too large
# +        return (self.scores[:, :n, :n] + causal_mask(n, x.device)).softmax(dim=-1)

# %% wrong: weights for each text ->
# of: a subclass of the dense one
# ~ (-1) => (-1).expand(len(x), -1, -1, -1)

# %% wrong: the mask is made on the CPU ->
# of: with the helpers
# ~ , x.device =>
