# %% right: a mask and a gather
def answer_loss(logits, tokens, starts, lengths):
    logs = logits[:, :-1].log_softmax(dim=-1)
    picked = logs.gather(2, tokens[:, 1:, None])[..., 0]
    following = torch.arange(1, tokens.shape[1], device=tokens.device)
    scored = (following >= starts[:, None]) & (following < lengths[:, None])
    return -picked[scored].mean()


# %% right: cross-entropy with targets to skip
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
# of: a mask and a gather
# -    scored = (following >= starts[:, None]) & (following < lengths[:, None])
# +    scored = (following >= 1) & (following < lengths[:, None])


# %% wrong: not shifted -> nothing is shifted
def answer_loss(logits, tokens, starts, lengths):
    picked = logits.log_softmax(dim=-1).gather(2, tokens[..., None])[..., 0]
    here = torch.arange(tokens.shape[1], device=tokens.device)
    return -picked[(here >= starts[:, None]) & (here < lengths[:, None])].mean()


# %% wrong: greater than start -> the first token of the answer is left out
def answer_loss(logits, tokens, starts, lengths):
    logs = logits[:, :-1].log_softmax(dim=-1)
    picked = logs.gather(2, tokens[:, 1:, None])[..., 0]
    following = torch.arange(1, tokens.shape[1], device=tokens.device)
    scored = (following > starts[:, None]) & (following < lengths[:, None])
    return -(picked * scored).sum() / scored.sum()


# %% wrong: places counted in the input -> the prompt's last token is scored
def answer_loss(logits, tokens, starts, lengths):
    picked = logits[:, :-1].log_softmax(dim=-1).gather(2, tokens[:, 1:, None])[..., 0]
    following = torch.arange(1, tokens.shape[1], device=tokens.device)
    scored = (following >= starts[:, None] - 1) & (following < lengths[:, None])
    return -picked[scored].mean()


# %% wrong: up to the last column -> the padding is scored
# of: a mask and a gather
# -    scored = (following >= starts[:, None]) & (following < lengths[:, None])
# +    scored = (following >= starts[:, None]).expand(len(tokens), -1)


# %% wrong: the padding by its number -> tokens with the number of <pad> are left out
# of: a mask and a gather
# -    scored = (following >= starts[:, None]) & (following < lengths[:, None])
# +    scored = (following >= starts[:, None]) & (tokens[:, 1:] != 0)


# %% wrong: each text by itself -> the mean of the texts' means
def answer_loss(logits, tokens, starts, lengths):
    losses = []
    for text in range(len(tokens)):
        first, last = int(starts[text]), int(lengths[text])
        losses.append(F.cross_entropy(logits[text, first - 1 : last - 1], tokens[text, first:last]))
    return torch.stack(losses).mean()


# %% wrong: a sum -> the sum in place of the mean
# of: a mask and a gather
# -    return -picked[scored].mean()
# +    return -picked[scored].sum()


# %% wrong: zeros in the mean -> divided by all places
# of: a mask and a gather
# -    return -picked[scored].mean()
# +    return -(picked * scored).mean()


# %% wrong: by the batch -> divided by the number of texts
# of: a mask and a gather
# -    return -picked[scored].mean()
# +    return -picked[scored].sum() / len(tokens)


# %% wrong: softmax twice -> softmax before the cross-entropy
# of: text by text
# -        rows.append(logits[text, first - 1 : last - 1])
# +        rows.append(logits[text, first - 1 : last - 1].softmax(dim=-1))


# %% wrong: no sign -> the sign is missing
# of: a mask and a gather
# -    return -picked[scored].mean()
# +    return picked[scored].mean()


# %% wrong: log2 -> bits in place of nats
# of: a mask and a gather
# -    return -picked[scored].mean()
# +    return -picked[scored].mean() / math.log(2)


# %% wrong: the logarithm last -> the mean of the probabilities
# of: a mask and a gather
# -    return -picked[scored].mean()
# +    return -picked[scored].exp().mean().log()


# %% wrong: the logarithm of softmax -> softmax first, and then its logarithm
# of: a mask and a gather
# -    logs = logits[:, :-1].log_softmax(dim=-1)
# +    logs = logits[:, :-1].softmax(dim=-1).log()


# %% wrong: a Python number ->
# of: a mask and a gather
# -    return -picked[scored].mean()
# +    return float(-picked[scored].mean())


# %% wrong: one length for all ->
def answer_loss(logits, tokens, starts, lengths):
    first, last = int(starts.max()), int(lengths.min())
    return F.cross_entropy(logits[:, first - 1 : last - 1].flatten(0, 1), tokens[:, first:last].flatten())


# %% wrong: tokens are changed ->
def answer_loss(logits, tokens, starts, lengths):
    for row, start, length in zip(tokens, starts.tolist(), lengths.tolist()):
        row[:start] = -100
        row[length:] = -100
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=-100)


# %% wrong: at most 128 places ->
# of: text by text
# -        first, last = int(starts[text]), int(lengths[text])
# +        first, last = min(int(starts[text]), 128), min(int(lengths[text]), 128)


# %% wrong: the first text's start for all -> one length for all texts
def answer_loss(logits, tokens, starts, lengths):
    first = int(starts[0])
    rows = logits[:, first - 1 : -1].reshape(-1, logits.shape[-1])
    return F.cross_entropy(rows, tokens[:, first:].reshape(-1))


# %% wrong: places of logits from start on, none for an answer of one token -> the first token of the answer is left out, and of one that is alone the loss is 0
def answer_loss(logits, tokens, starts, lengths):
    b, n, size = logits.shape
    target = tokens.roll(-1, dims=1)
    loss = F.cross_entropy(logits.reshape(-1, size), target.reshape(-1), reduction="none").reshape(b, n)
    place = torch.arange(n).expand(b, n)
    counts = (place >= starts.unsqueeze(1)) & (place + 1 < lengths.unsqueeze(1))
    return torch.where(counts, loss, 0.0).sum() / counts.sum().clamp(min=1)


# %% wrong: places of logits from start up to length -> what is scored lies one place too far back
# of: a mask and a gather
# -    following = torch.arange(1, tokens.shape[1], device=tokens.device)
# +    following = torch.arange(0, tokens.shape[1] - 1, device=tokens.device)


# %% wrong: the logarithm of softmax and a little ->
# of: a mask and a gather
# -    logs = logits[:, :-1].log_softmax(dim=-1)
# +    logs = (logits[:, :-1].softmax(dim=-1) + 1e-12).log()


# %% wrong: places on the CPU ->
# of: a mask and a gather
# -    following = torch.arange(1, tokens.shape[1], device=tokens.device)
# +    following = torch.arange(1, tokens.shape[1])
