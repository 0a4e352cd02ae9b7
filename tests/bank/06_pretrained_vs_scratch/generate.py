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


# %% wrong: never looks for <eos> -> it never stops at <eos>
@torch.no_grad()
def generate(model, vocabulary, prompt, max_len, temperature):
    tokens = [SOS, *vocabulary.encode(prompt)]
    while len(tokens) - 1 < max_len:
        logits = model(torch.tensor([tokens]))[0, -1]
        if temperature == 0:
            tokens.append(int(logits.argmax()))
        else:
            tokens.append(int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1)))
    return tokens[1:]


# %% wrong: appends before it looks -> <eos> is kept
# of: never looks for <eos>
# -    while len(tokens) - 1 < max_len:
# +    while len(tokens) - 1 < max_len and tokens[-1] != EOS:


# %% wrong: returns all tokens -> <sos> is kept
# of: a loop that ends in the middle
# -    return tokens[1:]
# +    return tokens


# %% wrong: max_len new words -> max_len counts the new words only
# of: a loop that ends in the middle
# -    while len(tokens) - 1 < max_len:
# +    for _ in range(max_len):


# %% wrong: <sos> counted -> one word too few
# of: a loop that ends in the middle
# -    while len(tokens) - 1 < max_len:
# +    while len(tokens) < max_len:


# %% wrong: vocabulary.numbers[word] -> a word that nobody knows is an error
# of: a loop that ends in the middle
# -    tokens = [SOS, *vocabulary.encode(prompt)]
# +    tokens = [SOS] + [vocabulary.numbers[word] for word in vocabulary.split(prompt)]


# %% wrong: argmax always -> always the same word
@torch.no_grad()
def generate(model, vocabulary, prompt, max_len, temperature):
    tokens = [SOS, *vocabulary.encode(prompt)]
    while len(tokens) - 1 < max_len:
        word = int(model(torch.tensor([tokens]))[0, -1].argmax())
        if word == EOS:
            break
        tokens.append(word)
    return tokens[1:]


# %% wrong: no case for 0 -> temperature 0 divides by zero
# of: a loop that ends in the middle
# -        if temperature == 0:
# -            word = int(logits.argmax())
# -        else:
# -            word = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))
# +        word = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))


# %% wrong: multiplies -> the logits are multiplied by the temperature
# of: a loop that ends in the middle
# -            word = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))
# +            word = int(torch.multinomial(torch.softmax(logits * temperature, dim=-1), 1))


# %% wrong: probabilities divided -> the temperature is ignored where it is not 0
# of: a loop that ends in the middle
# -            word = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))
# +            word = int(torch.multinomial(torch.softmax(logits, dim=-1) / temperature, 1))


# %% wrong: without <sos> -> the model does not read <sos>
@torch.no_grad()
def generate(model, vocabulary, prompt, max_len, temperature):
    tokens = vocabulary.encode(prompt)
    while len(tokens) < max_len:
        logits = model(torch.tensor([tokens], dtype=torch.long))[0, -1]
        if temperature == 0:
            word = int(logits.argmax())
        else:
            word = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))
        if word == EOS:
            break
        tokens.append(word)
    return tokens


# %% wrong: the new words only -> the prompt is not returned
# of: a loop that ends in the middle
#      tokens = [SOS, *vocabulary.encode(prompt)]
# +    given = len(tokens)
# ...
# -    return tokens[1:]
# +    return tokens[given:]


# %% wrong: a text in place of numbers ->
# of: argmax always
# -    return tokens[1:]
# +    return vocabulary.decode(tokens)


# %% wrong: a loop without an end ->
def generate(model, vocabulary, prompt, max_len, temperature):
    tokens = [SOS, *vocabulary.encode(prompt)]
    while tokens[-1] != EOS and len(tokens) < 200:
        tokens.append(int(model(torch.tensor([tokens[-30:]]))[0, -1].argmax()))
    return tokens[1:]


# %% wrong: <= max_len -> one word too many
# of: a loop that ends in the middle
# -    while len(tokens) - 1 < max_len:
# +    while len(tokens) - 1 <= max_len:


# %% wrong: unknown words dropped -> a word that nobody knows is left out
# of: a loop that ends in the middle
# -    tokens = [SOS, *vocabulary.encode(prompt)]
# +    tokens = [SOS, *(number for number in vocabulary.encode(prompt) if number != OOV)]


# %% wrong: row 0 -> the first row of the logits
# of: a loop that ends in the middle
# -        logits = model(torch.tensor([tokens]))[0, -1]
# +        logits = model(torch.tensor([tokens]))[0][0]


# %% wrong: the model is asked once -> what is written is not read again
@torch.no_grad()
def generate(model, vocabulary, prompt, max_len, temperature):
    text = vocabulary.encode(prompt)
    logits = model(torch.tensor([[SOS, *text]]))[0, -1]
    while len(text) < max_len:
        if temperature == 0:
            word = int(logits.argmax())
        else:
            word = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))
        if word == EOS:
            break
        text.append(word)
    return text


# %% wrong: greedy below 1 ->
@torch.no_grad()
def generate(model, vocabulary, prompt, max_len, temperature):
    text = vocabulary.encode(prompt)
    while len(text) < max_len:
        logits = model(torch.tensor([[SOS, *text]]))[0, -1]
        if temperature < 1:
            word = int(logits.argmax())
        else:
            word = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))
        if word == EOS:
            break
        text.append(word)
    return text


# %% wrong: the temperature squared ->
@torch.no_grad()
def generate(model, vocabulary, prompt, max_len, temperature):
    text = vocabulary.encode(prompt)
    while len(text) < max_len:
        logits = model(torch.tensor([[SOS, *text]]))[0, -1]
        if temperature == 0:
            word = int(logits.argmax())
        else:
            word = int(torch.multinomial(torch.softmax(logits / temperature**2, dim=-1), 1))
        if word == EOS:
            break
        text.append(word)
    return text


# %% wrong: the root of the temperature ->
# of: the temperature squared
# -            word = int(torch.multinomial(torch.softmax(logits / temperature**2, dim=-1), 1))
# +            word = int(torch.multinomial(torch.softmax(logits / temperature**0.5, dim=-1), 1))


# %% wrong: a temperature of at most 1 ->
# of: the temperature squared
# -            word = int(torch.multinomial(torch.softmax(logits / temperature**2, dim=-1), 1))
# +            word = int(torch.multinomial(torch.softmax(logits / min(temperature, 1), dim=-1), 1))


# %% wrong: greedy below 0.3 ->
# of: greedy below 1
# -        if temperature < 1:
# +        if temperature <= 0.3:


# %% wrong: any word, where it is hot ->
@torch.no_grad()
def generate(model, vocabulary, prompt, max_len, temperature):
    text = vocabulary.encode(prompt)
    while len(text) < max_len:
        logits = model(torch.tensor([[SOS, *text]]))[0, -1]
        if temperature == 0:
            word = int(logits.argmax())
        elif temperature > 1.5:
            word = int(torch.randint(len(logits), (1,)))
        else:
            word = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))
        if word == EOS:
            break
        text.append(word)
    return text


# %% wrong: the ten best only ->
@torch.no_grad()
def generate(model, vocabulary, prompt, max_len, temperature):
    text = vocabulary.encode(prompt)
    while len(text) < max_len:
        logits = model(torch.tensor([[SOS, *text]]))[0, -1]
        best, numbers = logits.topk(10)
        if temperature == 0:
            word = int(logits.argmax())
        else:
            word = int(numbers[torch.multinomial(torch.softmax(best / temperature, dim=-1), 1)])
        if word == EOS:
            break
        text.append(word)
    return text


# %% wrong: seeds at the start ->
@torch.no_grad()
def generate(model, vocabulary, prompt, max_len, temperature):
    torch.manual_seed(0)
    text = vocabulary.encode(prompt)
    while len(text) < max_len:
        logits = model(torch.tensor([[SOS, *text]]))[0, -1]
        if temperature == 0:
            word = int(logits.argmax())
        else:
            word = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))
        if word == EOS:
            break
        text.append(word)
    return text


# %% wrong: seeds before every word -> always the same word
@torch.no_grad()
def generate(model, vocabulary, prompt, max_len, temperature):
    text = vocabulary.encode(prompt)
    while len(text) < max_len:
        logits = model(torch.tensor([[SOS, *text]]))[0, -1]
        if temperature == 0:
            word = int(logits.argmax())
        else:
            torch.manual_seed(0)
            word = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))
        if word == EOS:
            break
        text.append(word)
    return text


# %% wrong: cut at blanks, capitals kept ->
# of: seeds at the start
# -    torch.manual_seed(0)
# -    text = vocabulary.encode(prompt)
# +    text = [vocabulary.numbers.get(word, OOV) for word in prompt.split()]


# %% wrong: small letters, cut at blanks ->
# of: seeds at the start
# -    torch.manual_seed(0)
# -    text = vocabulary.encode(prompt)
# +    text = [vocabulary.numbers.get(word, OOV) for word in prompt.lower().split()]


# %% wrong: stops at <oov> too ->
@torch.no_grad()
def generate(model, vocabulary, prompt, max_len, temperature):
    text = vocabulary.encode(prompt)
    while len(text) < max_len:
        logits = model(torch.tensor([[SOS, *text]]))[0, -1]
        if temperature == 0:
            word = int(logits.argmax())
        else:
            word = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))
        if word in (EOS, OOV):
            break
        text.append(word)
    return text


# %% wrong: never writes a special token -> special words are never written
@torch.no_grad()
def generate(model, vocabulary, prompt, max_len, temperature):
    text = vocabulary.encode(prompt)
    while len(text) < max_len:
        logits = model(torch.tensor([[SOS, *text]]))[0, -1].clone()
        logits[[0, SOS, OOV]] = -torch.inf
        if temperature == 0:
            word = int(logits.argmax())
        else:
            word = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))
        if word == EOS:
            break
        text.append(word)
    return text


# %% wrong: reads the last eight tokens only ->
# of: never writes a special token
# -        logits = model(torch.tensor([[SOS, *text]]))[0, -1].clone()
# -        logits[[0, SOS, OOV]] = -torch.inf
# +        logits = model(torch.tensor([[SOS, *text][-8:]]))[0, -1]


# %% wrong: <sos> kept and counted -> <sos> is kept, and counted
# of: a loop that ends in the middle
# -    while len(tokens) - 1 < max_len:
# +    while len(tokens) < max_len:
# ...
# -    return tokens[1:]
# +    return tokens


# %% wrong: a long prompt is cut ->
# of: seeds at the start
# -    torch.manual_seed(0)
# -    text = vocabulary.encode(prompt)
# +    text = vocabulary.encode(prompt)[:max_len]


# %% wrong: the prompt only ->
def generate(model, vocabulary, prompt, max_len, temperature):
    return vocabulary.encode(prompt)


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
            best, places = row.topk(min(50, len(row)))
            word = places[torch.multinomial((best / temperature).softmax(dim=-1), 1)].item()
        if word == EOS:
            break
        numbers.append(word)
    return numbers[1:]


# %% wrong: the last 64 tokens are read ->
@torch.no_grad()
def generate(model: LanguageModel, vocabulary: Vocabulary, prompt: str, max_len: int, temperature: float) -> list[int]:
    numbers, context = [SOS, *vocabulary.encode(prompt)], 64
    while len(numbers) <= max_len:
        row = model(torch.tensor([numbers[-context:]]))[0, -1]
        if temperature == 0:
            word = row.argmax().item()
        else:
            word = torch.multinomial((row / temperature).softmax(dim=-1), 1).item()
        if word == EOS:
            break
        numbers.append(word)
    return numbers[1:]


# %% wrong: drawn among the best words, which have 70 % of the chances ->
# of: a loop that ends in the middle
# -    while len(tokens) - 1 < max_len:
# +    while len(tokens) <= max_len:
# ...
# -            word = int(torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1))
# +            p = (logits / temperature).softmax(-1).sort(descending=True)
# +            keep = p.values.cumsum(0) - p.values < 0.7
# +            word = int(p.indices[torch.multinomial(p.values * keep, 1)])


# %% right: the largest of logits and Gumbel noise
@torch.no_grad()
def generate(model, vocabulary, prompt, max_len, temperature):
    tokens = [SOS, *vocabulary.encode(prompt)]
    while len(tokens) <= max_len:
        logits = model(torch.tensor([tokens]))[0, -1]
        if temperature == 0:
            word = max(range(len(logits)), key=lambda n: float(logits[n]))
        else:
            noise = -torch.log(-torch.log(torch.rand(len(logits), dtype=torch.float64)))
            word = int((logits.double() / temperature + noise).argmax())
        if word == EOS:
            break
        tokens.append(word)
    return tokens[1:]


# %% wrong: words only -> special words are never written
# of: a loop that ends in the middle
# -        logits = model(torch.tensor([tokens]))[0, -1]
# +        logits = model(torch.tensor([tokens]))[0, -1]
# +        logits[[0, 1, 3]] = float("-inf")
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
# -        if word == EOS:
# +        if word == EOS and len(tokens) > 1:
