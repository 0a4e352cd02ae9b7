# %% right: the sum, divided
def masked_lm_loss(model, tokens, target, lengths):
    logits = model(tokens, lengths)
    total = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=IGNORE, reduction="sum")
    return total / (target != IGNORE).sum().clamp(min=1)


# %% right: only the chosen rows
def masked_lm_loss(model, tokens, target, lengths):
    chosen = target != IGNORE
    if not chosen.any():
        return model(tokens, lengths).sum() * 0
    return nn.functional.cross_entropy(model(tokens, lengths)[chosen], target[chosen])


# %% right: the head on the chosen rows only
def masked_lm_loss(model, tokens, target, lengths):
    rows = model.base(tokens, lengths)[target != IGNORE]
    goal = target[target != IGNORE]
    return nn.functional.cross_entropy(model.head(rows), goal, reduction="sum") / max(1, len(goal))


# %% right: logarithms by hand, with a padding mask
def masked_lm_loss(model, tokens, target, lengths):
    padding = torch.arange(tokens.shape[1], device=tokens.device) >= lengths[:, None]
    logs = model(tokens, padding).log_softmax(dim=-1)
    chosen = target != IGNORE
    picked = logs.gather(2, target.clamp(min=0).unsqueeze(2)).squeeze(2)
    return -(picked * chosen).sum() / chosen.sum().clamp(min=1)


# %% wrong: places without a target get the token -> every place is scored
def masked_lm_loss(model, tokens, target, lengths):
    goal = torch.where(target == IGNORE, tokens, target)
    return nn.functional.cross_entropy(model(tokens, lengths).flatten(0, 1), goal.flatten())


# %% wrong: shifted by one -> the target is one place ahead, as in a causal model
def masked_lm_loss(model, tokens, target, lengths):
    logits, goal = model(tokens, lengths)[:, :-1], target[:, 1:]
    total = nn.functional.cross_entropy(logits.flatten(0, 1), goal.flatten(), reduction="sum")
    return total / (goal != IGNORE).sum().clamp(min=1)


# %% wrong: where tokens are <mask> -> only <mask> is scored
def masked_lm_loss(model, tokens, target, lengths):
    hidden = tokens == MASK
    logits = model(tokens, lengths)
    total = nn.functional.cross_entropy(logits[hidden], target[hidden], reduction="sum")
    return total / hidden.sum().clamp(min=1)


# %% wrong: divided by b times n -> the sum is divided by all places
def masked_lm_loss(model, tokens, target, lengths):
    logits = model(tokens, lengths)
    return nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="sum") / tokens.numel()


# %% wrong: without the lengths -> the padding is visible
def masked_lm_loss(model, tokens, target, lengths):
    total = nn.functional.cross_entropy(model(tokens).flatten(0, 1), target.flatten(), reduction="sum")
    return total / (target != IGNORE).sum().clamp(min=1)


# %% wrong: text by text -> the mean of the texts' means
def masked_lm_loss(model, tokens, target, lengths):
    logits = model(tokens, lengths)
    losses = [nn.functional.cross_entropy(row, goal) for row, goal in zip(logits, target) if (goal != IGNORE).any()]
    return torch.stack(losses).mean() if losses else logits.sum() * 0


# %% wrong: softmax first -> softmax before the cross-entropy
def masked_lm_loss(model, tokens, target, lengths):
    shares = model(tokens, lengths).softmax(dim=-1)
    total = nn.functional.cross_entropy(shares.flatten(0, 1), target.flatten(), reduction="sum")
    return total / (target != IGNORE).sum().clamp(min=1)


# %% wrong: reduction sum -> the sum in place of the mean
def masked_lm_loss(model, tokens, target, lengths):
    return nn.functional.cross_entropy(model(tokens, lengths).flatten(0, 1), target.flatten(), reduction="sum")


# %% wrong: sum over b -> the sum is divided by the number of texts
def masked_lm_loss(model, tokens, target, lengths):
    logits = model(tokens, lengths)
    total = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="sum")
    return total / tokens.shape[0]


# %% wrong: the plain call -> not a number where nothing was chosen
def masked_lm_loss(model, tokens, target, lengths):
    return nn.functional.cross_entropy(model(tokens, lengths).flatten(0, 1), target.flatten())


# %% wrong: a Python number ->
def masked_lm_loss(model, tokens, target, lengths):
    total = nn.functional.cross_entropy(model(tokens, lengths).flatten(0, 1), target.flatten(), reduction="sum")
    return (total / (target != IGNORE).sum().clamp(min=1)).item()


# %% wrong: one loss for each place ->
def masked_lm_loss(model, tokens, target, lengths):
    return nn.functional.cross_entropy(model(tokens, lengths).flatten(0, 1), target.flatten(), reduction="none")


# %% wrong: cut to the shortest text ->
def masked_lm_loss(model, tokens, target, lengths):
    n = int(lengths.min())
    logits, goal = model(tokens, lengths)[:, :n], target[:, :n]
    total = nn.functional.cross_entropy(logits.flatten(0, 1), goal.flatten(), reduction="sum")
    return total / (goal != IGNORE).sum().clamp(min=1)


# %% wrong: logits without gradients -> the loss no longer knows the weights
def masked_lm_loss(model, tokens, target, lengths):
    with torch.no_grad():
        logits = model(tokens, lengths)
    total = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=IGNORE, reduction="sum")
    return total / (target != IGNORE).sum().clamp(min=1)


# %% wrong: a new tensor of the number -> the loss no longer knows the weights
def masked_lm_loss(model, tokens, target, lengths):
    logits = model(tokens, lengths)
    total = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=IGNORE, reduction="sum")
    return torch.tensor(total.item() / max(1, int((target != IGNORE).sum())))


# %% wrong: the logarithm of softmax ->
def masked_lm_loss(model, tokens, target, lengths):
    shares = model(tokens, lengths).softmax(dim=-1)
    chosen = target != IGNORE
    picked = shares.gather(2, target.clamp(min=0).unsqueeze(2)).squeeze(2)
    return -(picked.log()[chosen]).sum() / chosen.sum().clamp(min=1)


# %% wrong: the logarithm of the sum of exponentials ->
def masked_lm_loss(model, tokens, target, lengths):
    logits = model(tokens, lengths)
    chosen = target != IGNORE
    right = logits.gather(2, target.clamp(min=0).unsqueeze(2)).squeeze(2)
    losses = logits.exp().sum(dim=-1).log() - right
    return (losses * chosen).sum() / chosen.sum().clamp(min=1)


# %% wrong: a small number is added before the logarithm ->
def masked_lm_loss(model, tokens, target, lengths):
    chosen = target != IGNORE
    shares = model(tokens, lengths)[chosen].softmax(dim=-1)
    picked = shares[torch.arange(len(shares)), target[chosen]]
    return -(picked + 1e-9).log().sum() / chosen.sum().clamp(min=1)


# %% wrong: the targets are cleared in place ->
def masked_lm_loss(model, tokens, target, lengths):
    logits = model(tokens, lengths)
    chosen = target != IGNORE
    target[~chosen] = 0
    losses = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none")
    return (losses * chosen.flatten()).sum() / chosen.sum().clamp(min=1)


# %% wrong: a new 0 -> the loss of a batch without chosen words does not know the weights
def masked_lm_loss(model, tokens, target, lengths):
    if not (target != IGNORE).any():
        return torch.tensor(0.0)
    return nn.functional.cross_entropy(model(tokens, lengths).flatten(0, 1), target.flatten(), ignore_index=IGNORE)


# %% right: nan_to_num, whose gradient is 0 where it changes a number
def masked_lm_loss(model, tokens, target, lengths):
    loss = nn.functional.cross_entropy(model(tokens, lengths).flatten(0, 1), target.flatten(), ignore_index=IGNORE)
    return torch.nan_to_num(loss)


# %% wrong: plus 1 below -> 1 is added to the number of chosen places
def masked_lm_loss(model, tokens, target, lengths):
    logits = model(tokens, lengths)
    total = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=IGNORE, reduction="sum")
    return total / ((target != IGNORE).sum() + 1)


# %% wrong: a hundredth is added to each loss ->
def masked_lm_loss(model, tokens, target, lengths):
    logits = model(tokens, lengths)
    total = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=IGNORE, reduction="sum")
    return total / ((target != IGNORE).sum() + 0.01)


# %% wrong: log2 -> bits in place of nats
def masked_lm_loss(model, tokens, target, lengths):
    logs = model(tokens, lengths).log_softmax(dim=-1) / torch.log(torch.tensor(2.0))
    chosen = target != IGNORE
    picked = logs.gather(2, target.clamp(min=0).unsqueeze(2)).squeeze(2)
    return -(picked * chosen).sum() / chosen.sum().clamp(min=1)


# %% wrong: always 0 ->
def masked_lm_loss(model, tokens, target, lengths):
    return model(tokens, lengths).sum() * 0


# %% wrong: the gradient of the base is cut ->
def masked_lm_loss(model, tokens, target, lengths):
    with torch.no_grad():
        hidden = model.base(tokens, lengths)
    logits = model.head(hidden)
    total = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=IGNORE, reduction="sum")
    return total / (target != IGNORE).sum().clamp(min=1)


# %% wrong: the mean of the means of eight texts ->
def masked_lm_loss(model: MaskedLanguageModel, tokens: Tensor, target: Tensor, lengths: Tensor) -> Tensor:
    losses = []
    for some, wanted, sizes in zip(tokens.split(8), target.split(8), lengths.split(8)):
        logits = model(some, sizes)
        chosen = wanted != IGNORE
        total = nn.functional.cross_entropy(logits[chosen], wanted[chosen], reduction="sum")
        if chosen.any() or not (target != IGNORE).any():
            losses.append(total / chosen.sum().clamp(min=1))
    return torch.stack(losses).mean()


# %% wrong: texts are sorted, and targets are not ->
def masked_lm_loss(model: MaskedLanguageModel, tokens: Tensor, target: Tensor, lengths: Tensor) -> Tensor:
    order = lengths.argsort(descending=True, stable=True)
    logits = model(tokens[order], lengths[order])
    chosen = target != IGNORE
    total = nn.functional.cross_entropy(logits[chosen], target[chosen], reduction="sum")
    return total / chosen.sum().clamp(min=1)


# %% wrong: lengths only where they differ ->
def masked_lm_loss(model: MaskedLanguageModel, tokens: Tensor, target: Tensor, lengths: Tensor) -> Tensor:
    padded = len(set(lengths.tolist())) > 1
    logits = model(tokens, lengths) if padded else model(tokens)
    chosen = target != IGNORE
    total = nn.functional.cross_entropy(logits[chosen], target[chosen], reduction="sum")
    return total / chosen.sum().clamp(min=1)


# %% wrong: one text has no padding ->
def masked_lm_loss(model: MaskedLanguageModel, tokens: Tensor, target: Tensor, lengths: Tensor) -> Tensor:
    logits = model(tokens, lengths) if len(tokens) > 1 else model(tokens)
    total = nn.functional.cross_entropy(logits.transpose(1, 2), target, ignore_index=IGNORE, reduction="sum")
    return total / (target != IGNORE).sum().clamp(min=1)


# %% wrong: the log of a softmax plus 1e-6 ->
def masked_lm_loss(model, tokens, target, lengths):
    logs = (model(tokens, lengths).softmax(dim=-1) + 1e-6).log()
    chosen = target != IGNORE
    if not chosen.any():
        return logs.sum() * 0
    return -logs[chosen].gather(1, target[chosen][:, None]).mean()


# %% wrong: at most 32 texts ->
def masked_lm_loss(model, tokens, target, lengths):
    logits, target = model(tokens, lengths)[:32], target[:32]
    chosen = target != IGNORE
    if not chosen.any():
        return logits.sum() * 0
    return nn.functional.cross_entropy(logits[chosen], target[chosen])


# %% wrong: the padding mask is made on the CPU ->
# of: logarithms by hand, with a padding mask
# -    padding = torch.arange(tokens.shape[1], device=tokens.device) >= lengths[:, None]
# +    padding = torch.arange(tokens.shape[1]) >= lengths[:, None]
# %% wrong: a millionth is added to each probability ->
def masked_lm_loss(model, tokens, target, lengths):
    logs = (model(tokens, lengths).softmax(dim=-1) + 1e-6).log()
    chosen = target != IGNORE
    of_target = logs.gather(-1, target.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return -(of_target * chosen).sum() / chosen.sum().clamp(min=1)
