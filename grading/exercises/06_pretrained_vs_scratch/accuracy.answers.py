# %% right: counts
@torch.no_grad()
def accuracy(model, loader):
    before = model.training
    model.eval()
    right = total = 0
    for batch in loader:
        right += int((model(batch.tokens, batch.lengths).argmax(dim=-1) == batch.target).sum())
        total += len(batch.target)
    model.train(before)
    return right / total


# %% right: one long tensor
def accuracy(model, loader):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        hits = torch.cat([model(b.tokens, b.lengths).max(1).indices == b.target for b in loader])
    if was_training:
        model.train()
    return hits.float().mean()


# %% right: text by text
def accuracy(model, loader):
    mode = model.training
    model.train(False)
    hits = []
    for batch in loader:
        for tokens, length, target in zip(batch.tokens, batch.lengths.tolist(), batch.target.tolist()):
            logits = model(tokens[:length].unsqueeze(0))
            hits.append(logits[0].argmax().item() == target)
    model.train(mode)
    return sum(hits) / len(hits)


# %% right: base and head, with try and finally
# other: It puts the mode back even if the model raises an error; the solution calls only the model, and so works for one that is not made of base and head.
@torch.no_grad()
def accuracy(model, loader):
    before = model.training
    model.eval()
    try:
        right, total = torch.tensor(0), 0
        for batch in loader:
            hidden = model.base(batch.tokens, batch.lengths)
            last = hidden[torch.arange(len(hidden)), batch.lengths - 1]
            right = right + (model.head(last).argmax(1) == batch.target).sum()
            total += batch.target.numel()
        return (right / total).item()
    finally:
        model.train(before)


# %% right: sorted, and a fraction at the end
from fractions import Fraction


def accuracy(model, loader):
    mode = model.training

    def answers():
        for batch in loader:
            with torch.inference_mode():
                order = model.train(False)(batch.tokens, batch.lengths).sort(dim=1).indices
            yield from zip(order[:, -1].tolist(), batch.target.tolist())

    try:
        both = list(answers())
    finally:
        model.train(mode)
    return float(Fraction(sum(x == y for x, y in both), len(both)))


# %% wrong: a sigmoid before the argmax -> the logits are squashed before the largest is looked for
# hint: A sigmoid, or a tanh, of 20 and that of 30 are both 1: which is larger can no longer be seen. Compare the logits
# hint: themselves.
def accuracy(model: nn.Module, loader: Batches | list[Batch]) -> float:
    came = model.training
    model.eval()
    right = total = 0
    with torch.no_grad():
        for batch in loader:
            probabilities = torch.sigmoid(model(batch.tokens, batch.lengths).float())
            right += (probabilities.argmax(dim=-1) == batch.target).sum().item()
            total += len(batch.target)
    model.train(came)
    return right / total


# %% wrong: no eval -> measured in training mode
# hint: Dropout is on, and the answers are noise in part. Call model.eval() before you measure.
# -    before = model.training
# -    model.eval()
# ...
# -    model.train(before)

# %% wrong: the mode is put back after each batch -> the mode is put back inside the loop
# hint: Only the first batch is asked in evaluation mode. Put the mode back after the loop.
# -    model.train(before)
# +        model.train(before)

# %% wrong: two classes only -> two classes are compared
# hint: The classifier may have any number of classes: take the argmax of the whole row.
# -        right += int((model(batch.tokens, batch.lengths).argmax(dim=-1) == batch.target).sum())
# +        logits = model(batch.tokens, batch.lengths)
# +        right += int(((logits[:, 1] > logits[:, 0]).long() == batch.target).sum())

# %% wrong: left in eval -> the model is left in evaluation mode
# hint: The next training step would run without dropout, and no error says so. Put the mode back as it was.
# -    before = model.training
# ...
# -    model.train(before)

# %% wrong: train at the end -> the model is always left in training mode
# hint: It may have come in evaluation mode: keep model.training, and put back what it was.
# -    before = model.training
# ...
# -    model.train(before)
# +    model.train()

# %% wrong: no lengths -> the last row in place of the last real token
# hint: Without the lengths the classifier reads the last row, which is padding for most texts: pass batch.lengths on.
# ~ , batch.lengths =>

# %% wrong: no lengths, left in eval -> the last row, and the model is left in evaluation mode
# hint: Two mistakes: pass batch.lengths on, and put the mode back as it was.
# of: left in eval
# ~ , batch.lengths =>


# %% wrong: mean of means -> the mean of the batches' means
# hint: A text of a small batch counts more than one of a large batch. Count over all batches, divide once.
@torch.no_grad()
def accuracy(model, loader):
    before = model.training
    model.eval()
    shares = [(model(b.tokens, b.lengths).argmax(-1) == b.target).float().mean().item() for b in loader]
    model.train(before)
    return sum(shares) / len(shares)


# %% wrong: mean of means, left in eval -> the mean of the batches' means, and the model is left in evaluation mode
# hint: Count over all batches and divide once; and put the mode back as it was.
@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    shares = [(model(b.tokens, b.lengths).argmax(-1) == b.target).float().mean() for b in loader]
    return torch.stack(shares).mean()


# %% wrong: counts start again -> only the last batch
# hint: Counts must go on from batch to batch: set them to 0 before the loop.
# of: counts
# -    right = total = 0
# ...
#      for batch in loader:
# +        right = total = 0

# %% wrong: errors -> the share of wrong answers
# hint: This is the error rate, 1 minus the accuracy.
# -    right = total = 0
# +    wrong = total = 0
# ...
# -        right += int((model(batch.tokens, batch.lengths).argmax(dim=-1) == batch.target).sum())
# +        wrong += int((model(batch.tokens, batch.lengths).argmax(dim=-1) != batch.target).sum())
# ...
# -    return right / total
# +    return wrong / total

# %% wrong: per cent -> in per cent
# hint: A share lies between 0 and 1.
# ~ right / => 100 * right /


# %% wrong: a number of texts -> the number of right answers
# hint: Divide it by the number of texts.
@torch.no_grad()
def accuracy(model, loader):
    before = model.training
    model.eval()
    right = sum(int((model(b.tokens, b.lengths).argmax(-1) == b.target).sum()) for b in loader)
    model.train(before)
    return right


# %% wrong: the parameters no longer train ->
# -@torch.no_grad()
# ...
#      model.eval()
# +    for parameter in model.parameters():
# +        parameter.requires_grad_(False)


# %% wrong: reads the loader twice ->
@torch.no_grad()
def accuracy(model, loader):
    before = model.training
    model.eval()
    said = [model(batch.tokens, batch.lengths).argmax(dim=-1) for batch in loader]
    model.train(before)
    wanted = [batch.target for batch in loader]
    return float((torch.cat(said) == torch.cat(wanted)).double().mean())


# %% wrong: the evaluation of helpers -> a ready-made part in place of an answer
def accuracy(model, loader):
    from helpers.training import evaluate

    class Loader(list):
        epoch = 0

    return evaluate(model, Loader(loader), "classifier")["accuracy"]


# %% wrong: right is what has more than half of the probability ->
@torch.no_grad()
def accuracy(model, loader):
    was = model.training
    model.eval()
    right = total = 0
    for batch in loader:
        given = model(batch.tokens, batch.lengths).softmax(dim=-1).gather(1, batch.target[:, None])
        right += (given > 0.5).sum().item()
        total += len(batch.target)
    model.train(was)
    return right / total


# %% wrong: dropout alone is switched off ->
# of: counts
# ~ model.eval() => [part.eval() for part in model.modules() if isinstance(part, nn.Dropout)]
