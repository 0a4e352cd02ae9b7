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
# of: a counter in two loops
# -            rising, falling = step / warmup_steps, (steps - step + 1) / (steps - warmup_steps + 1)
# +            rising, falling = (number + 1) / warmup_steps, (passes - number) / (passes - warmup_steps + 1)


# %% wrong: a count for each pass -> the schedule begins anew in each pass
# of: a counter in two loops
# -    losses, steps, step = [], passes * len(batches), 0
# +    losses, steps = [], len(batches)
#      for number in range(passes):
# -        for tokens in batches:
# -            step += 1
# +        for step, tokens in enumerate(batches, 1):


# %% wrong: min with 1 -> the rate does not fall
# of: a counter in two loops
# -                group["lr"] = peak * min(rising, falling)
# +                group["lr"] = peak * min(rising, 1.0)


# %% wrong: falls from the beginning -> there is no warm-up
# of: a counter in two loops
# -                group["lr"] = peak * min(rising, falling)
# +                group["lr"] = peak * (steps - step + 1) / steps


# %% wrong: the peak all the time -> the rate is constant
# of: a counter in two loops
# -                group["lr"] = peak * min(rising, falling)
# +                group["lr"] = peak


# %% wrong: step += 1 at the end -> steps are counted from 0
# of: a counter in two loops
# -            step += 1
# ...
#              optimizer.step()
# +            step += 1


# %% wrong: the rate comes last -> the rate is set after the step
# of: a counter in two loops
# -            for group in optimizer.param_groups:
# -                group["lr"] = peak * min(rising, falling)
# ...
#              optimizer.step()
# +            for group in optimizer.param_groups:
# +                group["lr"] = peak * min(rising, falling)


# %% wrong: no zero_grad -> gradients are not cleared
# of: a counter in two loops
# -            optimizer.zero_grad()


# %% wrong: no clipping -> gradients are not clipped
# of: a counter in two loops
# -            nn.utils.clip_grad_norm_(model.parameters(), 1.0)


# %% wrong: clipped after the step -> gradients are not clipped
# of: a counter in two loops
# +            optimizer.step()
#              nn.utils.clip_grad_norm_(model.parameters(), 1.0)
# -            optimizer.step()


# %% wrong: one parameter after the other -> each parameter is clipped on its own
# of: a counter in two loops
# -            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
# +            for parameter in model.parameters():
# +                nn.utils.clip_grad_norm_(parameter, 1.0)


# %% wrong: clip_grad_value_ -> each number is clipped on its own
# of: a counter in two loops
# -            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
# +            nn.utils.clip_grad_value_(model.parameters(), 1.0)


# %% wrong: no model.train -> the model is left in its old mode
# of: a counter in two loops
# -    model.train()


# %% wrong: the input is the target -> each token is to guess itself
# of: a counter in two loops
# -            logits = model(tokens[:, :-1])
# -            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
# +            logits = model(tokens)
# +            loss = F.cross_entropy(logits.flatten(0, 1), tokens.flatten())


# %% wrong: the loss after the step ->
# of: a counter in two loops
# -            losses.append(loss.item())
# +            losses.append(F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()).item())


# %% wrong: the mean loss of each pass ->
# of: a counter in two loops
# -    return losses
# +    return [sum(losses[n :: len(batches)]) / passes for n in range(len(batches))]


# %% wrong: the first group only ->
# of: a counter in two loops
# -            for group in optimizer.param_groups:
# -                group["lr"] = peak * min(rising, falling)
# +            optimizer.param_groups[0]["lr"] = peak * min(rising, falling)


# %% wrong: one pass ->
# of: a counter in two loops
# -    for number in range(passes):
# +    for number in range(1):


# %% wrong: the sum of the losses ->
# of: a counter in two loops
# -            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
# +            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")


# %% wrong: clipped to length 5 ->
# of: a counter in two loops
# -            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
# +            nn.utils.clip_grad_norm_(model.parameters(), 5.0)


# %% wrong: always to length 1 -> short gradients become longer
# of: a counter in two loops
#              nn.utils.clip_grad_norm_(model.parameters(), 1.0)
# +            whole = math.sqrt(sum(float((p.grad**2).sum()) for p in model.parameters()))
# +            for parameter in model.parameters():
# +                parameter.grad /= whole


# %% wrong: an optimizer of its own ->
# of: a counter in two loops
#      model.train()
# +    optimizer = torch.optim.AdamW(model.parameters())


# %% wrong: no step ->
# of: a counter in two loops
# -            optimizer.step()


# %% wrong: in reverse order ->
# of: a counter in two loops
# -        for tokens in batches:
# +        for tokens in batches[::-1]:


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


# %% wrong: the first group alone is clipped ->
# of: each group of the optimizer is clipped on its own
# -            [nn.utils.clip_grad_norm_(g["params"], 1.0) for g in optimizer.param_groups]
# +            nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 1.0)


# %% wrong: the weights are moved by hand -> another optimizer makes the step
def training_loop(model, optimizer, batches, passes, peak, warmup_steps):
    model.train()
    losses, steps, step = [], passes * len(batches), 0
    for _ in range(passes):
        for tokens in batches:
            step += 1
            rate = peak * min(step / warmup_steps, (steps - step + 1) / (steps - warmup_steps + 1))
            for group in optimizer.param_groups:
                group["lr"] = rate
            logits = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter -= rate * parameter.grad
            losses.append(loss.item())
    return losses


# %% wrong: momentum and decay are switched off -> another optimizer makes the step
# of: a counter in two loops
# -    for number in range(passes):
# +    for _ in range(passes):
# ...
# -            rising, falling = step / warmup_steps, (steps - step + 1) / (steps - warmup_steps + 1)
# +            rate = peak * min(step / warmup_steps, (steps - step + 1) / (steps - warmup_steps + 1))
#              for group in optimizer.param_groups:
# -                group["lr"] = peak * min(rising, falling)
# +                group.update(lr=rate, momentum=0, weight_decay=0)


# %% wrong: clipped in the first pass only ->
def training_loop(model, optimizer, batches, passes, peak, warmup_steps):
    model.train()
    losses, steps, step = [], passes * len(batches), 0
    for _ in range(passes):
        for tokens in batches:
            step += 1
            rate = peak * min(step / warmup_steps, (steps - step + 1) / (steps - warmup_steps + 1))
            for group in optimizer.param_groups:
                group["lr"] = rate
            logits = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            if step <= len(batches):
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
    return losses


# %% wrong: the first five places only ->
def training_loop(model, optimizer, batches, passes, peak, warmup_steps):
    model.train()
    losses, steps, step = [], passes * len(batches), 0
    for _ in range(passes):
        for tokens in batches:
            step += 1
            rate = peak * min(step / warmup_steps, (steps - step + 1) / (steps - warmup_steps + 1))
            for group in optimizer.param_groups:
                group["lr"] = rate
            logits = model(tokens[:, :5])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:6].flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
    return losses


# %% wrong: the targets are smoothed ->
def training_loop(model, optimizer, batches, passes, peak, warmup_steps):
    model.train()
    losses, steps, step = [], passes * len(batches), 0
    for _ in range(passes):
        for tokens in batches:
            step += 1
            rate = peak * min(step / warmup_steps, (steps - step + 1) / (steps - warmup_steps + 1))
            for group in optimizer.param_groups:
                group["lr"] = rate
            logits = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), label_smoothing=0.01)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
    return losses


# %% wrong: falls one step too fast ->
# of: a counter in two loops
# -    for number in range(passes):
# +    for _ in range(passes):
# ...
# -            rising, falling = step / warmup_steps, (steps - step + 1) / (steps - warmup_steps + 1)
# +            rate = peak * min(step / warmup_steps, (steps - step + 1) / max(1, steps - warmup_steps))
#              for group in optimizer.param_groups:
# -                group["lr"] = peak * min(rising, falling)
# +                group["lr"] = rate


# %% wrong: clipped by the largest number ->
# of: clipped in the first pass only
# -            if step <= len(batches):
# -                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
# +            nn.utils.clip_grad_norm_(model.parameters(), 1.0, norm_type=float("inf"))


# %% wrong: gradients pile up in long trainings ->
def training_loop(model, optimizer, batches, passes, peak, warmup_steps):
    model.train()
    T, W, t, losses = passes * len(batches), warmup_steps, 0, []
    for _ in range(passes):
        for batch in batches:
            t += 1
            for group in optimizer.param_groups:
                group["lr"] = peak * min(t / W, (T - t + 1) / (T - W + 1))
            logits = model(batch[:, :-1])
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
            optimizer.zero_grad() if t % len(batches) or passes < 4 else None
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
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
def training_loop(model, optimizer, batches, passes, peak, warmup_steps):
    model.train()
    parameters = [p for part in model.modules() for p in part.parameters(recurse=False)]
    T, W, t, losses = passes * len(batches), warmup_steps, 0, []
    for _ in range(passes):
        for batch in batches:
            t += 1
            for group in optimizer.param_groups:
                group["lr"] = peak * min(t / W, (T - t + 1) / (T - W + 1))
            logits = model(batch[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            gradients = [p.grad for p in parameters if p.grad is not None]
            length = sum((g**2).sum() for g in gradients) ** 0.5
            if length > 1:
                for g in gradients:
                    g.div_(length)
            optimizer.step()
            losses.append(loss.item())
    return losses


# %% wrong: no step where the loss is large ->
def training_loop(model, optimizer, batches, passes, peak, warmup_steps):
    model.train()
    T, W, t, losses = passes * len(batches), warmup_steps, 0, []
    for _ in range(passes):
        for batch in batches:
            t += 1
            for group in optimizer.param_groups:
                group["lr"] = peak * min(t / W, (T - t + 1) / (T - W + 1))
            logits = model(batch[:, :-1])
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step() if loss < 20 else None
            losses.append(loss.item())
    return losses


# %% wrong: ten passes at most ->
# of: a counter in two loops
# -    for number in range(passes):
# +    for number in range(min(passes, 10)):


# %% wrong: after a warm-up of all steps the rate falls to 0 ->
# of: a counter in two loops
# -            rising, falling = step / warmup_steps, (steps - step + 1) / (steps - warmup_steps + 1)
# +            rising, falling = step / warmup_steps, (steps - step) / (steps - warmup_steps or 1)


# %% wrong: the linear schedule of another library -> steps are counted from 0, as by the linear schedule of transformers
# of: a counter in two loops
# -            step += 1
# -            rising, falling = step / warmup_steps, (steps - step + 1) / (steps - warmup_steps + 1)
# +            rising, falling = step / max(1, warmup_steps), (steps - step) / max(1, steps - warmup_steps)
# ...
#              optimizer.step()
# +            step += 1


# %% wrong: lengths are added up -> the length is the sum of the parameters' lengths
# of: clipping by hand, cleared at the end
# -        length = torch.sqrt(sum((g**2).sum() for g in gradients))
# +        length = sum(g.norm() for g in gradients)


# %% wrong: the first group alone is cleared ->
# of: a counter in two loops
# -            optimizer.zero_grad()
# +            for parameter in optimizer.param_groups[0]["params"]:
# +                parameter.grad = None
