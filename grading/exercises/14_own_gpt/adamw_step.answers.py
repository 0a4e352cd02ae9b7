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
# other: Operations in place need fewer temporary tensors, as in PyTorch's optimizers; the solution reads like the formulas, one line for each.
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


# %% right: the step as a tensor of one number
def adamw_step(weight, gradient, state, rate, betas=(0.9, 0.95), eps=1e-8, decay=0.01):
    step = torch.as_tensor(state.get("step", 0)) + 1
    mean = betas[0] * state.get("mean", 0) + (1 - betas[0]) * gradient
    square = betas[1] * state.get("square", 0) + (1 - betas[1]) * gradient**2
    size = (square / (1 - betas[1] ** int(step))).sqrt() + eps
    shrunk = weight * (1 - rate * decay) if weight.dim() > 1 else weight
    return shrunk - rate * mean / (1 - betas[0] ** int(step)) / size, {"step": step, "mean": mean, "square": square}


# %% wrong: decay in the gradient -> the decay goes into the gradient
# hint: This is Adam with a penalty in the loss: the pull to 0 is divided by the size of the gradients, as they are.
# hint: Decoupled, it is a factor of the weight, 1 - rate * decay.
#      step = state.get("step", 0) + 1
# +    if weight.dim() > 1:
# +        gradient = gradient + decay * weight
# ...
# -    if weight.dim() > 1:
# -        weight = weight * (1 - rate * decay)

# %% wrong: everything decays -> norms and biases decay, too
# hint: Only what has two axes or more decays: `weight.dim() > 1`. The factor of a norm belongs near 1.
# -    if weight.dim() > 1:
# -        weight = weight * (1 - rate * decay)
# +    weight = weight * (1 - rate * decay)

# %% wrong: no decay -> nothing decays
# hint: A matrix is multiplied by 1 - rate * decay in each step.
# -    if weight.dim() > 1:
# -        weight = weight * (1 - rate * decay)

# %% wrong: 1 - decay -> the decay does not go by the rate
# hint: With a factor of 1 - decay, a quarter or a hundredth of each weight is gone after one step. The factor is 1 -
# hint: rate * decay.
# ~ rate * decay => decay

# %% wrong: no correction -> the means are not corrected
# hint: Both means begin at 0 and are too small at first: divide them by 1 - beta**t.
# ~ (1 - betas[0] ** step) / ((square / (1 - betas[1] ** step)).sqrt() + eps) => (square.sqrt() + eps)

# %% wrong: t is the number of steps before -> the step is counted too late
# hint: This step counts: at the first one t is 1. With 0 the correction divides by 0.
# ~ state.get("step", 0) + 1 => torch.tensor(state.get("step", 0))
# ~ step, => int(step) + 1,

# %% wrong: sqrt(v + eps) -> eps stands below the root
# hint: sqrt(v) + eps, and not sqrt(v + eps): for small gradients, a root of 1e-8 is 1e-4, which is not small.
# ~ ((square / (1 - betas[1] ** step)).sqrt() + eps) => (square / (1 - betas[1] ** step) + eps).sqrt()


# %% wrong: the corrections in the rate, beside an eps that is not corrected -> eps is added before the correction
# hint: eps is added to the root of the mean that has been divided by 1 - beta**t. Before that, the root is smaller, at
# hint: first by far, and eps weighs more.
def adamw_step(weight, gradient, state, rate, betas=(0.9, 0.95), eps=1e-8, decay=0.01):
    """As the end of section 2 of Kingma and Ba (2015) writes it, with another eps than that of their algorithm 1."""
    first, second = betas
    t = state.get("step", 0) + 1
    m = first * state.get("mean", torch.zeros_like(weight)) + (1 - first) * gradient
    v = second * state.get("square", torch.zeros_like(weight)) + (1 - second) * gradient.pow(2)
    size = rate * (1 - second**t) ** 0.5 / (1 - first**t)
    factor = 1 - rate * decay if len(weight.shape) > 1 else 1.0
    return factor * weight - size * m / (v.sqrt() + eps), {"step": t, "mean": m, "square": v}


# %% wrong: the decay after the rest -> the decay comes after the step
# hint: The weight is multiplied by 1 - rate * decay first, and what the gradients move it by is subtracted whole.
# hint: Multiplied afterwards, the move is smaller, too.
# of: the corrections in the rate and in eps
# -    moved = weight * (1 - rate * decay) if weight.dim() > 1 else weight
# -    moved = moved - rate_now * m / (v.sqrt() + eps * math.sqrt(1 - betas[1] ** t))
# +    moved = weight - rate_now * m / (v.sqrt() + eps * math.sqrt(1 - betas[1] ** t))
# +    if moved.dim() > 1:
# +        moved = moved - rate * decay * moved

# %% wrong: no root -> the root is missing
# hint: The second mean is one of squares: its root has the size of a gradient.
# of: as the formula says
# ~ (square / (1 - betas[1] ** step)).sqrt() => square / (1 - betas[1] ** step)

# %% wrong: the square of the mean -> the mean is squared, not the gradient
# hint: The second mean is that of the squares of the gradients. Gradients that change their sign have a small mean and
# hint: large squares.
# ~ gradient* => mean*

# %% wrong: the size of the gradient -> the gradient is not squared
# hint: The second mean is that of the squares of the gradients: gradient**2.
# ~ **2 => .abs()

# %% wrong: begins anew -> the state is not read
# hint: The means of the steps before are in `state`, and so is their number: go on from there.
# -    step = state.get("step", 0) + 1
# -    mean = betas[0] * state.get("mean", 0) + (1 - betas[0]) * gradient
# -    square = betas[1] * state.get("square", 0) + (1 - betas[1]) * gradient**2
# +    step, mean, square = 1, (1 - betas[0]) * gradient, (1 - betas[1]) * gradient**2

# %% wrong: the divided means are kept -> the corrected means are kept
# hint: The division by 1 - beta**t is for this step only. What is kept is what stood there before it, else the next
# hint: step divides again.
# -    direction = mean / (1 - betas[0] ** step) / ((square / (1 - betas[1] ** step)).sqrt() + eps)
# +    mean, square = mean / (1 - betas[0] ** step), square / (1 - betas[1] ** step)
# ...
# -    return weight - rate * direction, {"step": step, "mean": mean, "square": square}
# +    return weight - rate * mean / (square.sqrt() + eps), {"step": step, "mean": mean, "square": square}

# %% wrong: plus -> the step goes uphill
# hint: The gradient points to where the loss grows: subtract.
# ~ - rate * direction => + rate * direction

# %% wrong: beta1 for the squares -> the betas are exchanged
# hint: The first beta is that of the mean of the gradients, the second one that of their squares.
#      step = state.get("step", 0) + 1
# +    betas = betas[1], betas[0]

# %% wrong: 1e-8 stands in the quotient -> eps is written down
# hint: eps comes as an argument, too; 1e-8 is its default.
# ~ ((square / (1 - betas[1] ** step)).sqrt() + eps) => ((square / (1 - betas[1] ** step)).sqrt() + 1e-8)


# %% wrong: beta1 and beta2 of the paper -> betas and decay are written down
def adamw_step(weight, gradient, state, rate, betas=(0.9, 0.95), eps=1e-8, decay=0.01):
    step = state.get("step", 0) + 1
    mean = 0.9 * state.get("mean", 0) + 0.1 * gradient
    square = 0.95 * state.get("square", 0) + 0.05 * gradient**2
    direction = mean / (1 - 0.9**step) / ((square / (1 - 0.95**step)).sqrt() + eps)
    if weight.dim() > 1:
        weight = weight * (1 - rate * 0.01)
    return weight - rate * direction, {"step": step, "mean": mean, "square": square}


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


# %% wrong: matrices only in the sense of two axes ->
# ~ > 1 => == 2

# %% wrong: the state that was given is filled ->
# -    return weight - rate * direction, {"step": step, "mean": mean, "square": square}
# +    state.update(step=step, mean=mean, square=square)
# +    return weight - rate * direction, state

# %% wrong: nothing is done at a rate of 0 ->
#  def adamw_step(weight, gradient, state, rate, betas=(0.9, 0.95), eps=1e-8, decay=0.01):
# +    if rate == 0:
# +        return weight, state

# %% wrong: after 100 steps the means are not corrected ->
# -    direction = mean / (1 - betas[0] ** step) / ((square / (1 - betas[1] ** step)).sqrt() + eps)
# +    first, second = (1 - beta**step if step <= 100 else 1.0 for beta in betas)
# +    direction = mean / first / ((square / second).sqrt() + eps)

# %% wrong: gradients are cut off at 1000 ->
# ~ step = => gradient, step = gradient.clamp(-1000, 1000),

# %% wrong: no decay unless it is asked for ->
# ~ 01) => 0)

# %% wrong: eps is 1e-7 unless another is given ->
# ~ -8, => -7,
