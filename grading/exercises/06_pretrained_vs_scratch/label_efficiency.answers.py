# %% right: loops
def label_efficiency(records, wanted):
    found = {}
    for way in {record["way"] for record in records}:
        values = {}
        for record in records:
            if record["way"] == way:
                values.setdefault(record["labels"], []).append(record["accuracy"])
        labels = sorted(values)
        accuracy = [sum(values[number]) / len(values[number]) for number in labels]
        enough = [number for number, mean in zip(labels, accuracy) if mean >= wanted]
        found[way] = {"labels": labels, "accuracy": accuracy, "needed": enough[0] if enough else None}
    return found


# %% right: pandas
def label_efficiency(records, wanted):
    import pandas as pd

    means = pd.DataFrame(records).groupby(["way", "labels"])["accuracy"].mean()
    found = {}
    for way in means.index.unique("way"):
        curve = means[way]
        enough = curve[curve >= wanted]
        needed = int(enough.index[0]) if len(enough) else None
        found[way] = {"labels": list(curve.index), "accuracy": curve.tolist(), "needed": needed}
    return found


# %% right: next with a default
def label_efficiency(records, wanted):
    from statistics import mean

    found = {}
    for way in sorted({r["way"] for r in records}):
        rows = [r for r in records if r["way"] == way]
        curve = {n: mean(r["accuracy"] for r in rows if r["labels"] == n) for n in sorted({r["labels"] for r in rows})}
        needed = next((n for n, value in curve.items() if value >= wanted), None)
        found[way] = dict(labels=list(curve), accuracy=list(curve.values()), needed=needed)
    return found


# %% right: a running mean
# other: It goes through the records only once, and keeps a mean and a count in place of all values; the solution computes the mean as one knows it, a sum divided by a count.
def label_efficiency(records, wanted):
    means = {}
    for record in records:
        mean, count = means.setdefault(record["way"], {}).get(record["labels"], (0.0, 0))
        means[record["way"]][record["labels"]] = (mean + (record["accuracy"] - mean) / (count + 1), count + 1)
    found = {}
    for way, by_number in means.items():
        labels = sorted(by_number)
        accuracy = [by_number[number][0] for number in labels]
        needed = next((number for number, mean in zip(labels, accuracy) if mean >= wanted), None)
        found[way] = {"labels": labels, "accuracy": accuracy, "needed": needed}
    return found


# %% wrong: maximum -> the best seed in place of the mean
# hint: The luckiest seed says what chance can do. Take the mean over the seeds.
# ~ sum(values[number]) / len => max

# %% wrong: assigned again -> one seed
# hint: Only the last record of each number of labels is kept: a dict entry that is assigned again forgets the one
# hint: before.
# ~ .setdefault(record["labels"], []).append(record["accuracy"]) => [record["labels"]] = [record["accuracy"]]


# %% wrong: scores in a set -> equal accuracies are counted once
# hint: A set forgets how often something is in it. Two seeds with the same accuracy are two seeds: use a list.
def label_efficiency(records, wanted):
    found = {}
    for way in {record["way"] for record in records}:
        labels = sorted({record["labels"] for record in records if record["way"] == way})
        accuracy = []
        for number in labels:
            scores = {r["accuracy"] for r in records if (r["way"], r["labels"]) == (way, number)}
            accuracy.append(sum(scores) / len(scores))
        enough = [number for number, mean in zip(labels, accuracy) if mean >= wanted]
        found[way] = {"labels": labels, "accuracy": accuracy, "needed": enough[0] if enough else None}
    return found


# %% wrong: any seed -> enough for one seed is taken as enough
# hint: Compare the mean with what is wanted, not the best seed.
# -        enough = [number for number, mean in zip(labels, accuracy) if mean >= wanted]
# +        enough = [number for number in labels if any(value >= wanted for value in values[number])]

# %% wrong: greater -> more than wanted is asked for
# hint: At least the wanted accuracy: >= and not >.
# ~ >= wanted => > wanted

# %% wrong: the last one -> the largest number of labels in place of the smallest
# hint: Several numbers of labels are enough. What is needed is the smallest of them.
# ~ [0] => [-1]

# %% wrong: the largest tried -> the largest number tried, where none was enough
# hint: Nobody knows how many labels it would take. Say None.
# ~ None => labels[-1]

# %% wrong: zero -> 0 where none was enough
# hint: 0 would mean that no label is needed. Say None.
# ~ None => 0

# %% wrong: not sorted -> the numbers of labels are not sorted
# hint: Records come in any order: sort the numbers of labels.
# ~ sorted => list
# ~ enough[0] => min(enough)


# %% wrong: the same numbers of labels for all ways ->
def label_efficiency(records, wanted):
    labels, found = sorted({record["labels"] for record in records}), {}
    for way in {record["way"] for record in records}:
        accuracy = []
        for number in labels:
            values = [r["accuracy"] for r in records if r["way"] == way and r["labels"] == number]
            accuracy.append(sum(values) / len(values))
        enough = [number for number, mean in zip(labels, accuracy) if mean >= wanted]
        found[way] = {"labels": labels, "accuracy": accuracy, "needed": enough[0] if enough else None}
    return found


# %% wrong: sorts the list that it is given ->
#  def label_efficiency(records, wanted):
# +    records.sort(key=lambda record: record["labels"])
# ...
# -        labels = sorted(values)
# +        labels = list(values)


# %% wrong: means in whole per cent ->
def label_efficiency(records: list[dict], wanted: float) -> dict[str, dict]:
    scores = {}
    for r in records:
        scores.setdefault(r["way"], {}).setdefault(r["labels"], []).append(r["accuracy"])
    found = {}
    for way, by_count in scores.items():
        counts = sorted(by_count)
        means = [sum(by_count[count]) / len(by_count[count]) for count in counts]
        needed = next((count for count, mean in zip(counts, means) if round(mean, 2) >= wanted), None)
        found[way] = {"labels": counts, "accuracy": means, "needed": needed}
    return found


# %% wrong: no label at all does not count ->
def label_efficiency(records: list[dict], wanted: float) -> dict[str, dict]:
    found = {}
    for way in dict.fromkeys(record["way"] for record in records):
        own = [record for record in records if record["way"] == way]
        labels, accuracy, needed = sorted({record["labels"] for record in own}), [], 0
        for count in labels:
            scores = [record["accuracy"] for record in own if record["labels"] == count]
            accuracy.append(sum(scores) / len(scores))
            if not needed and accuracy[-1] >= wanted:
                needed = count
        found[way] = {"labels": labels, "accuracy": accuracy, "needed": needed or None}
    return found


# %% wrong: nearly enough is enough ->
def label_efficiency(records, wanted):
    found = {}
    for way in {record["way"] for record in records}:
        by = {}
        for record in records:
            if record["way"] == way:
                by.setdefault(record["labels"], []).append(record["accuracy"])
        means = {labels: sum(values) / len(values) for labels, values in sorted(by.items())}
        enough = [labels for labels, mean in means.items() if mean >= wanted - 0.001]
        found[way] = {"labels": [*means], "accuracy": [*means.values()], "needed": enough[0] if enough else None}
    return found
