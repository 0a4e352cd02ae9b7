# %% right: L-BFGS
def linear_probe(features, labels, penalty):
    weight = torch.zeros(features.shape[1], dtype=features.dtype, requires_grad=True)
    bias = torch.zeros((), dtype=features.dtype, requires_grad=True)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=300, tolerance_change=1e-10, line_search_fn="strong_wolfe")
    inputs, target = features.detach(), labels.to(features.dtype)

    def closure():
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(inputs @ weight + bias, target)
        loss = loss + penalty * weight.square().sum()
        loss.backward()
        return loss

    with torch.enable_grad():
        optimizer.step(closure)
    return weight.detach(), bias.detach()


# %% right: Newton's method
# other: It needs no learning rate and a dozen steps, but a matrix of second derivatives; the solution's optimizer needs gradients only, and so also works for 384 features and more.
def linear_probe(features, labels, penalty):
    x = torch.cat([features.detach(), torch.ones(len(features), 1, dtype=features.dtype)], dim=1)
    y = labels.to(x.dtype)
    cost = torch.full((x.shape[1],), 2 * penalty, dtype=x.dtype)
    cost[-1] = 0.0
    both = torch.zeros_like(cost)
    for _ in range(25):
        p = (x @ both).sigmoid()
        slope = x.T @ (p - y) / len(x) + cost * both
        curve = (x * (p * (1 - p))[:, None]).T @ x / len(x) + torch.diag(cost)
        both = both - torch.linalg.solve(curve, slope)
    return both[:-1], both[-1]


# %% right: gradient descent by hand, with momentum
def linear_probe(features, labels, penalty):
    x, y = features.detach(), labels.to(features.dtype)
    weight, bias = x.new_zeros(x.shape[1]), x.new_zeros(())
    rate = 1 / (0.25 * (x.square().sum(dim=1).mean() + 1) + 2 * penalty)
    v_weight, v_bias = torch.zeros_like(weight), torch.zeros_like(bias)
    for _ in range(3000):
        error = torch.sigmoid(x @ weight + bias) - y
        v_weight = 0.9 * v_weight - rate * (x.T @ error / len(x) + 2 * penalty * weight)
        v_bias = 0.9 * v_bias - rate * error.mean()
        weight, bias = weight + v_weight, bias + v_bias
    return weight, bias


# %% wrong: the bias is penalised -> the bias is penalised, too
# hint: The bias says how frequent the class is; drawn towards 0 it says that both are equally frequent.
# of: L-BFGS
# ~ penalty * weight.square().sum() => penalty * (weight.square().sum() + bias.square())

# %% wrong: a sum over the texts -> the sum of the losses, not their mean
# hint: With a sum, the same penalty weighs less the more texts there are. Wanted is the mean over the texts.
# of: L-BFGS
# ~ F.binary_cross_entropy_with_logits(inputs @ weight + bias, target) => F.binary_cross_entropy_with_logits(inputs @ weight + bias, target, reduction="sum")

# %% wrong: half of the penalty -> half of the penalty
# hint: The penalty is `penalty` times the sum of the squares, without a half in front.
# of: L-BFGS
# ~ penalty * weight.square() => 0.5 * penalty * weight.square()

# %% wrong: no penalty -> without the penalty
# hint: Without it, the weights grow without end where the texts can be separated.
# of: L-BFGS
# ~ penalty * weight.square().sum() => 0 * weight.square().sum()

# %% wrong: the mean of the squares -> the mean of the squares in place of their sum
# hint: The sum of the squared weights is wanted; their mean makes a wide encoder cheaper than a narrow one.
# of: L-BFGS
# ~ weight.square().sum() => weight.square().mean()

# %% wrong: amounts in place of squares -> the amounts of the weights, not their squares
# hint: The squares are wanted. Amounts (the lasso) make many weights exactly 0.
# of: L-BFGS
# ~ weight.square().sum() => weight.abs().sum()

# %% wrong: twenty steps -> too few steps
# hint: The loss is still falling when you stop. Go on until it no longer does: more steps, or another optimizer.
# of: gradient descent by hand, with momentum
# ~ range(3000) => range(20)

# %% wrong: the other class -> the classes are exchanged
# hint: The logit is the one of class 1: positive where class 1 is the more probable one.
# of: Newton's method
# ~ y = labels.to(x.dtype) => y = 1 - labels.to(x.dtype)

# %% wrong: no bias -> without a bias
# hint: The bias is a number of its own, and the second value of the result.
# of: gradient descent by hand, with momentum
# ~ rate * error.mean() => 0 * error.mean()


# %% wrong: a line through 0 and 1 -> least squares in place of cross-entropy
# hint: A label is a class: the loss is the cross-entropy of sigmoid(logit), not a squared distance.
def linear_probe(features, labels, penalty):
    x = torch.cat([features.detach(), torch.ones(len(features), 1, dtype=features.dtype)], dim=1)
    cost = torch.full((x.shape[1],), penalty * len(x), dtype=x.dtype)
    cost[-1] = 0
    both = torch.linalg.solve(x.T @ x + torch.diag(cost), x.T @ labels.to(x.dtype))
    return both[:-1], both[-1]


# %% wrong: standardised features ->
# of: L-BFGS
# ~ inputs, target = features.detach(), => inputs, target = (features - features.mean(0)).detach() / features.std(0).clamp_min(1e-6),

# %% wrong: the first hundred texts ->
# of: L-BFGS
# ~ inputs, target = features.detach(), labels.to(features.dtype) => inputs, target = features[:100].detach(), labels[:100].to(features.dtype)


# %% right: Adam for long, with a falling rate
def linear_probe(features, labels, penalty):
    x, y = features.detach(), labels.to(features.dtype)
    layer = torch.nn.Linear(x.shape[1], 1, dtype=x.dtype)
    with torch.no_grad():
        layer.weight.zero_(), layer.bias.zero_()
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.5, betas=(0.9, 0.95))
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 500)
    with torch.enable_grad():
        for _ in range(500):
            optimizer.zero_grad()
            loss = F.binary_cross_entropy_with_logits(layer(x).squeeze(1), y) + penalty * (layer.weight**2).sum()
            loss.backward()
            optimizer.step()
            falling.step()
    return layer.weight.detach()[0], layer.bias.detach()[0]


# %% wrong: each class weighs the same ->
# of: L-BFGS
# ~ F.binary_cross_entropy_with_logits(inputs @ weight + bias, target) => F.binary_cross_entropy_with_logits(inputs @ weight + bias, target, pos_weight=(1 - target).sum() / target.sum())


# %% wrong: twenty steps of L-BFGS -> stopped before the minimum
# hint: The loss is still falling when you stop. Some features are small: their weights take longest. Allow more steps.
# of: L-BFGS
# ~ torch.optim.LBFGS([weight, bias], max_iter=300, tolerance_change=1e-10, line_search_fn="strong_wolfe") => torch.optim.LBFGS([weight, bias])


# %% wrong: 300 steps of Adam ->
def linear_probe(features, labels, penalty):
    x, y = features.detach(), labels.to(features.dtype)
    weight, bias = x.new_zeros(x.shape[1], requires_grad=True), x.new_zeros((), requires_grad=True)
    optimizer = torch.optim.Adam([weight, bias], lr=0.1)
    with torch.enable_grad():
        for _ in range(300):
            optimizer.zero_grad()
            loss = F.binary_cross_entropy_with_logits(x @ weight + bias, y) + penalty * weight.square().sum()
            loss.backward()
            optimizer.step()
    return weight.detach(), bias.detach()


# %% wrong: gradient descent of a thousand steps ->
# of: gradient descent by hand, with momentum
# ~ range(3000) => range(1000)
# ~ v_weight = 0.9 * v_weight - => v_weight = 0 * v_weight -
# ~ v_bias = 0.9 * v_bias - => v_bias = 0 * v_bias -

# %% wrong: a sigmoid, and then its logarithm ->
# of: L-BFGS
# -        loss = F.binary_cross_entropy_with_logits(inputs @ weight + bias, target)
# +        chance = torch.sigmoid(inputs @ weight + bias)
# +        loss = -(target * chance.log() + (1 - target) * (1 - chance).log()).mean()
