# %% right: one loop, then load_state_dict
def load_weights(model, tensors, names):
    found, places = {}, model.state_dict()
    for published, tensor in tensors.items():
        own = published
        for theirs, ours in names.items():
            own = own.replace(theirs, ours)
        if own not in places:
            raise ValueError(f"no place for {published}")
        if own in found:
            raise ValueError(f"{published} becomes {own}, as another one does")
        if tensor.shape != places[own].shape:
            raise ValueError(f"{published} has the shape {tuple(tensor.shape)}, {own} {tuple(places[own].shape)}")
        found[own] = tensor
    for own in places:
        if own not in found:
            raise ValueError(f"{own} gets nothing")
    model.load_state_dict(found)
    return model


# %% right: sets of names, shapes as torch prints them, and copy_
# other: Sets of names show at once what has no place and what gets no numbers; the solution is one loop from top to bottom, with a message of its own for each kind of mistake.
def load_weights(model, tensors, names):
    from functools import reduce

    ours = {name: reduce(lambda text, pair: text.replace(*pair), names.items(), name) for name in tensors}
    places = dict(model.named_parameters())
    left = [name for name in tensors if ours[name] not in places]
    missing = places.keys() - set(ours.values())
    if len(set(ours.values())) < len(ours):
        raise ValueError(f"two of {list(tensors)} become one")
    if left or missing:
        raise ValueError(f"without a place: {left[:1]}; without numbers: {sorted(missing)[:1]}")
    shapes = {name: (tensor.shape, places[ours[name]].shape) for name, tensor in tensors.items()}
    if other := [f"{name}: {one} against {two}" for name, (one, two) in shapes.items() if one != two]:
        raise ValueError(other[0])
    with torch.no_grad():
        for name, tensor in tensors.items():
            places[ours[name]].copy_(tensor)
    return model


# %% right: a copy is tried first
def load_weights(model, tensors, names):
    renamed, told = {}, {}
    for name in tensors:
        own = name
        for part in names:
            own = names[part].join(own.split(part))
        if own in renamed:
            raise ValueError(f"{name} and {told[own]} become {own}")
        renamed[own], told[own] = tensors[name], name
    trial = model.state_dict()
    for own in list(renamed):
        if own not in trial:
            raise ValueError(told[own])
        wanted = list(trial.pop(own).shape)
        if list(renamed[own].shape) != wanted:
            raise ValueError(f"{own}: {wanted} wanted, {list(renamed[own].shape)} given")
    if trial:
        raise ValueError(next(iter(trial)))
    model.load_state_dict(renamed)
    return model


# %% right: copies of the published tensors in the place of the parameters, where these stand
# of: sets of names, shapes as torch prints them, and copy_
# ~ copy_(tensor) => data = tensor.to(places[ours[name]], copy=True)


# %% wrong: strict=False -> strict=False: what does not fit passes in silence
# hint: With strict=False a missing or an additional tensor is no error, and a part of the model stays random. Compare
# hint: the names yourself.
def load_weights(model, tensors, names):
    found = {}
    for own, tensor in tensors.items():
        for theirs, ours in names.items():
            own = own.replace(theirs, ours)
        found[own] = tensor
    try:
        model.load_state_dict(found, strict=False)
    except RuntimeError as error:
        raise ValueError(str(error))
    return model


# %% wrong: load_state_dict complains -> torch's error in place of a ValueError
# hint: load_state_dict raises RuntimeError, after having loaded a part. Look at names and shapes first, and raise
# hint: ValueError with a sentence of your own.
# of: strict=False
# -    try:
# -        model.load_state_dict(found, strict=False)
# -    except RuntimeError as error:
# -        raise ValueError(str(error))
# +    model.load_state_dict(found)

# %% wrong: copied in the loop -> each tensor is copied as soon as it is looked at
# hint: At the first tensor that does not fit the model is already a mixture. Look at all names and all shapes first,
# hint: and copy then.
# of: one loop, then load_state_dict
#              raise ValueError(f"{published} has the shape {tuple(tensor.shape)}, {own} {tuple(places[own].shape)}")
# +        places[own].copy_(tensor)
# ...
# -    model.load_state_dict(found)

# %% wrong: its error is turned into a ValueError -> after the error the model is half loaded
# hint: load_state_dict copies what fits before it raises: the model is already a mixture. Look at all names and shapes
# hint: first.
# of: strict=False
# ~ , strict=False =>

# %% wrong: names as they are published -> parts of the names are left as they are
# hint: A published name may have several parts to be replaced: replace all of them, one after the other.
# of: one loop, then load_state_dict
# -        for theirs, ours in names.items():
# -            own = own.replace(theirs, ours)

# %% wrong: replaced once -> each part is replaced once
# hint: A part may stand in a name several times: replace it wherever it stands. `replace(theirs, ours)` does that.
# ~ (theirs, ours) => (theirs, ours, 1)


# %% wrong: one pattern for all parts -> all parts are replaced at once
def load_weights(model, tensors, names):
    pattern = re.compile("|".join(re.escape(part) for part in names)) if names else None
    own = dict(model.named_parameters())
    ready = {}
    for told, tensor in tensors.items():
        name = pattern.sub(lambda match: names[match[0]], told) if pattern else told
        if name not in own:
            raise ValueError(f"no place for {told}")
        if own[name].shape != tensor.shape:
            raise ValueError(f"{told}: {tuple(tensor.shape)} does not fit {tuple(own[name].shape)}")
        ready[name] = tensor
    left = own.keys() - ready.keys()
    if left:
        raise ValueError(f"no numbers for {', '.join(sorted(left))}")
    for name, tensor in ready.items():
        own[name].data.copy_(tensor)
    return model


# %% wrong: zip -> the order of the tensors in place of their names
# hint: Tensors may come in any order, and several have the same shape: go by their names.
def load_weights(model, tensors, names):
    with torch.no_grad():
        for parameter, tensor in zip(model.parameters(), tensors.values()):
            if parameter.shape == tensor.shape:
                parameter.copy_(tensor)
    return model


# %% wrong: others are skipped -> what is left over passes in silence
# hint: A tensor for which there is no place is a part of the published model that yours lacks: raise ValueError.
# ~ raise ValueError(f"no place for {published}") => continue

# %% wrong: what is there is loaded -> what is missing passes in silence
# hint: A tensor that gets nothing stays random, and nobody is told: raise ValueError.
# -    for own in places:
# -        if own not in found:
# -            raise ValueError(f"{own} gets nothing")
# -    model.load_state_dict(found)
# +    model.load_state_dict(found, strict=False)

# %% wrong: copy_ stretches -> shapes are not compared
# hint: copy_ stretches a tensor of width 1 over the whole axis, and fails at others with an error of its own, when some
# hint: are copied already. Compare all shapes first.
# -        if tensor.shape != places[own].shape:
# -            raise ValueError(f"{published} has the shape {tuple(tensor.shape)}, {own} {tuple(places[own].shape)}")
# ...
# -    model.load_state_dict(found)
# +    with torch.no_grad():
# +        for own, tensor in found.items():
# +            places[own].copy_(tensor)

# %% wrong: assign=True -> model and published tensors share their memory
# hint: Training the model would change them too, and it takes over their type: copy the numbers (load_state_dict or
# hint: copy_).
# ~ (found) => (found, assign=True)

# %% wrong: pop -> entries are taken out of the dict
# hint: Make a new dict: the caller's is not yours to empty.
# ~ published, tensor in tensors.items(): => published in list(tensors):
# ~ own = published => own, tensor = published, tensors.pop(published)

# %% wrong: deepcopy first -> a copy is loaded, and the model is not
# hint: Whoever has the model finds it as it was: copy the numbers into the model that you are given, and return this.
#  def load_weights(model, tensors, names):
# +    import copy
# +
# +    model = copy.deepcopy(model)

# %% wrong: a name that is ours already stays ->
# -        for theirs, ours in names.items():
# -            own = own.replace(theirs, ours)
# +        for theirs, ours in names.items():
# +            if own in places:
# +                break
# +            own = own.replace(theirs, ours)

# %% wrong: a published name that is ours already stays ->
# ~ names.items(): => ({} if published in places else names).items():

# %% wrong: two that become one may be equal ->
# ~ if own in found: => if own in found and not torch.equal(found[own], tensor):

# %% wrong: the shapes of the file alone ->
# ~ , {own} {tuple(places[own].shape)} =>

# %% wrong: what names leave as it is has no place ->
# ~ not in places: => not in places or own == published:

# %% wrong: numbers of layers have one digit ->
#          if own not in places:
# +            raise ValueError(f"no place for {published}")
# +        if re.search(r"[.][0-9]{2}[.]", own):

# %% wrong: numbers are cut off at 1000 ->
# ~ = tensor => = tensor.clamp(-1000, 1000)

# %% wrong: of two that become one the last counts ->
# -        if own in found:
# -            raise ValueError(f"{published} becomes {own}, as another one does")

# %% wrong: new parameters in the place of the old ones ->
# -    model.load_state_dict(found)
# +    for own, tensor in found.items():
# +        parent, _, last = own.rpartition(".")
# +        setattr(model.get_submodule(parent), last, nn.Parameter(tensor.to(places[own].dtype).clone()))

# %% wrong: copies of the published tensors in the place of the parameters, wherever these stand ->
# of: sets of names, shapes as torch prints them, and copy_
# ~ copy_(tensor) => data = tensor.to(places[ours[name]].dtype).clone()


# %% wrong: by single precision ->
# of: one loop, then load_state_dict
# ~ found[own] = tensor => found[own] = tensor.float()
