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


# %% wrong: maximum -> the best seed in place of the mean
# of: loops
# -        accuracy = [sum(values[number]) / len(values[number]) for number in labels]
# +        accuracy = [max(values[number]) for number in labels]


# %% wrong: assigned again -> one seed
# of: loops
# -                values.setdefault(record["labels"], []).append(record["accuracy"])
# +                values[record["labels"]] = [record["accuracy"]]


# %% wrong: any seed -> enough for one seed is taken as enough
# of: loops
# -        enough = [number for number, mean in zip(labels, accuracy) if mean >= wanted]
# +        enough = [number for number in labels if any(value >= wanted for value in values[number])]


# %% wrong: greater -> more than wanted is asked for
# of: loops
# -        enough = [number for number, mean in zip(labels, accuracy) if mean >= wanted]
# +        enough = [number for number, mean in zip(labels, accuracy) if mean > wanted]


# %% wrong: the last one -> the largest number of labels in place of the smallest
# of: loops
# -        found[way] = {"labels": labels, "accuracy": accuracy, "needed": enough[0] if enough else None}
# +        found[way] = {"labels": labels, "accuracy": accuracy, "needed": enough[-1] if enough else None}


# %% wrong: the largest tried -> the largest number tried, where none was enough
# of: loops
# -        found[way] = {"labels": labels, "accuracy": accuracy, "needed": enough[0] if enough else None}
# +        found[way] = {"labels": labels, "accuracy": accuracy, "needed": enough[0] if enough else labels[-1]}


# %% wrong: zero -> 0 where none was enough
# of: loops
# -        found[way] = {"labels": labels, "accuracy": accuracy, "needed": enough[0] if enough else None}
# +        found[way] = {"labels": labels, "accuracy": accuracy, "needed": enough[0] if enough else 0}


# %% wrong: not sorted -> the numbers of labels are not sorted
# of: loops
# -        labels = sorted(values)
# +        labels = list(values)
# ...
# -        found[way] = {"labels": labels, "accuracy": accuracy, "needed": enough[0] if enough else None}
# +        found[way] = {"labels": labels, "accuracy": accuracy, "needed": min(enough) if enough else None}


# %% wrong: infinity ->
# of: loops
# -        found[way] = {"labels": labels, "accuracy": accuracy, "needed": enough[0] if enough else None}
# +        found[way] = {"labels": labels, "accuracy": accuracy, "needed": enough[0] if enough else float("inf")}


# %% wrong: sums ->
# of: loops
# -        accuracy = [sum(values[number]) / len(values[number]) for number in labels]
# +        accuracy = [sum(values[number]) for number in labels]


# %% wrong: bisect, as if accuracy always grew ->
def label_efficiency(records, wanted):
    from bisect import bisect_left

    found = {}
    for way in {record["way"] for record in records}:
        values = {}
        for record in records:
            if record["way"] == way:
                values.setdefault(record["labels"], []).append(record["accuracy"])
        labels = sorted(values)
        accuracy = [sum(values[number]) / len(values[number]) for number in labels]
        place = bisect_left(accuracy, wanted)
        found[way] = {"labels": labels, "accuracy": accuracy, "needed": labels[place] if place < len(labels) else None}
    return found


# %% wrong: the best accuracy so far ->
def label_efficiency(records, wanted):
    found = {}
    for way in {record["way"] for record in records}:
        values = {}
        for record in records:
            if record["way"] == way:
                values.setdefault(record["labels"], []).append(record["accuracy"])
        labels, accuracy = sorted(values), []
        for number in labels:
            accuracy.append(max([sum(values[number]) / len(values[number]), *accuracy]))
        enough = [number for number, best in zip(labels, accuracy) if best >= wanted]
        found[way] = {"labels": labels, "accuracy": accuracy, "needed": enough[0] if enough else None}
    return found


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


# %% right: a running mean
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


# %% wrong: scores in a set -> equal accuracies are counted once
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


# %% wrong: seeds 0, 1 and 2 only ->
# of: loops
# -            if record["way"] == way:
# +            if record["way"] == way and record["seed"] in (0, 1, 2):


# %% wrong: rounded to two decimals ->
# of: loops
# -        accuracy = [sum(values[number]) / len(values[number]) for number in labels]
# +        accuracy = [round(sum(values[number]) / len(values[number]), 2) for number in labels]


# %% wrong: the number with the best mean ->
# of: loops
# -        enough = [number for number, mean in zip(labels, accuracy) if mean >= wanted]
# -        found[way] = {"labels": labels, "accuracy": accuracy, "needed": enough[0] if enough else None}
# +        best = labels[accuracy.index(max(accuracy))]
# +        found[way] = {"labels": labels, "accuracy": accuracy, "needed": best if max(accuracy) >= wanted else None}


# %% wrong: the ways of the notebook only ->
# of: loops
# -    for way in {record["way"] for record in records}:
# +    for way in ("scratch", "pretrained"):


# %% wrong: sorts the list that it is given ->
# of: loops
#  def label_efficiency(records, wanted):
# +    records.sort(key=lambda record: record["labels"])
# ...
# -        labels = sorted(values)
# +        labels = list(values)


# %% wrong: divided by the seeds of all records ->
def label_efficiency(records: list[dict], wanted: float) -> dict[str, dict]:
    seeds = len({r["seed"] for r in records})
    result = {}
    for way in {r["way"] for r in records}:
        sums = {}
        for r in records:
            if r["way"] == way:
                sums[r["labels"]] = sums.get(r["labels"], 0.0) + r["accuracy"]
        labels = sorted(sums)
        accuracy = [sums[count] / seeds for count in labels]
        result[way] = {
            "labels": labels,
            "accuracy": accuracy,
            "needed": next((c for c, mean in zip(labels, accuracy) if mean >= wanted), None),
        }
    return result


# %% wrong: a way is looked for in a name ->
def label_efficiency(records: list[dict], wanted: float) -> dict[str, dict]:
    found = {}
    for way in {r["way"] for r in records}:
        own = [r for r in records if way in r["way"]]
        counts = sorted({r["labels"] for r in own})
        means = []
        for count in counts:
            scores = [r["accuracy"] for r in own if r["labels"] == count]
            means.append(sum(scores) / len(scores))
        enough = [count for count, mean in zip(counts, means) if mean >= wanted]
        found[way] = {"labels": counts, "accuracy": means, "needed": min(enough, default=None)}
    return found


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


# %% wrong: always divided by three ->
# of: loops
# -        accuracy = [sum(values[number]) / len(values[number]) for number in labels]
# +        accuracy = [sum(values[number]) / 3 for number in labels]
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
