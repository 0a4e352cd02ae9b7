# %% right: where
def unroll(cell, x, lengths, state):
    states = []
    for t in range(x.size(1)):
        new = cell(x[:, t], state)
        state = torch.where((t < lengths).unsqueeze(1), new, state)
        states.append(state)
    return torch.stack(states, dim=1)


# %% right: a mask of booleans for all steps
def unroll(cell, x, lengths, state):
    over = torch.arange(x.shape[1], device=x.device) >= lengths[:, None]  # (b, n)
    states = []
    for t, token in enumerate(x.unbind(1)):
        new = cell(token, state)
        state = new.masked_fill(over[:, t, None], 0) + state.masked_fill(~over[:, t, None], 0)
        states.append(state[:, None])
    return torch.cat(states, dim=1)


# %% right: only the sentences that go on are read
# other: It computes nothing for the padding, which saves work where lengths differ much; `where` keeps the batch whole, and picks no rows and puts none back.
def unroll(cell, x, lengths, state):
    states = []
    for t in range(x.size(1)):
        rows = (lengths > t).nonzero().flatten()
        if len(rows):
            state = state.index_copy(0, rows, cell(x[rows, t], state[rows]))
        states.append(state)
    return torch.stack(states, 1)


# %% right: sentence by sentence
def unroll(cell, x, lengths, state):
    rows = []
    for s, length in enumerate(lengths.tolist()):
        h, row = state[s : s + 1], []
        for t in range(x.size(1)):
            if t < length:
                h = cell(x[s : s + 1, t], h)
            row.append(h[0])
        rows.append(torch.stack(row))
    return torch.stack(rows)


# %% right: time first, and turned at the end
def unroll(cell, x, lengths, state):
    states = [state]
    for t, token in enumerate(x.transpose(0, 1)):
        over = (lengths <= t)[:, None].expand_as(state)
        states.append(torch.where(over, states[-1], cell(token, states[-1])))
    return torch.stack(states[1:]).transpose(0, 1)


# %% right: all read, and then the last real state picked for what is padding
def unroll(cell, x, lengths, state):
    states = []
    for t in range(x.size(1)):
        state = cell(x[:, t], state)
        states.append(state)
    states = torch.stack(states, 1)
    positions = torch.minimum(torch.arange(x.size(1), device=x.device)[None], lengths[:, None] - 1)
    return states.gather(1, positions[..., None].expand_as(states))


# %% wrong: no lengths -> padding is read like tokens
# hint: Where t >= lengths there is no token: keep the old state of that sentence.
# -        new = cell(x[:, t], state)
# -        state = torch.where((t < lengths).unsqueeze(1), new, state)
# +        state = cell(x[:, t], state)

# %% wrong: zeros for padding -> after the end stands 0
# hint: The state after the end is the last real one, so that states[:, -1] is what was read of each sentence.
# ~ (states, dim=1) => (states, dim=1) * (torch.arange(x.size(1)) < lengths[:, None])[..., None]

# %% wrong: stops early -> the last token of a sentence is not read
# hint: A sentence of length 3 has its tokens at t = 0, 1 and 2: t < lengths.
# ~ (t < lengths) => (t < lengths - 1)

# %% wrong: stops late -> one token of padding is read
# hint: A sentence of length 3 has its tokens at t = 0, 1 and 2: t < lengths, not <=.
# ~ < lengths => <= lengths

# %% wrong: until the shortest ends -> all sentences stop with the shortest
# hint: Each sentence has its own length: compare t with all lengths, `(b,)`, and choose row by row.
# ~ (t < lengths).unsqueeze(1) => t < lengths.min()

# %% wrong: stacked along the first axis -> batch and time are mixed up: the states are (n, b, d)
# hint: The states are stacked along the axis of the sentences: torch.stack(states, dim=1) gives (b, n, d).
# ~ , dim=1 =>

# %% wrong: reshaped to (b, n, d) -> batch and time are mixed up by a reshape
# hint: A reshape keeps the order of the numbers and so mixes sentences. torch.stack(states, dim=1) gives (b, n, d).
# ~ (states, dim=1) => (states).reshape(x.size(0), x.size(1), -1)

# %% wrong: the state never moves on -> each step reads the first state
# hint: Nothing is remembered: pass on the state that the step before has given.
# of: until the shortest ends
# ~ states = [] => states, last = [], state
# ~ state = torch.where(t < lengths.min(), new, state) => last = torch.where((t < lengths).unsqueeze(1), new, last)
# ~ (state) => (last)

# %% wrong: from zeros -> the given state is not used
# hint: The first step reads the state that is given; it is not always 0.
# of: where
#  def unroll(cell, x, lengths, state):
# +    state = torch.zeros_like(state)

# %% wrong: kept before the step -> the states are those before each token
# hint: Keep the state after the step, not the one that it has read.
#      for t in range(x.size(1)):
# +        states.append(state)
# ...
# -        states.append(state)

# %% wrong: from the last to the first -> read from right to left
# hint: Token 0 is read first: t goes from 0 to n - 1.
# ~ [:, t], => [:, x.size(1) - 1 - t],

# %% wrong: what is left at the end -> only the last state
# hint: Attention gives something for each token, and so must this: collect the state of each step.
# ~ torch.stack(states, dim=1) => state


# %% wrong: a mask of numbers -> the mask multiplies, and what is not a number stays
# hint: 0 times NaN is NaN, and 0 times infinity too: so padding gets into the state. torch.where(t < lengths, new, old)
# hint: chooses, and does not look at what it does not take.
def unroll(cell, x, lengths, state):
    real = (torch.arange(x.shape[1]) < lengths[:, None]).to(x.dtype)  # (b, n)
    states = []
    for t, token in enumerate(x.unbind(1)):
        keep = real[:, t, None]
        state = keep * cell(token, state) + (1 - keep) * state
        states.append(state[:, None])
    return torch.cat(states, dim=1)


# %% wrong: until the longest sentence ends -> the longest sentence ends the loop
# hint: There is a state for each of the n positions of `x`, also where no sentence is that long: t goes up to n - 1.
# of: no lengths
# ~ x.size(1) => int(lengths.max())
# ~ cell(x[:, t], state) => torch.where((lengths > t)[:, None], cell(x[:, t], state), state)

# %% wrong: what is left is all zeros -> tokens of zeros are taken for padding
# hint: A token may be all zeros, and padding may hold anything. What is padding, `lengths` alone says.
# of: where
# ~ size(1) => shape[1]
# ~ new = cell(x[:, t], state) => padding = (x[:, t:] == 0).flatten(1).all(dim=1, keepdim=True)
# ~ (t < lengths).unsqueeze(1), new, state => padding, state, cell(x[:, t], state)

# %% wrong: a list ->
# ~ torch.stack(states, dim=1) => states

# %% wrong: the axis of one falls away ->
# ~ (states, dim=1) => (states, dim=1).squeeze()

# %% wrong: the lengths are counted down ->
# -        state = torch.where((t < lengths).unsqueeze(1), new, state)
# +        state = torch.where((lengths > 0).unsqueeze(1), new, state)
# +        lengths -= 1

# %% wrong: zeros count as padding beside the lengths ->
# ~ new = cell(x[:, t], state) => real = (t < lengths) & (x[:, t] != 0).any(dim=1)
# ~ (t < lengths).unsqueeze(1), new => real[:, None], cell(x[:, t], state)

# %% wrong: NaN is cleaned away, and the rest is multiplied ->
# of: what is left is all zeros
# ~ states = => x, states = torch.nan_to_num(x),
# ~ padding = (x[:, t:] == 0).flatten(1).all(dim=1, keepdim=True) => reads = (lengths > t).unsqueeze(1).to(state.dtype)
# ~ torch.where(padding, state, cell(x[:, t], state)) => reads * cell(x[:, t], state) + (1 - reads) * state


# %% wrong: the gradient is cut every 16 tokens ->
def unroll(cell, x: Tensor, lengths: Tensor, state: Tensor) -> Tensor:
    states = []
    for t in range(x.shape[1]):
        if t and t % 16 == 0:
            state = state.detach()
        state = torch.where((t < lengths)[:, None], cell(x[:, t], state), state)
        states.append(state)
    return torch.stack(states, dim=1)


# %% wrong: it ends when a step changes no state ->
def unroll(cell, x: Tensor, lengths: Tensor, state: Tensor) -> Tensor:
    n = x.shape[1]
    states = []
    for t in range(n):
        new = torch.where((lengths > t)[:, None], cell(x[:, t], state), state)
        states.append(new)
        if torch.equal(new, state):  # all sentences are at their end: nothing changes any more
            states += [new] * (n - 1 - t)
            break
        state = new
    return torch.stack(states, dim=1)


# %% wrong: the mask is made on the CPU ->
# of: a mask of booleans for all steps
# ~ , device=x.device =>
