# %% right: a mask and a gather
def answer_loss(logits, tokens, starts, lengths):
    logs = logits[:, :-1].log_softmax(dim=-1)
    picked = logs.gather(2, tokens[:, 1:, None])[..., 0]
    following = torch.arange(1, tokens.shape[1], device=tokens.device)
    scored = (following >= starts[:, None]) & (following < lengths[:, None])
    return -picked[scored].mean()


# %% right: cross-entropy with targets to skip
# other: Targets of -100, which `cross_entropy` skips, are what training libraries use; the solution finds the scored positions by one comparison, without a loop over the texts.
def answer_loss(logits, tokens, starts, lengths):
    target = tokens[:, 1:].clone()
    for row, start, length in zip(target, starts.tolist(), lengths.tolist()):
        row[: start - 1] = -100
        row[length - 1 :] = -100
    return F.cross_entropy(logits[:, :-1].reshape(-1, logits.shape[-1]), target.reshape(-1), ignore_index=-100)


# %% right: text by text
def answer_loss(logits, tokens, starts, lengths):
    rows, right = [], []
    for text in range(len(tokens)):
        first, last = int(starts[text]), int(lengths[text])
        rows.append(logits[text, first - 1 : last - 1])
        right.append(tokens[text, first:last])
    return F.cross_entropy(torch.cat(rows), torch.cat(right))


# %% right: logsumexp by hand
def answer_loss(logits, tokens, starts, lengths):
    total, count = 0, 0
    for text, (first, last) in enumerate(zip(starts.tolist(), lengths.tolist())):
        before = logits[text, first - 1 : last - 1]
        right = before[torch.arange(last - first), tokens[text, first:last]]
        total = total + (before.logsumexp(dim=-1) - right).sum()
        count += last - first
    return total / count


# %% wrong: everything is learned -> the prompt is scored too
# hint: The prompt is given: only tokens at the positions from start on count.
# ~ starts[:, None] => 1

# %% wrong: up to the last column -> the padding is scored
# hint: Behind position length - 1 nothing belongs to the answer. Go by lengths, and not by a token's number.
# ~ ) & (following < lengths[:, None]) => ).expand(len(tokens), -1)

# %% wrong: greater than start -> the first token of the answer is left out
# hint: The prompt's last position scores the first token of the answer: it counts, although its logits stand in the
# hint: prompt.
# ~ >= starts => > starts
# ~ picked[scored].mean => (picked * scored).sum() / scored.sum


# %% wrong: positions counted in the input -> the prompt's last token is scored
# hint: The token at position start is the first one that counts; the one before it belongs to the prompt.
def answer_loss(logits, tokens, starts, lengths):
    picked = logits[:, :-1].log_softmax(dim=-1).gather(2, tokens[:, 1:, None])[..., 0]
    following = torch.arange(1, tokens.shape[1], device=tokens.device)
    scored = (following >= starts[:, None] - 1) & (following < lengths[:, None])
    return -picked[scored].mean()


# %% wrong: positions of logits from start up to length -> what is scored lies one position too far back
# hint: The logits that score the token at position start stand at position start - 1. Compare starts and lengths with
# hint: the positions of the tokens, which begin at 1 where the logits begin at 0.
# ~ 1, tokens.shape[1] => 0, tokens.shape[1] - 1


# %% wrong: not shifted -> nothing is shifted
# hint: The logits at position i score the token that comes *next*: logits[:, :-1] belong to tokens[:, 1:].
def answer_loss(logits, tokens, starts, lengths):
    picked = logits.log_softmax(dim=-1).gather(2, tokens[..., None])[..., 0]
    here = torch.arange(tokens.shape[1], device=tokens.device)
    return -picked[(here >= starts[:, None]) & (here < lengths[:, None])].mean()


# %% wrong: the logarithm of softmax -> softmax first, and then its logarithm
# hint: Where a word is very improbable its share is 0, in 64 bits as in 32, and so is a product with it: the logarithm
# hint: is minus infinity. `log_softmax` does both at once, and its numbers stay finite.
# ~ log_softmax(dim=-1) => softmax(dim=-1).log()

# %% wrong: the logarithm of softmax in 64 bits -> softmax first, and then its logarithm
# of: a mask and a gather
# ~ log_softmax(dim=-1) => double().softmax(dim=-1).log().to(logits.dtype)

# %% wrong: the padding by its number -> tokens with the number of <pad> are left out
# hint: An answer may hold any number. Where a text ends, only lengths says.
# ~ following < lengths[:, None] => tokens[:, 1:] != 0


# %% wrong: ignores the number of <pad> -> tokens with the number of <pad> have the loss 0
# hint: An answer may hold any number: that of <pad> is scored as every other. Where a text ends, only lengths says.
def answer_loss(logits, tokens, starts, lengths):
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:], ignore_index=PAD, reduction="none")
    following = torch.arange(1, tokens.shape[1], device=tokens.device)
    asked = (following >= starts[:, None]) & (following < lengths[:, None])
    return losses[asked].mean()


# %% wrong: positions of logits from start on, none for an answer of one token -> the first token of the answer is left out, and of one that is alone the loss is 0
# hint: The prompt's last position scores the first token of the answer: it counts, although its logits stand in the
# hint: prompt. So an answer of one token has a loss, too.
def answer_loss(logits, tokens, starts, lengths):
    b, n, size = logits.shape
    target = tokens.roll(-1, dims=1)
    loss = F.cross_entropy(logits.reshape(-1, size), target.reshape(-1), reduction="none").reshape(b, n)
    position = torch.arange(n).expand(b, n)
    counts = (position >= starts.unsqueeze(1)) & (position + 1 < lengths.unsqueeze(1))
    return torch.where(counts, loss, 0.0).sum() / counts.sum().clamp(min=1)


# %% wrong: each text by itself -> the mean of the texts' means
# hint: A token of a short answer would weigh more than one of a long answer. Take one mean over all of them.
def answer_loss(logits, tokens, starts, lengths):
    losses = []
    for text in range(len(tokens)):
        first, last = int(starts[text]), int(lengths[text])
        losses.append(F.cross_entropy(logits[text, first - 1 : last - 1], tokens[text, first:last]))
    return torch.stack(losses).mean()


# %% wrong: a sum -> the sum in place of the mean
# hint: The loss would grow with the batch, and so would the steps: divide by the number of tokens that count.
# ~ mean => sum

# %% wrong: zeros in the mean -> divided by all positions
# hint: Long prompts would make the loss small. Divide by the number of tokens that count.
# ~ picked[scored] => (picked * scored)

# %% wrong: by the batch -> divided by the number of texts
# hint: A batch of long answers would weigh more. Divide by the number of tokens that count.
# ~ mean() => sum() / len(tokens)

# %% wrong: softmax twice -> softmax before the cross-entropy
# hint: F.cross_entropy takes logits and does the softmax itself; twice is too flat, and learns badly.
# of: text by text
# ~ (logits[text, first - 1 : last - 1]) => (logits[text, first - 1 : last - 1].softmax(dim=-1))

# %% wrong: no sign -> the sign is missing
# hint: Logarithms of probabilities are negative; a loss is what shall become small. Take minus the mean.
# of: a mask and a gather
# ~ -picked => picked

# %% wrong: log2 -> bits in place of nats
# hint: The logarithm is the natural one, in nats: torch.log, and not torch.log2.
# ~ mean() => mean() / math.log(2)

# %% wrong: the logarithm last -> the mean of the probabilities
# hint: The loss is the mean of the logarithms, not the logarithm of the mean.
# ~ mean => exp().mean().log


# %% wrong: the first text's start for all -> one length for all texts
# hint: Each text has a start and a length of its own: compare the positions with starts[:, None] and lengths[:, None].
def answer_loss(logits, tokens, starts, lengths):
    first = int(starts[0])
    rows = logits[:, first - 1 : -1].reshape(-1, logits.shape[-1])
    return F.cross_entropy(rows, tokens[:, first:].reshape(-1))


# %% wrong: tokens are changed ->
def answer_loss(logits, tokens, starts, lengths):
    for row, start, length in zip(tokens, starts.tolist(), lengths.tolist()):
        row[:start] = -100
        row[length:] = -100
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=-100)


# %% wrong: at most 128 positions ->
# of: text by text
# ~ int(starts[text]), int(lengths[text]) => min(int(starts[text]), 128), min(int(lengths[text]), 128)

# %% wrong: positions on the CPU ->
# of: a mask and a gather
# ~ , device=tokens.device =>


# %% wrong: where the exponentials would be infinite or 0, another formula ->
def answer_loss(logits, tokens, starts, lengths):
    rows = torch.cat([row[first - 1 : last - 1] for row, first, last in zip(logits, starts, lengths)])
    right = torch.cat([row[first:last] for row, first, last in zip(tokens, starts, lengths)])
    sums = rows.exp().sum(dim=-1)
    total = torch.where((sums == 0) | sums.isinf(), rows.logsumexp(dim=-1), sums.log())
    return (total - rows.gather(1, right[:, None])[:, 0]).mean()
