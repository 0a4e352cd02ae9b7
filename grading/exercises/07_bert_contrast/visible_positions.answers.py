# %% right: two ranges
def visible_positions(kind, i, n):
    if kind == "causal":
        return set(range(i + 1))
    if kind == "masked":
        return set(range(n))
    raise ValueError(f"unknown kind {kind!r}")


# %% right: a rule for each position
# other: Each kind is a rule for a position, so that a further kind is one more entry; the solution's ranges give all positions at once, without a question to each.
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
# hint: The causal model is the one with the mask of notebook 01: it sees the left side only.
def visible_positions(kind, i, n):
    if kind not in ("causal", "masked"):
        raise ValueError(kind)
    return set(range(n)) if kind == "causal" else set(range(i + 1))


# %% wrong: range(i) -> the causal model does not see its own position
# hint: The diagonal of the causal mask is 0: a token always sees itself.
# ~ (range(i + 1)) => (range(i))
# ~ f"unknown kind {kind!r}" => kind

# %% wrong: the next position too -> the causal model sees one position too many
# hint: Position i + 1 holds the word that the causal model has to guess.
# of: exchanged
# ~ set(range(n)) if kind == "causal" else set(range(i + 1)) => {j for j in range(n) if kind == "masked" or j <= i + 1}

# %% wrong: all but itself -> the masked model does not see its own position
# hint: The position is visible; what was done to it is another matter: mostly <mask> stands there, not the word.
# of: two ranges
# ~ (range(n)) => (range(n)) - {i}
# ~ f"unknown kind {kind!r}" => kind

# %% wrong: from i on -> the causal model looks to the right
# hint: It sees the positions 0 to i, not i to n - 1.
# of: exchanged
# ~ (range(n)) if kind == "causal" else set(range(i + 1)) => (range(i, n)) if kind == "causal" else set(range(n))

# %% wrong: causal in both cases -> the masked model sees the left side only
# hint: This is the causal mask again. A masked model has none: it looks to both sides.
# ~ set(range(n)) if kind == "causal" else set(range(i + 1)) => {j for j in range(n) if j <= i}

# %% wrong: from 1 to n -> positions are counted from 1
# hint: As everywhere in Python, the n positions are 0 to n - 1.
# ~ (range(n)) if kind == "causal" else set(range(i + 1)) => (range(1, (i + 1 if kind == "causal" else n) + 1))


# %% wrong: else is masked -> an unknown kind passes in silence
# hint: An else that takes every other word for 'masked' hides a spelling mistake: raise ValueError.
def visible_positions(kind, i, n):
    if kind == "causal":
        return set(range(i + 1))
    else:
        return set(range(n))


# %% wrong: upper and lower case alike ->
# of: two ranges
# ~ kind == "causal" => kind.lower() == "causal"
# ~ kind = => kind.lower() =
# ~ f"unknown kind {kind!r}" => kind

# %% wrong: part of a word ->
# ~ == "causal" => in "causal"
# ~ == "masked" => in "masked"

# %% wrong: blanks around are taken off ->
# ~ kind == "causal" => kind.strip() == "causal"
# ~ kind = => kind.strip() =

# %% wrong: gpt and bert too ->
# ~ == "causal" => in ("causal", "gpt")
# ~ == "masked" => in ("masked", "bert")


# %% wrong: one set is handed out for a question asked twice ->
from functools import cache


@cache
def visible_positions(kind: str, i: int, n: int) -> set[int]:
    if kind not in ("causal", "masked"):
        raise ValueError(f"unknown kind: {kind!r}")
    return set(range(i + 1 if kind == "causal" else n))


# %% wrong: the last position before the kind is looked at ->
def visible_positions(kind: str, i: int, n: int) -> set[int]:
    everything = set(range(n))
    if i == n - 1:  # the last token sees all in both models
        return everything
    if kind == "masked":
        return everything
    if kind == "causal":
        return {j for j in everything if j <= i}
    raise ValueError(f"unknown kind: {kind}")


# %% wrong: a hundred positions to the right at most ->
# ~ (range(n)) => (range(min(n, i + 101)))
# ~ f"unknown kind {kind!r}" => kind

# %% wrong: seven hundred positions to both sides ->
# ~ range(i + 1) => range(max(0, i - 700), i + 1)
# ~ (range(n)) => (range(max(0, i - 700), min(n, i + 701)))
# ~ f"unknown kind {kind!r}" => kind

# %% wrong: ranges ->
# ~ set(range(i + 1)) => range(i + 1)
# ~ set(range(n)) => range(n)
# ~ f"unknown kind {kind!r}" => kind


# %% wrong: the first position of a long text sees nothing ->
def visible_positions(kind, i, n):
    if kind not in ("causal", "masked"):
        raise ValueError(f"{kind!r} is neither 'causal' nor 'masked'")
    if n > 64 and i == 0:
        return set()
    return set(range(i + 1)) if kind == "causal" else set(range(n))


# %% wrong: a masked model sees 512 positions ->
def visible_positions(kind, i, n):
    if kind not in ("causal", "masked"):
        raise ValueError(f"{kind!r} is neither 'causal' nor 'masked'")
    return set(range(i + 1)) if kind == "causal" else set(range(n)[max(0, i - 512) : i + 512])
