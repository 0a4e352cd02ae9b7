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


# %% wrong: without greedy -> greedy may be better
# of: lists of beams
# -    if width > 1:
# -        found.append(beam_decode(model, source, 1, max_len))


# %% wrong: width 1 -> this is the greedy sentence
# of: lists of beams
# -        candidates = candidates[:width]
# +        candidates = candidates[:1]


# %% wrong: argmax only -> this is the greedy sentence
@torch.no_grad()
def beam_decode(model, source, width, max_len):
    context = model.encode(source, torch.tensor([source.size(1)], device=source.device))
    tokens, total = [SOS], 0.0
    while len(tokens) <= max_len and tokens[-1] != EOS:
        logs = model.decode(torch.tensor([tokens], device=source.device), context)[0, -1].log_softmax(dim=-1)
        tokens.append(int(logs.argmax()))
        total += float(logs.max())
    return [word for word in tokens[1:] if word != EOS], total / (len(tokens) - 1)


# %% wrong: sums -> scores are not divided by the length
# of: lists of beams
# -        found.append(([word for word in words if word != EOS], total / len(words)))
# +        found.append(([word for word in words if word != EOS], total))


# %% wrong: eos not counted -> <eos> is not counted in the length
# of: lists of beams
# -        found.append(([word for word in words if word != EOS], total / len(words)))
# +        found.append(([word for word in words if word != EOS], total / max(1, len([w for w in words if w != EOS]))))


# %% wrong: never finished -> it does not stop at <eos>
# of: lists of beams
# -        finished += [candidate for candidate in candidates if candidate[0][-1] == EOS]
# -        beams = [candidate for candidate in candidates if candidate[0][-1] != EOS]
# +        finished += [candidate for candidate in candidates if False]
# +        beams = [candidate for candidate in candidates]
# ...
# -        found.append(([word for word in words if word != EOS], total / len(words)))
# +        length = words.index(EOS) if EOS in words else len(words)
# +        found.append((words[:length], total / len(words)))


# %% wrong: beams at the end only -> finished sentences are forgotten
# of: lists of beams
# -    for tokens, total in finished + beams:
# +    for tokens, total in beams or finished:


# %% wrong: first to end -> the shortest of the sentences that end wins
# of: lists of beams
# -        if not beams:
# +        if finished or not beams:
# ...
# -    for tokens, total in finished + beams:
# +    for tokens, total in finished or beams:


# %% wrong: the sum decides in the beam, and the mean against greedy -> the shortest of the sentences that end wins
# of: lists of beams
# -    found = []
# -    for tokens, total in finished + beams:
# -        words = tokens[1:]
# -        found.append(([word for word in words if word != EOS], total / len(words)))
# +    tokens, total = max(finished + beams, key=lambda pair: pair[1])
# +    found = [([word for word in tokens[1:] if word != EOS], total / (len(tokens) - 1))]


# %% wrong: softmax -> probabilities are added
# of: lists of beams
# -            logs = model.decode(torch.tensor([tokens], device=source.device), context)[0, -1].log_softmax(dim=-1)
# +            logs = model.decode(torch.tensor([tokens], device=source.device), context)[0, -1].softmax(dim=-1)


# %% wrong: no softmax -> logits are added
# of: lists of beams
# -            logs = model.decode(torch.tensor([tokens], device=source.device), context)[0, -1].log_softmax(dim=-1)
# +            logs = model.decode(torch.tensor([tokens], device=source.device), context)[0, -1]


# %% wrong: eos kept -> <eos> is kept as a word
# of: lists of beams
# -        found.append(([word for word in words if word != EOS], total / len(words)))
# +        found.append((words, total / len(words)))


# %% wrong: words only -> only the sentence is returned
# of: lists of beams
# -        found.append(beam_decode(model, source, 1, max_len))
# -    return max(found, key=lambda pair: pair[1])
# +        greedy = beam_decode(model, source, 1, max_len)
# +    return max(found, key=lambda pair: pair[1])[0]


# %% wrong: divides by the square of the length ->
# of: lists of beams
# -        found.append(([word for word in words if word != EOS], total / len(words)))
# +        found.append(([word for word in words if word != EOS], total / len(words) ** 2))


# %% wrong: sos kept ->
# of: lists of beams
# -        words = tokens[1:]
# -        found.append(([word for word in words if word != EOS], total / len(words)))
# +        words = tokens
# +        found.append(([word for word in words if word != EOS], total / (len(words) - 1)))


# %% wrong: finished or beams -> beams that max_len has cut are forgotten
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
    found = finished or beams
    found = [([t for t in k[1:] if t != EOS], s / (len(k) - 1)) for k, s in found]
    if width > 1:
        found.append(beam_decode(model, source, 1, max_len))
    return max(found, key=lambda p: p[1])


# %% wrong: finished or cut, of both widths -> beams that max_len has cut count only where nothing has ended
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


# %% wrong: what it reads is made on the CPU ->
# of: lists of beams
# -            logs = model.decode(torch.tensor([tokens], device=source.device), context)[0, -1].log_softmax(dim=-1)
# +            logs = model.decode(torch.tensor([tokens]), context)[0, -1].log_softmax(dim=-1)


# %% wrong: sos counted -> <sos> is counted in the length
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


# %% wrong: the width of each beam, and 30 in all ->
@torch.no_grad()
def beam_decode(model, source, width, max_len):
    beams, finished = [([SOS], 0.0)], []
    for _ in range(max_len):
        sources = source.expand(len(beams), -1)
        context = model.encode(sources, source.new_full((len(beams),), source.size(1)))
        read = torch.tensor([tokens for tokens, _ in beams], device=source.device)
        logs = model.decode(read, context)[:, -1].log_softmax(dim=-1)
        cand = []
        for (tokens, total), row in zip(beams, logs.tolist()):
            cand += sorted([([*tokens, w], total + l) for w, l in enumerate(row)], key=lambda c: c[1], reverse=True)[
                :width
            ]
        finished += [c for c in cand if c[0][-1] == EOS]
        beams = sorted((c for c in cand if c[0][-1] != EOS), key=lambda c: c[1], reverse=True)[:30]
        if not beams:
            break
    found = finished + beams
    found = [([t for t in k[1:] if t != EOS], s / (len(k) - 1)) for k, s in found]
    if width > 1:
        found.append(beam_decode(model, source, 1, max_len))
    return max(found, key=lambda p: p[1])


# %% wrong: width live beams -> places of finished sentences are filled again
@torch.no_grad()
def beam_decode(model, source, width, max_len):
    context = model.encode(source, torch.tensor([source.size(1)], device=source.device))
    beams, finished = [([SOS], 0.0)], []
    for _ in range(max_len):
        cand = []
        for tokens, total in beams:
            logs = model.decode(torch.tensor([tokens], device=source.device), context)[0, -1].log_softmax(dim=-1)
            cand += [([*tokens, w], total + l) for w, l in enumerate(logs.tolist())]
        cand = sorted(cand, key=lambda c: c[1], reverse=True)
        finished += [c for c in cand[:width] if c[0][-1] == EOS]
        beams = [c for c in cand if c[0][-1] != EOS][:width]
        if not beams:
            break
    found = finished + beams
    found = [([t for t in k[1:] if t != EOS], s / (len(k) - 1)) for k, s in found]
    if width > 1:
        found.append(beam_decode(model, source, 1, max_len))
    return max(found, key=lambda p: p[1])


# %% wrong: enough when width are finished -> it stops when `width` sentences have ended
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
        if not beams or len(finished) >= width:
            break
    found = finished + beams
    found = [([t for t in k[1:] if t != EOS], s / (len(k) - 1)) for k, s in found]
    if width > 1:
        found.append(beam_decode(model, source, 1, max_len))
    return max(found, key=lambda p: p[1])


# %% wrong: begins with equal copies -> this is the greedy sentence
@torch.no_grad()
def beam_decode(model, source, width, max_len):
    context = model.encode(source, torch.tensor([source.size(1)], device=source.device))
    beams, finished = [([SOS], 0.0)] * width, []
    for _ in range(max_len):
        candidates = []
        for tokens, total in beams:
            logs = model.decode(torch.tensor([tokens], device=source.device), context)[0, -1].log_softmax(dim=-1)
            candidates += [(tokens + [word], total + log) for word, log in enumerate(logs.tolist())]
        candidates = sorted(candidates, key=lambda candidate: -candidate[1])[:width]
        finished += [candidate for candidate in candidates if candidate[0][-1] == EOS]
        beams = [candidate for candidate in candidates if candidate[0][-1] != EOS]
        if not beams:
            break
    found = [([w for w in tokens[1:] if w != EOS], total / (len(tokens) - 1)) for tokens, total in finished + beams]
    if width > 1:
        found.append(beam_decode(model, source, 1, max_len))
    return max(found, key=lambda pair: pair[1])


# %% wrong: a width of 2, whatever is asked for ->
# of: lists of beams
# -        candidates.sort(key=lambda candidate: candidate[1], reverse=True)
# -        candidates = candidates[:width]
# +        candidates = sorted(candidates, key=lambda candidate: -candidate[1])[: min(width, 2)]
# ...
# -    found = []
# -    for tokens, total in finished + beams:
# -        words = tokens[1:]
# -        found.append(([word for word in words if word != EOS], total / len(words)))
# +    found = [([w for w in tokens[1:] if w != EOS], total / (len(tokens) - 1)) for tokens, total in finished + beams]


# %% wrong: three words of each beam ->
@torch.no_grad()
def beam_decode(model, source, width, max_len):
    context = model.encode(source, torch.tensor([source.size(1)], device=source.device))
    beams, finished = [([SOS], 0.0)], []
    for _ in range(max_len):
        candidates = []
        for tokens, total in beams:
            logs = model.decode(torch.tensor([tokens], device=source.device), context)[0, -1].log_softmax(dim=-1)
            candidates += [
                (tokens + [word], total + log) for log, word in zip(*(part.tolist() for part in logs.topk(3)))
            ]
        candidates = sorted(candidates, key=lambda candidate: -candidate[1])[:width]
        finished += [candidate for candidate in candidates if candidate[0][-1] == EOS]
        beams = [candidate for candidate in candidates if candidate[0][-1] != EOS]
        if not beams:
            break
    found = [([w for w in tokens[1:] if w != EOS], total / (len(tokens) - 1)) for tokens, total in finished + beams]
    if width > 1:
        found.append(beam_decode(model, source, 1, max_len))
    return max(found, key=lambda pair: pair[1])


# %% wrong: padding may not be written ->
@torch.no_grad()
def beam_decode(model, source, width, max_len):
    context = model.encode(source, torch.tensor([source.size(1)], device=source.device))
    beams, finished = [([SOS], 0.0)], []
    for _ in range(max_len):
        candidates = []
        for tokens, total in beams:
            logs = model.decode(torch.tensor([tokens], device=source.device), context)[0, -1].log_softmax(dim=-1)
            logs[PAD] = -math.inf
            candidates += [(tokens + [word], total + log) for word, log in enumerate(logs.tolist())]
        candidates = sorted(candidates, key=lambda candidate: -candidate[1])[:width]
        finished += [candidate for candidate in candidates if candidate[0][-1] == EOS]
        beams = [candidate for candidate in candidates if candidate[0][-1] != EOS]
        if not beams:
            break
    found = [([w for w in tokens[1:] if w != EOS], total / (len(tokens) - 1)) for tokens, total in finished + beams]
    if width > 1:
        found.append(beam_decode(model, source, 1, max_len))
    return max(found, key=lambda pair: pair[1])


# %% wrong: scores with one digit ->
# of: lists of beams
# -        candidates.sort(key=lambda candidate: candidate[1], reverse=True)
# -        candidates = candidates[:width]
# +        candidates = sorted(candidates, key=lambda candidate: -candidate[1])[:width]
# ...
# -    found = []
# -    for tokens, total in finished + beams:
# -        words = tokens[1:]
# -        found.append(([word for word in words if word != EOS], total / len(words)))
# +    found = [
# +        ([w for w in tokens[1:] if w != EOS], round(total / (len(tokens) - 1), 1)) for tokens, total in finished + beams
# +    ]


# %% wrong: one step too few -> one word too few
@torch.no_grad()
def beam_decode(model, source, width, max_len):
    context = model.encode(source, torch.tensor([source.size(1)], device=source.device))
    beams, finished = [([SOS], 0.0)], []
    for _ in range(max_len - 1):
        candidates = []
        for tokens, total in beams:
            logs = model.decode(torch.tensor([tokens], device=source.device), context)[0, -1].log_softmax(dim=-1)
            candidates += [(tokens + [word], total + log) for word, log in enumerate(logs.tolist())]
        candidates = sorted(candidates, key=lambda candidate: -candidate[1])[:width]
        finished += [candidate for candidate in candidates if candidate[0][-1] == EOS]
        beams = [candidate for candidate in candidates if candidate[0][-1] != EOS]
        if not beams:
            break
    found = [([w for w in tokens[1:] if w != EOS], total / (len(tokens) - 1)) for tokens, total in finished + beams]
    if width > 1:
        found.append(beam_decode(model, source, 1, max_len))
    return max(found, key=lambda pair: pair[1])


# %% wrong: one step too many -> one word too many
# of: one step too few
# -    for _ in range(max_len - 1):
# +    for _ in range(max_len + 1):


# %% wrong: compared by the sum, and the mean is returned -> the sum decides, and the mean is returned
@torch.no_grad()
def beam_decode(model, source, width, max_len):
    context = model.encode(source, torch.tensor([source.size(1)], device=source.device))
    beams, finished = [([SOS], 0.0)], []
    for _ in range(max_len):
        candidates = []
        for tokens, total in beams:
            logs = model.decode(torch.tensor([tokens], device=source.device), context)[0, -1].log_softmax(dim=-1)
            candidates += [(tokens + [word], total + log) for word, log in enumerate(logs.tolist())]
        candidates = sorted(candidates, key=lambda candidate: -candidate[1])[:width]
        finished += [candidate for candidate in candidates if candidate[0][-1] == EOS]
        beams = [candidate for candidate in candidates if candidate[0][-1] != EOS]
        if not beams:
            break
    tokens, total = max(finished + beams, key=lambda pair: pair[1])
    return [w for w in tokens[1:] if w != EOS], total / (len(tokens) - 1)


# %% wrong: a beam is cut by its mean ->
# of: lists of beams
# -        candidates.sort(key=lambda candidate: candidate[1], reverse=True)
# -        candidates = candidates[:width]
# +        candidates = sorted(candidates, key=lambda candidate: -candidate[1] / (len(candidate[0]) - 1) ** 2)[
# +            : width if width < 3 else 3
# +        ]
# ...
# -    found = []
# -    for tokens, total in finished + beams:
# -        words = tokens[1:]
# -        found.append(([word for word in words if word != EOS], total / len(words)))
# +    found = [([w for w in tokens[1:] if w != EOS], total / (len(tokens) - 1)) for tokens, total in finished + beams]


# %% wrong: at most ten words ->
# of: one step too few
# -    for _ in range(max_len - 1):
# +    for _ in range(min(max_len, 6)):


# %% wrong: the means decide at each step -> beams are compared by their means at each step
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


# %% wrong: no more beams than words -> more words are taken than there are
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


# %% wrong: never more beams than words ->
def _search(model: nn.Module, context: Context, width: int, max_len: int) -> list[tuple[float, list[int]]]:
    beams, finished = [(0.0, [])], []
    for step in range(1, max_len + 1):
        sums = torch.stack(
            [
                total + model.decode(source.new_tensor([[SOS, *words]]), context)[0, -1].log_softmax(dim=-1)
                for total, words in beams
            ]
        )  # (beams, V)
        size = sums.shape[1]
        best = sums.flatten().topk(min(width, size))
        kept = []
        for total, place in zip(best.values.tolist(), best.indices.tolist()):
            kept.append((total, [*beams[place // size][1], place % size]))
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
    return [word for word in words if word != EOS], score


# %% wrong: the best of each beam by topk -> more words are taken than there are
# of: lists of beams
# -            candidates += [(tokens + [word], total + log) for word, log in enumerate(logs.tolist())]
# +            best = logs.topk(width)
# +            candidates += [(tokens + [w], total + log) for log, w in zip(best.values.tolist(), best.indices.tolist())]


# %% right: the best of each beam by topk, as many as there are
# of: lists of beams
# -            candidates += [(tokens + [word], total + log) for word, log in enumerate(logs.tolist())]
# +            best = logs.topk(min(width, len(logs)))
# +            candidates += [(tokens + [w], total + log) for log, w in zip(best.values.tolist(), best.indices.tolist())]


# %% wrong: it stops when one has ended, and compares what is open too ->
# of: lists of beams
# -        if not beams:
# +        if finished or not beams:


# %% wrong: finished ones take no place among the best -> places of finished sentences are filled again
@torch.no_grad()
def beam_decode(model, source, width, max_len):
    context = model.encode(source, torch.tensor([source.size(1)], device=source.device))

    def search(width):
        beams, finished = [([], 0.0)], []
        for _ in range(max_len):
            candidates = []
            for words, total in beams:
                written = torch.tensor([[SOS, *words]], device=source.device)
                logs = model.decode(written, context)[0, -1].log_softmax(-1)
                for number, log in enumerate(logs.tolist()):
                    ends = number == EOS
                    (finished if ends else candidates).append((words + [number], total + log))
            beams = sorted(candidates, key=lambda beam: -beam[1])[:width]
        return finished + beams

    words, total = max(search(width) + search(1), key=lambda beam: beam[1] / len(beam[0]))
    return [word for word in words if word != EOS], total / len(words)
