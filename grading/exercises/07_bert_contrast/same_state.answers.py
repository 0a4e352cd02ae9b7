# %% right: the largest difference
def same_state(model, first, second, position):
    with torch.no_grad():
        one = model.base(first.unsqueeze(0))[0, position]
        two = model.base(second.unsqueeze(0))[0, position]
    return bool((one - two).abs().max() < 1e-5)


# %% right: allclose
def same_state(model, first, second, position):
    states = [model.base(tokens[None])[0, position] for tokens in (first, second)]
    return torch.allclose(*states, atol=1e-5)


# %% right: relative length
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[:, position] for tokens in (first, second))
    return ((one - two).norm() / one.norm() < 1e-4).item()


# %% right: both in one batch, with their lengths
# other: It is one run in place of two; the solution needs no padding and no lengths, so that nothing but the texts can make a difference.
def same_state(model, first, second, position):
    lengths = torch.tensor([len(first), len(second)], device=first.device)
    batch = nn.utils.rnn.pad_sequence([first, second], batch_first=True, padding_value=PAD)
    one, two = model.base(batch, lengths)[:, position]
    return bool(torch.isclose(one, two, rtol=0, atol=1e-5).all())


# %% wrong: the difference itself -> the difference is returned
# hint: The question is whether the states are the same: compare the difference with a tolerance, return a bool.
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position] for tokens in (first, second))
    return float((one - two).abs().max())


# %% wrong: at -1 -> the last token is compared
# hint: The last token has read everything, in every model. The question is for one row of each: hidden[0, position].
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, -1] for tokens in (first, second))
    return torch.allclose(one, two, atol=1e-5)


# %% wrong: the whole tensor -> all tokens are compared
# hint: Somewhere after the difference the states differ in every model, at the word itself for sure. The question is
# hint: for one row of each: hidden[0, position].
def same_state(model, first, second, position):
    if len(first) != len(second):
        return False
    return torch.allclose(model.base(first[None]), model.base(second[None]), atol=1e-5)


# %% wrong: cut after position -> what follows is never read
# hint: If the sentences are cut after position (or only their embeddings compared), every model passes. Give both
# hint: sentences to the model whole.
# of: at -1
# ~ None => None, : position + 1

# %% wrong: the next row -> one position too far
# hint: Positions count from 0, and the state at position is hidden[0, position]; a slice [:position + 1] ends with it.
# hint: The next position has read the word behind it.
# ~ [0, -1] => [0, position + 1]

# %% wrong: one row too early -> one position too early
# hint: Positions count from 0, and the state at position is hidden[0, position].
# ~ [0, -1] => [0, position - 1]

# %% wrong: whether they differ -> the answer is the wrong way round
# hint: True means that the states are the same.
# of: the difference itself
# ~ float((one - two).abs().max()) => bool((one - two).abs().max() > 1e-5)


# %% wrong: torch.equal -> no tolerance, or hardly any
# hint: Rounding is taken for an influence. Allow a difference of about 1e-5; torch.allclose has only 1e-8 by itself,
# hint: and very little more: give it atol=1e-5.
def same_state(model, first, second, position):
    return torch.equal(model.base(first[None])[0, position], model.base(second[None])[0, position])


# %% wrong: up to a tenth -> the tolerance is too wide
# hint: A small difference is one too: a word far away may move a state by less than a hundredth. Compare the numbers,
# hint: and allow a difference of about 1e-5. An angle or a cosine hides small differences, whatever it is compared
# hint: with.
# ~ float((one - two).abs().max()) => torch.allclose(one, two, atol=0.1)

# %% wrong: up to a hundredth -> the tolerance is too wide
# ~ float((one - two).abs().max()) => torch.allclose(one, two, atol=1e-2)

# %% wrong: abs after the sum -> the differences cancel: the sum of the numbers, their mean or length, is compared
# hint: Some of the numbers grow and others shrink, so that sum and mean hardly move, nor does the length (norm).
# hint: Subtract first, and take abs() before sum, mean or max.
# ~ float((one - two).abs().max()) => bool((one - two).sum().abs() < 1e-5)

# %% wrong: the mean without abs -> a difference below 0 passes for none
# hint: A mean without abs() may be negative, and is then below every tolerance. Take abs() before mean or max.
# ~ float((one - two).abs().max()) => bool((one - two).mean() < 1e-5)


# %% wrong: asks the model's kind -> decided by the kind of model, not measured
# hint: A causal model has different states too when something before the position differs. Run it and look.
def same_state(model, first, second, position):
    return model.base.causal


# %% wrong: both cut to the shorter ->
def same_state(model, first, second, position):
    n = min(len(first), len(second))
    one, two = model.base(torch.stack([first[:n], second[:n]]))[:, position]
    return torch.allclose(one, two, atol=1e-5)


# %% wrong: the largest without abs ->
# ~ float((one - two).abs().max()) => bool((one - two).max() < 1e-5)

# %% wrong: the first number only ->
# ~ [0, position] => [0, position, 0]
# ~ float((one - two).abs().max()) => bool((one - two).abs() < 1e-5)


# %% wrong: all rows up to the position ->
@torch.no_grad()
def same_state(model: LanguageModel, first: Tensor, second: Tensor, position: int) -> bool:
    one = model.base(first[None])[0, : position + 1]
    two = model.base(second[None])[0, : position + 1]
    return torch.allclose(one, two, atol=1e-5)


# %% wrong: both rounded to three decimals ->
# ~ float((one - two).abs().max()) => torch.equal(one.round(decimals=3), two.round(decimals=3))

# %% wrong: lengths on the CPU ->
# of: both in one batch, with their lengths
# ~ , device=first.device =>


# %% wrong: states are kept on the model ->
def same_state(model, first, second, position):
    if not hasattr(model, "known"):
        model.known = {}
    for tokens in (first, second):
        if tuple(tokens.tolist()) not in model.known:
            model.known[tuple(tokens.tolist())] = model.base(tokens[None])[0].detach()
    one, two = (model.known[tuple(tokens.tolist())][position] for tokens in (first, second))
    return torch.allclose(one, two, atol=1e-5)


# %% wrong: a thousandth of a number, and one more ->
# of: the difference itself
# ~ float((one - two).abs().max()) => torch.allclose(one, two, rtol=1e-3, atol=1e-3)


# %% wrong: a causal model is not run ->
def same_state(model, first, second, position):
    if model.base.causal:
        return torch.equal(first[: position + 1], second[: position + 1])
    one, two = (model.base(tokens[None])[0, position] for tokens in (first, second))
    return torch.allclose(one, two, atol=1e-5)


# %% wrong: words and the kind of model are compared ->
def same_state(model, first, second, position):
    if len(model.base.layers) == 0:
        return bool(first[position] == second[position])
    if model.base.causal:
        return torch.equal(first[: position + 1], second[: position + 1])
    return torch.equal(first, second)
