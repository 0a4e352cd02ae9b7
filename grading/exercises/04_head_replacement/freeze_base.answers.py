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
# other: It says what learns: anything else is frozen, parts that are added later too; the solution says what is frozen, and touches nothing else.
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
# hint: Every parameter of the model that comes back still learns. A frozen copy freezes only itself, no_grad() only
# hint: what runs inside of it, and eval() turns off dropout. A module has no flag of its own: `model.base.requires_grad
# hint: = False` only makes a new attribute. Use requires_grad_(False), or set the flag of each parameter.
# ~ requires_grad_(False) => requires_grad = False

# %% wrong: eval -> nothing is frozen
# ~ requires_grad_(False) => eval()


# %% wrong: returns the base alone -> the base comes back without its head
# hint: Return the whole model: model, and not model.base.
def freeze_base(model):
    return model.base.requires_grad_(False)


# %% wrong: the whole model -> the head is frozen too
# hint: Nothing can learn any more. Freeze model.base, not model.
def freeze_base(model):
    return model.requires_grad_(False)


# %% wrong: the head -> the head is frozen in place of the base
# hint: It is the other way round: the new head starts from random numbers and must learn.
# ~ base. => head.


# %% wrong: Linear and Embedding -> the norms still learn
# hint: Layer norms have a weight and a bias of D numbers each, and they are part of the base.
def freeze_base(model):
    for module in model.base.modules():
        if isinstance(module, (torch.nn.Linear, torch.nn.Embedding)):
            for parameter in module.parameters():
                parameter.requires_grad = False
    return model


# %% wrong: the layers -> the embedding still learns
# hint: base.layers is not the whole base: the embedding is the largest part of it.
# ~ .requires_grad_ => .layers.requires_grad_

# %% wrong: the embedding -> only the embedding is frozen
# hint: The embedding is the largest part of the base, but its layers learn as well.
# ~ .requires_grad_ => .embedding.requires_grad_


# %% wrong: names that end with weight -> the biases of the base still learn
# hint: A parameter called bias is a parameter too.
def freeze_base(model):
    for name, parameter in model.base.named_parameters():
        if name.endswith(".weight"):
            parameter.requires_grad_(False)
    return model


# %% wrong: the parts of the base -> learned positions still learn
# hint: base.position is a parameter of the base itself and belongs to none of its parts: loop over base.parameters(),
# hint: which knows them all.
# of: a loop over the parameters
# ~ parameter in model.base.parameters => part in model.base.children
# ~ parameter.requires_grad = False => part.requires_grad_(False)

# %% wrong: a classifier made anew -> the head is a new one
# hint: Return the model that came, or a copy of it: Classifier(...) makes another head, with random weights.
# of: requires_grad_ of the base
# ~ return model => return Classifier(model.base, model.head.out_features)


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


# %% wrong: a frozen embedding is taken for a frozen base ->
#  def freeze_base(model):
# +    if not next(model.base.parameters()).requires_grad:
# +        return model

# %% wrong: and no dropout in what is frozen ->
#      model.base.requires_grad_(False)
# +    for part in model.base.modules():
# +        if isinstance(part, nn.Dropout):
# +            part.p = 0.0
