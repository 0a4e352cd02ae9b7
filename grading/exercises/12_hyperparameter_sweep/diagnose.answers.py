# %% right: four lines
def diagnose(train_loss, dev_loss):
    if not train_loss[-1] <= 0.8 * train_loss[0]:
        return "fails to train"
    if dev_loss[-1] > 1.1 * min(dev_loss):
        return "overfits"
    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"


# %% right: with math.isnan and ratios
# other: It asks for NaN explicitly, and the ratios have names; in the solution `not ... <= ...` is true for NaN as well, and nothing is divided.
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
# hint: This is the published mistake. A model that overfits has learned its training set by heart: look first whether
# hint: the training loss has fallen at all.
def diagnose(train_loss, dev_loss):
    if not train_loss[-1] <= 0.8 * train_loss[0] or dev_loss[-1] > 1.1 * min(dev_loss):
        return "overfits"
    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"


# %% wrong: high means underfitting -> a run that never trained is said to underfit
# hint: An unfinished run still falls, and more epochs help it. A flat one needs a repair, not more epochs.
# ~ fails to train => underfits

# %% wrong: two questions only -> there is no test for a failed run
# hint: First ask whether the training loss has fallen to 80 % of its first value or below.
# of: the published sentence
# ~ not train_loss[-1] <= 0.8 * train_loss[0] or dev_loss => dev_loss

# %% wrong: > in place of not <= -> NaN goes unnoticed
# hint: nan > 3 is False, and so is nan <= 3. Write the test the other way round: not (last <= 0.8 * first).
# of: four lines
# ~ not train_loss[-1] <= => train_loss[-1] >

# %% wrong: dev in place of train -> the dev loss decides whether it trains
# hint: Whether a model trains is seen on the training loss. A dev loss that ends high may also be overfitting.
# ~ train_loss[-1] <= 0.8 * train_loss => dev_loss[-1] <= 0.8 * dev_loss

# %% wrong: dev above train -> a gap is taken for overfitting
# hint: The dev loss is nearly always above the training loss. It overfits when the dev loss *rises*.
# ~ min => train_loss[-1] or dev_loss[-1] > 1.1 * min

# %% wrong: not the lowest -> any rise is taken for overfitting
# hint: A dev loss moves a little by chance. Overfitting begins 10 % above the lowest one.
# ~ 1.1 * min => min

# %% wrong: last against first -> the last dev loss is compared with the first
# hint: Even a run that overfits badly ends below its first dev loss. Compare with the lowest one.
# ~ min(dev_loss) => dev_loss[0]

# %% wrong: 10 % above the one before -> the last dev loss is compared with the one before, for overfitting
# hint: A dev loss may rise by a few per cent in each of many epochs. Compare with the lowest of the run.
# ~ min(dev_loss) => dev_loss[-2]

# %% wrong: lower than after the first epoch -> whether the dev loss still falls is judged by the first epoch
# hint: Nearly every dev loss ends far below its first value. It still falls if it is more than 5 % below the one
# hint: before: dev_loss[-2].
# ~ [-2] => [0]

# %% wrong: margins of 0.1 and 0.05 -> margins in nats in place of per cent
# hint: 10 % of a loss of 4 are 0.4, of a loss of 1 they are 0.1. Compare with 1.1 times the lowest loss and with 0.95
# hint: times the one before.
# ~ > 1.1 * min(dev_loss) => - min(dev_loss) > 0.1
# ~ [-1] < 0.95 * dev_loss[-2] => [-2] - dev_loss[-1] > 0.05

# %% wrong: five per cent are taken for 0.05 -> a fall of 0.05 nats in place of 5 %
# hint: 5 % of a loss of 4 are 0.2, of a loss of 0.1 they are 0.005. Compare with 0.95 times the one before.
# ~ [-1] < 0.95 * dev_loss[-2] => [-2] - dev_loss[-1] > 0.05

# %% wrong: below 80 % -> exactly 80 % of the first training loss is called a failure
# hint: At most 80 % has 80 % in it: compare with <=.
# ~ <= 0 => < 0

# %% wrong: train still falls -> underfitting is judged by the training loss
# hint: The training loss goes on falling also when there is nothing more to gain. Look at the dev loss.
# ~ dev_loss[-1] < 0.95 * dev_loss => train_loss[-1] < 0.95 * train_loss

# %% wrong: lower than before -> any fall is taken for underfitting
# hint: A dev loss often falls by one or two per cent to the very end. Underfitting begins at 5 %.
# ~ 0.95 * dev_loss => dev_loss

# %% wrong: overfits only while it rises ->
# ~ (dev_loss): => (dev_loss) and dev_loss[-1] > dev_loss[-2]:

# %% wrong: NaN is looked for in dev ->
# ~ not train_loss[-1] <= 0.8 * train_loss[0] => train_loss[-1] > 0.8 * train_loss[0] or math.isnan(dev_loss[-1])

# %% wrong: 80 % of the highest ->
# ~ train_loss[0] => max(train_loss)

# %% wrong: falls below the lowest of all before ->
# ~ dev_loss[-2] => min(dev_loss[:-1])

# %% wrong: overfits only with a low training loss ->
# ~ (dev_loss): => (dev_loss) and train_loss[-1] < 1.5:

# %% wrong: any loss that is no number ->
# ~ not => any(math.isnan(loss) for loss in train_loss) or not


# %% wrong: the four questions in another order ->
def diagnose(train_loss, dev_loss):
    if dev_loss[-1] > 1.1 * min(dev_loss):
        return "overfits"
    if not train_loss[-1] <= 0.8 * train_loss[0]:
        return "fails to train"
    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"


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
# ~ (train_loss, dev_loss) => (train_loss: list[float], dev_loss: list[float]) -> str
# ~ dev_loss[-1] > 1.1 * min(dev_loss) => min(dev_loss) < 0.9 * dev_loss[-1]

# %% wrong: the lowest from the second epoch on ->
# ~ (train_loss, dev_loss) => (train_loss: list[float], dev_loss: list[float]) -> str
# ~ (dev_loss) => (dev_loss[1:])


# %% wrong: overfits only while the training loss falls ->
def diagnose(train_loss: list[float], dev_loss: list[float]) -> str:
    best = dev_loss.index(min(dev_loss))
    if not train_loss[-1] <= 0.8 * train_loss[0]:
        return "fails to train"
    if dev_loss[-1] > 1.1 * dev_loss[best] and train_loss[-1] < train_loss[best]:
        return "overfits"
    return "underfits" if dev_loss[-1] < 0.95 * dev_loss[-2] else "fits"


# %% wrong: once far above its lowest, for ever ->
# of: ten per cent of the last
# -    if min(dev_loss) < 0.9 * dev_loss[-1]:
# +    best = dev_loss.index(min(dev_loss))
# +    if max(dev_loss[best:]) > 1.1 * dev_loss[best]:


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


# %% wrong: only the first 250 epochs are read ->
# of: the share is rounded to whole per cents
# ~ (train_loss: list[float], dev_loss: list[float]) -> str => (train_loss, dev_loss)
# ~ share = train_loss[-1] / train_loss[0] => train_loss, dev_loss = train_loss[:250], dev_loss[:250]
# ~ round(share, 2) <= 0.8 => train_loss[-1] <= 0.8 * train_loss[0]

# %% wrong: the lowest of the last ten epochs ->
# of: four lines
# ~ (train_loss, dev_loss) => (train_loss: list[float], dev_loss: list[float]) -> str
# ~ (dev_loss) => (dev_loss[-10:])

# %% wrong: overfits only where the training loss still falls below its dev loss ->
# ~ (train_loss, dev_loss) => (train_loss: list[float], dev_loss: list[float]) -> str
# ~ (dev_loss): => (dev_loss) and train_loss[-1] < dev_loss[-1]:
