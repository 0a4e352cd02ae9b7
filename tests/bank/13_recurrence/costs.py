# %% right: term by term
def costs():
    return {
        "recurrence products": 6 * L * D**2,
        "recurrence steps": L,
        "recurrence path": L - 1,
        "attention products": 4 * L * D**2 + 2 * L**2 * D,
        "attention steps": 1,
        "attention path": 1,
        "window products": 4 * L * D**2 + 2 * L * W * D,
        "window steps": 1,
        "window path": sympy.ceiling((L - 1) / (W - 1)),
    }


# %% right: factorized, with sympy's numbers
def costs():
    return {
        "recurrence products": 2 * L * (D * 3 * D),
        "recurrence steps": L,
        "recurrence path": L - 1,
        "attention products": 2 * L * D * (2 * D + L),
        "attention steps": sympy.Integer(1),
        "attention path": 1,
        "window products": 2 * L * D * (2 * D + W),
        "window steps": 1,
        "window path": -sympy.floor(-(L - 1) / (W - 1)),
    }


# %% right: with a function for matrix products
def costs():
    def product(p, q, r):
        return p * q * r

    layers = 4 * product(L, D, D)
    square = A * (product(L, D / A, L) + product(L, L, D / A))
    band = A * 2 * L * product(1, D / A, W)
    recurrence = (L * 2 * product(1, D, 3 * D), L, L - 1)
    attention = (layers + square, 1, 1)
    window = (layers + band, 1, sympy.ceiling((L - 1) / (W - 1)))
    found = {}
    for kind, row in {"recurrence": recurrence, "attention": attention, "window": window}.items():
        found |= {f"{kind} {name}": cost for name, cost in zip(("products", "steps", "path"), row)}
    return found


# %% right: symbols of one's own, and a window that rounds up in whole numbers
# of: term by term
#  def costs():
# +    D, L, W = sympy.symbols("D L W")
# ...
# -        "window path": sympy.ceiling((L - 1) / (W - 1)),
# +        "window path": sympy.floor((L + W - 3) / (W - 1)),


# %% wrong: L steps away -> the path of attention is the length
# of: term by term
# -        "attention path": 1,
# +        "attention path": L,


# %% wrong: from neighbour to neighbour -> the path of attention is that of a recurrence
# of: term by term
# -        "attention path": 1,
# +        "attention path": L - 1,


# %% wrong: token by token -> attention waits for its tokens, too
# of: term by term
# -        "attention steps": 1,
# +        "attention steps": L,
# ...
# -        "window steps": 1,
# +        "window steps": L,


# %% wrong: steps of the window -> layers are counted as steps
# of: term by term
# -        "window steps": 1,
# +        "window steps": sympy.ceiling((L - 1) / (W - 1)),


# %% wrong: all at once -> a recurrence does not wait
# of: term by term
# -        "recurrence steps": L,
# +        "recurrence steps": 1,


# %% wrong: the first one waits for nobody -> the first state is not counted as a step
# of: term by term
# -        "recurrence steps": L,
# +        "recurrence steps": L - 1,


# %% wrong: L states -> the path of a recurrence is one step too long
# of: term by term
# -        "recurrence path": L - 1,
# +        "recurrence path": L,


# %% wrong: A times -> the heads multiply the products of attention
# of: term by term
# -        "attention products": 4 * L * D**2 + 2 * L**2 * D,
# +        "attention products": 4 * L * D**2 + 2 * A * L**2 * D,
# ...
# -        "window products": 4 * L * D**2 + 2 * L * W * D,
# +        "window products": 4 * L * D**2 + 2 * A * L * W * D,


# %% wrong: by A -> the products of one head
# of: term by term
# -        "attention products": 4 * L * D**2 + 2 * L**2 * D,
# +        "attention products": 4 * L * D**2 + 2 * L**2 * D / A,
# ...
# -        "window products": 4 * L * D**2 + 2 * L * W * D,
# +        "window products": 4 * L * D**2 + 2 * L * W * D / A,


# %% wrong: only the scores -> the weighted average is lost
# of: term by term
# -        "attention products": 4 * L * D**2 + 2 * L**2 * D,
# +        "attention products": 4 * L * D**2 + L**2 * D,
# ...
# -        "window products": 4 * L * D**2 + 2 * L * W * D,
# +        "window products": 4 * L * D**2 + L * W * D,


# %% wrong: query and key -> value and output are lost
# of: term by term
# -        "attention products": 4 * L * D**2 + 2 * L**2 * D,
# +        "attention products": 2 * L * D**2 + 2 * L**2 * D,
# ...
# -        "window products": 4 * L * D**2 + 2 * L * W * D,
# +        "window products": 2 * L * D**2 + 2 * L * W * D,


# %% wrong: only the squares -> the layers of attention are lost
# of: term by term
# -        "attention products": 4 * L * D**2 + 2 * L**2 * D,
# +        "attention products": 2 * L**2 * D,
# ...
# -        "window products": 4 * L * D**2 + 2 * L * W * D,
# +        "window products": 2 * L * W * D,


# %% wrong: no gates -> one third of the recurrence is counted
# of: term by term
# -        "recurrence products": 6 * L * D**2,
# +        "recurrence products": 2 * L * D**2,


# %% wrong: the state's layer -> only one layer of the recurrence is counted
# of: term by term
# -        "recurrence products": 6 * L * D**2,
# +        "recurrence products": 3 * L * D**2,


# %% wrong: a step -> one token of the recurrence is counted
# of: term by term
# -        "recurrence products": 6 * L * D**2,
# +        "recurrence products": 6 * D**2,


# %% wrong: W squared -> the window has a square of its own
# of: term by term
# -        "window products": 4 * L * D**2 + 2 * L * W * D,
# +        "window products": 4 * L * D**2 + 2 * W**2 * D,


# %% wrong: masked, not saved -> the window saves nothing
# of: term by term
# -        "window products": 4 * L * D**2 + 2 * L * W * D,
# +        "window products": 4 * L * D**2 + 2 * L**2 * D,


# %% wrong: one look -> the path of the window is one look
# of: term by term
# -        "window path": sympy.ceiling((L - 1) / (W - 1)),
# +        "window path": 1,


# %% wrong: L by W -> the path of the window is the length divided by the window
# of: term by term
# -        "window path": sympy.ceiling((L - 1) / (W - 1)),
# +        "window path": sympy.ceiling(L / W),


# %% wrong: a fraction -> the path of the window is not rounded up
# of: term by term
# -        "window path": sympy.ceiling((L - 1) / (W - 1)),
# +        "window path": (L - 1) / (W - 1),


# %% wrong: as in the paper, orders of growth ->
def costs():
    return {
        "recurrence products": L * D**2,
        "recurrence steps": L,
        "recurrence path": L,
        "attention products": L**2 * D,
        "attention steps": 1,
        "attention path": 1,
        "window products": L * W * D,
        "window steps": 1,
        "window path": L / W,
    }


# %% wrong: an entry is missing ->
# of: term by term
# -        "window path": sympy.ceiling((L - 1) / (W - 1)),


# %% wrong: numbers ->
def costs():
    return {
        "recurrence products": 2160,
        "recurrence steps": L,
        "recurrence path": L - 1,
        "attention products": 2640,
        "attention steps": 1,
        "attention path": 1,
        "window products": 1920,
        "window steps": 1,
        "window path": sympy.ceiling((L - 1) / (W - 1)),
    }


# %% wrong: biases counted ->
# of: term by term
# -        "recurrence products": 6 * L * D**2,
# +        "recurrence products": 6 * L * D**2 + 6 * L * D,
# ...
# -        "attention products": 4 * L * D**2 + 2 * L**2 * D,
# +        "attention products": 4 * L * (D**2 + D) + 2 * L**2 * D,


# %% wrong: half of the square, as the mask hides the rest ->
# of: term by term
# -        "attention products": 4 * L * D**2 + 2 * L**2 * D,
# +        "attention products": 4 * L * D**2 + L * (L + 1) * D,


# %% wrong: a tuple ->
def costs():
    return 6 * L * D**2, L, L - 1


# %% wrong: rounded down ->
# of: term by term
# -        "window path": sympy.ceiling((L - 1) / (W - 1)),
# +        "window path": sympy.floor((L - 1) / (W - 1)),


# %% wrong: the path of the window is one look short ->
def costs():
    attention = 4 * L * D**2
    return {
        "recurrence products": 6 * L * D**2,
        "recurrence steps": L,
        "recurrence path": L - 1,
        "attention products": attention + 2 * L**2 * D,
        "attention steps": 1,
        "attention path": 1,
        "window products": attention + 2 * L * W * D,
        "window steps": 1,
        "window path": sympy.ceiling((L - 1) / (W - 1)) - 1,
    }


# %% wrong: the places to go divided by the window ->
# of: the path of the window is one look short
# -        "window path": sympy.ceiling((L - 1) / (W - 1)) - 1,
# +        "window path": sympy.ceiling((L - 1) / W),


# %% wrong: rounded up by adding 0.999 ->
# of: term by term
# -def costs():
# +def costs() -> dict[str, sympy.Expr]:
# ...
# -        "window path": sympy.ceiling((L - 1) / (W - 1)),
# +        "window path": sympy.floor((L - 1) / (W - 1) + 0.999),
