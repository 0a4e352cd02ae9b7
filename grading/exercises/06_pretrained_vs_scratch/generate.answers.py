# %% right: a loop that ends in the middle
@torch.no_grad()
def generate(model, vocabulary, prompt, max_len, temperature):
    tokens = [SOS, *vocabulary.encode(prompt)]
    while len(tokens) - 1 < max_len:
        logits = model(torch.tensor([tokens]))[0, -1]
        if temperature == 0:
            word = int(logits.argmax())
        else:
            word = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))
        if word == EOS:
            break
        tokens.append(word)
    return tokens[1:]


# %% right: a for loop, Categorical, tensors
# other: `Categorical` takes logits, and `range` bounds the number of steps; the solution shows the softmax with its temperature, and the text is a plain list that grows.
def generate(model, vocabulary, prompt, max_len, temperature):
    text = vocabulary.encode(prompt)
    read = torch.tensor([[SOS] + text])
    for _ in range(max_len - len(text)):
        with torch.no_grad():
            logits = model(read)[:, -1]
        if temperature > 0:
            word = torch.distributions.Categorical(logits=logits / temperature).sample()
        else:
            word = logits.argmax(dim=-1)
        if word.item() == EOS:
            return read[0, 1:].tolist()
        read = torch.cat([read, word[:, None]], dim=1)
    return read[0, 1:].tolist()


# %% right: Gumbel noise in place of a softmax
def generate(model, vocabulary, prompt, max_len, temperature):
    text = list(vocabulary.encode(prompt))
    while len(text) < max_len:
        logits = model(torch.tensor([[SOS, *text]]))[0, -1].detach().double()
        noise = -torch.log(-torch.log(torch.rand_like(logits)))
        word = (logits + temperature * noise).argmax().item()
        if word == EOS:
            return text
        text.append(word)
    return text


# %% right: random.choices, unknown words by hand
def generate(model, vocabulary, prompt, max_len, temperature):
    import random

    written = [vocabulary.numbers.get(word, OOV) for word in vocabulary.split(prompt)]
    stop = False
    while not stop and len(written) < max_len:
        scores = model(torch.tensor([[SOS] + written]), torch.tensor([len(written) + 1])).detach()[0][-1]
        if temperature == 0:
            following = scores.max(0).indices.item()
        else:
            chances = (scores / temperature).softmax(0).tolist()
            following = random.choices(range(len(chances)), chances)[0]
        stop = following == EOS
        if not stop:
            written.append(following)
    return written


# %% right: in double precision, and with the cumulative sum
@torch.no_grad()
def generate(model, vocabulary, prompt, max_len, temperature):
    text = vocabulary.encode(prompt)
    while len(text) < max_len:
        logits = model(torch.tensor([[SOS, *text]]))[0, -1].double()
        if temperature == 0:
            word = int(logits.argmax())
        else:
            chances = torch.softmax(logits / temperature, dim=-1).cumsum(0)
            word = min(int((chances < torch.rand(())).sum()), len(logits) - 1)
        if word == EOS:
            break
        text.append(word)
    return text


# %% right: the largest of logits and Gumbel noise
# -    while len(tokens) - 1 < max_len:
# +    while len(tokens) <= max_len:
# ...
# -            word = int(logits.argmax())
# +            word = max(range(len(logits)), key=lambda n: float(logits[n]))
# ...
# -            word = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))
# +            noise = -torch.log(-torch.log(torch.rand(len(logits), dtype=torch.float64)))
# +            word = int((logits.double() / temperature + noise).argmax())

# %% wrong: never looks for <eos> -> it never stops at <eos>
# hint: The model has written <eos>, which means that the text is over, and you went on. Look at each word before you go
# hint: on.
# -            word = int(logits.argmax())
# +            tokens.append(int(logits.argmax()))
# ...
# -            word = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))
# -        if word == EOS:
# -            break
# -        tokens.append(word)
# +            tokens.append(int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1)))

# %% wrong: never writes a special token -> special words are never written
# hint: Every word of the vocabulary may come next, <oov>, <pad> and the others too: take the most probable one, or
# hint: draw, from all of them. Only <eos> means something else.
# of: in double precision, and with the cumulative sum
# -        logits = model(torch.tensor([[SOS, *text]]))[0, -1].double()
# +        logits = model(torch.tensor([[SOS, *text]]))[0, -1].clone()
# +        logits[[0, SOS, OOV]] = -torch.inf
# ...
# -            chances = torch.softmax(logits / temperature, dim=-1).cumsum(0)
# -            word = min(int((chances < torch.rand(())).sum()), len(logits) - 1)
# +            word = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))

# %% wrong: appends before it looks -> <eos> is kept
# hint: <eos> is a sign for us, not a word of the text: stop without it.
# of: never looks for <eos>
# ~ max_len: => max_len and tokens[-1] != EOS:

# %% wrong: returns all tokens -> <sos> is kept
# hint: <sos> is there so that the model can begin. It is no part of the text that you return.
# of: a loop that ends in the middle
# ~ [1:] =>

# %% wrong: <sos> kept and counted -> <sos> is kept, and counted
# hint: <sos> is no part of the text that you return, and not among its max_len words either.
# ~ - 1 < => <
# ~ [1:] =>

# %% wrong: without <sos> -> the model does not read <sos>
# hint: Every text that the model has learned from began with <sos>; without it the first word cannot be asked for.
# of: <sos> kept and counted
# ~ [SOS, *vocabulary.encode(prompt)] => vocabulary.encode(prompt)
# ~ (torch.tensor([tokens])) => (torch.tensor([tokens], dtype=torch.long))

# %% wrong: max_len new words -> max_len counts the new words only
# hint: max_len is the length of the whole text, prompt included.
# of: a loop that ends in the middle
# ~ while len(tokens) - 1 < max_len => for _ in range(max_len)

# %% wrong: <= max_len -> one word too many
# hint: The text may have max_len words and has one more: look at when the loop ends.
# ~ < max_len => <= max_len

# %% wrong: <sos> counted -> one word too few
# hint: The text may have max_len words and has one less. <sos> is not counted.
# ~ - 1 < => <

# %% wrong: the new words only -> the prompt is not returned
# hint: The text begins with the words of the prompt; you return only what follows them.
#      tokens = [SOS, *vocabulary.encode(prompt)]
# +    given = len(tokens)
# ...
# -    return tokens[1:]
# +    return tokens[given:]

# %% wrong: vocabulary.numbers[word] -> a word that nobody knows is an error
# hint: vocabulary.numbers has no entry for it. vocabulary.encode gives <oov> for unknown words.
# ~ [SOS, *vocabulary.encode(prompt)] => [SOS] + [vocabulary.numbers[word] for word in vocabulary.split(prompt)]

# %% wrong: unknown words dropped -> a word that nobody knows is left out
# hint: The model should know that there is a word, even if it does not know which: <oov> stands for it.
# ~ vocabulary.encode(prompt) => (number for number in vocabulary.encode(prompt) if number != OOV)

# %% wrong: no case for 0 -> temperature 0 divides by zero
# hint: At temperature 0 there is nothing to draw: take the most probable word, argmax.
# -        if temperature == 0:
# -            word = int(logits.argmax())
# -        else:
# -            word = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))
# +        word = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))

# %% wrong: 0 becomes 0.01 -> at temperature 0 words are drawn
# hint: A small temperature in place of 0 still draws, and where two words are nearly as probable it draws the wrong one.
# hint: At 0 take the argmax.
# of: no case for 0
# ~ (logits / temperature, => (logits / max(temperature, 0.01),

# %% wrong: 0 becomes 1 ->
# of: no case for 0
# ~ (logits / temperature, => (logits / (temperature or 1),

# %% wrong: argmax always -> always the same word
# hint: Nothing is left to chance: the most probable word is taken, or `torch.manual_seed` makes every draw the same.
# hint: Where the temperature is not 0, divide the logits by it, take the softmax, and draw anew.
# of: no case for 0
# -        logits = model(torch.tensor([tokens]))[0, -1]
# -        word = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))
# +        word = int(model(torch.tensor([tokens]))[0, -1].argmax())

# %% wrong: multiplies -> the logits are multiplied by the temperature
# hint: A high temperature must make the words more alike: divide.
# of: a loop that ends in the middle
# ~ / temperature => * temperature

# %% wrong: probabilities divided -> the temperature is ignored where it is not 0
# hint: Dividing probabilities, or not dividing at all, leaves the odds as they are. Divide the logits, before the
# hint: softmax.
# ~ (logits / temperature, dim=-1), => (logits, dim=-1) / temperature,

# %% wrong: the model is asked once -> what is written is not read again
# hint: The logits are those of the prompt, for every word. Each new word depends on the words before it: call the model
# hint: inside the loop, with all that is written so far.
# of: never writes a special token
#      text = vocabulary.encode(prompt)
# +    logits = model(torch.tensor([[SOS, *text]]))[0, -1]
# ...
# -        logits = model(torch.tensor([[SOS, *text]]))[0, -1].clone()
# -        logits[[0, SOS, OOV]] = -torch.inf

# %% wrong: row 0 -> the first row of the logits
# hint: Row 0 knows <sos> only. The last row has read the whole text so far.
# of: a loop that ends in the middle
# ~ [0, -1] => [0][0]

# %% wrong: greedy below 0.3 ->
# of: never writes a special token
# -        logits = model(torch.tensor([[SOS, *text]]))[0, -1].clone()
# -        logits[[0, SOS, OOV]] = -torch.inf
# -        if temperature == 0:
# +        logits = model(torch.tensor([[SOS, *text]]))[0, -1]
# +        if temperature <= 0.3:

# %% wrong: any word, where it is hot ->
# -        logits = model(torch.tensor([[SOS, *text]]))[0, -1].clone()
# -        logits[[0, SOS, OOV]] = -torch.inf
# +        logits = model(torch.tensor([[SOS, *text]]))[0, -1]
# ...
#              word = int(logits.argmax())
# +        elif temperature > 1.5:
# +            word = int(torch.randint(len(logits), (1,)))

# %% wrong: small letters, cut at blanks ->
# of: greedy below 0.3
# ~ vocabulary.encode(prompt) => [vocabulary.numbers.get(word, OOV) for word in prompt.lower().split()]
# ~ <= 0.3 => == 0

# %% wrong: stops at <oov> too ->
# ~ <= 0.3 => == 0
# ~ == EOS => in (EOS, OOV)

# %% wrong: a long prompt is cut ->
# ~ (prompt) => (prompt)[:max_len]
# ~ <= 0.3 => == 0


# %% wrong: chance begins anew in each call ->
@torch.no_grad()
def generate(model, vocabulary, prompt, max_len, temperature):
    chance = torch.Generator().manual_seed(0)
    tokens = [SOS, *vocabulary.encode(prompt)]
    while len(tokens) - 1 < max_len:
        logits = model(torch.tensor([tokens]))[0, -1]
        if temperature == 0:
            number = int(logits.argmax())
        else:
            number = int(torch.multinomial((logits / temperature).softmax(dim=-1), 1, generator=chance))
        if number == EOS:
            break
        tokens.append(number)
    return tokens[1:]


# %% wrong: the last 32 words ->
@torch.no_grad()
def generate(model: LanguageModel, vocabulary: Vocabulary, prompt: str, max_len: int, temperature: float) -> list[int]:
    numbers = list(vocabulary.encode(prompt))
    while len(numbers) < max_len:
        seen = [SOS, *numbers][-32:]
        scores = model(torch.tensor([seen]))[0, -1]
        if temperature == 0:
            number = scores.argmax().item()
        else:
            number = torch.multinomial((scores / temperature).softmax(dim=-1), 1).item()
        if number == EOS:
            break
        numbers.append(number)
    return numbers


# %% wrong: drawn among the best fifty ->
@torch.no_grad()
def generate(model: LanguageModel, vocabulary: Vocabulary, prompt: str, max_len: int, temperature: float) -> list[int]:
    numbers = [SOS, *vocabulary.encode(prompt)]
    while len(numbers) <= max_len:
        row = model(torch.tensor([numbers]))[0, -1]
        if temperature == 0:
            word = row.argmax().item()
        else:
            best, words = row.topk(min(50, len(row)))
            word = words[torch.multinomial((best / temperature).softmax(dim=-1), 1)].item()
        if word == EOS:
            break
        numbers.append(word)
    return numbers[1:]


# %% wrong: a prompt of at most 256 words ->
@torch.no_grad()
def generate(model, vocabulary, prompt, max_len, temperature):
    tokens = [SOS, *vocabulary.encode(prompt)[:256]]
    while len(tokens) - 1 < max_len:
        logits = model(torch.tensor([tokens]))[0, -1]
        if temperature == 0:
            following = int(logits.argmax())
        else:
            following = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))
        if following == EOS:
            break
        tokens.append(following)
    return tokens[1:]


# %% wrong: an empty text does not end ->
# of: a loop that ends in the middle
# ~ EOS => EOS and len(tokens) > 1
