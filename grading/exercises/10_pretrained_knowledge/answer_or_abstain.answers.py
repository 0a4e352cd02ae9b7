# %% right: every confidence of dev is tried
def answer_or_abstain(dev, test, max_risk):
    def measure(part, threshold):
        confidence, right = part
        answered = confidence >= threshold
        wrong = int((answered & ~right).sum())
        return int(answered.sum()) / len(right), wrong / max(1, int(answered.sum()))

    allowed = [threshold for threshold in dev[0].tolist() if measure(dev, threshold)[1] <= max_risk]
    threshold = min(allowed, default=math.inf)
    return threshold, *measure(test, threshold)


# %% right: from the lowest upwards, and the first that fits
def answer_or_abstain(dev, test, max_risk):
    threshold = float("inf")
    for candidate in sorted(set(dev[0].tolist())):
        right = dev[1][dev[0] >= candidate]
        if 1 - right.double().mean().item() <= max_risk + 1e-9:
            threshold = candidate
            break
    given = test[1][test[0] >= threshold]
    if len(given) == 0:
        return threshold, 0.0, 0.0
    return threshold, len(given) / len(test[1]), (~given).double().mean().item()


# %% right: a table of all thresholds
# other: One table says who is answered at which threshold, with no loop; the solution measures dev and test by the same function, with memory for one threshold at a time.
def answer_or_abstain(dev, test, max_risk):
    thresholds = dev[0].unique()  # sorted, (k,)
    answered = dev[0] >= thresholds.unsqueeze(1)  # (k, n)
    risk = (answered & ~dev[1]).sum(dim=1).double() / answered.sum(dim=1)
    good = thresholds[risk <= max_risk]
    threshold = good[0] if len(good) else torch.tensor(torch.inf)
    answered = test[0] >= threshold
    wrong = (answered & ~test[1]).sum()
    return [threshold, answered.double().mean(), wrong / answered.sum().clamp(min=1)]


# %% right: as many wrong answers as are allowed
def answer_or_abstain(dev, test, max_risk):
    def counts(part, threshold):
        given = part[1][part[0] >= threshold]
        return len(given), int((~given).sum())

    threshold = math.inf
    for candidate in dev[0].tolist():
        given, wrong = counts(dev, candidate)
        if wrong <= max_risk * given:
            threshold = min(threshold, candidate)
    given, wrong = counts(test, threshold)
    return threshold, given / len(test[1]), wrong / given if given else 0.0


# %% right: the accuracy is at least 1 - max_risk
# of: as many wrong answers as are allowed
# ~ wrong <= max_risk * given => (given - wrong) / given >= 1 - max_risk

# %% right: one minus the accuracy
# ~ wrong <= max_risk * given => 1 - (given - wrong) / given <= max_risk

# %% right: the mean of numpy
# ~ wrong <= max_risk * given => (~dev[1][dev[0] >= candidate]).numpy().mean() <= max_risk

# %% right: a mean that stays a tensor
# ~ wrong <= max_risk * given => (~dev[1][dev[0] >= candidate]).float().mean() <= max_risk


# %% wrong: the wrong part -> the threshold is chosen on test
# hint: A threshold that has seen the answers of test keeps its promise there by construction, and nowhere else. Choose
# hint: on dev, measure on test.
def answer_or_abstain(dev, test, max_risk):
    def risk(threshold):
        given = test[1][test[0] >= threshold]
        return (~given).sum().item() / max(1, len(given))

    threshold = min((t for t in test[0].tolist() if risk(t) <= max_risk), default=math.inf)
    return threshold, (test[0] >= threshold).float().mean().item(), risk(threshold)


# %% wrong: more data is better -> the threshold is chosen on dev and test together
# hint: The answers of test took part in the choice. Choose on dev alone.
def answer_or_abstain(dev, test, max_risk):
    confidence, right = torch.cat([dev[0], test[0]]), torch.cat([dev[1], test[1]])

    def risk(confidence, right, threshold):
        given = right[confidence >= threshold]
        return (~given).sum().item() / max(1, len(given))

    threshold = min((t for t in confidence.tolist() if risk(confidence, right, t) <= max_risk), default=math.inf)
    return threshold, (test[0] >= threshold).float().mean().item(), risk(*test, threshold)


# %% wrong: test is never used -> coverage and risk are those of dev
# hint: On dev the risk is below max_risk because you chose it so. What it is worth shows on test.
# of: the wrong part
# ~ test[1][test[0] >= threshold] => dev[1][dev[0] >= threshold]
# ~ test[0]. => dev[0].
# ~ test[0] => dev[0]


# %% wrong: break -> it stops at the first threshold that is too risky
# hint: One wrong answer among the surest makes the risk high for a moment. Look at all thresholds, and take the lowest
# hint: that is good enough.
def answer_or_abstain(dev, test, max_risk):
    def risk(part, threshold):
        given = part[1][part[0] >= threshold]
        return (~given).sum().item() / max(1, len(given))

    threshold = math.inf
    for candidate in sorted(set(dev[0].tolist()), reverse=True):
        if risk(dev, candidate) > max_risk:
            break
        threshold = candidate
    return threshold, (test[0] >= threshold).float().mean().item(), risk(test, threshold)


# %% wrong: max -> the highest threshold in place of the lowest
# hint: The highest one answers hardly anybody. Of those with an allowed risk, take the lowest: it answers most.
def answer_or_abstain(dev, test, max_risk):
    def risk(part, threshold):
        given = part[1][part[0] >= threshold]
        return (~given).sum().item() / max(1, len(given))

    threshold = max((t for t in dev[0].tolist() if risk(dev, t) <= max_risk), default=math.inf)
    return threshold, (test[0] >= threshold).float().mean().item(), risk(test, threshold)


# %% wrong: larger than -> who is exactly at the threshold gets no answer
# hint: Confidence >= threshold: the person whose confidence is the threshold was counted when it was chosen.
def answer_or_abstain(dev, test, max_risk):
    threshold = min(
        (t for t in dev[0].tolist() if (~dev[1][dev[0] >= t]).double().mean().item() <= max_risk), default=math.inf
    )
    given = test[1][test[0] > threshold]
    return threshold, len(given) / len(test[0]), (~given).sum().item() / max(1, len(given))


# %% wrong: errors per person -> wrong answers as a share of all people
# hint: The risk is a share of the answers given, not of all who asked. Otherwise silence alone makes it small.
def answer_or_abstain(dev, test, max_risk):
    def risk(part, threshold):
        return ((part[0] >= threshold) & ~part[1]).float().mean().item()

    threshold = min((t for t in dev[0].tolist() if risk(dev, t) <= max_risk), default=math.inf)
    return threshold, (test[0] >= threshold).float().mean().item(), risk(test, threshold)


# %% wrong: mean of right -> risk and accuracy are confused
# hint: The risk is the share of wrong answers, not of right ones.
def answer_or_abstain(dev, test, max_risk):
    def share(part, threshold):
        given = part[1][part[0] >= threshold]
        return given.float().mean().item() if len(given) else 1.0

    threshold = min((t for t in dev[0].tolist() if share(dev, t) <= max_risk), default=math.inf)
    return threshold, (test[0] >= threshold).float().mean().item(), share(test, threshold)


# %% wrong: the order of the three -> risk before coverage
# hint: Three numbers, in this order: the threshold, the coverage on test, the risk on test.
def answer_or_abstain(dev, test, max_risk):
    c, r = dev
    t = min([t for t in c.tolist() if (~r[c >= t]).float().mean() <= max_risk], default=math.inf)
    given = test[1][test[0] >= t]
    return t, int((~given).sum()) / max(1, len(given)), len(given) / len(test[1])


# %% wrong: how many get an answer -> a count in place of the coverage
# hint: The coverage is a share: divide the number of answers by that of the people in test.
# of: the order of the three
# -    return t, int((~given).sum()) / max(1, len(given)), len(given) / len(test[1])
# +    return t, len(given), int((~given).sum()) / max(1, len(given))


# %% wrong: the curve of the exercise before -> people who are equally sure are taken one by one
# hint: A threshold cannot tell them apart: look at all with confidence >= threshold together.
def answer_or_abstain(dev, test, max_risk):
    order = dev[0].argsort(descending=True, stable=True)
    risk = (~dev[1][order]).cumsum(dim=0) / torch.arange(1, len(order) + 1)
    good = dev[0][order][risk <= max_risk]
    threshold = good.min().item() if len(good) else math.inf
    given = test[1][test[0] >= threshold]
    return threshold, len(given) / len(test[0]), (~given).sum().item() / max(1, len(given))


# %% wrong: a search that halves -> the thresholds are halved, as if the risk fell steadily
# hint: The risk goes up and down from one threshold to the next. Halving looks at a few of them only: look at all, and
# hint: take the lowest that is good enough.
# of: every confidence of dev is tried
# -    allowed = [threshold for threshold in dev[0].tolist() if measure(dev, threshold)[1] <= max_risk]
# -    threshold = min(allowed, default=math.inf)
# +    values = sorted(set(dev[0].tolist()))
# +    low, high = 0, len(values)
# +    while low < high:
# +        middle = (low + high) // 2
# +        if measure(dev, values[middle])[1] <= max_risk:
# +            high = middle
# +        else:
# +            low = middle + 1
# +    threshold = values[low] if low < len(values) else math.inf

# %% wrong: smaller than -> a risk that is exactly max_risk is refused
# hint: max_risk is the highest risk that is allowed: risk <= max_risk.
# of: max
# ~ max((t for t in dev[0].tolist() if risk(dev, t) <= => min((t for t in dev[0].tolist() if risk(dev, t) <

# %% wrong: an empty list has no minimum ->
# -    threshold = max((t for t in dev[0].tolist() if risk(dev, t) <= max_risk), default=math.inf)
# +    threshold = min(t for t in dev[0].tolist() if risk(dev, t) <= max_risk)


# %% wrong: the mean of nobody ->
def answer_or_abstain(dev, test, max_risk):
    c, r = dev
    ok = [t for t in c.tolist() if (~r[c >= t]).float().mean() <= max_risk]
    if not ok:
        return math.inf, 0.0, 0.0
    t = min(ok)
    given = test[1][test[0] >= t]
    return t, len(given) / len(test[1]), (~given).float().mean().item()


# %% wrong: one single answer is no evidence ->
def answer_or_abstain(dev, test, max_risk):
    c, r = dev
    ok = [t for t in c.tolist() if (c >= t).sum() > 1 and (~r[c >= t]).float().mean() <= max_risk]
    t = min(ok, default=math.inf)
    given = test[1][test[0] >= t]
    return t, len(given) / len(test[1]), int((~given).sum()) / max(1, len(given))


# %% wrong: sorts the parts in place ->
def answer_or_abstain(dev, test, max_risk):
    order = dev[0].argsort(descending=True)
    dev[0].copy_(dev[0][order])
    dev[1].copy_(dev[1][order])
    c, r = dev
    t = min([t for t in c.tolist() if (~r[c >= t]).float().mean() <= max_risk], default=math.inf)
    given = test[1][test[0] >= t]
    return t, len(given) / len(test[1]), int((~given).sum()) / max(1, len(given))


# %% wrong: person by person, of equally sure ones the wrong first ->
def answer_or_abstain(
    dev: tuple[Tensor, Tensor], test: tuple[Tensor, Tensor], max_risk: float
) -> tuple[float, float, float]:
    people = sorted(zip(dev[0].tolist(), dev[1].tolist()), key=lambda one: (-one[0], one[1]))
    threshold, wrong = math.inf, 0
    for given, (confidence, good) in enumerate(people, start=1):
        wrong += not good
        if wrong / given <= max_risk:
            threshold = confidence
    answered = test[0] >= threshold
    n = int(answered.sum())
    return threshold, n / len(answered), int((~test[1] & answered).sum()) / n if n else 0.0


# %% wrong: a threshold of 0 counts as none ->
def answer_or_abstain(
    dev: tuple[Tensor, Tensor], test: tuple[Tensor, Tensor], max_risk: float
) -> tuple[float, float, float]:
    confidence, right = dev
    fit = (
        level
        for level in sorted(set(confidence.tolist()))
        if int((~right[confidence >= level]).sum()) / int((confidence >= level).sum()) <= max_risk
    )
    threshold = next(fit, None) or math.inf
    given = test[0] >= threshold
    wrong = int((given & ~test[1]).sum())
    return threshold, int(given.sum()) / len(given), wrong / max(1, int(given.sum()))


# %% wrong: the risk in two digits ->
def answer_or_abstain(dev, test, max_risk):
    confidence, right = dev
    threshold = math.inf
    for one in confidence.tolist():
        given = right[confidence >= one]
        if round((~given).sum().item() / len(given), 2) <= max_risk:
            threshold = min(threshold, one)
    answered = test[1][test[0] >= threshold]
    wrong = (~answered).sum().item()
    return threshold, len(answered) / len(test[1]), wrong / max(1, len(answered))


# %% wrong: the share in single precision ->
def answer_or_abstain(dev, test, max_risk):
    def risk(part, threshold):
        given = part[1][part[0] >= threshold]
        return (~given).float().mean().item() if len(given) else 0.0

    threshold = min((t for t in dev[0].tolist() if risk(dev, t) <= max_risk), default=math.inf)
    return threshold, (test[0] >= threshold).float().mean().item(), risk(test, threshold)


# %% wrong: one minus the accuracy in single precision ->
# of: the share in single precision
# ~ (~given).float().mean().item() => 1 - given.float().mean().item()

# %% wrong: confidences of right answers alone are tried ->
# of: every confidence of dev is tried
# ~ in dev[0].tolist() => in sorted(dev[0][dev[1]].tolist())

# %% wrong: confidences of wrong answers alone are tried ->
# ~ in dev[0].tolist() => in sorted(dev[0][~dev[1]].tolist())


# %% wrong: one wrong answer among the first ten is too much ->
def answer_or_abstain(dev, test, max_risk):
    confidence, right = dev
    order = confidence.argsort(descending=True).tolist()
    threshold, wrong = math.inf, 0
    for count, person in enumerate(order, 1):
        wrong += not right[person]
        if wrong / count > max(max_risk, 0.6):
            break
        if wrong / count <= max_risk and not any(confidence[other] == confidence[person] for other in order[count:]):
            threshold = confidence[person].item()
    answered = test[1][test[0] >= threshold]
    return threshold, len(answered) / len(test[1]), (~answered).sum().item() / max(1, len(answered))
