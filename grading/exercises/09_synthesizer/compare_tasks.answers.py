# %% right: groups in dicts
def compare_tasks(tokens, positions):
    knows = {
        "random": lambda sentence, i: i,
        "dense": lambda sentence, i: (i, sentence[i]),
        "prefix": lambda sentence, i: tuple(sentence[: i + 1]),
    }
    shares = {}
    for name, known in knows.items():
        groups = {}
        for sentence, wanted in zip(tokens.tolist(), positions.tolist()):
            for i, position in enumerate(wanted):
                if position >= 0:
                    group = groups.setdefault(known(sentence, i), {})
                    group[position] = group.get(position, 0) + 1
        right = sum(max(group.values()) for group in groups.values())
        shares[name] = right / sum(sum(group.values()) for group in groups.values())
    return shares


# %% right: Counter of Counters, column by column
def compare_tasks(tokens, positions):
    from collections import Counter, defaultdict

    m, n = tokens.shape
    right, total = Counter(), 0
    for i in range(n):
        asked = [r for r in range(m) if positions[r, i] != -1]
        total += len(asked)
        columns = {"random": [()] * m, "dense": tokens[:, i : i + 1].tolist(), "prefix": tokens[:, : i + 1].tolist()}
        for name, known in columns.items():
            groups = defaultdict(Counter)
            for r in asked:
                groups[tuple(known[r])][int(positions[r, i])] += 1
            right[name] += sum(group.most_common(1)[0][1] for group in groups.values())
    return {name: right[name] / total for name in ("random", "dense", "prefix")}


# %% right: tensors and unique
def compare_tasks(tokens, positions):
    m, n = tokens.shape

    def best(known):
        """Known: for each row i a tensor (m, k)."""
        right = 0
        for i in range(n):
            asked = positions[:, i] >= 0
            if not asked.any():
                continue
            _, group = torch.unique(known(i)[asked], dim=0, return_inverse=True)
            counts = torch.zeros(int(group.max()) + 1, n)
            counts.index_put_((group, positions[asked, i]), torch.ones(len(group)), accumulate=True)
            right += int(counts.max(dim=1).values.sum())
        return right / int((positions >= 0).sum())

    return {
        "random": best(lambda i: torch.zeros(m, 1, dtype=torch.long)),
        "dense": best(lambda i: tokens[:, i : i + 1]),
        "prefix": best(lambda i: tokens[:, : i + 1]),
    }


# %% right: pandas
# other: Two lines of pandas group, count and take the largest; the solution needs no table, and a tuple of tokens is a key as it is, without being turned into text.
def compare_tasks(tokens, positions):
    import pandas as pd

    rows = [
        (i, sentence[i], str(sentence[: i + 1]), position)
        for sentence, wanted in zip(tokens.tolist(), positions.tolist())
        for i, position in enumerate(wanted)
        if position >= 0
    ]
    table = pd.DataFrame(rows, columns=["i", "token", "beginning", "position"])
    known = {"random": ["i"], "dense": ["i", "token"], "prefix": ["i", "beginning"]}
    shares = {}
    for name, columns in known.items():
        counts = table.groupby([*columns, "position"]).size()
        shares[name] = float(counts.groupby(level=columns).max().sum() / len(table))
    return shares


# %% right: one dict with all groups
def compare_tasks(tokens, positions):
    shares = {}
    for name in ("random", "dense", "prefix"):
        groups = {}
        for sentence, wanted in zip(tokens.tolist(), positions.tolist()):
            for i, position in enumerate(wanted):
                if position < 0:
                    continue
                known = {"random": i, "dense": (i, sentence[i]), "prefix": tuple(sentence[: i + 1])}[name]
                group = groups.setdefault(known, {})
                group[position] = group.get(position, 0) + 1
        right = sum(max(group.values()) for group in groups.values())
        total = sum(sum(group.values()) for group in groups.values())
        shares[name] = right / total
    return shares


# %% wrong: no test for -1 -> rows that ask nothing count as questions
# hint: -1 is no position: a rule cannot be right there, nor wrong. Leave these rows out altogether.
# -        "random": lambda sentence, i: i,
# -        "dense": lambda sentence, i: (i, sentence[i]),
# -        "prefix": lambda sentence, i: tuple(sentence[: i + 1]),
# +        "random": lambda sentence, i, position: i,
# +        "dense": lambda sentence, i, position: (i, sentence[i]),
# +        "prefix": lambda sentence, i, position: tuple(sentence[: i + 1]),
# ...
# -                if position >= 0:
# -                    group = groups.setdefault(known(sentence, i), {})
# +                if True:
# +                    group = groups.setdefault(known(sentence, i, position), {})

# %% wrong: position > 0 -> the position 0 is left out
# hint: 0 is a position like any other, the first; only -1 asks nothing.
# ~ >= 0 => > 0


# %% wrong: tokens as they are -> each token's tensor is a group of its own
# hint: Two tensors are two keys of a dict, even if they hold the same number. Take numbers: .tolist() or .item().
def compare_tasks(tokens, positions):
    from collections import Counter, defaultdict

    groups = {"random": defaultdict(Counter), "dense": defaultdict(Counter), "prefix": defaultdict(Counter)}
    for sentence, wanted in zip(tokens, positions):
        for i in range(len(sentence)):
            if wanted[i] >= 0:
                position = int(wanted[i])
                groups["random"][i][position] += 1
                groups["dense"][i, sentence[i]][position] += 1
                groups["prefix"][tuple(sentence[: i + 1])][position] += 1
    asked = int((positions >= 0).sum())
    return {name: sum(max(c.values()) for c in found.values()) / asked for name, found in groups.items()}


# %% wrong: tokens and positions as they are -> each position's tensor is counted for itself
# hint: Two tensors are two keys of a dict, even if they hold the same number. Take numbers: .tolist() or .item().
# of: tokens as they are
# -        for i in range(len(sentence)):
# -            if wanted[i] >= 0:
# -                position = int(wanted[i])
# +        for i, position in enumerate(wanted):
# +            if position >= 0:

# %% wrong: divided by the size of positions -> divided by all rows, also those that ask nothing
# hint: Divide the number of right looks by the number of questions: rows whose position is not -1.
# of: no test for -1
# ~ True => position >= 0
# ~ sum(sum(group.values()) for group in groups.values()) => positions.numel()

# %% wrong: one group -> the random layer has one position for all rows
# hint: Its scores are a square: each row has numbers of its own. Make a group for each i.
# ~ : i, => : 0,
# ~ True => position >= 0

# %% wrong: by token -> the dense layer does not know its row
# hint: x_i is a token AND its position: make a group for each pair (i, token), not for each token.
# ~ (i, sentence[i]) => sentence[i]
# ~ True => position >= 0

# %% wrong: pairs of tokens -> the dense layer sees the token looked at
# hint: Its scores are made before it looks: x_j does not go in. Group by (i, token at i) only.
# ~ (i, sentence[i]), => (i, sentence[i], sentence[position]),
# ~ True => position >= 0

# %% wrong: whole sentence -> the prefix holds the future
# hint: A causal layer at row i knows the tokens 0 to i. Cut the sentence after i.
# ~ tuple(sentence[: i + 1]) => (i, tuple(sentence))
# ~ True => position >= 0

# %% wrong: up to i, without i -> the prefix lacks the row's own token
# hint: Token i knows itself: the beginning is tokens 0 to i, with i, so sentence[: i + 1].
# ~ (sentence[: i + 1]), => (sentence[:i]),
# ~ True => position >= 0


# %% wrong: mean of the rows -> the mean over the rows
# hint: Rows with few questions would count as much as those with many. Add up right looks and questions over all rows,
# hint: then divide once.
def compare_tasks(tokens, positions):
    shares = {}
    for name in ("random", "dense", "prefix"):
        of_rows = []
        for i in range(tokens.shape[1]):
            groups, asked = {}, 0
            for sentence, wanted in zip(tokens.tolist(), positions.tolist()):
                if wanted[i] >= 0:
                    known = {"random": 0, "dense": sentence[i], "prefix": tuple(sentence[: i + 1])}[name]
                    groups.setdefault(known, []).append(wanted[i])
                    asked += 1
            if asked:
                of_rows.append(sum(max(found.count(p) for p in found) for found in groups.values()) / asked)
        shares[name] = sum(of_rows) / len(of_rows)
    return shares


# %% wrong: mean of the groups -> the mean over the groups
# hint: Small groups would count as much as large ones. Add up the right looks of all groups, then divide once.
# of: divided by the size of positions
# ~ right / positions.numel() => sum(max(g.values()) / sum(g.values()) for g in groups.values()) / len(groups)

# %% wrong: sure groups only -> only groups that agree are right
# hint: A rule that takes the most frequent position is right for a part of a group, also when the group does not agree.
# -        shares[name] = right / positions.numel()
# +        shares[name] = sum(sum(g.values()) for g in groups.values() if len(g) == 1) / sum(
# +            sum(g.values()) for g in groups.values()
# +        )

# %% wrong: the beginning joined to a text ->
# of: groups in dicts
# ~ tuple(sentence[: i + 1]) => (i, "".join(map(str, sentence[: i + 1])))

# %% wrong: a number for row and token, a thousand apart ->
# of: one dict with all groups
# ~ (i, sentence[i]) => 1000 * i + sentence[i]

# %% wrong: positions below 0 are overwritten ->
#  def compare_tasks(tokens, positions):
# +    positions[positions < 0] = -1
# +    tokens[positions < 0] = 0


# %% wrong: a beginning is packed into one whole number ->
def compare_tasks(tokens: Tensor, positions: Tensor) -> dict[str, float]:
    base = int(tokens.max()) + 1
    prefix = torch.zeros(len(tokens), dtype=torch.long)
    right = {"random": 0, "dense": 0, "prefix": 0}
    for i in range(tokens.shape[1]):
        prefix = prefix * base + tokens[:, i]
        counts = positions[:, i] >= 0
        for name, known in (("random", torch.zeros_like(prefix)), ("dense", tokens[:, i]), ("prefix", prefix)):
            _, group = known[counts].unique(return_inverse=True)
            if len(group):
                table = torch.zeros(int(group.max()) + 1, tokens.shape[1], dtype=torch.long)
                table.index_put_((group, positions[counts, i]), torch.ones_like(group), accumulate=True)
                right[name] += int(table.max(dim=1).values.sum())
    looks = int((positions >= 0).sum())
    return {name: number / looks for name, number in right.items()}


# %% wrong: tokens are the digits of a number, the first one the smallest ->
# of: groups in dicts
# ~ tuple(sentence[: i + 1]) => (i, sum(t * 10**k for k, t in enumerate(sentence[: i + 1])))

# %% wrong: tokens are the digits of a number to base 100 ->
# ~ tuple(sentence[: i + 1]) => (i, sum(t * 100 ** (i - k) for k, t in enumerate(sentence[: i + 1])))


# %% wrong: prefixes as numbers to base 10 ->
def compare_tasks(tokens, positions):
    def share(key):
        groups = {}
        for sentence, wanted in zip(tokens.tolist(), positions.tolist()):
            for i, position in enumerate(wanted):
                if position >= 0:
                    groups.setdefault(key(sentence, i), []).append(position)
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
