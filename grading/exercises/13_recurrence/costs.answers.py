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
# other: Factorized, `2 * D + L` against `2 * D + W` shows what the window saves; the solution shows the matrix products behind each term, head by head.
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
#  def costs():
# +    D, L, W = sympy.symbols("D L W")
# ...
# -        "window path": sympy.ceiling((L - 1) / (W - 1)),
# +        "window path": sympy.floor((L + W - 3) / (W - 1)),

# %% wrong: L steps away -> the path of attention is the length
# hint: The last token looks at the first one itself: one look, however long the sentence.
# ~ "attention path": 1, => "attention path": L,

# %% wrong: from neighbour to neighbour -> the path of attention is that of a recurrence
# hint: The last token looks at the first one itself: one look, however long the sentence.
# ~ "attention path": 1, => "attention path": L - 1,

# %% wrong: token by token -> attention waits for its tokens, too
# hint: While a sentence is read, all rows of scores can be made at once. It is only in writing that a token waits for
# hint: the one before.
# ~ "attention steps": 1, => "attention steps": L,
# ~ "window steps": 1, => "window steps": L,

# %% wrong: steps of the window -> layers are counted as steps
# hint: Count for one layer: within it no token waits for another one's result. That more layers may be needed is told
# hint: by the path.
# ~ "window steps": 1, => "window steps": sympy.ceiling((L - 1) / (W - 1)),

# %% wrong: all at once -> a recurrence does not wait
# hint: State t is made from state t - 1: L steps, one after the other.
# ~ : L, => : 1,

# %% wrong: the first one waits for nobody -> the first state is not counted as a step
# hint: The first state waits for nobody, but it must be worked out, too: L states, one after the other.
# ~ : L, => : L - 1,

# %% wrong: L states -> the path of a recurrence is one step too long
# hint: Token 0 is already in the first state. From there to the last state there are L - 1 steps.
# ~ L - 1, => L,

# %% wrong: A times -> the heads multiply the products of attention
# hint: A head has D/A numbers of a token, so its square takes L*L*D/A products, twice; A heads take 2*L*L*D.
# ~ L** => A * L**
# ~ L * W => A * L * W

# %% wrong: by A -> the products of one head
# hint: L*L*D/A is the square of one head. There are A heads.
# ~ 2 * D, => 2 * D / A,
# ~ * D, => * D / A,

# %% wrong: only the scores -> the weighted average is lost
# hint: After the scores, the values are averaged: (L, L) @ (L, D/A) in each head, as many products again.
# ~ 2 * L* => L*
# ~ 2 * L => L

# %% wrong: query and key -> value and output are lost
# hint: Four layers multiply each token: query, key, value and output.
# ~ 4 * L * D**2 + 2 * L* => 2 * L * D**2 + 2 * L*
# ~ 4 * => 2 *

# %% wrong: only the squares -> the layers of attention are lost
# hint: Queries, keys, values and the output have to be made: four times (L, D) @ (D, D).
# ~ 4 * L * D**2 + 2 * L* => 2 * L*
# ~ 4 * L * D**2 + 2 => 2

# %% wrong: no gates -> one third of the recurrence is counted
# hint: There is a third for each gate and one for the candidate: both layers have 3D outputs.
# ~ 6 * => 2 *

# %% wrong: the state's layer -> only one layer of the recurrence is counted
# hint: Two layers multiply in each step: from_input the token, from_state the state, D times 3D each.
# ~ 6 * => 3 *

# %% wrong: a step -> one token of the recurrence is counted
# hint: 6*D*D products are one step. The sentence has L of them.
# ~ L * D**2, => D**2,

# %% wrong: W squared -> the window has a square of its own
# hint: Each of L tokens has W scores: L*W of them, not W*W.
# ~ L * W => W**2

# %% wrong: masked, not saved -> the window saves nothing
# hint: A token looks at W positions only; the other scores are never made.
# ~ L * W => L**2

# %% wrong: one look -> the path of the window is one look
# hint: In one layer a token sees no further than its window. What comes from before it takes more layers.
# ~ sympy.ceiling((L - 1) / (W - 1)) => 1

# %% wrong: L by W -> the path of the window is the length divided by the window
# hint: One position of the window is the token itself, and there are L - 1 positions to go: (L - 1)/(W - 1), rounded
# hint: up.
# ~ (L - 1) / (W - 1) => L / W

# %% wrong: a fraction -> the path of the window is not rounded up
# hint: There is no half layer: sympy.ceiling((L - 1)/(W - 1)).
# ~ sympy.ceiling((L - 1) / (W - 1)) => (L - 1) / (W - 1)

# %% wrong: numbers ->
# ~ 6 * L * D**2 => 2160
# ~ 4 * L * D**2 + 2 * L**2 * D => 2640
# ~ 4 * L * D**2 + 2 * L * W * D => 1920

# %% wrong: half of the square, as the mask hides the rest ->
# ~ 2 * L**2 => L * (L + 1)

# %% wrong: rounded up by adding 0.999 ->
# ~ (): => () -> dict[str, sympy.Expr]:
# ~ ceiling((L - 1) / (W - 1)) => floor((L - 1) / (W - 1) + 0.999)
