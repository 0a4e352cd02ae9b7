# %% right: four lines
def diagnose(train_loss, dev_loss):
    if not train_loss[-1] <= 0.8 * train_loss[0]:
        return "fails to train"
    if dev_loss[-1] > 1.1 * min(dev_loss):
        return "overfits"
    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"


# %% right: with math.isnan and ratios
def diagnose(train_loss, dev_loss):
    import math

    last = train_loss[-1]
    if math.isnan(last) or last / train_loss[0] > 0.8:
        return "fails to train"
    above_lowest = dev_loss[-1] / min(dev_loss) - 1
    if above_lowest > 0.1:
        return "overfits"
    gain = 1 - dev_loss[-1] / dev_loss[-2]
    if gain > 0.05:
        return "underfits"
    return "fits"


# %% right: with tensors
def diagnose(train_loss, dev_loss):
    learned = torch.tensor(train_loss)
    unseen = torch.tensor(dev_loss)
    fallen = bool(learned[-1] <= 0.8 * learned[0])
    risen = bool(unseen[-1] > 1.1 * unseen.min())
    falling = bool(unseen[-1] < 0.95 * unseen[-2])
    return "fails to train" if not fallen else "overfits" if risen else "underfits" if falling else "fits"


# %% right: the epochs of both lists side by side
def diagnose(train_loss, dev_loss):
    first, *_, (_, before), last = zip(train_loss, dev_loss, strict=True)
    lowest = min(dev for _, dev in zip(train_loss, dev_loss))
    if last[0] <= 0.8 * first[0]:
        if last[1] <= 1.1 * lowest:
            return "underfits" if last[1] < 0.95 * before else "fits"
        return "overfits"
    return "fails to train"


# %% right: a table with a row for each epoch
def diagnose(train_loss, dev_loss):
    runs = pd.DataFrame({"train": train_loss, "dev": dev_loss})
    last = runs.iloc[-1]
    if not last["train"] <= 0.8 * runs["train"].iloc[0]:
        return "fails to train"
    if last["dev"] > 1.1 * runs["dev"].min():
        return "overfits"
    return "underfits" if last["dev"] < 0.95 * runs["dev"].iloc[-2] else "fits"


# %% wrong: the published sentence -> a run that never trained is said to overfit
def diagnose(train_loss, dev_loss):
    if not train_loss[-1] <= 0.8 * train_loss[0] or dev_loss[-1] > 1.1 * min(dev_loss):
        return "overfits"
    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"


# %% wrong: high means underfitting -> a run that never trained is said to underfit
# of: four lines
# -        return "fails to train"
# +        return "underfits"


# %% wrong: two questions only -> there is no test for a failed run
def diagnose(train_loss, dev_loss):
    if dev_loss[-1] > 1.1 * min(dev_loss):
        return "overfits"
    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"


# %% wrong: > in place of not <= -> NaN goes unnoticed
# of: four lines
# -    if not train_loss[-1] <= 0.8 * train_loss[0]:
# +    if train_loss[-1] > 0.8 * train_loss[0]:


# %% wrong: dev in place of train -> the dev loss decides whether it trains
# of: four lines
# -    if not train_loss[-1] <= 0.8 * train_loss[0]:
# +    if not dev_loss[-1] <= 0.8 * dev_loss[0]:


# %% wrong: dev above train -> a gap is taken for overfitting
# of: four lines
# -    if dev_loss[-1] > 1.1 * min(dev_loss):
# +    if dev_loss[-1] > 1.1 * train_loss[-1] or dev_loss[-1] > 1.1 * min(dev_loss):


# %% wrong: not the lowest -> any rise is taken for overfitting
# of: four lines
# -    if dev_loss[-1] > 1.1 * min(dev_loss):
# +    if dev_loss[-1] > min(dev_loss):


# %% wrong: last against first -> the last dev loss is compared with the first
# of: four lines
# -    if dev_loss[-1] > 1.1 * min(dev_loss):
# +    if dev_loss[-1] > 1.1 * dev_loss[0]:


# %% wrong: train still falls -> underfitting is judged by the training loss
# of: four lines
# -    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"
# +    return "underfits" if train_loss[-1] < 0.95 * train_loss[-2] else "fits"


# %% wrong: lower than before -> any fall is taken for underfitting
# of: four lines
# -    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"
# +    return "underfits" if dev_loss[-1] < dev_loss[-2] else "fits"


# %% wrong: one word for all ->
def diagnose(train_loss, dev_loss):
    return "fits"


# %% wrong: other words ->
def diagnose(train_loss, dev_loss):
    if not train_loss[-1] <= 0.8 * train_loss[0]:
        return "failure"
    return "overfitting" if dev_loss[-1] > 1.1 * min(dev_loss) else "good"


# %% wrong: margins of 0.1 and 0.05 -> margins in nats in place of per cent
def diagnose(train_loss, dev_loss):
    if not train_loss[-1] <= 0.8 * train_loss[0]:
        return "fails to train"
    if dev_loss[-1] - min(dev_loss) > 0.1:
        return "overfits"
    return "underfits" if dev_loss[-2] - dev_loss[-1] > 0.05 else "fits"


# %% wrong: 10 % above the one before -> the last dev loss is compared with the one before, for overfitting
# of: four lines
# -    if dev_loss[-1] > 1.1 * min(dev_loss):
# +    if dev_loss[-1] > 1.1 * dev_loss[-2]:


# %% wrong: overfits only while it rises ->
# of: four lines
# -    if dev_loss[-1] > 1.1 * min(dev_loss):
# +    if dev_loss[-1] > 1.1 * min(dev_loss) and dev_loss[-1] > dev_loss[-2]:


# %% wrong: NaN is looked for in dev ->
# of: four lines
# -    if not train_loss[-1] <= 0.8 * train_loss[0]:
# +    if train_loss[-1] > 0.8 * train_loss[0] or math.isnan(dev_loss[-1]):


# %% wrong: 80 % of the highest ->
# of: four lines
# -    if not train_loss[-1] <= 0.8 * train_loss[0]:
# +    if not train_loss[-1] <= 0.8 * max(train_loss):


# %% wrong: below 80 % -> exactly 80 % of the first training loss is called a failure
# of: four lines
# -    if not train_loss[-1] <= 0.8 * train_loss[0]:
# +    if not train_loss[-1] < 0.8 * train_loss[0]:


# %% wrong: falls below the lowest of all before ->
# of: four lines
# -    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"
# +    return "underfits" if dev_loss[-1] < 0.95 * min(dev_loss[:-1]) else "fits"


# %% wrong: overfits only with a low training loss ->
# of: four lines
# -    if dev_loss[-1] > 1.1 * min(dev_loss):
# +    if dev_loss[-1] > 1.1 * min(dev_loss) and train_loss[-1] < 1.5:


# %% wrong: any loss that is no number ->
# of: four lines
# -    if not train_loss[-1] <= 0.8 * train_loss[0]:
# +    if any(math.isnan(loss) for loss in train_loss) or not train_loss[-1] <= 0.8 * train_loss[0]:


# %% wrong: the four questions in another order ->
def diagnose(train_loss, dev_loss):
    if dev_loss[-1] > 1.1 * min(dev_loss):
        return "overfits"
    if not train_loss[-1] <= 0.8 * train_loss[0]:
        return "fails to train"
    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"


# %% wrong: the same to everybody ->
def diagnose(train_loss, dev_loss):
    return "fits"


# %% wrong: per cent of the last ->
def diagnose(train_loss: list[float], dev_loss: list[float]) -> str:
    *_, before, last = dev_loss
    if not train_loss[-1] <= 0.8 * train_loss[0]:
        return "fails to train"
    if last > 1.1 * min(dev_loss):
        return "overfits"
    if before > 1.05 * last:
        return "underfits"
    return "fits"


# %% wrong: ten per cent of the last ->
def diagnose(train_loss: list[float], dev_loss: list[float]) -> str:
    if not train_loss[-1] <= 0.8 * train_loss[0]:
        return "fails to train"
    if min(dev_loss) < 0.9 * dev_loss[-1]:
        return "overfits"
    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"


# %% wrong: the lowest from the second epoch on ->
# of: ten per cent of the last
# -    if min(dev_loss) < 0.9 * dev_loss[-1]:
# +    if dev_loss[-1] > 1.1 * min(dev_loss[1:]):


# %% wrong: below the mean of the two before ->
def diagnose(train_loss: list[float], dev_loss: list[float]) -> str:
    if not train_loss[-1] <= 0.8 * train_loss[0]:
        return "fails to train"
    if dev_loss[-1] > 1.1 * min(dev_loss):
        return "overfits"
    return "underfits" if dev_loss[-1] < 0.95 * sum(dev_loss[-3:-1]) / 2 else "fits"


# %% wrong: overfits only while the training loss falls ->
def diagnose(train_loss: list[float], dev_loss: list[float]) -> str:
    best = dev_loss.index(min(dev_loss))
    if not train_loss[-1] <= 0.8 * train_loss[0]:
        return "fails to train"
    if dev_loss[-1] > 1.1 * dev_loss[best] and train_loss[-1] < train_loss[best]:
        return "overfits"
    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"


# %% wrong: once far above its lowest, for ever ->
def diagnose(train_loss: list[float], dev_loss: list[float]) -> str:
    if not train_loss[-1] <= 0.8 * train_loss[0]:
        return "fails to train"
    best = dev_loss.index(min(dev_loss))
    if max(dev_loss[best:]) > 1.1 * dev_loss[best]:
        return "overfits"
    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"


# %% wrong: a fall by a fifth of the last ->
def diagnose(train_loss: list[float], dev_loss: list[float]) -> str:
    if not (train_loss[0] - train_loss[-1]) / train_loss[-1] >= 0.2:
        return "fails to train"
    if dev_loss[-1] > 1.1 * min(dev_loss):
        return "overfits"
    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"


# %% wrong: the share is rounded to whole per cents ->
def diagnose(train_loss: list[float], dev_loss: list[float]) -> str:
    share = train_loss[-1] / train_loss[0]
    if not round(share, 2) <= 0.8:
        return "fails to train"
    if dev_loss[-1] > 1.1 * min(dev_loss):
        return "overfits"
    if dev_loss[-1] < 0.95 * dev_loss[-2]:
        return "underfits"
    return "fits"


# %% wrong: lower than after the first epoch -> whether the dev loss still falls is judged by the first epoch
# of: four lines
# -    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"
# +    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[0] else "fits"
# %% wrong: only the first 250 epochs are read ->
def diagnose(train_loss, dev_loss):
    train_loss, dev_loss = train_loss[:250], dev_loss[:250]
    if not train_loss[-1] <= 0.8 * train_loss[0]:
        return "fails to train"
    if dev_loss[-1] > 1.1 * min(dev_loss):
        return "overfits"
    if dev_loss[-1] < 0.95 * dev_loss[-2]:
        return "underfits"
    return "fits"


# %% wrong: five per cent are taken for 0.05 -> a fall of 0.05 nats in place of 5 %
# of: four lines
# -    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"
# +    return "underfits" if dev_loss[-2] - dev_loss[-1] > 0.05 else "fits"


# %% wrong: any epoch at 80 % ->
def diagnose(train_loss: list[float], dev_loss: list[float]) -> str:
    if not any(loss <= 0.8 * train_loss[0] for loss in train_loss):
        return "fails to train"
    if dev_loss[-1] > 1.1 * min(dev_loss):
        return "overfits"
    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"


# %% wrong: the lowest of the last ten epochs ->
# of: any epoch at 80 %
# -    if not any(loss <= 0.8 * train_loss[0] for loss in train_loss):
# +    if not train_loss[-1] <= 0.8 * train_loss[0]:
# ...
# -    if dev_loss[-1] > 1.1 * min(dev_loss):
# +    if dev_loss[-1] > 1.1 * min(dev_loss[-10:]):


# %% wrong: overfits only where the training loss still falls below its dev loss ->
# of: any epoch at 80 %
# -    if not any(loss <= 0.8 * train_loss[0] for loss in train_loss):
# +    if not train_loss[-1] <= 0.8 * train_loss[0]:
# ...
# -    if dev_loss[-1] > 1.1 * min(dev_loss):
# +    if dev_loss[-1] > 1.1 * min(dev_loss) and train_loss[-1] < dev_loss[-1]:


# %% wrong: NaN is dropped from the curve -> NaN goes unnoticed
def diagnose(train_loss: list[float], dev_loss: list[float]) -> str:
    known = [loss for loss in train_loss if not math.isnan(loss)]
    if known[-1] > 0.8 * known[0]:
        return "fails to train"
    if dev_loss[-1] > 1.1 * min(dev_loss):
        return "overfits"
    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"


# %% wrong: bounds rounded to two digits ->
def diagnose(train_loss: list[float], dev_loss: list[float]) -> str:
    if not round(train_loss[-1] / train_loss[0], 2) <= 0.8:
        return "fails to train"
    if round(dev_loss[-1] / min(dev_loss), 2) > 1.1:
        return "overfits"
    return "underfits" if round(dev_loss[-1] / dev_loss[-2], 2) < 0.95 else "fits"


# %% wrong: the mean of the first two epochs ->
# of: any epoch at 80 %
# -    if not any(loss <= 0.8 * train_loss[0] for loss in train_loss):
# +    if not train_loss[-1] <= 0.8 * (train_loss[0] + train_loss[1]) / 2:
