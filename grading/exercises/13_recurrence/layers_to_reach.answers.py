# %% right: a division that rounds up
def layers_to_reach(size, window):
    return math.ceil((size - 1) / (window - 1))


# %% right: whole numbers
# ~ math.ceil((size - 1) / (window - 1)) => -(-(size - 1) // (window - 1))


# %% right: counted
def layers_to_reach(size, window):
    position, layers = 0, 0
    while position < size - 1:
        position += window - 1
        layers += 1
    return layers


# %% right: with products of masks
# other: It follows the mask itself from layer to layer, and so works for other patterns too; the closed form needs no matrices, and shows what the number depends on.
def layers_to_reach(size, window):
    seen = (sliding_window_mask(size, window) == 0).float()
    known, layers = torch.eye(size)[-1], 0  # of whom the last token knows
    while known[0] == 0:
        known, layers = (known @ seen > 0).float(), layers + 1
    return layers


# %% right: sympy
# ~ math.ceil((size - 1) / (window - 1)) => int(sympy.ceiling(sympy.Rational(size - 1, window - 1)))

# %% wrong: by the window -> a layer carries news as far as the window is wide
# hint: One position of the window is the token itself: a layer carries news window - 1 positions on.
# ~ (window - 1) => window

# %% wrong: size by window -> size divided by the window
# hint: That would be so if windows lay side by side. They overlap: each layer carries news window - 1 positions on,
# hint: from position 0 to position size - 1.
# ~ (size - 1) / (window - 1) => size / window

# %% wrong: all positions -> one position too many
# hint: From position 0 to position size - 1 there are size - 1 positions to go.
# ~ (size - 1) => size

# %% wrong: floor -> rounded down
# hint: When news have come almost to the last token, one more layer is needed: round up.
# ~ math.ceil((size - 1) / (window - 1)) => (size - 1) // (window - 1)

# %% wrong: round -> rounded to the nearest
# hint: A third of a layer is not there: round up, always.
# ~ math.ceil => round

# %% wrong: 0.99 more -> rounded up by adding nearly one
# hint: That loses a rest that is small beside a large window. Round up exactly: math.ceil(a / b), or -(-a // b).
# ~ math.ceil((size - 1) / (window - 1)) => int((size - 1) / (window - 1) + 0.99)

# %% wrong: always one -> as in full attention: always one layer
# hint: In one layer a token sees no further than its window; what lies before it comes through other tokens.
# ~ math.ceil((size - 1) / (window - 1)) => 1

# %% wrong: from neighbour to neighbour -> as in a recurrence: one position a layer
# hint: A layer carries news over the whole window at once, not from neighbour to neighbour only.
# ~ math.ceil((size - 1) / (window - 1)) => size - 1

# %% wrong: at least one layer ->
# ~ math.ceil((size - 1) / (window - 1)) => max(1, math.ceil((size - 1) / (window - 1)))


# %% wrong: a millionth is taken off before rounding up ->
def layers_to_reach(size: int, window: int) -> int:
    return math.ceil((size - 1) / (window - 1) - 1e-6)


# %% wrong: a half more, and rounded ->
def layers_to_reach(size, window):
    if size == 1:
        return 0
    return round((size - 1) / (window - 1) + 0.5)


# %% wrong: gives up after 300 layers ->
def layers_to_reach(size, window):
    for layers in range(300):
        if layers * (window - 1) >= size - 1:
            return layers
    return 300


# %% wrong: a sentence has at most 1,000 tokens ->
# ~ ((size - 1) / (window - 1)) => ((min(size, 1000) - 1) / (window - 1))
