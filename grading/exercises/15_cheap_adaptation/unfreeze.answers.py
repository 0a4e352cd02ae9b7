# %% right: comparisons
def unfreeze(model, step):
    base, depth = model.base, len(model.base.layers)
    model.requires_grad_(step > depth)
    model.head.requires_grad_(True)
    base.norm.requires_grad_(step >= 1)
    for index, layer in enumerate(base.layers):
        layer.requires_grad_(step >= depth - index)
    return model


# %% right: freeze all, then slices
def unfreeze(model, step):
    model.requires_grad_(False)
    model.head.requires_grad_(True)
    layers = list(model.base.layers)
    if step > 0:
        model.base.norm.requires_grad_(True)
        for layer in layers[max(0, len(layers) - step) :]:
            layer.requires_grad_(True)
    if step > len(layers):
        model.base.requires_grad_(True)
    return model


# %% right: a list of groups
# other: The order stands in one list, from the head down, and a step takes its beginning; the solution compares for each part, with no list and no loop over single parameters.
def unfreeze(model, step):
    top_down = [[model.head]] + [[layer] for layer in reversed(model.base.layers)]
    top_down[1].append(model.base.norm)
    for parameter in model.parameters():
        parameter.requires_grad = step >= len(top_down)
    for group in top_down[: step + 1]:
        for part in group:
            for parameter in part.parameters():
                parameter.requires_grad = True
    return model


# %% right: by name, in a copy
def unfreeze(model, step):
    changed = copy.deepcopy(model)
    depth = len(changed.base.layers)
    for name, parameter in changed.named_parameters():
        parts = name.split(".")
        if parts[0] == "head":
            first = 0
        elif parts[1] == "norm":
            first = 1
        elif parts[1] == "layers":
            first = depth - int(parts[2])
        else:
            first = depth + 1
        parameter.requires_grad_(step >= first)
    return changed


# %% wrong: from below -> the bottom layer first
# hint: The layers nearest to the head come first: base.layers[-1] at step 1.
# ~ = depth - =>


# %% wrong: a slice that takes all at step 0 -> at step 0 all layers learn
# hint: layers[-step:] takes the last `step` layers, but layers[-0:] is layers[0:], all of them: at step 0 none may
# hint: learn. Leave the loop out there, or begin the slice at max(0, len(layers) - step).
def unfreeze(model, step):
    model.requires_grad_(False)
    model.head.requires_grad_(True)
    for layer in model.base.layers[-step:]:
        layer.requires_grad_(True)
    if step > 0:
        model.base.norm.requires_grad_(True)
    if step > len(model.base.layers):
        model.requires_grad_(True)
    return model


# %% wrong: one step early -> one step early
# hint: At step 0 no layer learns, only the head.
#      base, depth = model.base, len(model.base.layers)
# +    step += 1

# %% wrong: layers from step 2 on -> one step late
# hint: At step 1 the top layer and base.norm learn already.
#      base, depth = model.base, len(model.base.layers)
# +    step = max(0, step - 1)

# %% wrong: equal in place of greater -> the layers above are frozen again
# hint: Gradual unfreezing adds layers; those that have joined in go on learning.
# ~ >= depth - index => == depth - index or step > depth

# %% wrong: the norm with everything -> the last norm joins in only at the end
# hint: base.norm stands above the top layer, so it joins in with it, at step 1.
# ~ base.norm.requires_grad_(step >= 1) => pass

# %% wrong: the norm is frozen for good -> the last norm never learns
# hint: base.norm belongs to none of the layers: unfreeze it at step 1.
# ~ step >= 1 => False

# %% wrong: the norm from step 0 -> the last norm learns from the start
# hint: base.norm is part of the base: at step 0 it is frozen.
# ~ step >= 1 => True

# %% wrong: norms are left out -> no norm learns
# hint: The norms inside a layer join in with it, and base.norm with the top layer.
#          layer.requires_grad_(step >= depth - index)
# +    for part in model.modules():
# +        if isinstance(part, nn.LayerNorm):
# +            part.requires_grad_(False)

# %% wrong: the embedding is forgotten -> the embedding never learns
# hint: After the last layer, one step more: then everything learns.
# ~ step > depth => False

# %% wrong: everything one step too early -> the embedding joins in with the first layer
# hint: It is a step of its own: at step len(layers) all layers learn, and the embedding one step later.
# ~ > depth => >= depth

# %% wrong: the embedding, but not the positions -> learned positions never learn
# hint: base.position is a parameter of the base itself: at the last step everything learns.
# -    model.requires_grad_(step > depth)
# +    model.requires_grad_(False)
# +    base.embedding.requires_grad_(step > depth)

# %% wrong: the head with everything -> the head is frozen
# hint: The head learns at every step: it is new.
# ~ model.head.requires_grad_(True) => pass


# %% wrong: nothing is frozen first -> nothing is frozen first
def unfreeze(model, step):
    layers = list(model.base.layers)
    for layer in layers[max(0, len(layers) - step) :]:
        layer.requires_grad_(True)
    return model


# %% wrong: frozen layers become zero ->
#          layer.requires_grad_(step >= depth - index)
# +    for parameter in model.parameters():
# +        if not parameter.requires_grad:
# +            parameter.data.zero_()

# %% wrong: weights of the layers, not their biases ->
#          layer.requires_grad_(step >= depth - index)
# +    for name, parameter in base.layers.named_parameters():
# +        if name.endswith("bias") and step <= depth:
# +            parameter.requires_grad_(False)

# %% wrong: no step beyond the last is known ->
# ~ > depth => == depth + 1
# ~ layer.requires_grad_(step >= depth - index) => layer.requires_grad_(depth + 1 >= step >= depth - index)


# %% wrong: training mode at the end ->
def unfreeze(model, step):
    model.requires_grad_(False)
    model.head.requires_grad_(True)
    n = len(model.base.layers)
    if step > n:
        model.requires_grad_(True)
    elif step > 0:
        model.base.norm.requires_grad_(True)
        for layer in model.base.layers[n - step :]:
            layer.requires_grad_(True)
    return model.train()


# %% wrong: a single layer takes everything with it ->
# of: training mode at the end
# ~ > n: => > n or n == 1 and step:
# ~ .train() =>


# %% wrong: layers are found by the beginnings of their names ->
def unfreeze(model: Classifier, step: int) -> Classifier:
    count = len(model.base.layers)
    frozen = tuple(f"base.layers.{index}" for index in range(count - step))
    for name, parameter in model.named_parameters():
        if step > count or name.startswith("head."):
            learns = True
        elif name.startswith("base.layers."):
            learns = not name.startswith(frozen)
        else:
            learns = name.startswith("base.norm.") and step >= 1
        parameter.requires_grad_(learns)
    return model


# %% wrong: a base has at most eight layers ->
# of: comparisons
# ~ (step > depth) => (step > min(depth, 8))

# %% wrong: no dropout below what learns ->
#          layer.requires_grad_(step >= depth - index)
# +    for index, layer in enumerate(base.layers):
# +        for part in layer.modules():
# +            if isinstance(part, nn.Dropout) and step < depth - index:
# +                part.p = 0.0

# %% wrong: a copy on the CPU ->
#  def unfreeze(model, step):
# +    moved = copy.deepcopy(model).cpu()
# +    model = moved

# %% wrong: weights go to the CPU and are parameters anew ->
#          layer.requires_grad_(step >= depth - index)
# +    for part in model.modules():
# +        for name, parameter in list(part.named_parameters(recurse=False)):
# +            flag = parameter.requires_grad
# +            setattr(part, name, nn.Parameter(torch.tensor(parameter.tolist()), requires_grad=flag))

# %% wrong: the last norm is taken for a LayerNorm ->
# of: comparisons
# -    base.norm.requires_grad_(step >= 1)
# +    base.norm.weight.requires_grad_(step >= 1)
# +    base.norm.bias.requires_grad_(step >= 1)


# %% wrong: the last norm is taken for a LayerNorm until everything learns ->
def unfreeze(model, step):
    model.requires_grad_(False)
    model.head.requires_grad_(True)
    layers = list(model.base.layers)
    if step > len(layers):
        return model.requires_grad_(True)
    if step > 0:
        for layer in layers[len(layers) - step :]:
            layer.requires_grad_(True)
        model.base.norm.weight.requires_grad_(True)
        model.base.norm.bias.requires_grad_(True)
    return model


# %% wrong: the parts by name, but for one -> the norm after the embedding never learns
# hint: At the last step everything learns, base.embedding_norm too: set the flags of the whole model.
# of: comparisons
# -    model.requires_grad_(step > depth)
# +    model.requires_grad_(False)
# +    base.embedding.requires_grad_(step > depth)
# +    if isinstance(base.position, nn.Parameter):
# +        base.position.requires_grad_(step > depth)

# %% wrong: the gradients of an earlier step are dropped ->
#          layer.requires_grad_(step >= depth - index)
# +    for parameter in model.parameters():
# +        parameter.grad = None

# %% wrong: the gradients of what is frozen become zero ->
#          layer.requires_grad_(step >= depth - index)
# +    for parameter in model.parameters():
# +        if parameter.grad is not None and not parameter.requires_grad:
# +            parameter.grad.zero_()
