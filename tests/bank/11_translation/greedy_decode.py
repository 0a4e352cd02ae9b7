# %% right: all steps, then cut
@torch.no_grad()
def greedy_decode(model, source, source_lengths, max_len):
    context = model.encode(source, source_lengths)
    written = torch.full((len(source), 1), SOS, device=source.device)
    for _ in range(max_len):
        word = model.decode(written, context)[:, -1].argmax(dim=-1, keepdim=True)
        written = torch.cat([written, word], dim=1)
    sentences = []
    for row in written[:, 1:].tolist():
        if EOS in row:
            row = row[: row.index(EOS)]
        sentences.append(row)
    return sentences


# %% right: with kept keys and values
def greedy_decode(model, source, source_lengths, max_len):
    with torch.no_grad():
        context = model.encode(source, source_lengths)
        context.cache = {}
        newest = source.new_full((len(source), 1), SOS)
        sentences = [[] for _ in source]
        open_rows = set(range(len(source)))
        for _ in range(max_len):
            newest = model.decode(newest, context).argmax(dim=-1)
            for row in list(open_rows):
                word = newest[row, 0].item()
                if word == EOS:
                    open_rows.remove(row)
                else:
                    sentences[row].append(word)
            if not open_rows:
                break
    return sentences


# %% right: until all have ended
@torch.no_grad()
def greedy_decode(model, source, source_lengths, max_len):
    context = model.encode(source, source_lengths)
    written = torch.full((len(source), 1), SOS, device=source.device)
    ended = torch.zeros_like(source_lengths, dtype=torch.bool)
    while not ended.all() and written.size(1) <= max_len:
        word = model.decode(written, context)[:, -1].argmax(dim=-1)
        written = torch.cat([written, word.unsqueeze(1)], dim=1)
        ended |= word == EOS
    sentences = written[:, 1:].tolist()
    return [words[: words.index(EOS)] if EOS in words else words for words in sentences]


# %% wrong: what holds PAD is padding ->
# of: all steps, then cut
# -    context = model.encode(source, source_lengths)
# +    context = model.encode(source, source.ne(PAD).sum(dim=1))


# %% wrong: encodes in the loop -> the memory is recomputed at every step
# of: all steps, then cut
# -    context = model.encode(source, source_lengths)
#      written = torch.full((len(source), 1), SOS, device=source.device)
#      for _ in range(max_len):
# +        context = model.encode(source, source_lengths)


# %% wrong: removes eos and goes on -> it does not stop at <eos>
@torch.no_grad()
def greedy_decode(model, source, source_lengths, max_len):
    context = model.encode(source, source_lengths)
    written = torch.full((len(source), 1), SOS)
    for _ in range(max_len):
        word = model.decode(written, context)[:, -1].argmax(dim=-1, keepdim=True)
        written = torch.cat([written, word], dim=1)
    return [[word for word in row if word != EOS] for row in written[:, 1:].tolist()]


# %% wrong: everything -> everything is kept, <eos> and what follows
# of: removes eos and goes on
# -    return [[word for word in row if word != EOS] for row in written[:, 1:].tolist()]
# +    return written[:, 1:].tolist()


# %% wrong: eos included -> <eos> is kept as a word
# of: all steps, then cut
# -            row = row[: row.index(EOS)]
# +            row = row[: row.index(EOS) + 1]


# %% wrong: stops with any -> all stop when the first one does
# of: until all have ended
# -    while not ended.all() and written.size(1) <= max_len:
# +    while not ended.any() and written.size(1) <= max_len:


# %% wrong: no lengths -> the padding of the source is read
# of: all steps, then cut
# -    context = model.encode(source, source_lengths)
# +    context = model.encode(source, None)


# %% wrong: starts with eos -> it begins with <eos>
# of: all steps, then cut
# -    written = torch.full((len(source), 1), SOS, device=source.device)
# +    written = torch.full((len(source), 1), EOS)


# %% wrong: starts with zeros -> it begins with <pad>
# of: all steps, then cut
# -    written = torch.full((len(source), 1), SOS, device=source.device)
# +    written = torch.zeros(len(source), 1, dtype=torch.long)


# %% wrong: reads place 0 -> the first place is read at every step
# of: all steps, then cut
# -        word = model.decode(written, context)[:, -1].argmax(dim=-1, keepdim=True)
# +        word = model.decode(written, context)[:, 0].argmax(dim=-1, keepdim=True)


# %% wrong: counts sos -> one word too few
# of: all steps, then cut
# -    for _ in range(max_len):
# +    for _ in range(max_len - 1):


# %% wrong: one more -> one word too many
# of: until all have ended
# -    while not ended.all() and written.size(1) <= max_len:
# +    while not ended.all() and written.size(1) <= max_len + 1:


# %% wrong: keeps sos -> <sos> is kept as a word
# of: all steps, then cut
# -    for row in written[:, 1:].tolist():
# +    for row in written.tolist():


# %% wrong: cache, but all words fed -> with a cache, old words are fed again
# of: all steps, then cut
#      context = model.encode(source, source_lengths)
# +    context.cache = {}


# %% wrong: calls the model as one -> the memory is recomputed at every step
@torch.no_grad()
def greedy_decode(model, source, source_lengths, max_len):
    written = torch.full((len(source), 1), SOS)
    for _ in range(max_len):
        logits = model(source, written, source_lengths)
        written = torch.cat([written, logits[:, -1:].argmax(dim=-1)], dim=1)
    return [(row + [EOS])[: (row + [EOS]).index(EOS)] for row in written[:, 1:].tolist()]


# %% wrong: the lowest logit ->
# of: all steps, then cut
# -        word = model.decode(written, context)[:, -1].argmax(dim=-1, keepdim=True)
# +        word = model.decode(written, context)[:, -1].argmin(dim=-1, keepdim=True)


# %% wrong: a tensor ->
# of: removes eos and goes on
# -    return [[word for word in row if word != EOS] for row in written[:, 1:].tolist()]
# +    return written[:, 1:]


# %% wrong: one sentence after the other -> each sentence is encoded for itself
@torch.no_grad()
def greedy_decode(model, source, source_lengths, max_len):
    out = []
    for s, n in zip(source, source_lengths):
        context = model.encode(s[None], n[None])
        read = torch.tensor([[SOS]])
        for _ in range(max_len):
            w = model.decode(read, context)[:, -1:].argmax(-1)
            if w.item() == EOS:
                break
            read = torch.cat([read, w], 1)
        out.append(read[0, 1:].tolist())
    return out


# %% wrong: six words, whatever is asked for ->
@torch.no_grad()
def greedy_decode(model, source, source_lengths, max_len):
    context = model.encode(source, source_lengths)
    written = torch.full((len(source), 1), SOS)
    for _ in range(6):
        logits = model.decode(written, context)[:, -1]
        written = torch.cat([written, logits.argmax(dim=-1, keepdim=True)], dim=1)
    return [(row + [EOS])[: (row + [EOS]).index(EOS)] for row in written[:, 1:].tolist()]


# %% wrong: no translation is empty ->
@torch.no_grad()
def greedy_decode(model, source, source_lengths, max_len):
    context = model.encode(source, source_lengths)
    written = torch.full((len(source), 1), SOS)
    for _ in range(max_len):
        logits = model.decode(written, context)[:, -1]
        if written.size(1) == 1:
            logits[:, EOS] = -math.inf
        written = torch.cat([written, logits.argmax(dim=-1, keepdim=True)], dim=1)
    return [(row + [EOS])[: (row + [EOS]).index(EOS)] for row in written[:, 1:].tolist()]


# %% wrong: cut at the last eos ->
@torch.no_grad()
def greedy_decode(model, source, source_lengths, max_len):
    context = model.encode(source, source_lengths)
    written = torch.full((len(source), 1), SOS)
    for _ in range(max_len):
        logits = model.decode(written, context)[:, -1]
        written = torch.cat([written, logits.argmax(dim=-1, keepdim=True)], dim=1)
    rows = written[:, 1:].tolist()
    return [row[: len(row) - 1 - row[::-1].index(EOS)] if EOS in row else row for row in rows]


# %% wrong: no word twice in a row ->
# of: no translation is empty
# -        if written.size(1) == 1:
# -            logits[:, EOS] = -math.inf
# +        logits.scatter_(1, written[:, -1:], -math.inf)


# %% wrong: special tokens are dropped -> special tokens that the model writes are dropped
@torch.no_grad()
def greedy_decode(model, source, source_lengths, max_len):
    context = model.encode(source, source_lengths)
    written = torch.full((len(source), 1), SOS)
    for _ in range(max_len):
        logits = model.decode(written, context)[:, -1]
        written = torch.cat([written, logits.argmax(dim=-1, keepdim=True)], dim=1)
    special = (PAD, SOS)
    return [
        [w for w in (row + [EOS])[: (row + [EOS]).index(EOS)] if w not in special] for row in written[:, 1:].tolist()
    ]


# %% wrong: empty whatever it is asked ->
# of: cut at the last eos
# -    rows = written[:, 1:].tolist()
# -    return [row[: len(row) - 1 - row[::-1].index(EOS)] if EOS in row else row for row in rows]
# +    return [[] for row in written[:, 1:].tolist()]


# %% wrong: what comes before <eos> without <pad> ->
@torch.no_grad()
def greedy_decode(model, source, source_lengths, max_len):
    context = model.encode(source, source_lengths)
    written = torch.full((len(source), 1), SOS)
    for _ in range(max_len):
        written = torch.cat([written, model.decode(written, context)[:, -1:].argmax(dim=-1)], dim=1)
    rows = []
    for row in written[:, 1:].tolist():
        row = row[: row.index(EOS)] if EOS in row else row
        rows.append([word for word in row if word != PAD])
    return rows


# %% wrong: exponentials without a maximum ->
@torch.no_grad()
def greedy_decode(model: nn.Module, source: Tensor, source_lengths: Tensor, max_len: int) -> list[list[int]]:
    context = model.encode(source, source_lengths)
    written = torch.full((len(source), 1), SOS, device=source.device)
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)
    for _ in range(max_len):
        powers = model.decode(written, context)[:, -1].exp()
        new = (powers / powers.sum(dim=-1, keepdim=True)).argmax(dim=-1)
        written = torch.cat([written, new[:, None]], dim=1)
        ended |= new == EOS
        if ended.all():
            break
    rows = written[:, 1:].tolist()
    return [row[: row.index(EOS)] if EOS in row else row for row in rows]


# %% wrong: at most 50 words more than the source ->
# of: exponentials without a maximum
# -    for _ in range(max_len):
# -        powers = model.decode(written, context)[:, -1].exp()
# -        new = (powers / powers.sum(dim=-1, keepdim=True)).argmax(dim=-1)
# +    for _ in range(min(max_len, source.shape[1] + 50)):
# +        new = model.decode(written, context)[:, -1].argmax(dim=-1)


# %% wrong: the model's own method -> a ready-made part in place of an answer
def greedy_decode(model, source, source_lengths, max_len):
    rows = model.greedy(source, source_lengths, SOS, EOS, max_len).tolist()


# %% wrong: 32 sentences at a time, and the rest is not translated ->
@torch.no_grad()
def greedy_decode(model, source, source_lengths, max_len):
    source, source_lengths = source[:32], source_lengths[:32]
    context = model.encode(source, source_lengths)
    written = torch.full((len(source), 1), SOS)
    for _ in range(max_len):
        best = model.decode(written, context)[:, -1].argmax(dim=-1, keepdim=True)
        written = torch.cat([written, best], dim=1)
        if (written == EOS).any(dim=1).all():
            break
    rows = written[:, 1:].tolist()
    return [row[: row.index(EOS)] if EOS in row else row for row in rows]


# %% wrong: <sos> on the CPU ->
# of: all steps, then cut
# -    written = torch.full((len(source), 1), SOS, device=source.device)
# +    written = torch.full((len(source), 1), SOS)
