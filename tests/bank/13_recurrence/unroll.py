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
    places = torch.minimum(torch.arange(x.size(1), device=x.device)[None], lengths[:, None] - 1)
    return states.gather(1, places[..., None].expand_as(states))


# %% wrong: no lengths -> padding is read like tokens
def unroll(cell, x, lengths, state):
    states = []
    for t in range(x.size(1)):
        state = cell(x[:, t], state)
        states.append(state)
    return torch.stack(states, dim=1)


# %% wrong: zeros for padding -> after the end stands 0
# of: where
# -    return torch.stack(states, dim=1)
# +    return torch.stack(states, dim=1) * (torch.arange(x.size(1)) < lengths[:, None])[..., None]


# %% wrong: stops early -> the last token of a sentence is not read
# of: where
# -        state = torch.where((t < lengths).unsqueeze(1), new, state)
# +        state = torch.where((t < lengths - 1).unsqueeze(1), new, state)


# %% wrong: stops late -> one token of padding is read
# of: where
# -        state = torch.where((t < lengths).unsqueeze(1), new, state)
# +        state = torch.where((t <= lengths).unsqueeze(1), new, state)


# %% wrong: until the shortest ends -> all sentences stop with the shortest
# of: where
# -        state = torch.where((t < lengths).unsqueeze(1), new, state)
# +        state = torch.where(t < lengths.min(), new, state)


# %% wrong: stacked along the first axis -> batch and time are mixed up: the states are (n, b, d)
# of: where
# -    return torch.stack(states, dim=1)
# +    return torch.stack(states)


# %% wrong: reshaped to (b, n, d) -> batch and time are mixed up by a reshape
# of: where
# -    return torch.stack(states, dim=1)
# +    return torch.stack(states).reshape(x.size(0), x.size(1), -1)


# %% wrong: the state never moves on -> each step reads the first state
def unroll(cell, x, lengths, state):
    states, last = [], state
    for t in range(x.size(1)):
        new = cell(x[:, t], state)
        last = torch.where((t < lengths).unsqueeze(1), new, last)
        states.append(last)
    return torch.stack(states, dim=1)


# %% wrong: from zeros -> the given state is not used
# of: where
#  def unroll(cell, x, lengths, state):
# +    state = torch.zeros_like(state)


# %% wrong: kept before the step -> the states are those before each token
def unroll(cell, x, lengths, state):
    states = []
    for t in range(x.size(1)):
        states.append(state)
        new = cell(x[:, t], state)
        state = torch.where((t < lengths).unsqueeze(1), new, state)
    return torch.stack(states, dim=1)


# %% wrong: from the last to the first -> read from right to left
# of: where
# -        new = cell(x[:, t], state)
# +        new = cell(x[:, x.size(1) - 1 - t], state)


# %% wrong: what is left at the end -> only the last state
# of: where
# -    return torch.stack(states, dim=1)
# +    return state


# %% wrong: a list ->
# of: where
# -    return torch.stack(states, dim=1)
# +    return states


# %% wrong: no gradient ->
def unroll(cell, x, lengths, state):
    with torch.no_grad():
        states = []
        for t in range(x.size(1)):
            new = cell(x[:, t], state)
            state = torch.where((t < lengths).unsqueeze(1), new, state)
            states.append(state)
        return torch.stack(states, dim=1)


# %% wrong: x[t] in place of x[:, t] ->
# of: where
# -        new = cell(x[:, t], state)
# +        new = cell(x[t], state)


# %% wrong: the padding is written into x ->
# of: where
#  def unroll(cell, x, lengths, state):
# +    for s, length in enumerate(lengths.tolist()):
# +        x[s, length:] = 0


# %% wrong: the axis of one falls away ->
# of: where
# -    return torch.stack(states, dim=1)
# +    return torch.stack(states, dim=1).squeeze()


# %% wrong: every token starts anew -> each step reads the first state
def unroll(cell, x, lengths, state):
    states = []
    for t in range(x.size(1)):
        states.append(cell(x[:, t], torch.zeros_like(state)))
    return torch.stack(states, dim=1)


# %% wrong: the lengths are counted down ->
# of: where
# -        state = torch.where((t < lengths).unsqueeze(1), new, state)
# +        state = torch.where((lengths > 0).unsqueeze(1), new, state)
# +        lengths -= 1


# %% wrong: a mask of numbers -> the mask multiplies, and what is not a number stays
def unroll(cell, x, lengths, state):
    real = (torch.arange(x.shape[1]) < lengths[:, None]).to(x.dtype)  # (b, n)
    states = []
    for t, token in enumerate(x.unbind(1)):
        keep = real[:, t, None]
        state = keep * cell(token, state) + (1 - keep) * state
        states.append(state[:, None])
    return torch.cat(states, dim=1)


# %% wrong: until the longest sentence ends -> the longest sentence ends the loop
def unroll(cell, x, lengths, state):
    states = []
    for t in range(int(lengths.max())):
        state = torch.where((lengths > t)[:, None], cell(x[:, t], state), state)
        states.append(state)
    return torch.stack(states, dim=1)


# %% wrong: what is left is all zeros -> tokens of zeros are taken for padding
def unroll(cell, x, lengths, state):
    states = []
    for t in range(x.shape[1]):
        padding = (x[:, t:] == 0).flatten(1).all(dim=1, keepdim=True)
        state = torch.where(padding, state, cell(x[:, t], state))
        states.append(state)
    return torch.stack(states, dim=1)


# %% wrong: a token of zeros is passed over -> tokens of zeros are taken for padding
# of: where
# -        state = torch.where((t < lengths).unsqueeze(1), new, state)
# +        state = torch.where((x[:, t] != 0).any(dim=1, keepdim=True), new, state)


# %% wrong: zeros count as padding beside the lengths ->
# of: no lengths
# -        state = cell(x[:, t], state)
# +        real = (t < lengths) & (x[:, t] != 0).any(dim=1)
# +        state = torch.where(real[:, None], cell(x[:, t], state), state)


# %% wrong: the state is detached from step to step ->
def unroll(cell, x, lengths, state):
    states = []
    for t in range(x.shape[1]):
        new = cell(x[:, t], state if t == 0 else state.detach())
        state = torch.where((lengths > t)[:, None], new, state)
        states.append(state)
    return torch.stack(states, dim=1)


# %% wrong: only the last column is that of the real end ->
def unroll(cell, x, lengths, state):
    states = []
    for t in range(x.shape[1]):
        state = cell(x[:, t], state)
        states.append(state)
    states = torch.stack(states, dim=1)
    last = states[torch.arange(len(x)), lengths - 1]
    return torch.cat([states[:, :-1], last[:, None]], dim=1)


# %% wrong: all sentences go on to the end of the longest ->
# of: no lengths
# -        state = cell(x[:, t], state)
# +        if t < lengths.max():
# +            state = cell(x[:, t], state)


# %% wrong: sorted by length, and not put back ->
def unroll(cell, x, lengths, state):
    order = lengths.argsort(descending=True)
    x, lengths, state, states = x[order], lengths[order], state[order], []
    for t in range(x.size(1)):
        state = torch.where((t < lengths).unsqueeze(1), cell(x[:, t], state), state)
        states.append(state)
    return torch.stack(states, dim=1)


# %% wrong: NaN is cleaned away, and the rest is multiplied ->
def unroll(cell, x, lengths, state):
    x, states = torch.nan_to_num(x), []
    for t in range(x.shape[1]):
        reads = (lengths > t).unsqueeze(1).to(state.dtype)
        state = reads * cell(x[:, t], state) + (1 - reads) * state
        states.append(state)
    return torch.stack(states, dim=1)


# %% wrong: put back by the order itself ->
def unroll(cell, x: Tensor, lengths: Tensor, state: Tensor) -> Tensor:
    order = lengths.argsort(descending=True, stable=True)
    x, lengths, state = x[order], lengths[order], state[order]
    states = []
    for t in range(x.shape[1]):
        alive = int((lengths > t).sum())
        if alive:
            state = torch.cat([cell(x[:alive, t], state[:alive]), state[alive:]])
        states.append(state)
    return torch.stack(states, dim=1)[order]


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


# %% wrong: at most 64 steps ->
def unroll(cell, x, lengths, state):
    states = []
    for t in range(x.shape[1]):
        if t < 64:
            state = torch.where((t < lengths)[:, None], cell(x[:, t], state), state)
        states.append(state)
    return torch.stack(states, dim=1)


# %% wrong: the mask is made on the CPU ->
# of: a mask of booleans for all steps
# -    over = torch.arange(x.shape[1], device=x.device) >= lengths[:, None]  # (b, n)
# +    over = torch.arange(x.shape[1]) >= lengths[:, None]  # (b, n)
