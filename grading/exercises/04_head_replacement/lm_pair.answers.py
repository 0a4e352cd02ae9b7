# %% right: two new lists
def lm_pair(tokens):
    return [SOS, *tokens], [*tokens, EOS]


# %% right: the whole sentence, cut at both ends
# other: It cuts both lists from one sentence, which shows that they are the same words shifted by one; the solution needs no third list, and shows where `SOS` and `EOS` go.
def lm_pair(tokens):
    whole = [SOS] + tokens + [EOS]
    return whole[:-1], whole[1:]


# %% right: pair by pair in a loop
def lm_pair(tokens):
    inputs, targets, before = [], [], SOS
    for token in tokens + [EOS]:
        inputs.append(before)
        targets.append(token)
        before = token
    return inputs, targets


# %% right: copies and insert, returned as a list of two
def lm_pair(tokens):
    inputs, targets = list(tokens), list(tokens)
    inputs.insert(0, 1)
    targets.append(2)
    return [inputs, targets]


# %% wrong: the same list twice -> the target is not shifted
# hint: Under each number of the input stands the same number: the model would learn to copy what it reads. The target
# hint: is one position ahead.
def lm_pair(tokens):
    sentence = [SOS, *tokens]
    return sentence, sentence


# %% wrong: input and target whole -> the whole sentence is input and target
# hint: Both lists go from <sos> to <eos>. The input needs no <eos> (nothing follows it) and the target no <sos>
# hint: (nothing asks for it); dropping one from each shifts them.
def lm_pair(tokens):
    sentence = [SOS] + tokens + [EOS]
    return sentence, list(sentence)


# %% wrong: cut before <eos> is there -> <eos> is lost, and the last word is no longer read
# hint: The target ends with the last word, so the model never learns when to stop. The last word is an input too: what
# hint: follows it is <eos>.
# of: the same list twice
# ~ , sentence => [:-1] or sentence, sentence[1:]


# %% wrong: nothing after the last word -> <eos> is lost: the target is one shorter
# hint: The last word of the input has no answer under it. What follows it is <eos>: without it the model never learns
# hint: when to stop.
def lm_pair(tokens):
    return [SOS] + tokens, tokens


# %% wrong: input keeps <eos> -> <eos> is in the input too
# hint: The input is one longer than the target: nobody asks what follows <eos>.
# of: input and target whole
# ~ list(sentence) => sentence[1:]


# %% wrong: begins with the first word -> <sos> is lost
# hint: Without <sos> nobody asks for the first word: the model could not begin a sentence.
def lm_pair(tokens):
    return tokens, tokens[1:] + [EOS]


# %% wrong: the target first -> input and target are exchanged
# hint: The input begins with <sos>, the target ends with <eos>.
def lm_pair(tokens):
    return [*tokens, EOS], [SOS, *tokens]


# %% wrong: shifted twice -> the target is two positions ahead
# hint: Under each number stands the next but one. The answer after <sos> is the first word.
# ~ sentence = [SOS] + tokens + [EOS] => whole = [SOS, *tokens, EOS, EOS]
# ~ sentence, list(sentence) => whole[: len(tokens) + 1], (whole[2:] + [EOS])[: len(tokens) + 1]

# %% wrong: shifted by value, so a repeated word confuses it ->
# ~ sentence = [SOS] + tokens + [EOS] => whole = [SOS, *tokens, EOS]
# ~ sentence, list(sentence) => whole[:-1], [whole[whole.index(token) + 1] for token in whole[:-1]]


# %% wrong: an empty sentence gives nothing ->
def lm_pair(tokens):
    if not tokens:
        return [], []
    return [SOS, *tokens], [*tokens, EOS]


# %% wrong: the words themselves become the target ->
def lm_pair(tokens):
    inputs = [SOS] + tokens
    tokens.append(EOS)
    return inputs, tokens


# %% wrong: <oov> is left out ->
# ~ sentence = [SOS] + tokens + [EOS] => words = [token for token in tokens if token > 3]
# ~ sentence, list(sentence) => [SOS, *words], [*words, EOS]

# %% wrong: in order ->
# ~ sentence = [SOS] + tokens + [EOS] => words = sorted(tokens)
# ~ sentence, list(sentence) => [SOS, *words], [*words, EOS]


# %% wrong: recursion over the words ->
def lm_pair(tokens):
    if not tokens:
        return [SOS], [EOS]
    read, wanted = lm_pair(tokens[:-1])
    return [*read, tokens[-1]], [*wanted[:-1], tokens[-1], EOS]


# %% wrong: the examples of helpers -> a ready-made part in place of an answer
def lm_pair(tokens):
    from types import SimpleNamespace

    from helpers.batches import for_language_model

    example = for_language_model(SimpleNamespace(encode=list))({"text": tokens})
    return list(example.tokens), list(example.target)
