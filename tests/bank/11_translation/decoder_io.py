# %% right: lists that are filled
def decoder_io(target):
    n = max(len(words) for words in target)
    read, say = [], []
    for words in target:
        missing = n - len(words)
        read.append([SOS] + words + [PAD] * missing)
        say.append(words + [EOS] + [IGNORE] * missing)
    return torch.tensor(read), torch.tensor(say)


# %% right: pad_sequence
from torch.nn.utils.rnn import pad_sequence


def decoder_io(target):
    read = [torch.tensor([SOS, *words]) for words in target]
    say = [torch.tensor([*words, EOS]) for words in target]
    return pad_sequence(read, batch_first=True, padding_value=PAD), pad_sequence(
        say, batch_first=True, padding_value=IGNORE
    )


# %% right: one tensor, shifted
def decoder_io(target):
    longest = max(map(len, target))
    whole = torch.full((len(target), longest + 2), PAD)
    for row, words in enumerate(target):
        whole[row, : len(words) + 2] = torch.tensor([SOS, *words, EOS])
    read, say = whole[:, :-1].clone(), whole[:, 1:].clone()
    read[read == EOS] = PAD
    say[say == PAD] = IGNORE
    return read, say


# %% wrong: the same twice -> the output is not shifted
# of: lists that are filled
# -        say.append(words + [EOS] + [IGNORE] * missing)
# +        say.append([SOS] + words + [IGNORE] * missing)


# %% wrong: pads the output with PAD -> the padding is scored
# of: pad_sequence
# -        say, batch_first=True, padding_value=IGNORE
# +        say, batch_first=True, padding_value=PAD


# %% wrong: the target of a slice, pad kept -> the padding is scored
# of: one tensor, shifted
# -    say[say == PAD] = IGNORE


# %% wrong: IGNORE everywhere -> the input is filled with IGNORE
# of: lists that are filled
# -        read.append([SOS] + words + [PAD] * missing)
# +        read.append([SOS] + words + [IGNORE] * missing)


# %% wrong: eos in the last column -> <eos> stands at the end of the padding
# of: lists that are filled
# -        say.append(words + [EOS] + [IGNORE] * missing)
# +        say.append(words + [IGNORE] * missing + [EOS])


# %% wrong: no eos -> <eos> is lost
# of: lists that are filled
# -        say.append(words + [EOS] + [IGNORE] * missing)
# +        say.append(words + [IGNORE] * (missing + 1))


# %% wrong: shifts the words themselves -> <eos> is lost, and the last word is not read
def decoder_io(target):
    n = max(len(words) for words in target)
    read = [([SOS] + words)[:-1] + [PAD] * (n - len(words)) for words in target]
    say = [words + [IGNORE] * (n - len(words)) for words in target]
    return torch.tensor(read), torch.tensor(say)


# %% wrong: eos is read -> <eos> is in the input too
# of: pad_sequence
# -    read = [torch.tensor([SOS, *words]) for words in target]
# +    read = [torch.tensor([SOS, *words, EOS]) for words in target]


# %% wrong: the wrong order -> input and output are exchanged
# of: lists that are filled
# -    return torch.tensor(read), torch.tensor(say)
# +    return torch.tensor(say), torch.tensor(read)


# %% wrong: a slice of the padded batch leaves eos in the input -> short sentences read <eos>
# of: one tensor, shifted
# -    read[read == EOS] = PAD


# %% wrong: lists in place of tensors ->
# of: lists that are filled
# -    return torch.tensor(read), torch.tensor(say)
# +    return read, say


# %% wrong: padding on the left ->
def decoder_io(target):
    n = max(len(words) for words in target)
    read, say = [], []
    for words in target:
        missing = n - len(words)
        read.append([PAD] * missing + [SOS] + words)
        say.append([IGNORE] * missing + words + [EOS])
    return torch.tensor(read), torch.tensor(say)


# %% wrong: as long as the first ->
def decoder_io(target):
    n = len(target[0])
    x = [[SOS, *w] + [PAD] * (n - len(w)) for w in target]
    y = [[*w, EOS] + [IGNORE] * (n - len(w)) for w in target]
    return torch.tensor(x), torch.tensor(y)


# %% wrong: float tensors ->
def decoder_io(target):
    n = max(map(len, target)) + 1
    read, say = torch.full((len(target), n), float(PAD)), torch.full((len(target), n), float(IGNORE))
    for row, words in enumerate(target):
        read[row, 0] = SOS
        read[row, 1 : len(words) + 1] = torch.tensor(words).float()
        say[row, : len(words)] = torch.tensor(words).float()
        say[row, len(words)] = EOS
    return read, say


# %% wrong: int16 is too small for a large vocabulary ->
def decoder_io(target):
    n = max(map(len, target))
    read = torch.tensor([[SOS, *words] + [PAD] * (n - len(words)) for words in target])
    say = torch.tensor([[*words, EOS] + [IGNORE] * (n - len(words)) for words in target])
    return read.to(torch.int16), say.to(torch.int16)


# %% wrong: pads, then cuts -> short sentences read <eos>
def decoder_io(target):
    n = max(map(len, target)) + 2
    whole = torch.tensor([[SOS, *words, EOS] + [PAD] * (n - 2 - len(words)) for words in target])
    return whole[:, :-1], whole[:, 1:].masked_fill(whole[:, 1:] == PAD, IGNORE)


# %% wrong: eos and sos are written into the lists ->
def decoder_io(target):
    n = max(map(len, target)) + 1
    read = torch.tensor([[SOS, *words] + [PAD] * (n - 1 - len(words)) for words in target])
    for words in target:
        words.append(EOS)
    say = torch.tensor([words + [IGNORE] * (n - len(words)) for words in target])
    return read, say


# %% wrong: a sentence is looked for in its batch ->
def decoder_io(target: list[list[int]]) -> tuple[Tensor, Tensor]:
    n = max(len(words) for words in target)
    read = torch.full((len(target), n + 1), PAD)
    say = torch.full((len(target), n + 1), IGNORE)
    for words in target:
        row = target.index(words)
        read[row, : len(words) + 1] = torch.tensor([SOS, *words])
        say[row, : len(words) + 1] = torch.tensor([*words, EOS])
    return read, say


# %% wrong: sentences of at most 32 words ->
def decoder_io(target):
    target = [words[:32] for words in target]
    width = max(map(len, target)) + 1
    read = torch.full((len(target), width), PAD)
    wanted = torch.full((len(target), width), IGNORE)
    for row, words in enumerate(target):
        read[row, : len(words) + 1] = torch.tensor([SOS, *words])
        wanted[row, : len(words) + 1] = torch.tensor([*words, EOS])
    return read, wanted


# %% wrong: at most 64 sentences ->
def decoder_io(target):
    target = target[:64]
    width = max(map(len, target)) + 1
    read = torch.full((len(target), width), PAD)
    wanted = torch.full((len(target), width), IGNORE)
    for row, words in enumerate(target):
        read[row, : len(words) + 1] = torch.tensor([SOS, *words])
        wanted[row, : len(words) + 1] = torch.tensor([*words, EOS])
    return read, wanted
