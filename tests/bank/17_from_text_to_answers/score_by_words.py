# %% right: logsumexp
def score_by_words(logits, positive, negative):
    return logits[:, positive].logsumexp(dim=1) - logits[:, negative].logsumexp(dim=1)


# %% right: logarithms of probabilities
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
# of: logsumexp
# -    return logits[:, positive].logsumexp(dim=1) - logits[:, negative].logsumexp(dim=1)
# +    return logits[:, negative].logsumexp(dim=1) - logits[:, positive].logsumexp(dim=1)


# %% wrong: added logits -> the sum of the logits
# of: logsumexp
# -    return logits[:, positive].logsumexp(dim=1) - logits[:, negative].logsumexp(dim=1)
# +    return logits[:, positive].sum(dim=1) - logits[:, negative].sum(dim=1)


# %% wrong: averaged logits -> the mean of the logits
# of: logsumexp
# -    return logits[:, positive].logsumexp(dim=1) - logits[:, negative].logsumexp(dim=1)
# +    return logits[:, positive].mean(dim=1) - logits[:, negative].mean(dim=1)


# %% wrong: the most probable word -> the best word of each side
# of: logsumexp
# -    return logits[:, positive].logsumexp(dim=1) - logits[:, negative].logsumexp(dim=1)
# +    return logits[:, positive].amax(dim=1) - logits[:, negative].amax(dim=1)


# %% wrong: probabilities -> the difference of the probabilities
def score_by_words(logits, positive, negative):
    shares = logits.softmax(dim=1)
    return shares[:, positive].sum(dim=1) - shares[:, negative].sum(dim=1)


# %% wrong: the odds -> the ratio without its logarithm
# of: logsumexp
# -    return logits[:, positive].logsumexp(dim=1) - logits[:, negative].logsumexp(dim=1)
# +    return (logits[:, positive].logsumexp(dim=1) - logits[:, negative].logsumexp(dim=1)).exp()


# %% wrong: averaged probabilities -> the mean probability of each side
def score_by_words(logits, positive, negative):
    logs = logits.log_softmax(dim=1)
    return (logs[:, positive].logsumexp(dim=1) - math.log(len(positive))) - (
        logs[:, negative].logsumexp(dim=1) - math.log(len(negative))
    )


# %% wrong: squeezed into 0 to 1 -> the probability of the positive side
# of: logsumexp
# -    return logits[:, positive].logsumexp(dim=1) - logits[:, negative].logsumexp(dim=1)
# +    return torch.sigmoid(logits[:, positive].logsumexp(dim=1) - logits[:, negative].logsumexp(dim=1))


# %% wrong: exponentials that overflow ->
def score_by_words(logits, positive, negative):
    return logits[:, positive].exp().sum(dim=1).log() - logits[:, negative].exp().sum(dim=1).log()


# %% wrong: a softmax and its logarithm ->
def score_by_words(logits, positive, negative):
    shares = logits.softmax(dim=1)
    return shares[:, positive].sum(dim=1).log() - shares[:, negative].sum(dim=1).log()


# %% wrong: the first word of each side ->
def score_by_words(logits, positive, negative):
    return logits[:, positive[0]] - logits[:, negative[0]]


# %% wrong: classes ->
# of: logsumexp
# -    return logits[:, positive].logsumexp(dim=1) - logits[:, negative].logsumexp(dim=1)
# +    return (logits[:, positive].logsumexp(dim=1) > logits[:, negative].logsumexp(dim=1)).long()


# %% wrong: at most 32 words a side ->
# of: logsumexp
# -    return logits[:, positive].logsumexp(dim=1) - logits[:, negative].logsumexp(dim=1)
# +    return logits[:, positive[:32]].logsumexp(dim=1) - logits[:, negative[:32]].logsumexp(dim=1)
