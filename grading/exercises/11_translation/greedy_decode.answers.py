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
# other: Keys and values are kept, so that each step reads only the newest word; the solution needs no cache: it reads all that is written, and adds one word.
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


# %% wrong: encodes in the loop -> the memory is recomputed at every step
# hint: The words are right, but the encoder ran once for each of them. The source does not change while you write:
# hint: model.encode belongs before the loop.
# -    context = model.encode(source, source_lengths)
# ...
#      for _ in range(max_len):
# +        context = model.encode(source, source_lengths)


# %% wrong: calls the model as one -> the memory is recomputed at every step
@torch.no_grad()
def greedy_decode(model, source, source_lengths, max_len):
    written = torch.full((len(source), 1), SOS)
    for _ in range(max_len):
        logits = model(source, written, source_lengths)
        written = torch.cat([written, logits[:, -1:].argmax(dim=-1)], dim=1)
    return [(row + [EOS])[: (row + [EOS]).index(EOS)] for row in written[:, 1:].tolist()]


# %% wrong: one sentence after the other -> each sentence is encoded for itself
# hint: The words are right, but the encoder ran once for each sentence. Encode the batch at once, before the loop, and
# hint: let all sentences take each step together.
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


# %% wrong: removes eos and goes on -> it does not stop at <eos>
# hint: The model goes on after <eos>, because you ask it to. What comes after the first <eos> is no part of the
# hint: sentence.
@torch.no_grad()
def greedy_decode(model, source, source_lengths, max_len):
    context = model.encode(source, source_lengths)
    written = torch.full((len(source), 1), SOS)
    for _ in range(max_len):
        word = model.decode(written, context)[:, -1].argmax(dim=-1, keepdim=True)
        written = torch.cat([written, word], dim=1)
    return [[word for word in row if word != EOS] for row in written[:, 1:].tolist()]


# %% wrong: everything -> everything is kept, <eos> and what follows
# hint: Cut each sentence at its first <eos>, and leave that out.
# of: removes eos and goes on
# ~ [[word for word in row if word != EOS] for row in written[:, 1:].tolist()] => written[:, 1:].tolist()

# %% wrong: eos included -> <eos> is kept as a word
# hint: <eos> says that the sentence is over. It is not a part of it.
# of: all steps, then cut
# ~ [: row.index(EOS)] => [: row.index(EOS) + 1]

# %% wrong: stops with any -> all stop when the first one does
# hint: As soon as one sentence has ended, the others are cut. Go on until all have ended (or max_len is reached).
# of: until all have ended
# ~ all => any

# %% wrong: no lengths -> the padding of the source is read
# hint: model.encode needs the lengths. Without them every <pad> is read as if it were a word.
# of: all steps, then cut
# ~ (source, source_lengths) => (source, None)

# %% wrong: starts with eos -> it begins with <eos>
# hint: The decoder has learned to begin after <sos>.
# ~ SOS, device=source.device => EOS

# %% wrong: starts with zeros -> it begins with <pad>
# hint: The decoder has learned to begin after <sos>.
# ~ full((len(source), 1), SOS, device=source.device) => zeros(len(source), 1, dtype=torch.long)

# %% wrong: reads position 0 -> the first position is read at every step
# hint: Position 0 answers what follows <sos>, and says the same at every step. The next word is at the last position.
# ~ [:, -1] => [:, 0]

# %% wrong: counts sos -> one word too few
# hint: max_len counts the words that are written; <sos> is not one of them.
# ~ (max_len): => (max_len - 1):

# %% wrong: one more -> one word too many
# hint: max_len counts the words that are written; <sos> is not one of them.
# of: until all have ended
# ~ max_len: => max_len + 1:

# %% wrong: keeps sos -> <sos> is kept as a word
# hint: <sos> is what the decoder reads first. It is not a part of the translation.
# of: all steps, then cut
# ~ [:, 1:] =>


# %% wrong: special tokens are dropped -> special tokens that the model writes are dropped
# hint: What the model says is what it says: only <eos> has a meaning here. Whoever reads the words may drop others.
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


# %% wrong: cache, but all words fed -> with a cache, old words are fed again
# hint: The cache has kept the keys and values of all words so far. Fed again, they stand there twice, at new positions.
# hint: With context.cache = {}, decode the newest word only.
#      context = model.encode(source, source_lengths)
# +    context.cache = {}

# %% wrong: what holds PAD is padding ->
# ~ (source, source_lengths) => (source, source.ne(PAD).sum(dim=1))


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


# %% wrong: <sos> on the CPU ->
# of: all steps, then cut
# ~ , device=source.device =>


# %% wrong: <pad> at the end of a sentence is taken off ->
# of: until all have ended
# ~ sentences = written[:, 1:].tolist() => sentences = [row[: max((n + 1 for n, word in enumerate(row) if word != PAD), default=0)] for row in written[:, 1:].tolist()]
