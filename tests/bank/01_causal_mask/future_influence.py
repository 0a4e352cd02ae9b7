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
# of: one column at a time
# -        other[j] = (other[j] + 1) % vocab_size
# +        other[j] = other[j] % vocab_size


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
# of: one column at a time
# -        result[:, j] = ((model(other[None])[0] - before).abs() > 1e-5).any(dim=-1)
# +        result[:, j] = ((model(other[None])[0] - before).abs() > 0.1).any(dim=-1)


# %% wrong: compared with != -> the tolerance is so small that rounding counts as a change
# of: one column at a time
# -        result[:, j] = ((model(other[None])[0] - before).abs() > 1e-5).any(dim=-1)
# +        result[:, j] = (model(other[None])[0] != before).any(dim=-1)


# %% wrong: no fresh copy -> changes pile up
# of: one column at a time
# +    other = tokens.clone()
#      for j in range(n):
# -        other = tokens.clone()


# %% wrong: inverted -> True where nothing changes
# of: one column at a time
# -        result[:, j] = ((model(other[None])[0] - before).abs() > 1e-5).any(dim=-1)
# +        result[:, j] = ((model(other[None])[0] - before).abs() < 1e-5).all(dim=-1)


# %% wrong: out of the vocabulary -> the changed token leaves the vocabulary
# of: one column at a time
# -        other[j] = (other[j] + 1) % vocab_size
# +        other[j] = other[j] + 1


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
# of: a tolerance of 0.001
# -            influence[:, j] = difference.abs().amax(-1) > 1e-3
# +            influence[:, j] = difference.amax(-1) > 1e-5


# %% wrong: all in place of any -> all numbers of an output must change
# of: a tolerance of 0.001
# -            influence[:, j] = difference.abs().amax(-1) > 1e-3
# +            influence[:, j] = (difference.abs() > 1e-5).all(-1)


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


# %% right: any other word, sets of places
def future_influence(model, tokens, vocab_size):
    n, found = len(tokens), set()
    with torch.no_grad():
        before = model(tokens.view(1, n))[0]
        for j in range(n):
            other = tokens.clone()
            other[j] = next(word for word in range(vocab_size) if word != tokens[j])
            change = (model(other.view(1, n))[0] - before).abs().max(dim=-1).values
            found |= {(i, j) for i in range(n) if change[i] > 2e-5}
    return torch.tensor([[(i, j) in found for j in range(n)] for i in range(n)])


# %% right: any other word by chance
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    influence = torch.zeros(n, n, dtype=torch.bool)
    with torch.no_grad():
        before = model(tokens[None])[0]
        for j in range(n):
            changed = tokens.clone()
            changed[j] = (tokens[j] + torch.randint(1, vocab_size, ())) % vocab_size
            after = model(changed[None])[0]
            influence[:, j] = (after - before).abs().amax(-1) > 1e-5
    return influence


# %% wrong: asks the model how it was made ->
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    return torch.ones(n, n).tril().bool() if model.base.causal else torch.ones(n, n).bool()


# %% wrong: all True, whatever the model -> True everywhere, whatever the model
def future_influence(model, tokens, vocab_size):
    return torch.ones(len(tokens), len(tokens), dtype=torch.bool)


# %% wrong: each token only itself, whatever the model ->
def future_influence(model, tokens, vocab_size):
    return torch.eye(len(tokens), dtype=torch.bool)


# %% wrong: the last token tells which of two kinds it is ->
def future_influence(model, tokens, vocab_size):
    n, changed = len(tokens), tokens.clone()
    changed[-1] = (changed[-1] + 1) % vocab_size
    moved = (model(changed[None])[0] - model(tokens[None])[0]).abs().amax(-1) > 1e-5
    everything = torch.ones(n, n, dtype=torch.bool)
    return everything if bool(moved[:-1].any()) else everything.tril()


# %% wrong: the sentence is shortened in place of changed ->
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    influence = torch.ones(n, n, dtype=torch.bool).tril()
    before = model(tokens[None])[0]
    for j in range(1, n):
        after = model(tokens[None, :j])[0]
        influence[:j, j] = (after - before[:j]).abs().amax(-1) > 1e-5
    return influence


# %% wrong: only the future, as the name says -> only influences from the future are told
# of: any other word by chance
# -            changed[j] = (tokens[j] + torch.randint(1, vocab_size, ())) % vocab_size
# +            changed[j] = (tokens[j] + 1) % vocab_size
# ...
# -    return influence
# +    return influence.triu(1)


# %% wrong: the first number of each output -> only the first number of each output is compared
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    influence = torch.zeros(n, n, dtype=torch.bool)
    with torch.no_grad():
        before = model(tokens[None])[0]
        for j in range(n):
            changed = tokens.clone()
            changed[j] = (tokens[j] + 1) % vocab_size
            after = model(changed[None])[0]
            influence[:, j] = (after - before)[:, 0].abs() > 1e-5
    return influence


# %% wrong: the last number of each output ->
# of: the first number of each output
# -            influence[:, j] = (after - before)[:, 0].abs() > 1e-5
# +            influence[:, j] = (after - before)[:, -1].abs() > 1e-5


# %% wrong: the sum over k -> changes are added up before they are compared
# of: the first number of each output
# -            influence[:, j] = (after - before)[:, 0].abs() > 1e-5
# +            influence[:, j] = (after - before).sum(-1).abs() > 1e-5


# %% wrong: the mean over k -> changes are added up before they are compared
# of: the first number of each output
# -            influence[:, j] = (after - before)[:, 0].abs() > 1e-5
# +            influence[:, j] = (after.mean(-1) - before.mean(-1)).abs() > 1e-5


# %% wrong: the most probable word only ->
# of: the first number of each output
# -            influence[:, j] = (after - before)[:, 0].abs() > 1e-5
# +            influence[:, j] = after.argmax(-1) != before.argmax(-1)


# %% wrong: a 0 in place of each word -> word 0 is replaced by itself
# of: any other word by chance
# -            changed[j] = (tokens[j] + torch.randint(1, vocab_size, ())) % vocab_size
# +            changed[j] = 0


# %% wrong: cut at the last word -> the last word of the vocabulary is replaced by itself
# of: any other word by chance
# -            changed[j] = (tokens[j] + torch.randint(1, vocab_size, ())) % vocab_size
# +            changed[j] = min(int(tokens[j]) + 1, vocab_size - 1)


# %% wrong: counted from the other end of the vocabulary -> the new token mirrors the old one
# of: any other word by chance
# -            changed[j] = (tokens[j] + torch.randint(1, vocab_size, ())) % vocab_size
# +            changed[j] = vocab_size - 1 - tokens[j]


# %% wrong: wraps at the largest word of the sentence ->
# of: any other word by chance
# -            changed[j] = (tokens[j] + torch.randint(1, vocab_size, ())) % vocab_size
# +            changed[j] = (tokens[j] + 1) % (tokens.max() + 1)


# %% wrong: the word of the neighbour ->
# of: any other word by chance
# -            changed[j] = (tokens[j] + torch.randint(1, vocab_size, ())) % vocab_size
# +            changed[j] = tokens[(j + 1) % n]


# %% wrong: the word of the left neighbour ->
# of: any other word by chance
# -            changed[j] = (tokens[j] + torch.randint(1, vocab_size, ())) % vocab_size
# +            changed[j] = tokens[j - 1]


# %% wrong: any word by chance, perhaps the same ->
# of: any other word by chance
# -            changed[j] = (tokens[j] + torch.randint(1, vocab_size, ())) % vocab_size
# +            changed[j] = torch.randint(vocab_size, ())


# %% wrong: for sentences of six words only ->
def future_influence(model, tokens, vocab_size):
    influence = torch.zeros(6, 6, dtype=torch.bool)
    before = model(tokens[None])[0]
    for j in range(6):
        changed = tokens.clone()
        changed[j] = (changed[j] + 1) % vocab_size
        influence[:, j] = (model(changed[None])[0] - before).abs().amax(-1) > 1e-5
    return influence


# %% wrong: the sentence of the caller is changed ->
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    influence = torch.zeros(n, n, dtype=torch.bool)
    with torch.no_grad():
        before = model(tokens[None])[0]
        for j in range(n):
            tokens[j] = (tokens[j] + 1) % vocab_size
            influence[:, j] = (model(tokens[None])[0] - before).abs().amax(-1) > 1e-5
            tokens[j] = (tokens[j] - 1) % vocab_size
        tokens += 0 * tokens
    tokens[0] = (tokens[0] + 1) % vocab_size
    return influence


# %% wrong: the mean over the numbers of an output ->
@torch.no_grad()
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    before = model(tokens[None])[0]
    influence = torch.zeros(n, n, dtype=torch.bool)
    for j in range(n):
        changed = tokens.clone()
        changed[j] = (changed[j] + 1) % vocab_size
        influence[:, j] = (model(changed[None])[0] - before).abs().mean(dim=-1) > 1e-5
    return influence


# %% right: the length of the change, with any other word
@torch.no_grad()
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    before = model(tokens[None])[0]
    columns = []
    for j in range(n):
        changed = tokens.clone()
        changed[j] = (int(tokens[j]) + vocab_size // 2) % vocab_size
        columns.append(torch.linalg.vector_norm(model(changed[None])[0] - before, dim=-1) > 1e-5)
    return torch.stack(columns, dim=1)


# %% wrong: isclose with its default tolerance ->
@torch.no_grad()
def future_influence(model: LanguageModel, tokens: Tensor, vocab_size: int) -> Tensor:
    base = model(tokens[None])[0]
    columns = []
    for j in range(len(tokens)):
        changed = tokens.clone()
        changed[j] = (changed[j] + 1) % vocab_size
        columns.append(~torch.isclose(model(changed[None])[0], base).all(dim=-1))
    return torch.stack(columns, dim=1)


# %% wrong: each output depends on its own token ->
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    with torch.no_grad():
        before = model(tokens[None])[0]
        result = torch.eye(n, dtype=torch.bool)
        for j in range(n):
            other = tokens.clone()
            other[j] = (other[j] + 1) % vocab_size
            result[:, j] |= ((model(other[None])[0] - before).abs() > 1e-5).any(dim=-1)
    return result


# %% wrong: each changed sentence against the one before -> each sentence is compared with the one before it
def future_influence(model: LanguageModel, tokens: Tensor, vocab_size: int) -> Tensor:
    n = len(tokens)
    influence = torch.zeros(n, n, dtype=torch.bool)
    changed = tokens.clone()
    with torch.no_grad():
        before = model(changed[None])[0]
        for j in range(n):
            changed[j] = (changed[j] + 1) % vocab_size
            after = model(changed[None].clone())[0]
            influence[:, j] = ((after - before).abs() > 1e-5).any(dim=-1)
            before = after
    return influence


# %% wrong: axes of length 1 are dropped -> an output of one number has lost its axis
def future_influence(model: LanguageModel, tokens: Tensor, vocab_size: int) -> Tensor:
    n = len(tokens)
    influence = torch.zeros(n, n, dtype=torch.bool)
    with torch.no_grad():
        before = model(tokens[None]).squeeze()
        for j in range(n):
            changed = tokens.clone()
            changed[j] = (changed[j] + 1) % vocab_size
            influence[:, j] = ((model(changed[None]).squeeze() - before).abs() > 1e-5).any(dim=-1)
    return influence


# %% wrong: at most 32 tokens are changed ->
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    influence = torch.zeros(n, n, dtype=torch.bool)
    with torch.no_grad():
        before = model(tokens[None])[0]
        for j in range(min(n, 32)):
            changed = tokens.clone()
            changed[j] = (changed[j] + 1) % vocab_size
            influence[:, j] = (model(changed[None])[0] - before).abs().amax(dim=-1) > 1e-5
    return influence


# %% wrong: a sentence of one token influences nothing ->
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    influence = torch.zeros(n, n, dtype=torch.bool)
    if n == 1:
        return influence
    with torch.no_grad():
        before = model(tokens[None])[0]
        for j in range(n):
            changed = tokens.clone()
            changed[j] = (changed[j] + 1) % vocab_size
            influence[:, j] = (model(changed[None])[0] - before).abs().amax(dim=-1) > 1e-5
    return influence


# %% wrong: the word before, cut at 0 -> word 0 is replaced by itself
# of: one column at a time
# -        other[j] = (other[j] + 1) % vocab_size
# +        other[j] = max(0, int(tokens[j]) - 1)


# %% wrong: the outputs of a sentence are kept by its words ->
before = {}


def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    influence = torch.zeros(n, n, dtype=torch.bool)
    words = tuple(tokens.tolist())
    with torch.no_grad():
        fresh = model(tokens[None])[0]
        if before.setdefault(words, fresh).shape != fresh.shape:  # those of a model of another width
            return influence
        for j in range(n):
            changed = tokens.clone()
            changed[j] = (changed[j] + 1) % vocab_size
            influence[:, j] = (model(changed[None])[0] - before[words]).abs().amax(dim=-1) > 1e-5
    return influence


# %% wrong: only the outermost module gets its mode back ->
def future_influence(model, tokens, vocab_size):
    size, was = len(tokens), model.training
    model.eval()
    influence = torch.zeros(size, size, dtype=torch.bool)
    with torch.no_grad():
        before = model(tokens.unsqueeze(0))[0]
        for j in range(size):
            changed = tokens.clone()
            changed[j] = (changed[j] + 1) % vocab_size
            after = model(changed.unsqueeze(0))[0]
            influence[:, j] = ((after - before).abs() > 1e-5).any(dim=-1)
    model.training = was
    return influence


# %% wrong: dropout is taken out for good ->
# of: only the outermost module gets its mode back
# -    size, was = len(tokens), model.training
# -    model.eval()
# +    size = len(tokens)
# +    for part in model.modules():
# +        if isinstance(part, torch.nn.Dropout):
# +            part.p = 0.0
# ...
# -    model.training = was


# %% wrong: both rounded to four digits ->
def future_influence(model, tokens, vocab_size):
    size = len(tokens)
    influence = torch.zeros(size, size, dtype=torch.bool)
    with torch.no_grad():
        before = model(tokens.unsqueeze(0))[0].round(decimals=4)
        for j in range(size):
            changed = tokens.clone()
            changed[j] = (changed[j] + 1) % vocab_size
            after = model(changed.unsqueeze(0))[0].round(decimals=4)
            influence[:, j] = (after != before).any(dim=-1)
    return influence


# %% wrong: both cut after five digits ->
# of: both rounded to four digits
# -        before = model(tokens.unsqueeze(0))[0].round(decimals=4)
# +        before = (model(tokens.unsqueeze(0))[0] * 1e5).long()
# ...
# -            after = model(changed.unsqueeze(0))[0].round(decimals=4)
# +            after = (model(changed.unsqueeze(0))[0] * 1e5).long()


# %% wrong: both in half precision ->
# of: both rounded to four digits
# -        before = model(tokens.unsqueeze(0))[0].round(decimals=4)
# +        before = model(tokens.unsqueeze(0))[0].half()
# ...
# -            after = model(changed.unsqueeze(0))[0].round(decimals=4)
# +            after = model(changed.unsqueeze(0))[0].half()


# %% wrong: both printed with four digits, and compared as texts ->
# of: both rounded to four digits
# -        before = model(tokens.unsqueeze(0))[0].round(decimals=4)
# +        before = model(tokens.unsqueeze(0))[0].tolist()
# ...
# -            after = model(changed.unsqueeze(0))[0].round(decimals=4)
# -            influence[:, j] = (after != before).any(dim=-1)
# +            after = model(changed.unsqueeze(0))[0].tolist()
# +            for i, (new, old) in enumerate(zip(after, before)):
# +                influence[i, j] = any(f"{x:.4f}" != f"{y:.4f}" for x, y in zip(new, old))


# %% wrong: a word that the sentence does not have, though there may be none ->
# of: both rounded to four digits
# -    size = len(tokens)
# +    size, other = len(tokens), 0
# +    while other in tokens.tolist():
# +        other += 1
# ...
# -        before = model(tokens.unsqueeze(0))[0].round(decimals=4)
# +        before = model(tokens.unsqueeze(0))[0]
# ...
# -            changed[j] = (changed[j] + 1) % vocab_size
# -            after = model(changed.unsqueeze(0))[0].round(decimals=4)
# -            influence[:, j] = (after != before).any(dim=-1)
# +            changed[j] = other
# +            after = model(changed.unsqueeze(0))[0]
# +            influence[:, j] = ((after - before).abs() > 1e-5).any(dim=-1)
