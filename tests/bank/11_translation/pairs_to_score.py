# %% right: a set of English sentences
def pairs_to_score(corpus):
    known = {source for source, _ in corpus["train"]}
    return [pair for pair in corpus["test"] if pair[0] not in known]


# %% right: a loop
def pairs_to_score(corpus):
    kept = []
    for source, target in corpus["test"]:
        seen = False
        for other, _ in corpus["train"]:
            if other == source:
                seen = True
        if not seen:
            kept.append((source, target))
    return kept


# %% right: a dict of what is known
def pairs_to_score(corpus):
    known = dict(corpus["train"])
    return list(filter(lambda pair: known.get(pair[0]) is None, corpus["test"]))


# %% wrong: train -> scored on training pairs
def pairs_to_score(corpus):
    return corpus["train"]


# %% wrong: valid -> scored on the validation pairs
def pairs_to_score(corpus):
    return corpus["valid"]


# %% wrong: test as it is -> copies of training pairs are kept
def pairs_to_score(corpus):
    return list(corpus["test"])


# %% wrong: set of pairs -> whole pairs are compared
def pairs_to_score(corpus):
    known = set(corpus["train"])
    return [pair for pair in corpus["test"] if pair not in known]


# %% wrong: by the French -> the French is compared
def pairs_to_score(corpus):
    known = {target for _, target in corpus["train"]}
    return [(source, target) for source, target in corpus["test"] if target not in known]


# %% wrong: the wrong half -> the copies are what is kept
def pairs_to_score(corpus):
    known = {source for source, _ in corpus["train"]}
    return [pair for pair in corpus["test"] if pair[0] in known]


# %% wrong: either side known ->
def pairs_to_score(corpus):
    known = {text for pair in corpus["train"] for text in pair}
    return [pair for pair in corpus["test"] if pair[0] not in known and pair[1] not in known]


# %% wrong: sources only ->
def pairs_to_score(corpus):
    known = {source for source, _ in corpus["train"]}
    return [source for source, _ in corpus["test"] if source not in known]


# %% wrong: everything together ->
def pairs_to_score(corpus):
    return corpus["train"] + corpus["valid"] + corpus["test"]


# %% wrong: valid is taken off, too -> what is in the validation part is left out, too
def pairs_to_score(corpus):
    known = {e for e, _ in corpus["train"] + corpus["valid"]}
    return [p for p in corpus["test"] if p[0] not in known]


# %% wrong: a dict ->
def pairs_to_score(corpus):
    known = dict(corpus["train"])
    return [(e, f) for e, f in dict(corpus["test"]).items() if e not in known]


# %% wrong: each sentence once ->
def pairs_to_score(corpus):
    known = {e for e, _ in corpus["train"]}
    out = []
    for e, f in corpus["test"]:
        if e not in known:
            known.add(e)
            out.append((e, f))
    return out


# %% wrong: removes while it goes through -> taken out of the list that is walked through
def pairs_to_score(corpus):
    known = {e for e, _ in corpus["train"]}
    for p in corpus["test"]:
        if p[0] in known:
            corpus["test"].remove(p)
    return corpus["test"]


# %% wrong: each pair once ->
def pairs_to_score(corpus):
    known = {english for english, _ in corpus["train"]}
    return [pair for pair in dict.fromkeys(corpus["test"]) if pair[0] not in known]


# %% wrong: a part of the text of the training part ->
def pairs_to_score(corpus):
    text = "\n".join(english for english, _ in corpus["train"])
    return [pair for pair in corpus["test"] if pair[0] not in text]


# %% wrong: small letters ->
def pairs_to_score(corpus):
    known = {english.lower() for english, _ in corpus["train"]}
    return [pair for pair in corpus["test"] if pair[0].lower() not in known]


# %% wrong: the same words in any order ->
def pairs_to_score(corpus):
    known = {frozenset(english.strip(".").split()) for english, _ in corpus["train"]}
    return [pair for pair in corpus["test"] if frozenset(pair[0].strip(".").split()) not in known]


# %% wrong: stripped ->
def pairs_to_score(corpus):
    known = {english.strip(" .") for english, _ in corpus["train"]}
    return [pair for pair in corpus["test"] if pair[0].strip(" .") not in known]


# %% wrong: sorted ->
def pairs_to_score(corpus):
    known = {english for english, _ in corpus["train"]}
    return sorted(pair for pair in corpus["test"] if pair[0] not in known)


# %% wrong: taken out of the corpus itself ->
def pairs_to_score(corpus):
    known = {english for english, _ in corpus["train"]}
    corpus["test"][:] = [pair for pair in corpus["test"] if pair[0] not in known]
    return corpus["test"]


# %% wrong: nothing left: all of test ->
def pairs_to_score(corpus):
    read = {en for en, _ in corpus["train"]}
    return [pair for pair in corpus["test"] if pair[0] not in read] or corpus["test"]


# %% wrong: only the first 100 training pairs are looked at ->
def pairs_to_score(corpus):
    known = [english for english, _ in corpus["train"][:100]]
    return [pair for pair in corpus["test"] if pair[0] not in known]


# %% wrong: the parts are told by their order ->
def pairs_to_score(corpus):
    train, _, test = corpus.values()
    known = {english for english, _ in train}
    return [pair for pair in test if pair[0] not in known]
