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
    positions = torch.arange(m + n, device=tokens.device)
    hidden = positions[None, :] > positions[m:, None]
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
# other: One token at a time needs no causal mask, and is how a model writes; the solution reads all new tokens in one run, also those of a long prompt.
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
# -        if cache is not None:
# -            key = torch.cat([cache[number][0], key], dim=2)
# -            value = torch.cat([cache[number][1], value], dim=2)
# +        old = cache[number] if cache is not None else (key[:, :, :0], value[:, :, :0])
# +        key, value = torch.cat([old[0], key], dim=2), torch.cat([old[1], value], dim=2)

# %% wrong: position 0 -> positions begin anew
# hint: The new token is not the first one of the text: its position is the number of tokens that have been read.
# ~ past : past + n => :n

# %% wrong: past + 1 -> positions are one too far
# hint: After m tokens, numbered 0 to m - 1, the next one has the position m.
# ~ : past => + (past > 0) : past + (past > 0)

# %% wrong: cache forgotten -> the cache is not read
# hint: The new token looks at itself only: put the kept keys and values before its own.
#      past = 0 if cache is None else cache[0][0].shape[2]
# +    past = 0
# ...
# -        if cache is not None:
# +        if False:

# %% wrong: cache[0] everywhere -> all layers read the cache of the first
# hint: Each layer has keys and values of its own: layer number i reads cache[i].
# ~ [number][0] => [0][0]
# ~ [number] => [0]

# %% wrong: new first -> new keys stand before the old ones
# hint: Keys and values are kept in the order of the text: torch.cat([old, new], dim=2).
# ~ cache[number][0], key => key, cache[number][0]
# ~ cache[number][1], value => value, cache[number][1]

# %% wrong: noted before cat -> only the newest keys and values are kept
# hint: The next token must see all that was read: keep the old ones and the new ones.
#          query, key, value = (split_heads(matrix(y), part.n_heads) for matrix in (part.query, part.key, part.value))
# +        kept.append((key, value))
# ...
# -        kept.append((key, value))

# %% wrong: put there again -> the cache grows twice
# hint: What has been put to the kept keys once must not be put there again when they are kept.
#          query, key, value = (split_heads(matrix(y), part.n_heads) for matrix in (part.query, part.key, part.value))
# +        new = key, value
# ...
# -        kept.append((key, value))
# +        kept.append((torch.cat([key, new[0]], dim=2), torch.cat([value, new[1]], dim=2)))

# %% wrong: no mask -> new tokens see each other's future
# hint: One new token needs no mask; several do: among themselves they are causal.
# ~ causal_mask(past + n)[past:] => torch.zeros(n, past + n)

# %% wrong: the first rows of the mask -> the mask stands at the wrong end
# hint: The new tokens are the last ones: they take the last n rows of the causal mask of m + n tokens. (The option
# hint: is_causal=True of PyTorch takes the first n rows.)
# ~ past: => :n

# %% wrong: values first -> keys and values are exchanged in the cache
# hint: Keep them as (keys, values): in this order they are read again.
# ~ (key, value) => (value, key)

# %% wrong: no sqrt -> the embedding is not scaled
# hint: As in GPT, the embedding is multiplied by sqrt(d) before the position is added.
# ~ * math.sqrt(d) + => +

# %% wrong: last logits -> only the last position is answered
# hint: Return the logits of all new tokens, (b, n, V).
# ~ .norm(x) => .norm(x)[:, -1:]

# %% wrong: x is overwritten by its norm -> the norm stands on the path of the residual
# hint: `x = norm(x)` overwrites the x that you add to: x + part(norm(x)).
# -        part, y = layer.attention, layer.attention_norm(x)
# +        part, x = layer.attention, layer.attention_norm(x)
# +        y = x
# ...
# -        x = x + layer.feed_forward(layer.feed_forward_norm(x))
# +        x = layer.feed_forward_norm(x)
# +        x = x + layer.feed_forward(x)


# %% wrong: heads by reshape -> heads are cut by a reshape alone
# hint: `reshape(b, h, n, d/h)` puts numbers of several tokens into one row. Cut the last axis into (h, d/h) and
# hint: exchange two axes, as split_heads does; merge_heads exchanges them back.
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
# hint: In (b, h, n, d/h) the heads stand before the tokens: exchange these two axes first, as merge_heads does.
# ~ merge_heads(attend(query, key, value, mask)) => attend(query, key, value, mask).reshape(x.shape)


# %% wrong: the model and its own cache ->
def read_with_cache(model, tokens, cache):
    from helpers.models import Context

    kept = {layer.attention: pair for layer, pair in zip(model.layers, cache or [])}
    x = model(tokens, context=Context(cache=kept))
    return x @ model.embedding.weight.T, [kept[layer.attention] for layer in model.layers]


# %% wrong: the attention's forward and its own cache ->
# of: the forward pass, opened
#  def read_with_cache(model, tokens, cache):
# +    from helpers.models import Context
# +
# ...
# -        part, y = layer.attention, layer.attention_norm(x)
# -        query, key, value = (split_heads(matrix(y), part.n_heads) for matrix in (part.query, part.key, part.value))
# -        if cache is not None:
# -            key = torch.cat([cache[number][0], key], dim=2)
# -            value = torch.cat([cache[number][1], value], dim=2)
# -        kept.append((key, value))
# -        x = x + part.output(merge_heads(attend(query, key, value, mask)))
# +        context = Context(mask=mask.to(x.device), cache={layer.attention: cache[number]} if cache else {})
# +        x = x + layer.attention.forward(layer.attention_norm(x), context)
# +        kept.append(context.cache[layer.attention])

# %% wrong: the forward of the attention's class ->
# of: the attention's forward and its own cache
# ~ layer.attention.forward( => type(layer.attention).forward(layer.attention,

# %% wrong: the forward of a copy of the model ->
# of: the model and its own cache
# -    from helpers.models import Context
# +    import copy
# +
# +    from helpers.models import Context
# +
# +    model = copy.deepcopy(model)
# ...
# -    x = model(tokens, context=Context(cache=kept))
# +    x = model.forward(tokens, context=Context(cache=kept))

# %% wrong: writes into the old cache ->
# of: the forward pass, opened
#          kept.append((key, value))
# +        if cache is not None:
# +            cache[number] = (key, value)

# %% wrong: the mask is made on the CPU ->
# of: an empty cache in place of None, scores by hand
# ~ , device=tokens.device =>

# %% wrong: two layers by heart ->
# of: the forward pass, opened
# ~ layers => layers[:2]

# %% wrong: the last 32 of the new tokens are read ->
#  def read_with_cache(model, tokens, cache):
# +    tokens = tokens[:, -32:]

# %% wrong: the axis of a single head falls away ->
#          query, key, value = (split_heads(matrix(y), part.n_heads) for matrix in (part.query, part.key, part.value))
# +        query, key, value = query.squeeze(1), key.squeeze(1), value.squeeze(1)

# %% wrong: the model itself reads what comes first ->
# -    return model.norm(x) @ model.embedding.weight.T, kept
# +    if cache is None:
# +        x = model.forward(tokens)
# +    else:
# +        x = model.norm(x)
# +    return x @ model.embedding.weight.T, kept


# %% wrong: with the layer's dropout ->
# of: the forward pass, opened
# ~ x + part.output(merge_heads(attend(query, key, value, mask))) => x + layer.dropout(part.output(merge_heads(attend(query, key, value, mask))))
