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
# other: It reads like the recipe: a draw for each word, and another for what becomes of it; the solution draws for the whole batch at once, without a loop.
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
        positions = (tokens[row] > MASK).nonzero().flatten()
        count = round(share * len(positions))
        for position in positions[torch.randperm(len(positions), generator=generator)][:count]:
            target[row, position] = tokens[row, position]
            what = torch.rand((), generator=generator)
            if what < 0.8:
                read[row, position] = MASK
            elif what < 0.9:
                read[row, position] = torch.randint(MASK + 1, vocab_size, (), generator=generator)
    return read, target


# %% wrong: target is all of it -> every position is scored
# hint: The model sees most of these words and could simply copy them. The target is the word where one was chosen, and
# hint: IGNORE everywhere else.
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    how = torch.rand(tokens.shape, generator=generator)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)
    read = tokens.masked_fill(chosen & (how < 0.8), MASK)
    return torch.where(chosen & (how >= 0.9), words, read), tokens.clone()


# %% wrong: target where <mask> -> only <mask> is scored
# of: target is all of it
# -    return torch.where(chosen & (how >= 0.9), words, read), tokens.clone()
# +    read = torch.where(chosen & (how >= 0.9), words, read)
# +    return read, torch.where(read == MASK, tokens, IGNORE)

# %% wrong: target first -> input and target are exchanged
# hint: The input comes first, then the target.
# -    return torch.where(chosen & (how >= 0.9), words, read), tokens.clone()
# +    return torch.where(chosen, tokens, IGNORE), torch.where(chosen & (how >= 0.9), words, read)

# %% wrong: the rule for all positions -> all words are hidden, not only the chosen ones
# hint: What becomes <mask> or another word must also have been chosen: join the two conditions by &.
# -    read = tokens.masked_fill(chosen & (how < 0.8), MASK)
# -    return torch.where(chosen & (how >= 0.9), words, read), tokens.clone()
# +    read = torch.where(how < 0.8, MASK, torch.where(how >= 0.9, words, tokens))
# +    return torch.where(tokens > MASK, read, tokens), torch.where(chosen, tokens, IGNORE)

# %% wrong: target where something changed -> words left as they are are not scored
# hint: The last tenth of the chosen words stays and is scored all the same. Take the target from what was chosen, not
# hint: from what has changed.
# of: target where <mask>
# ~ == MASK => != tokens

# %% wrong: target from the changed input -> the target is what stands in the input
# hint: The target must be taken before the words are hidden: it is what the model has to find.
# ~ read == MASK, tokens => chosen, read

# %% wrong: zeros elsewhere -> what is not scored has the target <pad>
# hint: 0 is a token like any other for the loss, so the model would learn to say <pad>. What is not scored has the
# hint: target IGNORE (-100).
# of: target is all of it
# ~ tokens.clone() => tokens * chosen


# %% wrong: only some specials are left out -> padding is chosen
# hint: There is nothing to guess behind the end of a text: choose words only (tokens > MASK).
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    special = (tokens == SOS) | (tokens == EOS) | (tokens == OOV) | (tokens == MASK)
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & ~special
    how = torch.rand(tokens.shape, generator=generator)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)
    read = tokens.masked_fill(chosen & (how < 0.8), MASK)
    return torch.where(chosen & (how >= 0.9), words, read), torch.where(chosen, tokens, IGNORE)


# %% wrong: only padding is left out -> special tokens are chosen
# hint: <sos>, <eos>, <oov> and <mask> are no words. Words are the numbers above MASK.
# ~ > MASK => != PAD
# ~ tokens.clone() => torch.where(chosen, tokens, IGNORE)

# %% wrong: everything may be chosen -> special tokens and padding are chosen
# hint: Only words may be hidden: the numbers above MASK.
# of: only some specials are left out
# -    special = (tokens == SOS) | (tokens == EOS) | (tokens == OOV) | (tokens == MASK)
# -    chosen = (torch.rand(tokens.shape, generator=generator) < share) & ~special
# +    chosen = torch.rand(tokens.shape, generator=generator) < share

# %% wrong: rand > share -> chosen are those above the share
# hint: torch.rand gives a number below `share` in that share of all cases: rand < share, not rand > share.
# of: target is all of it
# ~ < share => > share
# ~ tokens.clone() => torch.where(chosen, tokens, IGNORE)


# %% wrong: one draw for <mask>, one for other words -> a word can be drawn twice, for <mask> and for another word
# hint: Two separate draws overlap: some of the words that were <mask> become another word. Decide by one number: below
# hint: 0.8, from 0.9 on, or in between.
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    read, target = tokens.clone(), torch.where(chosen, tokens, IGNORE)
    read[chosen & (torch.rand(tokens.shape, generator=generator) < 0.8)] = MASK
    other = chosen & (torch.rand(tokens.shape, generator=generator) < 0.1)
    read[other] = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)[other]
    return read, target


# %% wrong: one draw for both -> the number that chose a word decides what happens to it, too
# hint: A chosen word's number is below `share`, so below 0.8, too: nearly every one becomes <mask>. Draw a second
# hint: number for each position.
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    b, n = tokens.shape
    first = torch.rand((b, n), generator=generator)
    chosen = (first < share) & (tokens > MASK)
    second = first
    others = torch.randint(MASK + 1, vocab_size, (b, n), generator=generator)
    target = tokens.masked_fill(~chosen, IGNORE)
    read = torch.where(chosen & (second < 0.8), MASK, tokens)
    return torch.where(chosen & (second >= 0.9), others, read), target


# %% wrong: masked_fill with all chosen -> always <mask>
# hint: All chosen words become <mask>. A tenth should become another word and a tenth stay, since <mask> never occurs
# hint: where the model is used.
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    return tokens.masked_fill(chosen, MASK), torch.where(chosen, tokens, IGNORE)


# %% wrong: a tenth of what is left -> no other words, or hardly any
# hint: A tenth of the chosen words should become another word. If you draw again among those that are not <mask>: a
# hint: tenth of all is half of these.
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    target, read = torch.where(chosen, tokens, IGNORE), tokens.clone()
    hidden = chosen & (torch.rand(tokens.shape, generator=generator) < 0.8)
    read[hidden] = MASK
    other = chosen & ~hidden & (torch.rand(tokens.shape, generator=generator) < 0.1)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)
    read[other] = words[other]
    return read, target


# %% wrong: 80 / 20 / 0 -> no chosen word stays as it is
# hint: 80 % become <mask> and 10 % another word; the last 10 % stay, and are scored all the same.
# ~ tokens.masked_fill(chosen & (how < 0.8), MASK) => torch.where(how < 0.8, MASK, words)
# ~ (chosen & (how >= 0.9), words, read), tokens.clone() => (chosen, read, tokens), torch.where(chosen, tokens, IGNORE)


# %% wrong: a result thrown away -> nothing is hidden
# hint: The input still holds every word. Return the changed tokens; masked_fill without _ returns a new tensor.
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    tokens.masked_fill(chosen, MASK)
    return tokens.clone(), torch.where(chosen, tokens, IGNORE)


# %% wrong: 0.15 written out -> the share is always 15 %
# hint: 15 % is only the default: use the argument share.
# ~ (torch.rand(tokens.shape, generator=generator) < share) => (torch.rand(tokens.shape, generator=generator) < 0.15)
# ~ tokens.clone() => torch.where(chosen, tokens, IGNORE)

# %% wrong: randint(vocab_size) -> the other words may be special tokens
# hint: Start the draw at MASK + 1: a <pad> or <eos> inside a text is no word.
# ~ MASK + 1, vocab_size => vocab_size
# ~ tokens.clone() => torch.where(chosen, tokens, IGNORE)


# %% wrong: one draw for all -> the same other word everywhere
# hint: Draw one word for each position: torch.randint(..., tokens.shape).
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    how = torch.rand(tokens.shape, generator=generator)
    word = int(torch.randint(MASK + 1, vocab_size, (), generator=generator))
    read = tokens.masked_fill(chosen & (how < 0.8), MASK)
    return read.masked_fill(chosen & (how >= 0.9), word), torch.where(chosen, tokens, IGNORE)


# %% wrong: the words begin at MASK -> <mask> is drawn as one of the other words
# hint: torch.randint draws its lower end too, and MASK is no word: begin at MASK + 1.
# ~ MASK + 1, => MASK,
# ~ tokens.clone() => torch.where(chosen, tokens, IGNORE)

# %% wrong: one other word for each row -> one other word for a whole text
# hint: All words of a text that are exchanged become the same one. Draw one word for each position: torch.randint(...,
# hint: tokens.shape).
# ~ , tokens.shape, generator=generator) => , (len(tokens), 1), generator=generator)
# ~ tokens.clone() => torch.where(chosen, tokens, IGNORE)

# %% wrong: one other word for each column -> one other word for a whole column
# hint: All texts get the same other word at the same position. Draw one for each: torch.randint(..., tokens.shape).
# ~ , tokens.shape, generator=generator) => , (tokens.shape[1],), generator=generator)
# ~ tokens.clone() => torch.where(chosen, tokens, IGNORE)

# %% wrong: one number for each column chooses -> the same positions are chosen in all texts
# hint: One number was drawn for each column. Draw one for each position of each text: torch.rand(tokens.shape).
# ~ (torch.rand(tokens.shape, => (torch.rand(tokens.shape[1],
# ~ tokens.clone() => torch.where(chosen, tokens, IGNORE)


# %% wrong: one fate for each row -> all words of a text have the same fate
# hint: Only one number decides for a whole text between <mask>, another word and staying. Draw one for each position:
# hint: torch.rand(tokens.shape).
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    how = torch.rand(len(tokens), 1, generator=generator).expand(tokens.shape)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)
    read = tokens.masked_fill(chosen & (how < 0.8), MASK)
    return torch.where(chosen & (how >= 0.9), words, read), torch.where(chosen, tokens, IGNORE)


# %% wrong: starts again from the seed of the generator -> every call draws the same numbers
# hint: torch.manual_seed, or a new generator with the seed of this one, starts again at each call: every pass hides the
# hint: same words. Draw from the generator that you are given: it goes on.
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    torch.manual_seed(generator.initial_seed())
    chosen = (torch.rand(tokens.shape) < share) & (tokens > MASK)
    how = torch.rand(tokens.shape)
    words = torch.randint(MASK + 1, vocab_size, tokens.shape)
    read = torch.where(chosen & (how < 0.8), MASK, tokens)
    return torch.where(chosen & (how >= 0.9), words, read), torch.where(chosen, tokens, IGNORE)


# %% wrong: torch's own state -> the generator is not used
# hint: torch.rand(shape) draws from torch's own state: nobody can hide the same words again. Pass generator=generator,
# hint: to torch.randint too.
# of: one fate for each row
# ~ (tokens.shape, generator=generator) => (tokens.shape)
# ~ (len(tokens), 1, generator=generator).expand(tokens.shape) => (tokens.shape)
# ~ , generator=generator =>

# %% wrong: written into the tokens -> the tokens are changed in place
# hint: The caller's text is lost: at the next pass, some of its words would be <mask> for ever. Work on a copy.
# of: two draws and where
# -    hidden = torch.where(chosen & (how < 0.8), MASK, tokens)
# -    return torch.where(chosen & (how >= 0.9), words, hidden), target
# +    tokens[chosen & (how < 0.8)] = MASK
# +    other = chosen & (how >= 0.9)
# +    tokens[other] = words[other]
# +    return tokens, target

# %% wrong: the last word is never drawn ->
# of: target is all of it
# ~ vocab_size, tokens => vocab_size - 1, tokens
# ~ tokens.clone() => torch.where(chosen, tokens, IGNORE)

# %% wrong: other words are taken from the batch ->
# of: randint(vocab_size)
# -    words = torch.randint(vocab_size, tokens.shape, generator=generator)
# +    words = tokens[tokens > MASK][torch.randint(int((tokens > MASK).sum()), tokens.shape, generator=generator)]

# %% wrong: the first word of a text is never chosen ->
# of: two draws and where
# ~ target = torch.where(chosen, tokens, IGNORE) => chosen[:, :2] = False
# ~ hidden = torch.where(chosen & (how < 0.8), MASK, tokens) => read = tokens.masked_fill(chosen & (how < 0.8), MASK)
# ~ hidden), target => read), torch.where(chosen, tokens, IGNORE)

# %% wrong: at least one word of each text ->
# of: only some specials are left out
# -    special = (tokens == SOS) | (tokens == EOS) | (tokens == OOV) | (tokens == MASK)
# -    chosen = (torch.rand(tokens.shape, generator=generator) < share) & ~special
# +    draw = torch.rand(tokens.shape, generator=generator).masked_fill(tokens <= MASK, 2.0)
# +    chosen = (draw < share) | ((draw == draw.amin(dim=1, keepdim=True)) & (tokens > MASK))


# %% wrong: a step from the word that stood there -> another word is never the same word
# hint: The whole vocabulary holds the word that stood there, too: it may be drawn, by chance. Take what torch.randint
# hint: draws from MASK + 1 to vocab_size - 1, whatever stands at the position.
def mask_tokens(tokens, vocab_size, generator, share=0.15):
    chosen = (torch.rand(tokens.shape, generator=generator) < share) & (tokens > MASK)
    how = torch.rand(tokens.shape, generator=generator)
    words = vocab_size - MASK - 1
    step = torch.randint(1, words, tokens.shape, generator=generator)
    others = MASK + 1 + (tokens - MASK - 1 + step) % words
    read = tokens.masked_fill(chosen & (how < 0.8), MASK)
    return torch.where(chosen & (how >= 0.9), others, read), torch.where(chosen, tokens, IGNORE)


# %% wrong: those from the word on go up by one -> another word is never the same word
# of: a step from the word that stood there
# -    words = vocab_size - MASK - 1
# -    step = torch.randint(1, words, tokens.shape, generator=generator)
# -    others = MASK + 1 + (tokens - MASK - 1 + step) % words
# +    others = torch.randint(MASK + 1, vocab_size - 1, tokens.shape, generator=generator)
# +    others[others >= tokens] += 1

# %% wrong: drawn again while it is the same -> another word is never the same word
# -    words = vocab_size - MASK - 1
# -    step = torch.randint(1, words, tokens.shape, generator=generator)
# -    others = MASK + 1 + (tokens - MASK - 1 + step) % words
# +    others = torch.randint(MASK + 1, vocab_size, tokens.shape, generator=generator)
# +    while (same := others == tokens).any():
# +        others[same] = torch.randint(MASK + 1, vocab_size, (int(same.sum()),), generator=generator)
