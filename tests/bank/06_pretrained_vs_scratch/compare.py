# %% right: loops
def compare(records):
    found = {}
    for way in {record["way"] for record in records}:
        runs = {}
        for record in sorted(records, key=lambda record: record["epoch"]):
            if record["way"] == way:
                runs.setdefault(record["seed"], []).append(record)
        runs = list(runs.values())
        epochs = [[record["valid"] for record in column] for column in zip(*runs)]
        chosen = [max(run, key=lambda record: record["valid"]) for run in runs]
        found[way] = {
            "mean": [sum(values) / len(values) for values in epochs],
            "low": [min(values) for values in epochs],
            "high": [max(values) for values in epochs],
            "test": sum(record["test"] for record in chosen) / len(chosen),
        }
    return found


# %% right: pandas
def compare(records):
    import pandas as pd

    table = pd.DataFrame(records).sort_values(["seed", "epoch"])
    found = {}
    for way, rows in table.groupby("way"):
        curve = rows.groupby("epoch")["valid"].agg(["mean", "min", "max"])
        best = rows.loc[rows.groupby("seed")["valid"].idxmax()]
        found[way] = {
            "mean": curve["mean"].tolist(),
            "low": curve["min"].tolist(),
            "high": curve["max"].tolist(),
            "test": best["test"].mean(),
        }
    return found


# %% right: tensors
def compare(records):
    found = {}
    for way in dict.fromkeys(record["way"] for record in records):
        rows = [record for record in records if record["way"] == way]
        seeds = sorted({record["seed"] for record in rows})
        epochs = sorted({record["epoch"] for record in rows})
        valid, test = torch.zeros(2, len(seeds), len(epochs), dtype=torch.float64)
        for record in rows:
            place = seeds.index(record["seed"]), epochs.index(record["epoch"])
            valid[place], test[place] = record["valid"], record["test"]
        best = torch.tensor([row.index(max(row)) for row in valid.tolist()])
        result = test[torch.arange(len(seeds)), best].mean().item()
        low, high = valid.amin(dim=0).tolist(), valid.amax(dim=0).tolist()
        found[way] = dict(mean=valid.mean(dim=0).tolist(), low=low, high=high, test=result)
    return found


# %% right: sorts by validation, then by epoch
def compare(records):
    from statistics import mean

    def of(**wanted):
        return [record for record in records if all(record[name] == value for name, value in wanted.items())]

    def numbers(name, rows):
        return sorted({row[name] for row in rows})

    found = {}
    for way in numbers("way", records):
        rows = of(way=way)
        columns = [[row["valid"] for row in of(way=way, epoch=epoch)] for epoch in numbers("epoch", rows)]
        best = [min(of(way=way, seed=s), key=lambda r: (-r["valid"], r["epoch"])) for s in numbers("seed", rows)]
        found[way] = {
            "mean": list(map(mean, columns)),
            "low": list(map(min, columns)),
            "high": list(map(max, columns)),
            "test": mean(row["test"] for row in best),
        }
    return found


# %% wrong: best epoch on the test set -> validates on test
# of: loops
# -        chosen = [max(run, key=lambda record: record["valid"]) for run in runs]
# +        chosen = [max(run, key=lambda record: record["test"]) for run in runs]


# %% wrong: the first run -> one seed
# of: loops
# -        runs = list(runs.values())
# +        runs = list(runs.values())[:1]


# %% wrong: the run with the best validation -> the luckiest seed
# of: loops
# -        runs = list(runs.values())
# +        runs = [max(runs.values(), key=lambda run: max(record["valid"] for record in run))]


# %% wrong: maximum over the seeds -> the highest test accuracy of all seeds
# of: loops
# -            "test": sum(record["test"] for record in chosen) / len(chosen),
# +            "test": max(record["test"] for record in chosen),


# %% wrong: the last epoch -> always the last epoch
# of: loops
# -        chosen = [max(run, key=lambda record: record["valid"]) for run in runs]
# +        chosen = [run[-1] for run in runs]


# %% wrong: test in the curve -> the curve of the test accuracy
# of: loops
# -        epochs = [[record["valid"] for record in column] for column in zip(*runs)]
# +        epochs = [[record["test"] for record in column] for column in zip(*runs)]


# %% wrong: not sorted -> records are taken in the order in which they come
# of: loops
# -        for record in sorted(records, key=lambda record: record["epoch"]):
# +        for record in records:


# %% wrong: the last of the best -> the later of two equal epochs
# of: loops
# -        chosen = [max(run, key=lambda record: record["valid"]) for run in runs]
# +        chosen = [max(run[::-1], key=lambda record: record["valid"]) for run in runs]


# %% wrong: lowest loss thinking: minimum of valid ->
# of: loops
# -        chosen = [max(run, key=lambda record: record["valid"]) for run in runs]
# +        chosen = [min(run, key=lambda record: record["valid"]) for run in runs]


# %% wrong: best test of any epoch, not of the chosen -> validates on test
# of: loops
# -        chosen = [max(run, key=lambda record: record["valid"]) for run in runs]
# +        chosen = runs
# ...
# -            "test": sum(record["test"] for record in chosen) / len(chosen),
# +            "test": sum(max(record["test"] for record in run) for run in chosen) / len(chosen),


# %% wrong: all ways together ->
# of: loops
# -            if record["way"] == way:
# +            if True:


# %% wrong: standard deviation -> the band is a standard deviation
# of: loops
#  def compare(records):
# +    from statistics import pstdev
# +
# ...
# -            "low": [min(values) for values in epochs],
# -            "high": [max(values) for values in epochs],
# +            "low": [sum(v) / len(v) - pstdev(v) for v in epochs],
# +            "high": [sum(v) / len(v) + pstdev(v) for v in epochs],


# %% wrong: the best mean epoch -> one epoch for all seeds
# of: loops
# -        chosen = [max(run, key=lambda record: record["valid"]) for run in runs]
# +        means = [sum(values) for values in epochs]
# +        chosen = [run[means.index(max(means))] for run in runs]


# %% wrong: the same seeds and epochs for all ways ->
def compare(records):
    seeds = sorted({record["seed"] for record in records})
    epochs = range(1, max(record["epoch"] for record in records) + 1)
    found = {}
    for way in {record["way"] for record in records}:
        table = {(r["seed"], r["epoch"]): r for r in records if r["way"] == way}
        valid = [[table[seed, epoch]["valid"] for seed in seeds] for epoch in epochs]
        chosen = [max((table[seed, epoch] for epoch in epochs), key=lambda r: r["valid"]) for seed in seeds]
        found[way] = {
            "mean": [sum(values) / len(values) for values in valid],
            "low": [min(values) for values in valid],
            "high": [max(values) for values in valid],
            "test": sum(r["test"] for r in chosen) / len(chosen),
        }
    return found


# %% wrong: three ways, by their names ->
# of: loops
# -    for way in {record["way"] for record in records}:
# +    for way in ("scratch", "pretrained", "frozen"):


# %% wrong: epochs sorted as texts ->
# of: loops
# -        for record in sorted(records, key=lambda record: record["epoch"]):
# +        for record in sorted(records, key=lambda record: str(record["epoch"])):


# %% wrong: a set of tests -> equal test accuracies are counted once
# of: loops
# -            "test": sum(record["test"] for record in chosen) / len(chosen),
# +            "test": sum({record["test"] for record in chosen}) / len({record["test"] for record in chosen}),


# %% wrong: sets in the columns ->
# of: loops
# -            "mean": [sum(values) / len(values) for values in epochs],
# +            "mean": [sum(set(values)) / len(set(values)) for values in epochs],


# %% wrong: seeds below 5 only ->
# of: loops
# -        for record in sorted(records, key=lambda record: record["epoch"]):
# +        for record in sorted((r for r in records if r["seed"] < 5), key=lambda record: record["epoch"]):


# %% wrong: in two decimals ->
# of: loops
# -            "mean": [sum(values) / len(values) for values in epochs],
# +            "mean": [round(sum(values) / len(values), 2) for values in epochs],


# %% wrong: sorts the list that it is given ->
# of: loops
#  def compare(records):
# +    records.sort(key=lambda record: record["epoch"])


# %% wrong: the first epoch is never chosen ->
# of: loops
# -        chosen = [max(run, key=lambda record: record["valid"]) for run in runs]
# +        chosen = [max(run[1:] or run, key=lambda record: record["valid"]) for run in runs]


# %% wrong: the last epoch is never chosen ->
# of: loops
# -        chosen = [max(run, key=lambda record: record["valid"]) for run in runs]
# +        chosen = [max(run[:-1] or run, key=lambda record: record["valid"]) for run in runs]


# %% wrong: ten epochs at most ->
# of: loops
# -        epochs = [[record["valid"] for record in column] for column in zip(*runs)]
# +        epochs = [[record["valid"] for record in column] for column in zip(*runs)][:10]


# %% wrong: among equals the first in the list ->
def compare(records):
    table, found = pd.DataFrame(records), {}
    for way, rows in table.groupby("way"):
        curve = rows.groupby("epoch")["valid"].agg(["mean", "min", "max"])
        tests = [run.loc[run["valid"].idxmax(), "test"] for _, run in rows.groupby("seed")]
        found[way] = {
            "mean": curve["mean"].tolist(),
            "low": curve["min"].tolist(),
            "high": curve["max"].tolist(),
            "test": sum(tests) / len(tests),
        }
    return found


# %% wrong: the best begins at 0 ->
def compare(records: list[dict]) -> dict[str, dict]:
    results = {}
    ordered = sorted(records, key=lambda r: r["epoch"])
    for way in {r["way"] for r in records}:
        curve, best, chosen = {}, {}, {}
        for r in ordered:
            if r["way"] != way:
                continue
            curve.setdefault(r["epoch"], []).append(r["valid"])
            chosen.setdefault(r["seed"], 0.0)
            if r["valid"] > best.get(r["seed"], 0.0):
                best[r["seed"]] = r["valid"]
                chosen[r["seed"]] = r["test"]
        results[way] = {
            "mean": [sum(v) / len(v) for v in curve.values()],
            "low": [min(v) for v in curve.values()],
            "high": [max(v) for v in curve.values()],
            "test": sum(chosen.values()) / len(chosen),
        }
    return results


# %% wrong: the median over the seeds ->
def compare(records):
    from statistics import mean, median

    found = {}
    for way in {record["way"] for record in records}:
        runs = {}
        for record in sorted(records, key=lambda record: record["epoch"]):
            if record["way"] == way:
                runs.setdefault(record["seed"], []).append(record)
        epochs = [[record["valid"] for record in column] for column in zip(*runs.values())]
        found[way] = {
            "mean": [mean(values) for values in epochs],
            "low": [min(values) for values in epochs],
            "high": [max(values) for values in epochs],
            "test": median(max(run, key=lambda record: record["valid"])["test"] for run in runs.values()),
        }
    return found


# %% wrong: the upper median over the seeds ->
def compare(records):
    from statistics import mean, median_high

    found = {}
    for way in {record["way"] for record in records}:
        runs = {}
        for record in sorted(records, key=lambda record: record["epoch"]):
            if record["way"] == way:
                runs.setdefault(record["seed"], []).append(record)
        epochs = [[record["valid"] for record in column] for column in zip(*runs.values())]
        found[way] = {
            "mean": [mean(values) for values in epochs],
            "low": [min(values) for values in epochs],
            "high": [max(values) for values in epochs],
            "test": median_high(max(run, key=lambda record: record["valid"])["test"] for run in runs.values()),
        }
    return found


# %% wrong: accuracies in two digits ->
def compare(records):
    found = {}
    for way in {record["way"] for record in records}:
        mine = [dict(record, valid=round(record["valid"], 2)) for record in records if record["way"] == way]
        epochs = range(1, 1 + max(record["epoch"] for record in mine))
        values = [[record["valid"] for record in mine if record["epoch"] == epoch] for epoch in epochs]
        tests = []
        for seed in {record["seed"] for record in mine}:
            run = sorted((record for record in mine if record["seed"] == seed), key=lambda record: record["epoch"])
            tests.append(max(run, key=lambda record: record["valid"])["test"])
        found[way] = {
            "mean": [sum(one) / len(one) for one in values],
            "low": [min(one) for one in values],
            "high": [max(one) for one in values],
            "test": sum(tests) / len(tests),
        }
    return found


# %% wrong: the result is the validation accuracy ->
# of: loops
# -            "test": sum(record["test"] for record in chosen) / len(chosen),
# +            "test": sum(record["valid"] for record in chosen) / len(chosen),
