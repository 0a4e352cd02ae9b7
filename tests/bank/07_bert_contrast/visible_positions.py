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
