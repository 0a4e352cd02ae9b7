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
def risk_coverage(confidence, right):
    thresholds = confidence.sort(descending=True).values
    in_play = confidence >= thresholds.unsqueeze(1)  # (n, n)
    accuracy = (in_play & right).sum(dim=1) / in_play.sum(dim=1)
    return in_play.float().mean(dim=1), 1 - accuracy


# %% wrong: argsort as it is -> the least sure first
def risk_coverage(confidence, right):
    order = torch.argsort(confidence)
    k = torch.arange(1, len(right) + 1)
    return k / len(right), torch.cumsum(~right[order], dim=0) / k


# %% wrong: right is left as it came -> not sorted
def risk_coverage(confidence, right):
    confidence = confidence.sort(descending=True).values
    k = torch.arange(1, len(right) + 1)
    return k / len(confidence), torch.cumsum(~right, dim=0) / k


# %% wrong: divided by n -> wrong answers as a share of all people
def risk_coverage(confidence, right):
    n = len(right)
    order = confidence.argsort(descending=True)
    return torch.arange(1, n + 1) / n, (~right[order]).cumsum(dim=0) / n


# %% wrong: accuracy -> the share of right answers
def risk_coverage(confidence, right):
    order = confidence.argsort(descending=True)
    k = torch.arange(1, len(right) + 1)
    return k / len(right), right[order].cumsum(dim=0) / k


# %% wrong: no sums -> whether each answer is wrong, without counting
def risk_coverage(confidence, right):
    order = confidence.argsort(descending=True)
    return torch.arange(1, len(right) + 1) / len(right), 1 - right[order].float()


# %% wrong: arange(n) -> coverage begins at 0
def risk_coverage(confidence, right):
    order = confidence.argsort(descending=True)
    k = torch.arange(len(right))
    return k / len(right), (~right[order]).cumsum(dim=0) / (k + 1)


# %% wrong: risk first -> coverage and risk are exchanged
def risk_coverage(confidence, right):
    order = confidence.argsort(descending=True)
    k = torch.arange(1, len(right) + 1)
    return (~right[order]).cumsum(dim=0) / k, k / len(right)


# %% wrong: one number each ->
def risk_coverage(confidence, right):
    return torch.tensor(1.0), (~right).float().mean()


# %% wrong: divides by the count before ->
def risk_coverage(confidence, right):
    order = confidence.argsort(descending=True)
    k = torch.arange(1, len(right) + 1)
    return k / len(right), (~right[order]).cumsum(dim=0) / (k - 1)


# %% wrong: ranks in place of the order ->
def risk_coverage(confidence, right):
    order = confidence.argsort(descending=True).argsort()
    k = torch.arange(1, len(right) + 1)
    return k / len(right), (~right[order]).cumsum(0) / k


# %% right: numpy does the sorting
def risk_coverage(confidence, right):
    import numpy as np

    order = np.argsort(-confidence.numpy().astype(np.float64), kind="stable")
    wrong = 1 - right.numpy()[order].astype(float)
    k = np.arange(1, len(wrong) + 1)
    return torch.from_numpy(k / len(wrong)), torch.from_numpy(np.cumsum(wrong) / k)


# %% wrong: the risk before this answer -> the answer itself is not counted yet
def risk_coverage(confidence, right):
    wrong, coverage, risk = 0, [], []
    for k, n in enumerate(confidence.argsort(descending=True).tolist()):
        risk.append(wrong / max(1, k))
        wrong += int(not right[n])
        coverage.append((k + 1) / len(right))
    return torch.tensor(coverage), torch.tensor(risk)


# %% wrong: the newest answer is subtracted again ->
def risk_coverage(confidence, right):
    wrong = (~right[confidence.argsort(descending=True)]).int()
    k = torch.arange(1, len(right) + 1)
    return k / len(right), (wrong.cumsum(0) - wrong) / k


# %% wrong: confidences with two digits ->
def risk_coverage(confidence, right):
    rounded = [round(c, 2) for c in confidence.tolist()]
    order = sorted(range(len(right)), key=lambda n: -rounded[n])
    k = torch.arange(1, len(right) + 1)
    return k / len(right), (~right[order]).cumsum(0) / k


# %% wrong: sums in int8 ->
def risk_coverage(confidence, right):
    wrong = (~right[confidence.argsort(descending=True)]).to(torch.int8)
    k = torch.arange(1, len(right) + 1)
    return k / len(right), wrong.cumsum(0, dtype=torch.int8) / k


# %% wrong: the divisor begins at 0 and is clamped ->
def risk_coverage(confidence, right):
    order = confidence.argsort(descending=True)
    k = torch.arange(len(right))
    return (k + 1) / len(right), (~right[order]).cumsum(0) / k.clamp(min=1)


# %% wrong: right ones first, whatever the confidence ->
def risk_coverage(confidence, right):
    k = torch.arange(1, len(right) + 1)
    return k / len(right), (~right.sort(descending=True).values).cumsum(0) / k


# %% wrong: confidences are clamped, so the surest are equal ->
def risk_coverage(confidence, right):
    order = confidence.clamp(0.05, 0.5).argsort(descending=True, stable=True)
    k = torch.arange(1, len(right) + 1)
    return k / len(right), (~right[order]).cumsum(0) / k


# %% wrong: the risk always rises ->
def risk_coverage(confidence, right):
    order = confidence.argsort(descending=True)
    k = torch.arange(1, len(right) + 1)
    return k / len(right), ((~right[order]).cumsum(0) / k).cummax(0).values


# %% wrong: a straight line that looks at the number of people only ->
def risk_coverage(confidence, right):
    k = torch.arange(1, len(right) + 1)
    return k / len(right), 1 - k / len(right) * 0.5


# %% wrong: the size of a confidence without its sign ->
def risk_coverage(confidence, right):
    order = confidence.abs().argsort(descending=True)
    given = torch.arange(1, len(right) + 1)
    return given / len(right), (~right[order]).cumsum(0) / given


# %% wrong: confidences in half precision ->
def risk_coverage(confidence, right):
    order = confidence.half().argsort(descending=True)
    given = torch.arange(1, len(right) + 1)
    return given / len(right), (~right[order]).cumsum(0) / given


# %% wrong: exp first, which is 0 for small logarithms ->
def risk_coverage(confidence, right):
    if (confidence < 0).any():
        confidence = confidence.exp()
    order = confidence.argsort(descending=True)
    k = torch.arange(1, len(order) + 1)
    return k / len(k), (~right[order]).cumsum(0) / k


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
def risk_coverage(confidence, right):
    order = (confidence * 1e5).round().argsort(descending=True, stable=True)
    answered = torch.arange(1, len(right) + 1)
    return answered / len(right), (~right[order]).cumsum(0) / answered


# %% wrong: at most 256 people ->
def risk_coverage(confidence, right):
    order = confidence.argsort(descending=True)[:256]
    answered = torch.arange(1, len(order) + 1)
    return answered / len(order), (~right[order]).cumsum(0) / answered


# %% wrong: who has been answered gets a confidence of 0 ->
def risk_coverage(confidence, right):
    left, wrong, risk = confidence.clone(), 0, []
    for k in range(1, len(left) + 1):
        person = int(left.argmax())
        left[person] = 0.0
        wrong += int(not right[person])
        risk.append(wrong / k)
    return torch.arange(1, len(left) + 1) / len(left), torch.tensor(risk)
