# %% right: a counter in two loops
def training_loop(model, optimizer, batches, passes, peak, warmup_steps):
    model.train()
    losses, steps, step = [], passes * len(batches), 0
    for number in range(passes):
        for tokens in batches:
            step += 1
            rising, falling = step / warmup_steps, (steps - step + 1) / (steps - warmup_steps + 1)
            for group in optimizer.param_groups:
                group["lr"] = peak * min(rising, falling)
            logits = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
    return losses


# %% right: one loop over all steps
def training_loop(model, optimizer, batches, passes, peak, warmup_steps):
    model.train()
    total, history = passes * len(batches), []
    for t, tokens in enumerate(batches * passes, start=1):
        if t <= warmup_steps:
            rate = peak * t / warmup_steps
        else:
            rate = peak * (total - t + 1) / (total - warmup_steps + 1)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad(set_to_none=True)
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=1.0)
        optimizer.step()
        history.append(float(loss))
    return history


# %% right: a scheduler of PyTorch
# other: `LambdaLR` keeps the schedule apart from the loop, so that another one can take its place; the solution sets each rate right before its step, with steps counted as in the formula.
def training_loop(model, optimizer, batches, passes, peak, warmup_steps):
    total = passes * len(batches)

    def factor(done):
        return min((done + 1) / warmup_steps, (total - done) / (total - warmup_steps + 1))

    for group in optimizer.param_groups:
        group["lr"] = group["initial_lr"] = peak
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
    model.train()
    losses = []
    for _ in range(passes):
        for tokens in batches:
            loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
    return losses


# %% right: clipping by hand, cleared at the end
def training_loop(model, optimizer, batches, passes, peak, warmup_steps):
    model.train()
    optimizer.zero_grad()
    losses, steps = [], passes * len(batches)
    for step in range(1, steps + 1):
        tokens = batches[(step - 1) % len(batches)]
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), tokens[:, 1:].reshape(-1))
        loss.backward()
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        length = torch.sqrt(sum((g**2).sum() for g in gradients))
        if length > 1:
            for g in gradients:
                g /= length
        for group in optimizer.param_groups:
            group["lr"] = peak * min(step / warmup_steps, (steps - step + 1) / (steps - warmup_steps + 1))
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach().item())
    return losses


# %% right: what the optimizer holds is clipped, which is the whole model
def training_loop(model, optimizer, batches, passes, peak, warmup_steps):
    model.train()
    losses, steps = [], passes * len(batches)
    held = [weight for group in optimizer.param_groups for weight in group["params"]]
    for step in range(1, steps + 1):
        tokens = batches[(step - 1) % len(batches)]
        rate = peak * min(step / warmup_steps, (steps - step + 1) / (steps - warmup_steps + 1))
        for group in optimizer.param_groups:
            group["lr"] = rate
        loss = cross_entropy(model(tokens[:, :-1]), tokens[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(held, 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% wrong: the rate of the pass -> the rate changes once in a pass
# hint: The schedule counts steps, not passes: with few passes it would hardly have a shape. Set the rate before every
# hint: step.
# ~ step / warmup_steps, (steps - step + 1) / (steps => (number + 1) / warmup_steps, (passes - number) / (passes

# %% wrong: a count for each pass -> the schedule begins anew in each pass
# hint: The count of the steps goes on in the next pass; there is one warm-up in the whole training.
# -    losses, steps, step = [], passes * len(batches), 0
# +    losses, steps = [], len(batches)
# ...
# -        for tokens in batches:
# -            step += 1
# +        for step, tokens in enumerate(batches, 1):

# %% wrong: min with 1 -> the rate does not fall
# hint: After the warm-up the rate falls in a straight line: take the smaller one of the two fractions.
# ~ (rising, falling) => (rising, 1.0)

# %% wrong: falls from the beginning -> there is no warm-up
# hint: The rate begins small: at step t of the warm-up it is t / warmup_steps of the peak.
# ~ min(rising, falling) => (steps - step + 1) / steps

# %% wrong: the peak all the time -> the rate is constant
# hint: The peak is reached at step warmup_steps only: set group['lr'] before every step.
# ~ peak * min(rising, falling) => peak

# %% wrong: step += 1 at the end -> steps are counted from 0
# hint: At the first step t is 1. Counted from 0, the first batch is read for nothing, with a rate of 0.
# -            step += 1
# ...
#              optimizer.step()
# +            step += 1

# %% wrong: the linear schedule of another library -> steps are counted from 0, as by the linear schedule of transformers
# hint: Its first step has a rate of 0. Here t is 1 at the first step, and the rate is 0 one step after the last one.
# of: step += 1 at the end
# -            rising, falling = step / warmup_steps, (steps - step + 1) / (steps - warmup_steps + 1)
# +            rising, falling = step / max(1, warmup_steps), (steps - step) / max(1, steps - warmup_steps)

# %% wrong: the rate comes last -> the rate is set after the step
# hint: Each step is made with the rate of the one before. Set the rate first.
# of: a counter in two loops
# -            for group in optimizer.param_groups:
# -                group["lr"] = peak * min(rising, falling)
# ...
#              optimizer.step()
# +            for group in optimizer.param_groups:
# +                group["lr"] = peak * min(rising, falling)

# %% wrong: no zero_grad -> gradients are not cleared
# hint: backward() adds to what the steps before have left. Call optimizer.zero_grad() before it.
# -            optimizer.zero_grad()

# %% wrong: no clipping -> gradients are not clipped
# hint: One strange batch may move all weights far away. Scale the gradient down to length 1 before the step.
# -            nn.utils.clip_grad_norm_(model.parameters(), 1.0)

# %% wrong: one parameter after the other -> each parameter is clipped on its own
# hint: That changes the direction of the step. Give all parameters to clip_grad_norm_ at once.
# -            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
# +            for parameter in model.parameters():
# +                nn.utils.clip_grad_norm_(parameter, 1.0)

# %% wrong: clip_grad_value_ -> each number is clipped on its own
# hint: clip_grad_value_ cuts single numbers; clip_grad_norm_ scales the whole gradient.
# ~ clip_grad_norm_ => clip_grad_value_

# %% wrong: lengths are added up -> the length is the sum of the parameters' lengths
# hint: Lengths do not add up: the length of the whole gradient is the root of the sum of the squares of all its
# hint: numbers.
# of: clipping by hand, cleared at the end
# ~ torch.sqrt(sum((g**2).sum() for g in gradients)) => sum(g.norm() for g in gradients)

# %% wrong: always to length 1 -> short gradients become longer
# hint: A gradient shorter than 1 stays as it is: divide by the length only where it is above 1.
# of: a counter in two loops
#              nn.utils.clip_grad_norm_(model.parameters(), 1.0)
# +            whole = math.sqrt(sum(float((p.grad**2).sum()) for p in model.parameters()))
# +            for parameter in model.parameters():
# +                parameter.grad /= whole

# %% wrong: no model.train -> the model is left in its old mode
# hint: Dropout acts only in training mode, and who measured the model before may have switched it off: model.train().
# -    model.train()

# %% wrong: a model that is in training mode itself is left as it is ->
# -    model.train()
# +    if not model.training:
# +        model.train()

# %% wrong: the weights are moved by hand -> another optimizer makes the step
# hint: Use the optimizer that you are given: it may keep a momentum and let weights decay; a new one, or an update by
# hint: hand, does not.
# -    for number in range(passes):
# +    for _ in range(passes):
# ...
# -            rising, falling = step / warmup_steps, (steps - step + 1) / (steps - warmup_steps + 1)
# +            rate = peak * min(step / warmup_steps, (steps - step + 1) / (steps - warmup_steps + 1))
# ...
# -                group["lr"] = peak * min(rising, falling)
# +                group["lr"] = rate
# ...
# -            optimizer.step()
# +            with torch.no_grad():
# +                for parameter in model.parameters():
# +                    parameter -= rate * parameter.grad

# %% wrong: the input is the target -> each token is to guess itself
# hint: The answer at each position is the next token: tokens[:, :-1] is read, tokens[:, 1:] is asked for.
# ~ [:, :-1] =>
# ~ [:, 1:] =>

# %% wrong: the model reads the last token too -> the model reads the last token, too
# hint: Nothing is asked behind it, and a model with no more positions than it needs stops. Give it tokens[:, :-1].
# ~ (tokens[:, :-1]) => (tokens)[:, :-1]


# %% wrong: each group of the optimizer is clipped on its own ->
def training_loop(model, optimizer, batches, passes, peak, warmup_steps):
    model.train()
    T, W, t, losses = len(batches) * passes, warmup_steps, 0, []
    for _ in range(passes):
        for tokens in batches:
            t += 1
            for group in optimizer.param_groups:
                group["lr"] = peak * min(t / W, (T - t + 1) / (T - W + 1))
            loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            [nn.utils.clip_grad_norm_(g["params"], 1.0) for g in optimizer.param_groups]
            optimizer.step()
            losses.append(loss.item())
    return losses


# %% wrong: evaluation mode after two passes ->
def training_loop(model, optimizer, batches, passes, peak, warmup_steps):
    model.train()
    T, W, t, losses = passes * len(batches), warmup_steps, 0, []
    for _ in range(passes):
        for batch in batches:
            t += 1
            model.train(t <= len(batches) * 2)
            for group in optimizer.param_groups:
                group["lr"] = peak * min(t / W, (T - t + 1) / (T - W + 1))
            logits = model(batch[:, :-1])
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
    return losses


# %% wrong: a shared parameter counts twice ->
# of: evaluation mode after two passes
#      model.train()
# +    parameters = [p for part in model.modules() for p in part.parameters(recurse=False)]
# ...
# -            model.train(t <= len(batches) * 2)
# ...
# -            loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
# +            loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
# ...
# -            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
# +            gradients = [p.grad for p in parameters if p.grad is not None]
# +            length = sum((g**2).sum() for g in gradients) ** 0.5
# +            if length > 1:
# +                for g in gradients:
# +                    g.div_(length)

# %% wrong: no step where the loss is large ->
# -            model.train(t <= len(batches) * 2)
# ...
# -            optimizer.step()
# +            optimizer.step() if loss < 20 else None

# %% wrong: ten passes at most ->
# of: a counter in two loops
# ~ (passes) => (min(passes, 10))

# %% wrong: the first group alone is cleared ->
# -            optimizer.zero_grad()
# +            for parameter in optimizer.param_groups[0]["params"]:
# +                parameter.grad = None
