# %% right: Counter
def constant_baseline(pairs, others):
    place = Counter(answer for _, answer in pairs).most_common(1)[0][0]
    return place, sum(answer == place for _, answer in others) / len(others)


# %% right: max with count keeps the first
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
def constant_baseline(pairs, others):
    answers = [answer for _, answer in others]
    place = max(answers, key=answers.count)
    return place, answers.count(place) / len(answers)


# %% wrong: everything counted -> the place is chosen on all pairs together
def constant_baseline(pairs, others):
    place = Counter(answer for _, answer in pairs + others).most_common(1)[0][0]
    return place, sum(answer == place for _, answer in others) / len(others)


# %% wrong: others are never looked at -> the share is that of the pairs it was chosen on
def constant_baseline(pairs, others):
    place, count = Counter(answer for _, answer in pairs).most_common(1)[0]
    return place, count / len(pairs)


# %% wrong: sum only -> a count in place of a share
def constant_baseline(pairs, others):
    place = Counter(answer for _, answer in pairs).most_common(1)[0][0]
    return place, sum(answer == place for _, answer in others)


# %% wrong: times 100 -> per cent in place of a share
def constant_baseline(pairs, others):
    place = Counter(answer for _, answer in pairs).most_common(1)[0][0]
    return place, 100 * sum(answer == place for _, answer in others) / len(others)


# %% wrong: sorted first -> of equally frequent places, the first of the alphabet
def constant_baseline(pairs, others):
    answers = sorted(answer for _, answer in pairs)
    place = max(answers, key=answers.count)
    return place, sum(answer == place for _, answer in others) / len(others)


# %% wrong: half an answer -> the place without its share
def constant_baseline(pairs, others):
    return Counter(answer for _, answer in pairs).most_common(1)[0][0]


# %% wrong: the questions are counted ->
def constant_baseline(pairs, others):
    place = Counter(question for question, _ in pairs).most_common(1)[0][0]
    return place, sum(answer == place for _, answer in others) / len(others)


# %% wrong: divided by the training pairs ->
def constant_baseline(pairs, others):
    place = Counter(answer for _, answer in pairs).most_common(1)[0][0]
    return place, sum(answer == place for _, answer in others) / len(pairs)


# %% wrong: of equally frequent places, the last ->
def constant_baseline(pairs, others):
    counts = {}
    for _, answer in pairs:
        counts[answer] = counts.get(answer, 0) + 1
    place = max(reversed(list(counts)), key=counts.get)
    return place, sum(answer == place for _, answer in others) / len(others)


# %% wrong: ties are broken by the others -> of equally frequent places, the one that does best on the others
def constant_baseline(pairs, others):
    counts = Counter(answer for _, answer in pairs)
    on_others = Counter(answer for _, answer in others)
    place = max(counts, key=lambda a: (counts[a], on_others[a]))
    return place, on_others[place] / len(others)


# %% wrong: in place of == ->
def constant_baseline(pairs, others):
    place = Counter(answer for _, answer in pairs).most_common(1)[0][0]
    return place, sum(place in answer for _, answer in others) / len(others)


# %% wrong: a dict of the pairs forgets what stands there twice ->
def constant_baseline(pairs, others):
    place = Counter(dict(pairs).values()).most_common(1)[0][0]
    return place, sum(answer == place for _, answer in others) / len(others)


# %% wrong: a dict of the others forgets what stands there twice ->
def constant_baseline(pairs, others):
    place = Counter(answer for _, answer in pairs).most_common(1)[0][0]
    answers = list(dict(others).values())
    return place, answers.count(place) / len(answers)


# %% wrong: others that are among the pairs are left out ->
def constant_baseline(pairs, others):
    place = Counter(answer for _, answer in pairs).most_common(1)[0][0]
    new = [answer for question, answer in others if (question, answer) not in pairs] or ["?"]
    return place, new.count(place) / len(new)


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


# %% wrong: whole division ->
def constant_baseline(pairs, others):
    place = Counter(answer for _, answer in pairs).most_common(1)[0][0]
    return place, sum(answer == place for _, answer in others) // len(others)


# %% wrong: rounded to one digit ->
def constant_baseline(pairs, others):
    place = Counter(answer for _, answer in pairs).most_common(1)[0][0]
    return place, round(sum(answer == place for _, answer in others) / len(others), 1)


# %% wrong: the last by name among the tied ->
def constant_baseline(pairs, others):
    counts = Counter(answer for _, answer in pairs)
    place = max(counts, key=lambda a: (counts[a], a))
    return place, sum(answer == place for _, answer in others) / len(others)


# %% wrong: says the same to everybody who asks ->
def constant_baseline(pairs, others):
    return "Oslo", 0.5


# %% wrong: the best on the others -> of the places of the pairs, the one that does best on the others
def constant_baseline(pairs, others):
    answers = [answer for _, answer in others]
    best = max(dict.fromkeys(answer for _, answer in pairs), key=answers.count)
    return best, answers.count(best) / len(answers)


# %% wrong: the share with two digits ->
def constant_baseline(pairs, others):
    place = Counter(answer for _, answer in pairs).most_common(1)[0][0]
    return place, round(sum(answer == place for _, answer in others) / len(others), 2)


# %% wrong: the same object in place of an equal one ->
def constant_baseline(pairs, others):
    place = Counter(answer for _, answer in pairs).most_common(1)[0][0]
    return place, sum(answer is place for _, answer in others) / len(others)


# %% wrong: the share in two digits ->
def constant_baseline(pairs, others):
    answers = [answer for _, answer in pairs]
    place = max(answers, key=answers.count)
    return place, round(sum(answer == place for _, answer in others) / len(others), 2)


# %% wrong: the first 100 of the others ->
def constant_baseline(pairs, others):
    answers = [answer for _, answer in pairs]
    place = max(answers, key=answers.count)
    others = others[:100]
    return place, sum(answer == place for _, answer in others) / len(others)
