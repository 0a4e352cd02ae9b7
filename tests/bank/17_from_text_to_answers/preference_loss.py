# %% right: logsigmoid
def preference_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    difference = (chosen - reference_chosen) - (rejected - reference_rejected)
    return -F.logsigmoid(beta * difference).mean()


# %% right: softplus
def preference_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    policy, reference = chosen - rejected, reference_chosen - reference_rejected
    return F.softplus(-beta * (policy - reference)).mean()


# %% right: a cross-entropy of two classes
def preference_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    rewards = torch.stack([chosen - reference_chosen, rejected - reference_rejected], dim=1) * beta
    return F.cross_entropy(rewards, torch.zeros(len(rewards), dtype=torch.long, device=rewards.device))


# %% right: binary cross-entropy with logits
def preference_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    logits = beta * (chosen - rejected - reference_chosen + reference_rejected)
    return F.binary_cross_entropy_with_logits(logits, torch.ones_like(logits))


# %% wrong: no reference -> without the reference
# of: logsigmoid
# -    difference = (chosen - reference_chosen) - (rejected - reference_rejected)
# +    difference = chosen - rejected


# %% wrong: rejected first -> chosen and rejected are exchanged
# of: logsigmoid
# -    difference = (chosen - reference_chosen) - (rejected - reference_rejected)
# +    difference = (rejected - reference_rejected) - (chosen - reference_chosen)


# %% wrong: plus the reference -> the sign of the reference
# of: logsigmoid
# -    difference = (chosen - reference_chosen) - (rejected - reference_rejected)
# +    difference = (chosen + reference_chosen) - (rejected + reference_rejected)


# %% wrong: a sum of ratios -> the log-ratios are added
# of: logsigmoid
# -    difference = (chosen - reference_chosen) - (rejected - reference_rejected)
# +    difference = (chosen - reference_chosen) + (rejected - reference_rejected)


# %% wrong: beta in front -> beta is outside of the sigmoid
# of: logsigmoid
# -    return -F.logsigmoid(beta * difference).mean()
# +    return -beta * F.logsigmoid(difference).mean()


# %% wrong: beta forgotten -> beta is left out
# of: logsigmoid
# -    return -F.logsigmoid(beta * difference).mean()
# +    return -F.logsigmoid(difference).mean()


# %% wrong: like a temperature -> divided by beta
# of: logsigmoid
# -    return -F.logsigmoid(beta * difference).mean()
# +    return -F.logsigmoid(difference / beta).mean()


# %% wrong: only the sigmoid -> the sigmoid without a logarithm
# of: logsigmoid
# -    return -F.logsigmoid(beta * difference).mean()
# +    return -torch.sigmoid(beta * difference).mean()


# %% wrong: no minus -> the sign of the loss
# of: logsigmoid
# -    return -F.logsigmoid(beta * difference).mean()
# +    return F.logsigmoid(beta * difference).mean()


# %% wrong: summed -> the sum in place of the mean
# of: logsigmoid
# -    return -F.logsigmoid(beta * difference).mean()
# +    return -F.logsigmoid(beta * difference).sum()


# %% wrong: the mean difference -> the mean before the sigmoid
# of: logsigmoid
# -    return -F.logsigmoid(beta * difference).mean()
# +    return -F.logsigmoid(beta * difference.mean())


# %% wrong: the logarithm of the sigmoid ->
# of: logsigmoid
# -    return -F.logsigmoid(beta * difference).mean()
# +    return -torch.sigmoid(beta * difference).log().mean()


# %% wrong: saved by a small number ->
# of: logsigmoid
# -    return -F.logsigmoid(beta * difference).mean()
# +    return -(torch.sigmoid(beta * difference) + 1e-8).log().mean()


# %% wrong: clamped ->
# of: logsigmoid
# -    return -F.logsigmoid(beta * difference).mean()
# +    return -F.logsigmoid((beta * difference).clamp(-20, 20)).mean()


# %% wrong: one loss for each pair ->
# of: logsigmoid
# -    return -F.logsigmoid(beta * difference).mean()
# +    return -F.logsigmoid(beta * difference)


# %% wrong: a Python number ->
# of: logsigmoid
# -    return -F.logsigmoid(beta * difference).mean()
# +    return -F.logsigmoid(beta * difference).mean().item()


# %% wrong: a hinge ->
# of: logsigmoid
# -    return -F.logsigmoid(beta * difference).mean()
# +    return (1 - beta * difference).clamp(min=0).mean()


# %% wrong: the classes are made on the CPU ->
# of: a cross-entropy of two classes
# -    return F.cross_entropy(rewards, torch.zeros(len(rewards), dtype=torch.long, device=rewards.device))
# +    return F.cross_entropy(rewards, torch.zeros(len(rewards), dtype=torch.long))
