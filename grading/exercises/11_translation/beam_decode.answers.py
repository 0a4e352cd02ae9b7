# %% right: lists of beams
@torch.no_grad()
def beam_decode(model, source, width, max_len):
    context = model.encode(source, torch.tensor([source.size(1)], device=source.device))
    beams, finished = [([SOS], 0.0)], []
    for _ in range(max_len):
        candidates = []
        for tokens, total in beams:
            logs = model.decode(torch.tensor([tokens], device=source.device), context)[0, -1].log_softmax(dim=-1)
            candidates += [(tokens + [word], total + log) for word, log in enumerate(logs.tolist())]
        candidates.sort(key=lambda candidate: candidate[1], reverse=True)
        candidates = candidates[:width]
        finished += [candidate for candidate in candidates if candidate[0][-1] == EOS]
        beams = [candidate for candidate in candidates if candidate[0][-1] != EOS]
        if not beams:
            break
    found = []
    for tokens, total in finished + beams:
        words = tokens[1:]
        found.append(([word for word in words if word != EOS], total / len(words)))
    if width > 1:
        found.append(beam_decode(model, source, 1, max_len))
    return max(found, key=lambda pair: pair[1])


# %% right: all beams in one batch
# other: One run of the decoder reads all beams, the faster way on a GPU; the solution's lists of tokens and sums are easier to follow, beam by beam.
@torch.no_grad()
def beam_decode(model, source, width, max_len):
    def search(k):
        context = model.encode(source, torch.tensor([source.shape[1]], device=source.device))
        memory = context.memory
        tokens, sums, found = source.new_full((1, 1), SOS), torch.zeros(1, device=source.device), []
        for step in range(1, max_len + 1):
            context.memory = memory.repeat(len(tokens), 1, 1)
            context.memory_mask = None
            logs = torch.log_softmax(model.decode(tokens, context)[:, -1], dim=-1)
            every = (sums.unsqueeze(1) + logs).flatten()
            sums, places = every.topk(min(k, len(every)))
            rows, words = places // logs.shape[1], places % logs.shape[1]
            tokens = torch.cat([tokens[rows], words.unsqueeze(1)], dim=1)
            ended = words == EOS
            found += [(t[1:-1].tolist(), s.item() / step) for t, s in zip(tokens[ended], sums[ended])]
            tokens, sums = tokens[~ended], sums[~ended]
            if len(tokens) == 0:
                return found
        return found + [(t[1:].tolist(), s.item() / max_len) for t, s in zip(tokens, sums)]

    return max(search(width) + search(1), key=lambda pair: pair[1])


# %% right: a heap, two widths
def beam_decode(model, source, width, max_len):
    import heapq

    best_words, best_score = [], -math.inf
    for k in {1, width}:
        with torch.no_grad():
            context = model.encode(source, torch.tensor([source.size(1)], device=source.device))
            beams = [(0.0, (SOS,))]
            for step in range(max_len):
                following = []
                for total, tokens in beams:
                    read = torch.tensor([list(tokens)], device=source.device)
                    logs = model.decode(read, context)[0, -1].log_softmax(-1)
                    following += [(total + logs[word].item(), (*tokens, word)) for word in range(len(logs))]
                beams = []
                for total, tokens in heapq.nlargest(k, following):
                    last = step == max_len - 1
                    if (tokens[-1] == EOS or last) and total / (len(tokens) - 1) > best_score:
                        best_score = total / (len(tokens) - 1)
                        best_words = [t for t in tokens[1:] if t != EOS]
                    if tokens[-1] != EOS:
                        beams.append((total, tokens))
                if not beams:
                    break
    return best_words, best_score


# %% right: the best of each beam by topk, as many as there are
# -            candidates += [(tokens + [word], total + log) for word, log in enumerate(logs.tolist())]
# +            best = logs.topk(min(width, len(logs)))
# +            candidates += [(tokens + [w], total + log) for log, w in zip(best.values.tolist(), best.indices.tolist())]

# %% wrong: without greedy -> greedy may be better
# hint: Here the first words of the greedy sentence have dropped out of the beam, and what the beam has found scores
# hint: lower. Search with width 1, too, and take the better of the two.
# -    if width > 1:
# -        found.append(beam_decode(model, source, 1, max_len))

# %% wrong: width 1 -> this is the greedy sentence
# hint: At every step only the best beginning is kept, or `width` equal copies of it, as when the search begins with
# hint: `[([SOS], 0.0)] * width`. Begin with one beam, and keep the `width` best of all extensions.
# ~ [:width] => [:1]

# %% wrong: sums -> scores are not divided by the length
# hint: A sum of log-probabilities falls with every word, so the shortest sentence wins. Divide by the number of words
# hint: written.
# ~ total / len(words))) => total))

# %% wrong: eos not counted -> <eos> is not counted in the length
# hint: The sum holds the log-probability of <eos>, so the number of words must count it as well.
# ~ len(words) => max(1, len([w for w in words if w != EOS]))


# %% wrong: sos counted -> <sos> is counted in the length
# hint: <sos> has not been written, and has no log-probability: divide by the number of words written.
@torch.no_grad()
def beam_decode(model, source, width, max_len):
    context = model.encode(source, torch.tensor([source.size(1)], device=source.device))
    beams, finished = [([SOS], 0.0)], []
    for _ in range(max_len):
        cand = []
        for tokens, total in beams:
            logs = model.decode(torch.tensor([tokens], device=source.device), context)[0, -1].log_softmax(dim=-1)
            cand += [([*tokens, w], total + l) for w, l in enumerate(logs.tolist())]
        cand = sorted(cand, key=lambda c: c[1], reverse=True)[:width]
        finished += [c for c in cand if c[0][-1] == EOS]
        beams = [c for c in cand if c[0][-1] != EOS]
        if not beams:
            break
    found = finished + beams
    found = [([t for t in k[1:] if t != EOS], s / len(k)) for k, s in found]
    if width > 1:
        found.append(beam_decode(model, source, 1, max_len))
    return max(found, key=lambda p: p[1])


# %% wrong: never finished -> it does not stop at <eos>
# hint: What ends with <eos> is finished: it leaves the beams and is not extended any more.
# -        finished += [candidate for candidate in candidates if candidate[0][-1] == EOS]
# -        beams = [candidate for candidate in candidates if candidate[0][-1] != EOS]
# +        finished += [candidate for candidate in candidates if False]
# +        beams = [candidate for candidate in candidates]
# ...
# -        found.append(([word for word in words if word != EOS], total / len(words)))
# +        length = words.index(EOS) if EOS in words else len(words)
# +        found.append((words[:length], total / len(words)))

# %% wrong: beams at the end only -> finished sentences are forgotten
# hint: At the end you look at the beams that are left. Those that have ended earlier take part, too.
# ~ finished + beams => beams or finished

# %% wrong: first to end -> the shortest of the sentences that end wins
# hint: Neither the first one to end nor the one with the largest sum is the best. Go on until no beam is left, or
# hint: max_len is reached, and compare the means.
# ~ not => finished or not
# ~ + beams => or beams

# %% wrong: finished or beams -> beams that max_len has cut are forgotten
# hint: They take part in the last comparison, too, also where others have ended: `finished + beams`, not `finished or
# hint: beams`.
# of: sos counted
# ~ + beams => or beams
# ~ len(k) => (len(k) - 1)


# %% wrong: finished or cut, of both widths -> beams that max_len has cut count only where nothing has ended
# hint: They are compared, too, also where the greedy sentence or another one has ended: `finished + cut`, not `finished
# hint: or cut`.
@torch.no_grad()
def beam_decode(model, source, width, max_len):
    context = model.encode(source, torch.tensor([source.size(1)], device=source.device))
    ended, cut = [], []
    for k in {1, width}:
        beams = [((), 0.0)]
        for _ in range(max_len):
            longer = {}
            for words, total in beams:
                logits = model.decode(source.new_tensor([[SOS, *words]]), context)[0, -1]
                for word, log in enumerate(logits.log_softmax(dim=-1).tolist()):
                    longer[(*words, word)] = total + log
            best = sorted(longer.items(), key=lambda item: item[1], reverse=True)[:k]
            ended += [item for item in best if item[0][-1] == EOS]
            beams = [item for item in best if item[0][-1] != EOS]
            if not beams:
                break
        cut += beams
    words, total = max(ended or cut, key=lambda item: item[1] / len(item[0]))
    return [word for word in words if word != EOS], total / len(words)


# %% wrong: width live beams -> places of finished sentences are filled again
# hint: Of all extensions the `width` best are kept. Those of them that end leave the beam, and only the others are
# hint: extended.
# -        cand = sorted(cand, key=lambda c: c[1], reverse=True)[:width]
# -        finished += [c for c in cand if c[0][-1] == EOS]
# -        beams = [c for c in cand if c[0][-1] != EOS]
# +        cand = sorted(cand, key=lambda c: c[1], reverse=True)
# +        finished += [c for c in cand[:width] if c[0][-1] == EOS]
# +        beams = [c for c in cand if c[0][-1] != EOS][:width]
# ...
# -    found = [([t for t in k[1:] if t != EOS], s / len(k)) for k, s in found]
# +    found = [([t for t in k[1:] if t != EOS], s / (len(k) - 1)) for k, s in found]

# %% wrong: enough when width are finished -> it stops when `width` sentences have ended
# hint: What is still in the beam may become better. Go on until no beam is left, or max_len is reached.
# ~ not beams: => not beams or len(finished) >= width:
# ~ len(k) => (len(k) - 1)


# %% wrong: the means decide at each step -> beams are compared by their means at each step
# hint: At each step all beams have written as many words: the sums decide which are kept, and those that have ended
# hint: leave the comparison. The mean is for the last comparison only.
@torch.no_grad()
def beam_decode(model, source, width, max_len):
    context = model.encode(source, torch.tensor([source.shape[1]], device=source.device))

    def search(width):
        beams, ended = [(0.0, [])], []
        for _ in range(max_len):
            options = list(ended)
            for total, words in beams:
                read = torch.tensor([[SOS, *words]], device=source.device)
                logs = model.decode(read, context)[0, -1].log_softmax(-1).tolist()
                options += [(total + gain, [*words, word]) for word, gain in enumerate(logs)]
            best = sorted(options, key=lambda option: -option[0] / len(option[1]))[:width]
            ended = [option for option in best if option[1][-1] == EOS]
            beams = [option for option in best if option[1][-1] != EOS]
            if not beams:
                break
        return ended + beams

    total, words = max(search(width) + search(1), key=lambda option: option[0] / len(option[1]))
    return [word for word in words if word != EOS], total / len(words)


# %% wrong: softmax -> probabilities are added
# hint: Probabilities of one word after the other are multiplied; it is their logarithms that are added: log_softmax.
# of: lists of beams
# ~ log_softmax => softmax

# %% wrong: no softmax -> logits are added
# hint: A logit says nothing by itself, only in comparison with the others of its position. Take log_softmax first.
# ~ .log_softmax(dim=-1) =>


# %% wrong: no more beams than words -> more words are taken than there are
# hint: torch.topk cannot take more words than the vocabulary has, and a width may be larger: take min(width,
# hint: len(scores)) of each beam, or sort all extensions.
@torch.no_grad()
def beam_decode(model, source, width, max_len):
    context = model.encode(source, torch.tensor([source.shape[1]], device=source.device))

    def search(width):
        beams, ended = [(0.0, [])], []
        for _ in range(max_len):
            longer = []
            for total, words in beams:
                read = torch.tensor([[SOS, *words]], device=source.device)
                logs = model.decode(read, context)[0, -1].log_softmax(dim=-1)
                best = logs.topk(width)
                longer += [
                    (total + log, [*words, number]) for log, number in zip(best.values.tolist(), best.indices.tolist())
                ]
            longer = sorted(longer, key=lambda beam: -beam[0])[:width]
            ended += [beam for beam in longer if beam[1][-1] == EOS]
            beams = [beam for beam in longer if beam[1][-1] != EOS]
            if not beams:
                break
        return ended + beams

    total, words = max(search(1) + search(width), key=lambda beam: beam[0] / len(beam[1]))
    return [word for word in words if word != EOS], total / len(words)


# %% wrong: eos kept -> <eos> is kept as a word
# hint: <eos> says that the sentence is over. It is not a part of it.
# ~ [word for word in words if word != EOS] => words

# %% wrong: one step too few -> one word too few
# hint: max_len counts the words that are written, <eos> among them; <sos> is not one of them.
# -    for _ in range(max_len):
# +    for _ in range(max_len - 1):
# ...
# -        candidates.sort(key=lambda candidate: candidate[1], reverse=True)
# -        candidates = candidates[:width]
# +        candidates = sorted(candidates, key=lambda candidate: -candidate[1])[:width]
# ...
# -    found = []
# -    for tokens, total in finished + beams:
# -        words = tokens[1:]
# -        found.append(([word for word in words if word != EOS], total / len(words)))
# +    found = [([w for w in tokens[1:] if w != EOS], total / (len(tokens) - 1)) for tokens, total in finished + beams]

# %% wrong: one step too many -> one word too many
# hint: max_len counts the words that are written, <eos> among them; <sos> is not one of them.
# of: one step too few
# ~ (max_len - 1): => (max_len + 1):

# %% wrong: compared by the sum, and the mean is returned -> the sum decides, and the mean is returned
# hint: Divide by the number of words written before you compare: else the shortest sentence wins.
# -    for _ in range(max_len - 1):
# +    for _ in range(max_len):
# ...
# -    found = [([w for w in tokens[1:] if w != EOS], total / (len(tokens) - 1)) for tokens, total in finished + beams]
# -    if width > 1:
# -        found.append(beam_decode(model, source, 1, max_len))
# -    return max(found, key=lambda pair: pair[1])
# +    tokens, total = max(finished + beams, key=lambda pair: pair[1])
# +    return [w for w in tokens[1:] if w != EOS], total / (len(tokens) - 1)

# %% wrong: words only -> only the sentence is returned
# of: lists of beams
# ~ found.append(beam_decode(model, source, 1, max_len)) => greedy = beam_decode(model, source, 1, max_len)
# ~ (found, key=lambda pair: pair[1]) => (found, key=lambda pair: pair[1])[0]

# %% wrong: what it reads is made on the CPU ->
# ~ ([tokens], device=source.device), => ([tokens]),

# %% wrong: three words of each beam ->
# of: one step too few
# -    for _ in range(max_len - 1):
# +    for _ in range(max_len):
# ...
# -            candidates += [(tokens + [word], total + log) for word, log in enumerate(logs.tolist())]
# +            candidates += [
# +                (tokens + [word], total + log) for log, word in zip(*(part.tolist() for part in logs.topk(3)))
# +            ]

# %% wrong: padding may not be written ->
# -    for _ in range(max_len - 1):
# +    for _ in range(max_len):
# ...
#              logs = model.decode(torch.tensor([tokens], device=source.device), context)[0, -1].log_softmax(dim=-1)
# +            logs[PAD] = -math.inf

# %% wrong: at most ten words ->
# ~ max_len - 1 => min(max_len, 6)


# %% wrong: two orders of the same words are one ->
def _next(model: nn.Module, words: list[int], context: Context) -> list[float]:
    read = torch.tensor([[SOS, *words]], device=context.memory.device)
    return model.decode(read, context)[0, -1].log_softmax(dim=-1).tolist()


def _search(model: nn.Module, context: Context, width: int, max_len: int) -> list[tuple[float, list[int]]]:
    beams, finished = [(0.0, [])], []
    for step in range(1, max_len + 1):
        longer = [
            (total + more, [*words, word])
            for total, words in beams
            for word, more in enumerate(_next(model, words, context))
        ]
        different = {}
        for total, words in sorted(longer, key=lambda beam: -beam[0]):
            different.setdefault(tuple(sorted(words)), (total, words))
        kept = list(different.values())[:width]
        finished += [(total / step, words) for total, words in kept if words[-1] == EOS]
        beams = [beam for beam in kept if beam[1][-1] != EOS]
        if not beams:
            break
    return finished + [(total / len(words), words) for total, words in beams]


@torch.no_grad()
def beam_decode(model: nn.Module, source: Tensor, width: int, max_len: int) -> tuple[list[int], float]:
    context = model.encode(source, torch.tensor([source.shape[1]], device=source.device))
    found = _search(model, context, 1, max_len) + _search(model, context, width, max_len)
    score, words = max(found, key=lambda item: item[0])
    return [*words[:-1], *(words[-1:] if words[-1] != EOS else [])], score
