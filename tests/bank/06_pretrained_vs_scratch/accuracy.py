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


# %% wrong: no eval -> measured in training mode
@torch.no_grad()
def accuracy(model, loader):
    right = total = 0
    for batch in loader:
        right += int((model(batch.tokens, batch.lengths).argmax(dim=-1) == batch.target).sum())
        total += len(batch.target)
    return right / total


# %% wrong: left in eval -> the model is left in evaluation mode
# of: counts
# -    before = model.training
# ...
# -    model.train(before)


# %% wrong: train at the end -> the model is always left in training mode
# of: counts
# -    before = model.training
# ...
# -    model.train(before)
# +    model.train()


# %% wrong: no lengths -> the last row in place of the last real token
# of: counts
# -        right += int((model(batch.tokens, batch.lengths).argmax(dim=-1) == batch.target).sum())
# +        right += int((model(batch.tokens).argmax(dim=-1) == batch.target).sum())


# %% wrong: no lengths, left in eval -> the last row, and the model is left in evaluation mode
@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    right = total = 0
    for batch in loader:
        right += int((model(batch.tokens).argmax(dim=-1) == batch.target).sum())
        total += len(batch.target)
    return right / total


# %% wrong: mean of means -> the mean of the batches' means
@torch.no_grad()
def accuracy(model, loader):
    before = model.training
    model.eval()
    shares = [(model(b.tokens, b.lengths).argmax(-1) == b.target).float().mean().item() for b in loader]
    model.train(before)
    return sum(shares) / len(shares)


# %% wrong: mean of means, left in eval -> the mean of the batches' means, and the model is left in evaluation mode
@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    shares = [(model(b.tokens, b.lengths).argmax(-1) == b.target).float().mean() for b in loader]
    return torch.stack(shares).mean()


# %% wrong: counts start again -> only the last batch
# of: counts
# -    right = total = 0
#      for batch in loader:
# +        right = total = 0


# %% wrong: errors -> the share of wrong answers
@torch.no_grad()
def accuracy(model, loader):
    before = model.training
    model.eval()
    wrong = total = 0
    for batch in loader:
        wrong += int((model(batch.tokens, batch.lengths).argmax(dim=-1) != batch.target).sum())
        total += len(batch.target)
    model.train(before)
    return wrong / total


# %% wrong: per cent -> in per cent
# of: counts
# -    return right / total
# +    return 100 * right / total


# %% wrong: a number of texts -> the number of right answers
@torch.no_grad()
def accuracy(model, loader):
    before = model.training
    model.eval()
    right = sum(int((model(b.tokens, b.lengths).argmax(-1) == b.target).sum()) for b in loader)
    model.train(before)
    return right


# %% wrong: returns after the first batch ->
@torch.no_grad()
def accuracy(model, loader):
    before = model.training
    model.eval()
    for batch in loader:
        right = (model(batch.tokens, batch.lengths).argmax(dim=-1) == batch.target).float().mean()
        model.train(before)
        return right.item()


# %% wrong: two classes only -> two classes are compared
# of: counts
# -        right += int((model(batch.tokens, batch.lengths).argmax(dim=-1) == batch.target).sum())
# +        logits = model(batch.tokens, batch.lengths)
# +        right += int(((logits[:, 1] > logits[:, 0]).long() == batch.target).sum())


# %% wrong: the mode is put back after each batch -> the mode is put back inside the loop
# of: counts
# -    model.train(before)
# +        model.train(before)


# %% wrong: among the best two ->
# of: counts
# -        right += int((model(batch.tokens, batch.lengths).argmax(dim=-1) == batch.target).sum())
# +        best = model(batch.tokens, batch.lengths).topk(2).indices
# +        right += int((best == batch.target[:, None]).any(1).sum())


# %% wrong: squeezed, so that a batch of one text is lost ->
# of: counts
# -        right += int((model(batch.tokens, batch.lengths).argmax(dim=-1) == batch.target).sum())
# -        total += len(batch.target)
# +        logits = model(batch.tokens, batch.lengths).squeeze()
# +        if logits.dim() == 2:
# +            right += int((logits.argmax(dim=-1) == batch.target).sum())
# +            total += len(batch.target)


# %% wrong: as if all batches had the size of the first ->
@torch.no_grad()
def accuracy(model, loader):
    before = model.training
    model.eval()
    batches = list(loader)
    right = sum(int((model(b.tokens, b.lengths).argmax(-1) == b.target).sum()) for b in batches)
    model.train(before)
    return right / (len(batches) * len(batches[0].target))


# %% wrong: in two decimals ->
# of: counts
# -    return right / total
# +    return round(right / total, 2)


# %% wrong: one half ->
def accuracy(model, loader):
    return 0.5


# %% wrong: the parameters no longer train ->
# of: counts
# -@torch.no_grad()
# ...
#      model.eval()
# +    for parameter in model.parameters():
# +        parameter.requires_grad_(False)


# %% wrong: a sigmoid before the argmax -> the logits are squashed before the largest is looked for
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


# %% wrong: tanh before the argmax -> the logits are squashed before the largest is looked for
def accuracy(model, loader):
    was = model.training
    model.eval()
    with torch.no_grad():
        pairs = [(model(b.tokens, b.lengths).tanh().argmax(-1), b.target) for b in loader]
    model.train(was)
    return sum(int((x == y).sum()) for x, y in pairs) / sum(len(y) for _, y in pairs)


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


# %% wrong: a function of one's own that puts the mode back, asked without lengths -> the last row in place of the last real token
def accuracy(model, loader):
    def predict(batch):
        was = model.training
        model.eval()
        with torch.no_grad():
            classes = model(batch.tokens).argmax(dim=-1)
        model.train(was)
        return classes

    hits = [(predict(batch) == batch.target).double().mean() for batch in loader]
    return float(sum(hits) / len(hits))


# %% wrong: reads the loader twice ->
@torch.no_grad()
def accuracy(model, loader):
    before = model.training
    model.eval()
    said = [model(batch.tokens, batch.lengths).argmax(dim=-1) for batch in loader]
    model.train(before)
    wanted = [batch.target for batch in loader]
    return float((torch.cat(said) == torch.cat(wanted)).double().mean())


# %% wrong: the mean in half precision ->
# of: one long tensor
# -    return hits.float().mean()
# +    return hits.half().mean()


# %% wrong: right answers and texts are divided in half precision ->
# of: counts
# -    return right / total
# +    return (torch.tensor(right).half() / total).item()


# %% wrong: the evaluation of helpers -> a ready-made part in place of an answer
def accuracy(model, loader):
    from helpers.training import evaluate

    class Loader(list):
        epoch = 0

    return evaluate(model, Loader(loader), "classifier")["accuracy"]
