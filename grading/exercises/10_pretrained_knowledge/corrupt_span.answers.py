# %% right: three draws, cat and pad
def corrupt_span(text, rng, block):
    def draw(low, high):
        return int(torch.randint(low, high + 1, (), generator=rng))

    kept = text[: draw(min(4, len(text)), min(len(text), block - 1))]
    length = draw(1, max(1, len(kept) // 2 - 1))
    start = draw(0, len(kept) - length)
    mask = torch.tensor([MASK])
    whole = torch.full((block + 1,), PAD)
    moved = torch.cat([kept[:start], mask, kept[start + length :], mask, kept[start : start + length]])
    whole[: len(moved)] = moved
    return whole[:-1], whole[1:]


# %% right: lists, and a content of any length up to a half
# other: Lists joined by `+` show the order of the pieces in one short line; the solution writes the random draw once, as a function, and keeps the text a tensor.
def corrupt_span(text, rng, block):
    words = text.tolist()
    longest = min(len(words), block - 1)
    shortest = min(4, longest)
    kept = words[: torch.randint(shortest, longest + 1, (1,), generator=rng).item()]
    length = torch.randint(1, max(2, len(kept) // 2 + 1), (1,), generator=rng).item()
    start = torch.randint(len(kept) - length + 1, (1,), generator=rng).item()
    stop = start + length
    line = kept[:start] + [MASK] + kept[stop:] + [MASK] + kept[start:stop]
    line += [PAD] * (block + 1 - len(line))
    return torch.tensor(line[:block]), torch.tensor(line[1:])


# %% right: shares of rand, and a length around a quarter
def corrupt_span(text, rng, block):
    first, second, third = torch.rand(3, generator=rng).tolist()
    low, high = min(4, len(text)), min(len(text), block - 1)
    size = low + int(first * (high - low + 1))
    text = text[:size]
    length = min(size, max(1, round(size * (0.1 + 0.3 * second))))
    start = int(third * (size - length + 1))
    before, inside, after = text.split([start, length, size - start - length])
    gap = text.new_tensor([MASK])
    whole = torch.nn.functional.pad(torch.cat([before, gap, after, gap, inside]), (0, block - size - 1), value=PAD)
    x, y = whole[:block], whole[1 : block + 1]
    return [x, y]


# %% right: int32, and the positions of two cuts
def corrupt_span(text, rng, block):
    size = torch.randint(min(4, len(text)), min(len(text), block - 1) + 1, [1], generator=rng).item()
    kept = text[:size].clone()
    length = 1 + torch.randint(0, max(1, size // 2 - 1), [1], generator=rng).item()
    stop = torch.randint(length, size + 1, [1], generator=rng).item()
    order = [*range(stop - length), None, *range(stop, size), None, *range(stop - length, stop)]
    numbers = [MASK if position is None else int(kept[position]) for position in order]
    whole = torch.zeros(block + 1, dtype=torch.int32)
    whole[: len(numbers)] = torch.tensor(numbers, dtype=torch.int32)
    return whole[:block], whole[1:]


# %% right: by index, a share that is rounded by chance, and a permutation for the position
def corrupt_span(text, rng, block):
    u = torch.rand(3, generator=rng, dtype=torch.float64).tolist()
    top = min(text.numel(), block - 1)
    bottom = min(4, top)
    k = bottom + int(u[0] * (top - bottom + 1))
    mean = max(1.0, k / 4)
    length = int(1 + u[1] * (2 * mean - 2) + u[2]) if k >= 8 else max(1, k // 4 + (u[1] < (k % 4) / 4 and k > 4))
    begin = int(torch.randperm(k - length + 1, generator=rng)[0])
    position = torch.arange(k)
    inside = (position >= begin) & (position < begin + length)
    behind = position >= begin + length
    rank = torch.where(inside, k - length + 2 + position - begin, position - length * behind + behind)
    row = torch.zeros(block + 1, dtype=torch.long).fill_(PAD)
    row.scatter_(0, rank, text[:k].long())
    row[torch.tensor([begin, k - length + 1])] = MASK
    return row.narrow(0, 0, block).clone(), row.narrow(0, 1, block).clone()


# %% wrong: the same twice -> y is x itself
# hint: Under each number stands the same number: a model that copies what it reads would be perfect. Make one number
# hint: more than block, and let y begin one position later than x.
def corrupt_span(text, rng, block):
    def draw(low, high):
        return int(torch.randint(low, high + 1, (), generator=rng))

    kept = text[: draw(min(4, len(text)), min(len(text), block - 1))]
    length = draw(1, max(1, len(kept) // 2 - 1))
    start = draw(0, len(kept) - length)
    line = [
        *kept[:start].tolist(),
        MASK,
        *kept[start + length :].tolist(),
        MASK,
        *kept[start : start + length].tolist(),
    ]
    x = torch.tensor((line + [PAD] * block)[:block])
    return x, x.clone()


# %% wrong: input and target exchanged -> x is ahead of y
# hint: It is the other way round: y is the next number, so y begins with the second.
# of: the same twice
# ~ x = torch.tensor((line + [PAD] * block)[:block]) => whole = torch.tensor((line + [PAD] * block)[: block + 1])
# ~ x, x.clone() => whole[1:], whole[:-1]


# %% wrong: y filled with IGNORE -> y is filled with IGNORE
# hint: Fill both with <pad>: y is x one position ahead, in the padding too. IGNORE comes later, in `with_gaps`.
def corrupt_span(text, rng, block):
    n = min(len(text), block - 1)
    k = int(torch.randint(min(4, n), n + 1, (), generator=rng))
    kept = text[:k]
    length = int(torch.randint(1, max(2, k // 2), (), generator=rng))
    i = int(torch.randint(0, k - length + 1, (), generator=rng))
    m = torch.tensor([MASK])
    w = torch.cat([kept[:i], m, kept[i + length :], m, kept[i : i + length], torch.full((block + 1,), PAD)])[
        : block + 1
    ]
    return w[:-1], w[1:].masked_fill(w[1:] == PAD, IGNORE)


# %% wrong: len(text) after the cut is forgotten -> length and position of the content are drawn from the whole text
# hint: The text is cut first, and then the content often lies behind the cut: it is empty, and nothing is to be
# hint: learned. Draw length and position from what is kept.
def corrupt_span(text, rng, block):
    def draw(low, high):
        return int(torch.randint(low, high + 1, (), generator=rng))

    n = len(text)
    length = draw(1, max(1, n // 2 - 1))
    start = draw(0, n - length)
    kept = text[: draw(min(4, n), min(n, block - 1))].tolist()
    line = kept[:start] + [MASK] + kept[start + length :] + [MASK] + kept[start : start + length]
    whole = torch.tensor((line + [PAD] * block)[: block + 1])
    return whole[:-1], whole[1:]


# %% wrong: exactly a quarter -> the length of the content is always the same
# hint: A quarter is the mean. With one fixed length the model learns to count, and never has to know where a content
# hint: ends. Draw the length.
# of: len(text) after the cut is forgotten
# -    n = len(text)
# -    length = draw(1, max(1, n // 2 - 1))
# -    start = draw(0, n - length)
# -    kept = text[: draw(min(4, n), min(n, block - 1))].tolist()
# +    kept = text[: draw(min(4, len(text)), min(len(text), block - 1))].tolist()
# +    length = max(1, round(0.25 * len(kept)))
# +    start = draw(0, len(kept) - length)

# %% wrong: randint from 0 -> the content may be empty
# hint: A draw from 0 has the right mean, but where the content is empty nothing is hidden. Draw from 1 on.
# of: exactly a quarter
# ~ max(1, round(0.25 * len(kept))) => draw(0, len(kept) // 2)

# %% wrong: any length at all -> half of the text is hidden
# hint: A length drawn from 1 to all that is kept has a mean of one half. For a mean of a quarter, draw up to a half.
# ~ max(1, round(0.25 * len(kept))) => draw(1, len(kept))

# %% wrong: length up to a quarter -> the length of the content is drawn up to a quarter
# hint: A quarter is the mean, not the most. Draw up to a half, and the mean is a quarter.
# of: y filled with IGNORE
# ~ (2, k // 2), => (2, k // 4 + 1),
# ~ .masked_fill(w[1:] == PAD, IGNORE) =>

# %% wrong: cut only where needed -> the text is not cut at random
# hint: As much as fits is kept every time. Draw how much is kept, so that the model meets beginnings of all lengths.
# of: exactly a quarter
# ~ draw(min(4, len(text)), min(len(text), block - 1)) => block - 1
# ~ max(1, round(0.25 * len(kept))) => draw(1, max(1, len(kept) // 2 - 1))

# %% wrong: k up to block - 1 for every text -> short texts are kept whole too often
# hint: text[:k] with a k beyond the end of the text is the whole text. Draw k up to the smaller of len(text) and block
# hint: - 1.
# of: length up to a quarter
# -    n = min(len(text), block - 1)
# -    k = int(torch.randint(min(4, n), n + 1, (), generator=rng))
# +    k = int(torch.randint(4, block, (), generator=rng))
# ...
# -    length = int(torch.randint(1, max(2, k // 4 + 1), (), generator=rng))
# +    k = len(kept)
# +    length = int(torch.randint(1, max(2, k // 2), (), generator=rng))

# %% wrong: block minus 2 -> one number fewer is kept than fits
# hint: There are block + 1 positions, because x and y are cut from one list. With two masks, block - 1 numbers fit.
# of: y filled with IGNORE
# ~ (len(text), block - 1) => (len(text), block - 2)
# ~ .masked_fill(w[1:] == PAD, IGNORE) =>

# %% wrong: the masks take two positions of the content -> no room is left for the two masks
# hint: Two masks come in addition: of block + 1 positions, block - 1 are left for the text. Here the end of the content
# hint: is lost.
# of: exactly a quarter
# ~ - 1 => + 1
# ~ max(1, round(0.25 * len(kept))) => draw(1, max(1, len(kept) // 2 - 1))

# %% wrong: in brackets of masks -> the content stays in its place
# hint: Marked by two masks and left where it was, the content is predicted from its prefix only. Move it behind the
# hint: suffix, so that the model has read both sides.
# ~ max(1, round(0.25 * len(kept))) => draw(1, max(1, len(kept) // 2 - 1))
# ~ + length :] + [MASK] + kept[start : start + length => : start + length] + [MASK] + kept[start + length :

# %% wrong: content at once behind the suffix -> the second mask is missing
# hint: Without a mask between suffix and content, nothing tells the model where the content begins.
# ~ max(1, round(0.25 * len(kept))) => draw(1, max(1, len(kept) // 2 - 1))
# ~ [MASK] + kept[start : start + length] => kept[start : start + length]


# %% wrong: randint leaves its limit out -> the last number is never hidden
# hint: The last start is `kept - length`, and it counts: torch.randint leaves its upper limit out, so that must be kept
# hint: - length + 1.
def corrupt_span(text, rng, block):
    kept = text[: torch.randint(min(4, len(text)), min(len(text), block - 1) + 1, (), generator=rng)].tolist()
    length = int(torch.randint(1, max(2, len(kept) // 2), (), generator=rng))
    start = int(torch.randint(0, max(1, len(kept) - length), (), generator=rng))
    line = kept[:start] + [MASK] + kept[start + length :] + [MASK] + kept[start : start + length]
    whole = torch.tensor((line + [PAD] * block)[: block + 1])
    return whole[:-1], whole[1:]


# %% wrong: starts up to the last number -> the content may begin so late that it is cut
# hint: With a start up to the last number, text[start : start + length] often is shorter than `length`. The last start
# hint: at which all of the content fits is kept - length.
# of: y filled with IGNORE
# ~ (2, k // 2), => (2, k // 2 + 2),
# ~ k - length + 1, => k,
# ~ .masked_fill(w[1:] == PAD, IGNORE) =>

# %% wrong: cut at the end of what is kept ->
# of: y filled with IGNORE
# -    i = int(torch.randint(0, k - length + 1, (), generator=rng))
# +    i = int(torch.randint(0, k, (), generator=rng))
# +    length = min(length, k - i)
# ...
# -    return w[:-1], w[1:].masked_fill(w[1:] == PAD, IGNORE)
# +    return w[:-1], w[1:]

# %% wrong: min for the position -> the last position is drawn too often
# hint: min(start, kept - length) sends every start that is too late to the last position. Draw among the positions that
# hint: fit, each equally probable: torch.randint(0, kept - length + 1, ...).
# of: three draws, cat and pad
# -    start = draw(0, len(kept) - length)
# -    mask = torch.tensor([MASK])
# +    start = min(len(kept) - length, draw(0, len(kept)))
# +    mask, end = torch.tensor([MASK]), start + length
# +    moved = torch.cat([kept[:start], mask, kept[end:], mask, kept[start:end]])
# ...
# -    moved = torch.cat([kept[:start], mask, kept[start + length :], mask, kept[start : start + length]])

# %% wrong: fills up with <mask> -> the padding is made of masks
# hint: <mask> marks the gap and the content. Behind the content stands <pad>, which is not scored.
# of: exactly a quarter
# ~ max(1, round(0.25 * len(kept))) => draw(1, max(1, len(kept) // 2 - 1))
# ~ PAD => MASK


# %% wrong: numbers of another vocabulary, padding and mask behind the letters -> mask and padding have other numbers
# hint: The special tokens come first in every vocabulary of the course: <pad> is PAD (0) and <mask> is MASK (4),
# hint: whatever characters the text has. With other numbers the model reads letters where gaps are meant.
def corrupt_span(text, rng, block):
    def draw(low, high):
        return int(torch.randint(low, high + 1, (), generator=rng))

    mask, padding = int(text.max()) + 1, int(text.max()) + 2
    kept = text[: draw(min(4, len(text)), min(len(text), block - 1))].tolist()
    length = draw(1, max(1, len(kept) // 2 - 1))
    start = draw(0, len(kept) - length)
    line = kept[:start] + [mask] + kept[start + length :] + [mask] + kept[start : start + length]
    whole = torch.tensor((line + [padding] * block)[: block + 1])
    return whole[:-1], whole[1:]


# %% wrong: torch's own chance -> chance does not come from rng
# hint: Draw with torch.randint(..., generator=rng): only then does the same seed give the same run.
# ~ , generator=rng =>
# ~ max(1, round(0.25 * len(kept))) => draw(1, max(1, len(kept) // 2 - 1))

# %% wrong: starts again from the seed of rng -> every call draws the same numbers
# hint: A new generator with the seed of rng starts again at each call: every text is cut to the same length, and the
# hint: same position is hidden. Draw from rng itself: it goes on.
# of: three draws, cat and pad
# -    def draw(low, high):
# +    rng = torch.Generator().manual_seed(rng.initial_seed())
# +
# +    def draw(low, high):

# %% wrong: sets rng back to its seed -> every call draws the same numbers
# of: lists, and a content of any length up to a half
# -    words = text.tolist()
# +    rng.manual_seed(rng.initial_seed())
# +    words = text.tolist()

# %% wrong: texts of up to three numbers are cut ->
# of: min for the position
# -    kept = text[: draw(min(4, len(text)), min(len(text), block - 1))]
# +    n = len(text)
# +    kept = text[: draw(4, min(n, block - 1))] if n >= 4 else text[: draw(1, n)]
# ...
# -    start = min(len(kept) - length, draw(0, len(kept)))
# +    start = draw(0, len(kept) - length)


# %% wrong: one number for the length and for the position ->
def corrupt_span(text: Tensor, rng: torch.Generator, block: int) -> tuple[Tensor, Tensor]:
    top = min(len(text), block - 1)
    chance = int(torch.randint(0, 2**30, (), generator=rng))
    k = 4 + chance % (top - 3) if top >= 4 else top
    length = int(torch.randint(1, max(2, k // 2), (), generator=rng))
    start = chance % (k - length + 1)
    mask = text.new_tensor([MASK])
    whole = torch.cat([text[:start], mask, text[start + length : k], mask, text[start : start + length]])
    whole = torch.cat([whole, text.new_full((block + 1 - len(whole),), PAD)])
    return whole[:-1], whole[1:]


# %% wrong: short texts draw without rng ->
def corrupt_span(text: Tensor, rng: torch.Generator, block: int) -> tuple[Tensor, Tensor]:
    n = len(text)
    if n < 4:  # kept whole, one character is the content
        k, length = n, 1
        start = int(torch.randint(0, n, ()))
    else:
        k = int(torch.randint(4, min(n, block - 1) + 1, (), generator=rng))
        length = int(torch.randint(1, max(2, k // 2), (), generator=rng))
        start = int(torch.randint(0, k - length + 1, (), generator=rng))
    mask = text.new_tensor([MASK])
    whole = torch.cat([text[:start], mask, text[start + length : k], mask, text[start : start + length]])
    whole = torch.cat([whole, text.new_full((block + 1 - len(whole),), PAD)])
    return whole[:-1], whole[1:]


# %% wrong: the gap is where the content occurs first ->
def corrupt_span(text: Tensor, rng: torch.Generator, block: int) -> tuple[Tensor, Tensor]:
    top = min(len(text), block - 1)
    k = int(torch.randint(4, top + 1, (), generator=rng)) if top >= 4 else top
    length = int(torch.randint(1, max(2, k // 2), (), generator=rng))
    start = int(torch.randint(0, k - length + 1, (), generator=rng))
    letters = "".join(chr(n) for n in text[:k].tolist())
    prefix, content, suffix = letters.partition(letters[start : start + length])
    whole = [*map(ord, prefix), MASK, *map(ord, suffix), MASK, *map(ord, content)]
    whole = torch.tensor(whole + [PAD] * (block + 1 - len(whole)))
    return whole[:-1], whole[1:]


# %% wrong: a rounded share for how much is kept ->
def corrupt_span(text, rng, block):
    longest = min(len(text), block - 1)
    shortest = min(4, longest)
    kept = text[: shortest + round(float(torch.rand((), generator=rng)) * (longest - shortest))]
    length = int(torch.randint(1, max(1, len(kept) // 2 - 1) + 1, (), generator=rng))
    start = int(torch.randint(0, len(kept) - length + 1, (), generator=rng))
    mask = torch.tensor([MASK])
    moved = torch.cat([kept[:start], mask, kept[start + length :], mask, kept[start : start + length]])
    whole = torch.full((block + 1,), PAD)
    whole[: len(moved)] = moved
    return whole[:-1], whole[1:]
