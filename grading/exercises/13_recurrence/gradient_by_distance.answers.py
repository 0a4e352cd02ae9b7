# %% right: autograd.grad
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
    return gradient.norm(dim=-1).mean(dim=0).flip(0)


# %% right: backward on a copy of both
# other: `backward` is the call known from training; `autograd.grad` leaves no gradients in the model, so that no copy of it is needed.
def gradient_by_distance(model, x):
    from copy import deepcopy

    model = deepcopy(model)
    inputs = x.clone().detach()
    inputs.requires_grad = True
    model(inputs)[:, -1, :].sum().backward()
    sizes = inputs.grad.pow(2).sum(-1).sqrt()
    return sizes.mean(0)[torch.arange(x.size(1) - 1, -1, -1)]


# %% right: sentence by sentence
def gradient_by_distance(model, x):
    total = x.new_zeros(x.size(1))
    for sentence in x:
        inputs = sentence.unsqueeze(0).clone().requires_grad_(True)
        gradient = torch.autograd.grad(model(inputs)[0, -1].sum(), inputs)[0][0]
        total += torch.linalg.vector_norm(gradient, dim=-1)
    return (total / len(x)).flip(dims=(0,))


# %% right: a jacobian
def gradient_by_distance(model, x):
    n = x.size(1)
    whole = torch.autograd.functional.jacobian(lambda inputs: model(inputs)[:, -1].sum(), x)
    return torch.stack([whole[:, n - 1 - k].norm(dim=-1).mean() for k in range(n)])


# %% right: with a vector of ones
def gradient_by_distance(model, x):
    inputs = x.detach().requires_grad_()
    last = model(inputs)[:, -1]
    gradient = torch.autograd.grad(last, inputs, grad_outputs=torch.ones_like(last))[0]
    return gradient.norm(dim=2).mean(dim=0).flip(0)


# %% wrong: by position -> counted from the first token
# hint: Entry k is the token k positions BEFORE THE LAST, so entry 0 is the last token: flip the order.
# ~ .flip(0) =>

# %% wrong: all outputs -> the outputs of all tokens are added up
# hint: What is asked is how the LAST output depends on each token: states[:, -1].
# ~ [:, -1] =>

# %% wrong: output 0 -> the first output in place of the last
# hint: states[:, -1] is the last output of each sentence.
# ~ [:, -1] => [:, 0]

# %% wrong: number 0 -> one number of the output
# hint: An output has d numbers: add all of them up.
# ~ [:, -1]. => [:, -1, 0].

# %% wrong: mean -> the mean of the output in place of the sum
# hint: Add the d numbers of the last output up, for all sentences: sum(). The mean is taken at the end, over sentences.
# ~ sum => mean

# %% wrong: mean first -> gradients are averaged before their length is taken
# hint: Directions cancel: take the length of each gradient first, then the mean over the sentences.
# ~ norm(dim=-1).mean(dim=0) => mean(dim=0).norm(dim=-1)

# %% wrong: both axes -> the length is taken over sentences and width together
# hint: Each sentence has a length of its own for each token: norm(dim=-1), then the mean over the sentences.
# ~ (dim=-1).mean(dim=0) => (dim=(0, 2))

# %% wrong: sum -> the sum over the sentences
# hint: With more sentences the number would grow: take the mean over them.
# ~ mean => sum

# %% wrong: over tokens -> the length is taken over the tokens
# hint: The length of a gradient runs over the width, the last axis. The axis of the tokens stays.
# ~ (dim=-1) => (dim=1)

# %% wrong: mean over tokens -> average over the wrong axis
# hint: The axes are sentences, tokens, width: after the length, `(b, n)`, the mean is over sentences, dim=0.
# ~ (dim=0). => (dim=1).

# %% wrong: signs -> the mean of the numbers, with their signs
# hint: Up and down cancel. The size of a gradient is its length, the root of the sum of squares.
# ~ norm(dim=-1).mean(dim=0) => mean(dim=(0, 2))

# %% wrong: absolute -> the mean of the absolute numbers
# hint: The size of a gradient is its length, the root of the sum of squares: norm(dim=-1).
# ~ norm(dim=-1).mean(dim=0) => abs().mean(dim=(0, 2))

# %% wrong: squares -> the root is missing
# hint: The length is the ROOT of the sum of squares: norm(dim=-1).
# ~ norm => pow(2).sum


# %% wrong: no gradient -> the length of the outputs
# hint: These are the outputs themselves. What is asked is how the last of them changes with each input: a gradient.
def gradient_by_distance(model, x):
    with torch.no_grad():
        return model(x).norm(dim=-1).mean(dim=0).flip(0)


# %% wrong: a list ->
# ~ (0) => (0).tolist()

# %% wrong: by way of Python's numbers, in single precision ->
# -    return gradient.norm(dim=-1).mean(dim=0).flip(0)
# +    return torch.tensor([gradient[:, t].norm(dim=-1).mean().item() for t in reversed(range(x.shape[1]))])


# %% wrong: the sizes are kept by the shape of x ->
_KEPT = {}


def gradient_by_distance(model, x):
    if tuple(x.shape) not in _KEPT:
        leaf = x.detach().clone().requires_grad_()
        (gradient,) = torch.autograd.grad(model(leaf)[:, -1].sum(), leaf)
        _KEPT[tuple(x.shape)] = gradient.norm(dim=-1).mean(dim=0).flip(0)
    return _KEPT[tuple(x.shape)]


# %% wrong: a frozen weight trains afterwards ->
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    model.requires_grad_(False)
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
    model.requires_grad_(True)
    return gradient.norm(dim=-1).mean(dim=0).flip(0)


# %% wrong: backward leaves gradients in the model ->
# of: backward on a copy of both
# -    from copy import deepcopy
# -
# -    model = deepcopy(model)
