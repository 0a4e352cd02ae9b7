# %% right: a copy, and the words only
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = MASK
    with torch.no_grad():
        logits = model(hidden.unsqueeze(0))[0, position]
    return int(logits[MASK + 1 :].argmax()) + MASK + 1


# %% right: special tokens at minus infinity
# other: Minus infinity hides the special tokens, as in attention, and the index found is the word's number; the slice needs no copy of the logits to write into.
def fill_blank(model, tokens, position):
    positions = torch.arange(len(tokens), device=tokens.device)
    logits = model(torch.where(positions == position, MASK, tokens)[None])[0, position].detach().clone()
    logits[: MASK + 1] = -torch.inf
    return logits.argmax().item()


# %% right: best first, until it is a word
def fill_blank(model, tokens, position):
    numbers = tokens.tolist()
    numbers[position] = MASK
    hidden = torch.tensor([numbers], device=tokens.device)
    best_first = model(hidden)[0, position].argsort(descending=True)
    return next(number for number in best_first.tolist() if number > MASK)


# %% right: a loop over all words
def fill_blank(model, tokens, position):
    hidden = torch.cat([tokens[:position], tokens.new_tensor([MASK]), tokens[position + 1 :]])
    shares = model(hidden[None]).softmax(dim=-1)[0, position]
    return max(range(MASK + 1, len(shares)), key=lambda word: float(shares[word]))


# %% wrong: cut at the blank -> the left side only
# hint: The sentence is cut at the blank, as for a causal model. This model may read what follows: give it all.
def fill_blank(model, tokens, position):
    left = tokens[: position + 1].clone()
    left[position] = MASK
    return int(model(left[None])[0, -1, MASK + 1 :].argmax()) + MASK + 1


# %% wrong: nothing is hidden -> the blank is not hidden
# hint: The model sees the word that stands there. Put MASK at the position first, whatever it holds.
def fill_blank(model, tokens, position):
    return int(model(tokens[None])[0, position, MASK + 1 :].argmax()) + MASK + 1


# %% wrong: the row before -> the position before the blank is read
# hint: That is the habit of a causal model, whose position i - 1 says what comes at i. A masked model answers at
# hint: the position itself.
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = MASK
    return int(model(hidden[None])[0, position - 1, MASK + 1 :].argmax()) + MASK + 1


# %% wrong: the next row -> the position after the blank is read
# hint: A masked model answers at the position itself: logits[0, position].
# of: the row before
# ~ - 1 => + 1

# %% wrong: special tokens at 0 -> the logits of special tokens are set to 0
# hint: 0 is not the lowest logit: when all words lie below, a special token wins. Cut them off, or set them to minus
# hint: infinity.
# -    return int(model(hidden[None])[0, position - 1, MASK + 1 :].argmax()) + MASK + 1
# +    logits = model(hidden[None])[0, position].detach().clone()
# +    logits[: MASK + 1] = 0
# +    return int(logits.argmax())

# %% wrong: from MASK on -> <mask> is a possible answer
# hint: The words begin at MASK + 1.
# ~ position - 1, MASK + 1 :].argmax()) + MASK + 1 => position, MASK:].argmax()) + MASK

# %% wrong: the best of all tokens -> a special token is a possible answer
# hint: <pad> or <eos> is no word: take the best of the numbers above MASK.
# ~ position - 1, MASK + 1 :].argmax()) + MASK + 1 => position].argmax())

# %% wrong: the offset is lost -> a word with a number too low: the special tokens were cut off and not counted
# hint: After logits[MASK + 1:] the first word has number 0: add MASK + 1 to what argmax gives.
# ~ position - 1, MASK + 1 :].argmax()) + MASK + 1 => position, MASK + 1 :].argmax())

# %% wrong: at the end -> the last position is read
# hint: logits[0, -1] is what the model says at <eos>. The blank is at `position`.
# ~ position - 1 => -1

# %% wrong: the first <mask> that it finds -> the first <mask> of the sentence is filled
# hint: A sentence may hold several blanks. The one to fill is at `position`.
# -    return int(model(hidden[None])[0, position - 1, MASK + 1 :].argmax()) + MASK + 1
# +    first = (hidden == MASK).nonzero()[0, 0]
# +    return int(model(hidden[None])[0, first, MASK + 1 :].argmax()) + MASK + 1


# %% wrong: the other blanks are filled first -> the other blanks are filled first
# hint: The sentence is to be read as it is given: where it has other blanks, the model reads <mask> there.
@torch.no_grad()
def fill_blank(model: MaskedLanguageModel, tokens: Tensor, position: int) -> int:
    hidden = tokens.clone()
    hidden[position] = MASK
    blanks = [blank for blank in (hidden == MASK).nonzero().flatten().tolist() if blank != position]
    for blank in [*blanks, position]:
        best = int(model(hidden[None])[0, blank, MASK + 1 :].argmax()) + MASK + 1
        hidden[blank] = best
    return best


# %% wrong: other blanks become padding -> the other blanks are read as padding
# hint: <pad> is another token than <mask>. The other blanks belong to the sentence: leave them as they are.
# of: a copy, and the words only
# ~ tokens.clone() => torch.where(tokens == MASK, PAD, tokens)
# ~ .unsqueeze(0) => [None]


# %% wrong: the word is hidden everywhere -> the word is hidden wherever it stands
# hint: Only the position to fill is hidden. The same word elsewhere belongs to the sentence, and the model reads it.
@torch.no_grad()
def fill_blank(model: MaskedLanguageModel, tokens: Tensor, position: int) -> int:
    hidden = torch.where(tokens == tokens[position], MASK, tokens)
    logits = model(hidden[None])[0, position]  # (V,)
    return int(logits[MASK + 1 :].argmax()) + MASK + 1


# %% wrong: <oov> stands for the blank -> <oov> is put in place of <mask>
# hint: OOV stands for words outside the vocabulary; the model has learned to fill MASK.
# of: the row before
# ~ = MASK => = OOV
# ~ position - 1, => position,


# %% wrong: no clone -> the sentence is changed in place
# hint: The caller's sentence now has a <mask> in it. Work on a copy.
def fill_blank(model, tokens, position):
    tokens[position] = MASK
    return int(model(tokens[None])[0, position, MASK + 1 :].argmax()) + MASK + 1


# %% wrong: the first word can never win ->
# ~ position - 1, MASK + 1 :].argmax()) + MASK + 1 => position, MASK + 2 :].argmax()) + MASK + 2

# %% wrong: the last word can never win ->
# ~ position - 1, MASK + 1 :].argmax()) => position, MASK + 1 : -1].argmax())

# %% wrong: a word among the best five ->
# -    return int(model(hidden[None])[0, position - 1, MASK + 1 :].argmax()) + MASK + 1
# +    best = model(hidden[None])[0, position].topk(5).indices.tolist()
# +    return next((number for number in best if number > MASK), best[0])

# %% wrong: never the word that stood there ->
# -    return int(model(hidden[None])[0, position - 1, MASK + 1 :].argmax()) + MASK + 1
# +    logits = model(hidden[None])[0, position].detach().clone()
# +    logits[: MASK + 1] = -torch.inf
# +    logits[tokens[position]] = -torch.inf
# +    return int(logits.argmax())

# %% wrong: without <eos> ->
# ~ (hidden[None])[0, position - 1, MASK + 1 :] => (hidden[None, :-1])[0, position, MASK + 1 :]

# %% wrong: without <sos> ->
# ~ None => None, 1:

# %% wrong: the right side only ->
# ~ (hidden[None])[0, position - 1, MASK + 1 :] => (hidden[None, position:])[0, 0, MASK + 1 :]


# %% wrong: the blank is taken out ->
def fill_blank(model, tokens, position):
    hidden = torch.cat([tokens[:position], tokens[position + 1 :]])
    return int(model(hidden[None])[0, position, MASK + 1 :].argmax()) + MASK + 1


# %% wrong: positions on the CPU ->
# of: special tokens at minus infinity
# ~ , device=tokens.device =>
