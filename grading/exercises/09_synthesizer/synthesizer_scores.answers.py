# %% right: cut first
def synthesizer_scores(x, A, b1, B, b2):
    n = x.shape[0]
    return torch.relu(x @ A + b1) @ B[:, :n] + b2[:n]


# %% right: cut at the end
# other: One cut at the end is enough, after the formula as it stands; the solution cuts `B` and `b2` first, and computes no score that is thrown away.
def synthesizer_scores(x, A, b1, B, b2):
    return (torch.relu(x @ A + b1) @ B + b2)[:, : x.size(0)]


# %% right: a double loop
def synthesizer_scores(x, A, b1, B, b2):
    n = len(x)
    scores = torch.zeros(n, n, dtype=x.dtype)
    for i in range(n):
        hidden = [max(0.0, float(x[i] @ A[:, k] + b1[k])) for k in range(A.shape[1])]
        for j in range(n):
            scores[i, j] = sum(hidden[k] * B[k, j] for k in range(len(hidden))) + b2[j]
    return scores


# %% right: nn.functional and clamp
# ~ n = x.shape[0] => hidden = nn.functional.linear(x, A.T, b1).clamp(min=0)
# ~ torch.relu(x @ A + b1) @ B[:, :n] + b2[:n] => nn.functional.linear(hidden, B.T[: len(x)], b2[: len(x)])

# %% right: einsum
# ~ n = x.shape[0] => hidden = torch.einsum("nd,dw->nw", x, A).add(b1).relu()
# ~ relu(x @ A + b1) @ B[:, :n] + b2[:n] => einsum("nw,wj->nj", hidden, B).add(b2).narrow(1, 0, len(x))


# %% wrong: all columns -> not cut to the length
# hint: The result has max_len columns: scores for positions where the sentence has no token. Keep the first n columns
# hint: of B and of b2.
def synthesizer_scores(x, A, b1, B, b2):
    return torch.relu(x @ A + b1) @ B + b2


# %% wrong: the last columns -> cut from the wrong end
# hint: Column j of B belongs to position j, counted from the start: keep the first n columns, not the last.
# ~ x.shape[0] => len(x)
# ~ [:, :n] + b2[:n] => [:, -n:] + b2[-n:]

# %% wrong: linear -> the ReLU is missing
# hint: Without it, A and B multiply to one single matrix, and the scores are linear in x. Put torch.relu around x @ A +
# hint: b1.
# ~ x.shape[0] => len(x)
# ~ torch.relu =>

# %% wrong: relu around everything -> the ReLU comes last
# hint: Scores may be negative. The ReLU stands between the two products: relu(x @ A + b1), then B.
# ~ x.shape[0] => len(x)
# ~ (x @ A + b1) @ B[:, :n] + b2[:n] => ((x @ A + b1) @ B[:, :n] + b2[:n])

# %% wrong: two relus -> a second ReLU on the scores
# hint: One ReLU, between the two products. Scores may be negative.
# ~ x.shape[0] => len(x)
# ~ (x @ A + b1) @ B[:, :n] + b2[:n] => (torch.relu(x @ A + b1) @ B[:, :n] + b2[:n])

# %% wrong: relu of the product only -> the ReLU comes before b1 is added
# hint: b1 shifts the point where the ReLU opens: relu(x @ A + b1).
# ~ x.shape[0] => len(x)
# ~ torch.relu(x @ A + b1) => (torch.relu(x @ A) + b1)


# %% wrong: without b1 -> b1 is lost
# hint: Add b1 to x @ A, before the ReLU.
def synthesizer_scores(x, A, b1, B, b2):
    return torch.relu(x @ A) @ B[:, : len(x)] + b2[: len(x)]


# %% wrong: without b2 -> b2 is lost
# hint: Add b2, cut to the length, to every row of scores.
def synthesizer_scores(x, A, b1, B, b2):
    return torch.relu(x @ A + b1) @ B[:, : len(x)]


# %% wrong: b2 down the rows -> b2 is added along the wrong axis
# hint: b2 has a number for each position that is looked at, so for each column: `+ b2[:n]` adds it to every row.
# ~ x.shape[0] => len(x)
# ~ [:n] => [:n].unsqueeze(1)

# %% wrong: weights -> the softmax is already taken
# hint: Return the scores. The mask has to be added before the softmax, and that comes in the next exercise.
# ~ n = x.shape[0] => scores = torch.relu(x @ A + b1) @ B[:, : len(x)] + b2[: len(x)]
# ~ torch.relu(x @ A + b1) @ B[:, :n] + b2[:n] => scores.softmax(dim=1)

# %% wrong: the habit of notebook 03 -> the scores are divided by a square root
# hint: That belongs to the dot product of a query and a key (notebook 03). This formula has no such factor.
# ~ n = x.shape[0] => scores = torch.relu(x @ A + b1) @ B[:, : len(x)] + b2[: len(x)]
# ~ torch.relu(x @ A + b1) @ B[:, :n] + b2[:n] => scores / B.size(0) ** 0.5

# %% wrong: GELU ->
# ~ x.shape[0] => len(x)
# ~ torch.relu => nn.functional.gelu

# %% wrong: one token loses its axes ->
# ~ x.shape[0] => len(x)
# ~ torch.relu(x @ A + b1) @ B[:, :n] + b2[:n] => (torch.relu(x @ A + b1) @ B[:, :n] + b2[:n]).squeeze()

# %% wrong: zeros ->
# ~ x.shape[0] => len(x)
# ~ relu(x @ A + b1) @ B[:, :n] + b2[:n] => zeros(n, n)


# %% wrong: the bias is added in place ->
def synthesizer_scores(x, A, b1, B, b2):
    n = len(x)
    A += 0
    b2 += 1
    return torch.relu(x @ A + b1) @ B[:, :n] + b2[:n] - 1


# %% wrong: a vector of zeros is taken for padding ->
def synthesizer_scores(x: Tensor, A: Tensor, b1: Tensor, B: Tensor, b2: Tensor) -> Tensor:
    n = x.shape[0]
    scores = torch.relu(x @ A + b1) @ B[:, :n] + b2[:n]
    is_token = (x != 0).any(dim=1, keepdim=True)
    return torch.where(is_token, scores, torch.zeros_like(scores))


# %% wrong: at most 32 positions ->
def synthesizer_scores(x, A, b1, B, b2):
    scores = (torch.relu(x @ A + b1) @ B + b2)[:, : len(x)]
    scores[:, 32:] = 0
    return scores


# %% wrong: zeros of another type ->
# of: a double loop
# ~ , dtype=x.dtype =>
