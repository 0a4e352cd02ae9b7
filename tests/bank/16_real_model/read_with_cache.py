# %% right: the forward pass, opened
def read_with_cache(model, tokens, cache):
    n, d = tokens.shape[1], model.embedding.embedding_dim
    past = 0 if cache is None else cache[0][0].shape[2]
    mask = causal_mask(past + n)[past:]
    x, kept = model.embedding(tokens) * math.sqrt(d) + model.position[past : past + n], []
    for number, layer in enumerate(model.layers):
        part, y = layer.attention, layer.attention_norm(x)
        query, key, value = (split_heads(matrix(y), part.n_heads) for matrix in (part.query, part.key, part.value))
        if cache is not None:
            key = torch.cat([cache[number][0], key], dim=2)
            value = torch.cat([cache[number][1], value], dim=2)
        kept.append((key, value))
        x = x + part.output(merge_heads(attend(query, key, value, mask)))
        x = x + layer.feed_forward(layer.feed_forward_norm(x))
    return model.norm(x) @ model.embedding.weight.T, kept


# %% right: an empty cache in place of None, scores by hand
@torch.no_grad()
def read_with_cache(model, tokens, cache):
    b, n = tokens.shape
    d = model.embedding.weight.shape[1]
    m = cache[0][0].size(2) if cache else 0
    x = model.embedding(tokens) * d**0.5 + model.position[torch.arange(m, m + n)]
    places = torch.arange(m + n, device=tokens.device)
    hidden = places[None, :] > places[m:, None]
    new_cache = []
    for i in range(len(model.layers)):
        layer = model.layers[i]
        attention = layer.attention
        y = layer.attention_norm(x)
        q = split_heads(attention.query(y), attention.n_heads)
        k = split_heads(attention.key(y), attention.n_heads)
        v = split_heads(attention.value(y), attention.n_heads)
        if cache:
            old_k, old_v = cache[i]
            k, v = torch.cat((old_k, k), dim=-2), torch.cat((old_v, v), dim=-2)
        new_cache.append([k, v])
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
        x = x + attention.output((weights @ v).transpose(1, 2).reshape(b, n, d))
        x = x + layer.feed_forward(layer.feed_forward_norm(x))
    return F.linear(model.norm(x), model.embedding.weight), new_cache


# %% right: one token after the other
def read_with_cache(model, tokens, cache):
    scores = []
    for column in tokens.T:
        m = 0 if cache is None else cache[0][0].shape[2]
        x = model.embedding(column[:, None]) * math.sqrt(model.embedding.embedding_dim) + model.position[m]
        longer = []
        for i, layer in enumerate(model.layers):
            part, y = layer.attention, layer.attention_norm(x)
            query, *new = [split_heads(f(y), part.n_heads) for f in (part.query, part.key, part.value)]
            if cache is not None:
                new = [torch.cat(pair, dim=2) for pair in zip(cache[i], new)]
            longer.append(tuple(new))
            x = x + part.output(merge_heads(attend(query, *new, torch.zeros(1, m + 1))))
            x = x + layer.feed_forward(layer.feed_forward_norm(x))
        cache = longer
        scores.append(model.norm(x) @ model.embedding.weight.T)
    return torch.cat(scores, dim=1), cache


# %% right: a tuple that is longer
# of: the forward pass, opened
# -        if cache is not None:
# -            key = torch.cat([cache[number][0], key], dim=2)
# -            value = torch.cat([cache[number][1], value], dim=2)
# +        old = cache[number] if cache is not None else (key[:, :, :0], value[:, :, :0])
# +        key, value = torch.cat([old[0], key], dim=2), torch.cat([old[1], value], dim=2)


# %% wrong: position 0 -> positions begin anew
# of: the forward pass, opened
# -    x, kept = model.embedding(tokens) * math.sqrt(d) + model.position[past : past + n], []
# +    x, kept = model.embedding(tokens) * math.sqrt(d) + model.position[:n], []


# %% wrong: past + 1 -> positions are one too far
# of: the forward pass, opened
# -    x, kept = model.embedding(tokens) * math.sqrt(d) + model.position[past : past + n], []
# +    x, kept = model.embedding(tokens) * math.sqrt(d) + model.position[past + (past > 0) : past + (past > 0) + n], []


# %% wrong: cache forgotten -> the cache is not read
# of: the forward pass, opened
#      past = 0 if cache is None else cache[0][0].shape[2]
# +    past = 0
# ...
# -        if cache is not None:
# +        if False:


# %% wrong: cache[0] everywhere -> all layers read the cache of the first
# of: the forward pass, opened
# -            key = torch.cat([cache[number][0], key], dim=2)
# -            value = torch.cat([cache[number][1], value], dim=2)
# +            key = torch.cat([cache[0][0], key], dim=2)
# +            value = torch.cat([cache[0][1], value], dim=2)


# %% wrong: new first -> new keys stand before the old ones
# of: the forward pass, opened
# -            key = torch.cat([cache[number][0], key], dim=2)
# -            value = torch.cat([cache[number][1], value], dim=2)
# +            key = torch.cat([key, cache[number][0]], dim=2)
# +            value = torch.cat([value, cache[number][1]], dim=2)


# %% wrong: noted before cat -> only the newest keys and values are kept
# of: the forward pass, opened
#          query, key, value = (split_heads(matrix(y), part.n_heads) for matrix in (part.query, part.key, part.value))
# +        kept.append((key, value))
# ...
# -        kept.append((key, value))


# %% wrong: put there again -> the cache grows twice
# of: the forward pass, opened
#          query, key, value = (split_heads(matrix(y), part.n_heads) for matrix in (part.query, part.key, part.value))
# +        new = key, value
# ...
# -        kept.append((key, value))
# +        kept.append((torch.cat([key, new[0]], dim=2), torch.cat([value, new[1]], dim=2)))


# %% wrong: no mask -> new tokens see each other's future
# of: the forward pass, opened
# -    mask = causal_mask(past + n)[past:]
# +    mask = torch.zeros(n, past + n)


# %% wrong: the first rows of the mask -> the mask stands at the wrong end
# of: the forward pass, opened
# -    mask = causal_mask(past + n)[past:]
# +    mask = causal_mask(past + n)[:n]


# %% wrong: values first -> keys and values are exchanged in the cache
# of: the forward pass, opened
# -        kept.append((key, value))
# +        kept.append((value, key))


# %% wrong: no sqrt -> the embedding is not scaled
# of: the forward pass, opened
# -    x, kept = model.embedding(tokens) * math.sqrt(d) + model.position[past : past + n], []
# +    x, kept = model.embedding(tokens) + model.position[past : past + n], []


# %% wrong: last logits -> only the last place is answered
# of: the forward pass, opened
# -    return model.norm(x) @ model.embedding.weight.T, kept
# +    return model.norm(x)[:, -1:] @ model.embedding.weight.T, kept


# %% wrong: writes into the old cache ->
# of: the forward pass, opened
#          kept.append((key, value))
# +        if cache is not None:
# +            cache[number] = (key, value)


# %% wrong: no last norm ->
# of: the forward pass, opened
# -    return model.norm(x) @ model.embedding.weight.T, kept
# +    return x @ model.embedding.weight.T, kept


# %% wrong: keys only ->
# of: the forward pass, opened
# -            value = torch.cat([cache[number][1], value], dim=2)


# %% wrong: the cache alone ->
# of: the forward pass, opened
# -    return model.norm(x) @ model.embedding.weight.T, kept
# +    return kept


# %% wrong: logits alone ->
# of: the forward pass, opened
# -    return model.norm(x) @ model.embedding.weight.T, kept
# +    return model.norm(x) @ model.embedding.weight.T


# %% wrong: calls the layer ->
# of: the forward pass, opened
# -        x = x + layer.feed_forward(layer.feed_forward_norm(x))
# +        x = layer(x, mask)


# %% wrong: the old cache comes back ->
# of: the forward pass, opened
# -    return model.norm(x) @ model.embedding.weight.T, kept
# +    return model.norm(x) @ model.embedding.weight.T, cache or kept


# %% wrong: the last eight keys are kept ->
def read_with_cache(model, tokens, cache):
    m = 0 if cache is None else cache[0][0].shape[2]
    n, d = tokens.shape[1], model.embedding.embedding_dim
    x = model.embedding(tokens) * math.sqrt(d) + model.position[m : m + n]
    mask, new = causal_mask(m + n)[m:], []
    for place, layer in enumerate(model.layers):
        a, inside = layer.attention, layer.attention_norm(x)
        query, key, value = (split_heads(f(inside), a.n_heads) for f in (a.query, a.key, a.value))
        if cache is not None:
            key = torch.cat([cache[place][0], key], dim=2)
            value = torch.cat([cache[place][1], value], dim=2)
        new.append((key[:, :, -8:], value[:, :, -8:]))
        x = x + a.output(merge_heads(attend(query, key, value, mask)))
        x = x + layer.feed_forward(layer.feed_forward_norm(x))
    return model.norm(x) @ model.embedding.weight.T, new


# %% wrong: the last 32 tokens are kept ->
def read_with_cache(model, tokens, cache):
    m = 0 if cache is None else cache[0][0].shape[2]
    n, d = tokens.shape[1], model.embedding.embedding_dim
    x = model.embedding(tokens) * math.sqrt(d) + model.position[m : m + n]
    mask = causal_mask(m + n)[m:]
    new = []
    for i, layer in enumerate(model.layers):
        a = layer.attention
        y = layer.attention_norm(x)
        q, k, v = (z.unflatten(-1, (a.n_heads, -1)).transpose(1, 2) for z in (a.query(y), a.key(y), a.value(y)))
        if cache is not None:
            k, v = torch.cat([cache[i][0], k], 2), torch.cat([cache[i][1], v], 2)
        new.append((k[:, :, -32:], v[:, :, -32:]))
        w = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + mask).softmax(-1)
        x = x + a.output((w @ v).transpose(1, 2).flatten(2))
        x = x + layer.feed_forward(layer.feed_forward_norm(x))
    return model.norm(x) @ model.embedding.weight.T, new


# %% wrong: the mask is made on the CPU ->
# of: an empty cache in place of None, scores by hand
# -    places = torch.arange(m + n, device=tokens.device)
# +    places = torch.arange(m + n)


# %% wrong: two layers by heart ->
# of: the forward pass, opened
# -    for number, layer in enumerate(model.layers):
# +    for number, layer in enumerate(model.layers[:2]):


# %% wrong: the last 32 of the new tokens are read ->
# of: the forward pass, opened
#  def read_with_cache(model, tokens, cache):
# +    tokens = tokens[:, -32:]


# %% wrong: the axis of a single head falls away ->
# of: the forward pass, opened
#          query, key, value = (split_heads(matrix(y), part.n_heads) for matrix in (part.query, part.key, part.value))
# +        query, key, value = query.squeeze(1), key.squeeze(1), value.squeeze(1)


# %% wrong: the model reads the new tokens too ->
# of: the forward pass, opened
#      n, d = tokens.shape[1], model.embedding.embedding_dim
# +    model(tokens)


# %% wrong: the model itself reads what comes first ->
# of: the forward pass, opened
# -    return model.norm(x) @ model.embedding.weight.T, kept
# +    if cache is None:
# +        x = model.forward(tokens)
# +    else:
# +        x = model.norm(x)
# +    return x @ model.embedding.weight.T, kept


# %% wrong: each layer runs as a whole beside its parts ->
# of: the forward pass, opened
#          part, y = layer.attention, layer.attention_norm(x)
# +        from helpers.models import Context
# +
# +        layer(x, Context(mask=causal_mask(n)))


# %% wrong: x is overwritten by its norm -> the norm stands on the path of the residual
# of: the forward pass, opened
# -        part, y = layer.attention, layer.attention_norm(x)
# +        part, x = layer.attention, layer.attention_norm(x)
# +        y = x
# ...
# -        x = x + layer.feed_forward(layer.feed_forward_norm(x))
# +        x = layer.feed_forward_norm(x)
# +        x = x + layer.feed_forward(x)


# %% wrong: heads by reshape -> heads are cut by a reshape alone
def read_with_cache(model, tokens, cache):
    b, n = tokens.shape
    m = 0 if cache is None else cache[0][0].size(2)
    d = model.embedding.embedding_dim
    x = model.embedding(tokens) * math.sqrt(d) + model.position[m : m + n]
    mask = causal_mask(m + n)[m:]
    pairs = []
    for i, layer in enumerate(model.layers):
        a = layer.attention
        z = layer.attention_norm(x)
        shape = (b, a.n_heads, n, d // a.n_heads)
        q, k, v = a.query(z).reshape(shape), a.key(z).reshape(shape), a.value(z).reshape(shape)
        if m > 0:
            k = torch.cat([cache[i][0], k], dim=2)
            v = torch.cat([cache[i][1], v], dim=2)
        pairs.append((k, v))
        scores = q @ k.mT / math.sqrt(d // a.n_heads) + mask
        x = x + a.output((scores.softmax(-1) @ v).reshape(b, n, d))
        x = x + layer.feed_forward(layer.feed_forward_norm(x))
    return model.norm(x) @ model.embedding.weight.T, pairs


# %% wrong: put together without exchanging axes -> heads are put together by a reshape alone
# of: the forward pass, opened
# -        x = x + part.output(merge_heads(attend(query, key, value, mask)))
# +        x = x + part.output(attend(query, key, value, mask).reshape(x.shape))
