# %% right: a number for each name
def layerwise_rates(names, rate, decay):
    layers = {int(name.split(".")[2]) for name in names if name.startswith("base.layers.")}
    top = max(layers) + 1
    rates = {}
    for name in names:
        if name.startswith("head."):
            below = 0
        elif name.startswith("base.layers."):
            below = top - int(name.split(".")[2])
        else:
            below = top + 1
        rates[name] = rate * decay**below
    return rates


# %% right: a regular expression
def layerwise_rates(names, rate, decay):
    import re

    found = {name: re.match(r"base\.layers\.(\d+)\.", name) for name in names}
    count = 1 + max(int(match.group(1)) for match in found.values() if match)

    def depth(name):
        if name.startswith("head."):
            return 0
        return count - int(found[name].group(1)) if found[name] else count + 1

    return {name: rate * decay ** depth(name) for name in names}


# %% right: from the top down
# other: It goes through the layers once and multiplies by the decay on the way down; the solution reads each name by itself and computes a power, so that nothing has to be in order.
def layerwise_rates(names, rate, decay):
    groups, above = {}, []
    for name in names:
        first = name.removeprefix("base.layers.").partition(".")[0]
        if name.startswith("head."):
            above.append(name)
        else:
            groups.setdefault(int(first) if name.startswith("base.layers.") else -1, []).append(name)
    rates, lr = dict.fromkeys(above, rate), rate
    for place in range(max(groups), -2, -1):
        lr *= decay
        rates.update(dict.fromkeys(groups.get(place, []), lr))
    return {name: rates[name] for name in names}


# %% wrong: the bottom learns most -> decayed from the bottom
# hint: The layers near the input know the language, and shall change least: the decay counts from the head downwards.
# ~ below = top - int(name.split(".")[2]) => below = int(name.split(".")[2]) + 1

# %% wrong: the last layer like the head -> the last layer is not decayed
# hint: The last layer stands below the head: its rate is decayed once.
# ~ below = top - int(name.split(".")[2]) => below = top - 1 - int(name.split(".")[2])

# %% wrong: embeddings like layer 0 -> the embeddings are decayed as layer 0 is
# hint: The embeddings stand below layer 0: their rate is decayed once more.
# ~ below = top + 1 => below = top

# %% wrong: embeddings at the full rate -> the embeddings have the full rate
# hint: Whatever is not in a layer and not in the head stands below layer 0, and has the smallest rate.
# ~ below = top + 1 => below = 0

# %% wrong: one digit -> only the first digit of a layer's number
# hint: Layer 11 is no layer 1: read the whole number between the dots.
# ~ below = top - int(name.split(".")[2]) => below = top - int(name.split(".")[2][0])

# %% wrong: a straight line -> the decay is subtracted, not multiplied
# hint: Each step down multiplies the rate by the decay: a power of it.
# ~ rate * decay**below => rate * max(0.0, 1 - below * (1 - decay))

# %% wrong: a multiple of the decay -> the decay times the depth
# hint: Two steps down are decay times decay, not two times the decay.
# ~ rate * decay**below => rate * (decay * below if below else 1)

# %% wrong: divided by the decay -> the rate grows downwards
# hint: A decay below 1 makes the rates smaller the farther a layer is from the head.
# ~ rate * decay**below => rate / decay**below

# %% wrong: a head found anywhere in the name ->
# ~ if name.startswith("head."): => if name.count(".") == 1 and "head" in name:

# %% wrong: twelve layers ->
# ~ top = max(layers) + 1 => top = 12

# %% wrong: as many layers as numbers -> the layers are counted, not numbered
# hint: Lower layers may be missing among the names, because they are frozen: the last number says how many there are.
# of: a number for each name
# ~ top = max(layers) + 1 => top = len(layers)

# %% wrong: a step for each layer that is there ->
# of: from the top down
# ~ for place in range(max(groups), -2, -1): => for place in sorted(groups, reverse=True):

# %% wrong: a head anywhere -> what has a head in its name is the head
# hint: `base.layers.0.attention.heads.weight` is of layer 0: the head's names *begin* with `head.`, with the dot.
# of: a number for each name
# ~ if name.startswith("head."): => if "head" in name:

# %% wrong: a head without its dot -> what begins with head is the head, dot or not
# hint: `header.weight` is not of the head: its names begin with `head.`, with the dot.
# of: a number for each name
# ~ if name.startswith("head."): => if name.startswith("head"):

# %% wrong: a head between dots ->
# of: a number for each name
# ~ if name.startswith("head."): => if "head" in name.split("."):

# %% wrong: a part with a number like a layer -> what looks like a layer is one
# hint: `base.layers_norm.1.weight` is of no layer: a layer's names begin with `base.layers.`, with the dot.
# of: a number for each name
# ~ if name.startswith("base.layers.")} => if name.startswith("base.layer") and name.split(".")[2].isdigit()}
# ~ elif name.startswith("base.layers."): => elif name.startswith("base.layer") and name.split(".")[2].isdigit():

# %% wrong: layers anywhere in the name ->
# of: a regular expression
# ~ re.match(r"base => re.search(r"base
