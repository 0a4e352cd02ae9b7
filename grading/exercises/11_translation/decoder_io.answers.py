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
# other: PyTorch fills up the rows, so that no length is counted; the solution shows how they are filled, and makes two tensors in place of two for each sentence.
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
# hint: Under each word stands the same word: the decoder would learn to copy what it has just read.
# ~ words + [EOS] => [SOS] + words

# %% wrong: pads the output with PAD -> the padding is scored
# hint: Filled with PAD, the output asks the model to say <pad> after <eos>, and most of what it learns from short
# hint: sentences is that. Fill the output with IGNORE.
# of: pad_sequence
# ~ IGNORE => PAD

# %% wrong: IGNORE everywhere -> the input is filled with IGNORE
# hint: IGNORE is -100, which is no token: an embedding has no such row. Fill the input with PAD.
# of: lists that are filled
# ~ PAD => IGNORE

# %% wrong: eos in the last column -> <eos> stands at the end of the padding
# hint: <eos> comes right after the last word of its own sentence; what follows it is not scored.
# ~ [EOS] + [IGNORE] * missing => [IGNORE] * missing + [EOS]

# %% wrong: no eos -> <eos> is lost
# hint: The last word has no answer under it, so the model never learns when to stop.
# ~ [EOS] + [IGNORE] * missing => [IGNORE] * (missing + 1)


# %% wrong: shifts the words themselves -> <eos> is lost, and the last word is not read
# hint: The model must read the last word, too: what follows it is <eos>.
def decoder_io(target):
    n = max(len(words) for words in target)
    read = [([SOS] + words)[:-1] + [PAD] * (n - len(words)) for words in target]
    say = [words + [IGNORE] * (n - len(words)) for words in target]
    return torch.tensor(read), torch.tensor(say)


# %% wrong: eos is read -> <eos> is in the input too
# hint: Nobody asks what follows <eos>: the input ends with the last word.
# of: pad_sequence
# ~ [SOS, *words] => [SOS, *words, EOS]

# %% wrong: a slice of the padded batch leaves eos in the input -> short sentences read <eos>
# hint: With <eos> behind each sentence, cutting the last column takes it away from the longest sentence only. The input
# hint: of a sentence ends with its last word, then comes PAD.
# of: one tensor, shifted
# -    read[read == EOS] = PAD

# %% wrong: the wrong order -> input and output are exchanged
# hint: The input begins with <sos>, the output ends with <eos>.
# of: lists that are filled
# ~ (read), torch.tensor(say) => (say), torch.tensor(read)

# %% wrong: padding on the left ->
# ~ [SOS] + words + [PAD] * missing => [PAD] * missing + [SOS] + words
# ~ words + [EOS] + [IGNORE] * missing => [IGNORE] * missing + words + [EOS]


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


# %% wrong: eos and sos are written into the lists ->
def decoder_io(target):
    n = max(map(len, target)) + 1
    read = torch.tensor([[SOS, *words] + [PAD] * (n - 1 - len(words)) for words in target])
    for words in target:
        words.append(EOS)
    say = torch.tensor([words + [IGNORE] * (n - len(words)) for words in target])
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
# of: sentences of at most 32 words
# ~ [words[:32] for words in target] => target[:64]
