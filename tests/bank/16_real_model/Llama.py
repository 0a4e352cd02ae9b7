# %% right: two classes
class LlamaLayer(nn.Module):
    def __init__(self, d_model, n_heads, n_groups, d_feedforward, base, eps):
        super().__init__()
        self.base = base
        self.attention_norm = RMSNorm(d_model, eps)
        self.attention = Projections(d_model, n_heads, n_groups)
        self.feed_forward_norm = RMSNorm(d_model, eps)
        self.feed_forward = SwiGLU(d_model, d_feedforward)

    def forward(self, x, kept):
        part = self.attention
        y = self.attention_norm(x)
        query = split_heads(part.query(y), part.n_heads)
        key = split_heads(part.key(y), part.n_groups)
        value = split_heads(part.value(y), part.n_groups)
        past = 0 if kept is None else kept[0].shape[2]
        n = x.shape[1]
        places = torch.arange(past, past + n, device=x.device)
        angles = rotary_angles(places, query.shape[-1], self.base)
        query = rotate(query, angles)
        key = rotate(key, angles)
        if kept is not None:
            key = torch.cat([kept[0], key], dim=2)
            value = torch.cat([kept[1], value], dim=2)
        mask = causal_mask(past + n, x.device)[past:]
        mixed = grouped_query_attention(query, key, value, mask)
        x = x + part.output(merge_heads(mixed))
        x = x + self.feed_forward(self.feed_forward_norm(x))
        return x, (key, value)


class Llama(nn.Module):
    def __init__(self, vocab_size, d_model, n_layers, n_heads, n_groups, d_feedforward, base=10000.0, eps=1e-5):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.layers = nn.ModuleList(
            [LlamaLayer(d_model, n_heads, n_groups, d_feedforward, base, eps) for _ in range(n_layers)]
        )
        self.norm = RMSNorm(d_model, eps)

    def forward(self, tokens, cache=None):
        x = self.embedding(tokens)
        made = []
        for number, layer in enumerate(self.layers):
            old = None if cache is None else cache[number]
            x, pair = layer(x, old)
            made.append(pair)
        logits = self.norm(x) @ self.embedding.weight.T
        return logits, made


# %% right: torch's own attention, with its grouped heads
# of: two classes
# -        mixed = grouped_query_attention(query, key, value, mask)
# +        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, enable_gqa=True)


# %% right: torch's own norm, and a linear head with the embedding's rows
class LlamaLayer(nn.Module):
    def __init__(self, d_model, n_heads, n_groups, d_feedforward, base, eps):
        super().__init__()
        self.base = base
        self.attention_norm = nn.RMSNorm(d_model, eps)
        self.attention = Projections(d_model, n_heads, n_groups)
        self.feed_forward_norm = nn.RMSNorm(d_model, eps)
        self.feed_forward = SwiGLU(d_model, d_feedforward)

    def turn(self, x, places):
        width = x.size(-1)
        speeds = self.base ** (-torch.arange(0, width, 2, device=x.device) / width)
        angles = torch.outer(places.float(), speeds)
        turn = torch.polar(torch.ones_like(angles), angles)
        return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * turn).flatten(-2)

    def attend(self, x, kept):
        b, n, _ = x.shape
        past = kept[0].size(2) if kept else 0
        places = torch.arange(n, device=x.device) + past
        part = self.attention
        query = self.turn(part.query(x).view(b, n, part.n_heads, -1).transpose(1, 2), places)
        key = self.turn(part.key(x).view(b, n, part.n_groups, -1).transpose(1, 2), places)
        value = part.value(x).view(b, n, part.n_groups, -1).transpose(1, 2)
        if kept:
            key, value = torch.cat((kept[0], key), 2), torch.cat((kept[1], value), 2)
        share = part.n_heads // part.n_groups
        heads = []
        for head in range(part.n_heads):
            keys, values = key[:, head // share], value[:, head // share]
            scores = query[:, head] @ keys.mT / keys.size(-1) ** 0.5
            hidden = torch.arange(past + n, device=x.device) > places[:, None]
            heads.append(scores.masked_fill(hidden, -torch.inf).softmax(-1) @ values)
        return part.output(torch.cat(heads, -1)), (key, value)

    def forward(self, x, kept=None):
        mixed, pair = self.attend(self.attention_norm(x), kept)
        x = x + mixed
        return x + self.feed_forward(self.feed_forward_norm(x)), pair


class Llama(nn.Module):
    def __init__(self, vocab_size, d_model, n_layers, n_heads, n_groups, d_feedforward, base=10000.0, eps=1e-5):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        sizes = d_model, n_heads, n_groups, d_feedforward, base, eps
        self.layers = nn.ModuleList(LlamaLayer(*sizes) for _ in range(n_layers))
        self.norm = nn.RMSNorm(d_model, eps)

    def forward(self, tokens, cache=None):
        cache = cache or [None] * len(self.layers)
        x, kept = self.embedding(tokens), []
        for layer, old in zip(self.layers, cache):
            x, new = layer(x, old)
            kept += [new]
        return F.linear(self.norm(x), self.embedding.weight), kept


# %% wrong: the course's own model inside -> a ready-made part in place of an answer
class Llama(nn.Module):
    def __init__(self, vocab_size, d_model, n_layers, n_heads, n_groups, d_feedforward, base=10000.0, eps=1e-5):
        super().__init__()
        from helpers import llama

        width = 2 * d_feedforward // 3
        self.inner = llama.Llama(vocab_size, d_model, n_layers, n_heads, n_groups, width, base=base, eps=eps)

    def forward(self, tokens, cache=None):
        from helpers.models import Context

        context = Context(cache={})
        for layer, pair in zip(self.inner.layers, cache or []):
            context.cache[layer.attention] = pair
        return self.inner(tokens, context=context), list(context.cache.values())


# %% wrong: positions begin anew -> positions begin anew
# of: two classes
# -        places = torch.arange(past, past + n, device=x.device)
# +        places = torch.arange(n, device=x.device)


# %% wrong: positions are one too far -> positions are one too far
# of: two classes
# -        places = torch.arange(past, past + n, device=x.device)
# +        first = past + 1 if past else 0
# +        places = torch.arange(first, first + n, device=x.device)


# %% wrong: the base of 2017 -> the base is not used
# of: two classes
# -        angles = rotary_angles(places, query.shape[-1], self.base)
# +        angles = rotary_angles(places, query.shape[-1])


# %% wrong: eps is forgotten ->
# of: two classes
# -        self.feed_forward_norm = RMSNorm(d_model, eps)
# +        self.feed_forward_norm = RMSNorm(d_model)


# %% wrong: no norm gets eps -> eps is not handed on to the norms
# of: two classes
# -        self.attention_norm = RMSNorm(d_model, eps)
# +        self.attention_norm = RMSNorm(d_model)
# ...
# -        self.feed_forward_norm = RMSNorm(d_model, eps)
# +        self.feed_forward_norm = RMSNorm(d_model)
# ...
# -        self.norm = RMSNorm(d_model, eps)
# +        self.norm = RMSNorm(d_model)


# %% wrong: the first norm has the eps of RMSNorm ->
# of: two classes
# -        self.attention_norm = RMSNorm(d_model, eps)
# +        self.attention_norm = RMSNorm(d_model)


# %% wrong: the last norm has the eps of RMSNorm ->
# of: two classes
# -        self.norm = RMSNorm(d_model, eps)
# +        self.norm = RMSNorm(d_model)


# %% wrong: eps is 1e-6 by default ->
# of: two classes
# -    def __init__(self, vocab_size, d_model, n_layers, n_heads, n_groups, d_feedforward, base=10000.0, eps=1e-5):
# +    def __init__(self, vocab_size, d_model, n_layers, n_heads, n_groups, d_feedforward, base=10000.0, eps=1e-6):


# %% wrong: base is 100000 by default ->
# of: two classes
# -    def __init__(self, vocab_size, d_model, n_layers, n_heads, n_groups, d_feedforward, base=10000.0, eps=1e-5):
# +    def __init__(self, vocab_size, d_model, n_layers, n_heads, n_groups, d_feedforward, base=1e5, eps=1e-5):


# %% wrong: no rotation -> nothing is turned
# of: two classes
# -        query = rotate(query, angles)
# -        key = rotate(key, angles)


# %% wrong: queries alone -> only the queries are turned
# of: two classes
# -        key = rotate(key, angles)


# %% wrong: keys alone -> only the keys are turned
# of: two classes
# -        query = rotate(query, angles)


# %% wrong: all three are turned -> the values are turned too
# of: two classes
#          key = rotate(key, angles)
# +        value = rotate(value, angles)


# %% wrong: rotate_half -> pairs are halves of a head
# of: two classes
# -        query = rotate(query, angles)
# -        key = rotate(key, angles)
# +        cosine, sine = torch.cat([angles, angles], -1).cos(), torch.cat([angles, angles], -1).sin()
# +
# +        def turned(x):
# +            first, second = x.chunk(2, dim=-1)
# +            return x * cosine + torch.cat([-second, first], dim=-1) * sine
# +
# +        query, key = turned(query), turned(key)


# %% wrong: everything is turned in each call -> kept keys are turned again
# of: two classes
# -        key = rotate(key, angles)
# ...
# -        mask = causal_mask(past + n, x.device)[past:]
# -        mixed = grouped_query_attention(query, key, value, mask)
# +        mask = causal_mask(past + n, x.device)[past:]
# +        turned = rotate(key, rotary_angles(torch.arange(past + n), key.shape[-1], self.base))
# +        mixed = grouped_query_attention(query, turned, value, mask)
# ...
# -        return x, (key, value)
# +        return x, (turned, value)


# %% wrong: only the newest are kept -> only the newest keys and values are kept
# of: two classes
# -        return x, (key, value)
# +        return x, (key[:, :, past:], value[:, :, past:])


# %% wrong: the cache is not read -> the cache is not read
# of: two classes
# -        if kept is not None:
# -            key = torch.cat([kept[0], key], dim=2)
# -            value = torch.cat([kept[1], value], dim=2)
# -        mask = causal_mask(past + n, x.device)[past:]
# +        mask = causal_mask(n, x.device)


# %% wrong: shared out, then kept -> keys and values are kept after they are shared out
# of: two classes
# -        value = split_heads(part.value(y), part.n_groups)
# +        value = split_heads(part.value(y), part.n_groups)
# +        share = part.n_heads // part.n_groups
# +        key, value = key.repeat_interleave(share, dim=1), value.repeat_interleave(share, dim=1)
# ...
# -            key = torch.cat([kept[0], key], dim=2)
# -            value = torch.cat([kept[1], value], dim=2)
# +            old = [one.repeat_interleave(part.n_heads // one.shape[1], dim=1) for one in kept]
# +            key = torch.cat([old[0], key], dim=2)
# +            value = torch.cat([old[1], value], dim=2)


# %% wrong: the heads take turns -> the heads take turns: head 0 reads group 0, head 1 group 1, ...
# of: two classes
# -        mixed = grouped_query_attention(query, key, value, mask)
# +        share = part.n_heads // part.n_groups
# +        mixed = attend(query, key.repeat(1, share, 1, 1), value.repeat(1, share, 1, 1), mask)


# %% wrong: no mask -> every token sees the whole text
# of: two classes
# -        mixed = grouped_query_attention(query, key, value, mask)
# +        mixed = grouped_query_attention(query, key, value)


# %% wrong: the first rows of the mask -> the mask stands at the wrong end
# of: two classes
# -        mask = causal_mask(past + n, x.device)[past:]
# +        mask = causal_mask(past + n, x.device)[:n]


# %% wrong: no norms in the layers -> the norms of the layers are not used
# of: two classes
# -        y = self.attention_norm(x)
# +        y = x
# ...
# -        x = x + self.feed_forward(self.feed_forward_norm(x))
# +        x = x + self.feed_forward(x)


# %% wrong: post-norm -> post-norm
# of: two classes
# -        y = self.attention_norm(x)
# +        y = x
# ...
# -        x = x + part.output(merge_heads(mixed))
# -        x = x + self.feed_forward(self.feed_forward_norm(x))
# +        x = self.attention_norm(x + part.output(merge_heads(mixed)))
# +        x = self.feed_forward_norm(x + self.feed_forward(x))


# %% wrong: x is overwritten by its norm -> the norm stands on the path of the residual
# of: two classes
# -        y = self.attention_norm(x)
# +        y = x = self.attention_norm(x)
# ...
# -        x = x + self.feed_forward(self.feed_forward_norm(x))
# +        x = self.feed_forward_norm(x)
# +        x = x + self.feed_forward(x)


# %% wrong: no residuals -> the residuals are missing
# of: two classes
# -        x = x + part.output(merge_heads(mixed))
# -        x = x + self.feed_forward(self.feed_forward_norm(x))
# +        x = part.output(merge_heads(mixed))
# +        x = self.feed_forward(self.feed_forward_norm(x))


# %% wrong: the embedding times the root of d -> the embedding is scaled
# of: two classes
# -        x = self.embedding(tokens)
# +        x = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)


# %% wrong: the first layer again and again -> the first layer is used for all
# of: two classes
# -            x, pair = layer(x, old)
# +            x, pair = self.layers[0](x, old)


# %% wrong: one cache for all layers -> all layers read the cache of the first
# of: two classes
# -            old = None if cache is None else cache[number]
# +            old = None if cache is None else cache[0]


# %% wrong: no last norm -> the last norm is missing
# of: two classes
# -        logits = self.norm(x) @ self.embedding.weight.T
# +        logits = x @ self.embedding.weight.T


# %% wrong: softmax at the end -> probabilities in place of logits
# of: two classes
# -        logits = self.norm(x) @ self.embedding.weight.T
# +        logits = (self.norm(x) @ self.embedding.weight.T).softmax(dim=-1)


# %% wrong: a head of its own -> the head has weights of its own
# of: two classes
# -        self.norm = RMSNorm(d_model, eps)
# +        self.norm = RMSNorm(d_model, eps)
# +        self.head = nn.Linear(d_model, vocab_size, bias=False)
# ...
# -        logits = self.norm(x) @ self.embedding.weight.T
# +        logits = self.head(self.norm(x))


# %% wrong: logits alone ->
# of: two classes
# -        return logits, made
# +        return logits


# %% wrong: at most 64 tokens are kept ->
# of: two classes
# -            key = torch.cat([kept[0], key], dim=2)
# -            value = torch.cat([kept[1], value], dim=2)
# +            key = torch.cat([kept[0], key], dim=2)[:, :, -64:]
# +            value = torch.cat([kept[1], value], dim=2)[:, :, -64:]
# ...
# -        mask = causal_mask(past + n, x.device)[past:]
# +        mask = causal_mask(past + n, x.device)[past:, -key.shape[2] :]


# %% wrong: the places end at 255 ->
# of: two classes
# -        angles = rotary_angles(places, query.shape[-1], self.base)
# +        angles = rotary_angles(places.clamp(max=255), query.shape[-1], self.base)


# %% wrong: two layers by heart ->
# of: two classes
# -            [LlamaLayer(d_model, n_heads, n_groups, d_feedforward, base, eps) for _ in range(n_layers)]
# +            [LlamaLayer(d_model, n_heads, n_groups, d_feedforward, base, eps) for _ in range(2)]


# %% wrong: a linear head that shares the embedding's rows -> the embedding has a second name
# of: two classes
# -        self.norm = RMSNorm(d_model, eps)
# +        self.norm = RMSNorm(d_model, eps)
# +        self.head = nn.Linear(d_model, vocab_size, bias=False)
# +        self.head.weight = self.embedding.weight
# ...
# -        logits = self.norm(x) @ self.embedding.weight.T
# +        logits = self.head(self.norm(x))


# %% wrong: turned for the scores, kept as they were -> keys are kept before they are turned
# of: two classes
# -        key = rotate(key, angles)
# ...
# -        mask = causal_mask(past + n, x.device)[past:]
# -        mixed = grouped_query_attention(query, key, value, mask)
# +        mask = causal_mask(past + n, x.device)[past:]
# +        turned = rotate(key, rotary_angles(torch.arange(past + n, device=x.device), key.shape[-1], self.base))
# +        mixed = grouped_query_attention(query, turned, value, mask)


# %% wrong: the new ones are turned for the scores only -> keys are kept before they are turned
# of: two classes
# -        query = rotate(query, angles)
# -        key = rotate(key, angles)
# +        query = rotate(query, angles)
# +        new = (rotate(key, angles), value)
# +        pair = new if kept is None else tuple(torch.cat(one, dim=2) for one in zip(kept, new))
# ...
# -        mixed = grouped_query_attention(query, key, value, mask)
# +        mixed = grouped_query_attention(query, *pair, mask)


# %% wrong: places and mask are made on the CPU ->
# of: two classes
# -        places = torch.arange(past, past + n, device=x.device)
# +        places = torch.arange(past, past + n)
# ...
# -        mask = causal_mask(past + n, x.device)[past:]
# +        mask = causal_mask(past + n)[past:]


# %% wrong: the model adds what the layer leaves out ->
# of: two classes
# -        x = x + part.output(merge_heads(mixed))
# -        x = x + self.feed_forward(self.feed_forward_norm(x))
# -        return x, (key, value)
# +        return x + part.output(merge_heads(mixed)), (key, value)
# ...
# -            x, pair = layer(x, old)
# +            x, pair = layer(x, old)
# +            x = x + layer.feed_forward(layer.feed_forward_norm(x))


# %% wrong: nothing is kept of a text that is read at once ->
# of: two classes
# -        return logits, made
# +        return logits, made if cache is not None else []


# %% wrong: the heads stand behind the tokens in the cache ->
# of: two classes
# -        return x, (key, value)
# +        return x, (key.transpose(1, 2), value.transpose(1, 2))


# %% wrong: the places end at 511, as in a table of 512 ->
# of: two classes
# -        angles = rotary_angles(places, query.shape[-1], self.base)
# +        angles = rotary_angles(places.clamp(max=511), query.shape[-1], self.base)
