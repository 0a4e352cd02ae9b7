# %% right: two ranges
def visible_positions(kind, i, n):
    if kind == "causal":
        return set(range(i + 1))
    if kind == "masked":
        return set(range(n))
    raise ValueError(f"unknown kind {kind!r}")


# %% right: a rule for each place
def visible_positions(kind, i, n):
    rules = {"causal": lambda j: j <= i, "masked": lambda j: True}
    if kind not in rules:
        raise ValueError(f"kind must be one of {sorted(rules)}, not {kind!r}")
    return {j for j in range(n) if rules[kind](j)}


# %% right: from the mask of notebook 01, as a list
def visible_positions(kind, i, n):
    if kind not in ("causal", "masked"):
        raise ValueError(kind)
    blocked = torch.ones(n, n, dtype=torch.bool).triu(1) if kind == "causal" else torch.zeros(n, n, dtype=torch.bool)
    return (~blocked[i]).nonzero().flatten().tolist()


# %% right: match
def visible_positions(kind, i, n):
    match kind:
        case "causal":
            return {*range(i), i}
        case "masked":
            return {*range(n)}
        case _:
            raise ValueError("kind is 'causal' or 'masked'")


# %% wrong: exchanged -> the two kinds are exchanged
def visible_positions(kind, i, n):
    if kind not in ("causal", "masked"):
        raise ValueError(kind)
    return set(range(n)) if kind == "causal" else set(range(i + 1))


# %% wrong: range(i) -> the causal model does not see its own place
def visible_positions(kind, i, n):
    if kind == "causal":
        return set(range(i))
    if kind == "masked":
        return set(range(n))
    raise ValueError(kind)


# %% wrong: the next place too -> the causal model sees one place too many
def visible_positions(kind, i, n):
    if kind not in ("causal", "masked"):
        raise ValueError(kind)
    return {j for j in range(n) if kind == "masked" or j <= i + 1}


# %% wrong: all but itself -> the masked model does not see its own place
def visible_positions(kind, i, n):
    if kind == "causal":
        return set(range(i + 1))
    if kind == "masked":
        return set(range(n)) - {i}
    raise ValueError(kind)


# %% wrong: from i on -> the causal model looks to the right
def visible_positions(kind, i, n):
    if kind not in ("causal", "masked"):
        raise ValueError(kind)
    return set(range(i, n)) if kind == "causal" else set(range(n))


# %% wrong: causal in both cases -> the masked model sees the left side only
def visible_positions(kind, i, n):
    if kind not in ("causal", "masked"):
        raise ValueError(kind)
    return {j for j in range(n) if j <= i}


# %% wrong: from 1 to n -> places are counted from 1
def visible_positions(kind, i, n):
    if kind not in ("causal", "masked"):
        raise ValueError(kind)
    return set(range(1, (i + 1 if kind == "causal" else n) + 1))


# %% wrong: else is masked -> an unknown kind passes in silence
def visible_positions(kind, i, n):
    if kind == "causal":
        return set(range(i + 1))
    else:
        return set(range(n))


# %% wrong: only its own place ->
def visible_positions(kind, i, n):
    if kind not in ("causal", "masked"):
        raise ValueError(kind)
    return {i}


# %% wrong: nothing is returned ->
def visible_positions(kind, i, n):
    print(set(range(i + 1)) if kind == "causal" else set(range(n)))


# %% wrong: upper and lower case alike ->
def visible_positions(kind, i, n):
    if kind.lower() == "causal":
        return set(range(i + 1))
    if kind.lower() == "masked":
        return set(range(n))
    raise ValueError(kind)


# %% wrong: part of a word ->
def visible_positions(kind, i, n):
    if kind in "causal":
        return set(range(i + 1))
    if kind in "masked":
        return set(range(n))
    raise ValueError(f"unknown kind {kind!r}")


# %% wrong: the first letter ->
def visible_positions(kind, i, n):
    if kind.startswith("c"):
        return set(range(i + 1))
    if kind.startswith("m"):
        return set(range(n))
    raise ValueError(f"unknown kind {kind!r}")


# %% wrong: blanks around are taken off ->
def visible_positions(kind, i, n):
    if kind.strip() == "causal":
        return set(range(i + 1))
    if kind.strip() == "masked":
        return set(range(n))
    raise ValueError(f"unknown kind {kind!r}")


# %% wrong: gpt and bert too ->
def visible_positions(kind, i, n):
    if kind in ("causal", "gpt"):
        return set(range(i + 1))
    if kind in ("masked", "bert"):
        return set(range(n))
    raise ValueError(f"unknown kind {kind!r}")


# %% wrong: the beginning of the word ->
def visible_positions(kind, i, n):
    if "causal".startswith(kind):
        return set(range(i + 1))
    if "masked".startswith(kind):
        return set(range(n))
    raise ValueError(f"unknown kind {kind!r}")


# %% wrong: a table of 32 places ->
def visible_positions(kind, i, n):
    if kind not in ("causal", "masked"):
        raise ValueError(kind)
    blocked = torch.ones(32, 32, dtype=torch.bool).triu(1)
    row = blocked[min(i, 31)] if kind == "causal" else torch.zeros(32, dtype=torch.bool)
    return {j for j in range(min(n, 32)) if not row[j]}


# %% wrong: a ValueError in any case ->
def visible_positions(kind, i, n):
    raise ValueError("the kind is unknown")


# %% wrong: 512 places back at most ->
def visible_positions(kind, i, n):
    if kind == "causal":
        return set(range(max(0, i - 511), i + 1))
    if kind == "masked":
        return set(range(min(n, 512)))
    raise ValueError(f"unknown kind: {kind!r}")


# %% wrong: one set is handed out for a question asked twice ->
from functools import cache


@cache
def visible_positions(kind: str, i: int, n: int) -> set[int]:
    if kind not in ("causal", "masked"):
        raise ValueError(f"unknown kind: {kind!r}")
    return set(range(i + 1 if kind == "causal" else n))


# %% wrong: the last place before the kind is looked at ->
def visible_positions(kind: str, i: int, n: int) -> set[int]:
    everything = set(range(n))
    if i == n - 1:  # the last token sees all in both models
        return everything
    if kind == "masked":
        return everything
    if kind == "causal":
        return {j for j in everything if j <= i}
    raise ValueError(f"unknown kind: {kind}")


# %% wrong: a hundred places to the right at most ->
def visible_positions(kind, i, n):
    if kind == "causal":
        return set(range(i + 1))
    if kind == "masked":
        return set(range(min(n, i + 101)))
    raise ValueError(kind)


# %% wrong: seven hundred places to both sides ->
def visible_positions(kind, i, n):
    if kind == "causal":
        return set(range(max(0, i - 700), i + 1))
    if kind == "masked":
        return set(range(max(0, i - 700), min(n, i + 701)))
    raise ValueError(kind)


# %% wrong: ranges ->
def visible_positions(kind, i, n):
    if kind == "causal":
        return range(i + 1)
    if kind == "masked":
        return range(n)
    raise ValueError(kind)


# %% wrong: the first place of a long text sees nothing ->
def visible_positions(kind, i, n):
    if kind not in ("causal", "masked"):
        raise ValueError(f"{kind!r} is neither 'causal' nor 'masked'")
    if n > 64 and i == 0:
        return set()
    return set(range(i + 1)) if kind == "causal" else set(range(n))


# %% wrong: a masked model sees 512 places ->
def visible_positions(kind, i, n):
    if kind not in ("causal", "masked"):
        raise ValueError(f"{kind!r} is neither 'causal' nor 'masked'")
    return set(range(i + 1)) if kind == "causal" else set(range(n)[max(0, i - 512) : i + 512])


# %% wrong: tensors in the set ->
def visible_positions(kind, i, n):
    if kind not in ("causal", "masked"):
        raise ValueError(kind)
    return set(torch.arange(i + 1 if kind == "causal" else n))
