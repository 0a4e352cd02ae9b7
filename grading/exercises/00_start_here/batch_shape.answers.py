# %% right: a tuple
def batch_shape(b, n, d):
    return (b, n, d)


# %% right: asks a tensor
# other: It leaves the answer to PyTorch, as with real data; the tuple needs no tensor, and so no memory for `b * n * d` numbers.
# ~ return (b, n, d) => return torch.zeros(b, n, d).shape

# %% right: a list
# ~ return (b, n, d) => return [b, n, d]


# %% right: from a nested list
def batch_shape(b, n, d):
    batch = [[[0.0] * d for _ in range(n)] for _ in range(b)]
    return tuple(torch.tensor(batch).size())


# %% right: the shape of random numbers
def batch_shape(b, n, d):
    x = torch.randn(b, n, d)
    return x.size(0), x.size(1), x.size(2)


# %% wrong: sequence first -> the tokens come first
# hint: In this course the batch comes first: (b, n, d). (n, b, d) is the older order, called sequence first.
# ~ return (b, n, d) => return (n, b, d)

# %% wrong: width in the middle -> the width comes before the tokens
# hint: The numbers of one token lie side by side, on the last axis: (b, n, d).
# ~ return (b, n, d) => return (b, d, n)

# %% wrong: backwards -> the order is reversed
# hint: Count from the outside in: sentences of the batch, tokens of a sentence, numbers of a token.
# ~ return (b, n, d) => return d, n, b

# %% wrong: batch last -> the batch comes last
# hint: (n, d) is one sentence, and the batch is the axis in front of it: (b, n, d).
# ~ return (b, n, d) => return (n, d, b)

# %% wrong: width first -> the width comes first
# hint: A token is a row of d numbers, and what lies in a row is the last axis: (b, n, d).
# ~ return (b, n, d) => return (d, b, n)

# %% wrong: how many numbers -> the product in place of the shape
# hint: b * n * d is how many numbers there are in all. The shape keeps the three sizes apart.
# ~ return (b, n, d) => return torch.zeros(b, n, d).numel()

# %% wrong: one sentence -> the batch is missing
# hint: (n, d) is one sentence. A batch of b of them has one more axis, in front.
# ~ return (b, n, d) => return (n, d)

# %% wrong: prints ->
# ~ return (b, n, d) => print((b, n, d))

# %% wrong: the example only ->
# ~ return (b, n, d) => return (2, 5, 8)

# %% wrong: text ->
# ~ return (b, n, d) => return f"({b}, {n}, {d})"

# %% wrong: at most 1,000 tokens ->
# ~ return (b, n, d) => return min(b, 1000), n, d
