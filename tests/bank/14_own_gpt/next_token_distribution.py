# %% right: cut in sorted order
def next_token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    chances, places = torch.softmax(logits / temperature, dim=-1).sort(descending=True)
    if top_k is not None:
        chances[top_k:] = 0
        chances = chances / chances.sum()
    if top_p is not None:
        before = chances.cumsum(dim=0) - chances
        before[0] = 0
        chances = chances.where(before < top_p, torch.zeros_like(chances))
        chances = chances / chances.sum()
    return torch.zeros_like(chances).scatter(0, places, chances)


# %% right: cut logits become minus infinity
def next_token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    scores = logits / temperature
    if top_k is not None:
        smallest = torch.topk(scores, top_k).values[-1]
        scores = scores.masked_fill(scores < smallest, -torch.inf)
    if top_p is not None:
        ranked, places = scores.sort(descending=True)
        total = ranked.softmax(dim=-1).cumsum(dim=-1)
        out = total >= top_p
        out = torch.cat([torch.tensor([False]), out[:-1]])
        scores = scores.index_fill(0, places[out], -torch.inf)
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
# of: cut in sorted order
# -        before = chances.cumsum(dim=0) - chances
# +        before = chances.cumsum(dim=0)
#          before[0] = 0
# -        chances = chances.where(before < top_p, torch.zeros_like(chances))
# +        chances = chances.where(before <= top_p, torch.zeros_like(chances))


# %% wrong: temperature at the end -> the temperature comes after the cut
# of: cut in sorted order
# -    chances, places = torch.softmax(logits / temperature, dim=-1).sort(descending=True)
# +    chances, places = torch.softmax(logits, dim=-1).sort(descending=True)
# ...
# +    chances = chances ** (1 / temperature)
# +    chances = chances / chances.sum()
#      return torch.zeros_like(chances).scatter(0, places, chances)


# %% wrong: times the temperature -> multiplied by the temperature
# of: cut in sorted order
# -    chances, places = torch.softmax(logits / temperature, dim=-1).sort(descending=True)
# +    chances, places = torch.softmax(logits * temperature, dim=-1).sort(descending=True)


# %% wrong: top_k + 1 -> one token too many
# of: cut in sorted order
# -        chances[top_k:] = 0
# +        chances[top_k + 1 :] = 0


# %% wrong: first p then k -> p is taken of all tokens, and not of what k leaves
def next_token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    chances, places = torch.softmax(logits / temperature, dim=-1).sort(descending=True)
    if top_p is not None:
        before = chances.cumsum(dim=0) - chances
        before[0] = 0
        chances = chances.where(before < top_p, torch.zeros_like(chances))
    if top_k is not None:
        chances[top_k:] = 0
    return torch.zeros_like(chances).scatter(0, places, chances / chances.sum())


# %% wrong: no sum after k ->
# of: cut in sorted order
#          chances[top_k:] = 0
# -        chances = chances / chances.sum()


# %% wrong: never divided by the sum -> what is left does not sum to 1
def next_token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    chances, places = torch.softmax(logits / temperature, dim=-1).sort(descending=True)
    left = torch.ones_like(chances)
    if top_k is not None:
        left[top_k:] = 0
    if top_p is not None:
        kept = chances * left / (chances * left).sum()
        before = kept.cumsum(dim=0) - kept
        left[1:] *= (before < top_p)[1:]
    return torch.zeros_like(chances).scatter(0, places, chances * left)


# %% wrong: below 1 - p -> tokens with a probability below 1 - p are dropped
# of: cut in sorted order
# -        chances = chances.where(before < top_p, torch.zeros_like(chances))
# +        chances = chances.where((chances >= 1 - top_p) | (before == 0), torch.zeros_like(chances))


# %% wrong: sorted and not put back -> the result is left in sorted order
# of: cut in sorted order
# -    return torch.zeros_like(chances).scatter(0, places, chances)
# +    return chances


# %% wrong: the least probable are kept ->
# of: cut in sorted order
# -    chances, places = torch.softmax(logits / temperature, dim=-1).sort(descending=True)
# +    chances, places = torch.softmax(logits / temperature, dim=-1).sort(descending=False)


# %% wrong: a token is drawn ->
# of: cut in sorted order
# +    return torch.multinomial(chances, 1)
#      return torch.zeros_like(chances).scatter(0, places, chances)


# %% wrong: logits come back ->
# of: cut in sorted order
# -    return torch.zeros_like(chances).scatter(0, places, chances)
# +    return torch.zeros_like(chances).scatter(0, places, chances).log()


# %% wrong: top_p is not looked at ->
# of: cut in sorted order
# -    if top_p is not None:
# +    if False:


# %% wrong: top_k is not looked at ->
# of: cut in sorted order
# -    if top_k is not None:
# +    if False:


# %% wrong: writes into the logits ->
# of: cut in sorted order
# -    chances, places = torch.softmax(logits / temperature, dim=-1).sort(descending=True)
# +    chances, places = torch.softmax(logits.div_(temperature), dim=-1).sort(descending=True)


# %% wrong: a softmax by hand, without taking off the largest ->
def next_token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    logits = logits / temperature
    if top_k is not None:
        logits = logits.masked_fill(logits < logits.topk(top_k).values[-1], -torch.inf)
    chances = logits.exp() / logits.exp().sum()
    if top_p is not None:
        ordered, order = chances.sort(descending=True)
        before = ordered.cumsum(-1) - ordered
        chances = chances.clone()
        chances[order[before >= top_p]] = 0
        chances = chances / chances.sum()
    return chances


# %% wrong: the last of the k is dropped ->
def next_token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    logits = logits / temperature
    if top_k is not None:
        logits = logits.masked_fill(logits <= logits.topk(top_k).values[-1], -torch.inf)
    chances = logits.softmax(-1)
    if top_p is not None:
        ordered, order = chances.sort(descending=True)
        before = ordered.cumsum(-1) - ordered
        chances = chances.clone()
        chances[order[before >= top_p]] = 0
        chances = chances / chances.sum()
    return chances


# %% wrong: no temperature below a half ->
def next_token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    logits = logits / max(temperature, 0.5)
    if top_k is not None:
        logits = logits.masked_fill(logits < logits.topk(top_k).values[-1], -torch.inf)
    chances = logits.softmax(-1)
    if top_p is not None:
        ordered, order = chances.sort(descending=True)
        before = ordered.cumsum(-1) - ordered
        chances = chances.clone()
        chances[order[before >= top_p]] = 0
        chances = chances / chances.sum()
    return chances


# %% wrong: a temperature below 0.1 counts as 0.1 ->
def next_token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    p = (logits / max(temperature, 0.1)).softmax(-1)
    if top_k is not None:
        p = torch.where(p >= p.topk(top_k).values[-1], p, 0.0)
        p = p / p.sum()
    if top_p is not None:
        s, i = p.sort(descending=True)
        before = s.cumsum(-1) - s
        p = torch.zeros_like(p).scatter(0, i, torch.where(before < top_p, s, 0.0))
        p = p / p.sum()
    return p


# %% wrong: a temperature above 5 counts as 5 ->
# of: a temperature below 0.1 counts as 0.1
# -    p = (logits / max(temperature, 0.1)).softmax(-1)
# +    p = (logits / min(temperature, 5.0)).softmax(-1)


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
def next_token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    if temperature < 0.01:
        return F.one_hot(logits.argmax(), len(logits)).to(logits.dtype)
    scores = logits / temperature
    order = scores.argsort(descending=True)
    if top_k is not None:
        scores = scores.index_fill(0, order[top_k:], -math.inf)
    if top_p is not None:
        together = scores.softmax(0)[order].cumsum(0)
        count = int((together < top_p).sum()) + 1
        scores = scores.index_fill(0, order[count:], -math.inf)
    return scores.softmax(0)


# %% wrong: top-p among the hundred most probable ->
def next_token_distribution(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    scaled = (logits - logits.max()) / temperature
    if top_k is not None:
        cut = torch.full_like(scaled, -torch.inf)
        best = scaled.topk(top_k).indices
        cut[best] = scaled[best]
        scaled = cut
    chances = scaled.softmax(0)
    if top_p is not None and top_p < 1:
        best, places = chances.topk(min(100, len(chances)))  # sorting all would be slow
        count = int((best.cumsum(0) < top_p).sum()) + 1
        kept = torch.zeros_like(chances)
        kept[places[:count]] = best[:count]
        chances = kept / kept.sum()
    return chances


# %% wrong: at most 64 tokens are left ->
# of: cut in sorted order
# -    if top_k is not None:
# -        chances[top_k:] = 0
# +    if top_k is not None:
# +        chances[min(top_k, 64):] = 0


# %% wrong: a nucleus of at most 200 tokens ->
# of: cut in sorted order
# -        chances = chances.where(before < top_p, torch.zeros_like(chances))
# +        chances = chances.where(before < top_p, torch.zeros_like(chances))
# +        chances[200:] = 0


# %% wrong: p in two digits ->
# of: cut in sorted order
# -        chances = chances.where(before < top_p, torch.zeros_like(chances))
# +        chances = chances.where(before < round(top_p, 2), torch.zeros_like(chances))


# %% wrong: exponentials by hand, of logits cut at 80 ->
def next_token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    chances, places = ((logits / temperature).clamp(-80, 80).exp()).sort(descending=True)
    chances = chances / chances.sum()
    if top_k is not None:
        chances[top_k:] = 0
        chances = chances / chances.sum()
    if top_p is not None:
        before = chances.cumsum(dim=0) - chances
        before[0] = 0
        chances = chances.where(before < top_p, torch.zeros_like(chances))
        chances = chances / chances.sum()
    return torch.zeros_like(chances).scatter(0, places, chances)


# %% wrong: the order in place of its inverse -> sorted probabilities are put back with the order, not with its inverse
# of: cut in sorted order
# -    return torch.zeros_like(chances).scatter(0, places, chances)
# +    return chances[places]


# %% wrong: the widely known form, moved on by one -> one token more where the sum is exactly p
# of: cut logits become minus infinity
# -        out = total >= top_p
# +        out = total > top_p


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
