# %% right: the sum of all places
def bits_per_byte(model, tokens, n_bytes):
    training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(tokens[:, :-1])
    model.train(training)
    nats = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")
    return nats.item() / math.log(2) / n_bytes


# %% right: the mean times the number of places
@torch.no_grad()
def bits_per_byte(model, tokens, n_bytes):
    was_training = model.training
    model.eval()
    logits = model(tokens[:, :-1])
    target = tokens[:, 1:]
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), target.reshape(-1))
    if was_training:
        model.train()
    return float(loss) * target.numel() / n_bytes / math.log(2)


# %% right: logarithms by hand, text by text
def bits_per_byte(model, tokens, n_bytes):
    mode, bits = model.training, 0.0
    with torch.inference_mode():
        model.train(False)
        for text in tokens:
            chances = torch.log_softmax(model(text[None, :-1])[0], dim=-1)
            bits -= chances.gather(1, text[1:, None]).sum().item() / math.log(2)
    model.train(mode)
    return bits / n_bytes


# %% right: log2
def bits_per_byte(model, tokens, n_bytes):
    training = model.training
    try:
        with torch.no_grad():
            probabilities = model.eval()(tokens[:, :-1]).softmax(dim=-1)
        right = probabilities.gather(-1, tokens[:, 1:].unsqueeze(-1))
        return -right.log2().sum() / n_bytes
    finally:
        model.train(training)


# %% wrong: mean over tokens -> bits per token
def bits_per_byte(model, tokens, n_bytes):
    training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(tokens[:, :-1])
    model.train(training)
    nats = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    return nats.item() / math.log(2)


# %% wrong: mean divided by the bytes -> the mean in place of the sum
# of: the sum of all places
# -    nats = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")
# +    nats = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


# %% wrong: no log 2 -> nats in place of bits
# of: the sum of all places
# -    return nats.item() / math.log(2) / n_bytes
# +    return nats.item() / n_bytes


# %% wrong: target is the input -> each token is to guess itself
def bits_per_byte(model, tokens, n_bytes):
    training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(tokens)
    model.train(training)
    nats = F.cross_entropy(logits.flatten(0, 1), tokens.flatten(), reduction="sum")
    return nats.item() / math.log(2) / n_bytes


# %% wrong: no eval -> dropout stays on
# of: the sum of all places
# -    model.eval()


# %% wrong: divided by the texts too -> the mean of the texts in place of the sum
# of: the sum of all places
# -    return nats.item() / math.log(2) / n_bytes
# +    return nats.item() / math.log(2) / n_bytes / len(tokens)


# %% wrong: left in evaluation mode ->
# of: the sum of all places
# -    model.train(training)


# %% wrong: always left in training mode ->
# of: the sum of all places
# -    model.train(training)
# +    model.train()


# %% wrong: the first text only ->
# of: the sum of all places
# -    nats = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")
# +    nats = F.cross_entropy(logits[0], tokens[0, 1:], reduction="sum")


# %% wrong: log of ten ->
# of: the sum of all places
# -    return nats.item() / math.log(2) / n_bytes
# +    return nats.item() / math.log(10) / n_bytes


# %% wrong: divided by the tokens and the bytes ->
# of: the sum of all places
# -    return nats.item() / math.log(2) / n_bytes
# +    return nats.item() / math.log(2) / (n_bytes + tokens.numel())


# %% wrong: the weights move -> gradients are recorded
def bits_per_byte(model, tokens, n_bytes):
    training = model.training
    model.eval()
    logits = model(tokens[:, :-1])
    model.train(training)
    nats = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")
    nats.backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= 0.01 * parameter.grad
    return nats.item() / math.log(2) / n_bytes


# %% wrong: the last token only ->
# of: the sum of all places
# -    nats = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")
# +    nats = F.cross_entropy(logits[:, -1], tokens[:, -1], reduction="sum")


# %% wrong: with gradients, detached afterwards -> gradients are recorded
# of: the sum of all places
# -    with torch.no_grad():
# -        logits = model(tokens[:, :-1])
# +    logits = model(tokens[:, :-1])


# %% right: the weights do not train meanwhile
def bits_per_byte(model, tokens, n_bytes):
    training, trains = model.training, [weight.requires_grad for weight in model.parameters()]
    model.eval().requires_grad_(False)
    logits = model(tokens[:, :-1])
    for weight, before in zip(model.parameters(), trains):
        weight.requires_grad_(before)
    model.train(training)
    nats = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")
    return nats.item() / math.log(2) / n_bytes


# %% wrong: the model reads the last token too -> the model reads the last token, too
def bits_per_byte(model, tokens, n_bytes):
    training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(tokens)[:, :-1]
    model.train(training)
    loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")
    return loss.item() / math.log(2) / n_bytes


# %% wrong: probabilities are cut off at 1e-8 ->
def bits_per_byte(model: nn.Module, tokens: Tensor, n_bytes: int) -> float:
    was = model.training
    model.eval()
    with torch.no_grad():
        chances = model(tokens[:, :-1]).softmax(dim=-1)  # (b, n, V)
    model.train(was)
    right = chances.gather(-1, tokens[:, 1:, None]).clamp(min=1e-8)
    return -right.log2().sum().item() / n_bytes


# %% wrong: the last rows are left out of a large question ->
def bits_per_byte(model, tokens, n_bytes):
    was, nats = model.training, 0.0
    size = min(32, len(tokens))
    model.eval()
    with torch.no_grad():
        for part in torch.utils.data.DataLoader(tokens, batch_size=size, drop_last=True):
            logits = model(part[:, :-1])
            nats += F.cross_entropy(logits.flatten(0, 1), part[:, 1:].flatten(), reduction="sum").item()
    model.train(was)
    return nats / math.log(2) / n_bytes


# %% wrong: gradients stay switched off ->
def bits_per_byte(model, tokens, n_bytes):
    was = model.training
    model.eval()
    torch.set_grad_enabled(False)
    logits = model(tokens[:, :-1])
    nats = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")
    model.train(was)
    return nats.item() / math.log(2) / n_bytes


# %% wrong: at most 64 rows are read ->
# of: the sum of all places
# -def bits_per_byte(model, tokens, n_bytes):
# +def bits_per_byte(model, tokens, n_bytes):
# +    tokens = tokens[:64]


# %% wrong: at most 256 tokens of a row are read ->
# of: the sum of all places
# -def bits_per_byte(model, tokens, n_bytes):
# +def bits_per_byte(model, tokens, n_bytes):
# +    tokens = tokens[:, :257]


# %% wrong: reshape to the axes that are wanted -> reshape in place of transpose
def bits_per_byte(model, tokens, n_bytes):
    mode = model.training
    model.train(False)
    with torch.no_grad():
        scores = model(tokens[:, :-1])
        b, n, v = scores.shape
        total = F.cross_entropy(scores.reshape(b, v, n), tokens[:, 1:], reduction="sum")
    model.train(mode)
    return float(total) / math.log(2) / n_bytes
