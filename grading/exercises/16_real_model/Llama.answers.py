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
        positions = torch.arange(past, past + n, device=x.device)
        angles = rotary_angles(positions, query.shape[-1], self.base)
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
# other: PyTorch's attention takes grouped heads as they are, and has fast kernels for GPUs; the solution uses your own function, so that every step can be looked at.
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

    def turn(self, x, positions):
        width = x.size(-1)
        speeds = self.base ** (-torch.arange(0, width, 2, device=x.device) / width)
        angles = torch.outer(positions.float(), speeds)
        turn = torch.polar(torch.ones_like(angles), angles)
        return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * turn).flatten(-2)

    def attend(self, x, kept):
        b, n, _ = x.shape
        past = kept[0].size(2) if kept else 0
        positions = torch.arange(n, device=x.device) + past
        part = self.attention
        query = self.turn(part.query(x).view(b, n, part.n_heads, -1).transpose(1, 2), positions)
        key = self.turn(part.key(x).view(b, n, part.n_groups, -1).transpose(1, 2), positions)
        value = part.value(x).view(b, n, part.n_groups, -1).transpose(1, 2)
        if kept:
            key, value = torch.cat((kept[0], key), 2), torch.cat((kept[1], value), 2)
        share = part.n_heads // part.n_groups
        heads = []
        for head in range(part.n_heads):
            keys, values = key[:, head // share], value[:, head // share]
            scores = query[:, head] @ keys.mT / keys.size(-1) ** 0.5
            hidden = torch.arange(past + n, device=x.device) > positions[:, None]
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


# %% wrong: positions begin anew -> positions begin anew
# hint: New tokens do not begin the text: their positions are m, m + 1, ... after m that have been read.
# ~ past, past + n => n

# %% wrong: positions are one too far -> positions are one too far
# hint: After m tokens, at the positions 0 to m - 1, the next one has the position m.
# -        positions = torch.arange(past, past + n, device=x.device)
# +        first = past + 1 if past else 0
# +        positions = torch.arange(first, first + n, device=x.device)

# %% wrong: the base of 2017 -> the base is not used
# hint: The angles depend on base: hand it to every layer.
# ~ , self.base =>

# %% wrong: no norm gets eps -> eps is not handed on to the norms
# hint: Each norm, the last one too, has the eps of the model: RMSNorm(d_model, eps).
# ~ attention_norm = RMSNorm(d_model, eps) => attention_norm = RMSNorm(d_model)
# ~ feed_forward_norm = RMSNorm(d_model, eps) => feed_forward_norm = RMSNorm(d_model)
# ~ (d_model, eps) => (d_model)

# %% wrong: no rotation -> nothing is turned
# hint: Without rotary positions a token knows what stands before it, and not in which order.
# -        query = rotate(query, angles)
# -        key = rotate(key, angles)

# %% wrong: queries alone -> only the queries are turned
# hint: A score depends on the distance where both are turned, query and key.
# -        key = rotate(key, angles)

# %% wrong: keys alone -> only the keys are turned
# hint: A score depends on the distance where both are turned.
# -        query = rotate(query, angles)

# %% wrong: all three are turned -> the values are turned too
# hint: Values are what is carried on, and do not depend on the position: turn queries and keys only.
#          key = rotate(key, angles)
# +        value = rotate(value, angles)

# %% wrong: rotate_half -> pairs are halves of a head
# hint: That is the other convention: here number 2i is turned with number 2i + 1, as `rotate` does it.
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
# hint: What is kept has been turned by its own position already. Turn the new keys, and then put them behind the old
# hint: ones.
# -        key = rotate(key, angles)
# ...
# -        mixed = grouped_query_attention(query, key, value, mask)
# +        turned = rotate(key, rotary_angles(torch.arange(past + n), key.shape[-1], self.base))
# +        mixed = grouped_query_attention(query, turned, value, mask)
# ...
# -        return x, (key, value)
# +        return x, (turned, value)

# %% wrong: turned for the scores, kept as they were -> keys are kept before they are turned
# hint: A key is kept as it is compared. Turn the new keys by their positions, put them behind the old ones, which are
# hint: turned, and return that.
# of: everything is turned in each call
# ~ (past + n), => (past + n, device=x.device),
# ~ (turned, value) => (key, value)

# %% wrong: only the newest are kept -> only the newest keys and values are kept
# hint: The next token must see all that was read: keep the old ones and the new ones.
# of: two classes
# ~ (key, value) => (key[:, :, past:], value[:, :, past:])

# %% wrong: the cache is not read -> the cache is not read
# hint: Put the kept keys and values before the new ones.
# -        if kept is not None:
# -            key = torch.cat([kept[0], key], dim=2)
# -            value = torch.cat([kept[1], value], dim=2)
# -        mask = causal_mask(past + n, x.device)[past:]
# +        mask = causal_mask(n, x.device)

# %% wrong: shared out, then kept -> keys and values are kept after they are shared out
# hint: The sharing is there to keep less: keep g heads, and share them out at each reading.
#          value = split_heads(part.value(y), part.n_groups)
# +        share = part.n_heads // part.n_groups
# +        key, value = key.repeat_interleave(share, dim=1), value.repeat_interleave(share, dim=1)
# ...
# -            key = torch.cat([kept[0], key], dim=2)
# -            value = torch.cat([kept[1], value], dim=2)
# +            old = [one.repeat_interleave(part.n_heads // one.shape[1], dim=1) for one in kept]
# +            key = torch.cat([old[0], key], dim=2)
# +            value = torch.cat([old[1], value], dim=2)

# %% wrong: the heads take turns -> the heads take turns: head 0 reads group 0, head 1 group 1, ...
# hint: Heads that follow one another share a group, as in grouped_query_attention.
# -        mixed = grouped_query_attention(query, key, value, mask)
# +        share = part.n_heads // part.n_groups
# +        mixed = attend(query, key.repeat(1, share, 1, 1), value.repeat(1, share, 1, 1), mask)

# %% wrong: no mask -> every token sees the whole text
# hint: A token that sees the next one has nothing to guess.
# ~ , mask =>

# %% wrong: the first rows of the mask -> the mask stands at the wrong end
# hint: The new tokens are the last ones: they take the last n rows of the causal mask of all m + n. (The option
# hint: is_causal=True of PyTorch takes the first n rows.)
# ~ past: => :n

# %% wrong: no norms in the layers -> the norms of the layers are not used
# hint: The norm stands before each part: x + part(norm(x)).
# ~ self.attention_norm(x) => x
# ~ self.feed_forward_norm(x) => x

# %% wrong: post-norm -> post-norm
# hint: The norm stands before each part: x + part(norm(x)).
# ~ self.attention_norm(x) => x
# ~ x + part.output(merge_heads(mixed)) => self.attention_norm(x + part.output(merge_heads(mixed)))
# ~ x + self.feed_forward(self.feed_forward_norm(x)) => self.feed_forward_norm(x + self.feed_forward(x))

# %% wrong: x is overwritten by its norm -> the norm stands on the path of the residual
# hint: `x = norm(x)` overwrites the x that you add to: x + part(norm(x)).
# -        y = self.attention_norm(x)
# +        y = x = self.attention_norm(x)
# ...
# -        x = x + self.feed_forward(self.feed_forward_norm(x))
# +        x = self.feed_forward_norm(x)
# +        x = x + self.feed_forward(x)

# %% wrong: no residuals -> the residuals are missing
# hint: Each part adds to the token: x + part(norm(x)).
# ~ x + part => part
# ~ x + self => self

# %% wrong: the embedding times the root of d -> the embedding is scaled
# hint: The GPT of notebook 14 multiplies it by sqrt(d); Llama takes it as it is.
# ~ (tokens) => (tokens) * math.sqrt(self.embedding.embedding_dim)

# %% wrong: the first layer again and again -> the first layer is used for all
# hint: Each layer has weights of its own: for layer in self.layers.
# ~ layer(x, old) => self.layers[0](x, old)

# %% wrong: one cache for all layers -> all layers read the cache of the first
# hint: Each layer has keys and values of its own: layer number i reads cache[i].
# ~ [number] => [0]

# %% wrong: no last norm -> the last norm is missing
# hint: A last norm stands before the head.
# ~ self.norm(x) => x

# %% wrong: softmax at the end -> probabilities in place of logits
# hint: Return the scores as they are.
# ~ self.norm(x) @ self.embedding.weight.T => (self.norm(x) @ self.embedding.weight.T).softmax(dim=-1)

# %% wrong: a head of its own -> the head has weights of its own
# hint: A tied head is the embedding once more: the product with its rows, and no parameter besides.
#          self.norm = RMSNorm(d_model, eps)
# +        self.head = nn.Linear(d_model, vocab_size, bias=False)
# ...
# -        logits = self.norm(x) @ self.embedding.weight.T
# +        logits = self.head(self.norm(x))

# %% wrong: a linear head that shares the embedding's rows -> the embedding has a second name
# hint: With `head.weight = embedding.weight` the scores are right, but state_dict() has the tensor twice, and who loads
# hint: weights by their names misses one. Take the embedding itself: `F.linear(x, self.embedding.weight)`.
# of: a head of its own
#          self.head = nn.Linear(d_model, vocab_size, bias=False)
# +        self.head.weight = self.embedding.weight


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


# %% wrong: eps is 1e-6 by default ->
# of: two classes
# ~ 5): => 6):

# %% wrong: at most 64 tokens are kept ->
# ~ ([kept[0], key], dim=2) => ([kept[0], key], dim=2)[:, :, -64:]
# ~ ([kept[1], value], dim=2) => ([kept[1], value], dim=2)[:, :, -64:]
# ~ [past:] => [past:, -key.shape[2] :]

# %% wrong: positions and mask are made on the CPU ->
# ~ , device=x.device =>
# ~ , x.device =>

# %% wrong: the model adds what the layer leaves out ->
# -        x = x + part.output(merge_heads(mixed))
# -        x = x + self.feed_forward(self.feed_forward_norm(x))
# -        return x, (key, value)
# +        return x + part.output(merge_heads(mixed)), (key, value)
# ...
#              x, pair = layer(x, old)
# +            x = x + layer.feed_forward(layer.feed_forward_norm(x))

# %% wrong: the positions end at 511, as in a table of 512 ->
# ~ positions, => positions.clamp(max=511),
