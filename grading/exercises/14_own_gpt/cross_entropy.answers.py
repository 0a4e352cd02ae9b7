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


# %% right: position by position
def cross_entropy(logits, targets):
    total, count = 0.0, 0
    for row, target in zip(logits.flatten(0, -2), targets.flatten()):
        highest = row.max()
        total = total + highest + (row - highest).exp().sum().log() - row[target]
        count += 1
    return total / count


# %% right: a sum with zeros and ones
# other: It picks by a one-hot row, as the textbook's sum of `y * log p` does; `gather` needs no further table as large as the logits.
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
# hint: e**z of a large logit is infinite, and of logits far below 0 the sum is 0. Take the largest logit of each row
# hint: away before: that changes no probability.
def cross_entropy(logits, targets):
    log_sums = logits.exp().sum(dim=-1).log()
    return (log_sums - logits.gather(-1, targets[..., None])[..., 0]).mean()


# %% wrong: the quotient written down -> the quotient is computed as it stands
# hint: Infinity by infinity, and 0 by 0, are no numbers. Take the largest logit of each row away before e**z, and the
# hint: logarithms of sum and logit apart from each other.
def cross_entropy(logits, targets):
    powers = torch.exp(logits)
    right = powers.gather(-1, targets[..., None])[..., 0]
    return -torch.log(right / powers.sum(-1)).mean()


# %% wrong: log of the softmax -> the logarithm of a probability that is rounded to 0
# hint: softmax is right, but the probability of an unlikely token is rounded to 0, and its logarithm is minus infinity.
# hint: Stay with logarithms: log-sum-exp, less the logit of the token that came.
def cross_entropy(logits, targets):
    chances = torch.softmax(logits, dim=-1)
    return -chances.gather(-1, targets[..., None]).log().mean()


# %% wrong: 1e-9 is added -> probabilities are kept from 0 by a small number
# hint: A number added to probabilities, or a limit below them, makes the loss wrong just where the model is most wrong,
# hint: and there its gradient is 0. With log-sum-exp no limit is needed.
# of: log of the softmax
# ~ chances.gather(-1, targets[..., None]) => (chances.gather(-1, targets[..., None]) + 1e-9)


# %% wrong: logits between -80 and 80 -> logits are cut off
# hint: A limit on the logits keeps the sum finite and changes the loss. Take the largest one of the row away in its
# hint: place: that changes nothing.
def cross_entropy(logits, targets):
    logits = logits.clamp(-80, 80)
    log_sums = logits.exp().sum(dim=-1).log()
    return (log_sums - logits.gather(-1, targets[..., None])[..., 0]).mean()


# %% wrong: shifted in the sum only -> the largest logit is taken away and not given back
# hint: Where log-sum-exp is made with the largest logit taken away, it must be added again, or be taken away from the
# hint: logit of the token that came, too.
# of: the largest logit is taken away
# ~ shifted.gather => logits.gather

# %% wrong: one maximum for all -> the largest logit of all positions is taken away
# hint: Each row has a largest logit of its own, `dim=-1`: beside that of another row, all terms of a sum may be 0.
# ~ (dim=-1, keepdim=True).values => ()

# %% wrong: sum -> the sum in place of the mean
# hint: A batch with more tokens would have a larger loss and make a larger step: take the mean over all positions.
# ~ mean => sum

# %% wrong: no mean -> a loss for each position
# hint: What is trained on is one number: the mean of all positions, a tensor without axes.
# ~ (log_sums - right).mean() => log_sums - right

# %% wrong: right minus sums -> the sign is turned over
# hint: A loss is small where the model is right: it is minus the logarithm of the probability.
# ~ log_sums - right => right - log_sums


# %% wrong: the sum over the first axis -> the sum runs over the positions
# hint: It is the tokens of the vocabulary, the last axis, whose probabilities sum to 1: `dim=-1`.
def cross_entropy(logits, targets):
    shifted = logits - logits.amax(dim=0, keepdim=True)
    log_probabilities = shifted - shifted.exp().sum(dim=0, keepdim=True).log()
    return -log_probabilities.gather(-1, targets[..., None]).mean()


# %% wrong: log2 -> bits in place of nats
# hint: The loss is in nats, natural logarithms (`log`, not `log2`). Bits come in the next exercise.
# ~ log() => log2()
# ~ [..., 0] => [..., 0] / math.log(2)

# %% wrong: detached in the sum only -> the largest logit is detached in one place only
# hint: `detach` may be left out: the largest logit is subtracted and added again, and its gradients cancel. Detach it
# hint: in both places or in none.
# of: logits between -80 and 80
# ~ logits = logits.clamp(-80, 80) => highest = logits.max(dim=-1, keepdim=True).values
# ~ logits.exp().sum(dim=-1).log() => (logits - highest.detach()).exp().sum(dim=-1).log() + highest[..., 0]


# %% wrong: detached where it is added -> the largest logit is detached only where it is added again
# hint: `detach` may be left out: the largest logit is subtracted and added again, and its gradients cancel. Detach it
# hint: in both places or in none.
def cross_entropy(logits, targets):
    m = torch.amax(logits, dim=-1, keepdim=True)
    log_sum_exp = (logits - m).exp().sum(dim=-1).log() + m.detach().squeeze(-1)
    right_ones = torch.take_along_dim(logits, targets[..., None], dim=-1)[..., 0]
    return torch.mean(log_sum_exp - right_ones)


# %% wrong: divided by the texts ->
# of: the largest logit is taken away
# ~ mean() => sum() / len(targets)

# %% wrong: without gradients ->
# -    log_sums = shifted.exp().sum(dim=-1).log()
# +    with torch.no_grad():
# +        log_sums = shifted.exp().sum(dim=-1).log()

# %% wrong: everything in single precision ->
# ~ logits - logits.max(dim=-1, keepdim=True) => logits.float() - logits.float().max(dim=-1, keepdim=True)

# %% wrong: the classes are made on the CPU ->
# of: a sum with zeros and ones
# ~ , device=logits.device =>

# %% wrong: the mean of the means of 32 positions each ->
# of: the largest logit is taken away
# ~ (log_sums - right) => torch.stack([part.mean() for part in (log_sums - right).flatten().split(32)])

# %% wrong: the hundred largest logits of a row are summed ->
# ~ .exp => .topk(min(100, shifted.size(-1))).values.exp


# %% wrong: PyTorch's own loss -> a ready-made part in place of an answer
def cross_entropy(logits, targets):
    return F.cross_entropy(logits.flatten(0, -2), targets.flatten())


# %% wrong: in 64 bits, differences below -700 are cut off ->
# of: one maximum for all
# ~ logits - logits.max() => (logits - logits.max(dim=-1, keepdim=True).values).double().clamp(min=-700)
# ~ mean() => mean().to(logits.dtype)


# %% wrong: the private logarithm of the softmax -> a ready-made part in place of an answer
def cross_entropy(logits, target):
    logs = torch._log_softmax(logits, -1, False)
    kept = target >= 0
    return -logs[kept].gather(-1, target[kept].unsqueeze(-1)).mean()
