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


# %% wrong: strict=False -> strict=False: what does not fit passes in silence
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
def load_weights(model, tensors, names):
    found = {}
    for own, tensor in tensors.items():
        for theirs, ours in names.items():
            own = own.replace(theirs, ours)
        found[own] = tensor
    model.load_state_dict(found)
    return model


# %% wrong: its error is turned into a ValueError -> after the error the model is half loaded
# of: load_state_dict complains
# -    model.load_state_dict(found)
# +    try:
# +        model.load_state_dict(found)
# +    except RuntimeError as error:
# +        raise ValueError(str(error))


# %% wrong: names as they are published -> parts of the names are left as they are
# of: one loop, then load_state_dict
# -        for theirs, ours in names.items():
# -            own = own.replace(theirs, ours)


# %% wrong: one replacement a name -> parts of the names are left as they are
# of: one loop, then load_state_dict
# -            own = own.replace(theirs, ours)
# +            if theirs in own:
# +                own = own.replace(theirs, ours)
# +                break


# %% wrong: zip -> the order of the tensors in place of their names
def load_weights(model, tensors, names):
    with torch.no_grad():
        for parameter, tensor in zip(model.parameters(), tensors.values()):
            if parameter.shape == tensor.shape:
                parameter.copy_(tensor)
    return model


# %% wrong: others are skipped -> what is left over passes in silence
# of: one loop, then load_state_dict
# -            raise ValueError(f"no place for {published}")
# +            continue


# %% wrong: what is there is loaded -> what is missing passes in silence
# of: one loop, then load_state_dict
# -    for own in places:
# -        if own not in found:
# -            raise ValueError(f"{own} gets nothing")
# -    model.load_state_dict(found)
# +    model.load_state_dict(found, strict=False)


# %% wrong: copy_ stretches -> shapes are not compared
# of: one loop, then load_state_dict
# -        if tensor.shape != places[own].shape:
# -            raise ValueError(f"{published} has the shape {tuple(tensor.shape)}, {own} {tuple(places[own].shape)}")
# ...
# -    model.load_state_dict(found)
# +    with torch.no_grad():
# +        for own, tensor in found.items():
# +            places[own].copy_(tensor)


# %% wrong: copied in the loop -> each tensor is copied as soon as it is looked at
# of: one loop, then load_state_dict
# -        found[own] = tensor
# +        places[own].copy_(tensor)
# +        found[own] = tensor
# ...
# -    model.load_state_dict(found)


# %% wrong: something does not fit ->
# of: one loop, then load_state_dict
# -            raise ValueError(f"no place for {published}")
# -        if own in found:
# -            raise ValueError(f"{published} becomes {own}, as another one does")
# -        if tensor.shape != places[own].shape:
# -            raise ValueError(f"{published} has the shape {tuple(tensor.shape)}, {own} {tuple(places[own].shape)}")
# +            raise ValueError("names differ")
# +        if tensor.shape != places[own].shape:
# +            raise ValueError("shapes differ")
# ...
# -            raise ValueError(f"{own} gets nothing")
# +            raise ValueError("names differ")


# %% wrong: assign=True -> model and published tensors share their memory
# of: one loop, then load_state_dict
# -    model.load_state_dict(found)
# +    model.load_state_dict(found, assign=True)


# %% wrong: pop -> entries are taken out of the dict
# of: one loop, then load_state_dict
# -    for published, tensor in tensors.items():
# -        own = published
# +    for published in list(tensors):
# +        own, tensor = published, tensors.pop(published)


# %% wrong: the shapes of the file alone ->
# of: one loop, then load_state_dict
# -            raise ValueError(f"{published} has the shape {tuple(tensor.shape)}, {own} {tuple(places[own].shape)}")
# +            raise ValueError(f"{published} has the shape {tuple(tensor.shape)}")


# %% wrong: it returns nothing ->
# of: one loop, then load_state_dict
# -    return model


# %% wrong: what names leave as it is has no place ->
# of: one loop, then load_state_dict
# -        if own not in places:
# +        if own not in places or own == published:


# %% wrong: numbers of layers have one digit ->
# of: one loop, then load_state_dict
#          if own not in places:
# +            raise ValueError(f"no place for {published}")
# +        if re.search(r"[.][0-9]{2}[.]", own):


# %% wrong: numbers are cut off at 1000 ->
# of: one loop, then load_state_dict
# -        found[own] = tensor
# +        found[own] = tensor.clamp(-1000, 1000)


# %% wrong: replaced once -> each part is replaced once
# of: one loop, then load_state_dict
# -            own = own.replace(theirs, ours)
# +            own = own.replace(theirs, ours, 1)


# %% wrong: the weights in place of the model ->
# of: one loop, then load_state_dict
# -    return model
# +    return found


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


# %% wrong: of two that become one the last counts ->
# of: one loop, then load_state_dict
# -        if own in found:
# -            raise ValueError(f"{published} becomes {own}, as another one does")


# %% wrong: new parameters in the place of the old ones ->
# of: one loop, then load_state_dict
# -    model.load_state_dict(found)
# +    for own, tensor in found.items():
# +        parent, _, last = own.rpartition(".")
# +        setattr(model.get_submodule(parent), last, nn.Parameter(tensor.to(places[own].dtype).clone()))


# %% wrong: the longest part first ->
# of: one loop, then load_state_dict
# -        for theirs, ours in names.items():
# +        for theirs, ours in sorted(names.items(), key=lambda pair: -len(pair[0])):


# %% wrong: copies of the published tensors in the place of the parameters, wherever these stand ->
# of: sets of names, shapes as torch prints them, and copy_
# -            places[ours[name]].copy_(tensor)
# +            places[ours[name]].data = tensor.to(places[ours[name]].dtype).clone()


# %% right: copies of the published tensors in the place of the parameters, where these stand
# of: sets of names, shapes as torch prints them, and copy_
# -            places[ours[name]].copy_(tensor)
# +            places[ours[name]].data = tensor.to(places[ours[name]], copy=True)
