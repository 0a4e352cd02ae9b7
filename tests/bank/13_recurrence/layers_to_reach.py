# %% right: a division that rounds up
def layers_to_reach(size, window):
    return math.ceil((size - 1) / (window - 1))


# %% wrong: the ways are counted, until there are more than a number can hold ->
def layers_to_reach(size, window):
    seen = (sliding_window_mask(size, window) == 0).float()
    ways, layers = torch.eye(size)[-1], 0
    while ways[0] == 0:
        ways, layers = ways @ seen, layers + 1
    return layers


# %% right: whole numbers
def layers_to_reach(size, window):
    return -(-(size - 1) // (window - 1))


# %% right: counted
def layers_to_reach(size, window):
    place, layers = 0, 0
    while place < size - 1:
        place += window - 1
        layers += 1
    return layers


# %% right: with products of masks
def layers_to_reach(size, window):
    seen = (sliding_window_mask(size, window) == 0).float()
    known, layers = torch.eye(size)[-1], 0  # of whom the last token knows
    while known[0] == 0:
        known, layers = (known @ seen > 0).float(), layers + 1
    return layers


# %% right: sympy
def layers_to_reach(size, window):
    return int(sympy.ceiling(sympy.Rational(size - 1, window - 1)))


# %% wrong: by the window -> a layer carries news as far as the window is wide
def layers_to_reach(size, window):
    return math.ceil((size - 1) / window)


# %% wrong: size by window -> size divided by the window
def layers_to_reach(size, window):
    return math.ceil(size / window)


# %% wrong: all places -> one place too many
def layers_to_reach(size, window):
    return math.ceil(size / (window - 1))


# %% wrong: floor -> rounded down
def layers_to_reach(size, window):
    return (size - 1) // (window - 1)


# %% wrong: round -> rounded to the nearest
def layers_to_reach(size, window):
    return round((size - 1) / (window - 1))


# %% wrong: floor and one more -> one place too many
def layers_to_reach(size, window):
    return (size - 1) // (window - 1) + 1


# %% wrong: always one -> as in full attention: always one layer
def layers_to_reach(size, window):
    return 1


# %% wrong: from neighbour to neighbour -> as in a recurrence: one place a layer
def layers_to_reach(size, window):
    return size - 1


# %% wrong: at least one layer ->
def layers_to_reach(size, window):
    return max(1, math.ceil((size - 1) / (window - 1)))


# %% wrong: a fraction ->
def layers_to_reach(size, window):
    return (size - 1) / (window - 1)


# %% wrong: always 0 ->
def layers_to_reach(size, window):
    return 0


# %% wrong: a power of two at a time ->
def layers_to_reach(size, window):
    return math.ceil(math.log2(max(size, 1)))


# %% wrong: a logarithm of the window ->
def layers_to_reach(size, window):
    place, layers = 1, 0
    while place < size:
        place *= window
        layers += 1
    return layers


# %% wrong: 0.99 more -> rounded up by adding nearly one
def layers_to_reach(size, window):
    return int((size - 1) / (window - 1) + 0.99)


# %% wrong: gives up after 64 layers ->
def layers_to_reach(size, window):
    for layers in range(64):
        if layers * (window - 1) >= size - 1:
            return layers
    return 64


# %% wrong: gives up after 256 layers ->
def layers_to_reach(size, window):
    for layers in range(256):
        if layers * (window - 1) >= size - 1:
            return layers
    return 256


# %% wrong: a millionth is taken off before rounding up ->
def layers_to_reach(size: int, window: int) -> int:
    return math.ceil((size - 1) / (window - 1) - 1e-6)


# %% wrong: a half more, and rounded ->
def layers_to_reach(size, window):
    if size == 1:
        return 0
    return round((size - 1) / (window - 1) + 0.5)


# %% wrong: always one layer more ->
def layers_to_reach(size, window):
    return -(-(size - 1) // (window - 1)) + 1


# %% wrong: gives up after 300 layers ->
def layers_to_reach(size, window):
    for layers in range(300):
        if layers * (window - 1) >= size - 1:
            return layers
    return 300


# %% wrong: a sentence has at most 1,000 tokens ->
def layers_to_reach(size, window):
    return math.ceil((min(size, 1000) - 1) / (window - 1))
