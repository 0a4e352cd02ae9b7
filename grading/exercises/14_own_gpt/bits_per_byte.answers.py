# %% right: the sum of all positions
def bits_per_byte(model, tokens, n_bytes):
    training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(tokens[:, :-1])
    model.train(training)
    nats = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")
    return nats.item() / math.log(2) / n_bytes


# %% right: the mean times the number of positions
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
# other: It needs memory for the logits of only one text, and adds up log-probabilities one can look at; the solution runs the model once for all texts, and reuses `cross_entropy`.
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


# %% wrong: mean over tokens -> bits per token
# hint: The mean over tokens depends on how long the pieces are: a larger vocabulary would look worse. Divide the sum by
# hint: the bytes.
# ~ , reduction="sum" =>
# ~ (2) / n_bytes => (2)

# %% wrong: mean divided by the bytes -> the mean in place of the sum
# hint: cross_entropy returns the mean over all positions unless told otherwise: reduction='sum'.
# ~ , reduction="sum" =>

# %% wrong: no log 2 -> nats in place of bits
# hint: PyTorch takes natural logarithms. One bit is log(2) = 0.693 nats: divide by it.
# ~ math.log(2) / n_bytes => n_bytes

# %% wrong: target is the input -> each token is to guess itself
# hint: The answer at each position is the next token: the model reads tokens[:, :-1], and is asked for tokens[:, 1:].
# ~ [:, :-1] =>
# ~ [:, 1:] =>


# %% wrong: reshape to the axes that are wanted -> reshape in place of transpose
# hint: `reshape(b, V, n)` cuts the same numbers into other rows. To exchange two axes take `transpose(1, 2)`; or
# hint: flatten logits and targets.
def bits_per_byte(model, tokens, n_bytes):
    mode = model.training
    model.train(False)
    with torch.no_grad():
        scores = model(tokens[:, :-1])
        b, n, v = scores.shape
        total = F.cross_entropy(scores.reshape(b, v, n), tokens[:, 1:], reduction="sum")
    model.train(mode)
    return float(total) / math.log(2) / n_bytes


# %% wrong: the model reads the last token too -> the model reads the last token, too
# hint: Nothing is asked behind it, and a model with no more positions than it needs stops. Give it tokens[:, :-1].
# ~ (tokens[:, :-1]) => (tokens)[:, :-1]
# ~ nats = => loss =
# ~ nats => loss

# %% wrong: no eval -> dropout stays on
# hint: In training mode, parts of the model are switched off by chance. Call model.eval() before you measure, and put
# hint: the mode back afterwards.
# -    model.eval()

# %% wrong: the weights move -> gradients are recorded
# hint: For each number that it computes, PyTorch keeps what a backward pass would need, which takes memory and time:
# hint: run the model under `with torch.no_grad():`.
# -    with torch.no_grad():
# -        logits = model(tokens[:, :-1])
# +    logits = model(tokens[:, :-1])
# ...
#      nats = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")
# +    nats.backward()
# +    with torch.no_grad():
# +        for parameter in model.parameters():
# +            parameter -= 0.01 * parameter.grad

# %% wrong: with gradients, detached afterwards -> gradients are recorded
# -    with torch.no_grad():
# -        logits = model(tokens[:, :-1])
# +    logits = model(tokens[:, :-1])

# %% wrong: divided by the texts too -> the mean of the texts in place of the sum
# hint: n_bytes counts the bytes of all texts together: divide the sum over all texts by it.
# ~ / n_bytes => / n_bytes / len(tokens)

# %% wrong: always left in training mode ->
# ~ (training) => ()


# %% wrong: probabilities are cut off at 1e-8 ->
def bits_per_byte(model: nn.Module, tokens: Tensor, n_bytes: int) -> float:
    was = model.training
    model.eval()
    with torch.no_grad():
        chances = model(tokens[:, :-1]).softmax(dim=-1)  # (b, n, V)
    model.train(was)
    right = chances.gather(-1, tokens[:, 1:, None]).clamp(min=1e-8)
    return -right.log2().sum().item() / n_bytes


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
#  def bits_per_byte(model, tokens, n_bytes):
# +    tokens = tokens[:64]

# %% wrong: at most 256 tokens of a row are read ->
#  def bits_per_byte(model, tokens, n_bytes):
# +    tokens = tokens[:, :257]
