# %% right: argsort and cumsum
def risk_coverage(confidence, right):
    order = confidence.argsort(descending=True)
    answered = torch.arange(1, len(right) + 1)
    return answered / len(right), (~right[order]).cumsum(dim=0) / answered


# %% right: a loop over the sorted people
def risk_coverage(confidence, right):
    people = sorted(zip(confidence.tolist(), right.tolist()), reverse=True)
    coverage, risk, wrong = [], [], 0
    for answered, (_, is_right) in enumerate(people, start=1):
        wrong += not is_right
        coverage.append(answered / len(people))
        risk.append(wrong / answered)
    return torch.tensor(coverage), torch.tensor(risk)


# %% right: one minus the accuracy of each threshold
# other: It tries each confidence as a threshold, which is what the curve means; the solution sorts once, and needs no table of n times n.
def risk_coverage(confidence, right):
    thresholds = confidence.sort(descending=True).values
    in_play = confidence >= thresholds.unsqueeze(1)  # (n, n)
    accuracy = (in_play & right).sum(dim=1) / in_play.sum(dim=1)
    return in_play.float().mean(dim=1), 1 - accuracy


# %% right: numpy does the sorting
def risk_coverage(confidence, right):
    import numpy as np

    order = np.argsort(-confidence.numpy().astype(np.float64), kind="stable")
    wrong = 1 - right.numpy()[order].astype(float)
    k = np.arange(1, len(wrong) + 1)
    return torch.from_numpy(k / len(wrong)), torch.from_numpy(np.cumsum(wrong) / k)


# %% wrong: argsort as it is -> the least sure first
# hint: argsort puts the smallest first. The model answers first where it is surest: descending=True.
def risk_coverage(confidence, right):
    order = torch.argsort(confidence)
    k = torch.arange(1, len(right) + 1)
    return k / len(right), torch.cumsum(~right[order], dim=0) / k


# %% wrong: right is left as it came -> not sorted
# hint: `right` must follow the confidences, the largest first.
# of: argsort as it is
# ~ order = torch.argsort(confidence) => confidence = confidence.sort(descending=True).values
# ~ (right), torch.cumsum(~right[order], dim=0) => (confidence), torch.cumsum(~right, dim=0)


# %% wrong: divided by n -> wrong answers as a share of all people
# hint: Risk concerns those who got an answer: divide by k, the number of answers so far, not by n.
def risk_coverage(confidence, right):
    n = len(right)
    order = confidence.argsort(descending=True)
    return torch.arange(1, n + 1) / n, (~right[order]).cumsum(dim=0) / n


# %% wrong: accuracy -> the share of right answers
# hint: That is the accuracy. The risk is the share of wrong ones.
# ~ torch.argsort(confidence) => confidence.argsort(descending=True)
# ~ torch.cumsum(~right[order], dim=0) => right[order].cumsum(dim=0)


# %% wrong: the risk before this answer -> the answer itself is not counted yet
# hint: The risk at coverage k / n concerns k answers, the newest among them: this is the risk before it.
def risk_coverage(confidence, right):
    wrong, coverage, risk = 0, [], []
    for k, n in enumerate(confidence.argsort(descending=True).tolist()):
        risk.append(wrong / max(1, k))
        wrong += int(not right[n])
        coverage.append((k + 1) / len(right))
    return torch.tensor(coverage), torch.tensor(risk)


# %% wrong: no sums -> whether each answer is wrong, without counting
# hint: The risk at coverage k / n concerns all k answers so far: count with cumsum, and divide by k.
def risk_coverage(confidence, right):
    order = confidence.argsort(descending=True)
    return torch.arange(1, len(right) + 1) / len(right), 1 - right[order].float()


# %% wrong: arange(n) -> coverage begins at 0
# hint: The first point is the one after the first answer, at coverage 1 / n; the last has coverage 1.
# ~ torch.argsort(confidence) => confidence.argsort(descending=True)
# ~ 1, len(right) + 1 => len(right)
# ~ torch.cumsum(~right[order], dim=0) / k => (~right[order]).cumsum(dim=0) / (k + 1)

# %% wrong: risk first -> coverage and risk are exchanged
# hint: Coverage comes first: it rises from 1 / n to 1.
# ~ torch.argsort(confidence) => confidence.argsort(descending=True)
# ~ k / len(right), torch.cumsum(~right[order], dim=0) / k => (~right[order]).cumsum(dim=0) / k, k / len(right)


# %% wrong: the coverage by arange in steps ->
def risk_coverage(confidence, right):
    n = len(confidence)
    order = torch.argsort(confidence, descending=True)
    coverage = torch.arange(1 / n, 1 + 1 / n, 1 / n)
    return coverage, (~right[order]).cumsum(0) / torch.arange(1, n + 1)


# %% wrong: wrong answers are counted in eight bits ->
def risk_coverage(confidence: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    order = confidence.argsort(descending=True)
    given = torch.arange(1, len(confidence) + 1)
    wrong = (~right[order]).to(torch.uint8).cumsum(0, dtype=torch.uint8)
    return given / len(confidence), wrong / given


# %% wrong: confidences in five digits ->
# of: argsort and cumsum
# ~ confidence.argsort(descending=True) => (confidence * 1e5).round().argsort(descending=True, stable=True)
# ~ dim= =>
