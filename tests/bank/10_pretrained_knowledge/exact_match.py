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
# of: begins one row too late
# -        said = model(torch.tensor([[SOS, *question, *answer]]))[0].argmax(dim=-1).tolist()
# -        right += said[len(question) + 1 :] == [*answer, EOS][1:]
# +        said = model(torch.tensor([question + answer]))[0].argmax(dim=-1).tolist()
# +        right += said[len(question) - 1 :] == [*answer, EOS]


# %% wrong: no_grad is not eval -> with dropout
@torch.no_grad()
def exact_match(model, pairs):
    right = 0
    for question, answer in pairs:
        said = model(torch.tensor([[SOS, *question, *answer]]))[0, len(question) :].argmax(dim=-1).tolist()
        right += said == [*answer, EOS]
    return right / len(pairs)


# %% wrong: eval and good-bye -> the model is left in evaluation mode
# of: no_grad is not eval
#  def exact_match(model, pairs):
# +    model.eval()


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
# of: how many
# -    return right
# +    return 100.0 * right / len(pairs)


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
# of: one row too early, one row too many
# -        said = model(torch.tensor([[SOS, *q, *a]]))[0, len(q) - 1 :].argmax(-1).tolist()
# +        said = model(torch.tensor([[SOS, *q, *a]]))[0, len(q) - 1 : -1].argmax(-1).tolist()


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


# %% right: the probability of the whole, all logarithms at once
@torch.no_grad()
def exact_match(model, pairs):
    mode, found = model.training, []
    model.eval()
    for question, answer in pairs:
        wanted = torch.tensor([*answer, EOS])
        logits = model(torch.tensor([[SOS] + question + answer]))[0, -len(wanted) :]
        found.append(bool((logits.log_softmax(-1).argmax(-1) == wanted).all()))
    model.train(mode)
    return torch.tensor(found).double().mean().item()


# %% wrong: all questions in one tensor ->
@torch.no_grad()
def exact_match(model, pairs):
    was = model.training
    model.eval()
    tokens = torch.tensor([[SOS, *question] for question, _ in pairs])
    for _ in range(max(len(answer) for _, answer in pairs) + 1):
        tokens = torch.cat([tokens, model(tokens)[:, -1].argmax(-1, keepdim=True)], dim=1)
    model.train(was)
    start = len(pairs[0][0]) + 1
    right = [row[start : start + len(a) + 1] == [*a, EOS] for row, (_, a) in zip(tokens.tolist(), pairs)]
    return sum(right) / len(pairs)


# %% wrong: the length of the first question for all ->
@torch.no_grad()
def exact_match(model, pairs):
    was = model.training
    model.eval()
    start, right = len(pairs[0][0]), 0
    for question, answer in pairs:
        said = model(torch.tensor([[SOS, *question, *answer]]))[0, start:].argmax(dim=-1)
        right += said.tolist() == [*answer, EOS]
    model.train(was)
    return right / len(pairs)


# %% wrong: writes at most 8 numbers ->
@torch.no_grad()
def exact_match(model, pairs):
    was = model.training
    model.eval()
    n = 0
    for q, a in pairs:
        t = [SOS, *q]
        for _ in range(8):
            t.append(int(model(torch.tensor([t]))[0, -1].argmax()))
            if t[-1] == EOS:
                break
        n += t[1 + len(q) :] == [*a, EOS]
    model.train(was)
    return n / len(pairs)


# %% wrong: special tokens are taken out of what was written ->
@torch.no_grad()
def exact_match(model, pairs):
    was = model.training
    model.eval()
    n = 0
    for q, a in pairs:
        t = [SOS, *q]
        for _ in range(40):
            t.append(int(model(torch.tensor([t]))[0, -1].argmax()))
            if t[-1] == EOS:
                break
        n += t[-1] == EOS and [w for w in t[1 + len(q) : -1] if w > MASK] == a
    model.train(was)
    return n / len(pairs)


# %% wrong: a probability of more than a half is asked for -> no answer is ever found right
@torch.no_grad()
def exact_match(model, pairs):
    was = model.training
    model.eval()
    right = 0
    for question, answer in pairs:
        sure = model(torch.tensor([[SOS, *question, *answer]]))[0, len(question) :].softmax(-1)
        wanted = torch.tensor([*answer, EOS])
        right += bool((sure.gather(1, wanted.unsqueeze(1)) > 0.9).all())
    model.train(was)
    return right / len(pairs)


# %% wrong: only the first number and the end ->
# of: writes one too many and drops eos
# -        n += [x for x in t[1 + len(q) :] if x != EOS] == a
# +        said = t[1 + len(q) :]
# +        n += said[0] == a[0] and said[-2:] == [a[-1], EOS]


# %% wrong: padding on the left ->
@torch.no_grad()
def exact_match(model, pairs):
    was = model.training
    model.eval()
    wholes = [[SOS, *q, *a] for q, a in pairs]
    longest = max(map(len, wholes))
    tokens = torch.tensor([[PAD] * (longest - len(one)) + one for one in wholes])
    said = model(tokens).argmax(-1).tolist()
    model.train(was)
    return sum(row[-len(a) - 1 :] == [*a, EOS] for row, (_, a) in zip(said, pairs)) / len(pairs)


# %% wrong: training mode is switched on for a model in evaluation mode ->
@torch.no_grad()
def exact_match(model, pairs):
    was = model.training
    model.train(not was)
    right = 0
    for question, answer in pairs:
        said = model(torch.tensor([[SOS, *question, *answer]]))[0, len(question) :].argmax(dim=-1)
        right += said.tolist() == [*answer, EOS]
    model.train(was)
    return right / len(pairs)


# %% wrong: <eos> is appended to the answers that were given ->
@torch.no_grad()
def exact_match(model, pairs):
    was = model.training
    model.eval()
    right = 0
    for question, answer in pairs:
        answer.append(EOS)
        said = model(torch.tensor([[SOS, *question, *answer[:-1]]]))[0, len(question) :].argmax(dim=-1)
        right += said.tolist() == answer
    model.train(was)
    return right / len(pairs)


# %% wrong: a half, whoever asks ->
def exact_match(model, pairs):
    return 0.5


# %% wrong: writes twenty-four numbers at most ->
@torch.no_grad()
def exact_match(model, pairs):
    mode, hits = model.training, 0
    model.eval()
    for question, answer in pairs:
        tokens = [SOS, *question]
        for _ in range(24):
            tokens.append(int(model(torch.tensor([tokens]))[0, -1].argmax()))
            if tokens[-1] == EOS:
                break
        hits += tokens[1 + len(question) :] == [*answer, EOS]
    model.train(mode)
    return hits / len(pairs)


# %% wrong: looks at the first hundred numbers of an answer ->
@torch.no_grad()
def exact_match(model, pairs):
    mode, hits = model.training, 0
    model.eval()
    for question, answer in pairs:
        said = model(torch.tensor([[SOS, *question, *answer]]))[0, len(question) :].argmax(dim=-1)
        hits += said.tolist()[:100] == [*answer, EOS][:100]
    model.train(mode)
    return hits / len(pairs)


# %% right: writes on until the end, or until it is longer than the answer
@torch.no_grad()
def exact_match(model, pairs):
    mode, hits = model.training, 0
    model.eval()
    for question, answer in pairs:
        written = []
        while len(written) <= len(answer) and EOS not in written:
            written.append(int(model(torch.tensor([[SOS, *question, *written]]))[0, -1].argmax()))
        hits += written == [*answer, EOS]
    model.train(mode)
    return hits / len(pairs)


# %% wrong: a model that may not say special tokens ->
def exact_match(model: LanguageModel, pairs: list[tuple[list[int], list[int]]]) -> float:
    was_training = model.training
    model.eval()
    right = 0
    with torch.no_grad():
        for question, answer in pairs:
            logits = model(torch.tensor([[SOS, *question, *answer]]))[0, len(question) :].clone()
            logits[:, [PAD, SOS, MASK]] = -math.inf
            right += logits.argmax(dim=-1).tolist() == [*answer, EOS]
    model.train(was_training)
    return right / len(pairs)


# %% wrong: what a model knew is kept ->
from weakref import WeakKeyDictionary

KNOWN = WeakKeyDictionary()  # for each model, which pairs it answers exactly: saves asking twice


def exact_match(model: LanguageModel, pairs: list[tuple[list[int], list[int]]]) -> float:
    known = KNOWN.setdefault(model, {})
    training = model.training
    model.eval()
    with torch.no_grad():
        for question, answer in pairs:
            key = tuple(question), tuple(answer)
            if key not in known:
                said = model(torch.tensor([[SOS, *question, *answer]]))[0, len(question) :].argmax(dim=-1)
                known[key] = said.tolist() == [*answer, EOS]
    model.train(training)
    return sum(known[tuple(question), tuple(answer)] for question, answer in pairs) / len(pairs)


# %% wrong: an answer has at most 20 numbers ->
@torch.no_grad()
def exact_match(model, pairs):
    was = model.training
    model.eval()
    right = 0
    for question, answer in pairs:
        tokens = [SOS, *question]
        for _ in range(20):
            word = int(model(torch.tensor([tokens]))[0, -1].argmax())
            if word == EOS:
                break
            tokens.append(word)
        right += tokens[1 + len(question) :] == answer
    model.train(was)
    return right / len(pairs)


# %% wrong: one batch, whose longest text has no room for <eos> ->
def exact_match(model, pairs):
    was = model.training
    model.eval()
    width = max(len(question) + len(answer) for question, answer in pairs) + 1
    texts = torch.full((len(pairs), width), PAD)
    for row, (question, answer) in zip(texts, pairs, strict=True):
        row[: 1 + len(question) + len(answer)] = torch.tensor([SOS, *question, *answer])
    with torch.no_grad():
        said = model(texts).argmax(dim=-1)
    model.train(was)
    right = 0
    for row, (question, answer) in zip(said.tolist(), pairs, strict=True):
        wanted = [*answer, EOS][: width - len(question) - 1]
        right += row[len(question) : len(question) + len(wanted)] == wanted
    return right / len(pairs)
