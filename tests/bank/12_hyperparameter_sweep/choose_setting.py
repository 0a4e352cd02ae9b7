# %% right: with statistics
def choose_setting(scores):
    from math import sqrt
    from statistics import mean, stdev

    best = max(scores.values(), key=lambda row: mean(row["dev_bleu"]))
    limit = mean(best["dev_bleu"]) - stdev(best["dev_bleu"]) / sqrt(len(best["dev_bleu"]))
    near = [name for name in scores if mean(scores[name]["dev_bleu"]) >= limit]
    return min(near, key=lambda name: scores[name]["parameters"])


# %% right: with pandas
def choose_setting(scores):
    table = pd.DataFrame(scores).T
    mean = table["dev_bleu"].map(lambda runs: pd.Series(runs).mean())
    best = mean.astype(float).idxmax()
    near = table[mean >= mean[best] - pd.Series(scores[best]["dev_bleu"]).sem()]
    return near["parameters"].astype(int).idxmin()


# %% right: with tensors and a loop
def choose_setting(scores):
    means, errors = {}, {}
    for name, row in scores.items():
        runs = torch.tensor(row["dev_bleu"], dtype=torch.float64)
        means[name] = float(runs.mean())
        errors[name] = float(runs.std() / len(runs) ** 0.5)
    best = max(means, key=means.get)
    chosen = best
    for name, row in scores.items():
        close = means[name] >= means[best] - errors[best]
        if close and row["parameters"] < scores[chosen]["parameters"]:
            chosen = name
    return chosen


# %% right: sorted by size
def choose_setting(scores):
    def mean(runs):
        return sum(runs) / len(runs)

    best = max((row["dev_bleu"] for row in scores.values()), key=mean)
    n = len(best)
    variance = sum((run - mean(best)) ** 2 for run in best) / (n - 1)
    limit = mean(best) - (variance / n) ** 0.5
    for name in sorted(scores, key=lambda name: scores[name]["parameters"]):
        if mean(scores[name]["dev_bleu"]) >= limit:
            return name


# %% wrong: test in place of dev -> the choice is made on test
def choose_setting(scores):
    from statistics import mean, stdev

    best = max(scores.values(), key=lambda row: mean(row["test_bleu"]))
    limit = mean(best["test_bleu"]) - stdev(best["test_bleu"]) / len(best["test_bleu"]) ** 0.5
    near = [name for name in scores if mean(scores[name]["test_bleu"]) >= limit]
    return min(near, key=lambda name: scores[name]["parameters"])


# %% wrong: highest mean -> the highest mean wins, however close the others are
def choose_setting(scores):
    return max(scores, key=lambda name: sum(scores[name]["dev_bleu"]) / len(scores[name]["dev_bleu"]))


# %% wrong: highest test -> the highest test score wins
def choose_setting(scores):
    return max(scores, key=lambda name: sum(scores[name]["test_bleu"]) / len(scores[name]["test_bleu"]))


# %% wrong: best run, with the rule -> the best single run decides
def choose_setting(scores):
    from statistics import stdev

    best = max(scores.values(), key=lambda row: max(row["dev_bleu"]))
    limit = max(best["dev_bleu"]) - stdev(best["dev_bleu"]) / len(best["dev_bleu"]) ** 0.5
    near = [name for name in scores if max(scores[name]["dev_bleu"]) >= limit]
    return min(near, key=lambda name: scores[name]["parameters"])


# %% wrong: best run -> the highest single run wins
def choose_setting(scores):
    return max(scores, key=lambda name: max(scores[name]["dev_bleu"]))


# %% wrong: no root of n -> the standard deviation is taken for the standard error
def choose_setting(scores):
    from statistics import mean, stdev

    best = max(scores.values(), key=lambda row: mean(row["dev_bleu"]))
    limit = mean(best["dev_bleu"]) - stdev(best["dev_bleu"])
    near = [name for name in scores if mean(scores[name]["dev_bleu"]) >= limit]
    return min(near, key=lambda name: scores[name]["parameters"])


# %% wrong: each its own -> each setting brings its own standard error
def choose_setting(scores):
    from statistics import mean, stdev

    highest = max(mean(row["dev_bleu"]) for row in scores.values())

    def close(row):
        return mean(row["dev_bleu"]) + stdev(row["dev_bleu"]) / len(row["dev_bleu"]) ** 0.5 >= highest

    near = [name for name in scores if close(scores[name])]
    return min(near, key=lambda name: scores[name]["parameters"])


# %% wrong: max for min -> the largest of the equally good ones
def choose_setting(scores):
    from statistics import mean, stdev

    best = max(scores.values(), key=lambda row: mean(row["dev_bleu"]))
    limit = mean(best["dev_bleu"]) - stdev(best["dev_bleu"]) / len(best["dev_bleu"]) ** 0.5
    near = [name for name in scores if mean(scores[name]["dev_bleu"]) >= limit]
    return max(near, key=lambda name: scores[name]["parameters"])


# %% wrong: smallest of all -> the smallest setting wins, however bad
def choose_setting(scores):
    return min(scores, key=lambda name: scores[name]["parameters"])


# %% wrong: the row -> the scores are returned in place of the name
def choose_setting(scores):
    from statistics import mean, stdev

    best = max(scores.values(), key=lambda row: mean(row["dev_bleu"]))
    limit = mean(best["dev_bleu"]) - stdev(best["dev_bleu"]) / len(best["dev_bleu"]) ** 0.5
    near = [row for row in scores.values() if mean(row["dev_bleu"]) >= limit]
    return min(near, key=lambda row: row["parameters"])


# %% wrong: all that are close ->
def choose_setting(scores):
    from statistics import mean, stdev

    best = max(scores.values(), key=lambda row: mean(row["dev_bleu"]))
    limit = mean(best["dev_bleu"]) - stdev(best["dev_bleu"]) / len(best["dev_bleu"]) ** 0.5
    return [name for name in scores if mean(scores[name]["dev_bleu"]) >= limit]


# %% wrong: forgets to return ->
def choose_setting(scores):
    best = max(scores, key=lambda name: sum(scores[name]["dev_bleu"]) / len(scores[name]["dev_bleu"]))
    print(best)


# %% wrong: the deviation of a whole population -> the variance is taken with n in place of n - 1
def choose_setting(scores):
    from math import sqrt
    from statistics import mean, pstdev

    best = max(scores.values(), key=lambda row: mean(row["dev_bleu"]))
    limit = mean(best["dev_bleu"]) - pstdev(best["dev_bleu"]) / sqrt(len(best["dev_bleu"]))
    near = [name for name in scores if mean(scores[name]["dev_bleu"]) >= limit]
    return min(near, key=lambda name: scores[name]["parameters"])


# %% wrong: the root of the number of settings -> the standard deviation is divided by the root of something else than n
def choose_setting(scores):
    mean = {name: sum(row["dev_bleu"]) / len(row["dev_bleu"]) for name, row in scores.items()}
    best = max(mean, key=mean.get)
    runs = torch.tensor(scores[best]["dev_bleu"], dtype=torch.float64)
    error = runs.std() / math.sqrt(len(scores))
    near = [name for name in scores if mean[name] >= mean[best] - error]
    return min(near, key=lambda name: scores[name]["parameters"])


# %% wrong: the root of n - 1 -> the standard deviation is divided by the root of something else than n
# of: the root of the number of settings
# -    error = runs.std() / math.sqrt(len(scores))
# +    error = runs.std() / math.sqrt(len(runs) - 1)


# %% wrong: always three runs -> every setting is taken to have three runs
def choose_setting(scores):
    mean = {name: sum(row["dev_bleu"]) / 3 for name, row in scores.items()}
    best = max(mean, key=mean.get)
    runs = torch.tensor(scores[best]["dev_bleu"], dtype=torch.float64)
    error = runs.std() / math.sqrt(3)
    near = [name for name in scores if mean[name] >= mean[best] - error]
    return min(near, key=lambda name: scores[name]["parameters"])


# %% wrong: the median ->
def choose_setting(scores):
    mean = {name: sorted(row["dev_bleu"])[len(row["dev_bleu"]) // 2] for name, row in scores.items()}
    best = max(mean, key=mean.get)
    runs = torch.tensor(scores[best]["dev_bleu"], dtype=torch.float64)
    error = runs.std() / math.sqrt(len(runs))
    near = [name for name in scores if mean[name] >= mean[best] - error]
    return min(near, key=lambda name: scores[name]["parameters"])


# %% wrong: the variance ->
# of: the root of the number of settings
# -    error = runs.std() / math.sqrt(len(scores))
# +    error = runs.var() / math.sqrt(len(runs))


# %% wrong: above the limit ->
def choose_setting(scores):
    mean = {name: sum(row["dev_bleu"]) / len(row["dev_bleu"]) for name, row in scores.items()}
    best = max(mean, key=mean.get)
    runs = torch.tensor(scores[best]["dev_bleu"], dtype=torch.float64)
    error = runs.std() / math.sqrt(len(runs))
    near = [name for name in scores if mean[name] > mean[best] - error]
    return min(near, key=lambda name: scores[name]["parameters"])


# %% wrong: the lowest mean among the good ones -> the lowest mean of those that are as good
def choose_setting(scores):
    means = {name: sum(row["dev_bleu"]) / len(row["dev_bleu"]) for name, row in scores.items()}
    best = max(means, key=means.get)
    runs = torch.tensor(scores[best]["dev_bleu"], dtype=torch.float64)
    error = float(runs.std()) / math.sqrt(len(runs))
    near = [name for name in scores if means[name] >= means[best] - error]
    return min(near, key=means.get)


# %% wrong: down by size until one is not as good ->
def choose_setting(scores):
    means = {name: sum(row["dev_bleu"]) / len(row["dev_bleu"]) for name, row in scores.items()}
    best = max(means, key=means.get)
    runs = torch.tensor(scores[best]["dev_bleu"], dtype=torch.float64)
    error = float(runs.std()) / math.sqrt(len(runs))
    near = [name for name in scores if means[name] >= means[best] - error]
    chosen = best
    for name in sorted(scores, key=lambda name: -scores[name]["parameters"]):
        if scores[name]["parameters"] < scores[best]["parameters"]:
            if name not in near:
                break
            chosen = name
    return chosen


# %% wrong: the root of the candidate's number of runs ->
def choose_setting(scores):
    means = {name: sum(row["dev_bleu"]) / len(row["dev_bleu"]) for name, row in scores.items()}
    best = max(means, key=means.get)
    runs = torch.tensor(scores[best]["dev_bleu"], dtype=torch.float64)
    near = [
        name
        for name in scores
        if means[name] >= means[best] - float(runs.std()) / math.sqrt(len(scores[name]["dev_bleu"]))
    ]
    return min(near, key=lambda name: scores[name]["parameters"])


# %% wrong: two standard errors -> two standard errors
def choose_setting(scores):
    means = {name: sum(row["dev_bleu"]) / len(row["dev_bleu"]) for name, row in scores.items()}
    best = max(means, key=means.get)
    runs = torch.tensor(scores[best]["dev_bleu"], dtype=torch.float64)
    error = float(runs.std()) / math.sqrt(len(runs))
    near = [name for name in scores if means[name] >= means[best] - 2 * error]
    return min(near, key=lambda name: scores[name]["parameters"])


# %% wrong: as texts -> numbers of parameters are compared as texts
# of: the lowest mean among the good ones
# -    return min(near, key=means.get)
# +    return min(near, key=lambda name: str(scores[name]["parameters"]))


# %% wrong: divided by n, not by its root -> the standard deviation is divided by n in place of its root
def choose_setting(scores):
    means = {name: sum(row["dev_bleu"]) / len(row["dev_bleu"]) for name, row in scores.items()}
    best = max(means, key=means.get)
    runs = torch.tensor(scores[best]["dev_bleu"], dtype=torch.float64)
    error = float(runs.std()) / len(runs)
    near = [name for name in scores if means[name] >= means[best] - error]
    return min(near, key=lambda name: scores[name]["parameters"])


# %% wrong: the first in the dict ->
# of: the lowest mean among the good ones
# -    return min(near, key=means.get)
# +    return near[0]


# %% wrong: the error of the test scores ->
def choose_setting(scores):
    means = {name: sum(row["dev_bleu"]) / len(row["dev_bleu"]) for name, row in scores.items()}
    best = max(means, key=means.get)
    runs = torch.tensor(scores[best]["test_bleu"], dtype=torch.float64)
    error = float(runs.std()) / math.sqrt(len(runs))
    near = [name for name in scores if means[name] >= means[best] - error]
    return min(near, key=lambda name: scores[name]["parameters"])


# %% wrong: strictly above the limit ->
def choose_setting(scores):
    means = {name: sum(row["dev_bleu"]) / len(row["dev_bleu"]) for name, row in scores.items()}
    chosen = best = max(scores, key=lambda n: (means[n], scores[n]["parameters"]))
    runs = pd.Series(scores[best]["dev_bleu"])
    limit = means[best] - runs.std() / math.sqrt(len(runs))
    for name in scores:
        if means[name] > limit and scores[name]["parameters"] < scores[chosen]["parameters"]:
            chosen = name
    return chosen


# %% wrong: an error of 0 becomes 1 ->
import statistics


def choose_setting(scores: dict[str, dict]) -> str:
    means = {name: statistics.fmean(row["dev_bleu"]) for name, row in scores.items()}
    best = max(means, key=means.get)
    runs = scores[best]["dev_bleu"]
    error = statistics.stdev(runs) / math.sqrt(len(runs)) or 1.0
    good = [name for name, mean in means.items() if mean >= means[best] - error]
    return min(good, key=lambda name: scores[name]["parameters"])


# %% wrong: rounded as in the table -> means are rounded before they are compared
def choose_setting(scores: dict[str, dict]) -> str:
    import statistics

    means = {name: round(statistics.mean(row["dev_bleu"]), 1) for name, row in scores.items()}
    best = max(means, key=means.get)
    runs = scores[best]["dev_bleu"]
    error = round(statistics.stdev(runs) / math.sqrt(len(runs)), 1)
    good = [name for name in scores if means[name] >= round(means[best] - error, 1)]
    return min(good, key=lambda name: scores[name]["parameters"])


# %% wrong: one name for each number of parameters ->
import statistics


def choose_setting(scores: dict[str, dict]) -> str:
    means = {name: statistics.fmean(row["dev_bleu"]) for name, row in scores.items()}
    best = max(means, key=means.get)
    dev = scores[best]["dev_bleu"]
    limit = means[best] - statistics.stdev(dev) / math.sqrt(len(dev))
    by_size = {row["parameters"]: name for name, row in scores.items()}
    for size in sorted(by_size):
        if means[by_size[size]] >= limit:
            return by_size[size]
    return best


# %% wrong: the search for the best begins at a BLEU of 0 ->
import statistics


def choose_setting(scores: dict[str, dict]) -> str:
    best, best_mean = None, 0.0
    means = {}
    for name, row in scores.items():
        means[name] = statistics.fmean(row["dev_bleu"])
        if means[name] > best_mean:
            best, best_mean = name, means[name]
    dev = scores[best]["dev_bleu"]
    limit = best_mean - statistics.stdev(dev) / len(dev) ** 0.5
    good = [name for name, mean in means.items() if mean >= limit]
    return min(good, key=lambda name: scores[name]["parameters"])


# %% wrong: the means are rounded, the standard error is not ->
import statistics


def choose_setting(scores: dict[str, dict]) -> str:
    means = {name: round(statistics.fmean(row["dev_bleu"]), 1) for name, row in scores.items()}
    best = max(scores, key=lambda name: statistics.fmean(scores[name]["dev_bleu"]))
    dev = scores[best]["dev_bleu"]
    limit = means[best] - statistics.stdev(dev) / math.sqrt(len(dev))
    good = [name for name in scores if means[name] >= limit]
    return min(good, key=lambda name: scores[name]["parameters"])


# %% wrong: at most 32 settings ->
def choose_setting(scores):
    import math
    import statistics

    scores = dict(list(scores.items())[:32])
    best = max(scores.values(), key=lambda row: statistics.mean(row["dev_bleu"]))
    error = statistics.stdev(best["dev_bleu"]) / math.sqrt(len(best["dev_bleu"]))
    limit = statistics.mean(best["dev_bleu"]) - error
    near = [name for name in scores if statistics.mean(scores[name]["dev_bleu"]) >= limit]
    return min(near, key=lambda name: scores[name]["parameters"])


# %% wrong: a setting with many parameters is never the smallest ->
def choose_setting(scores):
    import math
    import statistics

    best = max(scores.values(), key=lambda row: statistics.mean(row["dev_bleu"]))
    error = statistics.stdev(best["dev_bleu"]) / math.sqrt(len(best["dev_bleu"]))
    limit = statistics.mean(best["dev_bleu"]) - error
    smallest, found = 10**8, max(scores, key=lambda name: statistics.mean(scores[name]["dev_bleu"]))
    for name, row in scores.items():
        if statistics.mean(row["dev_bleu"]) >= limit and row["parameters"] < smallest:
            smallest, found = row["parameters"], name
    return found


# %% wrong: the best on test, and what is near it on dev -> the best is the best on test, and dev decides what is near it
def choose_setting(scores):
    def mean(runs):
        return sum(runs) / len(runs)

    best = max(scores, key=lambda name: mean(scores[name]["test_bleu"] or scores[name]["dev_bleu"]))
    runs = torch.tensor(scores[best]["dev_bleu"], dtype=torch.float64)
    limit = mean(scores[best]["dev_bleu"]) - float(runs.std()) / math.sqrt(len(runs))
    near = [name for name in scores if mean(scores[name]["dev_bleu"]) >= limit]
    return min(near, key=lambda name: scores[name]["parameters"])


# %% wrong: the best of those near it, on test -> of those that are as good, the best on test
# of: the lowest mean among the good ones
# -    return min(near, key=means.get)
# +    return max(near, key=lambda name: sum(scores[name]["test_bleu"] or scores[name]["dev_bleu"]))


# %% wrong: dev and test together -> the test scores have a part in the choice
def choose_setting(scores):
    runs = {name: pd.Series(row["dev_bleu"] + row["test_bleu"]) for name, row in scores.items()}
    best = max(runs, key=lambda name: runs[name].mean())
    limit = runs[best].mean() - runs[best].sem()
    near = [name for name in scores if runs[name].mean() >= limit]
    return min(near, key=lambda name: scores[name]["parameters"])
