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
def same_state(model, first, second, position):
    lengths = torch.tensor([len(first), len(second)], device=first.device)
    batch = nn.utils.rnn.pad_sequence([first, second], batch_first=True, padding_value=PAD)
    one, two = model.base(batch, lengths)[:, position]
    return bool(torch.isclose(one, two, rtol=0, atol=1e-5).all())


# %% wrong: at -1 -> the last token is compared
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, -1] for tokens in (first, second))
    return torch.allclose(one, two, atol=1e-5)


# %% wrong: the whole tensor -> all tokens are compared
def same_state(model, first, second, position):
    if len(first) != len(second):
        return False
    return torch.allclose(model.base(first[None]), model.base(second[None]), atol=1e-5)


# %% wrong: cut after position -> what follows is never read
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None, : position + 1])[0, -1] for tokens in (first, second))
    return torch.allclose(one, two, atol=1e-5)


# %% wrong: one row too early -> one place too early
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position - 1] for tokens in (first, second))
    return torch.allclose(one, two, atol=1e-5)


# %% wrong: whether they differ -> the answer is the wrong way round
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position] for tokens in (first, second))
    return bool((one - two).abs().max() > 1e-5)


# %% wrong: torch.equal -> no tolerance, or hardly any
def same_state(model, first, second, position):
    return torch.equal(model.base(first[None])[0, position], model.base(second[None])[0, position])


# %% wrong: up to a tenth -> the tolerance is too wide
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position] for tokens in (first, second))
    return torch.allclose(one, two, atol=0.1)


# %% wrong: asks the model's kind -> decided by the kind of model, not measured
def same_state(model, first, second, position):
    return model.base.causal


# %% wrong: the difference itself -> the difference is returned
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position] for tokens in (first, second))
    return float((one - two).abs().max())


# %% wrong: always True ->
def same_state(model, first, second, position):
    return True


# %% wrong: allclose as it is -> no tolerance, or hardly any
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position] for tokens in (first, second))
    return torch.allclose(one, two)


# %% wrong: up to a hundredth -> the tolerance is too wide
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position] for tokens in (first, second))
    return torch.allclose(one, two, atol=1e-2)


# %% wrong: some number is close ->
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position] for tokens in (first, second))
    return bool(torch.isclose(one, two, atol=1e-5).any())


# %% wrong: the mean without abs -> a difference below 0 passes for none
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position] for tokens in (first, second))
    return bool((one - two).mean() < 1e-5)


# %% wrong: abs after the sum -> the differences cancel: the sum of the numbers, their mean or length, is compared
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position] for tokens in (first, second))
    return bool((one - two).sum().abs() < 1e-5)


# %% wrong: the tokens are compared, the model is not run ->
def same_state(model, first, second, position):
    return bool(model.base.causal and torch.equal(first[: position + 1], second[: position + 1]))


# %% wrong: both cut to the shorter ->
def same_state(model, first, second, position):
    n = min(len(first), len(second))
    one, two = model.base(torch.stack([first[:n], second[:n]]))[:, position]
    return torch.allclose(one, two, atol=1e-5)


# %% wrong: the next row -> one place too far
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position + 1] for tokens in (first, second))
    return torch.allclose(one, two, atol=1e-5)


# %% wrong: rows up to the next place ->
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, : position + 2] for tokens in (first, second))
    return one.shape == two.shape and torch.allclose(one, two, atol=1e-5)


# %% wrong: a slice three rows too long ->
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position : position + 4] for tokens in (first, second))
    n = min(len(one), len(two))
    return torch.allclose(one[:n], two[:n], atol=1e-5)


# %% wrong: the tokens are compared, in the way of each kind ->
def same_state(model, first, second, position):
    if model.base.causal:
        return torch.equal(first[: position + 1], second[: position + 1])
    return torch.equal(first, second)


# %% wrong: the largest without abs ->
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position] for tokens in (first, second))
    return bool((one - two).max() < 1e-5)


# %% wrong: the first number only ->
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position, 0] for tokens in (first, second))
    return bool((one - two).abs() < 1e-5)


# %% wrong: lengths compared -> the differences cancel: the sum of the numbers, their mean or length, is compared
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position] for tokens in (first, second))
    return bool((one.norm() - two.norm()).abs() < 1e-5)


# %% wrong: the means over all places -> all tokens are compared
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0].mean(dim=0) for tokens in (first, second))
    return torch.allclose(one, two, atol=1e-5)


# %% wrong: the direction only -> the tolerance is too wide
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position] for tokens in (first, second))
    return bool(torch.cosine_similarity(one, two, dim=0) > 0.999)


# %% wrong: never the same ->
def same_state(model, first, second, position):
    return False


# %% wrong: all rows up to the place ->
@torch.no_grad()
def same_state(model: LanguageModel, first: Tensor, second: Tensor, position: int) -> bool:
    one = model.base(first[None])[0, : position + 1]
    two = model.base(second[None])[0, : position + 1]
    return torch.allclose(one, two, atol=1e-5)


# %% wrong: both rounded to three places ->
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position] for tokens in (first, second))
    return torch.equal(one.round(decimals=3), two.round(decimals=3))


# %% wrong: both rounded to four places ->
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position] for tokens in (first, second))
    return torch.equal(one.round(decimals=4), two.round(decimals=4))


# %% wrong: cut off behind four places ->
def same_state(model, first, second, position):
    one, two = ((model.base(tokens[None])[0, position] * 10_000).int() for tokens in (first, second))
    return torch.equal(one, two)


# %% wrong: a tolerance of two thousandths ->
def same_state(model, first, second, position):
    with torch.no_grad():
        one, two = (model.base(tokens[None])[0, position] for tokens in (first, second))
    return bool((one - two).abs().max() < 2e-3)


# %% wrong: lengths on the CPU ->
# of: both in one batch, with their lengths
# -    lengths = torch.tensor([len(first), len(second)], device=first.device)
# +    lengths = torch.tensor([len(first), len(second)])


# %% wrong: states are kept on the model ->
def same_state(model, first, second, position):
    if not hasattr(model, "known"):
        model.known = {}
    for tokens in (first, second):
        if tuple(tokens.tolist()) not in model.known:
            model.known[tuple(tokens.tolist())] = model.base(tokens[None])[0].detach()
    one, two = (model.known[tuple(tokens.tolist())][position] for tokens in (first, second))
    return torch.allclose(one, two, atol=1e-5)


# %% wrong: the mean, and abs after it ->
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position] for tokens in (first, second))
    return bool((one - two).mean().abs() < 1e-4)


# %% wrong: two means -> the differences cancel: the sum of the numbers, their mean or length, is compared
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position] for tokens in (first, second))
    return abs(one.mean().item() - two.mean().item()) < 1e-5


# %% wrong: a thousandth of a number, and one more ->
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position] for tokens in (first, second))
    return torch.allclose(one, two, rtol=1e-3, atol=1e-3)


# %% wrong: the mean of the differences is small -> the tolerance is too wide
def same_state(model, first, second, position):
    one, two = (model.base(tokens[None])[0, position] for tokens in (first, second))
    return bool((one - two).abs().mean() < 1e-2)


# %% wrong: the squares are small ->
def same_state(model, first, second, position):
    with torch.no_grad():
        one, two = (model.base(tokens[None])[0, position] for tokens in (first, second))
    return bool(((one - two) ** 2).mean() < 1e-5)


# %% wrong: the logits are compared ->
def same_state(model, first, second, position):
    one, two = (model(tokens[None])[0, position].argmax() for tokens in (first, second))
    return bool(one == two)
