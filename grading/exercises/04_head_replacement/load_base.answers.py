# %% right: names and shapes first, then load
def load_base(model, checkpoint):
    wanted = {name: weight.shape for name, weight in model.base.state_dict().items()}
    given = {name.removeprefix("base."): w for name, w in checkpoint.items() if name.startswith("base.")}
    if wanted != {name: weight.shape for name, weight in given.items()}:
        raise ValueError("the checkpoint's base has other names or shapes than the model's base")
    model.base.load_state_dict(given)
    return model


# %% right: into a copy, which is returned
def load_base(model, checkpoint):
    changed = copy.deepcopy(model)
    given = {name[5:]: weight for name, weight in checkpoint.items() if name[:5] == "base."}
    try:
        changed.base.load_state_dict(given)
    except RuntimeError as problem:
        raise ValueError(f"the base does not fit: {problem}") from problem
    return changed


# %% right: tried on a copy of the base first
# other: It leaves the check of names and shapes to PyTorch, on a copy that a failed load may spoil; the solution says itself which name or shape does not fit, and needs no memory for a second base.
def load_base(model, checkpoint):
    given = {name.split(".", 1)[1]: weight for name, weight in checkpoint.items() if name.startswith("base.")}
    try:
        copy.deepcopy(model.base).load_state_dict(given)
    except RuntimeError:
        raise ValueError("the checkpoint does not fit the base of this model") from None
    model.base.load_state_dict(given)
    return model


# %% right: parameter by parameter
def load_base(model, checkpoint):
    own = dict(model.base.named_parameters())
    names = {name for name in checkpoint if name.startswith("base.")}
    if names != {f"base.{name}" for name in own}:
        raise ValueError(f"expected the {len(own)} weights of the base, got {len(names)}")
    for name, parameter in own.items():
        if parameter.shape != checkpoint[f"base.{name}"].shape:
            raise ValueError(f"{name} has another shape in the checkpoint")
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(checkpoint[f"base.{name}"])
    return model


# %% right: the whole state with the base exchanged
def load_base(model, checkpoint):
    state = model.state_dict()
    expected = {name for name in state if name.startswith("base.")}
    found = {name for name in checkpoint if name.startswith("base.")}
    if expected ^ found:
        raise ValueError(f"these names fit on one side only: {sorted(expected ^ found)}")
    if any(state[name].shape != checkpoint[name].shape for name in expected):
        raise ValueError("a weight of the checkpoint has another shape")
    model.load_state_dict({**state, **{name: checkpoint[name] for name in expected}})
    return model


# %% wrong: strict=False with the prefix still on -> strict=False, and nothing is loaded
# hint: No name fits: the checkpoint says 'base.embedding.weight', model.base 'embedding.weight'. strict=False turns
# hint: this into silence. Take the prefix off, and never use strict=False without reading what it returns.
def load_base(model, checkpoint):
    model.base.load_state_dict(checkpoint, strict=False)
    return model


# %% wrong: prefix off, torch complains -> torch's error in place of a ValueError
# hint: load_state_dict raises RuntimeError, after having loaded a part. Check names and shapes first, and raise
# hint: ValueError with a sentence of your own.
def load_base(model, checkpoint):
    given = {name.removeprefix("base."): w for name, w in checkpoint.items() if name.startswith("base.")}
    model.base.load_state_dict(given)
    return model


# %% wrong: counts the weights only -> names are compared, shapes are not
def load_base(model, checkpoint):
    given = {name[5:]: weight for name, weight in checkpoint.items() if name.startswith("base.")}
    if len(given) != len(model.base.state_dict()):
        raise ValueError("the number of weights differs")
    model.base.load_state_dict(given)
    return model


# %% wrong: everything -> the whole checkpoint is loaded, head included
# hint: The checkpoint's head scores V words and does not fit; where it does by chance, it overwrites yours. Take only
# hint: the names that begin with base.
# of: strict=False with the prefix still on
# ~ base.load_state_dict(checkpoint, strict=False) => load_state_dict(checkpoint)


# %% wrong: what fits by shape -> whatever fits by shape is loaded
# hint: What does not fit is skipped in silence, and a head that fits by chance is overwritten. Take exactly the names
# hint: of the base, and raise ValueError when one of them does not fit.
def load_base(model, checkpoint):
    own = model.state_dict()
    for name, weight in checkpoint.items():
        if name in own and own[name].shape == weight.shape:
            own[name].copy_(weight)
    return model


# %% wrong: what fits of the base -> what does not fit in the base is skipped in silence
# hint: A base that is half trained and half random is worse than an error: raise ValueError.
def load_base(model, checkpoint):
    own = model.state_dict()
    fitting = {
        name: weight
        for name, weight in checkpoint.items()
        if name.startswith("base.") and name in own and own[name].shape == weight.shape
    }
    model.load_state_dict(fitting, strict=False)
    return model


# %% wrong: prefix off, strict=False -> strict=False: missing layers pass in silence
# hint: With strict=False a missing or an additional layer is no error, and a part of the base stays random. Compare the
# hint: names yourself.
# of: prefix off, torch complains
# ~ (given) => (given, strict=False)

# %% wrong: torch's error caught too late -> after the error the model is half loaded
# hint: load_state_dict copies what fits before it raises, so catching its error comes too late: the model is already a
# hint: mixture. Compare names and shapes first.
# -    model.base.load_state_dict(given)
# +    try:
# +        model.base.load_state_dict(given)
# +    except RuntimeError as problem:
# +        raise ValueError("the base of the checkpoint does not fit") from problem


# %% wrong: a classifier around the loaded base -> the head is a new one
# hint: The head may have been trained already: keep it as it is.
def load_base(model, checkpoint):
    given = {name.removeprefix("base."): w for name, w in checkpoint.items() if name.startswith("base.")}
    own = model.base.state_dict()
    if own.keys() != given.keys() or any(own[name].shape != given[name].shape for name in own):
        raise ValueError("the base of the checkpoint does not fit")
    model.base.load_state_dict(given)
    return Classifier(model.base, model.head.out_features)


# %% wrong: pops the head -> entries of the checkpoint are removed, renamed or added
# hint: The caller's checkpoint is no longer what it was. Make a new dict with the names that you need.
# -    given = {name.removeprefix("base."): w for name, w in checkpoint.items() if name.startswith("base.")}
# +    checkpoint.pop("head.weight", None)
# +    checkpoint.pop("head.bias", None)
# +    own = model.base.state_dict()
# +    if {f"base.{name}" for name in own} != set(checkpoint):
# +        raise ValueError("the names do not fit")
# +    given = {name[5:]: weight for name, weight in checkpoint.items()}
# +    if any(own[name].shape != given[name].shape for name in own):
# +        raise ValueError("the shapes do not fit")


# %% wrong: assign=True -> model and checkpoint share their memory
# hint: Training the model would change the checkpoint too: copy the numbers (load_state_dict or copy_).
def load_base(model, checkpoint):
    own = model.base.state_dict()
    given = {name[5:]: weight for name, weight in checkpoint.items() if name.startswith("base.")}
    if own.keys() != given.keys() or any(own[name].shape != given[name].shape for name in own):
        raise ValueError("the base does not fit")
    model.base.load_state_dict(given, assign=True)
    return model


# %% wrong: lstrip -> lstrip takes letters, not a prefix
# hint: 'base.embedding.weight'.lstrip('base.') is 'mbedding.weight': lstrip removes any of these letters. Use
# hint: removeprefix. And strict=False has hidden it from you.
# ~ removeprefix => lstrip
# ~ (given) => (given, strict=False)

# %% wrong: prints in place of raising -> no error is raised: the model comes back as it was
# hint: Whoever calls the function would believe that the weights are loaded, and a printed sentence stops no program.
# hint: Where the base does not fit, raise ValueError.
# -    given = {name.removeprefix("base."): w for name, w in checkpoint.items() if name.startswith("base.")}
# +    own = model.base.state_dict()
# +    given = {name[5:]: weight for name, weight in checkpoint.items() if name.startswith("base.")}
# +    if given.keys() != own.keys() or any(own[name].shape != given[name].shape for name in own):
# +        print("the base does not fit")
# +        return model

# %% wrong: norms and biases are forgotten ->
# of: assign=True
# ~ given, assign=True => {name: w for name, w in given.items() if w.dim() == 2}, strict=False


# %% wrong: checks while it copies ->
@torch.no_grad()
def load_base(model, checkpoint):
    own = model.base.state_dict()
    given = {name[5:]: weight for name, weight in checkpoint.items() if name.startswith("base.")}
    if given.keys() != own.keys():
        raise ValueError("the names differ")
    for name, weight in given.items():
        if own[name].shape != weight.shape:
            raise ValueError(f"the shape of {name} differs")
        own[name].copy_(weight)
    return model


# %% wrong: the number of names is compared, and shapes ->
def load_base(model, checkpoint):
    own = model.base.state_dict()
    given = {name[5:]: weight for name, weight in checkpoint.items() if name.startswith("base.")}
    if len(given) != len(own):
        raise ValueError("the base has other names")
    for name in own:
        if given[name].shape != own[name].shape:
            raise ValueError(f"{name} has another shape")
    model.base.load_state_dict(given)
    return model


# %% wrong: copy_ shall tell other shapes ->
# of: checks while it copies
# -        raise ValueError("the names differ")
# +        raise ValueError("the base has other names")
# +    trial = copy.deepcopy(model.base).state_dict()
# +    try:
# +        for name, weight in given.items():
# +            trial[name].copy_(weight)
# +    except RuntimeError:
# +        raise ValueError("the base has other shapes") from None
# ...
# -        if own[name].shape != weight.shape:
# -            raise ValueError(f"the shape of {name} differs")


# %% wrong: the base is frozen as well ->
def load_base(model, checkpoint):
    own = model.base.state_dict()
    given = {name[5:]: weight for name, weight in checkpoint.items() if name.startswith("base.")}
    if given.keys() != own.keys() or any(own[name].shape != given[name].shape for name in own):
        raise ValueError("the base does not fit")
    model.base.load_state_dict(given)
    model.base.requires_grad_(False)
    return model


# %% wrong: as many numbers are enough ->
def load_base(model, checkpoint):
    found = {name[5:]: weight for name, weight in checkpoint.items() if name.startswith("base.")}
    wanted = dict(model.base.named_parameters())
    if set(found) != set(wanted) or any(found[name].numel() != wanted[name].numel() for name in wanted):
        raise ValueError("the checkpoint does not fit")
    with torch.no_grad():
        for name, parameter in wanted.items():
            parameter.copy_(found[name].reshape(parameter.shape))
    return model


# %% wrong: every base. is taken away, and not the prefix alone ->
def load_base(model, checkpoint):
    found = {name.replace("base.", ""): w for name, w in checkpoint.items() if name.startswith("base.")}
    expected = model.base.state_dict()
    if found.keys() != expected.keys():
        raise ValueError(f"found the names {sorted(found)}, expected {sorted(expected)}")
    for name in expected:
        if found[name].shape != expected[name].shape:
            raise ValueError(f"{name}: found {tuple(found[name].shape)}, expected {tuple(expected[name].shape)}")
    model.base.load_state_dict(found)
    return model


# %% wrong: an error without a word ->
def load_base(model, checkpoint):
    found = {name.removeprefix("base."): w for name, w in checkpoint.items() if name.startswith("base.")}
    expected = model.base.state_dict()
    if {n: w.shape for n, w in found.items()} != {n: w.shape for n, w in expected.items()}:
        raise ValueError
    model.base.load_state_dict(found)
    return model


# %% wrong: shapes are compared apart from the names ->
def load_base(model: Classifier, checkpoint: dict[str, Tensor]) -> Classifier:
    own = model.base.state_dict()
    found = {name.removeprefix("base."): tensor for name, tensor in checkpoint.items() if name.startswith("base.")}
    # sorted on both sides: the order does not count
    if sorted(found) != sorted(own):
        raise ValueError(
            f"{len(found)} names found, {len(own)} expected, different: {sorted(set(found) ^ set(own))[:3]}"
        )
    shapes_found = sorted(tuple(tensor.shape) for tensor in found.values())
    shapes_own = sorted(tuple(tensor.shape) for tensor in own.values())
    if shapes_found != shapes_own:
        raise ValueError(f"shapes found {shapes_found[:3]}..., expected {shapes_own[:3]}...")
    model.base.load_state_dict(found)
    return model


# %% wrong: layers are told by their first digit ->
def load_base(model, checkpoint):
    wanted = model.base.state_dict()
    given = {name.removeprefix("base."): weight for name, weight in checkpoint.items() if name.startswith("base.")}
    if wanted.keys() != given.keys():
        raise ValueError(f"other names: {sorted(wanted.keys() ^ given.keys())[0]}")
    for name, weight in given.items():
        if wanted[name].shape != weight.shape:
            raise ValueError(f"{name} has another shape")
    model.base.load_state_dict(
        {
            name: given["layers.1." + name.split(".", 2)[2]] if name.startswith("layers.1") else given[name]
            for name in given
        }
    )
    return model


# %% wrong: the checkpoint's tensors, copied, in the place of the parameters ->
# of: parameter by parameter
# ~ copy_(checkpoint[f"base.{name}"]) => data = checkpoint[f"base.{name}"].clone()


# %% wrong: what stands before the first dot is taken off, whatever it is ->
# of: tried on a copy of the base first
# ~ if name.startswith("base.") => if not name.startswith("head.")
