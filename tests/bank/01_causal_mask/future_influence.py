# %% right: one column at a time
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    result = torch.zeros(n, n, dtype=torch.bool)
    before = model(tokens[None])[0]
    for j in range(n):
        other = tokens.clone()
        other[j] = (other[j] + 1) % vocab_size
        result[:, j] = ((model(other[None])[0] - before).abs() > 1e-5).any(dim=-1)
    return result


# %% right: all changes in one batch
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    batch = tokens.repeat(n, 1)
    places = torch.arange(n)
    batch[places, places] = (tokens + 1) % vocab_size
    with torch.no_grad():
        change = (model(batch) - model(tokens[None])).abs().amax(-1)
    return (change > 1e-5).T


# %% right: loops over both and allclose
def future_influence(model, tokens, vocab_size):
    n = tokens.shape[0]
    before = model(tokens.unsqueeze(0)).squeeze(0)
    rows = [[False] * n for _ in range(n)]
    for j in range(n):
        other = tokens.clone()
        other[j] = 0 if tokens[j] > 0 else vocab_size - 1
        after = model(other.unsqueeze(0)).squeeze(0)
        for i in range(n):
            rows[i][j] = not torch.allclose(before[i], after[i], atol=1e-4, rtol=0)
    return torch.tensor(rows)


# %% right: downwards through the vocabulary, norms
def future_influence(model, tokens, vocab_size):
    before = model(tokens[None])
    columns = []
    for j in range(len(tokens)):
        other = tokens.clone()
        other[j] = (tokens[j] - 1) % vocab_size
        columns.append((model(other[None]) - before)[0].norm(dim=-1) > 1e-4)
    return torch.stack(columns, dim=1)


# %% wrong: the new token is the old one -> the token is replaced by itself
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    result = torch.zeros(n, n, dtype=torch.bool)
    before = model(tokens[None])[0]
    for j in range(n):
        other = tokens.clone()
        other[j] = other[j] % vocab_size
        result[:, j] = ((model(other[None])[0] - before).abs() > 1e-5).any(dim=-1)
    return result


# %% wrong: looks at the last token only -> only one token is changed
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    result = torch.zeros(n, n, dtype=torch.bool)
    other = tokens.clone()
    other[-1] = (other[-1] + 1) % vocab_size
    result[:, -1] = ((model(other[None])[0] - model(tokens[None])[0]).abs() > 1e-5).any(dim=-1)
    return result


# %% wrong: looks at the first token only -> only the first token is changed
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    result = torch.zeros(n, n, dtype=torch.bool)
    other = tokens.clone()
    other[0] = (other[0] + 1) % vocab_size
    result[:, 0] = ((model(other[None])[0] - model(tokens[None])[0]).abs() > 1e-5).any(dim=-1)
    return result


# %% wrong: rows and columns exchanged -> rows and columns are exchanged
def future_influence(model, tokens, vocab_size):
    rows = []
    before = model(tokens[None])[0]
    for j in range(len(tokens)):
        other = tokens.clone()
        other[j] = (other[j] + 1) % vocab_size
        rows.append(((model(other[None])[0] - before).abs() > 1e-5).any(dim=-1))
    return torch.stack(rows)


# %% wrong: tolerance of 0.1 -> the tolerance is so wide that weak influences are lost
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    result = torch.zeros(n, n, dtype=torch.bool)
    before = model(tokens[None])[0]
    for j in range(n):
        other = tokens.clone()
        other[j] = (other[j] + 1) % vocab_size
        result[:, j] = ((model(other[None])[0] - before).abs() > 0.1).any(dim=-1)
    return result


# %% wrong: compared with != -> the tolerance is so small that rounding counts as a change
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    result = torch.zeros(n, n, dtype=torch.bool)
    before = model(tokens[None])[0]
    for j in range(n):
        other = tokens.clone()
        other[j] = (other[j] + 1) % vocab_size
        result[:, j] = (model(other[None])[0] != before).any(dim=-1)
    return result


# %% wrong: no fresh copy -> changes pile up
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    result = torch.zeros(n, n, dtype=torch.bool)
    before = model(tokens[None])[0]
    other = tokens.clone()
    for j in range(n):
        other[j] = (other[j] + 1) % vocab_size
        result[:, j] = ((model(other[None])[0] - before).abs() > 1e-5).any(dim=-1)
    return result


# %% wrong: inverted -> True where nothing changes
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    result = torch.zeros(n, n, dtype=torch.bool)
    before = model(tokens[None])[0]
    for j in range(n):
        other = tokens.clone()
        other[j] = (other[j] + 1) % vocab_size
        result[:, j] = ((model(other[None])[0] - before).abs() < 1e-5).all(dim=-1)
    return result


# %% wrong: out of the vocabulary -> the changed token leaves the vocabulary
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    result = torch.zeros(n, n, dtype=torch.bool)
    before = model(tokens[None])[0]
    for j in range(n):
        other = tokens.clone()
        other[j] = other[j] + 1
        result[:, j] = ((model(other[None])[0] - before).abs() > 1e-5).any(dim=-1)
    return result


# %% wrong: the lower triangle without looking at the model ->
def future_influence(model, tokens, vocab_size):
    return torch.ones(len(tokens), len(tokens)).tril().bool()


# %% wrong: a tolerance of 0.001 ->
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    influence = torch.zeros(n, n, dtype=torch.bool)
    with torch.no_grad():
        before = model(tokens[None])[0]
        for j in range(n):
            changed = tokens.clone()
            changed[j] = (changed[j] + 1) % vocab_size
            difference = model(changed[None])[0] - before
            influence[:, j] = difference.abs().amax(-1) > 1e-3
    return influence


# %% wrong: without abs -> only an increase counts: the absolute value is missing
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    influence = torch.zeros(n, n, dtype=torch.bool)
    with torch.no_grad():
        before = model(tokens[None])[0]
        for j in range(n):
            changed = tokens.clone()
            changed[j] = (changed[j] + 1) % vocab_size
            difference = model(changed[None])[0] - before
            influence[:, j] = difference.amax(-1) > 1e-5
    return influence


# %% wrong: all in place of any -> all numbers of an output must change
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    influence = torch.zeros(n, n, dtype=torch.bool)
    with torch.no_grad():
        before = model(tokens[None])[0]
        for j in range(n):
            changed = tokens.clone()
            changed[j] = (changed[j] + 1) % vocab_size
            difference = model(changed[None])[0] - before
            influence[:, j] = (difference.abs() > 1e-5).all(-1)
    return influence


# %% wrong: no batch axis -> the model gets a sentence without a batch
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    influence = torch.zeros(n, n, dtype=torch.bool)
    before = model(tokens)
    for j in range(n):
        changed = tokens.clone()
        changed[j] = (changed[j] + 1) % vocab_size
        influence[:, j] = (model(changed) - before).abs().amax(-1) > 1e-5
    return influence
