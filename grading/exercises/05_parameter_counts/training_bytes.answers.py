# %% right: each tensor by itself
def training_bytes(model):
    total = 0
    for p in model.parameters():
        weight = 4 * p.numel()
        total += 4 * weight if p.requires_grad else weight
    return total


# %% right: two counts
# other: Two counts, of all parameters and of those that learn, show what freezing saves: 12 of 16 bytes; the solution goes through the parameters only once.
def training_bytes(model):
    everything = sum(p.numel() for p in model.parameters())
    trains = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return 4 * everything + (4 + 8) * trains


# %% right: 16 bytes or 4
def training_bytes(model):
    return sum(p.numel() * (16 if p.requires_grad else 4) for p in model.parameters())


# %% right: all the tensors are made and measured
def training_bytes(model):
    tensors = []
    for p in model.parameters():
        tensors.append(p.float())
        if p.requires_grad:
            gradient, mean, mean_of_squares = (torch.zeros(p.shape) for _ in range(3))
            tensors += [gradient, mean, mean_of_squares]
    return sum(t.untyped_storage().nbytes() for t in tensors)


# %% wrong: weights, gradients, one moment -> one of the two moments is forgotten
# hint: You count 12 bytes for a number that trains. Weight, gradient and Adam's *two* moments are 16: the running mean
# hint: of the gradient and that of its square.
# of: two counts
# ~ everything + (4 + 8) * trains => (everything + trains + trains)


# %% wrong: plain gradient descent -> Adam's moments are forgotten
# hint: Adam keeps two more numbers for each one that trains: running means of the gradient and of its square.
def training_bytes(model):
    return sum(p.numel() * (8 if p.requires_grad else 4) for p in model.parameters())


# %% wrong: the size of the file -> only the weights are counted
# hint: Training keeps a gradient and two moments beside each weight.
def training_bytes(model):
    return 4 * sum(p.numel() for p in model.parameters())


# %% wrong: 16 bytes for all -> frozen parameters get gradients and moments
# hint: What is frozen keeps its weights only: 4 bytes and not 16.
def training_bytes(model):
    return 16 * sum(p.numel() for p in model.parameters())


# %% wrong: 16 bytes for what trains -> frozen weights take no memory
# hint: Frozen weights do not train, but they are there: 4 bytes each.
def training_bytes(model):
    return 16 * sum(p.numel() for p in model.parameters() if p.requires_grad)


# %% wrong: 4 for what trains, 16 for the rest -> the flag is turned round
# hint: requires_grad is True for a number that trains: this one takes 16 bytes, a frozen one 4.
def training_bytes(model):
    return sum(p.numel() * (4 if p.requires_grad else 16) for p in model.parameters())


# %% wrong: four numbers, but no bytes -> numbers are counted, not bytes
# hint: A float32 takes 4 bytes.
def training_bytes(model):
    return sum(p.numel() * (4 if p.requires_grad else 1) for p in model.parameters())


# %% wrong: 32 for a float32 -> bits in place of bytes
# hint: A float32 has 32 bits, which are 4 bytes.
def training_bytes(model):
    return 32 * sum(p.numel() * (4 if p.requires_grad else 1) for p in model.parameters())


# %% wrong: half precision -> two bytes for a number
# hint: A float32 takes 4 bytes; 2 would be a half precision number.
def training_bytes(model):
    return 2 * sum(p.numel() * (4 if p.requires_grad else 1) for p in model.parameters())


# %% wrong: a float of Python -> eight bytes for a number
# hint: A float32 takes 4 bytes; 8 would be a float64.
def training_bytes(model):
    return 8 * sum(p.numel() * (4 if p.requires_grad else 1) for p in model.parameters())


# %% wrong: element_size -> the bytes of the type that the numbers have now
# hint: The count is in float32, 4 bytes a number, also for a model that comes in another type: do not ask
# hint: element_size().
def training_bytes(model):
    return sum(p.numel() * p.element_size() * (4 if p.requires_grad else 1) for p in model.parameters())


# %% wrong: every name -> shared weights are counted twice
# hint: One matrix under two names is one matrix in memory, with one gradient.
def training_bytes(model):
    total = 0
    for _, p in model.named_parameters(remove_duplicate=False):
        total += 16 * p.numel() if p.requires_grad else 4 * p.numel()
    return total


# %% wrong: the table of positions too -> buffers are counted
# hint: Buffers are left out of this count, and they never have a gradient.
def training_bytes(model):
    total = sum(4 * b.numel() for b in model.buffers())
    return total + sum(p.numel() * (16 if p.requires_grad else 4) for p in model.parameters())


# %% wrong: shared and frozen weights count twice ->
def training_bytes(model: nn.Module) -> int:
    trainable = sum(part.numel() for part in model.parameters() if part.requires_grad)
    frozen = sum(part.numel() for _, part in model.named_parameters(remove_duplicate=False) if not part.requires_grad)
    return 16 * trainable + 4 * frozen


# %% wrong: nothing trains, and so all does ->
def training_bytes(model):
    frozen = sum(p.numel() for p in model.parameters() if not p.requires_grad)
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return 16 * trained + 4 * frozen if trained else 16 * frozen


# %% wrong: 4 bytes at least ->
def training_bytes(model):
    return sum(p.numel() * max(4, p.element_size()) * (4 if p.requires_grad else 1) for p in model.parameters())
