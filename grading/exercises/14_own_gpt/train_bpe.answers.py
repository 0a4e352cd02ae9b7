# %% right: different words with their counts
# other: It counts all pairs anew for each merge, which is short and hard to get wrong; the solution changes only the words that hold the pair, far less work when there are many merges.
def train_bpe(texts, merges):
    counts = Counter(word for text in texts for word in split_words(text))
    parts = {word: list(word.encode()) for word in counts}
    found = []
    while len(found) < merges:
        pairs = Counter()
        for word, numbers in parts.items():
            for pair in zip(numbers, numbers[1:]):
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        parts = {word: replace_pair(numbers, best, 256 + len(found)) for word, numbers in parts.items()}
        found.append(best)
    return found


# %% right: every word of the text, one by one
def train_bpe(texts, merges):
    words = [list(word.encode("utf-8")) for text in texts for word in split_words(text)]
    result = []
    for new in range(256, 256 + merges):
        pairs = {}
        for word in words:
            for i in range(len(word) - 1):
                pair = (word[i], word[i + 1])
                pairs[pair] = pairs.get(pair, 0) + 1
        if len(pairs) == 0:
            return result
        most = max(pairs.values())
        best = sorted(pair for pair, count in pairs.items() if count == most)[0]
        words = [replace_pair(word, best, new) for word in words]
        result.append(best)
    return result


# %% right: words as tuples, and a merge of its own
def train_bpe(texts, merges):
    counts = {}
    for text in texts:
        for word in split_words(text):
            key = tuple(word.encode())
            counts[key] = counts.get(key, 0) + 1
    result = []
    while len(result) < merges:
        pairs = Counter()
        for word, count in counts.items():
            for a, b in zip(word[:-1], word[1:]):
                pairs[a, b] += count
        ranked = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))
        if not ranked:
            break
        (a, b), _ = ranked[0]
        new = 256 + len(result)
        changed = {}
        for word, count in counts.items():
            made, i = [], 0
            while i < len(word):
                if i + 1 < len(word) and word[i] == a and word[i + 1] == b:
                    made.append(new)
                    i += 2
                else:
                    made.append(word[i])
                    i += 1
            changed[tuple(made)] = changed.get(tuple(made), 0) + count
        counts = changed
        result.append((a, b))
    return result


# %% right: recursive
def train_bpe(texts, merges):
    counts = Counter(word for text in texts for word in split_words(text))

    def go_on(parts, found):
        pairs = Counter()
        for word in parts:
            for pair in zip(parts[word], parts[word][1:]):
                pairs.update({pair: counts[word]})
        if not pairs or len(found) == merges:
            return found
        best = min(sorted(pairs), key=lambda pair: -pairs[pair])
        new = 256 + len(found)
        return go_on({word: replace_pair(parts[word], best, new) for word in parts}, [*found, best])

    return go_on({word: list(word.encode()) for word in counts}, [])


# %% right: counts are kept up to date
def train_bpe(texts, merges):
    counts = Counter(word for text in texts for word in split_words(text))
    parts = {word: list(word.encode()) for word in counts}
    pairs, places = Counter(), defaultdict(set)
    for word, numbers in parts.items():
        for pair in zip(numbers, numbers[1:]):
            pairs[pair] += counts[word]
            places[pair].add(word)
    found = []
    while (most := max(pairs.values(), default=0)) > 0 and len(found) < merges:
        best = min(pair for pair, count in pairs.items() if count == most)
        for word in places.pop(best):
            old, new = parts[word], replace_pair(parts[word], best, 256 + len(found))
            for pair in zip(old, old[1:]):
                pairs[pair] -= counts[word]
            for pair in zip(new, new[1:]):
                pairs[pair] += counts[word]
                places[pair].add(word)
            parts[word] = new
        found.append(best)
    return found


# %% right: a heap of counts, old entries are thrown away when they come up
def train_bpe(texts, merges):
    import heapq

    frequency = Counter(word for text in texts for word in split_words(text))
    words = [(list(word.encode()), times) for word, times in frequency.items()]
    pairs, where = Counter(), {}
    for place, (word, times) in enumerate(words):
        for pair in zip(word, word[1:]):
            pairs[pair] += times
            where.setdefault(pair, set()).add(place)
    heap = [(-count, pair) for pair, count in pairs.items()]
    heapq.heapify(heap)
    learned = []
    while heap and len(learned) < merges:
        count, best = heapq.heappop(heap)
        if pairs[best] != -count or not count:
            continue
        number, changed = 256 + len(learned), set()
        for place in where[best]:
            word, times = words[place]
            for pair in zip(word, word[1:]):
                pairs[pair] -= times
                changed.add(pair)
            word = replace_pair(word, best, number)
            for pair in zip(word, word[1:]):
                pairs[pair] += times
                changed.add(pair)
                where.setdefault(pair, set()).add(place)
            words[place] = word, times
        for pair in changed:
            heapq.heappush(heap, (-pairs[pair], pair))
        learned.append(best)
    return learned


# %% wrong: the whole text is one word -> pairs reach across words
# hint: A piece such as the end of one word with the beginning of the next helps in this text and in no other. Count the
# hint: pairs of each word by itself.
# ~ split_words(text) => [text]

# %% wrong: counts 1 for each word -> each word counts once
# hint: A pair in a word that occurs fifty times occurs fifty times: add the count of the word, not 1.
# ~ counts[word] => 1

# %% wrong: a text that comes again is not counted again -> texts that come again are counted once
# hint: A text that stands in the list three times is read three times: a set of the texts forgets two of them.
# ~ texts for => set(texts) for


# %% wrong: most common pairs of the beginning -> all pairs are counted at the beginning only
# hint: After a merge the words have new parts: their pairs must be counted again, so that pieces can grow.
def train_bpe(texts, merges):
    pairs = Counter()
    for text in texts:
        for word in split_words(text):
            numbers = list(word.encode())
            pairs.update(zip(numbers, numbers[1:]))
    return sorted(pairs, key=lambda pair: (-pairs[pair], pair))[:merges]


# %% wrong: only the new pairs are added to the counts -> the pairs that a merge took away are still counted
# hint: Where a, b becomes one piece in x, a, b, y, two other pairs are gone too: (x, a) and (b, y). Whoever keeps
# hint: counts up to date subtracts all pairs of the old parts of a word and adds all pairs of the new ones.
def train_bpe(texts, merges):
    counts = Counter(word for text in texts for word in split_words(text))
    parts = {word: list(word.encode()) for word in counts}
    pairs = Counter()
    for word, numbers in parts.items():
        for pair in zip(numbers, numbers[1:]):
            pairs[pair] += counts[word]
    found = []
    while pairs and len(found) < merges:
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        new = 256 + len(found)
        pairs.pop(best)
        for word in parts:
            parts[word] = replace_pair(parts[word], best, new)
            for pair in zip(parts[word], parts[word][1:]):
                if new in pair:
                    pairs[pair] += counts[word]
        found.append(best)
    return found


# %% wrong: ord of each sign -> characters in place of bytes
# hint: é is one character and two bytes. With characters, what was never read has no number: use word.encode().
# ~ list(word.encode()) => [ord(sign) for sign in word]

# %% wrong: most_common(1) -> of equally frequent pairs, the one met first
# hint: What is met first depends on the order of the texts. Of equally frequent pairs take the smallest.
# ~ min(pairs, key=lambda pair: (-pairs[pair], pair)) => pairs.most_common(1)[0][0]

# %% wrong: max with the pair -> of equally frequent pairs, the largest
# hint: The counts are right, but max with (count, pair) takes the largest pair where counts are equal.
# ~ min(pairs, key=lambda pair: (-pairs[pair], pair)) => max(pairs, key=lambda pair: (pairs[pair], pair))

# %% wrong: text.split -> the spaces are lost
# hint: text.split() throws the spaces away, and no text could be put together again. split_words keeps them.
# ~ split_words(text) => text.split()

# %% wrong: zip of every second -> every other pair is counted
# hint: Neighbours overlap: a word of four bytes has three pairs of neighbours, not two.
# ~ zip(numbers, numbers[1:]) => list(zip(numbers, numbers[1:]))[::2]

# %% wrong: stops when all pairs are single -> pairs that occur once are not merged
# hint: The list ends when no pair is left at all, and not already when no pair occurs twice.
# ~ not pairs => max(pairs.values(), default=0) < 2

# %% wrong: no end -> it crashes when nothing is left to merge
# hint: When every word is one piece, there is no pair to choose from: return the merges found so far.
# -        if not pairs:
# -            break


# %% wrong: overlapping neighbours are not counted ->
def train_bpe(texts, merges):
    words = [list(word.encode()) for text in texts for word in split_words(text)]
    learned = []
    for n in range(merges):
        pairs = Counter()
        for word in words:
            skip = False
            for a, b in zip(word, word[1:]):
                if a == b and skip:
                    skip = False
                    continue
                pairs[a, b] += 1
                skip = a == b
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        words = [replace_pair(word, best, 256 + n) for word in words]
        learned.append(best)
    return learned


# %% wrong: ties are broken by the bytes that the pair stands for ->
def train_bpe(texts, merges):
    words = [list(word.encode()) for text in texts for word in split_words(text)]
    learned, pieces = [], [bytes([n]) for n in range(256)]
    for n in range(merges):
        pairs = Counter(pair for word in words for pair in zip(word, word[1:]))
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pieces[pair[0]], pieces[pair[1]]))
        pieces.append(pieces[best[0]] + pieces[best[1]])
        words = [replace_pair(word, best, 256 + n) for word in words]
        learned.append(best)
    return learned


# %% wrong: ties are broken by the first number alone ->
def train_bpe(texts, merges):
    counts = Counter(word for text in texts for word in split_words(text))
    words = {word: list(word.encode()) for word in counts}
    learned = []
    while len(learned) < merges:
        pairs = Counter()
        for word, numbers in words.items():
            for pair in zip(numbers, numbers[1:]):
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair[0]))
        new = 256 + len(learned)
        words = {word: replace_pair(numbers, best, new) for word, numbers in words.items()}
        learned.append(best)
    return learned


# %% wrong: capitals become small ->
# of: ties are broken by the first number alone
# ~ (text) => (text.lower())
# ~ [0] =>

# %% wrong: one merge at least ->
# -    while len(learned) < merges:
# +    while True:
# ...
# -        best = min(pairs, key=lambda pair: (-pairs[pair], pair[0]))
# +        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
# ...
#          learned.append(best)
# +        if len(learned) >= merges:
# +            break


# %% wrong: white space of two bytes is left out ->
def train_bpe(texts, merges):
    words = [list(word.encode()) for text in texts for word in split_words(text) if word.strip()]
    pairs = []
    for new in range(256, 256 + merges):
        counts = Counter(pair for word in words for pair in zip(word, word[1:]))
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        pairs.append(best)
        words = [replace_pair(word, best, new) for word in words]
    return pairs


# %% wrong: 64 merges at most ->
# of: different words with their counts
# ~ merges: => min(merges, 64):

# %% wrong: words of more than 256 bytes are cut ->
# ~ (word.encode()) => (word.encode())[:256]

# %% wrong: one word at least is expected ->
# ~ not pairs => all(len(numbers) == 1 for numbers in parts.values()) and parts
