# %% right: logsigmoid
def preference_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    difference = (chosen - reference_chosen) - (rejected - reference_rejected)
    return -F.logsigmoid(beta * difference).mean()


# %% right: softplus
def preference_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    policy, reference = chosen - rejected, reference_chosen - reference_rejected
    return F.softplus(-beta * (policy - reference)).mean()


# %% right: a cross-entropy of two classes
# other: It shows DPO as a classifier whose two logits are the rewards; `logsigmoid` needs no targets, and shows that only the difference of the two counts.
def preference_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    rewards = torch.stack([chosen - reference_chosen, rejected - reference_rejected], dim=1) * beta
    return F.cross_entropy(rewards, torch.zeros(len(rewards), dtype=torch.long, device=rewards.device))


# %% right: binary cross-entropy with logits
# ~ difference = (chosen - reference_chosen) - (rejected - => logits = beta * (chosen - rejected - reference_chosen +
# ~ -F.logsigmoid(beta * difference).mean() => F.binary_cross_entropy_with_logits(logits, torch.ones_like(logits))

# %% wrong: no reference -> without the reference
# hint: A log-ratio compares with the reference: an answer that was probable from the start is no merit.
# ~ (chosen - reference_chosen) - (rejected - reference_rejected) => chosen - rejected

# %% wrong: rejected first -> chosen and rejected are exchanged
# hint: The loss must fall when the *chosen* answer becomes more probable: chosen minus rejected.
# -    difference = (chosen - reference_chosen) - (rejected - reference_rejected)
# +    difference = (rejected - reference_rejected) - (chosen - reference_chosen)

# %% wrong: plus the reference -> the sign of the reference
# hint: The log-ratio is the model's logarithm *minus* the reference's, for both answers.
# ~ - reference_chosen) - (rejected - => + reference_chosen) - (rejected +

# %% wrong: a sum of ratios -> the log-ratios are added
# hint: Preferred is the difference: the log-ratio of the chosen answer minus that of the rejected one.
# ~ - (rejected - reference_rejected) => + (rejected - reference_rejected)

# %% wrong: beta in front -> beta is outside of the sigmoid
# hint: beta scales the difference before the sigmoid; outside it is only another learning rate.
# ~ F.logsigmoid(beta * difference) => beta * F.logsigmoid(difference)

# %% wrong: beta forgotten -> beta is left out
# hint: The difference of the log-ratios is multiplied by beta before the sigmoid.
# ~ beta * difference => difference

# %% wrong: like a temperature -> divided by beta
# hint: beta multiplies: the larger it is, the sooner a small difference suffices.
# ~ beta * difference => difference / beta

# %% wrong: only the sigmoid -> the sigmoid without a logarithm
# hint: The loss is minus the *logarithm* of the probability that the chosen answer wins.
# ~ F.logsigmoid => torch.sigmoid

# %% wrong: no minus -> the sign of the loss
# hint: A logarithm of a probability is negative, and a loss shall become small: take minus it.
# ~ -F. => F.

# %% wrong: summed -> the sum in place of the mean
# hint: The loss would grow with the batch: take the mean over the pairs.
# ~ mean => sum

# %% wrong: the mean difference -> the mean before the sigmoid
# hint: Each pair has its own probability: first the logarithm of the sigmoid for each, then the mean.
# ~ (beta * difference).mean() => (beta * difference.mean())

# %% wrong: the logarithm of the sigmoid ->
# ~ F.logsigmoid(beta * difference) => torch.sigmoid(beta * difference).log()

# %% wrong: the logarithm of the sigmoid in 64 bits ->
# of: logsigmoid
# ~ F.logsigmoid(beta * difference) => torch.sigmoid((beta * difference).double()).log().to(chosen.dtype)

# %% wrong: the classes are made on the CPU ->
# of: a cross-entropy of two classes
# ~ , device=rewards.device =>

# %% wrong: where the exponential would be infinite, another formula ->
# of: logsigmoid
# ~ -F.logsigmoid(beta * difference) => torch.where((z := beta * difference) < -50, -z, torch.log1p(torch.exp(-z)))
