# %% right: a copy, and the words only
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = MASK
    with torch.no_grad():
        logits = model(hidden.unsqueeze(0))[0, position]
    return int(logits[MASK + 1 :].argmax()) + MASK + 1


# %% right: special tokens at minus infinity
def fill_blank(model, tokens, position):
    places = torch.arange(len(tokens), device=tokens.device)
    logits = model(torch.where(places == position, MASK, tokens)[None])[0, position].detach().clone()
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
def fill_blank(model, tokens, position):
    left = tokens[: position + 1].clone()
    left[position] = MASK
    return int(model(left[None])[0, -1, MASK + 1 :].argmax()) + MASK + 1


# %% wrong: nothing is hidden -> the blank is not hidden
def fill_blank(model, tokens, position):
    return int(model(tokens[None])[0, position, MASK + 1 :].argmax()) + MASK + 1


# %% wrong: the row before -> the place before the blank is read
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = MASK
    return int(model(hidden[None])[0, position - 1, MASK + 1 :].argmax()) + MASK + 1


# %% wrong: the best of all tokens -> a special token is a possible answer
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = MASK
    return int(model(hidden[None])[0, position].argmax())


# %% wrong: the offset is lost -> one place beside: the special tokens were cut off and not counted
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = MASK
    return int(model(hidden[None])[0, position, MASK + 1 :].argmax())


# %% wrong: at the end -> the last place is read
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = MASK
    return int(model(hidden[None])[0, -1, MASK + 1 :].argmax()) + MASK + 1


# %% wrong: no clone -> the sentence is changed in place
def fill_blank(model, tokens, position):
    tokens[position] = MASK
    return int(model(tokens[None])[0, position, MASK + 1 :].argmax()) + MASK + 1


# %% wrong: the word that stands there ->
def fill_blank(model, tokens, position):
    return int(tokens[position])


# %% wrong: the logits ->
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = MASK
    return model(hidden[None])[0, position]


# %% wrong: special tokens at 0 -> the logits of special tokens are set to 0
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = MASK
    logits = model(hidden[None])[0, position].detach().clone()
    logits[: MASK + 1] = 0
    return int(logits.argmax())


# %% wrong: from MASK on -> <mask> is a possible answer
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = MASK
    return int(model(hidden[None])[0, position, MASK:].argmax()) + MASK


# %% wrong: only <pad>, <sos> and <eos> are left out ->
# of: special tokens at 0
# -    logits[: MASK + 1] = 0
# +    logits[[PAD, SOS, EOS]] = -torch.inf


# %% wrong: the next row -> the place after the blank is read
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = MASK
    return int(model(hidden[None])[0, position + 1, MASK + 1 :].argmax()) + MASK + 1


# %% wrong: the first <mask> that it finds -> the first <mask> of the sentence is filled
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = MASK
    place = (hidden == MASK).nonzero()[0, 0]
    return int(model(hidden[None])[0, place, MASK + 1 :].argmax()) + MASK + 1


# %% wrong: <oov> stands for the blank -> <oov> is put in place of <mask>
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = OOV
    return int(model(hidden[None])[0, position, MASK + 1 :].argmax()) + MASK + 1


# %% wrong: the first word can never win ->
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = MASK
    return int(model(hidden[None])[0, position, MASK + 2 :].argmax()) + MASK + 2


# %% wrong: the last word can never win ->
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = MASK
    return int(model(hidden[None])[0, position, MASK + 1 : -1].argmax()) + MASK + 1


# %% wrong: a word among the best five ->
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = MASK
    best = model(hidden[None])[0, position].topk(5).indices.tolist()
    return next((number for number in best if number > MASK), best[0])


# %% wrong: the second best ->
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = MASK
    return int(model(hidden[None])[0, position, MASK + 1 :].topk(2).indices[1]) + MASK + 1


# %% wrong: never the word that stood there ->
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = MASK
    logits = model(hidden[None])[0, position].detach().clone()
    logits[: MASK + 1] = -torch.inf
    logits[tokens[position]] = -torch.inf
    return int(logits.argmax())


# %% wrong: without <eos> ->
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = MASK
    return int(model(hidden[None, :-1])[0, position, MASK + 1 :].argmax()) + MASK + 1


# %% wrong: without <sos> ->
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = MASK
    return int(model(hidden[None, 1:])[0, position - 1, MASK + 1 :].argmax()) + MASK + 1


# %% wrong: the right side only ->
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = MASK
    return int(model(hidden[None, position:])[0, 0, MASK + 1 :].argmax()) + MASK + 1


# %% wrong: the blank is taken out ->
def fill_blank(model, tokens, position):
    hidden = torch.cat([tokens[:position], tokens[position + 1 :]])
    return int(model(hidden[None])[0, position, MASK + 1 :].argmax()) + MASK + 1


# %% wrong: all words are hidden ->
def fill_blank(model, tokens, position):
    hidden = torch.where(tokens > MASK, MASK, tokens)
    return int(model(hidden[None])[0, position, MASK + 1 :].argmax()) + MASK + 1


# %% wrong: the largest in size ->
def fill_blank(model, tokens, position):
    hidden = tokens.clone()
    hidden[position] = MASK
    return int(model(hidden[None])[0, position, MASK + 1 :].abs().argmax()) + MASK + 1


# %% wrong: always the first word ->
def fill_blank(model, tokens, position):
    return MASK + 1


# %% wrong: the other blanks are filled first -> the other blanks are filled first
@torch.no_grad()
def fill_blank(model: MaskedLanguageModel, tokens: Tensor, position: int) -> int:
    hidden = tokens.clone()
    hidden[position] = MASK
    blanks = [place for place in (hidden == MASK).nonzero().flatten().tolist() if place != position]
    for place in [*blanks, position]:
        best = int(model(hidden[None])[0, place, MASK + 1 :].argmax()) + MASK + 1
        hidden[place] = best
    return best


# %% wrong: all places of the word are hidden -> the word is hidden wherever it stands
@torch.no_grad()
def fill_blank(model: MaskedLanguageModel, tokens: Tensor, position: int) -> int:
    hidden = torch.where(tokens == tokens[position], MASK, tokens)
    logits = model(hidden[None])[0, position]  # (V,)
    return int(logits[MASK + 1 :].argmax()) + MASK + 1


# %% wrong: places on the CPU ->
# of: special tokens at minus infinity
# -    places = torch.arange(len(tokens), device=tokens.device)
# +    places = torch.arange(len(tokens))


# %% wrong: the sentence is made anew on the CPU ->
# of: best first, until it is a word
# -    hidden = torch.tensor([numbers], device=tokens.device)
# -    best_first = model(hidden)[0, position].argsort(descending=True)
# +    best_first = model(torch.tensor([numbers]))[0, position].argsort(descending=True)


# %% wrong: <mask> is made on the CPU ->
# of: a loop over all words
# -    hidden = torch.cat([tokens[:position], tokens.new_tensor([MASK]), tokens[position + 1 :]])
# +    hidden = torch.cat([tokens[:position], torch.tensor([MASK]), tokens[position + 1 :]])


# %% wrong: other blanks become padding -> the other blanks are read as padding
def fill_blank(model, tokens, position):
    hidden = torch.where(tokens == MASK, PAD, tokens)
    hidden[position] = MASK
    with torch.no_grad():
        logits = model(hidden[None])[0, position]
    return int(logits[MASK + 1 :].argmax()) + MASK + 1
