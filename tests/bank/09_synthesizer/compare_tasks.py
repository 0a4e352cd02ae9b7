# %% right: groups in dicts
def compare_tasks(tokens, places):
    knows = {
        "random": lambda sentence, i: i,
        "dense": lambda sentence, i: (i, sentence[i]),
        "prefix": lambda sentence, i: tuple(sentence[: i + 1]),
    }
    shares = {}
    for name, known in knows.items():
        groups = {}
        for sentence, wanted in zip(tokens.tolist(), places.tolist()):
            for i, place in enumerate(wanted):
                if place >= 0:
                    group = groups.setdefault(known(sentence, i), {})
                    group[place] = group.get(place, 0) + 1
        right = sum(max(group.values()) for group in groups.values())
        shares[name] = right / sum(sum(group.values()) for group in groups.values())
    return shares


# %% right: Counter of Counters, column by column
def compare_tasks(tokens, places):
    from collections import Counter, defaultdict

    m, n = tokens.shape
    right, total = Counter(), 0
    for i in range(n):
        asked = [r for r in range(m) if places[r, i] != -1]
        total += len(asked)
        columns = {"random": [()] * m, "dense": tokens[:, i : i + 1].tolist(), "prefix": tokens[:, : i + 1].tolist()}
        for name, known in columns.items():
            groups = defaultdict(Counter)
            for r in asked:
                groups[tuple(known[r])][int(places[r, i])] += 1
            right[name] += sum(group.most_common(1)[0][1] for group in groups.values())
    return {name: right[name] / total for name in ("random", "dense", "prefix")}


# %% right: tensors and unique
def compare_tasks(tokens, places):
    m, n = tokens.shape

    def best(known):
        """Known: for each row i a tensor (m, k)."""
        right = 0
        for i in range(n):
            asked = places[:, i] >= 0
            if not asked.any():
                continue
            _, group = torch.unique(known(i)[asked], dim=0, return_inverse=True)
            counts = torch.zeros(int(group.max()) + 1, n)
            counts.index_put_((group, places[asked, i]), torch.ones(len(group)), accumulate=True)
            right += int(counts.max(dim=1).values.sum())
        return right / int((places >= 0).sum())

    return {
        "random": best(lambda i: torch.zeros(m, 1, dtype=torch.long)),
        "dense": best(lambda i: tokens[:, i : i + 1]),
        "prefix": best(lambda i: tokens[:, : i + 1]),
    }


# %% right: pandas
def compare_tasks(tokens, places):
    import pandas as pd

    rows = [
        (i, sentence[i], str(sentence[: i + 1]), place)
        for sentence, wanted in zip(tokens.tolist(), places.tolist())
        for i, place in enumerate(wanted)
        if place >= 0
    ]
    table = pd.DataFrame(rows, columns=["i", "token", "beginning", "place"])
    known = {"random": ["i"], "dense": ["i", "token"], "prefix": ["i", "beginning"]}
    shares = {}
    for name, columns in known.items():
        counts = table.groupby([*columns, "place"]).size()
        shares[name] = float(counts.groupby(level=columns).max().sum() / len(table))
    return shares


# %% wrong: no test for -1 -> rows that ask nothing count as questions
def compare_tasks(tokens, places):
    knows = {
        "random": lambda sentence, i, place: i,
        "dense": lambda sentence, i, place: (i, sentence[i]),
        "prefix": lambda sentence, i, place: tuple(sentence[: i + 1]),
    }
    shares = {}
    for name, known in knows.items():
        groups = {}
        for sentence, wanted in zip(tokens.tolist(), places.tolist()):
            for i, place in enumerate(wanted):
                if True:
                    group = groups.setdefault(known(sentence, i, place), {})
                    group[place] = group.get(place, 0) + 1
        right = sum(max(group.values()) for group in groups.values())
        shares[name] = right / sum(sum(group.values()) for group in groups.values())
    return shares


# %% wrong: divided by the size of places -> divided by all rows, also those that ask nothing
def compare_tasks(tokens, places):
    knows = {
        "random": lambda sentence, i, place: i,
        "dense": lambda sentence, i, place: (i, sentence[i]),
        "prefix": lambda sentence, i, place: tuple(sentence[: i + 1]),
    }
    shares = {}
    for name, known in knows.items():
        groups = {}
        for sentence, wanted in zip(tokens.tolist(), places.tolist()):
            for i, place in enumerate(wanted):
                if place >= 0:
                    group = groups.setdefault(known(sentence, i, place), {})
                    group[place] = group.get(place, 0) + 1
        right = sum(max(group.values()) for group in groups.values())
        shares[name] = right / places.numel()
    return shares


# %% wrong: one group -> the random layer has one place for all rows
# of: groups in dicts
# -        "random": lambda sentence, i: i,
# -        "dense": lambda sentence, i: (i, sentence[i]),
# -        "prefix": lambda sentence, i: tuple(sentence[: i + 1]),
# +        "random": lambda sentence, i, place: 0,
# +        "dense": lambda sentence, i, place: (i, sentence[i]),
# +        "prefix": lambda sentence, i, place: tuple(sentence[: i + 1]),
# ...
# -                    group = groups.setdefault(known(sentence, i), {})
# +                    group = groups.setdefault(known(sentence, i, place), {})


# %% wrong: by token -> the dense layer does not know its row
def compare_tasks(tokens, places):
    knows = {
        "random": lambda sentence, i, place: i,
        "dense": lambda sentence, i, place: sentence[i],
        "prefix": lambda sentence, i, place: tuple(sentence[: i + 1]),
    }
    shares = {}
    for name, known in knows.items():
        groups = {}
        for sentence, wanted in zip(tokens.tolist(), places.tolist()):
            for i, place in enumerate(wanted):
                if place >= 0:
                    group = groups.setdefault(known(sentence, i, place), {})
                    group[place] = group.get(place, 0) + 1
        right = sum(max(group.values()) for group in groups.values())
        shares[name] = right / sum(sum(group.values()) for group in groups.values())
    return shares


# %% wrong: pairs of tokens -> the dense layer sees the token looked at
# of: by token
# -        "dense": lambda sentence, i, place: sentence[i],
# +        "dense": lambda sentence, i, place: (i, sentence[i], sentence[place]),


# %% wrong: whole sentence -> the prefix holds the future
# of: groups in dicts
# -        "random": lambda sentence, i: i,
# -        "dense": lambda sentence, i: (i, sentence[i]),
# -        "prefix": lambda sentence, i: tuple(sentence[: i + 1]),
# +        "random": lambda sentence, i, place: i,
# +        "dense": lambda sentence, i, place: (i, sentence[i]),
# +        "prefix": lambda sentence, i, place: (i, tuple(sentence)),
# ...
# -                    group = groups.setdefault(known(sentence, i), {})
# +                    group = groups.setdefault(known(sentence, i, place), {})


# %% wrong: up to i, without i -> the prefix lacks the row's own token
# of: groups in dicts
# -        "random": lambda sentence, i: i,
# -        "dense": lambda sentence, i: (i, sentence[i]),
# -        "prefix": lambda sentence, i: tuple(sentence[: i + 1]),
# +        "random": lambda sentence, i, place: i,
# +        "dense": lambda sentence, i, place: (i, sentence[i]),
# +        "prefix": lambda sentence, i, place: tuple(sentence[:i]),
# ...
# -                    group = groups.setdefault(known(sentence, i), {})
# +                    group = groups.setdefault(known(sentence, i, place), {})


# %% wrong: mean of the groups -> the mean over the groups
# of: divided by the size of places
# -        shares[name] = right / places.numel()
# +        shares[name] = sum(max(g.values()) / sum(g.values()) for g in groups.values()) / len(groups)


# %% wrong: sure groups only -> only groups that agree are right
# of: divided by the size of places
# -        shares[name] = right / places.numel()
# +        shares[name] = sum(sum(g.values()) for g in groups.values() if len(g) == 1) / sum(
# +            sum(g.values()) for g in groups.values()
# +        )


# %% wrong: mean of the rows -> the mean over the rows
def compare_tasks(tokens, places):
    shares = {}
    for name in ("random", "dense", "prefix"):
        of_rows = []
        for i in range(tokens.shape[1]):
            groups, asked = {}, 0
            for sentence, wanted in zip(tokens.tolist(), places.tolist()):
                if wanted[i] >= 0:
                    known = {"random": 0, "dense": sentence[i], "prefix": tuple(sentence[: i + 1])}[name]
                    groups.setdefault(known, []).append(wanted[i])
                    asked += 1
            if asked:
                of_rows.append(sum(max(found.count(p) for p in found) for found in groups.values()) / asked)
        shares[name] = sum(of_rows) / len(of_rows)
    return shares


# %% wrong: counts in place of shares ->
# of: divided by the size of places
# -        shares[name] = right / places.numel()
# +        shares[name] = right


# %% wrong: misses in place of hits ->
# of: divided by the size of places
# -        shares[name] = right / places.numel()
# +        shares[name] = 1 - right / sum(sum(g.values()) for g in groups.values())


# %% wrong: token before the row ->
# of: by token
# -        "dense": lambda sentence, i, place: sentence[i],
# +        "dense": lambda sentence, i, place: (i, sentence[i - 1]),


# %% wrong: random and dense exchanged ->
# of: by token
# -        "random": lambda sentence, i, place: i,
# -        "dense": lambda sentence, i, place: sentence[i],
# +        "random": lambda sentence, i, place: (i, sentence[i]),
# +        "dense": lambda sentence, i, place: i,


# %% wrong: rounded ->
# of: divided by the size of places
# -        shares[name] = right / places.numel()
# +        shares[name] = round(right / sum(sum(g.values()) for g in groups.values()), 1)


# %% wrong: the beginning joined to a text ->
# of: groups in dicts
# -        "prefix": lambda sentence, i: tuple(sentence[: i + 1]),
# +        "prefix": lambda sentence, i: (i, "".join(map(str, sentence[: i + 1]))),


# %% wrong: the last two tokens of a beginning ->
# of: groups in dicts
# -        "prefix": lambda sentence, i: tuple(sentence[: i + 1]),
# +        "prefix": lambda sentence, i: (i, *sentence[max(0, i - 1) : i + 1]),


# %% wrong: a guess among the visible ->
def compare_tasks(tokens, places):
    knows = {"dense": lambda sentence, i: (i, sentence[i]), "prefix": lambda sentence, i: tuple(sentence[: i + 1])}
    shares = {}
    for name, known in knows.items():
        groups = {}
        for sentence, wanted in zip(tokens.tolist(), places.tolist()):
            for i, place in enumerate(wanted):
                if place >= 0:
                    group = groups.setdefault(known(sentence, i), {})
                    group[place] = group.get(place, 0) + 1
        right = sum(max(group.values()) for group in groups.values())
        shares[name] = right / sum(sum(group.values()) for group in groups.values())
    rows = [i for wanted in places.tolist() for i, place in enumerate(wanted) if place >= 0]
    return shares | {"random": sum(1 / (i + 1) for i in rows) / len(rows)}


# %% wrong: place > 0 -> the place 0 is left out
# of: groups in dicts
# -                if place >= 0:
# +                if place > 0:


# %% wrong: tokens as they are -> each token's tensor is a group of its own
def compare_tasks(tokens, places):
    from collections import Counter, defaultdict

    groups = {"random": defaultdict(Counter), "dense": defaultdict(Counter), "prefix": defaultdict(Counter)}
    for sentence, wanted in zip(tokens, places):
        for i in range(len(sentence)):
            if wanted[i] >= 0:
                place = int(wanted[i])
                groups["random"][i][place] += 1
                groups["dense"][i, sentence[i]][place] += 1
                groups["prefix"][tuple(sentence[: i + 1])][place] += 1
    asked = int((places >= 0).sum())
    return {name: sum(max(c.values()) for c in found.values()) / asked for name, found in groups.items()}


# %% wrong: tokens and places as they are -> each place's tensor is counted for itself
# of: tokens as they are
# -        for i in range(len(sentence)):
# -            if wanted[i] >= 0:
# -                place = int(wanted[i])
# +        for i, place in enumerate(wanted):
# +            if place >= 0:


# %% right: one dict with all groups
def compare_tasks(tokens, places):
    shares = {}
    for name in ("random", "dense", "prefix"):
        groups = {}
        for sentence, wanted in zip(tokens.tolist(), places.tolist()):
            for i, place in enumerate(wanted):
                if place < 0:
                    continue
                known = {"random": i, "dense": (i, sentence[i]), "prefix": tuple(sentence[: i + 1])}[name]
                group = groups.setdefault(known, {})
                group[place] = group.get(place, 0) + 1
        right = sum(max(group.values()) for group in groups.values())
        total = sum(sum(group.values()) for group in groups.values())
        shares[name] = right / total
    return shares


# %% wrong: the place seen first in place of the most frequent ->
# of: one dict with all groups
# -        right = sum(max(group.values()) for group in groups.values())
# +        right = sum(next(iter(group.values())) for group in groups.values())


# %% wrong: the place seen last ->
# of: one dict with all groups
# -        right = sum(max(group.values()) for group in groups.values())
# +        right = sum(list(group.values())[-1] for group in groups.values())


# %% wrong: the least frequent place ->
# of: one dict with all groups
# -        right = sum(max(group.values()) for group in groups.values())
# +        right = sum(min(group.values()) for group in groups.values())


# %% wrong: a number for row and token, a hundred apart ->
# of: one dict with all groups
# -                known = {"random": i, "dense": (i, sentence[i]), "prefix": tuple(sentence[: i + 1])}[name]
# +                known = {"random": i, "dense": 100 * i + sentence[i], "prefix": tuple(sentence[: i + 1])}[name]


# %% wrong: a number for row and token, a thousand apart ->
# of: one dict with all groups
# -                known = {"random": i, "dense": (i, sentence[i]), "prefix": tuple(sentence[: i + 1])}[name]
# +                known = {"random": i, "dense": 1000 * i + sentence[i], "prefix": tuple(sentence[: i + 1])}[name]


# %% wrong: a number for row and token, the largest token apart ->
# of: one dict with all groups
# -                known = {"random": i, "dense": (i, sentence[i]), "prefix": tuple(sentence[: i + 1])}[name]
# +                known = {"random": i, "dense": int(tokens.max()) * i + sentence[i], "prefix": tuple(sentence[: i + 1])}[
# +                    name
# +                ]


# %% wrong: the beginning without its order ->
# of: one dict with all groups
# -                known = {"random": i, "dense": (i, sentence[i]), "prefix": tuple(sentence[: i + 1])}[name]
# +                known = {"random": i, "dense": (i, sentence[i]), "prefix": (i, *sorted(sentence[: i + 1]))}[name]


# %% wrong: the beginning as a set ->
# of: one dict with all groups
# -                known = {"random": i, "dense": (i, sentence[i]), "prefix": tuple(sentence[: i + 1])}[name]
# +                known = {"random": i, "dense": (i, sentence[i]), "prefix": (i, frozenset(sentence[: i + 1]))}[name]


# %% wrong: the sum of the beginning ->
# of: one dict with all groups
# -                known = {"random": i, "dense": (i, sentence[i]), "prefix": tuple(sentence[: i + 1])}[name]
# +                known = {"random": i, "dense": (i, sentence[i]), "prefix": (i, sum(sentence[: i + 1]))}[name]


# %% wrong: rows without a question have no group, but each row divides alike -> divided by all rows, also those that ask nothing
# of: one dict with all groups
# -        total = sum(sum(group.values()) for group in groups.values())
# +        total = places.numel()


# %% wrong: all ones ->
def compare_tasks(tokens, places):
    return {"random": 1.0, "dense": 1.0, "prefix": 1.0}


# %% wrong: the numbers of the example ->
def compare_tasks(tokens, places):
    return {"random": 6 / 8, "dense": 7 / 8, "prefix": 1.0}


# %% wrong: places below 0 are overwritten ->
# of: one dict with all groups
#  def compare_tasks(tokens, places):
# +    places[places < 0] = -1
# +    tokens[places < 0] = 0


# %% wrong: groups numbered by the length of a sentence ->
def compare_tasks(tokens: Tensor, places: Tensor) -> dict[str, float]:
    m, n = tokens.shape
    counts = places >= 0
    rows = torch.arange(n).expand(m, n)
    prefixes, number = [], torch.zeros(m, dtype=torch.long)
    for i in range(n):
        step = torch.stack([number, tokens[:, i].long()], dim=1)
        number = step.unique(dim=0, return_inverse=True)[1].flatten()
        prefixes.append(number + i * m)  # at most m groups in each row
    groups = {"random": rows, "dense": rows * n + tokens.long(), "prefix": torch.stack(prefixes, dim=1)}
    shares = {}
    for name, group in groups.items():
        looks = torch.stack([group[counts], places[counts].long()], dim=1)
        kinds, often = looks.unique(dim=0, return_counts=True)
        best = {}
        for key, count in zip(kinds[:, 0].tolist(), often.tolist()):
            best[key] = max(best.get(key, 0), count)
        shares[name] = sum(best.values()) / len(looks)
    return shares


# %% wrong: a beginning is packed into one whole number ->
def compare_tasks(tokens: Tensor, places: Tensor) -> dict[str, float]:
    base = int(tokens.max()) + 1
    prefix = torch.zeros(len(tokens), dtype=torch.long)
    right = {"random": 0, "dense": 0, "prefix": 0}
    for i in range(tokens.shape[1]):
        prefix = prefix * base + tokens[:, i]
        counts = places[:, i] >= 0
        for name, known in (("random", torch.zeros_like(prefix)), ("dense", tokens[:, i]), ("prefix", prefix)):
            _, group = known[counts].unique(return_inverse=True)
            if len(group):
                table = torch.zeros(int(group.max()) + 1, tokens.shape[1], dtype=torch.long)
                table.index_put_((group, places[counts, i]), torch.ones_like(group), accumulate=True)
                right[name] += int(table.max(dim=1).values.sum())
    looks = int((places >= 0).sum())
    return {name: number / looks for name, number in right.items()}


# %% wrong: tokens are the digits of a number, the first one the smallest ->
# of: groups in dicts
# -        "prefix": lambda sentence, i: tuple(sentence[: i + 1]),
# +        "prefix": lambda sentence, i: (i, sum(t * 10**k for k, t in enumerate(sentence[: i + 1]))),


# %% wrong: tokens are the digits of a number to base 100 ->
# of: groups in dicts
# -        "prefix": lambda sentence, i: tuple(sentence[: i + 1]),
# +        "prefix": lambda sentence, i: (i, sum(t * 100 ** (i - k) for k, t in enumerate(sentence[: i + 1]))),
# %% wrong: prefixes as numbers to base 10 ->
def compare_tasks(tokens, places):
    def share(key):
        groups = {}
        for sentence, wanted in zip(tokens.tolist(), places.tolist()):
            for i, place in enumerate(wanted):
                if place >= 0:
                    groups.setdefault(key(sentence, i), []).append(place)
        right = sum(max(map(found.count, found)) for found in groups.values())
        return right / sum(map(len, groups.values()))

    def number(sentence, i):
        value = 0
        for token in sentence[: i + 1]:
            value = 10 * value + token
        return i, value

    return {
        "random": share(lambda sentence, i: i),
        "dense": share(lambda sentence, i: (i, sentence[i])),
        "prefix": share(number),
    }
