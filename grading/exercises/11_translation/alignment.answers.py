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
# other: It looks at each word as it is written, and does not rely on the causal mask; the solution gets all rows from one run, and names the layer whose weights it takes.
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
# hint: The position that reads word i writes word i + 1. Feed <sos> and all words but the last: then row i belongs to
# hint: the moment in which word i is written.
# ~ [SOS, *words[:-1]] => words

# %% wrong: feeds all of them -> one row too many
# hint: After the last word the model writes <eos>, which is not asked for. Leave the last word out of what is fed.
# ~ [:-1] =>

# %% wrong: cuts the first row -> one row too many, the first is cut
# hint: This leaves the rows of the next words: the row of <sos> is the one that writes the first word.
# of: one row more, then cut
# ~ : len(words) => 1:

# %% wrong: self-attention -> self-attention in place of cross-attention
# hint: This map has the written words on both axes. Take layer.cross_attention.
# of: as in the text
# ~ cross_attention => attention

# %% wrong: layer 0 -> the first layer
# hint: The last layer's map is asked for: model.decoder.layers[-1].
# ~ [-1]. => [0].

# %% wrong: all layers -> the mean over the layers too
# hint: Only the last layer is asked for.
# -    attention = model.decoder.layers[-1].cross_attention
# -    return context.maps[attention][0].mean(dim=0)
# +    maps = [context.maps[layer.cross_attention][0] for layer in model.decoder.layers]
# +    return torch.stack(maps).mean(dim=(0, 1))

# %% wrong: head 0 -> one head only
# hint: Each head looks somewhere else; take the mean over all of them.
# ~ [0].mean(dim=0) => [0, 0]

# %% wrong: sum of heads -> the heads are summed
# hint: A row sums to the number of heads. Take the mean.
# ~ mean => sum

# %% wrong: transposed -> rows and columns are exchanged
# hint: Rows are the words that look, those written; columns are the tokens looked at, those of the source.
# ~ (dim=0) => (dim=0).T

# %% wrong: all heads -> the heads are still there
# hint: Take the mean over the heads, and the only sentence of the batch.
# ~ .mean(dim=0) =>


# %% wrong: <eos> is put behind a source that has none ->
def alignment(model, source, words):
    source = source if source[-1] == EOS else [*source, EOS]
    context = model.encode(torch.tensor([source]), torch.tensor([len(source)]))
    context.maps = {}
    model.decode(torch.tensor([[SOS, *words[:-1]]]), context)
    return context.maps[model.decoder.layers[-1].cross_attention][0].mean(dim=0)


# %% wrong: padding is left out of the words ->
# of: feeds the words
# ~ model.decode(torch.tensor([words]), context) => read = torch.tensor([[SOS, *[w for w in words[:-1] if w != PAD]]])
# ~ attention = model.decoder.layers[-1].cross_attention => model.decode(read, context)
# ~ attention => model.decoder.layers[-1].cross_attention


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
