# %% right: Counter
def constant_baseline(pairs, others):
    place = Counter(answer for _, answer in pairs).most_common(1)[0][0]
    return place, sum(answer == place for _, answer in others) / len(others)


# %% right: max with count keeps the first
# other: It is plain Python, and says that the largest count wins; `Counter` goes through the answers once, and not once more for each of them.
def constant_baseline(pairs, others):
    answers = [answer for question, answer in pairs]
    place = max(answers, key=answers.count)
    return place, [answer for question, answer in others].count(place) / len(others)


# %% right: a dict by hand, and a tensor's mean
def constant_baseline(pairs, others):
    counts = {}
    for _, answer in pairs:
        counts[answer] = counts.get(answer, 0) + 1
    best = None
    for place, count in counts.items():
        if best is None or count > counts[best]:
            best = place
    return [best, torch.tensor([float(answer == best) for _, answer in others]).mean()]


# %% wrong: the favourite of others -> the place is chosen on the test set
# hint: This is the place that does best on `others`: whoever chooses after having seen the answers has no baseline.
# hint: Choose on `pairs`, score on `others`.
# of: max with count keeps the first
# ~ question, answer in pairs => _, answer in others
# ~ [answer for question, answer in others].count(place) / len(others) => answers.count(place) / len(answers)

# %% wrong: the best on the others -> of the places of the pairs, the one that does best on the others
# hint: That is a look at the test set: no model may see which answers are right there. Of the places of `pairs` the
# hint: most frequent *in `pairs`* counts.
# ~ question, answer in pairs => _, answer in others
# ~ place = max(answers => best = max(dict.fromkeys(answer for _, answer in pairs)
# ~ place, [answer for question, answer in others].count(place) / len(others => best, answers.count(best) / len(answers

# %% wrong: everything counted -> the place is chosen on all pairs together
# hint: The test set has taken part in the choice. Choose on `pairs` only, score on `others`.
# of: Counter
# ~ (answer for _, answer in pairs) => (answer for _, answer in pairs + others)


# %% wrong: others are never looked at -> the share is that of the pairs it was chosen on
# hint: How well the place does where it was chosen says too much good: the share of `others` is asked.
def constant_baseline(pairs, others):
    place, count = Counter(answer for _, answer in pairs).most_common(1)[0]
    return place, count / len(pairs)


# %% wrong: sum only -> a count in place of a share
# hint: Divide by the number of `others`.
# ~ (answer == place for _, answer in others) / len(others) => (answer == place for _, answer in others)

# %% wrong: times 100 -> per cent in place of a share
# hint: A share lies between 0 and 1.
# ~ sum => 100 * sum

# %% wrong: sorted first -> of equally frequent places, the first of the alphabet
# hint: Where two places are equally frequent, the one that comes first in `pairs` counts.
# of: max with count keeps the first
# ~ [answer for question, answer in pairs] => sorted(answer for _, answer in pairs)
# ~ [answer for question, answer in others].count(place) => sum(answer == place for _, answer in others)


# %% wrong: ties are broken by the others -> of equally frequent places, the one that does best on the others
# hint: That is a look at the test set, too. Where two places are equally frequent, the one that comes first in `pairs`
# hint: counts.
def constant_baseline(pairs, others):
    counts = Counter(answer for _, answer in pairs)
    on_others = Counter(answer for _, answer in others)
    place = max(counts, key=lambda a: (counts[a], on_others[a]))
    return place, on_others[place] / len(others)


# %% wrong: half an answer -> the place without its share
# hint: Return two things: the place, and the share of `others` for which it is right.
def constant_baseline(pairs, others):
    return Counter(answer for _, answer in pairs).most_common(1)[0][0]


# %% wrong: in place of == ->
# of: Counter
# ~ answer == place => place in answer

# %% wrong: a dict of the pairs forgets what stands there twice ->
# ~ answer for _, answer in pairs => dict(pairs).values()


# %% wrong: of equally frequent places, the one that comes last of all ->
def constant_baseline(pairs, others):
    answers = [answer for _, answer in pairs]
    place = max(reversed(answers), key=answers.count)
    return place, sum(answer == place for _, answer in others) / len(others)


# %% wrong: the first to reach the count ->
def constant_baseline(pairs, others):
    counts, place, most = Counter(), None, 0
    for _, answer in pairs:
        counts[answer] += 1
        if counts[answer] > most:
            place, most = answer, counts[answer]
    return place, sum(answer == place for _, answer in others) / len(others)


# %% wrong: the last by name among the tied ->
# of: of equally frequent places, the one that comes last of all
# ~ answers = [answer for _, answer in pairs] => counts = Counter(answer for _, answer in pairs)
# ~ reversed(answers), key=answers.count => counts, key=lambda a: (counts[a], a)

# %% wrong: the first 100 of the others ->
# -    place = max(reversed(answers), key=answers.count)
# +    place = max(answers, key=answers.count)
# +    others = others[:100]
