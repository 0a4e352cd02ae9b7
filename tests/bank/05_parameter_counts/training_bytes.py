# %% right: each tensor by itself
def training_bytes(model):
    total = 0
    for p in model.parameters():
        weight = 4 * p.numel()
        total += 4 * weight if p.requires_grad else weight
    return total


# %% right: two counts
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
def training_bytes(model):
    everything = sum(p.numel() for p in model.parameters())
    trains = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return 4 * (everything + trains + trains)


# %% wrong: plain gradient descent -> Adam's moments are forgotten
def training_bytes(model):
    return sum(p.numel() * (8 if p.requires_grad else 4) for p in model.parameters())


# %% wrong: the size of the file -> only the weights are counted
def training_bytes(model):
    return 4 * sum(p.numel() for p in model.parameters())


# %% wrong: 16 bytes for all -> frozen parameters get gradients and moments
def training_bytes(model):
    return 16 * sum(p.numel() for p in model.parameters())


# %% wrong: 16 bytes for what trains -> frozen weights take no memory
def training_bytes(model):
    return 16 * sum(p.numel() for p in model.parameters() if p.requires_grad)


# %% wrong: four numbers, but no bytes -> numbers are counted, not bytes
def training_bytes(model):
    return sum(p.numel() * (4 if p.requires_grad else 1) for p in model.parameters())


# %% wrong: 32 for a float32 -> bits in place of bytes
def training_bytes(model):
    return 32 * sum(p.numel() * (4 if p.requires_grad else 1) for p in model.parameters())


# %% wrong: half precision -> two bytes for a number
def training_bytes(model):
    return 2 * sum(p.numel() * (4 if p.requires_grad else 1) for p in model.parameters())


# %% wrong: a float of Python -> eight bytes for a number
def training_bytes(model):
    return 8 * sum(p.numel() * (4 if p.requires_grad else 1) for p in model.parameters())


# %% wrong: every name -> shared weights are counted twice
def training_bytes(model):
    total = 0
    for _, p in model.named_parameters(remove_duplicate=False):
        total += 16 * p.numel() if p.requires_grad else 4 * p.numel()
    return total


# %% wrong: the table of positions too -> buffers are counted
def training_bytes(model):
    total = sum(4 * b.numel() for b in model.buffers())
    return total + sum(p.numel() * (16 if p.requires_grad else 4) for p in model.parameters())


# %% wrong: megabytes ->
def training_bytes(model):
    return sum(p.numel() * (16 if p.requires_grad else 4) for p in model.parameters()) / 1e6


# %% wrong: 4 for what trains, 16 for the rest -> the flag is turned round
def training_bytes(model):
    return sum(p.numel() * (4 if p.requires_grad else 16) for p in model.parameters())


# %% wrong: looks at the base and the head as wholes ->
def training_bytes(model):
    total = 0
    for part in (model.base, model.head):
        trains = all(p.requires_grad for p in part.parameters())
        total += (16 if trains else 4) * sum(p.numel() for p in part.parameters())
    return total


# %% wrong: the head always trains ->
def training_bytes(model):
    frozen = not any(p.requires_grad for p in model.base.parameters())
    total = sum(p.numel() for p in model.parameters())
    head = sum(p.numel() for p in model.head.parameters())
    return 4 * total + 12 * head if frozen else 16 * total


# %% wrong: what has a gradient now ->
def training_bytes(model):
    return sum(p.numel() * (12 + 4 * (p.grad is not None) if p.requires_grad else 4) for p in model.parameters())


# %% wrong: gradients and moments only where there is a gradient ->
def training_bytes(model):
    return sum(p.numel() * (16 if p.grad is not None else 4) for p in model.parameters())


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


# %% wrong: element_size -> the bytes of the type that the numbers have now
def training_bytes(model):
    return sum(p.numel() * p.element_size() * (4 if p.requires_grad else 1) for p in model.parameters())


# %% wrong: nbytes of the weights ->
def training_bytes(model):
    return sum(p.nbytes + 12 * p.numel() * p.requires_grad for p in model.parameters())


# %% wrong: 4 bytes at least ->
def training_bytes(model):
    return sum(p.numel() * max(4, p.element_size()) * (4 if p.requires_grad else 1) for p in model.parameters())
