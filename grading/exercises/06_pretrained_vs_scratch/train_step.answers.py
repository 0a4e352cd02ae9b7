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
# other: It writes out what `cross_entropy` and `clip_grad_norm_` compute; with PyTorch's functions each is one line, which leaves less room for a slip.
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


# %% right: what the optimizer holds, all groups together
#      model.train()
# +    optimizer.zero_grad()
# ...
# -    optimizer.zero_grad()
# ...
# -    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
# +    nn.utils.clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], 1.0)

# %% right: the model clears its gradients
# of: what the optimizer holds, all groups together
# ~ (model, batch, optimizer) => (model: nn.Module, batch: Batch, optimizer: torch.optim.Optimizer) -> float
# ~ optimizer.zero_grad => model.zero_grad
# ~ [p for group in optimizer.param_groups for p in group["params"]] => model.parameters()

# %% wrong: softmax first -> softmax before cross-entropy
# hint: cross_entropy takes the logits and does the softmax itself. Done twice, all probabilities come close to each
# hint: other, and the model hardly learns.
# of: flatten, one loss for both kinds of models
# -    logits = model(batch.tokens, batch.lengths)
# -    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
# +    probabilities = torch.softmax(model(batch.tokens, batch.lengths), dim=-1)
# +    loss = F.cross_entropy(probabilities.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)

# %% wrong: no zero_grad -> gradients are not cleared, or too late
# hint: backward() adds to what is there, whoever has left it: the model follows the sum of old gradients and new ones.
# hint: Call optimizer.zero_grad() before backward(), not behind the step alone.
# -    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
# -    optimizer.zero_grad()
# +    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten())

# %% wrong: zero_grad at the wrong place -> no step is made, or gradients are cleared before they are used
# hint: The weights stay as they were. optimizer.step() must come after backward(), and no zero_grad() between them.
# of: no zero_grad
#      loss.backward()
# +    optimizer.zero_grad()

# %% wrong: mean of the unreduced losses -> the mean runs over the padding too
# hint: The losses of padding are 0, but they are counted: the more padding, the smaller the loss. Divide by the number
# hint: of targets that are not IGNORE; cross_entropy does so by itself.
# of: flatten, one loss for both kinds of models
# ~ ignore_index=IGNORE => reduction="none").mean(

# %% wrong: IGNORE becomes PAD -> padding is learned as a word
# hint: IGNORE has been replaced by a word of the vocabulary: the model learns to write padding.
# -    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
# +    target = batch.target.masked_fill(batch.target == IGNORE, PAD)
# +    loss = F.cross_entropy(logits.flatten(0, -2), target.flatten())

# %% wrong: ignore_index is PAD -> PAD is ignored in the target, not IGNORE
# hint: In the target a padded position holds IGNORE, -100; PAD stands in the tokens. With ignore_index=PAD
# hint: cross_entropy takes -100 for the number of a word. IGNORE is its default.
# ~ IGNORE => PAD

# %% wrong: the sum -> the sum of the losses in place of the mean
# hint: A batch with more tokens would make a larger step. Take the mean, which cross_entropy does unless told.
# ~ ignore_index=IGNORE => reduction="sum"

# %% wrong: no clipping -> the gradient is not clipped, or too late
# hint: One batch with a very long gradient can throw the model far away. Scale it down to length 1 when it is there and
# hint: not yet used: backward(), clip, step().
# of: no zero_grad
# ~ loss.backward => optimizer.zero_grad
# ~ nn.utils.clip_grad_norm_(model.parameters(), 1.0) => loss.backward()

# %% wrong: always to length 1 -> short gradients are made longer
# hint: Every gradient gets length 1 here, a short one too, and no step near the end is small. clip_grad_norm_ makes
# hint: long gradients shorter, and leaves short ones as they are.
# of: no clipping
#      loss.backward()
# +    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
# +    for parameter in model.parameters():
# +        if parameter.grad is not None:
# +            parameter.grad /= norm.clamp(max=1)

# %% wrong: clip by value -> each number is clipped on its own
# hint: clip_grad_value_ cuts single numbers and changes the direction. clip_grad_norm_ keeps the direction and makes
# hint: the whole gradient shorter.
# of: flatten, one loss for both kinds of models
# ~ , ignore_index=IGNORE =>
# ~ clip_grad_norm_ => clip_grad_value_

# %% wrong: one parameter after the other -> each parameter is clipped on its own
# hint: clip_grad_norm_ wants all parameters at once, model.parameters(): called for one after the other it changes the
# hint: direction of the whole gradient.
# of: clip by value
# -    nn.utils.clip_grad_value_(model.parameters(), 1.0)
# +    for parameter in model.parameters():
# +        nn.utils.clip_grad_norm_(parameter, 1.0)

# %% wrong: no lengths -> the classifier reads the last row
# hint: Without the lengths the classifier takes the last row of the batch, which is padding for most texts:
# hint: model(batch.tokens, batch.lengths).
# of: flatten, one loss for both kinds of models
# ~ , batch.lengths =>
# ~ , ignore_index=IGNORE =>

# %% wrong: no model.train -> the model is not in training mode
# hint: The loss is right but dropout is off: the model may have come from a measurement. Call model.train() first.
# -    model.train()
# ...
# -    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
# +    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten())

# %% wrong: a model that is in training mode itself is left as it is ->
# -    model.train()
# +    if not model.training:
# +        model.train()

# %% wrong: step twice -> two steps are made
# hint: optimizer.step() is called twice with the same gradients.
# -    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
# +    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten())
# ...
#      optimizer.step()
# +    optimizer.step()

# %% wrong: the weights are moved by hand -> another optimizer makes the step
# hint: Use the optimizer that you are given: it remembers earlier gradients, and a new one, or an update by hand, does
# hint: not.
# -    optimizer.step()
# +    with torch.no_grad():
# +        for group in optimizer.param_groups:
# +            for parameter in group["params"]:
# +                if parameter.grad is not None:
# +                    parameter -= group["lr"] * parameter.grad

# %% wrong: masks by the lengths, and clamps what is left ->
# -    loss = F.cross_entropy(logits.flatten(0, -2), batch.target.flatten(), ignore_index=IGNORE)
# +    if logits.dim() == 3:
# +        real = torch.arange(logits.shape[1]) < batch.lengths.unsqueeze(1)
# +        loss = F.cross_entropy(logits[real], batch.target[real].clamp(min=0))
# +    else:
# +        loss = F.cross_entropy(logits, batch.target)

# %% wrong: the first group of the optimizer is clipped ->
# of: what the optimizer holds, all groups together
# ~ [p for group in optimizer.param_groups for p in group["params"]] => optimizer.param_groups[0]["params"]


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
# of: flatten, one loss for both kinds of models
# -def train_step(model, batch, optimizer):
# +def train_step(model: nn.Module, batch: Batch, optimizer: torch.optim.Optimizer) -> float:
# ...
# -    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
# +    found = [p for part in model.modules() for p in part.parameters(recurse=False) if p.grad is not None]
# +    length = torch.stack([p.grad.norm() for p in found]).norm()
# +    if length > 1:
# +        for p in found:
# +            p.grad /= length

# %% wrong: the dropout is switched off for good ->
#      optimizer.step()
# +    for part in model.modules():
# +        if isinstance(part, nn.Dropout):
# +            part.p = 0.0

# %% wrong: cleared to zeros ->
# of: the model clears its gradients
# ~ model.zero_grad() => optimizer.zero_grad(set_to_none=False)

# %% wrong: zeros in place of the gradients ->
# -    model.zero_grad()
# +    for parameter in model.parameters():
# +        if parameter.grad is not None:
# +            parameter.grad.zero_()

# %% wrong: the gradients of what trains are cleared ->
# of: zeros in place of the gradients
# ~ grad is not None => requires_grad
# ~ grad.zero_() => grad = None

# %% wrong: the first group is cleared ->
# of: the model clears its gradients
# -    model.zero_grad()
# +    for parameter in optimizer.param_groups[0]["params"]:
# +        parameter.grad = None

# %% wrong: the last group is cleared ->
# of: the first group is cleared
# ~ [0]["params"] => [-1]["params"]
