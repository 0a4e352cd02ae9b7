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
