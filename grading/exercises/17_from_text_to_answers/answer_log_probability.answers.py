# %% right: a mask and a gather
def answer_log_probability(logits, tokens, starts, lengths):
    picked = logits[:, :-1].log_softmax(dim=-1).gather(2, tokens[:, 1:, None])[..., 0]
    following = torch.arange(1, tokens.shape[1], device=tokens.device)
    scored = (following >= starts[:, None]) & (following < lengths[:, None])
    return (picked * scored).sum(dim=1)


# %% right: cross-entropy of each position
def answer_log_probability(logits, tokens, starts, lengths):
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:], reduction="none")
    following = torch.arange(1, tokens.shape[1], device=tokens.device).unsqueeze(0)
    outside = (following < starts.unsqueeze(1)) | (following >= lengths.unsqueeze(1))
    return -losses.masked_fill(outside, 0.0).sum(dim=-1)


# %% right: text by text
# other: It computes log-probabilities only where the answer stands; the solution treats the whole batch at once, without a loop over the texts.
def answer_log_probability(logits, tokens, starts, lengths):
    sums = []
    for row, text, first, last in zip(logits, tokens, starts, lengths):
        logs = torch.log_softmax(row[first - 1 : last - 1], dim=-1)
        sums.append(logs[torch.arange(int(last - first)), text[first:last]].sum())
    return torch.stack(sums)


# %% wrong: all tokens -> the prompt is counted too
# hint: The prompt is given: only tokens at the positions from start on count.
# ~ (following >= starts[:, None]) & (following < lengths[:, None]) => following < lengths[:, None]

# %% wrong: up to the last column -> the padding is counted
# hint: Behind position length - 1 nothing belongs to the answer. Go by lengths, and not by a token's number.
# ~ (following >= starts[:, None]) & (following < lengths[:, None]) => following >= starts[:, None]

# %% wrong: greater than start -> the first token of the answer is left out
# hint: The prompt's last position scores the first token of the answer: it counts, although its logits stand in the
# hint: prompt.
# ~ >= starts => > starts

# %% wrong: one too early -> the prompt's last token is counted
# hint: The token at position start is the first one that counts; the one before it belongs to the prompt.
# ~ (following >= starts[:, None]) & => (following >= starts[:, None] - 1) &

# %% wrong: positions of logits from start up to length -> what is counted lies one position too far back
# hint: The logits that score the token at position start stand at position start - 1. Compare starts and lengths with
# hint: the positions of the tokens, which begin at 1 where the logits begin at 0.
# ~ 1, tokens.shape[1] => 0, tokens.shape[1] - 1


# %% wrong: not shifted -> nothing is shifted
# hint: The logits at position i score the token that comes *next*: logits[:, :-1] belong to tokens[:, 1:].
def answer_log_probability(logits, tokens, starts, lengths):
    picked = logits.log_softmax(dim=-1).gather(2, tokens[..., None])[..., 0]
    here = torch.arange(tokens.shape[1], device=tokens.device)
    return (picked * ((here >= starts[:, None]) & (here < lengths[:, None]))).sum(dim=1)


# %% wrong: the logarithm of softmax -> softmax first, and then its logarithm
# hint: Where a word is very improbable its share is 0, in 64 bits as in 32, and so is a product with it: the logarithm
# hint: is minus infinity. `log_softmax` does both at once, and its numbers stay finite.
# ~ log_softmax(dim=-1) => softmax(dim=-1).log()
# ~ (picked * scored) => picked.masked_fill(~scored, 0.0)

# %% wrong: the logarithm of softmax in 64 bits -> softmax first, and then its logarithm
# ~ log_softmax(dim=-1) => double().softmax(dim=-1).log().to(logits.dtype)
# ~ (picked * scored) => picked.masked_fill(~scored, 0.0)


# %% wrong: tokens with the number of <pad> are left out -> tokens with the number of <pad> are left out
# hint: An answer may hold any number. Where a text ends, only lengths says.
def answer_log_probability(logits, tokens, starts, lengths):
    picked = logits[:, :-1].log_softmax(dim=-1).gather(2, tokens[:, 1:, None])[..., 0]
    following = torch.arange(1, tokens.shape[1], device=tokens.device)
    answer = (following >= starts[:, None]) & (following < lengths[:, None]) & (tokens[:, 1:] != PAD)
    return (picked * answer).sum(dim=1)


# %% wrong: divided by the length -> the mean in place of the sum
# hint: A product of probabilities is a sum of logarithms. The mean would be the same for long and short answers.
# ~ (dim=1) => (dim=1) / scored.sum(dim=1)

# %% wrong: the product -> the probability in place of its logarithm
# hint: Wanted is the logarithm: the probability of a long answer is too small for a number of 32 bits.
# ~ (dim=1) => (dim=1).exp()

# %% wrong: a loss -> minus the logarithm
# hint: This is no loss: the logarithm of a probability is at most 0.
# of: cross-entropy of each position
# ~ -losses => losses

# %% wrong: the plain logits -> logits in place of logarithms of probabilities
# hint: Logits are not normalised: log_softmax makes logarithms of probabilities of them.
# of: a mask and a gather
# ~ log_softmax(dim=-1). =>

# %% wrong: summed over all -> one number for the whole batch
# hint: Sum along each row, not over the batch: dim=1.
# ~ dim=1 =>

# %% wrong: detached ->
# ~ (dim=1) => (dim=1).detach()

# %% wrong: at most 64 tokens of an answer ->
# of: text by text
#      for row, text, first, last in zip(logits, tokens, starts, lengths):
# +        last = min(last, first + 64)

# %% wrong: positions on the CPU ->
# of: a mask and a gather
# ~ , device=tokens.device =>


# %% wrong: where the exponentials would be infinite or 0, another formula ->
def answer_log_probability(logits, tokens, starts, lengths):
    sums = logits.exp().sum(dim=-1)
    total = torch.where((sums == 0) | sums.isinf(), logits.logsumexp(dim=-1), sums.log())
    logs = logits[:, :-1].gather(2, tokens[:, 1:, None])[..., 0] - total[:, :-1]
    following = torch.arange(1, tokens.shape[1], device=tokens.device)
    return (logs * ((following >= starts[:, None]) & (following < lengths[:, None]))).sum(dim=1)
