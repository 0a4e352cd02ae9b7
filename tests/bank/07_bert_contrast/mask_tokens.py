# %% right: two draws and where
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    target = torch.where(chosen, tokens, IGNORE)
    how = torch.rand(tokens.shape, generator=generator)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)
    hidden = torch.where(chosen & (how < 0.8), MASK, tokens)
    return torch.where(chosen & (how >= 0.9), words, hidden), target


# %% right: Bernoulli draws, half of the rest
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    probability = torch.full(tokens.shape, share).masked_fill(tokens <= MASK, 0.0)
    chosen = torch.bernoulli(probability, generator=generator).bool()
    read, target = tokens.clone(), tokens.clone()
    target[~chosen] = IGNORE
    hidden = torch.bernoulli(torch.full(tokens.shape, 0.8), generator=generator).bool() & chosen
    read[hidden] = MASK
    other = torch.bernoulli(torch.full(tokens.shape, 0.5), generator=generator).bool() & chosen & ~hidden
    read[other] = torch.randint(MASK + 1, vocab_size, (int(other.sum()),), generator=generator)
    return read, target


# %% right: word by word
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    def draw():
        return float(torch.rand((), generator=generator))

    read, target = tokens.tolist(), [[IGNORE] * tokens.shape[1] for _ in range(tokens.shape[0])]
    for i, row in enumerate(tokens.tolist()):
        for j, word in enumerate(row):
            if word <= MASK or draw() >= share:
                continue
            target[i][j] = word
            how = draw()
            if how < 0.8:
                read[i][j] = MASK
            elif how < 0.9:
                read[i][j] = int(torch.randint(MASK + 1, vocab_size, (), generator=generator))
    return torch.tensor(read), torch.tensor(target)


# %% right: an exact number, shuffled
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    words = (tokens > MASK).flatten().nonzero().flatten()  # (k,)
    count = round(share * len(words))
    chosen = words[torch.randperm(len(words), generator=generator)[:count]]
    read, target = tokens.flatten().clone(), torch.full((tokens.numel(),), IGNORE)
    target[chosen] = tokens.flatten()[chosen]
    first, second = round(0.8 * count), round(0.9 * count)
    read[chosen[:first]] = MASK
    read[chosen[first:second]] = torch.randint(MASK + 1, vocab_size, (second - first,), generator=generator)
    return read.view_as(tokens), target.view_as(tokens)


# %% wrong: target is all of it -> every place is scored
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    how = torch.rand(tokens.shape, generator=generator)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)
    read = tokens.masked_fill(chosen & (how < 0.8), MASK)
    return torch.where(chosen & (how >= 0.9), words, read), tokens.clone()


# %% wrong: target where <mask> -> only <mask> is scored
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    how = torch.rand(tokens.shape, generator=generator)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)
    read = tokens.masked_fill(chosen & (how < 0.8), MASK)
    read = torch.where(chosen & (how >= 0.9), words, read)
    return read, torch.where(read == MASK, tokens, IGNORE)


# %% wrong: target from the changed input -> the target is what stands in the input
# of: target where <mask>
# -    return read, torch.where(read == MASK, tokens, IGNORE)
# +    return read, torch.where(chosen, read, IGNORE)


# %% wrong: zeros elsewhere -> what is not scored has the target <pad>
# of: target is all of it
# -    return torch.where(chosen & (how >= 0.9), words, read), tokens.clone()
# +    return torch.where(chosen & (how >= 0.9), words, read), tokens * chosen


# %% wrong: only some specials are left out -> padding is chosen
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    special = (tokens == SOS) | (tokens == EOS) | (tokens == OOV) | (tokens == MASK)
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & ~special
    how = torch.rand(tokens.shape, generator=generator)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)
    read = tokens.masked_fill(chosen & (how < 0.8), MASK)
    return torch.where(chosen & (how >= 0.9), words, read), torch.where(chosen, tokens, IGNORE)


# %% wrong: only padding is left out -> special tokens are chosen
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens != PAD)
    how = torch.rand(tokens.shape, generator=generator)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)
    read = tokens.masked_fill(chosen & (how < 0.8), MASK)
    return torch.where(chosen & (how >= 0.9), words, read), torch.where(chosen, tokens, IGNORE)


# %% wrong: everything may be chosen -> special tokens and padding are chosen
# of: only padding is left out
# -    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens != PAD)
# +    chosen = torch.rand(tokens.shape, generator=generator) < share


# %% wrong: masked_fill with all chosen -> always <mask>
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    return tokens.masked_fill(chosen, MASK), torch.where(chosen, tokens, IGNORE)


# %% wrong: a tenth of what is left -> no other words, or hardly any
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    target, read = torch.where(chosen, tokens, IGNORE), tokens.clone()
    hidden = chosen & (torch.rand(tokens.shape, generator=generator) < 0.8)
    read[hidden] = MASK
    other = chosen & ~hidden & (torch.rand(tokens.shape, generator=generator) < 0.1)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)
    read[other] = words[other]
    return read, target


# %% wrong: 80 / 0 / 20 -> no other words, or hardly any
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    hidden = chosen & (torch.rand(tokens.shape, generator=generator) < 0.8)
    return tokens.masked_fill(hidden, MASK), torch.where(chosen, tokens, IGNORE)


# %% wrong: 80 / 20 / 0 -> no chosen word stays as it is
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    how = torch.rand(tokens.shape, generator=generator)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)
    read = torch.where(how < 0.8, MASK, words)
    return torch.where(chosen, read, tokens), torch.where(chosen, tokens, IGNORE)


# %% wrong: a result thrown away -> nothing is hidden
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    tokens.masked_fill(chosen, MASK)
    return tokens.clone(), torch.where(chosen, tokens, IGNORE)


# %% wrong: 0.15 written out -> the share is always 15 %
# of: only padding is left out
# -    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens != PAD)
# +    chosen = (torch.rand(tokens.shape, generator=generator) < 0.15) & (tokens > MASK)


# %% wrong: randint(vocab_size) -> the other words may be special tokens
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    how = torch.rand(tokens.shape, generator=generator)
    words = torch.randint(vocab_size, tokens.shape, generator=generator)
    read = tokens.masked_fill(chosen & (how < 0.8), MASK)
    return torch.where(chosen & (how >= 0.9), words, read), torch.where(chosen, tokens, IGNORE)


# %% wrong: one draw for all -> the same other word everywhere
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    how = torch.rand(tokens.shape, generator=generator)
    word = int(torch.randint(MASK + 1, vocab_size, (), generator=generator))
    read = tokens.masked_fill(chosen & (how < 0.8), MASK)
    return read.masked_fill(chosen & (how >= 0.9), word), torch.where(chosen, tokens, IGNORE)


# %% wrong: torch's own state -> the generator is not used
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape) < share) & (tokens > MASK)
    how = torch.rand(tokens.shape)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape)
    read = tokens.masked_fill(chosen & (how < 0.8), MASK)
    return torch.where(chosen & (how >= 0.9), words, read), torch.where(chosen, tokens, IGNORE)


# %% wrong: the generator for one draw of three -> the generator is not used
# of: torch's own state
# -    chosen = (torch.rand(tokens.shape) < share) & (tokens > MASK)
# +    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)


# %% wrong: written into the tokens -> the tokens are changed in place
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    target = torch.where(chosen, tokens, IGNORE)
    how = torch.rand(tokens.shape, generator=generator)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)
    tokens[chosen & (how < 0.8)] = MASK
    other = chosen & (how >= 0.9)
    tokens[other] = words[other]
    return tokens, target


# %% wrong: the input alone ->
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    return tokens.masked_fill(chosen, MASK)


# %% wrong: a fixed seed of its own ->
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    own = torch.Generator().manual_seed(0)
    chosen = (torch.rand(tokens.shape, generator=own) < share) & (tokens > MASK)
    how = torch.rand(tokens.shape, generator=own)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=own)
    read = tokens.masked_fill(chosen & (how < 0.8), MASK)
    return torch.where(chosen & (how >= 0.9), words, read), torch.where(chosen, tokens, IGNORE)


# %% wrong: the last word is never drawn ->
# of: randint(vocab_size)
# -    words = torch.randint(vocab_size, tokens.shape, generator=generator)
# +    words = torch.randint(MASK + 1, vocab_size - 1, tokens.shape, generator=generator)


# %% wrong: from MASK on -> special tokens are chosen
# of: only padding is left out
# -    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens != PAD)
# +    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens >= MASK)


# %% wrong: rand > share -> chosen are those above the share
# of: only padding is left out
# -    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens != PAD)
# +    chosen = (torch.rand(tokens.shape, generator=generator) > share) & (tokens > MASK)


# %% wrong: target first -> input and target are exchanged
# of: target is all of it
# -    return torch.where(chosen & (how >= 0.9), words, read), tokens.clone()
# +    return torch.where(chosen, tokens, IGNORE), torch.where(chosen & (how >= 0.9), words, read)


# %% wrong: the rule for all places -> all words are hidden, not only the chosen ones
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    how = torch.rand(tokens.shape, generator=generator)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)
    read = torch.where(how < 0.8, MASK, torch.where(how >= 0.9, words, tokens))
    return torch.where(tokens > MASK, read, tokens), torch.where(chosen, tokens, IGNORE)


# %% wrong: target where something changed -> words left as they are are not scored
# of: target where <mask>
# -    return read, torch.where(read == MASK, tokens, IGNORE)
# +    return read, torch.where(read != tokens, tokens, IGNORE)


# %% wrong: one draw for <mask>, one for other words -> a word can be drawn twice, for <mask> and for another word
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    read, target = tokens.clone(), torch.where(chosen, tokens, IGNORE)
    read[chosen & (torch.rand(tokens.shape, generator=generator) < 0.8)] = MASK
    other = chosen & (torch.rand(tokens.shape, generator=generator) < 0.1)
    read[other] = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)[other]
    return read, target


# %% wrong: starts again from the seed of the generator -> every call draws the same numbers
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    torch.manual_seed(generator.initial_seed())
    chosen = (torch.rand(tokens.shape) < share) & (tokens > MASK)
    how = torch.rand(tokens.shape)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape)
    read = torch.where(chosen & (how < 0.8), MASK, tokens)
    return torch.where(chosen & (how >= 0.9), words, read), torch.where(chosen, tokens, IGNORE)


# %% wrong: the words begin at MASK -> <mask> is drawn as one of the other words
# of: randint(vocab_size)
# -    words = torch.randint(vocab_size, tokens.shape, generator=generator)
# +    words = torch.randint(MASK, vocab_size, tokens.shape, generator=generator)


# %% wrong: other words are taken from the batch ->
# of: randint(vocab_size)
# -    words = torch.randint(vocab_size, tokens.shape, generator=generator)
# +    words = tokens[tokens > MASK][torch.randint(int((tokens > MASK).sum()), tokens.shape, generator=generator)]


# %% wrong: the batch, shuffled ->
# of: randint(vocab_size)
# -    words = torch.randint(vocab_size, tokens.shape, generator=generator)
# +    words = tokens.flatten()[torch.randperm(tokens.numel(), generator=generator)].view_as(tokens)


# %% wrong: one other word for each row -> one other word for a whole text
# of: randint(vocab_size)
# -    words = torch.randint(vocab_size, tokens.shape, generator=generator)
# +    words = torch.randint(MASK + 1, vocab_size, (len(tokens), 1), generator=generator)


# %% wrong: one other word for each column -> one other word for a whole column
# of: randint(vocab_size)
# -    words = torch.randint(vocab_size, tokens.shape, generator=generator)
# +    words = torch.randint(MASK + 1, vocab_size, (tokens.shape[1],), generator=generator)


# %% wrong: the next number ->
# of: randint(vocab_size)
# -    words = torch.randint(vocab_size, tokens.shape, generator=generator)
# +    words = MASK + 1 + (tokens - MASK) % (vocab_size - MASK - 1)


# %% wrong: counted from the other end ->
# of: randint(vocab_size)
# -    words = torch.randint(vocab_size, tokens.shape, generator=generator)
# +    words = vocab_size + MASK - tokens


# %% wrong: words of the first half only ->
# of: randint(vocab_size)
# -    words = torch.randint(vocab_size, tokens.shape, generator=generator)
# +    words = torch.randint(MASK + 1, vocab_size // 2, tokens.shape, generator=generator)


# %% wrong: normal numbers, cut ->
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    how = torch.rand(tokens.shape, generator=generator)
    words = (
        (vocab_size / 2 + vocab_size / 8 * torch.randn(tokens.shape, generator=generator))
        .long()
        .clamp(MASK + 1, vocab_size - 1)
    )
    read = tokens.masked_fill(chosen & (how < 0.8), MASK)
    return torch.where(chosen & (how >= 0.9), words, read), torch.where(chosen, tokens, IGNORE)


# %% wrong: one number for each column chooses -> the same places are chosen in all texts
# of: only padding is left out
# -    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens != PAD)
# +    chosen = (torch.rand(tokens.shape[1], generator=generator) < share) & (tokens > MASK)


# %% wrong: one number for each row chooses ->
# of: only padding is left out
# -    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens != PAD)
# +    chosen = (torch.rand(len(tokens), 1, generator=generator) < share) & (tokens > MASK)


# %% wrong: one fate for each row -> all words of a text have the same fate
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    how = torch.rand(len(tokens), 1, generator=generator).expand(tokens.shape)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)
    read = tokens.masked_fill(chosen & (how < 0.8), MASK)
    return torch.where(chosen & (how >= 0.9), words, read), torch.where(chosen, tokens, IGNORE)


# %% wrong: one fate for each column ->
# of: one fate for each row
# -    how = torch.rand(len(tokens), 1, generator=generator).expand(tokens.shape)
# +    how = torch.rand(tokens.shape[1], generator=generator)


# %% wrong: all drawn by column -> the same places are chosen in all texts
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape[1], generator=generator) < share) & (tokens > MASK)
    how = torch.rand(tokens.shape[1], generator=generator)
    words = torch.randint(MASK + 1, vocab_size, (tokens.shape[1],), generator=generator)
    read = tokens.masked_fill(chosen & (how < 0.8), MASK)
    return torch.where(chosen & (how >= 0.9), words, read), torch.where(chosen, tokens, IGNORE)


# %% wrong: the first word of a text is never chosen ->
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    chosen[:, :2] = False
    how = torch.rand(tokens.shape, generator=generator)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)
    read = tokens.masked_fill(chosen & (how < 0.8), MASK)
    return torch.where(chosen & (how >= 0.9), words, read), torch.where(chosen, tokens, IGNORE)


# %% wrong: at least one word of each text ->
# of: only padding is left out
# -    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens != PAD)
# +    draw = torch.rand(tokens.shape, generator=generator).masked_fill(tokens <= MASK, 2.0)
# +    chosen = (draw < share) | ((draw == draw.amin(dim=1, keepdim=True)) & (tokens > MASK))


# %% wrong: a share of all places ->
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    count = int(share * tokens.numel())
    order = torch.rand(tokens.shape, generator=generator).masked_fill(tokens <= MASK, 2.0)
    border = order.flatten().sort().values[count]
    chosen = (order < border) & (tokens > MASK)
    how = torch.rand(tokens.shape, generator=generator)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)
    read = tokens.masked_fill(chosen & (how < 0.8), MASK)
    return torch.where(chosen & (how >= 0.9), words, read), torch.where(chosen, tokens, IGNORE)


# %% wrong: nothing at all is done ->
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    return tokens.clone(), torch.full_like(tokens, IGNORE)


# %% wrong: the tokens twice -> every place is scored
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    return tokens.clone(), tokens.clone()


# %% right: another word is never the one that stood there
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    how = torch.rand(tokens.shape, generator=generator)
    words = vocab_size - MASK - 1
    step = torch.randint(1, words, tokens.shape, generator=generator)
    others = MASK + 1 + (tokens - MASK - 1 + step) % words
    read = tokens.masked_fill(chosen & (how < 0.8), MASK)
    return torch.where(chosen & (how >= 0.9), others, read), torch.where(chosen, tokens, IGNORE)


# %% right: one number for both decisions
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    draw = torch.rand(tokens.shape, generator=generator)
    chosen = (tokens > MASK) & (draw < share)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)
    read = torch.where(chosen & (draw < 0.8 * share), MASK, tokens)
    read = torch.where(chosen & (draw >= 0.9 * share), words, read)
    return read, torch.where(chosen, tokens, IGNORE)


# %% right: a permutation, an exact share of each text
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    read, target = tokens.clone(), torch.full_like(tokens, IGNORE)
    for row in range(len(tokens)):
        places = (tokens[row] > MASK).nonzero().flatten()
        count = round(share * len(places))
        for place in places[torch.randperm(len(places), generator=generator)][:count]:
            target[row, place] = tokens[row, place]
            what = torch.rand((), generator=generator)
            if what < 0.8:
                read[row, place] = MASK
            elif what < 0.9:
                read[row, place] = torch.randint(MASK + 1, vocab_size, (), generator=generator)
    return read, target


# %% wrong: one draw for both -> the number that chose a word decides what happens to it, too
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    b, n = tokens.shape
    first = torch.rand((b, n), generator=generator)
    chosen = (first < share) & (tokens > MASK)
    second = first
    others = torch.randint(MASK + 1, vocab_size, (b, n), generator=generator)
    target = tokens.masked_fill(~chosen, IGNORE)
    read = torch.where(chosen & (second < 0.8), MASK, tokens)
    return torch.where(chosen & (second >= 0.9), others, read), target


# %% wrong: two words in a row are chosen together ->
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    b, n = tokens.shape
    first = torch.rand((b, n // 2 + 1), generator=generator).repeat_interleave(2, 1)[:, :n]
    chosen = (first < share) & (tokens > MASK)
    second = torch.rand((b, n), generator=generator)
    others = torch.randint(MASK + 1, vocab_size, (b, n), generator=generator)
    target = tokens.masked_fill(~chosen, IGNORE)
    read = torch.where(chosen & (second < 0.8), MASK, tokens)
    return torch.where(chosen & (second >= 0.9), others, read), target


# %% wrong: two texts choose the same places ->
# of: two words in a row are chosen together
# -    first = torch.rand((b, n // 2 + 1), generator=generator).repeat_interleave(2, 1)[:, :n]
# +    first = torch.rand((b // 2 + 1, n), generator=generator).repeat_interleave(2, 0)[:b]


# %% wrong: the second half chooses as the first ->
# of: two words in a row are chosen together
# -    first = torch.rand((b, n // 2 + 1), generator=generator).repeat_interleave(2, 1)[:, :n]
# +    first = torch.rand((b, (n + 1) // 2), generator=generator).repeat(1, 2)[:, :n]


# %% wrong: one number for each word of the vocabulary ->
# of: two words in a row are chosen together
# -    first = torch.rand((b, n // 2 + 1), generator=generator).repeat_interleave(2, 1)[:, :n]
# +    first = torch.rand(vocab_size, generator=generator)[tokens]


# %% wrong: two words in a row have the same fate ->
# of: one draw for both
# -    second = first
# +    second = torch.rand((b, n // 2 + 1), generator=generator).repeat_interleave(2, 1)[:, :n]
