# %% right: as in the text
class Seq2Seq(nn.Module):
    def __init__(self, source_vocab_size, target_vocab_size, d_model, n_layers, n_heads):
        super().__init__()
        self.encoder = TransformerBase(
            source_vocab_size, d_model, n_layers, n_heads, dropout=0.0, causal=False, norm_first=True
        )
        self.decoder = TransformerBase(
            target_vocab_size, d_model, n_layers, n_heads, dropout=0.0, causal=True, norm_first=True, cross=True
        )
        self.head = nn.Linear(d_model, target_vocab_size)

    def encode(self, source, source_lengths):
        memory = self.encoder(source, source_lengths)
        return Context(memory=memory, memory_mask=hide_padding(source_lengths, source.size(1)))

    def decode(self, target, context):
        return self.head(self.decoder(target, context=context))

    def forward(self, source, source_lengths, target):
        return self.decode(target, self.encode(source, source_lengths))


# %% right: a context that is filled, a mask of one's own
class Seq2Seq(nn.Module):
    def __init__(self, source_vocab_size, target_vocab_size, d_model, n_layers, n_heads):
        super().__init__()
        common = dict(d_model=d_model, n_layers=n_layers, n_heads=n_heads, dropout=0.0, norm_first=True)
        self.encoder = TransformerBase(vocab_size=source_vocab_size, causal=False, **common)
        self.decoder = TransformerBase(vocab_size=target_vocab_size, cross=True, **common)
        self.head = nn.Linear(d_model, target_vocab_size)

    def encode(self, source, source_lengths):
        context = Context()
        padding = torch.arange(source.shape[1], device=source.device) >= source_lengths[:, None]
        context.memory = self.encoder(source, padding)
        context.memory_mask = torch.where(padding, float("-inf"), 0.0).unsqueeze(1).unsqueeze(1)
        return context

    def decode(self, target, context):
        hidden = self.decoder(target, None, context)
        return self.head(hidden)

    def forward(self, source, source_lengths, target):
        context = self.encode(source, source_lengths)
        return self.decode(target, context)


# %% right: one memory, step by step
# of: as in the text
# -        return self.decode(target, self.encode(source, source_lengths))
# +        context = self.encode(source, source_lengths)
# +        steps = [self.decode(target[:, : n + 1], context)[:, n] for n in range(target.size(1))]
# +        return torch.stack(steps, dim=1)


# %% wrong: built on the ready one -> a ready-made part in place of an answer
class Seq2Seq(EncoderDecoder):
    def __init__(self, source_vocab_size, target_vocab_size, d_model, n_layers, n_heads):
        super().__init__(source_vocab_size, target_vocab_size, d_model, n_layers, n_heads, dropout=0.0, norm_first=True)

    def forward(self, source, source_lengths, target):
        return super().forward(source, target, source_lengths)


# %% wrong: encodes in the loop -> the memory is recomputed at every step
# of: as in the text
# -        return self.decode(target, self.encode(source, source_lengths))
# +        rows = []
# +        for n in range(1, target.size(1) + 1):
# +            rows.append(self.decode(target[:, :n], self.encode(source, source_lengths))[:, -1])
# +        return torch.stack(rows, dim=1)


# %% wrong: causal as it comes -> the encoder reads from left to right only
# of: as in the text
# -        self.encoder = TransformerBase(
# -            source_vocab_size, d_model, n_layers, n_heads, dropout=0.0, causal=False, norm_first=True
# -        )
# +        self.encoder = TransformerBase(source_vocab_size, d_model, n_layers, n_heads, dropout=0.0, norm_first=True)


# %% wrong: nobody is causal -> the decoder sees the words that it is to guess
# of: as in the text
# -            target_vocab_size, d_model, n_layers, n_heads, dropout=0.0, causal=True, norm_first=True, cross=True
# +            target_vocab_size, d_model, n_layers, n_heads, dropout=0.0, causal=False, norm_first=True, cross=True


# %% wrong: lengths are not used -> the padding of the source is read, twice
# of: as in the text
# -        memory = self.encoder(source, source_lengths)
# -        return Context(memory=memory, memory_mask=hide_padding(source_lengths, source.size(1)))
# +        memory = self.encoder(source)
# +        return Context(memory=memory)


# %% wrong: what holds PAD is padding -> padding is told by its number
# of: as in the text
# -        memory = self.encoder(source, source_lengths)
# -        return Context(memory=memory, memory_mask=hide_padding(source_lengths, source.size(1)))
# +        padded = source.eq(PAD)  # (b, m)
# +        mask = torch.zeros(padded.shape, device=source.device).masked_fill(padded, float("-inf"))
# +        return Context(memory=self.encoder(source, padded), memory_mask=mask[:, None, None])


# %% wrong: the mask hides what holds PAD ->
# of: as in the text
# -        return Context(memory=memory, memory_mask=hide_padding(source_lengths, source.size(1)))
# +        return Context(memory=memory, memory_mask=hide_padding((source != PAD).sum(dim=1), source.size(1)))


# %% wrong: no mask for the memory -> cross-attention reads the padding of the source
# of: as in the text
# -        return Context(memory=memory, memory_mask=hide_padding(source_lengths, source.size(1)))
# +        return Context(memory=memory)


# %% wrong: no lengths for the encoder -> the encoder reads its own padding
# of: as in the text
# -        memory = self.encoder(source, source_lengths)
# +        memory = self.encoder(source)


# %% wrong: hidden states -> there is no head
# of: as in the text
# -        return self.head(self.decoder(target, context=context))
# +        return self.decoder(target, context=context)


# %% wrong: log_softmax at the end -> log-probabilities in place of logits
# of: as in the text
# -        return self.head(self.decoder(target, context=context))
# +        return self.head(self.decoder(target, context=context)).log_softmax(dim=-1)


# %% wrong: softmax at the end -> probabilities in place of logits
# of: as in the text
# -        return self.head(self.decoder(target, context=context))
# +        return torch.softmax(self.head(self.decoder(target, context=context)), dim=-1)


# %% wrong: feeds itself -> the decoder reads its own words
# of: as in the text
# -        return self.decode(target, self.encode(source, source_lengths))
# +        context = self.encode(source, source_lengths)
# +        read = target[:, :1]
# +        for _ in range(target.size(1)):
# +            logits = self.decode(read, context)
# +            read = torch.cat([read, logits[:, -1].argmax(dim=-1, keepdim=True)], dim=1)
# +        return logits


# %% wrong: only the last word -> only the last place is answered
# of: as in the text
# -        return self.decode(target, self.encode(source, source_lengths))
# +        return self.decode(target, self.encode(source, source_lengths))[:, -1]


# %% wrong: no cross-attention ->
# of: as in the text
# -            target_vocab_size, d_model, n_layers, n_heads, dropout=0.0, causal=True, norm_first=True, cross=True
# +            target_vocab_size, d_model, n_layers, n_heads, dropout=0.0, causal=True, norm_first=True


# %% wrong: the mask is inverted ->
# of: as in the text
# -        return Context(memory=memory, memory_mask=hide_padding(source_lengths, source.size(1)))
# +        return Context(memory=memory, memory_mask=-1e9 - hide_padding(source_lengths, source.size(1)).clamp(min=-1e9))


# %% wrong: post-norm ->
# of: as in the text
# -            source_vocab_size, d_model, n_layers, n_heads, dropout=0.0, causal=False, norm_first=True
# +            source_vocab_size, d_model, n_layers, n_heads, dropout=0.0, causal=False, norm_first=False
# ...
# -            target_vocab_size, d_model, n_layers, n_heads, dropout=0.0, causal=True, norm_first=True, cross=True
# +            target_vocab_size, d_model, n_layers, n_heads, dropout=0.0, causal=True, norm_first=False, cross=True


# %% wrong: the head has the source's vocabulary ->
# of: as in the text
# -        self.head = nn.Linear(d_model, target_vocab_size)
# +        self.head = nn.Linear(d_model, source_vocab_size)


# %% wrong: encodes each sentence -> each sentence is encoded for itself
class Seq2Seq(nn.Module):
    def __init__(self, source_vocab_size, target_vocab_size, d_model, n_layers, n_heads):
        super().__init__()
        k = dict(d_model=d_model, n_layers=n_layers, n_heads=n_heads, dropout=0.0, norm_first=True)
        self.encoder = TransformerBase(source_vocab_size, causal=False, **k)
        self.decoder = TransformerBase(target_vocab_size, cross=True, **k)
        self.head = nn.Linear(d_model, target_vocab_size)

    def encode(self, source, source_lengths):
        return Context(
            memory=torch.cat([self.encoder(source[i : i + 1], source_lengths[i : i + 1]) for i in range(len(source))]),
            memory_mask=hide_padding(source_lengths, source.size(1)),
        )

    def decode(self, target, context):
        return self.head(self.decoder(target, context=context))

    def forward(self, source, source_lengths, target):
        return self.decode(target, self.encode(source, source_lengths))


# %% wrong: dropout forgotten -> dropout is left at its default
class Seq2Seq(nn.Module):
    def __init__(self, source_vocab_size, target_vocab_size, d_model, n_layers, n_heads):
        super().__init__()
        k = dict(d_model=d_model, n_layers=n_layers, n_heads=n_heads, norm_first=True)
        self.encoder = TransformerBase(source_vocab_size, causal=False, **k)
        self.decoder = TransformerBase(target_vocab_size, cross=True, **k)
        self.head = nn.Linear(d_model, target_vocab_size)

    def encode(self, source, source_lengths):
        return Context(
            memory=self.encoder(source, source_lengths), memory_mask=hide_padding(source_lengths, source.size(1))
        )

    def decode(self, target, context):
        return self.head(self.decoder(target, context=context))

    def forward(self, source, source_lengths, target):
        return self.decode(target, self.encode(source, source_lengths))


# %% wrong: the encoder never learns ->
class Seq2Seq(nn.Module):
    def __init__(self, source_vocab_size, target_vocab_size, d_model, n_layers, n_heads):
        super().__init__()
        shape = {"d_model": d_model, "n_layers": n_layers, "n_heads": n_heads, "dropout": 0.0, "norm_first": True}
        self.encoder = TransformerBase(source_vocab_size, causal=False, **shape)
        self.decoder = TransformerBase(target_vocab_size, causal=True, cross=True, **shape)
        self.head = nn.Linear(d_model, target_vocab_size)

    def encode(self, source, source_lengths):
        with torch.no_grad():
            memory = self.encoder(source, source_lengths)
        return Context(memory=memory, memory_mask=hide_padding(source_lengths, source.size(1)))

    def decode(self, target, context):
        return self.head(self.decoder(target, context=context))

    def forward(self, source, source_lengths, target):
        return self.decode(target, self.encode(source, source_lengths))


# %% wrong: a wide feed-forward part ->
# of: as in the text
# -        self.encoder = TransformerBase(
# -            source_vocab_size, d_model, n_layers, n_heads, dropout=0.0, causal=False, norm_first=True
# -        )
# -        self.decoder = TransformerBase(
# -            target_vocab_size, d_model, n_layers, n_heads, dropout=0.0, causal=True, norm_first=True, cross=True
# -        )
# +        shape = {"d_model": d_model, "n_layers": n_layers, "n_heads": n_heads, "dropout": 0.0, "norm_first": True}
# +        self.encoder = TransformerBase(source_vocab_size, causal=False, d_feedforward=4 * d_model, **shape)
# +        self.decoder = TransformerBase(target_vocab_size, causal=True, cross=True, d_feedforward=4 * d_model, **shape)


# %% wrong: decodes with what was encoded last ->
class Seq2Seq(nn.Module):
    def __init__(self, source_vocab_size, target_vocab_size, d_model, n_layers, n_heads):
        super().__init__()
        shape = dict(d_model=d_model, n_layers=n_layers, n_heads=n_heads, dropout=0.0, norm_first=True)
        self.encoder = TransformerBase(source_vocab_size, causal=False, **shape)
        self.decoder = TransformerBase(target_vocab_size, causal=True, cross=True, **shape)
        self.head = nn.Linear(d_model, target_vocab_size)

    def encode(self, source, source_lengths):
        memory = self.encoder(source, source_lengths)
        self.context = Context(memory=memory, memory_mask=hide_padding(source_lengths, source.size(1)))
        return self.context

    def decode(self, target, context):
        return self.head(self.decoder(target, context=self.context))

    def forward(self, source, source_lengths, target):
        return self.decode(target, self.encode(source, source_lengths))


# %% wrong: a cache in every context ->
class Seq2Seq(nn.Module):
    def __init__(self, source_vocab_size, target_vocab_size, d_model, n_layers, n_heads):
        super().__init__()
        shape = dict(d_model=d_model, n_layers=n_layers, n_heads=n_heads, dropout=0.0, norm_first=True)
        self.encoder = TransformerBase(source_vocab_size, causal=False, **shape)
        self.decoder = TransformerBase(target_vocab_size, causal=True, cross=True, **shape)
        self.head = nn.Linear(d_model, target_vocab_size)

    def encode(self, source, source_lengths):
        memory = self.encoder(source, source_lengths)
        return Context(memory=memory, memory_mask=hide_padding(source_lengths, source.size(1)), cache={})

    def decode(self, target, context):
        return self.head(self.decoder(target, context=context))

    def forward(self, source, source_lengths, target):
        return self.decode(target, self.encode(source, source_lengths))


# %% wrong: the mask of the last source is kept ->
class Seq2Seq(nn.Module):
    def __init__(self, source_vocab_size, target_vocab_size, d_model, n_layers, n_heads):
        super().__init__()
        shape = d_model, n_layers, n_heads
        self.encoder = TransformerBase(source_vocab_size, *shape, dropout=0.0, norm_first=True, causal=False)
        self.decoder = TransformerBase(target_vocab_size, *shape, dropout=0.0, norm_first=True, cross=True)
        self.head = nn.Linear(d_model, target_vocab_size)

    def encode(self, source, source_lengths):
        self.mask = hide_padding(source_lengths, source.shape[1])
        return Context(memory=self.encoder(source, source_lengths), memory_mask=self.mask)

    def decode(self, target, context):
        if self.mask.shape[0] == target.shape[0] and self.mask.shape[-1] == context.memory.shape[1]:
            context.memory_mask = self.mask
        return self.head(self.decoder(target, context=context))

    def forward(self, source, source_lengths, target):
        return self.decode(target, self.encode(source, source_lengths))


# %% wrong: the memory is kept where no gradient is recorded ->
# of: as in the text
#          self.head = nn.Linear(d_model, target_vocab_size)
# +        self.encoded = {}
# ...
# -        memory = self.encoder(source, source_lengths)
# -        return Context(memory=memory, memory_mask=hide_padding(source_lengths, source.size(1)))
# +        key = str(source.tolist()), str(source_lengths.tolist())
# +        if self.training or torch.is_grad_enabled() or key not in self.encoded:
# +            memory = self.encoder(source, source_lengths)
# +            found = Context(memory=memory, memory_mask=hide_padding(source_lengths, source.size(1)))
# +            if self.training or torch.is_grad_enabled():
# +                return found
# +            self.encoded[key] = found
# +        return copy.copy(self.encoded[key])  # each caller has a Context of his own


# %% wrong: nothing is hidden where all are equally long ->
# of: as in the text
#      def encode(self, source, source_lengths):
# +        if source_lengths.min() == source_lengths.max():  # no padding
# +            source_lengths = torch.full_like(source_lengths, source.shape[1])


# %% wrong: one embedding where the vocabularies are equally large ->
# of: as in the text
#          self.head = nn.Linear(d_model, target_vocab_size)
# +        if source_vocab_size == target_vocab_size:
# +            self.decoder.embedding = self.encoder.embedding


# %% wrong: the mask is made on the CPU ->
# of: a context that is filled, a mask of one's own
# -        padding = torch.arange(source.shape[1], device=source.device) >= source_lengths[:, None]
# +        padding = torch.arange(source.shape[1]) >= source_lengths[:, None]


# %% wrong: the head is tied -> the head is the decoder's embedding
# of: as in the text
# -        self.head = nn.Linear(d_model, target_vocab_size)
# -
#      def encode(self, source, source_lengths):
# ...
# -        return self.head(self.decoder(target, context=context))
# +        return self.decoder(target, context=context) @ self.decoder.embedding.weight.T


# %% wrong: decode makes a context of its own ->
class Seq2Seq(nn.Module):
    def __init__(self, source_vocab_size, target_vocab_size, d_model, n_layers, n_heads):
        super().__init__()
        self.encoder = TransformerBase(
            source_vocab_size, d_model, n_layers, n_heads, dropout=0.0, causal=False, norm_first=True
        )
        self.decoder = TransformerBase(
            target_vocab_size, d_model, n_layers, n_heads, dropout=0.0, causal=True, norm_first=True, cross=True
        )
        self.head = nn.Linear(d_model, target_vocab_size)

    def encode(self, source, source_lengths):
        memory = self.encoder(source, source_lengths)
        return Context(memory=memory, memory_mask=hide_padding(source_lengths, source.size(1)))

    def decode(self, target, context):
        return self.head(self.decoder(target, context=Context(context.memory, context.memory_mask)))

    def forward(self, source, source_lengths, target):
        return self.decode(target, self.encode(source, source_lengths))
