# %% right: one difference for each example
def paired_bootstrap(right_a, right_b, samples):
    difference = right_a.double() - right_b.double()  # 1, 0 or -1
    means = difference[samples].mean(dim=1)  # one for each drawn test set
    low, high = torch.quantile(means, torch.tensor([0.025, 0.975], dtype=torch.double)).tolist()
    return difference.mean().item(), low, high


# %% right: two accuracies for each draw
# other: It computes both accuracies and subtracts; the solution subtracts first, example by example, which shows why equal errors cancel.
def paired_bootstrap(right_a, right_b, samples):
    a, b = right_a.double(), right_b.double()
    differences = a[samples].mean(1) - b[samples].mean(1)
    low = torch.quantile(differences, 0.025)
    high = torch.quantile(differences, 0.975)
    return float(a.mean() - b.mean()), float(low), float(high)


# %% right: draw after draw, with numpy's quantiles
def paired_bootstrap(right_a, right_b, samples):
    import numpy as np

    a, b = right_a.tolist(), right_b.tolist()
    found = []
    for sample in samples.tolist():
        found.append(sum(a[i] - b[i] for i in sample) / len(sample))
    low, high = np.quantile(found, [0.025, 0.975])
    return (sum(a) - sum(b)) / len(a), float(low), float(high)


# %% wrong: b minus a -> b minus a
# hint: The question is whether a is better: its accuracy minus that of b.
# ~ right_a.double() - right_b.double() => right_b.double() - right_a.double()

# %% wrong: 5 % on each side -> five per cent on each side
# hint: An interval of 95 % leaves out 5 % in all: 2.5 % on each side.
# ~ [0.025, 0.975] => [0.05, 0.95]

# %% wrong: smallest and largest -> from the smallest to the largest
# hint: The interval leaves out 2.5 % of the differences on each side.
# ~ [0.025, 0.975] => [0.0, 1.0]

# %% wrong: two standard deviations -> two standard deviations
# hint: The interval is read off the drawn differences themselves: their quantiles, without assuming a bell.
# -    low, high = torch.quantile(means, torch.tensor([0.025, 0.975], dtype=torch.double)).tolist()
# +    width = 1.96 * means.std(correction=0).item()
# +    low, high = means.mean().item() - width, means.mean().item() + width

# %% wrong: the interval of a alone -> the interval of a alone
# hint: Wanted is the interval of the difference: a minus b, example by example.
# ~ means = difference[samples].mean(dim=1) => means = right_a.double()[samples].mean(dim=1)

# %% wrong: limits of a minus limits of b -> limits of each, and then the difference
# hint: Limits cannot be subtracted: take the difference in each drawn test set, and then its quantiles.
# ~ means = difference[samples].mean(dim=1) => a, b = right_a.double()[samples].mean(dim=1), right_b.double()[samples].mean(dim=1)
# ~ low, high = torch.quantile(means, torch.tensor([0.025, 0.975], dtype=torch.double)).tolist() => low, high = [float(torch.quantile(a, q) - torch.quantile(b, q)) for q in (0.025, 0.975)]

# %% wrong: b drawn by itself -> each model has a draw of its own
# hint: Both models are measured on the same drawn examples: that is what *paired* means.
# ~ means = difference[samples].mean(dim=1) => means = right_a.double()[samples].mean(dim=1) - right_b.double()[samples.roll(1, dims=0)].mean(dim=1)

# %% wrong: the amount of the difference -> the amount of the difference
# hint: Where a is worse the difference is negative, and is wanted with its sign.
# ~ means = difference[samples].mean(dim=1) => means = difference[samples].mean(dim=1).abs()

# %% wrong: the mean of the draws -> the mean of the draws in place of the difference
# hint: The first value is what was measured on the test set itself; the draws make only the interval.
# ~ return difference.mean().item(), => return means.mean().item(),

# %% wrong: each example once -> an example that is drawn twice counts once
# hint: A drawn test set has n examples, some of them twice: each counts as often as it is drawn, `difference[samples]`.
# ~ means = difference[samples].mean(dim=1) => means = torch.stack([difference[sample.unique()].mean() for sample in samples])

# %% wrong: counts in place of shares -> sums in place of means
# hint: Accuracies are shares: divide by the number of examples.
# ~ difference[samples].mean(dim=1) => difference[samples].sum(dim=1)


# %% right: counts of wins and losses in each draw
def paired_bootstrap(right_a, right_b, samples):
    only_a, only_b = right_a & ~right_b, right_b & ~right_a
    n = samples.size(1)
    shares = sorted(((only_a[row].sum() - only_b[row].sum()).item() / n) for row in samples)

    def at(share):
        place = share * (len(shares) - 1)
        below = int(place)
        above = min(below + 1, len(shares) - 1)
        return shares[below] + (place - below) * (shares[above] - shares[below])

    return (int(right_a.sum()) - int(right_b.sum())) / len(right_a), at(0.025), at(0.975)


# %% wrong: the nearest drawn difference, without interpolation ->
# of: one difference for each example
# ~ torch.tensor([0.025, 0.975], dtype=torch.double)) => torch.tensor([0.025, 0.975], dtype=torch.double), interpolation="nearest")

# %% wrong: only where they differ ->
# of: one difference for each example
# ~ means = difference[samples].mean(dim=1) => means = difference[samples].sum(dim=1) / difference[samples].ne(0).sum(dim=1).clamp(min=1)

# %% wrong: rounded to three digits -> the values are rounded
# hint: Return the values with all their digits: only who prints them rounds.
# of: one difference for each example
# ~ return difference.mean().item(), low, high => return tuple(round(value, 3) for value in (difference.mean().item(), low, high))

# %% wrong: limits turned round the difference -> the limits are turned round the difference
# hint: The limits are the quantiles of the drawn differences themselves, not what lies as far on the other side.
# of: one difference for each example
# ~ return difference.mean().item(), low, high => return difference.mean().item(), 2 * difference.mean().item() - high, 2 * difference.mean().item() - low

# %% wrong: a mean over the draws -> the mean over the wrong axis
# hint: A row of `samples` is a drawn test set. The mean of each row is over axis 1: one difference for each draw.
# of: one difference for each example
# ~ .mean(dim=1) => .mean(dim=0)

# %% wrong: drawn anew ->
# of: one difference for each example
# ~ difference[samples] => difference[samples.flip(0) * 7 % len(difference)]

# %% wrong: 1.96 standard deviations around the difference -> two standard deviations around the difference
# hint: The limits are quantiles of the drawn differences: their spread alone would make both sides equally wide.
# of: one difference for each example
# -    low, high = torch.quantile(means, torch.tensor([0.025, 0.975], dtype=torch.double)).tolist()
# +    width = 1.96 * means.std().item()
# +    low, high = difference.mean().item() - width, difference.mean().item() + width

# %% wrong: examples on which they differ -> the share on which both differ
# hint: Where b alone is right, the difference is -1, not 1: subtract what is right of b from what is right of a.
# of: one difference for each example
# ~ right_a.double() - right_b.double() => (right_a ^ right_b).double()
