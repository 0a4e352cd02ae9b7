# %% right: a walk through the merges
def bpe_encode(text, merges):
    pieces = []
    for word in split_words(text):
        numbers = list(word.encode())
        for new, pair in enumerate(merges, 256):
            numbers = replace_pair(numbers, pair, new)
        pieces += numbers
    return pieces


# %% right: the lowest rank, again and again
# other: It looks only at pairs that the word has, however many merges there are, as GPT-2's encoder does; the solution is the definition itself, merge after merge.
def bpe_encode(text, merges):
    rank = {tuple(pair): n for n, pair in enumerate(merges)}
    result = []
    for word in split_words(text):
        numbers = list(word.encode("utf-8"))
        while len(numbers) > 1:
            pair = min(zip(numbers, numbers[1:]), key=lambda pair: rank.get(pair, math.inf))
            if pair not in rank:
                break
            numbers = replace_pair(numbers, pair, 256 + rank[pair])
        result.extend(numbers)
    return result


# %% right: a function for one word
def bpe_encode(text, merges):
    def encode_word(word):
        numbers = [byte for byte in bytes(word, "utf-8")]
        for n in range(len(merges)):
            made, i = [], 0
            while i < len(numbers):
                if numbers[i : i + 2] == list(merges[n]):
                    made.append(256 + n)
                    i += 2
                else:
                    made.append(numbers[i])
                    i += 1
            numbers = made
        return numbers

    return [number for word in split_words(text) for number in encode_word(word)]


# %% right: all words at once, merge by merge
def bpe_encode(text, merges):
    words = [list(word.encode()) for word in split_words(text)]
    for new, pair in enumerate(merges, start=256):
        words = [replace_pair(word, pair, new) for word in words]
    return sum(words, [])


# %% right: the lowest rank of a heap
import heapq


def bpe_encode(text, merges):
    ranks = {tuple(pair): rank for rank, pair in enumerate(merges)}

    def encode(word):
        symbols = list(word.encode())
        while True:
            heap = [ranks[pair] for pair in zip(symbols, symbols[1:]) if pair in ranks]
            if not heap:
                return symbols
            heapq.heapify(heap)
            symbols = replace_pair(symbols, merges[heap[0]], 256 + heap[0])

    return [piece for word in split_words(text) for piece in encode(word)]


# %% wrong: the longest piece -> the longest piece that fits is taken
# hint: That is another way of cutting (greedy from the left). Here the merges are made in the order in which they were
# hint: learned.
def bpe_encode(text, merges):
    pieces = [bytes([n]) for n in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    result = []
    for word in split_words(text):
        left = word.encode()
        while left:
            for size in range(len(left), 0, -1):
                if left[:size] in pieces:
                    result.append(pieces.index(left[:size]))
                    left = left[size:]
                    break
    return result


# %% wrong: the leftmost pair -> the first pair from the left is merged
# hint: The order of the list counts, and not the position in the word: of all pairs in the word, the one learned first
# hint: is merged first.
def bpe_encode(text, merges):
    rank = {pair: n for n, pair in enumerate(merges, 256)}
    result = []
    for word in split_words(text):
        numbers, i = list(word.encode()), 0
        while i < len(numbers) - 1:
            pair = (numbers[i], numbers[i + 1])
            if pair in rank:
                numbers[i : i + 2] = [rank[pair]]
                i = 0
            else:
                i += 1
        result += numbers
    return result


# %% wrong: the first occurrence only -> a merge is made once in a word
# hint: The same pair may stand in a word several times: replace_pair replaces all of them.
def bpe_encode(text, merges):
    result = []
    for word in split_words(text):
        numbers = list(word.encode())
        for new, pair in enumerate(merges, 256):
            for i in range(len(numbers) - 1):
                if (numbers[i], numbers[i + 1]) == pair:
                    numbers[i : i + 2] = [new]
                    break
        result += numbers
    return result


# %% wrong: the first occurrence, round after round -> merges take turns
# hint: A merge is made everywhere in the word before the next one comes: else a later one takes what an earlier one
# hint: would have had.
def bpe_encode(text, merges):
    result = []
    for word in split_words(text):
        numbers, again = list(word.encode()), True
        while again:
            again = False
            for n, pair in enumerate(merges):
                for i in range(len(numbers) - 1):
                    if (numbers[i], numbers[i + 1]) == pair:
                        numbers[i : i + 2] = [256 + n]
                        again = True
                        break
        result += numbers
    return result


# %% wrong: backwards, in place -> a pair is replaced from the right end of the word
# hint: Of three equal letters the first two are the pair: go through the word from left to right, as replace_pair does.
def bpe_encode(text, merges):
    cut = []
    for word in split_words(text):
        numbers = [byte for byte in word.encode()]
        for n, (a, b) in enumerate(merges):
            i = len(numbers) - 2
            while i >= 0:
                if numbers[i] == a and numbers[i + 1] == b:
                    numbers[i] = 256 + n
                    del numbers[i + 1]
                    i -= 1
                i -= 1
        cut += numbers
    return cut


# %% wrong: reversed merges -> what was learned last is merged first
# hint: Late merges are made of early ones: go through the list from its beginning.
# ~ enumerate(merges, 256) => reversed(list(enumerate(merges, 256)))

# %% wrong: enumerate from 0 -> the numbers of the merges begin at 0
# hint: 0 to 255 are the bytes. The first merge makes 256.
# ~ , 256 =>

# %% wrong: no words -> merges reach across words
# hint: A pair of the end of one word and the beginning of the next was never counted, and must not be merged.
# ~ split_words(text) => [text]

# %% wrong: ord -> characters in place of bytes
# hint: ord gives the number of a character, which may be 8364 or 128512. Take the bytes: word.encode().
# ~ list(word.encode()) => [ord(sign) for sign in word]

# %% wrong: ascii with ignore -> bytes above 127 are left out
# hint: Accents and emojis are made of these bytes: without them, the text cannot be put together again.
# ~ (word.encode()) => (word.encode("ascii", "ignore"))


# %% wrong: capitals become small ->
def bpe_encode(text, merges):
    numbers = []
    for word in split_words(text.lower()):
        part = list(word.encode())
        for n, pair in enumerate(merges):
            part = replace_pair(part, pair, 256 + n)
        numbers += part
    return numbers


# %% wrong: accents are composed first ->
import unicodedata


def bpe_encode(text, merges):
    out = []
    for w in split_words(unicodedata.normalize("NFC", text)):
        n = list(w.encode())
        for k, p in enumerate(merges):
            n = replace_pair(n, p, 256 + k)
        out += n
    return out


# %% wrong: words are kept for each number of merges ->
_known = {}


def bpe_encode(text, merges):
    found = []
    for word in split_words(text):
        if (word, len(merges)) not in _known:
            numbers = list(word.encode())
            for n, pair in enumerate(merges):
                numbers = replace_pair(numbers, pair, 256 + n)
            _known[word, len(merges)] = numbers
        found += _known[word, len(merges)]
    return found


# %% wrong: a word that is a piece is taken whole ->
def bpe_encode(text, merges):
    pieces = [bytes([byte]) for byte in range(256)]
    for first, second in merges:
        pieces.append(pieces[first] + pieces[second])
    whole = {piece: number for number, piece in enumerate(pieces)}
    found = []
    for word in split_words(text):
        if word.encode() in whole:
            found.append(whole[word.encode()])
            continue
        numbers = list(word.encode())
        for n, pair in enumerate(merges):
            numbers = replace_pair(numbers, pair, 256 + n)
        found += numbers
    return found


# %% wrong: of two pieces with the same bytes the first one ->
def bpe_encode(text, merges):
    pieces = [bytes([byte]) for byte in range(256)]
    for first, second in merges:
        pieces.append(pieces[first] + pieces[second])
    found = []
    for word in split_words(text):
        parts = [bytes([byte]) for byte in word.encode()]
        for first, second in merges:
            left, right, joined = pieces[first], pieces[second], []
            i = 0
            while i < len(parts):
                if i + 1 < len(parts) and parts[i] == left and parts[i + 1] == right:
                    joined.append(left + right)
                    i += 2
                else:
                    joined.append(parts[i])
                    i += 1
            parts = joined
        found += [pieces.index(part) for part in parts]
    return found


# %% wrong: words between spaces ->
def bpe_encode(text: str, merges: list[Pair]) -> list[int]:
    result: list[int] = []
    for word in re.findall(r" ?\S+|\s", text):
        numbers = list(word.encode())
        for n, pair in enumerate(merges):
            if len(numbers) == 1:
                break
            numbers = replace_pair(numbers, pair, 256 + n)
        result.extend(numbers)
    return result


# %% wrong: a call for each merge ->
def _merge_from(numbers: list[int], merges: list[Pair], n: int) -> list[int]:
    if n == len(merges):
        return numbers
    return _merge_from(replace_pair(numbers, merges[n], 256 + n), merges, n + 1)


def bpe_encode(text: str, merges: list[Pair]) -> list[int]:
    result: list[int] = []
    for word in split_words(text):
        result += _merge_from(list(word.encode()), merges, 0)
    return result


# %% wrong: a long word is cut in two first ->
def bpe_encode(text, merges):
    pieces = []
    for word in split_words(text):
        data = list(word.encode())
        for numbers in (data[:12], data[12:]):
            for new, pair in enumerate(merges, 256):
                numbers = replace_pair(numbers, pair, new)
            pieces += numbers
    return pieces


# %% wrong: words of at most 256 bytes ->
# ~ (word.encode()) => (word.encode())[:256]


# %% wrong: recursion over the words ->
def bpe_encode(text, merges):
    def encoded(words):
        if not words:
            return []
        numbers = list(words[0].encode())
        for new, pair in enumerate(merges, 256):
            numbers = replace_pair(numbers, pair, new)
        return numbers + encoded(words[1:])

    return encoded(split_words(text))


# %% wrong: the function that helpers give later notebooks -> a ready-made part in place of an answer
def bpe_encode(text, merges):
    from helpers.pieces import bpe_encode as cut

    return cut(text, merges)
