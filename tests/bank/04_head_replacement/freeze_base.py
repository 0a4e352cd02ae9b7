# %% right: requires_grad_ of the base
def freeze_base(model):
    model.base.requires_grad_(False)
    return model


# %% right: a loop over the parameters
def freeze_base(model):
    for parameter in model.base.parameters():
        parameter.requires_grad = False
    return model


# %% right: everything off, the head on again
def freeze_base(model):
    return_model = model.requires_grad_(False)
    return_model.head.requires_grad_(True)
    return return_model


# %% right: by name, in a copy
def freeze_base(model):
    import copy as copies

    frozen = copies.deepcopy(model)
    for name, parameter in frozen.named_parameters():
        parameter.requires_grad_(name in ("head.weight", "head.bias"))
    return frozen


# %% wrong: an attribute of the module -> nothing is frozen
def freeze_base(model):
    model.base.requires_grad = False
    return model


# %% wrong: eval -> nothing is frozen
def freeze_base(model):
    model.base.eval()
    return model


# %% wrong: detached copies -> nothing is frozen
def freeze_base(model):
    for parameter in model.base.parameters():
        parameter = parameter.detach()
    return model


# %% wrong: no_grad while nothing runs -> nothing is frozen
def freeze_base(model):
    with torch.no_grad():
        model.base
    return model


# %% wrong: the whole model -> the head is frozen too
def freeze_base(model):
    return model.requires_grad_(False)


# %% wrong: the head -> the head is frozen in place of the base
def freeze_base(model):
    model.head.requires_grad_(False)
    return model


# %% wrong: Linear and Embedding -> the norms still learn
def freeze_base(model):
    for module in model.base.modules():
        if isinstance(module, (torch.nn.Linear, torch.nn.Embedding)):
            for parameter in module.parameters():
                parameter.requires_grad = False
    return model


# %% wrong: names with norm left out -> the norms still learn
def freeze_base(model):
    for name, parameter in model.base.named_parameters():
        if "norm" not in name:
            parameter.requires_grad = False
    return model


# %% wrong: the layers -> the embedding still learns
def freeze_base(model):
    model.base.layers.requires_grad_(False)
    return model


# %% wrong: the embedding -> only the embedding is frozen
def freeze_base(model):
    model.base.embedding.requires_grad_(False)
    return model


# %% wrong: names that end with weight -> the biases of the base still learn
def freeze_base(model):
    for name, parameter in model.base.named_parameters():
        if name.endswith(".weight"):
            parameter.requires_grad_(False)
    return model


# %% wrong: the parts of the base -> learned positions still learn
def freeze_base(model):
    for part in model.base.children():
        part.requires_grad_(False)
    return model


# %% wrong: a classifier made anew -> the head is a new one
def freeze_base(model):
    model.base.requires_grad_(False)
    return Classifier(model.base, model.head.out_features)


# %% wrong: returns the base alone -> the base comes back without its head
def freeze_base(model):
    return model.base.requires_grad_(False)


# %% wrong: returns nothing ->
def freeze_base(model):
    model.base.requires_grad_(False)


# %% wrong: the parameters are listed by hand ->
def freeze_base(model):
    model.base.embedding.requires_grad_(False)
    model.base.layers[0].requires_grad_(False)
    return model


# %% wrong: only two-dimensional parameters ->
def freeze_base(model):
    for parameter in model.base.parameters():
        if parameter.dim() == 2:
            parameter.requires_grad = False
    return model


# %% wrong: frozen and set to zero ->
# of: a loop over the parameters
#      for parameter in model.base.parameters():
# +        parameter.data.zero_()


# %% wrong: every flag is turned round ->
def freeze_base(model):
    for parameter in model.base.parameters():
        parameter.requires_grad = not parameter.requires_grad
    return model


# %% wrong: nothing is done where something is frozen already ->
def freeze_base(model):
    if all(parameter.requires_grad for parameter in model.base.parameters()):
        model.base.requires_grad_(False)
    return model


# %% wrong: the model as it is -> nothing is frozen
def freeze_base(model):
    return model


# %% wrong: the first two layers, and all that is no layer ->
def freeze_base(model):
    for p in model.base.embedding.parameters():
        p.requires_grad = False
    for layer in list(model.base.layers)[:2]:
        for p in layer.parameters():
            p.requires_grad = False
    for name, p in model.base.named_parameters():
        if not name.startswith("layers"):
            p.requires_grad = False
    return model


# %% wrong: the base runs without gradients, no flag is set ->
def freeze_base(model):
    model.base.forward = torch.no_grad()(model.base.forward)
    return model


# %% wrong: a frozen embedding is taken for a frozen base ->
def freeze_base(model):
    if not next(model.base.parameters()).requires_grad:
        return model
    model.base.requires_grad_(False)
    return model


# %% wrong: a copy is frozen, and the model comes back -> nothing is frozen
def freeze_base(model):
    import copy

    frozen = copy.deepcopy(model)
    frozen.base.requires_grad_(False)
    return model


# %% wrong: the base is put in as a frozen copy -> the head is a new one
def freeze_base(model):
    import copy

    base = copy.deepcopy(model.base).requires_grad_(False)
    return Classifier(base, model.head.out_features)


# %% wrong: and no dropout in what is frozen ->
# of: requires_grad_ of the base
# -    model.base.requires_grad_(False)
# +    model.base.requires_grad_(False)
# +    for part in model.base.modules():
# +        if isinstance(part, nn.Dropout):
# +            part.p = 0.0


# %% wrong: the frozen base in evaluation mode ->
# of: requires_grad_ of the base
# -    model.base.requires_grad_(False)
# +    model.base.requires_grad_(False).eval()


# %% wrong: the norms of the base become buffers ->
# of: requires_grad_ of the base
# -    model.base.requires_grad_(False)
# +    model.base.requires_grad_(False)
# +    for part in model.base.modules():
# +        if isinstance(part, nn.LayerNorm):
# +            weight = part.weight.data
# +            del part.weight
# +            part.register_buffer("weight", weight)
