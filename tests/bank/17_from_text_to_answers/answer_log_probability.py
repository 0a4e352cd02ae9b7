# %% right: a mask and a gather
def answer_log_probability(logits, tokens, starts, lengths):
    picked = logits[:, :-1].log_softmax(dim=-1).gather(2, tokens[:, 1:, None])[..., 0]
    following = torch.arange(1, tokens.shape[1], device=tokens.device)
    scored = (following >= starts[:, None]) & (following < lengths[:, None])
    return (picked * scored).sum(dim=1)


# %% right: cross-entropy of each place
def answer_log_probability(logits, tokens, starts, lengths):
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:], reduction="none")
    following = torch.arange(1, tokens.shape[1], device=tokens.device).unsqueeze(0)
    outside = (following < starts.unsqueeze(1)) | (following >= lengths.unsqueeze(1))
    return -losses.masked_fill(outside, 0.0).sum(dim=-1)


# %% right: text by text
def answer_log_probability(logits, tokens, starts, lengths):
    sums = []
    for row, text, first, last in zip(logits, tokens, starts, lengths):
        logs = torch.log_softmax(row[first - 1 : last - 1], dim=-1)
        sums.append(logs[torch.arange(int(last - first)), text[first:last]].sum())
    return torch.stack(sums)


# %% wrong: all tokens -> the prompt is counted too
# of: a mask and a gather
# -    scored = (following >= starts[:, None]) & (following < lengths[:, None])
# +    scored = following < lengths[:, None]


# %% wrong: up to the last column -> the padding is counted
# of: a mask and a gather
# -    scored = (following >= starts[:, None]) & (following < lengths[:, None])
# +    scored = following >= starts[:, None]


# %% wrong: divided by the length -> the mean in place of the sum
# of: a mask and a gather
# -    return (picked * scored).sum(dim=1)
# +    return (picked * scored).sum(dim=1) / scored.sum(dim=1)


# %% wrong: the product -> the probability in place of its logarithm
# of: a mask and a gather
# -    return (picked * scored).sum(dim=1)
# +    return (picked * scored).sum(dim=1).exp()


# %% wrong: a loss -> minus the logarithm
# of: cross-entropy of each place
# -    return -losses.masked_fill(outside, 0.0).sum(dim=-1)
# +    return losses.masked_fill(outside, 0.0).sum(dim=-1)


# %% wrong: the plain logits -> logits in place of logarithms of probabilities
# of: a mask and a gather
# -    picked = logits[:, :-1].log_softmax(dim=-1).gather(2, tokens[:, 1:, None])[..., 0]
# +    picked = logits[:, :-1].gather(2, tokens[:, 1:, None])[..., 0]


# %% wrong: greater than start -> the first token of the answer is left out
# of: a mask and a gather
# -    scored = (following >= starts[:, None]) & (following < lengths[:, None])
# +    scored = (following > starts[:, None]) & (following < lengths[:, None])


# %% wrong: one too early -> the prompt's last token is counted
# of: a mask and a gather
# -    scored = (following >= starts[:, None]) & (following < lengths[:, None])
# +    scored = (following >= starts[:, None] - 1) & (following < lengths[:, None])


# %% wrong: not shifted -> nothing is shifted
def answer_log_probability(logits, tokens, starts, lengths):
    picked = logits.log_softmax(dim=-1).gather(2, tokens[..., None])[..., 0]
    here = torch.arange(tokens.shape[1], device=tokens.device)
    return (picked * ((here >= starts[:, None]) & (here < lengths[:, None]))).sum(dim=1)


# %% wrong: summed over all -> one number for the whole batch
# of: a mask and a gather
# -    return (picked * scored).sum(dim=1)
# +    return (picked * scored).sum()


# %% wrong: the logarithm of softmax -> softmax first, and then its logarithm
def answer_log_probability(logits, tokens, starts, lengths):
    picked = logits[:, :-1].softmax(dim=-1).log().gather(2, tokens[:, 1:, None])[..., 0]
    following = torch.arange(1, tokens.shape[1], device=tokens.device)
    scored = (following >= starts[:, None]) & (following < lengths[:, None])
    return picked.masked_fill(~scored, 0.0).sum(dim=1)


# %% wrong: detached ->
# of: a mask and a gather
# -    return (picked * scored).sum(dim=1)
# +    return (picked * scored).sum(dim=1).detach()


# %% wrong: as numbers ->
# of: text by text
# -        sums.append(logs[torch.arange(int(last - first)), text[first:last]].sum())
# -    return torch.stack(sums)
# +        sums.append(logs[torch.arange(int(last - first)), text[first:last]].sum().item())
# +    return torch.tensor(sums)


# %% wrong: at most 64 tokens of an answer ->
# of: text by text
# -        logs = torch.log_softmax(row[first - 1 : last - 1], dim=-1)
# -        sums.append(logs[torch.arange(int(last - first)), text[first:last]].sum())
# +        last = min(last, first + 64)
# +        logs = torch.log_softmax(row[first - 1 : last - 1], dim=-1)
# +        sums.append(logs[torch.arange(int(last - first)), text[first:last]].sum())


# %% wrong: the logarithm of a product -> softmax first, and then its logarithm
def answer_log_probability(logits, tokens, starts, lengths):
    p = logits.softmax(dim=-1)
    out = []
    for row in range(len(p)):
        chance = p.new_ones(())
        for place in range(int(starts[row]), int(lengths[row])):
            chance = chance * p[row, place - 1, tokens[row, place]]
        out.append(chance.log())
    return torch.stack(out)


# %% wrong: places of logits from start up to length -> what is counted lies one place too far back
# of: a mask and a gather
# -    following = torch.arange(1, tokens.shape[1], device=tokens.device)
# +    following = torch.arange(0, tokens.shape[1] - 1, device=tokens.device)


# %% wrong: the logarithm of softmax and a little ->
# of: a mask and a gather
# -    picked = logits[:, :-1].log_softmax(dim=-1).gather(2, tokens[:, 1:, None])[..., 0]
# +    picked = (logits[:, :-1].softmax(dim=-1) + 1e-12).log().gather(2, tokens[:, 1:, None])[..., 0]


# %% wrong: tokens with the number of <pad> are left out -> tokens with the number of <pad> are left out
def answer_log_probability(logits, tokens, starts, lengths):
    picked = logits[:, :-1].log_softmax(dim=-1).gather(2, tokens[:, 1:, None])[..., 0]
    following = torch.arange(1, tokens.shape[1], device=tokens.device)
    answer = (following >= starts[:, None]) & (following < lengths[:, None]) & (tokens[:, 1:] != PAD)
    return (picked * answer).sum(dim=1)


# %% wrong: places on the CPU ->
# of: a mask and a gather
# -    following = torch.arange(1, tokens.shape[1], device=tokens.device)
# +    following = torch.arange(1, tokens.shape[1])
