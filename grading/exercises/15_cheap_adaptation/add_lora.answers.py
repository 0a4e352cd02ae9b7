# %% right: parameters move
def add_lora(model, names, rank):
    model.base.requires_grad_(False)
    model.head.requires_grad_(True)
    for parent in list(model.base.modules()):
        for name, part in list(parent.named_children()):
            if isinstance(part, nn.Linear) and name in names:
                layer = LoRALinear(part.in_features, part.out_features, rank).to(part.weight.device)
                layer.weight, layer.bias = part.weight, part.bias
                setattr(parent, name, layer)
    return model


# %% right: numbers are copied
# -                layer.weight, layer.bias = part.weight, part.bias
# +                layer.weight.data.copy_(part.weight)
# +                layer.bias.data.copy_(part.bias)


# %% right: by full names, in a copy
# other: It leaves the given model as it was, and finds layers by their full names; the solution changes the model itself, and needs no memory for a second one.
def add_lora(model, names, rank):
    changed = copy.deepcopy(model)
    changed.base.requires_grad_(False)
    changed.head.requires_grad_(True)
    found = [name for name, part in changed.base.named_modules() if isinstance(part, nn.Linear)]
    for path in found:
        place, _, name = path.rpartition(".")
        if name in names:
            old = changed.base.get_submodule(path)
            new = LoRALinear(old.in_features, old.out_features, rank).to(old.weight.device)
            new.load_state_dict(old.state_dict(), strict=False)
            setattr(changed.base.get_submodule(place), name, new)
    return changed


# %% right: flags at the end, by name
# of: numbers are copied
# -    model.base.requires_grad_(False)
# -    model.head.requires_grad_(True)
# +    pass
# ...
#                  setattr(parent, name, layer)
# +    for name, parameter in model.named_parameters():
# +        new = name.rpartition(".")[2] in ("down", "up")
# +        parameter.requires_grad_(new or name.startswith("head."))


# %% right: part by part
def add_lora(model, names, rank):
    for parameter in model.base.parameters():
        parameter.requires_grad = False
    for parameter in model.head.parameters():
        parameter.requires_grad = True

    def change(parent):
        for name, part in parent.named_children():
            if isinstance(part, nn.Linear) and name in names:
                new = LoRALinear(part.in_features, part.out_features, rank).to(part.weight.device)
                new.weight, new.bias = part.weight, part.bias
                setattr(parent, name, new)
            else:
                change(part)

    change(model.base)
    return model


# %% right: the model as a whole is put where it was
# of: parameters move
#  def add_lora(model, names, rank):
# +    device = next(model.parameters()).device
# ...
# -                layer = LoRALinear(part.in_features, part.out_features, rank).to(part.weight.device)
# +                layer = LoRALinear(part.in_features, part.out_features, rank)
# ...
# -    return model
# +    return model.to(device)

# %% right: new layers are made within their device
# -                layer = LoRALinear(part.in_features, part.out_features, rank).to(part.weight.device)
# +                with torch.device(part.weight.device):
# +                    layer = LoRALinear(part.in_features, part.out_features, rank)

# %% wrong: the whole model is frozen -> the head is frozen
# hint: The head is new and must learn: freeze model.base, and not the model.
# -    model.base.requires_grad_(False)
# -    model.head.requires_grad_(True)
# +    model.requires_grad_(False)


# %% wrong: the head keeps its flags -> a head that came frozen stays frozen
# hint: The head learns afterwards, whatever it did before: set its flags to True.
def add_lora(model, names, rank):
    model.base.requires_grad_(False)
    for parent in list(model.base.modules()):
        for name, old in list(parent.named_children()):
            if name in names and isinstance(old, nn.Linear):
                new = (
                    LoRALinear(old.in_features, old.out_features, rank)
                    .to(old.weight.device)
                    .to(old.weight)
                    .train(old.training)
                )
                new.weight, new.bias = old.weight, old.bias
                setattr(parent, name, new)
    return model


# %% wrong: returns the base -> the base comes back without its head
# hint: Return the whole model: model, and not model.base.
# of: the whole model is frozen
# ~ .requires_grad_ => .base.requires_grad_
# ~ return model => return model.base

# %% wrong: what is not replaced goes on learning, the head too -> the base is not frozen
# hint: The layers that were not replaced still train: norms, embedding and all the other matrices. Freeze the base
# hint: first.
# ~ requires_grad_(False) => head.requires_grad_(True)
# ~ , layer.bias = part.weight, part.bias => .data, layer.bias.data = part.weight.data, part.bias.data

# %% wrong: nothing is frozen but the layers replaced -> the base is not frozen
# of: numbers are copied
# -    model.base.requires_grad_(False)
# -    model.head.requires_grad_(True)
# +    pass

# %% wrong: all but the norms -> the norms still learn
# of: parameters move
# -    model.head.requires_grad_(True)
# ...
#                  setattr(parent, name, layer)
# +    for part in model.base.modules():
# +        if isinstance(part, nn.LayerNorm):
# +            part.requires_grad_(True)

# %% wrong: the embedding goes on -> the embedding still learns
# ~ head.requires_grad_(True) => base.embedding.weight.requires_grad = True


# %% wrong: the factors stand beside the model -> the new layers have no place in the model
def add_lora(model, names, rank):
    model.base.requires_grad_(False)
    layers = {}
    for path, part in model.base.named_modules():
        if isinstance(part, nn.Linear) and path.rpartition(".")[2] in names:
            layers[path] = LoRALinear(part.in_features, part.out_features, rank).to(part.weight.device)
    return model


# %% wrong: frozen at the end -> down and up are frozen too
# -    model.base.requires_grad_(False)
# -    model.head.requires_grad_(True)
# +    pass
# ...
#                  setattr(parent, name, layer)
# +    model.base.requires_grad_(False)

# %% wrong: nothing is taken over -> the new layers begin with random weights
# of: the whole model is frozen
# ~ .requires_grad_ => .base.requires_grad_
# ~ layer.weight, layer.bias = part.weight, part.bias => pass

# %% wrong: the bias is forgotten -> the new layers begin with random biases
# ~ .requires_grad_ => .base.requires_grad_
# ~ weight, layer.bias = part.weight, part.bias => weight = part.weight

# %% wrong: names are not looked at -> every linear layer is replaced
# ~ .requires_grad_ => .base.requires_grad_
# ~ (part, nn.Linear) and name in names: => (part, nn.Linear):

# %% wrong: two names by heart -> always query and value
# ~ .requires_grad_ => .base.requires_grad_
# ~ isinstance(part, nn.Linear) and name in names => name in ("query", "value")


# %% wrong: the attention alone is looked into, the head set to learn -> the feed-forward parts are left out
# hint: Names such as hidden and output are found in the feed-forward part too: go through all modules of the base.
def add_lora(model, names, rank):
    model.base.requires_grad_(False)
    model.head.requires_grad_(True)
    for layer in model.base.layers:
        for name in names:
            if hasattr(layer.attention, name):
                old = getattr(layer.attention, name)
                new = LoRALinear(old.in_features, old.out_features, rank).to(old.weight.device)
                new.weight, new.bias = old.weight, old.bias
                setattr(layer.attention, name, new)
    return model


# %% wrong: layer 0 -> only the first layer of the base
# ~ .requires_grad_ => .base.requires_grad_
# ~ .modules => .layers[0].modules

# %% wrong: a rank by heart -> always rank 4
# ~ .requires_grad_ => .base.requires_grad_
# ~ (part.in_features, part.out_features, rank).to(part.weight.device) => (part.in_features, part.out_features, 4)

# %% wrong: eval at the end -> the model is left in evaluation mode
# hint: eval() freezes nothing: it turns dropout off. Whoever trains the model now trains without dropout.
# of: parameters move
#                  setattr(parent, name, layer)
# +    model.eval()

# %% wrong: the head anew -> the head is a new one
# hint: Adding factors changes no old number: the head may have been trained already.
# -    model.head.requires_grad_(True)
# ...
#                  setattr(parent, name, layer)
# +    model.head = nn.Linear(model.head.in_features, model.head.out_features)


# %% wrong: alpha grows with the rank ->
def add_lora(model, names, rank):
    model.requires_grad_(False)
    for part in list(model.base.modules()):
        for name, layer in list(part.named_children()):
            if name in names and isinstance(layer, nn.Linear):
                new = LoRALinear(layer.in_features, layer.out_features, rank, 8.0 * rank)
                with torch.no_grad():
                    new.weight.copy_(layer.weight)
                    new.bias.copy_(layer.bias)
                setattr(part, name, new)
    model.head.requires_grad_(True)
    return model


# %% wrong: training mode at the end ->
# of: alpha grows with the rank
# ~ , 8.0 * rank =>
# ~ return model => return model.train()


# %% wrong: a head that came half frozen ->
def add_lora(model: Classifier, names: tuple[str, ...], rank: int) -> Classifier:
    model.base.requires_grad_(False)
    for path, old in list(model.base.named_modules()):
        parent, _, last = path.rpartition(".")
        if last in names and isinstance(old, nn.Linear):
            new = LoRALinear(old.in_features, old.out_features, rank).to(old.weight.device)
            with torch.no_grad():
                new.weight.copy_(old.weight)
                new.bias.copy_(old.bias)
            setattr(model.base.get_submodule(parent), last, new)
    if not any(parameter.requires_grad for parameter in model.head.parameters()):
        model.head.requires_grad_(True)  # it came frozen
    return model


# %% wrong: four layers at most ->
# of: parameters move
# -    for parent in list(model.base.modules()):
# +    later = {part for layer in list(model.base.layers)[4:] for part in layer.modules()}
# +    for parent in [part for part in model.base.modules() if part not in later]:

# %% wrong: no names stand for all ->
# ~ name in names => (not names or name in names)

# %% wrong: new layers on the CPU ->
# ~ .to(part.weight.device) =>

# %% wrong: new layers on the CPU, into which numbers are copied ->
# of: flags at the end, by name
# ~ .to(part.weight.device) =>

# %% wrong: the whole model is moved to the CPU ->
# of: parameters move
# ~ return model => return model.cpu()

# %% wrong: by the ends of names ->
# ~ name in names: => name.endswith(tuple(names)):

# %% wrong: layer by layer -> what stands beside the layers is left out
# hint: Linear layers of the base may stand outside base.layers, too: go through all of model.base.
# of: part by part
# -    change(model.base)
# +    for layer in model.base.layers:
# +        change(layer)


# %% wrong: two parts of each layer -> what stands beside the layers is left out
def add_lora(model, names, rank):
    model.base.requires_grad_(False)
    model.head.requires_grad_(True)
    for layer in model.base.layers:
        for part in (layer.attention, layer.feed_forward):
            for name in names:
                old = getattr(part, name, None)
                if isinstance(old, nn.Linear):
                    new = LoRALinear(old.in_features, old.out_features, rank).to(old.weight.device)
                    new.weight, new.bias = old.weight, old.bias
                    setattr(part, name, new)
    return model


# %% wrong: the children of each part of a layer -> what stands beside the layers is left out
def add_lora(model, names, rank):
    model.base.requires_grad_(False)
    model.head.requires_grad_(True)
    for layer in model.base.layers:
        for part in layer.children():
            for name, old in list(part.named_children()):
                if isinstance(old, nn.Linear) and name in names:
                    new = LoRALinear(old.in_features, old.out_features, rank).to(old.weight.device)
                    new.weight, new.bias = old.weight, old.bias
                    setattr(part, name, new)
    return model


# %% wrong: the layers at any depth, and nothing beside them -> what stands beside the layers is left out
# of: parameters move
# ~ model.base.modules() => model.base.layers.modules()

# %% wrong: the base itself and its layers ->
# ~ list(model.base.modules()) => [model.base, *model.base.layers.modules()]

# %% wrong: the head may be replaced, too -> a layer named head is replaced, too
# hint: Only layers of the base are replaced: go through model.base.modules(), and not through model.modules().
# ~ model.base.modules() => model.modules()
