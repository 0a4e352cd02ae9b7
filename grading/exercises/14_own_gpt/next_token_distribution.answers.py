# %% right: cut in sorted order
def next_token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    chances, indices = torch.softmax(logits / temperature, dim=-1).sort(descending=True)
    if top_k is not None:
        chances[top_k:] = 0
        chances = chances / chances.sum()
    if top_p is not None:
        before = chances.cumsum(dim=0) - chances
        before[0] = 0
        chances = chances.where(before < top_p, torch.zeros_like(chances))
        chances = chances / chances.sum()
    return torch.zeros_like(chances).scatter(0, indices, chances)


# %% right: cut logits become minus infinity
# other: It sets cut logits to minus infinity, and one softmax at the end makes the rest sum to 1; the solution sorts only once for both cuts, and works on the probabilities the text speaks of.
def next_token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    scores = logits / temperature
    if top_k is not None:
        smallest = torch.topk(scores, top_k).values[-1]
        scores = scores.masked_fill(scores < smallest, -torch.inf)
    if top_p is not None:
        ranked, indices = scores.sort(descending=True)
        total = ranked.softmax(dim=-1).cumsum(dim=-1)
        out = total >= top_p
        out = torch.cat([torch.tensor([False]), out[:-1]])
        scores = scores.index_fill(0, indices[out], -torch.inf)
    return torch.softmax(scores, dim=-1)


# %% right: a loop over the tokens
def next_token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    chances = torch.softmax(logits / temperature, dim=0)
    order = torch.argsort(chances, descending=True).tolist()
    keep = order if top_k is None else order[:top_k]
    if top_p is not None:
        whole, total, nucleus = sum(chances[i].item() for i in keep), 0.0, []
        for i in keep:
            nucleus.append(i)
            total += chances[i].item() / whole
            if total >= top_p:
                break
        keep = nucleus
    result = torch.zeros_like(chances)
    for i in keep:
        result[i] = chances[i]
    return result / result.sum()


# %% right: how many are kept
def next_token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    p = (logits / temperature).softmax(-1)
    for way, cut in (("k", top_k), ("p", top_p)):
        if cut is None:
            continue
        ranked = p.sort(descending=True).values
        count = cut if way == "k" else min(len(p), int((ranked.cumsum(0) < cut).sum()) + 1)
        p = torch.where(p >= ranked[count - 1], p, 0.0)
        p = p / p.sum()
    return p


# %% wrong: cumsum above p goes -> the token that crosses p is dropped
# hint: The tokens before it have less than p together: the set must have p *or more*, so the crossing one stays.
# ~ (dim=0) - chances => (dim=0)
# ~ < top_p => <= top_p

# %% wrong: the widely known form, moved on by one -> one token more where the sum is exactly p
# hint: p *or more*: where the tokens so far have exactly p together, they are enough (`>=`, not `>`).
# of: cut logits become minus infinity
# ~ >= top_p => > top_p

# %% wrong: temperature at the end -> the temperature comes after the cut
# hint: Which tokens have p together depends on the temperature: divide the logits by it first.
# of: cut in sorted order
# -    chances, indices = torch.softmax(logits / temperature, dim=-1).sort(descending=True)
# +    chances, indices = torch.softmax(logits, dim=-1).sort(descending=True)
# ...
#          chances = chances.where(before < top_p, torch.zeros_like(chances))
#          chances = chances / chances.sum()
# +    chances = chances ** (1 / temperature)
# +    chances = chances / chances.sum()

# %% wrong: times the temperature -> multiplied by the temperature
# hint: A high temperature makes the distribution flatter: divide the logits by it.
# ~ / temperature => * temperature

# %% wrong: top_k + 1 -> one token too many
# hint: top_k=3 leaves three tokens with a probability above 0, not four.
# ~ top_k: => top_k + 1 :


# %% wrong: first p then k -> p is taken of all tokens, and not of what k leaves
# hint: Cut to k tokens first, and divide by their sum; of these take the fewest that have p together.
def next_token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    chances, indices = torch.softmax(logits / temperature, dim=-1).sort(descending=True)
    if top_p is not None:
        before = chances.cumsum(dim=0) - chances
        before[0] = 0
        chances = chances.where(before < top_p, torch.zeros_like(chances))
    if top_k is not None:
        chances[top_k:] = 0
    return torch.zeros_like(chances).scatter(0, indices, chances / chances.sum())


# %% wrong: never divided by the sum -> what is left does not sum to 1
def next_token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    chances, indices = torch.softmax(logits / temperature, dim=-1).sort(descending=True)
    left = torch.ones_like(chances)
    if top_k is not None:
        left[top_k:] = 0
    if top_p is not None:
        kept = chances * left / (chances * left).sum()
        before = kept.cumsum(dim=0) - kept
        left[1:] *= (before < top_p)[1:]
    return torch.zeros_like(chances).scatter(0, indices, chances * left)


# %% wrong: below 1 - p -> tokens with a probability below 1 - p are dropped
# hint: top_p is about a sum: how many of the most probable tokens it takes to have p together.
# ~ before < top_p => (chances >= 1 - top_p) | (before == 0)

# %% wrong: sorted and not put back -> the result is left in sorted order
# hint: Index i of the result belongs to token i. Put each probability back: `zeros.scatter(0, order, sorted)`.
# ~ torch.zeros_like(chances).scatter(0, indices, chances) => chances

# %% wrong: the order in place of its inverse -> sorted probabilities are put back with the order, not with its inverse
# hint: `sorted[order]` goes the same way once more. Back leads `zeros.scatter(0, order, sorted)`, or
# hint: `sorted[order.argsort()]`.
# ~ torch.zeros_like(chances).scatter(0, indices, chances) => chances[indices]

# %% wrong: writes into the logits ->
# ~ logits / temperature, => logits.div_(temperature),


# %% wrong: a temperature above 5 counts as 5 ->
def next_token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    p = (logits / min(temperature, 5.0)).softmax(-1)
    if top_k is not None:
        p = torch.where(p >= p.topk(top_k).values[-1], p, 0.0)
        p = p / p.sum()
    if top_p is not None:
        s, i = p.sort(descending=True)
        before = s.cumsum(-1) - s
        p = torch.zeros_like(p).scatter(0, i, torch.where(before < top_p, s, 0.0))
        p = p / p.sum()
    return p


# %% wrong: tokens that are cut get a logit of -10,000 ->
def next_token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    scores = logits / temperature
    order = scores.argsort(descending=True)
    if top_k is not None:
        scores = scores.index_fill(0, order[top_k:], -1e4)
    if top_p is not None:
        together = scores.softmax(0)[order].cumsum(0)
        count = int((together < top_p).sum()) + 1
        scores = scores.index_fill(0, order[count:], -1e4)
    return scores.softmax(0)


# %% wrong: it goes on until the sum is reached ->
def next_token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    p = (logits / temperature).softmax(-1)
    order = p.argsort(descending=True).tolist()
    if top_k is not None:
        p = p.index_fill(0, torch.tensor(order[top_k:], dtype=torch.long), 0.0)
        p = p / p.sum()
    if top_p is not None:
        together, count = 0.0, 0
        while together < top_p:
            together += p[order[count]].item()
            count += 1
        p = p.index_fill(0, torch.tensor(order[count:], dtype=torch.long), 0.0)
        p = p / p.sum()
    return p


# %% wrong: a low temperature takes the likeliest token alone ->
# of: tokens that are cut get a logit of -10,000
#  def next_token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
# +    if temperature < 0.01:
# +        return F.one_hot(logits.argmax(), len(logits)).to(logits.dtype)
# ...
# -        scores = scores.index_fill(0, order[top_k:], -1e4)
# +        scores = scores.index_fill(0, order[top_k:], -math.inf)
# ...
# -        scores = scores.index_fill(0, order[count:], -1e4)
# +        scores = scores.index_fill(0, order[count:], -math.inf)

# %% wrong: at most 64 tokens are left ->
# of: cut in sorted order
# ~ top_k: => min(top_k, 64):

# %% wrong: a nucleus of at most 200 tokens ->
#          chances = chances.where(before < top_p, torch.zeros_like(chances))
# +        chances[200:] = 0


# %% wrong: the softmax in single precision ->
def next_token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    logits = logits.float() / temperature
    if top_k is not None:
        kept = logits.topk(min(top_k, logits.size(-1)), dim=-1).indices
        logits = torch.full_like(logits, -torch.inf).scatter(-1, kept, logits.gather(-1, kept))
    shares = logits.softmax(dim=-1)
    if top_p is not None:
        sorted_shares, order = shares.sort(dim=-1, descending=True, stable=True)
        before = sorted_shares.cumsum(dim=-1) - sorted_shares
        shares = shares * torch.zeros_like(shares).scatter(-1, order, (before < top_p).float())
        shares = shares / shares.sum(dim=-1, keepdim=True)
    return shares
