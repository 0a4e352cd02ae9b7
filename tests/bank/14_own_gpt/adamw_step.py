# %% right: as the formula says
def adamw_step(weight, gradient, state, rate, betas=(0.9, 0.95), eps=1e-8, decay=0.01):
    step = state.get("step", 0) + 1
    mean = betas[0] * state.get("mean", 0) + (1 - betas[0]) * gradient
    square = betas[1] * state.get("square", 0) + (1 - betas[1]) * gradient**2
    direction = mean / (1 - betas[0] ** step) / ((square / (1 - betas[1] ** step)).sqrt() + eps)
    if weight.dim() > 1:
        weight = weight * (1 - rate * decay)
    return weight - rate * direction, {"step": step, "mean": mean, "square": square}


# %% right: clones that are changed in place
def adamw_step(weight, gradient, state, rate, betas=(0.9, 0.95), eps=1e-8, decay=0.01):
    beta1, beta2 = betas
    if not state:
        state = {"step": 0, "mean": torch.zeros_like(weight), "square": torch.zeros_like(weight)}
    t = state["step"] + 1
    m = state["mean"].clone().mul_(beta1).add_(gradient, alpha=1 - beta1)
    v = state["square"].clone().mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
    new = weight.clone()
    if new.ndim >= 2:
        new.mul_(1 - rate * decay)
    size = v.sqrt() / math.sqrt(1 - beta2**t)
    new.addcdiv_(m, size + eps, value=-rate / (1 - beta1**t))
    return new, {"step": t, "mean": m, "square": v}


# %% right: lerp, and the decay subtracted
def adamw_step(weight, gradient, state, rate, betas=(0.9, 0.95), eps=1e-8, decay=0.01):
    zero = torch.zeros_like(gradient)
    count = 1 + (state["step"] if "step" in state else 0)
    m = torch.lerp(gradient, state.get("mean", zero), betas[0])
    v = torch.lerp(gradient.square(), state.get("square", zero), betas[1])
    m_hat, v_hat = m / (1 - betas[0] ** count), v / (1 - betas[1] ** count)
    shrink = decay if weight.dim() >= 2 else 0.0
    moved = weight - rate * shrink * weight - rate * m_hat / (torch.sqrt(v_hat) + eps)
    return moved, dict(step=count, mean=m, square=v)


# %% wrong: PyTorch's own step, with the state put in -> a ready-made part in place of an answer
def adamw_step(weight, gradient, state, rate, betas=(0.9, 0.95), eps=1e-8, decay=0.01):
    moved = nn.Parameter(weight.detach().clone())
    shrink = decay if weight.dim() > 1 else 0.0
    optimizer = torch.optim.AdamW([moved], lr=rate, betas=betas, eps=eps, weight_decay=shrink)
    if state:
        optimizer.state[moved] = {
            "step": torch.tensor(float(state["step"])),
            "exp_avg": state["mean"].clone(),
            "exp_avg_sq": state["square"].clone(),
        }
    moved.grad = gradient.clone()
    optimizer.step()
    now = optimizer.state[moved]
    return moved.detach(), {"step": int(now["step"]), "mean": now["exp_avg"], "square": now["exp_avg_sq"]}


# %% right: the corrections in the rate and in eps
def adamw_step(weight, gradient, state, rate, betas=(0.9, 0.95), eps=1e-8, decay=0.01):
    """As PyTorch did it for years: both sides of the quotient are multiplied by the root of the second correction."""
    t = state.get("step", 0) + 1
    m = betas[0] * state.get("mean", 0) + (1 - betas[0]) * gradient
    v = betas[1] * state.get("square", 0) + (1 - betas[1]) * gradient * gradient
    rate_now = rate * math.sqrt(1 - betas[1] ** t) / (1 - betas[0] ** t)
    moved = weight * (1 - rate * decay) if weight.dim() > 1 else weight
    moved = moved - rate_now * m / (v.sqrt() + eps * math.sqrt(1 - betas[1] ** t))
    return moved, {"step": t, "mean": m, "square": v}


# %% wrong: decay in the gradient -> the decay goes into the gradient
# of: as the formula says
# -    step = state.get("step", 0) + 1
# +    step = state.get("step", 0) + 1
# +    if weight.dim() > 1:
# +        gradient = gradient + decay * weight
# ...
# -    if weight.dim() > 1:
# -        weight = weight * (1 - rate * decay)


# %% wrong: everything decays -> norms and biases decay, too
# of: as the formula says
# -    if weight.dim() > 1:
# -        weight = weight * (1 - rate * decay)
# +    weight = weight * (1 - rate * decay)


# %% wrong: no decay -> nothing decays
# of: as the formula says
# -    if weight.dim() > 1:
# -        weight = weight * (1 - rate * decay)


# %% wrong: 1 - decay -> the decay does not go by the rate
# of: as the formula says
# -        weight = weight * (1 - rate * decay)
# +        weight = weight * (1 - decay)


# %% wrong: no correction -> the means are not corrected
# of: as the formula says
# -    direction = mean / (1 - betas[0] ** step) / ((square / (1 - betas[1] ** step)).sqrt() + eps)
# +    direction = mean / (square.sqrt() + eps)


# %% wrong: the second mean is not corrected ->
# of: as the formula says
# -    direction = mean / (1 - betas[0] ** step) / ((square / (1 - betas[1] ** step)).sqrt() + eps)
# +    direction = mean / (1 - betas[0] ** step) / (square.sqrt() + eps)


# %% wrong: t is the number of steps before -> the step is counted too late
def adamw_step(weight, gradient, state, rate, betas=(0.9, 0.95), eps=1e-8, decay=0.01):
    step = torch.tensor(state.get("step", 0))
    mean = betas[0] * state.get("mean", 0) + (1 - betas[0]) * gradient
    square = betas[1] * state.get("square", 0) + (1 - betas[1]) * gradient**2
    direction = mean / (1 - betas[0] ** step) / ((square / (1 - betas[1] ** step)).sqrt() + eps)
    if weight.dim() > 1:
        weight = weight * (1 - rate * decay)
    return weight - rate * direction, {"step": int(step) + 1, "mean": mean, "square": square}


# %% wrong: sqrt(v + eps) -> eps stands below the root
# of: as the formula says
# -    direction = mean / (1 - betas[0] ** step) / ((square / (1 - betas[1] ** step)).sqrt() + eps)
# +    direction = mean / (1 - betas[0] ** step) / (square / (1 - betas[1] ** step) + eps).sqrt()


# %% wrong: no root -> the root is missing
# of: as the formula says
# -    direction = mean / (1 - betas[0] ** step) / ((square / (1 - betas[1] ** step)).sqrt() + eps)
# +    direction = mean / (1 - betas[0] ** step) / (square / (1 - betas[1] ** step) + eps)


# %% wrong: no eps ->
# of: as the formula says
# -    direction = mean / (1 - betas[0] ** step) / ((square / (1 - betas[1] ** step)).sqrt() + eps)
# +    direction = mean / (1 - betas[0] ** step) / (square / (1 - betas[1] ** step)).sqrt()


# %% wrong: the square of the mean -> the mean is squared, not the gradient
# of: as the formula says
# -    square = betas[1] * state.get("square", 0) + (1 - betas[1]) * gradient**2
# +    square = betas[1] * state.get("square", 0) + (1 - betas[1]) * mean**2


# %% wrong: the size of the gradient -> the gradient is not squared
# of: as the formula says
# -    square = betas[1] * state.get("square", 0) + (1 - betas[1]) * gradient**2
# +    square = betas[1] * state.get("square", 0) + (1 - betas[1]) * gradient.abs()


# %% wrong: begins anew -> the state is not read
# of: as the formula says
# -    step = state.get("step", 0) + 1
# -    mean = betas[0] * state.get("mean", 0) + (1 - betas[0]) * gradient
# -    square = betas[1] * state.get("square", 0) + (1 - betas[1]) * gradient**2
# +    step, mean, square = 1, (1 - betas[0]) * gradient, (1 - betas[1]) * gradient**2


# %% wrong: the divided means are kept -> the corrected means are kept
def adamw_step(weight, gradient, state, rate, betas=(0.9, 0.95), eps=1e-8, decay=0.01):
    step = state.get("step", 0) + 1
    mean = betas[0] * state.get("mean", 0) + (1 - betas[0]) * gradient
    square = betas[1] * state.get("square", 0) + (1 - betas[1]) * gradient**2
    mean, square = mean / (1 - betas[0] ** step), square / (1 - betas[1] ** step)
    if weight.dim() > 1:
        weight = weight * (1 - rate * decay)
    return weight - rate * mean / (square.sqrt() + eps), {"step": step, "mean": mean, "square": square}


# %% wrong: plus -> the step goes uphill
# of: as the formula says
# -    return weight - rate * direction, {"step": step, "mean": mean, "square": square}
# +    return weight + rate * direction, {"step": step, "mean": mean, "square": square}


# %% wrong: beta1 for the squares -> the betas are exchanged
# of: as the formula says
# -    step = state.get("step", 0) + 1
# +    step = state.get("step", 0) + 1
# +    betas = betas[1], betas[0]


# %% wrong: beta1 and beta2 of the paper -> betas and decay are written down
def adamw_step(weight, gradient, state, rate, betas=(0.9, 0.95), eps=1e-8, decay=0.01):
    step = state.get("step", 0) + 1
    mean = 0.9 * state.get("mean", 0) + 0.1 * gradient
    square = 0.95 * state.get("square", 0) + 0.05 * gradient**2
    direction = mean / (1 - 0.9**step) / ((square / (1 - 0.95**step)).sqrt() + eps)
    if weight.dim() > 1:
        weight = weight * (1 - rate * 0.01)
    return weight - rate * direction, {"step": step, "mean": mean, "square": square}


# %% wrong: the old mean is not faded ->
# of: as the formula says
# -    mean = betas[0] * state.get("mean", 0) + (1 - betas[0]) * gradient
# +    mean = state.get("mean", 0) + (1 - betas[0]) * gradient


# %% wrong: the step is not counted ->
# of: as the formula says
# -    return weight - rate * direction, {"step": step, "mean": mean, "square": square}
# +    return weight - rate * direction, {"step": state.get("step", 0), "mean": mean, "square": square}


# %% wrong: matrices only in the sense of two axes ->
# of: as the formula says
# -    if weight.dim() > 1:
# +    if weight.dim() == 2:


# %% wrong: the state that was given is filled ->
# of: as the formula says
# -    return weight - rate * direction, {"step": step, "mean": mean, "square": square}
# +    state.update(step=step, mean=mean, square=square)
# +    return weight - rate * direction, state


# %% wrong: the weight that was given is moved ->
# of: as the formula says
# -    if weight.dim() > 1:
# -        weight = weight * (1 - rate * decay)
# -    return weight - rate * direction, {"step": step, "mean": mean, "square": square}
# +    if weight.dim() > 1:
# +        weight.mul_(1 - rate * decay)
# +    weight.sub_(rate * direction)
# +    return weight, {"step": step, "mean": mean, "square": square}


# %% wrong: without the state ->
# of: as the formula says
# -    return weight - rate * direction, {"step": step, "mean": mean, "square": square}
# +    return weight - rate * direction


# %% wrong: SGD with momentum ->
# of: as the formula says
# -    return weight - rate * direction, {"step": step, "mean": mean, "square": square}
# +    return weight - rate * mean, {"step": step, "mean": mean, "square": square}


# %% wrong: nothing is done at a rate of 0 ->
# of: as the formula says
# -    step = state.get("step", 0) + 1
# +    if rate == 0:
# +        return weight, state
# +    step = state.get("step", 0) + 1


# %% wrong: after 100 steps the means are not corrected ->
# of: as the formula says
# -    direction = mean / (1 - betas[0] ** step) / ((square / (1 - betas[1] ** step)).sqrt() + eps)
# +    first, second = (1 - beta**step if step <= 100 else 1.0 for beta in betas)
# +    direction = mean / first / ((square / second).sqrt() + eps)


# %% wrong: gradients are cut off at 1000 ->
# of: as the formula says
# -    step = state.get("step", 0) + 1
# +    gradient, step = gradient.clamp(-1000, 1000), state.get("step", 0) + 1


# %% wrong: the decay after the rest -> the decay comes after the step
# of: the corrections in the rate and in eps
# -    moved = weight * (1 - rate * decay) if weight.dim() > 1 else weight
# -    moved = moved - rate_now * m / (v.sqrt() + eps * math.sqrt(1 - betas[1] ** t))
# +    moved = weight - rate_now * m / (v.sqrt() + eps * math.sqrt(1 - betas[1] ** t))
# +    if moved.dim() > 1:
# +        moved = moved - rate * decay * moved


# %% wrong: the weight that has moved decays, in place -> the decay comes after the step
# of: clones that are changed in place
# -    if new.ndim >= 2:
# -        new.mul_(1 - rate * decay)
# ...
#      new.addcdiv_(m, size + eps, value=-rate / (1 - beta1**t))
# +    if new.ndim >= 2:
# +        new.mul_(1 - rate * decay)


# %% wrong: the corrections in the rate, beside an eps that is not corrected -> eps is added before the correction
def adamw_step(weight, gradient, state, rate, betas=(0.9, 0.95), eps=1e-8, decay=0.01):
    """As the end of section 2 of Kingma and Ba (2015) writes it, with another eps than that of their algorithm 1."""
    first, second = betas
    t = state.get("step", 0) + 1
    m = first * state.get("mean", torch.zeros_like(weight)) + (1 - first) * gradient
    v = second * state.get("square", torch.zeros_like(weight)) + (1 - second) * gradient.pow(2)
    size = rate * (1 - second**t) ** 0.5 / (1 - first**t)
    factor = 1 - rate * decay if len(weight.shape) > 1 else 1.0
    return factor * weight - size * m / (v.sqrt() + eps), {"step": t, "mean": m, "square": v}


# %% wrong: eps beside the root of a mean that is not corrected -> eps is added before the correction
# of: as the formula says
# -    direction = mean / (1 - betas[0] ** step) / ((square / (1 - betas[1] ** step)).sqrt() + eps)
# +    below = (square.sqrt() + eps) / (1 - betas[1] ** step) ** 0.5
# +    direction = mean / (1 - betas[0] ** step) / below


# %% wrong: 1e-8 stands in the quotient -> eps is written down
# of: as the formula says
# -    direction = mean / (1 - betas[0] ** step) / ((square / (1 - betas[1] ** step)).sqrt() + eps)
# +    direction = mean / (1 - betas[0] ** step) / ((square / (1 - betas[1] ** step)).sqrt() + 1e-8)


# %% wrong: 1e-6 stands in the quotient ->
# of: as the formula says
# -    direction = mean / (1 - betas[0] ** step) / ((square / (1 - betas[1] ** step)).sqrt() + eps)
# +    direction = mean / (1 - betas[0] ** step) / ((square / (1 - betas[1] ** step)).sqrt() + 1e-6)


# %% wrong: the root is eps at least, in place of eps more ->
# of: as the formula says
# -    direction = mean / (1 - betas[0] ** step) / ((square / (1 - betas[1] ** step)).sqrt() + eps)
# +    direction = mean / (1 - betas[0] ** step) / (square / (1 - betas[1] ** step)).sqrt().clamp(min=eps)


# %% wrong: the pull is half as strong, as that of a penalty of half the square of half of it ->
# of: as the formula says
# -        weight = weight * (1 - rate * decay)
# +        weight = weight * (1 - rate * decay / 2)


# %% wrong: no decay unless it is asked for ->
def adamw_step(weight, gradient, state, rate, betas=(0.9, 0.95), eps=1e-8, decay=0.0):
    step = state.get("step", 0) + 1
    mean = betas[0] * state.get("mean", 0) + (1 - betas[0]) * gradient
    square = betas[1] * state.get("square", 0) + (1 - betas[1]) * gradient**2
    direction = mean / (1 - betas[0] ** step) / ((square / (1 - betas[1] ** step)).sqrt() + eps)
    if weight.dim() > 1:
        weight = weight * (1 - rate * decay)
    return weight - rate * direction, {"step": step, "mean": mean, "square": square}


# %% wrong: eps is 1e-7 unless another is given ->
def adamw_step(weight, gradient, state, rate, betas=(0.9, 0.95), eps=1e-7, decay=0.01):
    step = state.get("step", 0) + 1
    mean = betas[0] * state.get("mean", 0) + (1 - betas[0]) * gradient
    square = betas[1] * state.get("square", 0) + (1 - betas[1]) * gradient**2
    direction = mean / (1 - betas[0] ** step) / ((square / (1 - betas[1] ** step)).sqrt() + eps)
    if weight.dim() > 1:
        weight = weight * (1 - rate * decay)
    return weight - rate * direction, {"step": step, "mean": mean, "square": square}


# %% wrong: the function of PyTorch's optimizer -> a ready-made part in place of an answer
def adamw_step(weight, gradient, state, rate, betas=(0.9, 0.95), eps=1e-8, decay=0.01):
    from torch.optim.adamw import adamw

    moved = weight.detach().clone()
    mean = state["mean"].clone() if state else torch.zeros_like(weight)
    square = state["square"].clone() if state else torch.zeros_like(weight)
    steps = torch.tensor(float(state.get("step", 0)))
    adamw(
        [moved],
        [gradient],
        [mean],
        [square],
        [],
        [steps],
        amsgrad=False,
        beta1=betas[0],
        beta2=betas[1],
        lr=rate,
        weight_decay=decay if weight.dim() > 1 else 0.0,
        eps=eps,
        maximize=False,
    )
    return moved, {"step": int(steps), "mean": mean, "square": square}


# %% right: the step as a tensor of one number
def adamw_step(weight, gradient, state, rate, betas=(0.9, 0.95), eps=1e-8, decay=0.01):
    step = torch.as_tensor(state.get("step", 0)) + 1
    mean = betas[0] * state.get("mean", 0) + (1 - betas[0]) * gradient
    square = betas[1] * state.get("square", 0) + (1 - betas[1]) * gradient**2
    size = (square / (1 - betas[1] ** int(step))).sqrt() + eps
    shrunk = weight * (1 - rate * decay) if weight.dim() > 1 else weight
    return shrunk - rate * mean / (1 - betas[0] ** int(step)) / size, {"step": step, "mean": mean, "square": square}
