# %% right: logsumexp
def score_by_words(logits, positive, negative):
    return logits[:, positive].logsumexp(dim=1) - logits[:, negative].logsumexp(dim=1)


# %% right: logarithms of probabilities
# other: It takes the probabilities first, as the text does; the solution leaves out the softmax over the whole vocabulary, which cancels in the difference.
def score_by_words(logits, positive, negative):
    logs = F.log_softmax(logits, dim=-1)
    return torch.logsumexp(logs[..., positive], -1) - torch.logsumexp(logs[..., negative], -1)


# %% right: the largest taken out by hand
def score_by_words(logits, positive, negative):
    def log_sum(words):
        chosen = logits.index_select(1, torch.tensor(words))
        top = chosen.max(dim=1, keepdim=True).values
        return (chosen - top).exp().sum(dim=1).log() + top.squeeze(1)

    return log_sum(positive) - log_sum(negative)


# %% wrong: negative first -> negative against positive
# hint: The score is greater than 0 where the positive words win: positive minus negative.
# ~ [:, positive].logsumexp(dim=1) - logits[:, negative] => [:, negative].logsumexp(dim=1) - logits[:, positive]

# %% wrong: added logits -> the sum of the logits
# hint: A sum of logits is the logarithm of a *product*. Any of the words will do: add probabilities.
# ~ logsumexp(dim=1) - logits[:, negative].logsumexp => sum(dim=1) - logits[:, negative].sum

# %% wrong: averaged logits -> the mean of the logits
# hint: A mean of logits is no logarithm of a sum of probabilities.
# ~ logsumexp(dim=1) - logits[:, negative].logsumexp => mean(dim=1) - logits[:, negative].mean

# %% wrong: the most probable word -> the best word of each side
# hint: All words of a side count, not only its most probable one.
# ~ logsumexp(dim=1) - logits[:, negative].logsumexp => amax(dim=1) - logits[:, negative].amax


# %% wrong: probabilities -> the difference of the probabilities
# hint: Wanted are log-odds: the logarithm of one sum of probabilities minus that of the other.
def score_by_words(logits, positive, negative):
    shares = logits.softmax(dim=1)
    return shares[:, positive].sum(dim=1) - shares[:, negative].sum(dim=1)


# %% wrong: the odds -> the ratio without its logarithm
# hint: Log-odds are the *logarithm* of the ratio: 0 where both sides are equally probable.
def score_by_words(logits, positive, negative):
    return (logits[:, positive].logsumexp(dim=1) - logits[:, negative].logsumexp(dim=1)).exp()


# %% wrong: averaged probabilities -> the mean probability of each side
# hint: A side with more words is more probable, and this is meant: probabilities are added, not averaged.
def score_by_words(logits, positive, negative):
    logs = logits.log_softmax(dim=1)
    return (logs[:, positive].logsumexp(dim=1) - math.log(len(positive))) - (
        logs[:, negative].logsumexp(dim=1) - math.log(len(negative))
    )


# %% wrong: squeezed into 0 to 1 -> the probability of the positive side
# hint: Wanted are the log-odds, a number without limits; the sigmoid of them is this probability.
def score_by_words(logits, positive, negative):
    return torch.sigmoid(logits[:, positive].logsumexp(dim=1) - logits[:, negative].logsumexp(dim=1))


# %% wrong: exponentials that overflow ->
def score_by_words(logits, positive, negative):
    return logits[:, positive].exp().sum(dim=1).log() - logits[:, negative].exp().sum(dim=1).log()


# %% wrong: a softmax and its logarithm ->
# of: probabilities
# ~ (dim=1) - shares[:, negative].sum(dim=1) => (dim=1).log() - shares[:, negative].sum(dim=1).log()


# %% wrong: exponentials in 64 bits ->
def score_by_words(logits, positive, negative):
    powers = logits.double().exp()
    return (powers[:, positive].sum(1).log() - powers[:, negative].sum(1).log()).to(logits.dtype)


# %% wrong: exponentials in 64 bits, below the largest of all ->
# of: exponentials in 64 bits
# ~ logits.double().exp() => (logits - logits.amax(dim=1, keepdim=True)).double().exp()


# %% wrong: at most 32 words a side ->
def score_by_words(logits, positive, negative):
    return logits[:, positive[:32]].logsumexp(dim=1) - logits[:, negative[:32]].logsumexp(dim=1)
