# %% right: the largest logit is taken away
def cross_entropy(logits, targets):
    shifted = logits - logits.max(dim=-1, keepdim=True).values
    log_sums = shifted.exp().sum(dim=-1).log()
    right = shifted.gather(-1, targets[..., None])[..., 0]
    return (log_sums - right).mean()


# %% right: rows in one axis, the largest logit given back
def cross_entropy(logits, targets):
    rows, right = logits.reshape(-1, logits.shape[-1]), targets.reshape(-1)
    highest = torch.amax(rows, dim=1)
    log_sums = highest + torch.log(torch.sum(torch.exp(rows - highest[:, None]), dim=1))
    return torch.mean(log_sums - rows[torch.arange(len(rows)), right])


# %% right: the largest logit detached
def cross_entropy(logits, targets):
    z = logits - logits.detach().max(-1, keepdim=True)[0]
    log_probabilities = z - z.exp().sum(-1, keepdim=True).log()
    return -log_probabilities.gather(-1, targets.unsqueeze(-1)).mean()


# %% right: place by place
def cross_entropy(logits, targets):
    total, count = 0.0, 0
    for row, target in zip(logits.flatten(0, -2), targets.flatten()):
        highest = row.max()
        total = total + highest + (row - highest).exp().sum().log() - row[target]
        count += 1
    return total / count


# %% right: a sum with zeros and ones
def cross_entropy(logits, targets):
    size = logits.size(-1)
    chosen = (targets[..., None] == torch.arange(size, device=logits.device)).to(logits.dtype)
    shifted = logits - logits.amax(-1, keepdim=True)
    losses = shifted.exp().sum(-1).log() - (chosen * shifted).sum(-1)
    return losses.sum() / losses.numel()


# %% right: differences from the right logit
def cross_entropy(logits, targets):
    """ln of the sum of e**(z - z_t): the largest of these differences is taken out."""
    apart = logits - logits.gather(-1, targets[..., None])
    highest = apart.amax(dim=-1)
    return (highest + (apart - highest[..., None]).exp().sum(dim=-1).log()).mean()


# %% wrong: exp of the logits -> e**z is taken of the logits as they are
def cross_entropy(logits, targets):
    log_sums = logits.exp().sum(dim=-1).log()
    return (log_sums - logits.gather(-1, targets[..., None])[..., 0]).mean()


# %% wrong: the quotient written down -> the quotient is computed as it stands
def cross_entropy(logits, targets):
    powers = torch.exp(logits)
    right = powers.gather(-1, targets[..., None])[..., 0]
    return -torch.log(right / powers.sum(-1)).mean()


# %% wrong: log of the softmax -> the logarithm of a probability that is rounded to 0
def cross_entropy(logits, targets):
    chances = torch.softmax(logits, dim=-1)
    return -chances.gather(-1, targets[..., None]).log().mean()


# %% wrong: 1e-9 is added -> probabilities are kept from 0 by a small number
# of: log of the softmax
# -    return -chances.gather(-1, targets[..., None]).log().mean()
# +    return -(chances.gather(-1, targets[..., None]) + 1e-9).log().mean()


# %% wrong: probabilities are at least 1e-12 ->
# of: log of the softmax
# -    return -chances.gather(-1, targets[..., None]).log().mean()
# +    return -chances.gather(-1, targets[..., None]).clamp(min=1e-12).log().mean()


# %% wrong: logits between -80 and 80 -> logits are cut off
# of: exp of the logits
# -    log_sums = logits.exp().sum(dim=-1).log()
# +    logits = logits.clamp(-80, 80)
# +    log_sums = logits.exp().sum(dim=-1).log()


# %% wrong: shifted in the sum only -> the largest logit is taken away and not given back
# of: the largest logit is taken away
# -    right = shifted.gather(-1, targets[..., None])[..., 0]
# +    right = logits.gather(-1, targets[..., None])[..., 0]


# %% wrong: one maximum for all -> the largest logit of all places is taken away
# of: the largest logit is taken away
# -    shifted = logits - logits.max(dim=-1, keepdim=True).values
# +    shifted = logits - logits.max()


# %% wrong: the smallest logit is taken away ->
# of: the largest logit is taken away
# -    shifted = logits - logits.max(dim=-1, keepdim=True).values
# +    shifted = logits - logits.min(dim=-1, keepdim=True).values


# %% wrong: the mean logit is taken away ->
# of: the largest logit is taken away
# -    shifted = logits - logits.max(dim=-1, keepdim=True).values
# +    shifted = logits - logits.mean(dim=-1, keepdim=True)


# %% wrong: sum -> the sum in place of the mean
# of: the largest logit is taken away
# -    return (log_sums - right).mean()
# +    return (log_sums - right).sum()


# %% wrong: divided by the texts ->
# of: the largest logit is taken away
# -    return (log_sums - right).mean()
# +    return (log_sums - right).sum() / len(targets)


# %% wrong: no mean -> a loss for each place
# of: the largest logit is taken away
# -    return (log_sums - right).mean()
# +    return log_sums - right


# %% wrong: right minus sums -> the sign is turned over
# of: the largest logit is taken away
# -    return (log_sums - right).mean()
# +    return (right - log_sums).mean()


# %% wrong: the sum over the first axis -> the sum runs over the places
def cross_entropy(logits, targets):
    shifted = logits - logits.amax(dim=0, keepdim=True)
    log_probabilities = shifted - shifted.exp().sum(dim=0, keepdim=True).log()
    return -log_probabilities.gather(-1, targets[..., None]).mean()


# %% wrong: log2 -> bits in place of nats
def cross_entropy(logits, targets):
    shifted = logits - logits.max(dim=-1, keepdim=True).values
    log_sums = shifted.exp().sum(dim=-1).log2()
    right = shifted.gather(-1, targets[..., None])[..., 0] / math.log(2)
    return (log_sums - right).mean()


# %% wrong: detached in the sum only -> the largest logit is detached in one place only
def cross_entropy(logits, targets):
    highest = logits.max(dim=-1, keepdim=True).values
    log_sums = (logits - highest.detach()).exp().sum(dim=-1).log() + highest[..., 0]
    return (log_sums - logits.gather(-1, targets[..., None])[..., 0]).mean()


# %% wrong: a number of Python ->
# of: the largest logit is taken away
# -    return (log_sums - right).mean()
# +    return (log_sums - right).mean().item()


# %% wrong: without gradients ->
# of: the largest logit is taken away
# -    log_sums = shifted.exp().sum(dim=-1).log()
# +    with torch.no_grad():
# +        log_sums = shifted.exp().sum(dim=-1).log()


# %% wrong: the logits given are changed ->
# of: the largest logit is taken away
# -    shifted = logits - logits.max(dim=-1, keepdim=True).values
# +    shifted = logits.sub_(logits.max(dim=-1, keepdim=True).values)


# %% wrong: two axes only ->
def cross_entropy(logits, targets):
    shifted = logits - logits.max(dim=1, keepdim=True).values
    log_sums = shifted.exp().sum(dim=1).log()
    return (log_sums - shifted[torch.arange(len(targets)), targets]).mean()


# %% wrong: everything in single precision ->
# of: the largest logit is taken away
# -    shifted = logits - logits.max(dim=-1, keepdim=True).values
# +    shifted = logits.float() - logits.float().max(dim=-1, keepdim=True).values


# %% wrong: it always expects the likeliest token ->
# of: the largest logit is taken away
# -    right = shifted.gather(-1, targets[..., None])[..., 0]
# +    right = shifted.amax(dim=-1)


# %% wrong: the classes are made on the CPU ->
# of: a sum with zeros and ones
# -    chosen = (targets[..., None] == torch.arange(size, device=logits.device)).to(logits.dtype)
# +    chosen = (targets[..., None] == torch.arange(size)).to(logits.dtype)


# %% wrong: the mean of the means of 32 places each ->
# of: the largest logit is taken away
# -    return (log_sums - right).mean()
# +    return torch.stack([part.mean() for part in (log_sums - right).flatten().split(32)]).mean()


# %% wrong: the hundred largest logits of a row are summed ->
# of: the largest logit is taken away
# -    log_sums = shifted.exp().sum(dim=-1).log()
# +    log_sums = shifted.topk(min(100, shifted.size(-1))).values.exp().sum(dim=-1).log()


# %% wrong: PyTorch's own loss -> a ready-made part in place of an answer
def cross_entropy(logits, targets):
    return F.cross_entropy(logits.flatten(0, -2), targets.flatten())


# %% wrong: PyTorch's own loss as a module -> a ready-made part in place of an answer
def cross_entropy(logits, targets):
    return nn.CrossEntropyLoss()(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))


# %% wrong: torch.logsumexp -> a ready-made part in place of an answer
def cross_entropy(logits, targets):
    log_sums = torch.logsumexp(logits, dim=-1)
    return (log_sums - logits.gather(-1, targets[..., None])[..., 0]).mean()


# %% wrong: logsumexp, a method -> a ready-made part in place of an answer
# of: torch.logsumexp
# -    log_sums = torch.logsumexp(logits, dim=-1)
# +    log_sums = logits.logsumexp(-1)


# %% wrong: the method log_softmax -> a ready-made part in place of an answer
def cross_entropy(logits, targets):
    return -logits.log_softmax(dim=-1).gather(-1, targets.unsqueeze(-1)).mean()


# %% wrong: torch.log_softmax -> a ready-made part in place of an answer
# of: the method log_softmax
# -    return -logits.log_softmax(dim=-1).gather(-1, targets.unsqueeze(-1)).mean()
# +    return -torch.log_softmax(logits, dim=-1).gather(-1, targets.unsqueeze(-1)).mean()


# %% wrong: log_softmax and nll_loss of torch.nn.functional -> a ready-made part in place of an answer
def cross_entropy(logits, targets):
    rows = F.log_softmax(logits.reshape(-1, logits.shape[-1]), dim=-1)
    return F.nll_loss(rows, targets.reshape(-1))


# %% wrong: log_softmax of torch.special -> a ready-made part in place of an answer
# of: the method log_softmax
# -    return -logits.log_softmax(dim=-1).gather(-1, targets.unsqueeze(-1)).mean()
# +    return -torch.special.log_softmax(logits, -1).gather(-1, targets.unsqueeze(-1)).mean()


# %% wrong: differences below -80 are cut off ->
# of: the largest logit is taken away
# -    shifted = logits - logits.max(dim=-1, keepdim=True).values
# +    shifted = (logits - logits.max(dim=-1, keepdim=True).values).clamp(min=-80)


# %% wrong: detached where it is added -> the largest logit is detached only where it is added again
def cross_entropy(logits, targets):
    m = torch.amax(logits, dim=-1, keepdim=True)
    log_sum_exp = (logits - m).exp().sum(dim=-1).log() + m.detach().squeeze(-1)
    right_ones = torch.take_along_dim(logits, targets[..., None], dim=-1)[..., 0]
    return torch.mean(log_sum_exp - right_ones)


# %% wrong: in 64 bits, differences below -700 are cut off ->
def cross_entropy(logits, targets):
    shifted = (logits - logits.max(dim=-1, keepdim=True).values).double().clamp(min=-700)
    log_sums = shifted.exp().sum(dim=-1).log()
    right = shifted.gather(-1, targets[..., None])[..., 0]
    return (log_sums - right).mean().to(logits.dtype)


# %% wrong: PyTorch's own distribution -> a ready-made part in place of an answer
def cross_entropy(logits, targets):
    return -torch.distributions.Categorical(logits=logits).log_prob(targets).mean()


# %% wrong: the private logarithm of the softmax -> a ready-made part in place of an answer
def cross_entropy(logits, target):
    logs = torch._log_softmax(logits, -1, False)
    kept = target >= 0
    return -logs[kept].gather(-1, target[kept].unsqueeze(-1)).mean()
