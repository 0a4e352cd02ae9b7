# %% right: flatten, one loss for both kinds of models
def train_step(model, batch, optimizer):
    model.train()
    logits = model(batch.tokens, batch.lengths)
    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


# %% right: the classes on axis 1
def train_step(model, batch, optimizer):
    model.train()
    optimizer.zero_grad(set_to_none=True)
    logits = model(batch.tokens, batch.lengths)
    if logits.dim() == 3:
        logits = logits.transpose(1, 2)
    loss = nn.CrossEntropyLoss()(logits, batch.target)
    loss.backward()
    nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=1.0)
    optimizer.step()
    return float(loss)


# %% right: log-probabilities by hand
def train_step(model, batch, optimizer):
    for parameter in model.parameters():
        parameter.grad = None
    model = model.train()
    logits = model(batch.tokens, batch.lengths)
    target = batch.target.flatten()
    logprobs = logits.reshape(len(target), -1).log_softmax(-1)
    real = target != IGNORE
    loss = -logprobs[real, target[real]].mean()
    loss.backward()
    length = torch.sqrt(sum((p.grad**2).sum() for p in model.parameters() if p.grad is not None))
    if length > 1:
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter.grad /= length
    optimizer.step()
    return loss.detach()


# %% right: only the scored rows, and cleared at the end as well
def train_step(model, batch, optimizer):
    model.train()
    optimizer.zero_grad()
    logits = model(batch.tokens, batch.lengths)
    logits, target = logits.view(-1, logits.shape[-1])[batch.scored], batch.target.view(-1)[batch.scored]
    loss = F.cross_entropy(logits, target)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


# %% wrong: softmax first -> softmax before cross-entropy
# of: flatten, one loss for both kinds of models
# -    logits = model(batch.tokens, batch.lengths)
# -    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
# +    probabilities = torch.softmax(model(batch.tokens, batch.lengths), dim=-1)
# +    loss = F.cross_entropy(probabilities.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)


# %% wrong: no zero_grad -> gradients are not cleared, or too late
# of: flatten, one loss for both kinds of models
# -    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
# -    optimizer.zero_grad()
# +    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten())


# %% wrong: zero_grad at the wrong place -> no step is made, or gradients are cleared before they are used
def train_step(model, batch, optimizer):
    model.train()
    logits = model(batch.tokens, batch.lengths)
    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten())
    loss.backward()
    optimizer.zero_grad()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


# %% wrong: no optimizer.step -> no step is made, or gradients are cleared before they are used
def train_step(model, batch, optimizer):
    model.train()
    logits = model(batch.tokens, batch.lengths)
    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    return loss.item()


# %% wrong: mean of the unreduced losses -> the mean runs over the padding too
# of: flatten, one loss for both kinds of models
# -    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
# +    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), reduction="none").mean()


# %% wrong: IGNORE becomes PAD -> padding is learned as a word
# of: flatten, one loss for both kinds of models
# -    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
# +    target = batch.target.masked_fill(batch.target == IGNORE, PAD)
# +    loss = F.cross_entropy(logits.flatten(0, -2), target.flatten())


# %% wrong: no clipping -> the gradient is not clipped, or too late
def train_step(model, batch, optimizer):
    model.train()
    logits = model(batch.tokens, batch.lengths)
    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


# %% wrong: clipping at the end -> the gradient is not clipped, or too late
# of: no optimizer.step
#      loss.backward()
# +    optimizer.step()


# %% wrong: clip by value -> each number is clipped on its own
# of: no clipping
#      loss.backward()
# +    nn.utils.clip_grad_value_(model.parameters(), 1.0)


# %% wrong: no lengths -> the classifier reads the last row
# of: flatten, one loss for both kinds of models
# -    logits = model(batch.tokens, batch.lengths)
# -    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
# +    logits = model(batch.tokens)
# +    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten())


# %% wrong: no model.train -> the model is not in training mode
def train_step(model, batch, optimizer):
    logits = model(batch.tokens, batch.lengths)
    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


# %% wrong: gradient descent by hand -> another optimizer makes the step
# of: no optimizer.step
#      nn.utils.clip_grad_norm_(model.parameters(), 1.0)
# +    with torch.no_grad():
# +        for parameter in model.parameters():
# +            parameter -= optimizer.param_groups[0]["lr"] * parameter.grad


# %% wrong: the sum -> the sum of the losses in place of the mean
# of: flatten, one loss for both kinds of models
# -    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
# +    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), reduction="sum")


# %% wrong: for language models only ->
# of: flatten, one loss for both kinds of models
# -    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
# +    loss = F.cross_entropy(logits.transpose(1, 2), batch.target)


# %% wrong: returns nothing ->
# of: no optimizer.step
# -    return loss.item()
# +    optimizer.step()


# %% wrong: the loss after the step ->
def train_step(model, batch, optimizer):
    model.train()

    def measure():
        logits = model(batch.tokens, batch.lengths)
        return F.cross_entropy(logits.flatten(0, -2), batch.target.flatten())

    optimizer.zero_grad()
    measure().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return measure().item()


# %% wrong: step twice -> two steps are made
# of: flatten, one loss for both kinds of models
# -    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
# +    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten())
# ...
#      nn.utils.clip_grad_norm_(model.parameters(), 1.0)
# +    optimizer.step()


# %% wrong: ignore_index is PAD -> PAD is ignored in the target, not IGNORE
# of: flatten, one loss for both kinds of models
# -    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
# +    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=PAD)


# %% wrong: masks by the lengths, and clamps what is left ->
# of: flatten, one loss for both kinds of models
# -    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
# +    if logits.dim() == 3:
# +        real = torch.arange(logits.shape[1]) < batch.lengths.unsqueeze(1)
# +        loss = F.cross_entropy(logits[real], batch.target[real].clamp(min=0))
# +    else:
# +        loss = F.cross_entropy(logits, batch.target)


# %% wrong: everything is unfrozen ->
# of: flatten, one loss for both kinds of models
# +    for parameter in model.parameters():
# +        parameter.requires_grad_(True)
#      logits = model(batch.tokens, batch.lengths)
# -    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
# +    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten())


# %% wrong: one parameter after the other -> each parameter is clipped on its own
# of: no clipping
#      loss.backward()
# +    for parameter in model.parameters():
# +        nn.utils.clip_grad_norm_(parameter, 1.0)


# %% wrong: always to length 1 -> short gradients are made longer
# of: no clipping
#      loss.backward()
# +    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
# +    for parameter in model.parameters():
# +        if parameter.grad is not None:
# +            parameter.grad /= norm.clamp(max=1)


# %% wrong: to length 5 ->
# of: no clipping
#      loss.backward()
# +    nn.utils.clip_grad_norm_(model.parameters(), 5.0)


# %% wrong: neither training mode nor clearing nor clipping -> gradients are not cleared, or too late
def train_step(model, batch, optimizer):
    logits = model(batch.tokens, batch.lengths)
    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten())
    loss.backward()
    optimizer.step()
    return loss.item()


# %% wrong: the mean of the means of the texts ->
# of: flatten, one loss for both kinds of models
# -    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
# +    if logits.dim() == 3:
# +        each = [F.cross_entropy(row, target) for row, target in zip(logits, batch.target)]
# +        loss = torch.stack(each).mean()
# +    else:
# +        loss = F.cross_entropy(logits, batch.target)


# %% wrong: the loss only -> no step is made, or gradients are cleared before they are used
def train_step(model, batch, optimizer):
    model.train()
    logits = model(batch.tokens, batch.lengths)
    return F.cross_entropy(logits.flatten(0, -2), batch.target.flatten()).item()


# %% right: in evaluation mode afterwards
def train_step(model, batch, optimizer):
    model.train()
    optimizer.zero_grad()
    logits = model(batch.tokens, batch.lengths)
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), batch.target.reshape(-1))
    loss.backward()
    nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], 1.0)
    optimizer.step()
    model.eval()
    return loss.item()


# %% wrong: the first group of the optimizer is clipped ->
def train_step(model, batch, optimizer):
    model.train()
    optimizer.zero_grad()
    logits = model(batch.tokens, batch.lengths)
    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
    loss.backward()
    nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 1.0)
    optimizer.step()
    return loss.item()


# %% wrong: the last group of the optimizer is clipped ->
def train_step(model, batch, optimizer):
    model.train()
    optimizer.zero_grad()
    logits = model(batch.tokens, batch.lengths)
    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
    loss.backward()
    for group in optimizer.param_groups:
        parameters = group["params"]
    nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()
    return loss.item()


# %% wrong: each group of the optimizer is clipped on its own ->
# of: the last group of the optimizer is clipped
# -        parameters = group["params"]
# -    nn.utils.clip_grad_norm_(parameters, 1.0)
# +        nn.utils.clip_grad_norm_(group["params"], 1.0)


# %% right: what the optimizer holds, all groups together
# of: the first group of the optimizer is clipped
# -    nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 1.0)
# +    nn.utils.clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], 1.0)


# %% wrong: the weights are moved by hand -> another optimizer makes the step
# of: flatten, one loss for both kinds of models
# -    optimizer.step()
# +    with torch.no_grad():
# +        for group in optimizer.param_groups:
# +            for parameter in group["params"]:
# +                if parameter.grad is not None:
# +                    parameter -= group["lr"] * parameter.grad


# %% wrong: zeros in the batch ->
def train_step(model: nn.Module, batch: Batch, optimizer: torch.optim.Optimizer) -> float:
    model.train()
    logits = model(batch.tokens, batch.lengths).flatten(0, -2)
    target = batch.target.flatten()
    asked = target != IGNORE
    target[~asked] = 0
    loss = F.cross_entropy(logits, target, reduction="none")[asked].mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


# %% wrong: tied weights count twice ->
def train_step(model: nn.Module, batch: Batch, optimizer: torch.optim.Optimizer) -> float:
    model.train()
    logits = model(batch.tokens, batch.lengths)
    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
    optimizer.zero_grad()
    loss.backward()
    found = [p for part in model.modules() for p in part.parameters(recurse=False) if p.grad is not None]
    length = torch.stack([p.grad.norm() for p in found]).norm()
    if length > 1:
        for p in found:
            p.grad /= length
    optimizer.step()
    return loss.item()


# %% wrong: the dropout is switched off for good ->
# of: flatten, one loss for both kinds of models
# -    return loss.item()
# +    for part in model.modules():
# +        if isinstance(part, nn.Dropout):
# +            part.p = 0.0
# +    return loss.item()
# %% wrong: every gradient has length 1 -> short gradients are made longer
# of: flatten, one loss for both kinds of models
# -    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
# +    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
# +    length = torch.cat([gradient.flatten() for gradient in gradients]).norm()
# +    for gradient in gradients:
# +        gradient /= length


# %% wrong: cleared behind the step alone -> gradients are not cleared, or too late
# of: flatten, one loss for both kinds of models
# -    optimizer.zero_grad()
#      loss.backward()
#      nn.utils.clip_grad_norm_(model.parameters(), 1.0)
#      optimizer.step()
# +    optimizer.zero_grad()


# %% wrong: the largest number of the gradient is clipped ->
# of: flatten, one loss for both kinds of models
# -    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
# +    nn.utils.clip_grad_norm_(model.parameters(), 1.0, norm_type=float("inf"))


# %% wrong: the base alone is clipped ->
# of: flatten, one loss for both kinds of models
# -    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
# +    nn.utils.clip_grad_norm_(model.base.parameters(), 1.0)


# %% wrong: training mode after the model was asked -> the model is not in training mode
# of: flatten, one loss for both kinds of models
# -    model.train()
#      logits = model(batch.tokens, batch.lengths)
# +    model.train()


# %% wrong: smoothed targets ->
# of: flatten, one loss for both kinds of models
# -    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
# +    logits, target = logits.flatten(0, -2), batch.target.flatten()
# +    loss = F.cross_entropy(logits, target, ignore_index=IGNORE, label_smoothing=0.1)


# %% wrong: cleared to zeros ->
def train_step(model: nn.Module, batch: Batch, optimizer: torch.optim.Optimizer) -> float:
    model.train()
    optimizer.zero_grad(set_to_none=False)
    logits = model(batch.tokens, batch.lengths)
    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


# %% wrong: zeros in place of the gradients ->
# of: cleared to zeros
# -    optimizer.zero_grad(set_to_none=False)
# +    for parameter in model.parameters():
# +        if parameter.grad is not None:
# +            parameter.grad.zero_()


# %% wrong: the gradients of what trains are cleared ->
# of: cleared to zeros
# -    optimizer.zero_grad(set_to_none=False)
# +    for parameter in model.parameters():
# +        if parameter.requires_grad:
# +            parameter.grad = None


# %% wrong: the first group is cleared ->
# of: cleared to zeros
# -    optimizer.zero_grad(set_to_none=False)
# +    for parameter in optimizer.param_groups[0]["params"]:
# +        parameter.grad = None


# %% wrong: the last group is cleared ->
# of: cleared to zeros
# -    optimizer.zero_grad(set_to_none=False)
# +    for parameter in optimizer.param_groups[-1]["params"]:
# +        parameter.grad = None


# %% right: the model clears its gradients
# of: cleared to zeros
# -    optimizer.zero_grad(set_to_none=False)
# +    model.zero_grad()
