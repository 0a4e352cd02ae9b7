# %% right: two new lists
def lm_pair(tokens):
    return [SOS, *tokens], [*tokens, EOS]


# %% right: the whole sentence, cut at both ends
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
def lm_pair(tokens):
    sentence = [SOS, *tokens]
    return sentence, sentence


# %% wrong: input and target whole -> the whole sentence is input and target
def lm_pair(tokens):
    sentence = [SOS] + tokens + [EOS]
    return sentence, list(sentence)


# %% wrong: cut before <eos> is there -> <eos> is lost, and the last word is no longer read
def lm_pair(tokens):
    sentence = [SOS, *tokens]
    return sentence[:-1] or sentence, sentence[1:]


# %% wrong: nothing after the last word -> <eos> is lost: the target is one shorter
def lm_pair(tokens):
    return [SOS] + tokens, tokens


# %% wrong: input keeps <eos> -> <eos> is in the input too
def lm_pair(tokens):
    sentence = [SOS] + tokens + [EOS]
    return sentence, sentence[1:]


# %% wrong: begins with the first word -> <sos> is lost
def lm_pair(tokens):
    return tokens, tokens[1:] + [EOS]


# %% wrong: the target first -> input and target are exchanged
def lm_pair(tokens):
    return [*tokens, EOS], [SOS, *tokens]


# %% wrong: shifted twice -> the target is two places ahead
def lm_pair(tokens):
    whole = [SOS, *tokens, EOS, EOS]
    return whole[: len(tokens) + 1], (whole[2:] + [EOS])[: len(tokens) + 1]


# %% wrong: shifted by value, so a repeated word confuses it ->
def lm_pair(tokens):
    whole = [SOS, *tokens, EOS]
    return whole[:-1], [whole[whole.index(token) + 1] for token in whole[:-1]]


# %% wrong: padding in place of <eos> ->
def lm_pair(tokens):
    return [SOS, *tokens], [*tokens, 0]


# %% wrong: changes its input and returns None ->
def lm_pair(tokens):
    tokens.append(EOS)


# %% wrong: an empty sentence gives nothing ->
def lm_pair(tokens):
    if not tokens:
        return [], []
    return [SOS, *tokens], [*tokens, EOS]


# %% wrong: names of the special tokens ->
def lm_pair(tokens):
    return ["<sos>", *tokens], [*tokens, "<eos>"]


# %% wrong: the words themselves become the target ->
def lm_pair(tokens):
    inputs = [SOS] + tokens
    tokens.append(EOS)
    return inputs, tokens


# %% wrong: small numbers are taken for special tokens ->
def lm_pair(tokens):
    words = [token for token in tokens if token > 4]
    return [SOS, *words], [*words, EOS]


# %% wrong: <oov> is left out ->
def lm_pair(tokens):
    words = [token for token in tokens if token > 3]
    return [SOS, *words], [*words, EOS]


# %% wrong: cut at 128 words ->
def lm_pair(tokens):
    words = tokens[:128]
    return [SOS, *words], [*words, EOS]


# %% wrong: cut at 512 tokens ->
def lm_pair(tokens):
    whole = [SOS, *tokens, EOS][:512]
    return whole[:-1], whole[1:]


# %% wrong: each word once ->
def lm_pair(tokens):
    words = list(dict.fromkeys(tokens))
    return [SOS, *words], [*words, EOS]


# %% wrong: in order ->
def lm_pair(tokens):
    words = sorted(tokens)
    return [SOS, *words], [*words, EOS]


# %% wrong: always the pair of no words ->
def lm_pair(tokens):
    return [SOS], [EOS]


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
