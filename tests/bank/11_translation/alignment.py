# %% right: as in the text
@torch.no_grad()
def alignment(model, source, words):
    context = model.encode(torch.tensor([source]), torch.tensor([len(source)]))
    context.maps = {}
    model.decode(torch.tensor([[SOS, *words[:-1]]]), context)
    attention = model.decoder.layers[-1].cross_attention
    return context.maps[attention][0].mean(dim=0)


# %% right: one row more, then cut
def alignment(model, source, words):
    maps = {}
    with torch.no_grad():
        context = model.encode(torch.tensor(source).unsqueeze(0), torch.tensor([len(source)]))
        context.maps = maps
        model.decode(torch.tensor([SOS] + words).unsqueeze(0), context)
    weights = maps[model.decoder.layers[-1].cross_attention]  # (1, h, n + 1, m)
    return weights.mean(dim=1).squeeze(0)[: len(words)]


# %% right: word by word
@torch.no_grad()
def alignment(model, source, words):
    context = model.encode(torch.tensor([source]), torch.tensor([len(source)]))
    context.maps = {}
    rows = []
    for n in range(len(words)):
        model.decode(torch.tensor([[SOS, *words[:n]]]), context)
        heads = list(context.maps.values())[-1][0]  # (h, n + 1, m)
        rows.append(sum(heads[k, -1] for k in range(len(heads))) / len(heads))
    return torch.stack(rows)


# %% wrong: feeds the words -> a row for each word read, not written
# of: as in the text
# -    model.decode(torch.tensor([[SOS, *words[:-1]]]), context)
# +    model.decode(torch.tensor([words]), context)


# %% wrong: feeds all of them -> one row too many
# of: as in the text
# -    model.decode(torch.tensor([[SOS, *words[:-1]]]), context)
# +    model.decode(torch.tensor([[SOS, *words]]), context)


# %% wrong: cuts the first row -> one row too many, the first is cut
# of: one row more, then cut
# -    return weights.mean(dim=1).squeeze(0)[: len(words)]
# +    return weights.mean(dim=1).squeeze(0)[1:]


# %% wrong: self-attention -> self-attention in place of cross-attention
# of: as in the text
# -    attention = model.decoder.layers[-1].cross_attention
# +    attention = model.decoder.layers[-1].attention


# %% wrong: layer 0 -> the first layer
# of: as in the text
# -    attention = model.decoder.layers[-1].cross_attention
# +    attention = model.decoder.layers[0].cross_attention


# %% wrong: all layers -> the mean over the layers too
@torch.no_grad()
def alignment(model, source, words):
    context = model.encode(torch.tensor([source]), torch.tensor([len(source)]))
    context.maps = {}
    model.decode(torch.tensor([[SOS, *words[:-1]]]), context)
    maps = [context.maps[layer.cross_attention][0] for layer in model.decoder.layers]
    return torch.stack(maps).mean(dim=(0, 1))


# %% wrong: head 0 -> one head only
# of: as in the text
# -    return context.maps[attention][0].mean(dim=0)
# +    return context.maps[attention][0, 0]


# %% wrong: sum of heads -> the heads are summed
# of: as in the text
# -    return context.maps[attention][0].mean(dim=0)
# +    return context.maps[attention][0].sum(dim=0)


# %% wrong: transposed -> rows and columns are exchanged
# of: as in the text
# -    return context.maps[attention][0].mean(dim=0)
# +    return context.maps[attention][0].mean(dim=0).T


# %% wrong: all heads -> the heads are still there
# of: as in the text
# -    return context.maps[attention][0].mean(dim=0)
# +    return context.maps[attention][0]


# %% wrong: the largest place in place of the weights ->
# of: as in the text
# -    return context.maps[attention][0].mean(dim=0)
# +    return context.maps[attention][0].mean(dim=0).argmax(dim=-1)


# %% wrong: the batch is still there ->
# of: as in the text
# -    return context.maps[attention][0].mean(dim=0)
# +    return context.maps[attention].mean(dim=1)


# %% wrong: <eos> is put behind a source that has none ->
def alignment(model, source, words):
    source = source if source[-1] == EOS else [*source, EOS]
    context = model.encode(torch.tensor([source]), torch.tensor([len(source)]))
    context.maps = {}
    model.decode(torch.tensor([[SOS, *words[:-1]]]), context)
    return context.maps[model.decoder.layers[-1].cross_attention][0].mean(dim=0)


# %% wrong: the weight of <eos> goes to the words ->
# of: as in the text
# -    return context.maps[attention][0].mean(dim=0)
# +    weights = context.maps[attention][0].mean(dim=0).masked_fill(torch.tensor(source) == EOS, 0.0)
# +    return weights / weights.sum(dim=-1, keepdim=True)


# %% wrong: computed anew with the root of the whole width ->
@torch.no_grad()
def alignment(model, source, words):
    cross, read = model.decoder.layers[-1].cross_attention, []
    hook = cross.register_forward_hook(lambda module, inputs, output: read.append(inputs[0]))
    context = model.encode(torch.tensor([source]), torch.tensor([len(source)]))
    model.decode(torch.tensor([[SOS, *words[:-1]]]), context)
    hook.remove()
    query, key = (
        part[0].unflatten(-1, (cross.n_heads, -1)) for part in (cross.query(read[0]), cross.key(context.memory))
    )
    scores = torch.einsum("nhd,mhd->hnm", query, key) / math.sqrt(read[0].shape[-1])
    return scores.softmax(dim=-1).mean(dim=0)


# %% wrong: padding is left out of the words ->
@torch.no_grad()
def alignment(model, source, words):
    context = model.encode(torch.tensor([source]), torch.tensor([len(source)]))
    context.maps = {}
    read = torch.tensor([[SOS, *[w for w in words[:-1] if w != PAD]]])
    model.decode(read, context)
    return context.maps[model.decoder.layers[-1].cross_attention][0].mean(dim=0)


# %% wrong: a word that stands there twice gets the row of the first ->
@torch.no_grad()
def alignment(model, source, words):
    context = model.encode(torch.tensor([source]), torch.tensor([len(source)]))
    context.maps = {}
    model.decode(torch.tensor([[SOS, *words[:-1]]]), context)
    m = context.maps[model.decoder.layers[-1].cross_attention][0].mean(dim=0)
    return torch.stack([m[words.index(w)] for w in words])


# %% wrong: at most sixty-four words ->
@torch.no_grad()
def alignment(model, source, words):
    source, words = source[:64], words[:64]
    context = model.encode(torch.tensor([source]), torch.tensor([len(source)]))
    context.maps = {}
    model.decode(torch.tensor([[SOS, *words[:-1]]]), context)
    return context.maps[model.decoder.layers[-1].cross_attention][0].mean(dim=0)


# %% wrong: the maps are kept by source and words, whatever the model ->
known_maps = {}


@torch.no_grad()
def alignment(model: nn.Module, source: list[int], words: list[int]) -> Tensor:
    key = (tuple(source), tuple(words))
    if key not in known_maps:
        context = model.encode(torch.tensor([source]), torch.tensor([len(source)]))
        context.maps = {}
        model.decode(torch.tensor([[SOS, *words]]), context)
        weights = context.maps[model.decoder.layers[-1].cross_attention]
        known_maps[key] = weights[0].mean(dim=0)[: len(words)]
    return known_maps[key].clone()


# %% wrong: small weights are taken for nothing ->
@torch.no_grad()
def alignment(model: nn.Module, source: list[int], words: list[int]) -> Tensor:
    context = model.encode(torch.tensor([source]), torch.tensor([len(source)]))
    context.maps = {}
    model.decode(torch.tensor([[SOS, *words]]), context)
    maps = context.maps[model.decoder.layers[-1].cross_attention]  # (1, h, n, m)
    weights = maps[0].mean(dim=0)[: len(words)]
    return weights.masked_fill(weights < 0.02, 0.0)
