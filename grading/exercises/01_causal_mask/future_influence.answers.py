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
# other: One run of the model in place of one for each token, the faster way on a GPU; the loop needs n times less memory and reads like the question.
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    batch = tokens.repeat(n, 1)
    positions = torch.arange(n)
    batch[positions, positions] = (tokens + 1) % vocab_size
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


# %% right: any other word, sets of positions
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


# %% wrong: the new token is the old one -> the token is replaced by itself
# hint: Nothing changes if the new token equals the old one: add 1 to it, modulo the size of the vocabulary. (A
# hint: tolerance that is far too wide gives the same picture.)
# ~ (other[j] + 1) => other[j]

# %% wrong: only the future, as the name says -> only influences from the future are told
# hint: The name of the function says what it is good for, not what it returns: all influences count, also those of the
# hint: past and of the token on its own output.
# of: any other word by chance
# ~ torch.randint(1, vocab_size, ()) => 1
# ~ return influence => return influence.triu(1)

# %% wrong: a 0 in place of each word -> word 0 is replaced by itself
# hint: Where word 0 stood already, nothing changes. Take a word that differs from the old one, such as the next one,
# hint: modulo the size of the vocabulary.
# ~ (tokens[j] + torch.randint(1, vocab_size, ())) % vocab_size => 0

# %% wrong: cut at the last word -> the last word of the vocabulary is replaced by itself
# hint: Cut at vocab_size - 1, the last word stays what it is. Take the remainder: (token + 1) % vocab_size.
# ~ (tokens[j] + torch.randint(1, vocab_size, ())) % vocab_size => min(int(tokens[j]) + 1, vocab_size - 1)

# %% wrong: counted from the other end of the vocabulary -> the new token mirrors the old one
# hint: In a vocabulary of 5 words, word 2 is its own mirror image: vocab_size - 1 - 2 = 2. Add 1 to it, modulo the size
# hint: of the vocabulary.
# ~ (tokens[j] + torch.randint(1, vocab_size, ())) % vocab_size => vocab_size - 1 - tokens[j]

# %% wrong: the first number of each output -> only the first number of each output is compared
# hint: An output is k numbers, and it is an influence as soon as one of them changes: any() or amax() over the last
# hint: axis.
# ~ torch.randint(1, vocab_size, ()) => 1
# ~ .abs().amax(-1) => [:, 0].abs()

# %% wrong: the sum over k -> changes are added up before they are compared
# hint: Up and down cancel: a sum can stay the same while every number changes. Take abs() first, then the largest one.
# ~ torch.randint(1, vocab_size, ()) => 1
# ~ abs().amax(-1) => sum(-1).abs()


# %% wrong: all True, whatever the model -> True everywhere, whatever the model
# hint: Not every word influences every output: under a causal mask none has an influence on what comes before it.
# hint: Change each word in turn, and compare each output with what it was.
def future_influence(model, tokens, vocab_size):
    return torch.ones(len(tokens), len(tokens), dtype=torch.bool)


# %% wrong: axes of length 1 are dropped -> an output of one number has lost its axis
# hint: squeeze() takes away every axis of length 1: the batch, and where k = 1 that of the numbers too; any() and
# hint: amax() then go over the outputs. Take away the batch alone: model(...)[0], or squeeze(0).
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


# %% wrong: looks at the last token only -> only one token is changed
# hint: Only one column is filled. Change each token in turn, starting each time from the original tokens.
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    result = torch.zeros(n, n, dtype=torch.bool)
    other = tokens.clone()
    other[-1] = (other[-1] + 1) % vocab_size
    result[:, -1] = ((model(other[None])[0] - model(tokens[None])[0]).abs() > 1e-5).any(dim=-1)
    return result


# %% wrong: looks at the first token only -> only the first token is changed
# hint: Only the first column is filled. Change each token in turn, starting each time from the original tokens.
# of: looks at the last token only
# ~ [-1] = (other[-1] + 1) => [0] = (other[0] + 1)
# ~ [:, -1] => [:, 0]


# %% wrong: rows and columns exchanged -> rows and columns are exchanged
# hint: Row i is the output that is read, column j the token that was changed: fill column j with the changes of all
# hint: outputs.
def future_influence(model, tokens, vocab_size):
    rows = []
    before = model(tokens[None])[0]
    for j in range(len(tokens)):
        other = tokens.clone()
        other[j] = (other[j] + 1) % vocab_size
        rows.append(((model(other[None])[0] - before).abs() > 1e-5).any(dim=-1))
    return torch.stack(rows)


# %% wrong: tolerance of 0.1 -> the tolerance is so wide that weak influences are lost
# hint: A distant token may change an output by less than 0.001. Rounding stays near 1e-6: take a tolerance of 1e-5.
# of: one column at a time
# ~ 1e-5 => 0.1

# %% wrong: compared with != -> the tolerance is so small that rounding counts as a change
# hint: Outputs that should be equal may differ by rounding. Compare with a tolerance near 1e-5, not with !=.
# ~ (model(other[None])[0] - before).abs() > 1e-5 => model(other[None])[0] != before

# %% wrong: without abs -> only an increase counts: the absolute value is missing
# hint: Where all outputs become smaller, the largest difference is negative. Take abs() before the maximum.
# of: any other word by chance
# ~ tokens[j] + torch.randint(1, vocab_size, ()) => changed[j] + 1
# ~ after = model(changed[None])[0] => difference = model(changed[None])[0] - before
# ~ (after - before).abs() => difference

# %% wrong: all in place of any -> all numbers of an output must change
# hint: It is an influence as soon as one of the numbers of output i changes: any() or amax(), not all().
# ~ tokens[j] + torch.randint(1, vocab_size, ()) => changed[j] + 1
# ~ after = model(changed[None])[0] => difference = model(changed[None])[0] - before
# ~ (after - before).abs().amax(-1) > 1e-5 => (difference.abs() > 1e-5).all(-1)

# %% wrong: no fresh copy -> changes pile up
# hint: The tokens changed earlier stay changed. Start each time from a fresh copy: tokens.clone().
# of: one column at a time
#      before = model(tokens[None])[0]
# +    other = tokens.clone()
# ...
# -        other = tokens.clone()


# %% wrong: each changed sentence against the one before -> each sentence is compared with the one before it
# hint: Changed tokens stay changed, and so token j is tried in another sentence than the one given. Change one token of
# hint: the original at a time, and compare with the outputs of the original.
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


# %% wrong: inverted -> True where nothing changes
# hint: The answer is inverted: True must stand where changing token j does change output i.
# ~ ((model(other[None])[0] - before).abs() > 1e-5).any => ((model(other[None])[0] - before).abs() < 1e-5).all

# %% wrong: out of the vocabulary -> the changed token leaves the vocabulary
# hint: Adding 1 to the last word gives a word that does not exist. Take the remainder modulo vocab_size.
# ~ (other[j] + 1) % vocab_size => other[j] + 1


# %% wrong: no batch axis -> the model gets a sentence without a batch
# hint: The model reads batches `(1, n)`, and tokens is `(n,)`: give it tokens.unsqueeze(0) and take [0] of the result.
def future_influence(model, tokens, vocab_size):
    n = len(tokens)
    influence = torch.zeros(n, n, dtype=torch.bool)
    before = model(tokens)
    for j in range(n):
        changed = tokens.clone()
        changed[j] = (changed[j] + 1) % vocab_size
        influence[:, j] = (model(changed) - before).abs().amax(-1) > 1e-5
    return influence


# %% wrong: the lower triangle without looking at the model ->
def future_influence(model, tokens, vocab_size):
    return torch.ones(len(tokens), len(tokens)).tril().bool()


# %% wrong: a tolerance of 0.001 ->
# of: without abs
# ~ amax(-1) > 1e-5 => abs().amax(-1) > 1e-3

# %% wrong: the last number of each output ->
# of: any other word by chance
# ~ torch.randint(1, vocab_size, ()) => 1
# ~ .abs().amax(-1) => [:, -1].abs()

# %% wrong: wraps at the largest word of the sentence ->
# ~ (tokens[j] + torch.randint(1, vocab_size, ())) % vocab_size => (tokens[j] + 1) % (tokens.max() + 1)

# %% wrong: the sentence of the caller is changed ->
# -            changed = tokens.clone()
# -            changed[j] = (tokens[j] + torch.randint(1, vocab_size, ())) % vocab_size
# -            after = model(changed[None])[0]
# -            influence[:, j] = (after - before).abs().amax(-1) > 1e-5
# +            tokens[j] = (tokens[j] + 1) % vocab_size
# +            influence[:, j] = (model(tokens[None])[0] - before).abs().amax(-1) > 1e-5
# +            tokens[j] = (tokens[j] - 1) % vocab_size
# +        tokens += 0 * tokens
# +    tokens[0] = (tokens[0] + 1) % vocab_size


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


# %% wrong: at most 32 tokens are changed ->
# -        for j in range(n):
# +        for j in range(min(n, 32)):
# ...
# -            changed[j] = (tokens[j] + torch.randint(1, vocab_size, ())) % vocab_size
# -            after = model(changed[None])[0]
# -            influence[:, j] = (after - before).abs().amax(-1) > 1e-5
# +            changed[j] = (changed[j] + 1) % vocab_size
# +            influence[:, j] = (model(changed[None])[0] - before).abs().amax(dim=-1) > 1e-5

# %% wrong: a sentence of one token influences nothing ->
# of: at most 32 tokens are changed
#      influence = torch.zeros(n, n, dtype=torch.bool)
# +    if n == 1:
# +        return influence
# ...
# -        for j in range(min(n, 32)):
# +        for j in range(n):


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
# ~ model(tokens.unsqueeze(0))[0].round(decimals=4) => (model(tokens.unsqueeze(0))[0] * 1e5).long()
# ~ model(changed.unsqueeze(0))[0].round(decimals=4) => (model(changed.unsqueeze(0))[0] * 1e5).long()

# %% wrong: both in half precision ->
# ~ (tokens.unsqueeze(0))[0].round(decimals=4) => (tokens.unsqueeze(0))[0].half()
# ~ round(decimals=4) => half()

# %% wrong: both printed with four digits, and compared as texts ->
# -        before = model(tokens.unsqueeze(0))[0].round(decimals=4)
# +        before = model(tokens.unsqueeze(0))[0].tolist()
# ...
# -            after = model(changed.unsqueeze(0))[0].round(decimals=4)
# -            influence[:, j] = (after != before).any(dim=-1)
# +            after = model(changed.unsqueeze(0))[0].tolist()
# +            for i, (new, old) in enumerate(zip(after, before)):
# +                influence[i, j] = any(f"{x:.4f}" != f"{y:.4f}" for x, y in zip(new, old))

# %% wrong: a word that the sentence does not have, though there may be none ->
# of: only the outermost module gets its mode back
# -    size, was = len(tokens), model.training
# -    model.eval()
# +    size, other = len(tokens), 0
# +    while other in tokens.tolist():
# +        other += 1
# ...
# -            changed[j] = (changed[j] + 1) % vocab_size
# +            changed[j] = other
# ...
# -    model.training = was
