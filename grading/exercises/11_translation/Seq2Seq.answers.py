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
# other: It decodes position by position, as in writing, and shows that the causal mask makes both ways the same; the solution computes all positions in one run of the decoder.
# -        return self.decode(target, self.encode(source, source_lengths))
# +        context = self.encode(source, source_lengths)
# +        steps = [self.decode(target[:, : n + 1], context)[:, n] for n in range(target.size(1))]
# +        return torch.stack(steps, dim=1)

# %% wrong: encodes in the loop -> the memory is recomputed at every step
# hint: The numbers are right, but the encoder has run once for each position of the target. What it reads does not
# hint: change: run it once and keep its output.
# -        return self.decode(target, self.encode(source, source_lengths))
# +        rows = []
# +        for n in range(1, target.size(1) + 1):
# +            rows.append(self.decode(target[:, :n], self.encode(source, source_lengths))[:, -1])
# +        return torch.stack(rows, dim=1)


# %% wrong: encodes each sentence -> each sentence is encoded for itself
# hint: The numbers are right, but the encoder has run once for each sentence. A batch is there to be read at once: give
# hint: the encoder all of `source` and all lengths.
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


# %% wrong: causal as it comes -> the encoder reads from left to right only
# hint: A TransformerBase is causal unless told otherwise. Nobody guesses the source: its words may look at both sides,
# hint: causal=False.
# -        self.encoder = TransformerBase(
# -            source_vocab_size, d_model, n_layers, n_heads, dropout=0.0, causal=False, norm_first=True
# -        )
# +        self.encoder = TransformerBase(source_vocab_size, d_model, n_layers, n_heads, dropout=0.0, norm_first=True)

# %% wrong: nobody is causal -> the decoder sees the words that it is to guess
# hint: The decoder must be causal. With causal=False it reads the answers in its input, and will have learned nothing
# hint: when it has to write alone.
# ~ causal=True, => causal=False,

# %% wrong: lengths are not used -> the padding of the source is read, twice
# hint: Give the lengths to the encoder, and the mask of the memory to the context.
# ~ encoder(source, source_lengths) => encoder(source)
# ~ , memory_mask=hide_padding(source_lengths, source.size(1)) =>

# %% wrong: no mask for the memory -> cross-attention reads the padding of the source
# hint: The encoder knows the lengths, but the decoder looks at its output at all positions: set memory_mask in the
# hint: context.
# ~ , memory_mask=hide_padding(source_lengths, source.size(1)) =>

# %% wrong: no lengths for the encoder -> the encoder reads its own padding
# hint: The decoder does not look at <pad>, but the words of the source do: give the lengths to the encoder too.
# ~ encoder(source, source_lengths) => encoder(source)

# %% wrong: what holds PAD is padding -> padding is told by its number
# hint: Behind the end of a sentence any number may stand: what is padding, source_lengths alone says.
# -        memory = self.encoder(source, source_lengths)
# -        return Context(memory=memory, memory_mask=hide_padding(source_lengths, source.size(1)))
# +        padded = source.eq(PAD)  # (b, m)
# +        mask = torch.zeros(padded.shape, device=source.device).masked_fill(padded, float("-inf"))
# +        return Context(memory=self.encoder(source, padded), memory_mask=mask[:, None, None])

# %% wrong: dropout forgotten -> dropout is left at its default
# hint: TransformerBase has a dropout of 0.1 unless told otherwise. Here it is to be 0.0, in both bases.
# of: encodes each sentence
# -        k = dict(d_model=d_model, n_layers=n_layers, n_heads=n_heads, dropout=0.0, norm_first=True)
# +        k = dict(d_model=d_model, n_layers=n_layers, n_heads=n_heads, norm_first=True)
# ...
# -            memory=torch.cat([self.encoder(source[i : i + 1], source_lengths[i : i + 1]) for i in range(len(source))]),
# -            memory_mask=hide_padding(source_lengths, source.size(1)),
# +            memory=self.encoder(source, source_lengths), memory_mask=hide_padding(source_lengths, source.size(1))

# %% wrong: hidden states -> there is no head
# hint: The decoder gives d numbers for each position; the head makes V scores of them.
# of: as in the text
# ~ head(self.decoder(target, context=context)) => decoder(target, context=context)

# %% wrong: the head is tied -> the head is the decoder's embedding
# hint: That saves weights, and is another model: here the head is an nn.Linear with weights and a bias of its own,
# hint: self.head = nn.Linear(d_model, target_vocab_size).
# -        self.head = nn.Linear(d_model, target_vocab_size)
# -
# ...
# -        return self.head(self.decoder(target, context=context))
# +        return self.decoder(target, context=context) @ self.decoder.embedding.weight.T

# %% wrong: log_softmax at the end -> log-probabilities in place of logits
# hint: The loss takes the softmax itself; return the scores of the head as they are.
# ~ (self.decoder(target, context=context)) => (self.decoder(target, context=context)).log_softmax(dim=-1)

# %% wrong: softmax at the end -> probabilities in place of logits
# hint: The loss takes the softmax itself; a softmax of a softmax is nearly flat, and hardly learns.
# -        return self.head(self.decoder(target, context=context))
# +        return torch.softmax(self.head(self.decoder(target, context=context)), dim=-1)

# %% wrong: feeds itself -> the decoder reads its own words
# hint: In training it reads the right words, also where it would have written others: that is what teacher forcing
# hint: means.
# -        return self.decode(target, self.encode(source, source_lengths))
# +        context = self.encode(source, source_lengths)
# +        read = target[:, :1]
# +        for _ in range(target.size(1)):
# +            logits = self.decode(read, context)
# +            read = torch.cat([read, logits[:, -1].argmax(dim=-1, keepdim=True)], dim=1)
# +        return logits

# %% wrong: only the last word -> only the last position is answered
# hint: Every position of the target is a question: return logits for all of them, (b, n, V).
# ~ (target, self.encode(source, source_lengths)) => (target, self.encode(source, source_lengths))[:, -1]


# %% wrong: built on the ready one -> a ready-made part in place of an answer
class Seq2Seq(EncoderDecoder):
    def __init__(self, source_vocab_size, target_vocab_size, d_model, n_layers, n_heads):
        super().__init__(source_vocab_size, target_vocab_size, d_model, n_layers, n_heads, dropout=0.0, norm_first=True)

    def forward(self, source, source_lengths, target):
        return super().forward(source, target, source_lengths)


# %% wrong: post-norm ->
# ~ False, norm_first=True => False, norm_first=False
# ~ norm_first=True, => norm_first=False,


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


# %% wrong: a cache in every context ->
# of: the encoder never learns
# -        shape = {"d_model": d_model, "n_layers": n_layers, "n_heads": n_heads, "dropout": 0.0, "norm_first": True}
# +        shape = dict(d_model=d_model, n_layers=n_layers, n_heads=n_heads, dropout=0.0, norm_first=True)
# ...
# -        with torch.no_grad():
# -            memory = self.encoder(source, source_lengths)
# -        return Context(memory=memory, memory_mask=hide_padding(source_lengths, source.size(1)))
# +        memory = self.encoder(source, source_lengths)
# +        return Context(memory=memory, memory_mask=hide_padding(source_lengths, source.size(1)), cache={})

# %% wrong: decode takes the cache out of the context ->
# of: as in the text
#      def decode(self, target, context):
# +        context.cache = None

# %% wrong: decode makes a context with the maps and without the cache ->
# of: as in the text
#      def decode(self, target, context):
# +        context = Context(memory=context.memory, memory_mask=context.memory_mask, maps=context.maps)

# %% wrong: decode empties the cache ->
# of: as in the text
#      def decode(self, target, context):
# +        if context.cache:
# +            context.cache.clear()

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
#      def encode(self, source, source_lengths):
# +        if source_lengths.min() == source_lengths.max():  # no padding
# +            source_lengths = torch.full_like(source_lengths, source.shape[1])

# %% wrong: one embedding where the vocabularies are equally large ->
#          self.head = nn.Linear(d_model, target_vocab_size)
# +        if source_vocab_size == target_vocab_size:
# +            self.decoder.embedding = self.encoder.embedding

# %% wrong: the mask is made on the CPU ->
# of: a context that is filled, a mask of one's own
# ~ , device=source.device =>
