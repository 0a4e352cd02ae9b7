# %% right: cut first
def synthesizer_scores(x, A, b1, B, b2):
    n = x.shape[0]
    return torch.relu(x @ A + b1) @ B[:, :n] + b2[:n]


# %% right: cut at the end
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
def synthesizer_scores(x, A, b1, B, b2):
    hidden = nn.functional.linear(x, A.T, b1).clamp(min=0)
    return nn.functional.linear(hidden, B.T[: len(x)], b2[: len(x)])


# %% right: einsum
def synthesizer_scores(x, A, b1, B, b2):
    hidden = torch.einsum("nd,dw->nw", x, A).add(b1).relu()
    return torch.einsum("nw,wj->nj", hidden, B).add(b2).narrow(1, 0, len(x))


# %% wrong: all columns -> not cut to the length
def synthesizer_scores(x, A, b1, B, b2):
    return torch.relu(x @ A + b1) @ B + b2


# %% wrong: the last columns -> cut from the wrong end
def synthesizer_scores(x, A, b1, B, b2):
    n = len(x)
    return torch.relu(x @ A + b1) @ B[:, -n:] + b2[-n:]


# %% wrong: linear -> the ReLU is missing
def synthesizer_scores(x, A, b1, B, b2):
    n = len(x)
    return (x @ A + b1) @ B[:, :n] + b2[:n]


# %% wrong: relu around everything -> the ReLU comes last
def synthesizer_scores(x, A, b1, B, b2):
    n = len(x)
    return torch.relu((x @ A + b1) @ B[:, :n] + b2[:n])


# %% wrong: two relus -> a second ReLU on the scores
def synthesizer_scores(x, A, b1, B, b2):
    n = len(x)
    return torch.relu(torch.relu(x @ A + b1) @ B[:, :n] + b2[:n])


# %% wrong: relu of the product only -> the ReLU comes before b1 is added
def synthesizer_scores(x, A, b1, B, b2):
    n = len(x)
    return (torch.relu(x @ A) + b1) @ B[:, :n] + b2[:n]


# %% wrong: without b1 -> b1 is lost
def synthesizer_scores(x, A, b1, B, b2):
    return torch.relu(x @ A) @ B[:, : len(x)] + b2[: len(x)]


# %% wrong: without b2 -> b2 is lost
def synthesizer_scores(x, A, b1, B, b2):
    return torch.relu(x @ A + b1) @ B[:, : len(x)]


# %% wrong: weights -> the softmax is already taken
def synthesizer_scores(x, A, b1, B, b2):
    scores = torch.relu(x @ A + b1) @ B[:, : len(x)] + b2[: len(x)]
    return scores.softmax(dim=1)


# %% wrong: the habit of notebook 03 -> the scores are divided by a square root
def synthesizer_scores(x, A, b1, B, b2):
    scores = torch.relu(x @ A + b1) @ B[:, : len(x)] + b2[: len(x)]
    return scores / B.size(0) ** 0.5


# %% wrong: returns nothing ->
def synthesizer_scores(x, A, b1, B, b2):
    scores = torch.relu(x @ A + b1) @ B[:, : len(x)] + b2[: len(x)]


# %% wrong: rows and columns exchanged ->
def synthesizer_scores(x, A, b1, B, b2):
    return (torch.relu(x @ A + b1) @ B[:, : len(x)] + b2[: len(x)]).T


# %% wrong: tokens compared ->
def synthesizer_scores(x, A, b1, B, b2):
    hidden = torch.relu(x @ A + b1)
    return hidden @ hidden.T


# %% wrong: masked already ->
def synthesizer_scores(x, A, b1, B, b2):
    n = len(x)
    return torch.relu(x @ A + b1) @ B[:, :n] + b2[:n] + torch.full((n, n), -torch.inf).triu(1)


# %% wrong: relu6 ->
def synthesizer_scores(x, A, b1, B, b2):
    n = len(x)
    return nn.functional.relu6(x @ A + b1) @ B[:, :n] + b2[:n]


# %% wrong: GELU ->
def synthesizer_scores(x, A, b1, B, b2):
    n = len(x)
    return nn.functional.gelu(x @ A + b1) @ B[:, :n] + b2[:n]


# %% wrong: absolute values ->
def synthesizer_scores(x, A, b1, B, b2):
    n = len(x)
    return (x @ A + b1).abs() @ B[:, :n] + b2[:n]


# %% wrong: rows of B cut, too ->
def synthesizer_scores(x, A, b1, B, b2):
    n = len(x)
    hidden = torch.relu(x @ A + b1)
    return hidden[:, :n] @ B[:n, :n] + b2[:n]


# %% wrong: b2 down the rows -> b2 is added along the wrong axis
def synthesizer_scores(x, A, b1, B, b2):
    n = len(x)
    return torch.relu(x @ A + b1) @ B[:, :n] + b2[:n].unsqueeze(1)


# %% wrong: cut to the width in place of the length ->
def synthesizer_scores(x, A, b1, B, b2):
    n = len(x)
    d = x.size(1)
    return torch.relu(x @ A + b1) @ B[:, :d] + b2[:d]


# %% wrong: one token loses its axes ->
def synthesizer_scores(x, A, b1, B, b2):
    n = len(x)
    return (torch.relu(x @ A + b1) @ B[:, :n] + b2[:n]).squeeze()


# %% wrong: zeros ->
def synthesizer_scores(x, A, b1, B, b2):
    n = len(x)
    return torch.zeros(n, n)


# %% wrong: the bias is added in place ->
def synthesizer_scores(x, A, b1, B, b2):
    n = len(x)
    A += 0
    b2 += 1
    return torch.relu(x @ A + b1) @ B[:, :n] + b2[:n] - 1


# %% wrong: the future gets nothing ->
def synthesizer_scores(x, A, b1, B, b2):
    n = len(x)
    return (torch.relu(x @ A + b1) @ B[:, :n] + b2[:n]).tril()


# %% wrong: a vector of zeros is taken for padding ->
def synthesizer_scores(x: Tensor, A: Tensor, b1: Tensor, B: Tensor, b2: Tensor) -> Tensor:
    n = x.shape[0]
    scores = torch.relu(x @ A + b1) @ B[:, :n] + b2[:n]
    is_token = (x != 0).any(dim=1, keepdim=True)
    return torch.where(is_token, scores, torch.zeros_like(scores))


# %% wrong: at most 32 places ->
def synthesizer_scores(x, A, b1, B, b2):
    scores = (torch.relu(x @ A + b1) @ B + b2)[:, : len(x)]
    scores[:, 32:] = 0
    return scores


# %% wrong: zeros of another type ->
# of: a double loop
# -    scores = torch.zeros(n, n, dtype=x.dtype)
# +    scores = torch.zeros(n, n)
