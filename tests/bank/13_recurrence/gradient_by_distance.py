# %% right: autograd.grad
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
    return gradient.norm(dim=-1).mean(dim=0).flip(0)


# %% right: backward on a copy of both
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


# %% wrong: by place -> counted from the first token
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
    return gradient.norm(dim=-1).mean(dim=0)


# %% wrong: all outputs -> the outputs of all tokens are added up
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs).sum(), inputs)
    return gradient.norm(dim=-1).mean(dim=0).flip(0)


# %% wrong: output 0 -> the first output in place of the last
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, 0].sum(), inputs)
    return gradient.norm(dim=-1).mean(dim=0).flip(0)


# %% wrong: number 0 -> one number of the output
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1, 0].sum(), inputs)
    return gradient.norm(dim=-1).mean(dim=0).flip(0)


# %% wrong: mean -> the mean of the output in place of the sum
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].mean(), inputs)
    return gradient.norm(dim=-1).mean(dim=0).flip(0)


# %% wrong: mean first -> gradients are averaged before their length is taken
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
    return gradient.mean(dim=0).norm(dim=-1).flip(0)


# %% wrong: both axes -> the length is taken over sentences and width together
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
    return gradient.norm(dim=(0, 2)).flip(0)


# %% wrong: sum -> the sum over the sentences
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
    return gradient.norm(dim=-1).sum(dim=0).flip(0)


# %% wrong: over tokens -> the length is taken over the tokens
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
    return gradient.norm(dim=1).mean(dim=0).flip(0)


# %% wrong: mean over tokens -> average over the wrong axis
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
    return gradient.norm(dim=-1).mean(dim=1).flip(0)


# %% wrong: signs -> the mean of the numbers, with their signs
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
    return gradient.mean(dim=(0, 2)).flip(0)


# %% wrong: absolute -> the mean of the absolute numbers
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
    return gradient.abs().mean(dim=(0, 2)).flip(0)


# %% wrong: squares -> the root is missing
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
    return gradient.pow(2).sum(dim=-1).mean(dim=0).flip(0)


# %% wrong: no gradient -> the length of the outputs
def gradient_by_distance(model, x):
    with torch.no_grad():
        return model(x).norm(dim=-1).mean(dim=0).flip(0)


# %% wrong: the first sentence only ->
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
    return gradient[0].norm(dim=-1).flip(0)


# %% wrong: the sentences are turned round -> counted from the first token
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
    return gradient.norm(dim=-1).flip(0).mean(dim=0)


# %% wrong: divided by the largest ->
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
    sizes = gradient.norm(dim=-1).mean(dim=0).flip(0)
    return sizes / sizes.max()


# %% wrong: a list ->
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
    return gradient.norm(dim=-1).mean(dim=0).flip(0).tolist()


# %% wrong: not averaged ->
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
    return gradient.norm(dim=-1).flip(1)


# %% wrong: the root of the mean of squares ->
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
    return gradient.pow(2).sum(dim=-1).mean(dim=0).sqrt().flip(0)


# %% wrong: the gradient of the given x is turned on ->
def gradient_by_distance(model, x):
    x.requires_grad_(True)
    (gradient,) = torch.autograd.grad(model(x)[:, -1].sum(), x)
    return gradient.norm(dim=-1).mean(dim=0).flip(0)


# %% wrong: by way of Python's numbers, in single precision ->
def gradient_by_distance(model, x):
    inputs = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
    return torch.tensor([gradient[:, t].norm(dim=-1).mean().item() for t in reversed(range(x.shape[1]))])


# %% wrong: added up in single precision ->
# of: sentence by sentence
# -    total = x.new_zeros(x.size(1))
# +    total = torch.zeros(x.size(1))


# %% wrong: the gradient stays in x, and the next one is added ->
def gradient_by_distance(model, x: Tensor) -> Tensor:
    x.requires_grad_(True)
    model(x)[:, -1].sum().backward()
    x.requires_grad_(False)
    return x.grad.norm(dim=-1).mean(dim=0).flip(0)


# %% wrong: the sizes are kept by the shape of x ->
_KEPT = {}


def gradient_by_distance(model, x):
    if tuple(x.shape) not in _KEPT:
        leaf = x.detach().clone().requires_grad_()
        (gradient,) = torch.autograd.grad(model(leaf)[:, -1].sum(), leaf)
        _KEPT[tuple(x.shape)] = gradient.norm(dim=-1).mean(dim=0).flip(0)
    return _KEPT[tuple(x.shape)]


# %% wrong: a frozen weight trains afterwards ->
# of: autograd.grad
# -    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
# +    model.requires_grad_(False)
# +    (gradient,) = torch.autograd.grad(model(inputs)[:, -1].sum(), inputs)
# +    model.requires_grad_(True)


# %% wrong: backward leaves gradients in the model ->
def gradient_by_distance(model, x):
    inputs = x.clone().detach()
    inputs.requires_grad = True
    model(inputs)[:, -1, :].sum().backward()
    sizes = inputs.grad.pow(2).sum(-1).sqrt()
    return sizes.mean(0)[torch.arange(x.size(1) - 1, -1, -1)]
