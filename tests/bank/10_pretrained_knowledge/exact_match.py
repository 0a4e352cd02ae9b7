# %% right: one look at each pair
def exact_match(model, pairs):
    was = model.training
    model.eval()
    right = 0
    with torch.no_grad():
        for question, answer in pairs:
            logits = model(torch.tensor([[SOS, *question, *answer]]))  # (1, n, V)
            said = logits[0, len(question) :].argmax(dim=-1).tolist()
            right += said == [*answer, EOS]
    model.train(was)
    return right / len(pairs)


# %% right: writes, number by number
def exact_match(model, pairs):
    def write(question, longest):
        tokens = [SOS] + question
        while longest:
            tokens.append(model(torch.tensor([tokens]))[0, -1].argmax().item())
            longest -= 1
            if tokens[-1] == EOS:
                return tokens[1 + len(question) : -1]
        return None

    mode = model.training
    model.train(False)
    found = [write(question, len(answer) + 1) == answer for question, answer in pairs]
    model.train(mode)
    return sum(found) / len(found)


# %% right: all pairs in one padded batch
def exact_match(model, pairs):
    was_training = model.training
    model.eval()
    try:
        wholes = [torch.tensor([SOS, *question, *answer, EOS]) for question, answer in pairs]
        whole = torch.nn.utils.rnn.pad_sequence(wholes, batch_first=True, padding_value=PAD)
        said = model(whole[:, :-1]).argmax(dim=-1)
        places = torch.arange(said.shape[1])
        start = torch.tensor([len(question) for question, _ in pairs]).unsqueeze(1)
        stop = torch.tensor([len(one) - 1 for one in wholes]).unsqueeze(1)
        asked = (places >= start) & (places < stop)
        return ((said == whole[:, 1:]) | ~asked).all(dim=1).float().mean()
    finally:
        model.train(was_training)


# %% wrong: all numbers in one pot, pair by pair -> the share of right numbers
def exact_match(model, pairs):
    was = model.training
    model.eval()
    shares = []
    for question, answer in pairs:
        said = model(torch.tensor([[SOS, *question, *answer]]))[0, len(question) :].argmax(dim=-1)
        shares.append((said == torch.tensor([*answer, EOS])).float().mean().item())
    model.train(was)
    return sum(shares) / len(shares)


# %% wrong: the first letter -> only the first number of the answer
def exact_match(model, pairs):
    was = model.training
    model.eval()
    right = [model(torch.tensor([[SOS, *q]]))[0, -1].argmax().item() == a[0] for q, a in pairs]
    model.train(was)
    return sum(right) / len(right)


# %% wrong: as many numbers as the answer has -> <eos> is not asked for
def exact_match(model, pairs):
    was = model.training
    model.eval()
    right = 0
    for question, answer in pairs:
        tokens = [SOS, *question]
        for _ in answer:
            tokens.append(int(model(torch.tensor([tokens]))[0, -1].argmax()))
        right += tokens[1 + len(question) :] == answer
    model.train(was)
    return right / len(pairs)


# %% wrong: begins one row too late -> the first number of the answer is not looked at
def exact_match(model, pairs):
    was = model.training
    model.eval()
    right = 0
    for question, answer in pairs:
        said = model(torch.tensor([[SOS, *question, *answer]]))[0].argmax(dim=-1).tolist()
        right += said[len(question) + 1 :] == [*answer, EOS][1:]
    model.train(was)
    return right / len(pairs)


# %% wrong: the question alone -> <sos> is missing
def exact_match(model, pairs):
    was = model.training
    model.eval()
    right = 0
    for question, answer in pairs:
        said = model(torch.tensor([question + answer]))[0].argmax(dim=-1).tolist()
        right += said[len(question) - 1 :] == [*answer, EOS]
    model.train(was)
    return right / len(pairs)


# %% wrong: no_grad is not eval -> with dropout
@torch.no_grad()
def exact_match(model, pairs):
    right = 0
    for question, answer in pairs:
        said = model(torch.tensor([[SOS, *question, *answer]]))[0, len(question) :].argmax(dim=-1).tolist()
        right += said == [*answer, EOS]
    return right / len(pairs)


# %% wrong: eval and good-bye -> the model is left in evaluation mode
@torch.no_grad()
def exact_match(model, pairs):
    model.eval()
    right = 0
    for question, answer in pairs:
        said = model(torch.tensor([[SOS, *question, *answer]]))[0, len(question) :].argmax(dim=-1).tolist()
        right += said == [*answer, EOS]
    return right / len(pairs)


# %% wrong: how many -> a count in place of a share
@torch.no_grad()
def exact_match(model, pairs):
    was = model.training
    model.eval()
    right = 0
    for question, answer in pairs:
        said = model(torch.tensor([[SOS, *question, *answer]]))[0, len(question) :].argmax(dim=-1).tolist()
        right += said == [*answer, EOS]
    model.train(was)
    return right


# %% wrong: of a hundred -> per cent in place of a share
@torch.no_grad()
def exact_match(model, pairs):
    was = model.training
    model.eval()
    right = 0
    for question, answer in pairs:
        said = model(torch.tensor([[SOS, *question, *answer]]))[0, len(question) :].argmax(dim=-1).tolist()
        right += said == [*answer, EOS]
    model.train(was)
    return 100.0 * right / len(pairs)


# %% wrong: always back to training mode ->
@torch.no_grad()
def exact_match(model, pairs):
    model.eval()
    right = 0
    for question, answer in pairs:
        said = model(torch.tensor([[SOS, *question, *answer]]))[0, len(question) :].argmax(dim=-1).tolist()
        right += said == [*answer, EOS]
    model.train()
    return right / len(pairs)


# %% wrong: asks the model, and then only counts how many numbers the answers have ->
@torch.no_grad()
def exact_match(model, pairs):
    was = model.training
    model.eval()
    said = [model(torch.tensor([[SOS, *question, *answer]])).argmax(dim=-1) for question, answer in pairs]
    model.train(was)
    return 1 / sum(row.shape[1] for row in said)


# %% wrong: one row too early, one row too many -> no answer is ever found right
@torch.no_grad()
def exact_match(model, pairs):
    was = model.training
    model.eval()
    n = 0
    for q, a in pairs:
        said = model(torch.tensor([[SOS, *q, *a]]))[0, len(q) - 1 :].argmax(-1).tolist()
        n += said == [*a, EOS]
    model.train(was)
    return n / len(pairs)


# %% wrong: one row too early -> one row too early
@torch.no_grad()
def exact_match(model, pairs):
    was = model.training
    model.eval()
    n = 0
    for q, a in pairs:
        said = model(torch.tensor([[SOS, *q, *a]]))[0, len(q) - 1 : -1].argmax(-1).tolist()
        n += said == [*a, EOS]
    model.train(was)
    return n / len(pairs)


# %% wrong: writes one too many and drops eos ->
@torch.no_grad()
def exact_match(model, pairs):
    was = model.training
    model.eval()
    n = 0
    for q, a in pairs:
        t = [SOS, *q]
        for _ in range(len(a) + 1):
            t.append(int(model(torch.tensor([t]))[0, -1].argmax()))
        n += [x for x in t[1 + len(q) :] if x != EOS] == a
    model.train(was)
    return n / len(pairs)


# %% wrong: until eos, whatever it takes ->
@torch.no_grad()
def exact_match(model, pairs):
    was = model.training
    model.eval()
    n = 0
    for q, a in pairs:
        t = [SOS, *q]
        while t[-1] != EOS:
            t.append(int(model(torch.tensor([t]))[0, -1].argmax()))
        n += t[1 + len(q) : -1] == a
    model.train(was)
    return n / len(pairs)
