# %% right: a set of English sentences
def pairs_to_score(corpus):
    known = {source for source, _ in corpus["train"]}
    return [pair for pair in corpus["test"] if pair[0] not in known]


# %% right: a loop
# other: It compares sentence with sentence, and needs no set; the solution looks each one up in a single step, in place of a pass through all of train.
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
# hint: The model has learned these by heart; BLEU on them says nothing about other sentences.
def pairs_to_score(corpus):
    return corpus["train"]


# %% wrong: valid -> scored on the validation pairs
# hint: They have helped to choose the settings and the moment to stop, so they flatter the model. They are for that,
# hint: and the test part is for the result.
def pairs_to_score(corpus):
    return corpus["valid"]


# %% wrong: test as it is -> copies of training pairs are kept
# hint: Some sentences of the test part are in the training part, too. The model need only remember them.
def pairs_to_score(corpus):
    return list(corpus["test"])


# %% wrong: removes while it goes through -> taken out of the list that is walked through
# hint: When a pair is taken out, the next one moves to its place and is skipped. Put what stays into a new list.
def pairs_to_score(corpus):
    known = {e for e, _ in corpus["train"]}
    for p in corpus["test"]:
        if p[0] in known:
            corpus["test"].remove(p)
    return corpus["test"]


# %% wrong: set of pairs -> whole pairs are compared
# hint: The same English with another French translation has been read as well. Compare the English only.
# ~ {source for source, _ in corpus["train"]} => set(corpus["train"])
# ~ [0] =>

# %% wrong: valid is taken off, too -> what is in the validation part is left out, too
# hint: The model has not learned from the validation part. Only what is in the training part is known to it.
# ~ source for source, _ in corpus["train"] => e for e, _ in corpus["train"] + corpus["valid"]
# ~ pair for pair in corpus["test"] if pair => p for p in corpus["test"] if p

# %% wrong: by the French -> the French is compared
# hint: What the model is given is English: a pair is known when its English has been read.
# ~ source for source, _ => target for _, target
# ~ pair for pair in corpus["test"] if pair[0] => (source, target) for source, target in corpus["test"] if target

# %% wrong: the wrong half -> the copies are what is kept
# hint: These are just the sentences that the model has read. Keep the others.
# ~ not in => in


# %% wrong: taken out of the corpus itself ->
def pairs_to_score(corpus):
    known = {english for english, _ in corpus["train"]}
    corpus["test"][:] = [pair for pair in corpus["test"] if pair[0] not in known]
    return corpus["test"]


# %% wrong: nothing left: all of test ->
# ~ known = {source for source, _ in corpus["train"]} => read = {en for en, _ in corpus["train"]}
# ~ known => read] or corpus["test"

# %% wrong: only the first 100 training pairs are looked at ->
# ~ {source for source, _ in corpus["train"]} => [english for english, _ in corpus["train"][:100]]
