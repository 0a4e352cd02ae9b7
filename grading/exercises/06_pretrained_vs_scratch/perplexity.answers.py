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
# other: It shows how means of texts must be weighted to give the mean of all tokens; the solution takes that mean at once, without a loop or weights.
def perplexity(losses, token_counts):
    means = torch.stack([row[:count].mean() for row, count in zip(losses, token_counts.tolist())])
    weights = token_counts / token_counts.sum()
    return float(torch.exp((weights * means).sum()))


# %% wrong: the mean of the table -> padding is counted
# hint: The mean runs over all numbers of the table, padding included. Only the first token_counts[k] numbers of row k
# hint: are losses of tokens.
def perplexity(losses, token_counts):
    return torch.exp(losses.mean()).item()


# %% wrong: masked sum over all positions -> padding is counted in the number of tokens
# hint: The losses of padding are left out, but the sum is divided by all positions: the perplexity comes out too low.
# hint: Divide by token_counts.sum().
# ~ .unsqueeze(1) => [:, None]
# ~ float(((losses * real).sum() / token_counts.sum()).exp()) => torch.exp((losses * real).mean()).item()


# %% wrong: a perplexity for each text -> the mean of the perplexities of the texts
# hint: One difficult text would outweigh all the others. Take the mean of the losses over all tokens first, and one
# hint: exponential at the end.
def perplexity(losses, token_counts):
    each = [row[:count].mean().exp() for row, count in zip(losses, token_counts.tolist())]
    return float(sum(each) / len(each))


# %% wrong: exp first -> the mean of the exponentials
# ~ .unsqueeze(1) => [:, None]
# ~ float(((losses * real).sum() / token_counts.sum()).exp()) => losses.exp()[real].mean().item()


# %% wrong: mean of means -> every text counts the same, however long
# hint: This is the mean of the means of the texts: a token of a short text counts more than one of a long text. Weight
# hint: by the number of tokens.
def perplexity(losses, token_counts):
    each = [row[:count].mean() for row, count in zip(losses, token_counts.tolist())]
    return float(torch.stack(each).mean().exp())


# %% wrong: the mean loss -> the exponential is missing
# hint: This is the mean loss in nats. The perplexity is its exponential.
# ~ .unsqueeze(1) => [:, None]
# ~ ((losses * real).sum() / token_counts.sum()).exp => losses[real].mean

# %% wrong: bits -> a power of 2
# hint: Our losses are in nats (natural logarithm), so the base is e. 2 belongs to losses in bits.
# ~ .unsqueeze(1) => [:, None]
# ~ ((losses * real).sum() / token_counts.sum()).exp => 2 ** losses[real].mean


# %% wrong: exp of the sum -> the sum in place of the mean
# hint: exp of the sum grows with the length of the text and soon beyond all numbers. Divide by the tokens first.
def perplexity(losses, token_counts):
    return float(sum(row[:count].sum() for row, count in zip(losses, token_counts.tolist())).exp())


# %% wrong: clears the padding where it stands ->
def perplexity(losses, token_counts):
    for row, count in zip(losses, token_counts.tolist()):
        row[count:] = 0
    return (losses.sum() / token_counts.sum()).exp().item()


# %% wrong: the table is taken to be as wide as its longest text ->
def perplexity(losses, token_counts):
    longest = losses.shape[1]
    real = torch.arange(longest) < (token_counts + longest - token_counts.max())[:, None]
    return losses[real].mean().exp().item()


# %% wrong: the first 200 tokens of a text ->
def perplexity(losses, token_counts):
    losses, token_counts = losses[:, :200], token_counts.clamp(max=200)
    real = torch.arange(losses.size(1)) < token_counts[:, None]
    return float(losses[real].mean().exp())


# %% wrong: the mean loss is cut at 20 ->
# ~ arange(losses.shape[1]) < token_counts.unsqueeze(1) => cat([row[:c] for row, c in zip(losses, token_counts)])
# ~ float(((losses * real).sum() / token_counts.sum()).exp()) => math.exp(min(float(real.mean()), 20))


# %% wrong: padding is taken off the sum ->
def perplexity(losses: Tensor, token_counts: Tensor) -> float:
    beyond = torch.arange(losses.shape[1], device=losses.device) >= token_counts[:, None]  # (b, n)
    of_padding = (losses * beyond).sum()
    return ((losses.sum() - of_padding) / token_counts.sum()).exp().item()
