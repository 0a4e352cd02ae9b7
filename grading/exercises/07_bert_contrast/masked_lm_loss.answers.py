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
# other: The head is computed only for the chosen positions, about 15% of them, which saves work and memory; the solution needs only logits, and no model made of base and head.
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


# %% right: nan_to_num, whose gradient is 0 where it changes a number
def masked_lm_loss(model, tokens, target, lengths):
    loss = nn.functional.cross_entropy(model(tokens, lengths).flatten(0, 1), target.flatten(), ignore_index=IGNORE)
    return torch.nan_to_num(loss)


# %% wrong: logits without gradients -> the loss no longer knows the weights
# hint: torch.no_grad(), .item() and .detach() cut a number from the weights it came from: backward() finds none.
# -    logits = model(tokens, lengths)
# +    with torch.no_grad():
# +        logits = model(tokens, lengths)


# %% wrong: positions without a target get the token -> every position is scored
# hint: The model sees these words and need only copy them. Positions with the target IGNORE do not count.
def masked_lm_loss(model, tokens, target, lengths):
    goal = torch.where(target == IGNORE, tokens, target)
    return nn.functional.cross_entropy(model(tokens, lengths).flatten(0, 1), goal.flatten())


# %% wrong: shifted by one -> the target is one position ahead, as in a causal model
# hint: A masked model says which word stands *at* a position, not which comes next: nothing is shifted.
# ~ logits = model(tokens, lengths) => logits, goal = model(tokens, lengths)[:, :-1], target[:, 1:]
# ~ target.flatten(), ignore_index=IGNORE => goal.flatten()
# ~ (target != IGNORE) => (goal != IGNORE)


# %% wrong: where tokens are <mask> -> only <mask> is scored
# hint: Chosen words that were exchanged or left as they are count too: look at target, not at tokens.
def masked_lm_loss(model, tokens, target, lengths):
    hidden = tokens == MASK
    logits = model(tokens, lengths)
    total = nn.functional.cross_entropy(logits[hidden], target[hidden], reduction="sum")
    return total / hidden.sum().clamp(min=1)


# %% wrong: where tokens are not the target -> words left as they are are not scored
# hint: The last tenth of the chosen words stays as it is and is scored all the same: look at target alone, and not at
# hint: whether a word was changed.
# of: where tokens are <mask>
# ~ tokens == MASK => (target != IGNORE) & (tokens != target)


# %% wrong: divided by b times n -> the sum is divided by all positions
# hint: Divide by the number of chosen positions: otherwise long texts and padding make the loss small.
def masked_lm_loss(model, tokens, target, lengths):
    logits = model(tokens, lengths)
    return nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="sum") / tokens.numel()


# %% wrong: without the lengths -> the padding is visible
# hint: Nothing hides the padding from a model that looks to both sides: call model(tokens, lengths).
def masked_lm_loss(model, tokens, target, lengths):
    total = nn.functional.cross_entropy(model(tokens).flatten(0, 1), target.flatten(), reduction="sum")
    return total / (target != IGNORE).sum().clamp(min=1)


# %% wrong: text by text -> the mean of the texts' means
# hint: A word of a text with few chosen words would weigh more than others. Take one mean over all of them.
def masked_lm_loss(model, tokens, target, lengths):
    logits = model(tokens, lengths)
    losses = [nn.functional.cross_entropy(row, goal) for row, goal in zip(logits, target) if (goal != IGNORE).any()]
    return torch.stack(losses).mean() if losses else logits.sum() * 0


# %% wrong: softmax first -> softmax before the cross-entropy
# hint: F.cross_entropy takes logits and does the softmax itself; twice is too flat, and learns badly.
# of: the sum, divided
# ~ logits = model(tokens, lengths) => shares = model(tokens, lengths).softmax(dim=-1)
# ~ logits.flatten(0, 1), target.flatten(), ignore_index=IGNORE => shares.flatten(0, 1), target.flatten()


# %% wrong: reduction sum -> the sum in place of the mean
# hint: The loss would grow with the batch, and so would the steps: divide by the number of chosen positions.
def masked_lm_loss(model, tokens, target, lengths):
    return nn.functional.cross_entropy(model(tokens, lengths).flatten(0, 1), target.flatten(), reduction="sum")


# %% wrong: sum over b -> the sum is divided by the number of texts
# hint: Two texts with one chosen word each weigh as much as two with ten: divide by the number of chosen positions.
# ~ ignore_index=IGNORE, reduction => reduction
# ~ (target != IGNORE).sum().clamp(min=1) => tokens.shape[0]


# %% wrong: a new 0 -> the loss of a batch without chosen words does not know the weights
# hint: A new tensor such as torch.tensor(0.0) was made from nothing: backward() reaches no weight from it, or stops
# hint: with an error. Take 0 times something that the model gave, or divide the sum by at least 1.
def masked_lm_loss(model, tokens, target, lengths):
    if not (target != IGNORE).any():
        return torch.tensor(0.0)
    return nn.functional.cross_entropy(model(tokens, lengths).flatten(0, 1), target.flatten(), ignore_index=IGNORE)


# %% wrong: plus 1 below -> 1 is added to the number of chosen positions
# hint: Where one word is chosen, half of its loss is lost. Divide by at least 1: clamp(min=1), or max(1, ...).
# ~ (target != IGNORE).sum().clamp(min=1) => ((target != IGNORE).sum() + 1)


# %% wrong: log2 -> bits in place of nats
# hint: The logarithm is the natural one, in nats: torch.log, and not torch.log2.
def masked_lm_loss(model, tokens, target, lengths):
    logs = model(tokens, lengths).log_softmax(dim=-1) / torch.log(torch.tensor(2.0))
    chosen = target != IGNORE
    picked = logs.gather(2, target.clamp(min=0).unsqueeze(2)).squeeze(2)
    return -(picked * chosen).sum() / chosen.sum().clamp(min=1)


# %% wrong: the plain call -> not a number where nothing was chosen
# hint: F.cross_entropy takes a mean over no positions: 0/0. One such batch makes all weights NaN.
def masked_lm_loss(model, tokens, target, lengths):
    return nn.functional.cross_entropy(model(tokens, lengths).flatten(0, 1), target.flatten())


# %% wrong: the logarithm of softmax ->
def masked_lm_loss(model, tokens, target, lengths):
    shares = model(tokens, lengths).softmax(dim=-1)
    chosen = target != IGNORE
    picked = shares.gather(2, target.clamp(min=0).unsqueeze(2)).squeeze(2)
    return -(picked.log()[chosen]).sum() / chosen.sum().clamp(min=1)


# %% wrong: the targets are cleared in place ->
def masked_lm_loss(model, tokens, target, lengths):
    logits = model(tokens, lengths)
    chosen = target != IGNORE
    target[~chosen] = 0
    losses = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none")
    return (losses * chosen.flatten()).sum() / chosen.sum().clamp(min=1)


# %% wrong: texts are sorted, and targets are not ->
def masked_lm_loss(model: MaskedLanguageModel, tokens: Tensor, target: Tensor, lengths: Tensor) -> Tensor:
    order = lengths.argsort(descending=True, stable=True)
    logits = model(tokens[order], lengths[order])
    chosen = target != IGNORE
    total = nn.functional.cross_entropy(logits[chosen], target[chosen], reduction="sum")
    return total / chosen.sum().clamp(min=1)


# %% wrong: one text has no padding ->
# ~ , tokens, target, lengths) => : MaskedLanguageModel, tokens: Tensor, target: Tensor, lengths: Tensor) -> Tensor
# ~ (tokens, lengths) => (tokens, lengths) if len(tokens) > 1 else model(tokens)
# ~ flatten(0, 1), target.flatten() => transpose(1, 2), target


# %% wrong: at most 32 texts ->
def masked_lm_loss(model, tokens, target, lengths):
    logits, target = model(tokens, lengths)[:32], target[:32]
    chosen = target != IGNORE
    if not chosen.any():
        return logits.sum() * 0
    return nn.functional.cross_entropy(logits[chosen], target[chosen])


# %% wrong: the padding mask is made on the CPU ->
# of: logarithms by hand, with a padding mask
# ~ , device=tokens.device =>


# %% wrong: where the exponentials would be infinite, another formula ->
def masked_lm_loss(model, tokens, target, lengths):
    logits = model(tokens, lengths)
    summed = logits.exp().sum(dim=-1)
    total = torch.where(summed.isinf(), logits.logsumexp(dim=-1), summed.log())
    losses = total - logits.gather(2, target.clamp(min=0).unsqueeze(2)).squeeze(2)
    return losses[target != IGNORE].sum() / (target != IGNORE).sum().clamp(min=1)
