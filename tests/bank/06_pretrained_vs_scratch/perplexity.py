# %% right: mask and multiply
def perplexity(losses, token_counts):
    real = torch.arange(losses.shape[1]) < token_counts.unsqueeze(1)
    return float(((losses * real).sum() / token_counts.sum()).exp())


# %% right: text by text
def perplexity(losses, token_counts):
    total = sum(row[:count].sum() for row, count in zip(losses, token_counts.tolist()))
    return torch.exp(total / token_counts.sum()).item()


# %% right: one long list
def perplexity(losses, token_counts):
    kept = torch.cat([row[:count] for row, count in zip(losses, token_counts)])
    return kept.mean().exp()


# %% right: a bool index
def perplexity(losses, token_counts):
    import math

    real = torch.arange(losses.size(1)).expand_as(losses) < token_counts[:, None]
    return math.exp(losses[real].mean())


# %% right: means of the texts, weighted by their tokens
def perplexity(losses, token_counts):
    means = torch.stack([row[:count].mean() for row, count in zip(losses, token_counts.tolist())])
    weights = token_counts / token_counts.sum()
    return float(torch.exp((weights * means).sum()))


# %% wrong: the mean of the table -> padding is counted
def perplexity(losses, token_counts):
    return torch.exp(losses.mean()).item()


# %% wrong: masked sum over all places -> padding is counted in the number of tokens
def perplexity(losses, token_counts):
    real = torch.arange(losses.shape[1]) < token_counts[:, None]
    return torch.exp((losses * real).mean()).item()


# %% wrong: a perplexity for each text -> the mean of the perplexities of the texts
def perplexity(losses, token_counts):
    each = [row[:count].mean().exp() for row, count in zip(losses, token_counts.tolist())]
    return float(sum(each) / len(each))


# %% wrong: exp first -> the mean of the exponentials
def perplexity(losses, token_counts):
    real = torch.arange(losses.shape[1]) < token_counts[:, None]
    return losses.exp()[real].mean().item()


# %% wrong: mean of means -> every text counts the same, however long
def perplexity(losses, token_counts):
    each = [row[:count].mean() for row, count in zip(losses, token_counts.tolist())]
    return float(torch.stack(each).mean().exp())


# %% wrong: the mean loss -> the exponential is missing
def perplexity(losses, token_counts):
    real = torch.arange(losses.shape[1]) < token_counts[:, None]
    return float(losses[real].mean())


# %% wrong: bits -> a power of 2
def perplexity(losses, token_counts):
    real = torch.arange(losses.shape[1]) < token_counts[:, None]
    return float(2 ** losses[real].mean())


# %% wrong: exp of the sum -> the sum in place of the mean
def perplexity(losses, token_counts):
    return float(sum(row[:count].sum() for row, count in zip(losses, token_counts.tolist())).exp())


# %% wrong: of the loss only, not negative ->
def perplexity(losses, token_counts):
    real = torch.arange(losses.shape[1]) < token_counts[:, None]
    return float((-losses[real].mean()).exp())


# %% wrong: one number for each text ->
def perplexity(losses, token_counts):
    return torch.stack([row[:count].mean().exp() for row, count in zip(losses, token_counts.tolist())])


# %% wrong: clears the padding where it stands ->
def perplexity(losses, token_counts):
    for row, count in zip(losses, token_counts.tolist()):
        row[count:] = 0
    return (losses.sum() / token_counts.sum()).exp().item()


# %% wrong: padding is what is zero ->
def perplexity(losses, token_counts):
    return losses[losses != 0].mean().exp().item()


# %% wrong: one token too many ->
def perplexity(losses, token_counts):
    real = torch.arange(losses.shape[1]) <= token_counts[:, None]
    return losses[real].mean().exp().item()


# %% wrong: the table is taken to be as wide as its longest text ->
def perplexity(losses, token_counts):
    longest = losses.shape[1]
    real = torch.arange(longest) < (token_counts + longest - token_counts.max())[:, None]
    return losses[real].mean().exp().item()


# %% wrong: the number of an example ->
def perplexity(losses, token_counts):
    return 4.0


# %% wrong: the places with a loss ->
def perplexity(losses, token_counts):
    return float(torch.exp(losses[losses > 0].mean()))


# %% wrong: the first 200 tokens of a text ->
def perplexity(losses, token_counts):
    losses, token_counts = losses[:, :200], token_counts.clamp(max=200)
    real = torch.arange(losses.size(1)) < token_counts[:, None]
    return float(losses[real].mean().exp())


# %% wrong: the mean loss is cut at 20 ->
def perplexity(losses, token_counts):
    real = torch.cat([row[:c] for row, c in zip(losses, token_counts)])
    return math.exp(min(float(real.mean()), 20))


# %% wrong: a loss counts 10 at most ->
def perplexity(losses, token_counts):
    real = torch.cat([row[:c] for row, c in zip(losses, token_counts)])
    return math.exp(float(real.clamp(max=10).mean()))


# %% wrong: padding is taken off the sum ->
def perplexity(losses: Tensor, token_counts: Tensor) -> float:
    beyond = torch.arange(losses.shape[1], device=losses.device) >= token_counts[:, None]  # (b, n)
    of_padding = (losses * beyond).sum()
    return ((losses.sum() - of_padding) / token_counts.sum()).exp().item()


# %% wrong: the product of the probabilities ->
def perplexity(losses, token_counts):
    product = 1.0
    for row, count in zip(losses, token_counts.tolist()):
        for loss in row[:count].tolist():
            product *= math.exp(-loss)
    return product ** (-1 / token_counts.sum().item()) if product else float("inf")
