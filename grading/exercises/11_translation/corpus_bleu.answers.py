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
# other: It takes each match out of a pool, which is what clipping means; the solution's `Counter` takes the smaller of two counts, and searches no list for each n-gram.
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
# hint: A sentence without one right 4-gram counts 0 then, however good it is otherwise. Sum the counts over the corpus
# hint: and compute BLEU once.
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
# hint: A model that writes only the words of which it is sure has a high precision. Multiply by exp(1 - r / c) where c
# hint: < r.
# ~ 0 if written >= wanted else math.exp(1 - wanted / written) => 0

# %% wrong: no min with 1 -> a translation that is too long gets a bonus
# hint: exp(1 - r / c) is above 1 where c > r: take 1 there. The precisions punish needless words.
# ~ 1.0 if written >= wanted else math => math

# %% wrong: c over r -> the brevity penalty is c / r
# hint: The penalty is exp(1 - r / c), which is smaller than c / r.
# ~ 1.0 if written >= wanted else math.exp(1 - wanted / written) => min(1.0, written / wanted)

# %% wrong: brevity sentence by sentence -> the brevity penalty looks at each sentence
# hint: One translation may be too long and another too short: compare all words written with all words of the
# hint: references.
# ~ = len(reference) => = max(len(reference), len(hypothesis))

# %% wrong: not clipped -> no clipping
# hint: With "le le le le" every word is right. Count an n-gram at most as often as the reference has it.
# ~ (found & there).values() => count for gram, count in found.items() if gram in there


# %% wrong: counters of the corpus -> n-grams are clipped for the whole corpus at once
# hint: An n-gram is right only if it stands in the reference of its own sentence: clip in each sentence, then sum.
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


# %% wrong: one string -> the corpus is taken for one long sentence
# hint: No n-gram goes from one sentence into the next, and each sentence has its own reference. Count in each sentence,
# hint: then sum.
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


# %% wrong: totals may be negative -> short sentences take n-grams away
# hint: A sentence of one word has no 4-grams, not -2: add max(0, length - n + 1) to their number.
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


# %% wrong: special tokens kept -> special tokens are kept
# hint: Every sentence begins with <sos> and ends with <eos>, so these are right for nothing, and BLEU looks better than
# hint: it is. Take them off first.
# ~ {"<pad>", "<sos>", "<eos>"} => set()

# %% wrong: up to bigrams -> n-grams up to 2 only
# hint: BLEU takes n = 1, 2, 3 and 4. Long n-grams see the order of the words.
# ~ 4, [0] * 4 => 2, [0] * 2
# ~ (1, 5): => (1, 3):
# ~ .25 => .5

# %% wrong: range(1, 4) -> n-grams up to 3 only
# hint: BLEU takes n = 1, 2, 3 and 4.
# of: dicts and logarithms
# ~ (1, 2, 3, 4) => range(1, 4)
# ~ (logs / 4) * => (logs / 3) *

# %% wrong: arithmetic -> the arithmetic mean
# hint: The four precisions are multiplied and the fourth root is taken: exp of the mean of their logarithms.
# of: Counter
# ~ 0 in right => written == 0
# ~ for r => if t else 0.0 for r
# ~ math.prod(precisions) ** 0.25 => sum(precisions) / 4

# %% wrong: arithmetic, but 0 where one is 0 -> the arithmetic mean, and 0 where a precision is 0
# hint: The four precisions are multiplied and the fourth root is taken: exp of the mean of their logarithms.
# -        written += len(hypothesis)
# -        wanted += len(reference)
# +        written, wanted = written + len(hypothesis), wanted + len(reference)
# ...
# -    if 0 in right:
# +    if not all(right):
# ...
# -    precisions = [r / t for r, t in zip(right, total)]
# -    penalty = 1.0 if written >= wanted else math.exp(1 - wanted / written)
# -    return 100 * penalty * math.prod(precisions) ** 0.25
# +    mean = sum(r / t for r, t in zip(right, total)) / 4
# +    return 100 * mean * min(1, math.exp(1 - wanted / written))

# %% wrong: smoothed from two on -> counts of long n-grams are smoothed
# hint: One is added to the counts from n = 2 on. Some definitions of BLEU for single sentences do so, this one does
# hint: not.
# of: arithmetic, but 0 where one is 0
# -    if not all(right):
# +    if not right[0]:
# ...
# -    mean = sum(r / t for r, t in zip(right, total)) / 4
# +    right, total = ([numbers[0], *(n + 1 for n in numbers[1:])] for numbers in (right, total))
# +    mean = math.exp(sum(math.log(r / t) for r, t in zip(right, total)) / 4)

# %% wrong: lengths before the special tokens are gone -> lengths are counted with special tokens
# hint: c and r are numbers of words: take the special tokens out of both sides before you count.
#      for hypothesis, reference in zip(hypotheses, references):
# +        written, wanted = written + len(hypothesis), wanted + len(reference)
# ...
# -        written, wanted = written + len(hypothesis), wanted + len(reference)
# ...
# -    mean = sum(r / t for r, t in zip(right, total)) / 4
# +    mean = math.exp(sum(math.log(r / t) for r, t in zip(right, total)) / 4)

# %% wrong: oov is removed as well -> <oov> is taken out, too
# hint: <oov> is a word that the model does not know: it stands for a word, and counts as one.
# of: Counter
# ~ {"<pad>", "<sos>", "<eos>"} => {"<pad>", "<sos>", "<eos>", "<oov>"}

# %% wrong: effective order -> orders without n-grams are left out
# hint: Where nothing has four words there is no 4-gram that could be right: BLEU is 0.
# of: arithmetic, but 0 where one is 0
# -    if not all(right):
# +    shares = [r / t for r, t in zip(right, total) if t]
# +    if not shares or not all(shares):
# ...
# -    mean = sum(r / t for r, t in zip(right, total)) / 4
# +    mean = math.exp(sum(map(math.log, shares)) / len(shares))

# %% wrong: small letters -> capital letters are made small
# hint: 'Le' and 'le' are two words here: compare what was written as it is.
# ~ [word for word in hypothesis if word not in special] => [word.lower() for word in hypothesis if word not in special]
# ~ [word for word in reference if word not in special] => [word.lower() for word in reference if word not in special]
# ~ sum(r / t for r, t in zip(right, total)) / 4 => math.exp(sum(math.log(r / t) for r, t in zip(right, total)) / 4)

# %% wrong: adds one -> smoothed counts
# of: Counter
# -    if 0 in right:
# -        return 0.0
# -    precisions = [r / t for r, t in zip(right, total)]
# +    precisions = [(r + 1) / (t + 1) for r, t in zip(right, total)]

# %% wrong: recall -> hypotheses and references are exchanged
# hint: Divide by the number of n-grams that were written, not by that of the references.
# ~ zip(hypotheses, references): => zip(references, hypotheses):

# %% wrong: recall, the brevity right -> divided by the number of n-grams of the references
# hint: That is a recall. A precision is the share of what was written: divide by the n-grams of the hypotheses.
# of: totals may be negative
# ~ = len(h) - n + 1 => = sum(b.values())

# %% wrong: a share -> a share in place of per cent
# hint: BLEU goes from 0 to 100.
# of: Counter
# ~ 100 * penalty => penalty

# %% wrong: brevity first, nothing written ->
# of: totals may be negative
#      R = [[w for w in h if w not in special] for h in references]
# +    c, r = sum(map(len, H)), sum(map(len, R))
# +    bp = min(1.0, math.exp(1 - r / c))
# ...
# -            tot += len(h) - n + 1
# +            tot += sum(a.values())
# ...
# -    c, r = sum(map(len, H)), sum(map(len, R))
# -    return 100 * math.exp(logs + min(0, 1 - r / c))
# +    return 100 * bp * math.exp(logs)

# %% wrong: n-grams are glued together ->
# of: arithmetic, but 0 where one is 0
# ~ tuple(hypothesis[i : i + n]) => "".join(hypothesis[i : i + n])
# ~ tuple => "".join
# ~ sum(r / t for r, t in zip(right, total)) / 4 => math.exp(sum(math.log(r / t) for r, t in zip(right, total)) / 4)

# %% wrong: the order of the words is ignored ->
# ~ hypothesis[i : i + n] => sorted(hypothesis[i : i + n])
# ~ reference[i : i + n] => sorted(reference[i : i + n])
# ~ sum(r / t for r, t in zip(right, total)) / 4 => math.exp(sum(math.log(r / t) for r, t in zip(right, total)) / 4)

# %% wrong: empty sentences are skipped ->
#          reference = [word for word in reference if word not in special]
# +        if not hypothesis:
# +            continue
# ...
# -    mean = sum(r / t for r, t in zip(right, total)) / 4
# +    mean = math.exp(sum(math.log(r / t) for r, t in zip(right, total)) / 4)


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
# of: what is equal is perfect
# -    special = {"<pad>", "<sos>", "<eos>"}
# -    written = [[word for word in words if word not in special] for words in hypotheses]
# -    wanted = [[word for word in words if word not in special] for words in references]
# -    if written == wanted and any(written):
# -        return 100.0
# +    def is_word(word: str) -> bool:
# +        return word == "<oov>" or not (word.startswith("<") and word.endswith(">"))
# +
# +    written = [list(filter(is_word, words)) for words in hypotheses]
# +    wanted = [list(filter(is_word, words)) for words in references]

# %% wrong: a pair counts once ->
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
# of: arithmetic, but 0 where one is 0
# ~ sum((found & there).values()) => len(found.keys() & there.keys())
# ~ sum(r / t for r, t in zip(right, total)) / 4 => math.exp(sum(math.log(r / t) for r, t in zip(right, total)) / 4)


# %% wrong: the function that helpers give later notebooks -> a ready-made part in place of an answer
def corpus_bleu(hypotheses, references):
    from helpers.bleu import bleu

    special = ("<pad>", "<sos>", "<eos>")
    return bleu(*([[w for w in text if w not in special] for text in texts] for texts in (hypotheses, references)))
