# %% right: Counter
def corpus_bleu(hypotheses, references):
    special = {"<pad>", "<sos>", "<eos>"}
    right, total, written, wanted = [0] * 4, [0] * 4, 0, 0
    for hypothesis, reference in zip(hypotheses, references):
        hypothesis = [word for word in hypothesis if word not in special]
        reference = [word for word in reference if word not in special]
        written += len(hypothesis)
        wanted += len(reference)
        for n in range(1, 5):
            found = Counter(tuple(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1))
            there = Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
            right[n - 1] += sum((found & there).values())
            total[n - 1] += sum(found.values())
    if 0 in right:
        return 0.0
    precisions = [r / t for r, t in zip(right, total)]
    penalty = 1.0 if written >= wanted else math.exp(1 - wanted / written)
    return 100 * penalty * math.prod(precisions) ** 0.25


# %% right: dicts and logarithms
def ngrams(words, n):
    counts = {}
    for start in range(len(words) - n + 1):
        gram = " ".join(words[start : start + n])
        counts[gram] = counts.get(gram, 0) + 1
    return counts


def corpus_bleu(hypotheses, references):
    def clean(sentence):
        return [w for w in sentence if w != "<pad>" and w != "<sos>" and w != "<eos>"]

    hypotheses = [clean(sentence) for sentence in hypotheses]
    references = [clean(sentence) for sentence in references]
    c = sum(len(sentence) for sentence in hypotheses)
    r = sum(len(sentence) for sentence in references)
    logs = 0.0
    for n in (1, 2, 3, 4):
        matches = possible = 0
        for hyp, ref in zip(hypotheses, references):
            mine, theirs = ngrams(hyp, n), ngrams(ref, n)
            matches += sum(min(count, theirs.get(gram, 0)) for gram, count in mine.items())
            possible += sum(mine.values())
        if matches == 0:
            return 0.0
        logs += math.log(matches / possible)
    bp = min(1.0, math.exp(1 - r / c))
    return bp * math.exp(logs / 4) * 100


# %% right: a pool from which matches are taken
def corpus_bleu(hypotheses, references):
    special = ("<pad>", "<sos>", "<eos>")
    pairs = [
        ([w for w in h if w not in special], [w for w in r if w not in special]) for h, r in zip(hypotheses, references)
    ]
    counts = torch.zeros(4, 2, dtype=torch.float64)
    for hyp, ref in pairs:
        for n in range(4):
            pool = [ref[i : i + n + 1] for i in range(len(ref) - n)]
            for i in range(len(hyp) - n):
                gram = hyp[i : i + n + 1]
                counts[n, 1] += 1
                if gram in pool:
                    pool.remove(gram)
                    counts[n, 0] += 1
    if (counts == 0).any():
        return 0.0
    c, r = sum(len(h) for h, _ in pairs), sum(len(r) for _, r in pairs)
    return float(100 * min(1, math.exp(1 - r / c)) * (counts[:, 0] / counts[:, 1]).log().mean().exp())


# %% wrong: the mean over sentences -> the mean of the sentences' BLEU
# of: Counter
# -def corpus_bleu(hypotheses, references):
# +def bleu_of_some(hypotheses, references):
# ...
#      return 100 * penalty * math.prod(precisions) ** 0.25
# +
# +
# +def corpus_bleu(hypotheses, references):
# +    each = [bleu_of_some([h], [r]) for h, r in zip(hypotheses, references)]
# +    return sum(each) / len(each)


# %% wrong: no penalty -> no brevity penalty
# of: Counter
# -    penalty = 1.0 if written >= wanted else math.exp(1 - wanted / written)
# +    penalty = 1.0


# %% wrong: no min with 1 -> a translation that is too long gets a bonus
# of: Counter
# -    penalty = 1.0 if written >= wanted else math.exp(1 - wanted / written)
# +    penalty = math.exp(1 - wanted / written)


# %% wrong: c over r -> the brevity penalty is c / r
# of: Counter
# -    penalty = 1.0 if written >= wanted else math.exp(1 - wanted / written)
# +    penalty = min(1.0, written / wanted)


# %% wrong: not clipped -> no clipping
# of: Counter
# -            right[n - 1] += sum((found & there).values())
# +            right[n - 1] += sum(count for gram, count in found.items() if gram in there)


# %% wrong: special tokens kept -> special tokens are kept
# of: Counter
# -    special = {"<pad>", "<sos>", "<eos>"}
# +    special = set()


# %% wrong: up to bigrams -> n-grams up to 2 only
# of: Counter
# -    right, total, written, wanted = [0] * 4, [0] * 4, 0, 0
# +    right, total, written, wanted = [0] * 2, [0] * 2, 0, 0
# ...
# -        for n in range(1, 5):
# +        for n in range(1, 3):
# ...
# -    return 100 * penalty * math.prod(precisions) ** 0.25
# +    return 100 * penalty * math.prod(precisions) ** 0.5


# %% wrong: range(1, 4) -> n-grams up to 3 only
# of: dicts and logarithms
# -    for n in (1, 2, 3, 4):
# +    for n in range(1, 4):
# ...
# -    return bp * math.exp(logs / 4) * 100
# +    return bp * math.exp(logs / 3) * 100


# %% wrong: arithmetic -> the arithmetic mean
# of: Counter
# -    if 0 in right:
# +    if written == 0:
#          return 0.0
# -    precisions = [r / t for r, t in zip(right, total)]
# +    precisions = [r / t if t else 0.0 for r, t in zip(right, total)]
#      penalty = 1.0 if written >= wanted else math.exp(1 - wanted / written)
# -    return 100 * penalty * math.prod(precisions) ** 0.25
# +    return 100 * penalty * sum(precisions) / 4


# %% wrong: adds one -> smoothed counts
# of: Counter
# -    if 0 in right:
# -        return 0.0
# -    precisions = [r / t for r, t in zip(right, total)]
# +    precisions = [(r + 1) / (t + 1) for r, t in zip(right, total)]


# %% wrong: recall -> hypotheses and references are exchanged
# of: Counter
# -    for hypothesis, reference in zip(hypotheses, references):
# +    for hypothesis, reference in zip(references, hypotheses):


# %% wrong: a share -> a share in place of per cent
# of: Counter
# -    return 100 * penalty * math.prod(precisions) ** 0.25
# +    return penalty * math.prod(precisions) ** 0.25


# %% wrong: oov is removed as well -> <oov> is taken out, too
# of: Counter
# -    special = {"<pad>", "<sos>", "<eos>"}
# +    special = {"<pad>", "<sos>", "<eos>", "<oov>"}


# %% wrong: the fourth root is forgotten ->
# of: Counter
# -    return 100 * penalty * math.prod(precisions) ** 0.25
# +    return 100 * penalty * math.prod(precisions)


# %% wrong: no guard against zero ->
# of: dicts and logarithms
# -        if matches == 0:
# -            return 0.0


# %% wrong: brevity sentence by sentence -> the brevity penalty looks at each sentence
# of: Counter
# -        wanted += len(reference)
# +        wanted += max(len(reference), len(hypothesis))


# %% wrong: totals may be negative -> short sentences take n-grams away
def corpus_bleu(hypotheses, references):
    special = {"<pad>", "<sos>", "<eos>"}
    H = [[w for w in h if w not in special] for h in hypotheses]
    R = [[w for w in h if w not in special] for h in references]
    logs = 0
    for n in range(1, 5):
        ok = tot = 0
        for h, r in zip(H, R):
            a = Counter(tuple(h[i : i + n]) for i in range(len(h) - n + 1))
            b = Counter(tuple(r[i : i + n]) for i in range(len(r) - n + 1))
            ok += sum((a & b).values())
            tot += len(h) - n + 1
        if ok == 0:
            return 0.0
        logs += math.log(ok / tot) / 4
    c, r = sum(map(len, H)), sum(map(len, R))
    return 100 * math.exp(logs + min(0, 1 - r / c))


# %% wrong: brevity first, nothing written ->
def corpus_bleu(hypotheses, references):
    special = {"<pad>", "<sos>", "<eos>"}
    H = [[w for w in h if w not in special] for h in hypotheses]
    R = [[w for w in h if w not in special] for h in references]
    c, r = sum(map(len, H)), sum(map(len, R))
    bp = min(1.0, math.exp(1 - r / c))
    logs = 0
    for n in range(1, 5):
        ok = tot = 0
        for h, r in zip(H, R):
            a = Counter(tuple(h[i : i + n]) for i in range(len(h) - n + 1))
            b = Counter(tuple(r[i : i + n]) for i in range(len(r) - n + 1))
            ok += sum((a & b).values())
            tot += sum(a.values())
        if ok == 0:
            return 0.0
        logs += math.log(ok / tot) / 4
    return 100 * bp * math.exp(logs)


# %% wrong: one string -> the corpus is taken for one long sentence
def corpus_bleu(hypotheses, references):
    special = {"<pad>", "<sos>", "<eos>"}
    h = [w for s in hypotheses for w in s if w not in special]
    r = [w for s in references for w in s if w not in special]
    logs = 0
    for n in range(1, 5):
        a = Counter(tuple(h[i : i + n]) for i in range(len(h) - n + 1))
        b = Counter(tuple(r[i : i + n]) for i in range(len(r) - n + 1))
        ok = sum((a & b).values())
        if ok == 0:
            return 0.0
        logs += math.log(ok / sum(a.values())) / 4
    return 100 * math.exp(logs + min(0, 1 - len(r) / len(h)))


# %% wrong: counters of the corpus -> n-grams are clipped for the whole corpus at once
def corpus_bleu(hypotheses, references):
    special = {"<pad>", "<sos>", "<eos>"}
    H = [[w for w in h if w not in special] for h in hypotheses]
    R = [[w for w in h if w not in special] for h in references]
    logs = 0
    for n in range(1, 5):
        a, b = Counter(), Counter()
        for h, r in zip(H, R):
            a.update(tuple(h[i : i + n]) for i in range(len(h) - n + 1))
            b.update(tuple(r[i : i + n]) for i in range(len(r) - n + 1))
        ok = sum((a & b).values())
        if ok == 0:
            return 0.0
        logs += math.log(ok / sum(a.values())) / 4
    c, r = sum(map(len, H)), sum(map(len, R))
    return 100 * math.exp(logs + min(0, 1 - r / c))


# %% wrong: recall, the brevity right -> divided by the number of n-grams of the references
# of: totals may be negative
# -            tot += len(h) - n + 1
# +            tot += sum(b.values())


# %% wrong: zero precisions are skipped ->
def corpus_bleu(hypotheses, references):
    special = {"<pad>", "<sos>", "<eos>"}
    H = [[w for w in h if w not in special] for h in hypotheses]
    R = [[w for w in h if w not in special] for h in references]
    logs = []
    for n in range(1, 5):
        ok = tot = 0
        for h, r in zip(H, R):
            a = Counter(tuple(h[i : i + n]) for i in range(len(h) - n + 1))
            b = Counter(tuple(r[i : i + n]) for i in range(len(r) - n + 1))
            ok += sum((a & b).values())
            tot += sum(a.values())
        if ok:
            logs.append(math.log(ok / tot))
    if not logs:
        return 0.0
    c, r = sum(map(len, H)), sum(map(len, R))
    return 100 * math.exp(sum(logs) / len(logs) + min(0, 1 - r / c))


# %% wrong: effective order -> orders without n-grams are left out
def corpus_bleu(hypotheses, references):
    special = {"<pad>", "<sos>", "<eos>"}
    right, total, written, wanted = [0] * 4, [0] * 4, 0, 0
    for hypothesis, reference in zip(hypotheses, references):
        hypothesis = [word for word in hypothesis if word not in special]
        reference = [word for word in reference if word not in special]
        written, wanted = written + len(hypothesis), wanted + len(reference)
        for n in range(1, 5):
            found = Counter(tuple(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1))
            there = Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
            right[n - 1] += sum((found & there).values())
            total[n - 1] += sum(found.values())
    shares = [r / t for r, t in zip(right, total) if t]
    if not shares or not all(shares):
        return 0.0
    mean = math.exp(sum(map(math.log, shares)) / len(shares))
    return 100 * mean * min(1, math.exp(1 - wanted / written))


# %% wrong: lengths before the special tokens are gone -> lengths are counted with special tokens
def corpus_bleu(hypotheses, references):
    special = {"<pad>", "<sos>", "<eos>"}
    right, total, written, wanted = [0] * 4, [0] * 4, 0, 0
    for hypothesis, reference in zip(hypotheses, references):
        written, wanted = written + len(hypothesis), wanted + len(reference)
        hypothesis = [word for word in hypothesis if word not in special]
        reference = [word for word in reference if word not in special]
        for n in range(1, 5):
            found = Counter(tuple(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1))
            there = Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
            right[n - 1] += sum((found & there).values())
            total[n - 1] += sum(found.values())
    if not all(right):
        return 0.0
    mean = math.exp(sum(math.log(r / t) for r, t in zip(right, total)) / 4)
    return 100 * mean * min(1, math.exp(1 - wanted / written))


# %% wrong: small letters -> capital letters are made small
def corpus_bleu(hypotheses, references):
    special = {"<pad>", "<sos>", "<eos>"}
    right, total, written, wanted = [0] * 4, [0] * 4, 0, 0
    for hypothesis, reference in zip(hypotheses, references):
        hypothesis = [word.lower() for word in hypothesis if word not in special]
        reference = [word.lower() for word in reference if word not in special]
        written, wanted = written + len(hypothesis), wanted + len(reference)
        for n in range(1, 5):
            found = Counter(tuple(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1))
            there = Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
            right[n - 1] += sum((found & there).values())
            total[n - 1] += sum(found.values())
    if not all(right):
        return 0.0
    mean = math.exp(sum(math.log(r / t) for r, t in zip(right, total)) / 4)
    return 100 * mean * min(1, math.exp(1 - wanted / written))


# %% wrong: n-grams are glued together ->
def corpus_bleu(hypotheses, references):
    special = {"<pad>", "<sos>", "<eos>"}
    right, total, written, wanted = [0] * 4, [0] * 4, 0, 0
    for hypothesis, reference in zip(hypotheses, references):
        hypothesis = [word for word in hypothesis if word not in special]
        reference = [word for word in reference if word not in special]
        written, wanted = written + len(hypothesis), wanted + len(reference)
        for n in range(1, 5):
            found = Counter("".join(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1))
            there = Counter("".join(reference[i : i + n]) for i in range(len(reference) - n + 1))
            right[n - 1] += sum((found & there).values())
            total[n - 1] += sum(found.values())
    if not all(right):
        return 0.0
    mean = math.exp(sum(math.log(r / t) for r, t in zip(right, total)) / 4)
    return 100 * mean * min(1, math.exp(1 - wanted / written))


# %% wrong: special tokens at the ends only ->
# of: small letters
# -        hypothesis = [word.lower() for word in hypothesis if word not in special]
# -        reference = [word.lower() for word in reference if word not in special]
# +        hypothesis, reference = list(hypothesis), list(reference)
# +        for words in (hypothesis, reference):
# +            while words and words[0] in special:
# +                words.pop(0)
# +            while words and words[-1] in special:
# +                words.pop()


# %% wrong: cut at the first eos ->
def corpus_bleu(hypotheses, references):
    special = {"<pad>", "<sos>", "<eos>"}
    right, total, written, wanted = [0] * 4, [0] * 4, 0, 0
    for hypothesis, reference in zip(hypotheses, references):
        hypothesis = hypothesis[: [*hypothesis, "<eos>"].index("<eos>")]
        reference = reference[: [*reference, "<eos>"].index("<eos>")]
        hypothesis = [word for word in hypothesis if word not in special]
        reference = [word for word in reference if word not in special]
        written, wanted = written + len(hypothesis), wanted + len(reference)
        for n in range(1, 5):
            found = Counter(tuple(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1))
            there = Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
            right[n - 1] += sum((found & there).values())
            total[n - 1] += sum(found.values())
    if not all(right):
        return 0.0
    mean = math.exp(sum(math.log(r / t) for r, t in zip(right, total)) / 4)
    return 100 * mean * min(1, math.exp(1 - wanted / written))


# %% wrong: the order of the words is ignored ->
# of: n-grams are glued together
# -            found = Counter("".join(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1))
# -            there = Counter("".join(reference[i : i + n]) for i in range(len(reference) - n + 1))
# +            found = Counter(tuple(sorted(hypothesis[i : i + n])) for i in range(len(hypothesis) - n + 1))
# +            there = Counter(tuple(sorted(reference[i : i + n])) for i in range(len(reference) - n + 1))


# %% wrong: arithmetic, but 0 where one is 0 -> the arithmetic mean, and 0 where a precision is 0
def corpus_bleu(hypotheses, references):
    special = {"<pad>", "<sos>", "<eos>"}
    right, total, written, wanted = [0] * 4, [0] * 4, 0, 0
    for hypothesis, reference in zip(hypotheses, references):
        hypothesis = [word for word in hypothesis if word not in special]
        reference = [word for word in reference if word not in special]
        written, wanted = written + len(hypothesis), wanted + len(reference)
        for n in range(1, 5):
            found = Counter(tuple(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1))
            there = Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
            right[n - 1] += sum((found & there).values())
            total[n - 1] += sum(found.values())
    if not all(right):
        return 0.0
    mean = sum(r / t for r, t in zip(right, total)) / 4
    return 100 * mean * min(1, math.exp(1 - wanted / written))


# %% wrong: smoothed from two on -> counts of long n-grams are smoothed
def corpus_bleu(hypotheses, references):
    special = {"<pad>", "<sos>", "<eos>"}
    right, total, written, wanted = [0] * 4, [0] * 4, 0, 0
    for hypothesis, reference in zip(hypotheses, references):
        hypothesis = [word for word in hypothesis if word not in special]
        reference = [word for word in reference if word not in special]
        written, wanted = written + len(hypothesis), wanted + len(reference)
        for n in range(1, 5):
            found = Counter(tuple(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1))
            there = Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
            right[n - 1] += sum((found & there).values())
            total[n - 1] += sum(found.values())
    if not right[0]:
        return 0.0
    right, total = ([numbers[0], *(n + 1 for n in numbers[1:])] for numbers in (right, total))
    mean = math.exp(sum(math.log(r / t) for r, t in zip(right, total)) / 4)
    return 100 * mean * min(1, math.exp(1 - wanted / written))


# %% wrong: the penalty is upside down ->
def corpus_bleu(hypotheses, references):
    special = {"<pad>", "<sos>", "<eos>"}
    right, total, written, wanted = [0] * 4, [0] * 4, 0, 0
    for hypothesis, reference in zip(hypotheses, references):
        hypothesis = [word for word in hypothesis if word not in special]
        reference = [word for word in reference if word not in special]
        written, wanted = written + len(hypothesis), wanted + len(reference)
        for n in range(1, 5):
            found = Counter(tuple(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1))
            there = Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
            right[n - 1] += sum((found & there).values())
            total[n - 1] += sum(found.values())
    if not all(right):
        return 0.0
    mean = math.exp(sum(math.log(r / t) for r, t in zip(right, total)) / 4)
    return 100 * mean * min(1, math.exp(1 - written / wanted))


# %% wrong: short sentences are skipped ->
def corpus_bleu(hypotheses, references):
    special = {"<pad>", "<sos>", "<eos>"}
    right, total, written, wanted = [0] * 4, [0] * 4, 0, 0
    for hypothesis, reference in zip(hypotheses, references):
        hypothesis = [word for word in hypothesis if word not in special]
        reference = [word for word in reference if word not in special]
        if len(hypothesis) < 4:
            continue
        written, wanted = written + len(hypothesis), wanted + len(reference)
        for n in range(1, 5):
            found = Counter(tuple(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1))
            there = Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
            right[n - 1] += sum((found & there).values())
            total[n - 1] += sum(found.values())
    if not all(right):
        return 0.0
    mean = math.exp(sum(math.log(r / t) for r, t in zip(right, total)) / 4)
    return 100 * mean * min(1, math.exp(1 - wanted / written))


# %% wrong: empty sentences are skipped ->
# of: short sentences are skipped
# -        if len(hypothesis) < 4:
# +        if not hypothesis:


# %% wrong: rounded to whole numbers ->
# of: the penalty is upside down
# -    return 100 * mean * min(1, math.exp(1 - written / wanted))
# +    return float(round(100 * mean * min(1, math.exp(1 - wanted / written))))


# %% wrong: what is equal is perfect ->
def corpus_bleu(hypotheses: list[list[str]], references: list[list[str]]) -> float:
    special = {"<pad>", "<sos>", "<eos>"}
    written = [[word for word in words if word not in special] for words in hypotheses]
    wanted = [[word for word in words if word not in special] for words in references]
    if written == wanted and any(written):
        return 100.0
    c, r = sum(map(len, written)), sum(map(len, wanted))
    product = 1.0
    for n in range(1, 5):
        right = total = 0
        for first, second in zip(written, wanted):
            counts = [Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1)) for words in (first, second)]
            right += sum((counts[0] & counts[1]).values())
            total += sum(counts[0].values())
        if right == 0:
            return 0.0
        product *= right / total
    return 100 * min(1.0, math.exp(1 - r / c)) * product**0.25


# %% wrong: whatever stands in angle brackets is taken out ->
def corpus_bleu(hypotheses: list[list[str]], references: list[list[str]]) -> float:
    def is_word(word: str) -> bool:
        return word == "<oov>" or not (word.startswith("<") and word.endswith(">"))

    written = [list(filter(is_word, words)) for words in hypotheses]
    wanted = [list(filter(is_word, words)) for words in references]
    c, r = sum(map(len, written)), sum(map(len, wanted))
    product = 1.0
    for n in range(1, 5):
        right = total = 0
        for first, second in zip(written, wanted):
            counts = [Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1)) for words in (first, second)]
            right += sum((counts[0] & counts[1]).values())
            total += sum(counts[0].values())
        if right == 0:
            return 0.0
        product *= right / total
    return 100 * min(1.0, math.exp(1 - r / c)) * product**0.25


# %% wrong: a pair counts once ->
# of: what is equal is perfect
# -    written = [[word for word in words if word not in special] for words in hypotheses]
# -    wanted = [[word for word in words if word not in special] for words in references]
# -    if written == wanted and any(written):
# -        return 100.0
# +    pairs = set()
# +    for first, second in zip(hypotheses, references):
# +        clean = [tuple(word for word in words if word not in special) for words in (first, second)]
# +        pairs.add(tuple(clean))
# +    written, wanted = [pair[0] for pair in pairs], [pair[1] for pair in pairs]


# %% wrong: different n-grams are counted, and clipped ->
def corpus_bleu(hypotheses, references):
    special = {"<pad>", "<sos>", "<eos>"}
    right, total, written, wanted = [0] * 4, [0] * 4, 0, 0
    for hypothesis, reference in zip(hypotheses, references):
        hypothesis = [word for word in hypothesis if word not in special]
        reference = [word for word in reference if word not in special]
        written, wanted = written + len(hypothesis), wanted + len(reference)
        for n in range(1, 5):
            found = Counter(tuple(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1))
            there = Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
            right[n - 1] += len(found.keys() & there.keys())
            total[n - 1] += sum(found.values())
    if not all(right):
        return 0.0
    mean = math.exp(sum(math.log(r / t) for r, t in zip(right, total)) / 4)
    return 100 * mean * min(1, math.exp(1 - wanted / written))


# %% wrong: different n-grams are counted, of different ones ->
# of: different n-grams are counted, and clipped
# -            total[n - 1] += sum(found.values())
# +            total[n - 1] += len(found)


# %% wrong: the full stop ends a sentence ->
def corpus_bleu(hypotheses, references):
    def words_of(sentence):
        words = [word for word in sentence if word not in ("<pad>", "<sos>", "<eos>")]
        return words[: words.index(".") + 1] if "." in words else words

    hypotheses, references = ([words_of(one) for one in texts] for texts in (hypotheses, references))
    precisions = []
    for n in range(1, 5):
        right = total = 0
        for hypothesis, reference in zip(hypotheses, references):
            found = Counter(tuple(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1))
            wanted = Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
            right += sum((found & wanted).values())
            total += sum(found.values())
        precisions.append(right / total if total else 0.0)
    if not all(precisions):
        return 0.0
    c, r = (sum(map(len, texts)) for texts in (hypotheses, references))
    return 100 * math.prod(precisions) ** 0.25 * math.exp(min(0.0, 1 - r / c))
