# %% right: one line
def count_parameters(model, trainable_only=False):
    return sum(p.numel() for p in model.parameters() if p.requires_grad or not trainable_only)


# %% right: a loop
def count_parameters(model, trainable_only=False):
    total = 0
    for name, parameter in model.named_parameters():
        if trainable_only and not parameter.requires_grad:
            continue
        size = 1
        for side in parameter.shape:
            size *= side
        total += size
    return total


# %% right: walks through the modules and remembers what it has seen
def count_parameters(model, trainable_only=False):
    seen = {}
    for module in model.modules():
        for parameter in module.parameters(recurse=False):
            seen[id(parameter)] = parameter
    chosen = seen.values()
    if trainable_only:
        chosen = filter(lambda p: p.requires_grad, chosen)
    return sum(map(torch.numel, chosen))


# %% right: one long vector
def count_parameters(model, trainable_only=False):
    chosen = [p.detach().flatten() for p in model.parameters() if p.requires_grad or not trainable_only]
    return torch.cat(chosen).shape[0]


# %% right: a table
def count_parameters(model, trainable_only=False):
    table = pd.DataFrame([(p.numel(), p.requires_grad) for p in model.parameters()], columns=["numel", "trains"])
    return int(table.query("trains").numel.sum() if trainable_only else table.numel.sum())


# %% wrong: parameters and buffers -> buffers are counted
import itertools


def count_parameters(model, trainable_only=False):
    total = 0
    for t in itertools.chain(model.parameters(), model.buffers()):
        if trainable_only and not t.requires_grad:
            continue
        total += t.numel()
    return total


# %% wrong: the buffers are added in any case -> buffers are counted, even among what trains
def count_parameters(model, trainable_only=False):
    parameters = [p for p in model.parameters() if p.requires_grad or not trainable_only]
    return sum(t.numel() for t in parameters + list(model.buffers()))


# %% wrong: every name is counted -> shared weights are counted twice
def count_parameters(model, trainable_only=False):
    total = 0
    for name, p in model.named_parameters(remove_duplicate=False):
        if p.requires_grad or not trainable_only:
            total += p.numel()
    return total


# %% wrong: module by module, without looking whether it was there before -> what two modules share is counted twice
def count_parameters(model, trainable_only=False):
    total = 0
    for module in model.modules():
        for p in module.parameters(recurse=False):
            total += p.numel() if p.requires_grad or not trainable_only else 0
    return total


# %% wrong: what would be saved to disk -> counted from the state_dict
def count_parameters(model, trainable_only=False):
    return sum(tensor.numel() for tensor in model.state_dict().values())


# %% wrong: no look at requires_grad -> trainable_only is ignored
def count_parameters(model, trainable_only=False):
    return sum(p.numel() for p in model.parameters())


# %% wrong: only what trains, always -> frozen parameters are always left out
def count_parameters(model, trainable_only=False):
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


# %% wrong: the condition is turned round -> trainable_only is turned round
def count_parameters(model, trainable_only=False):
    return sum(p.numel() for p in model.parameters() if p.requires_grad or trainable_only)


# %% wrong: not before requires_grad -> the frozen parameters are counted in place of the others
def count_parameters(model, trainable_only=False):
    if trainable_only:
        return sum(p.numel() for p in model.parameters() if not p.requires_grad)
    return sum(p.numel() for p in model.parameters())


# %% wrong: rows times columns of the matrices -> only matrices are counted: biases and norms are lost
def count_parameters(model, trainable_only=False):
    total = 0
    for p in model.parameters():
        if p.dim() > 1 and (p.requires_grad or not trainable_only):
            total += p.shape.numel()
    return total


# %% wrong: weights only, by name -> biases are lost
def count_parameters(model, trainable_only=False):
    chosen = [p for name, p in model.named_parameters() if name.endswith("weight")]
    return sum(p.numel() for p in chosen if p.requires_grad or not trainable_only) + sum(
        p.numel() for name, p in model.named_parameters() if name.endswith("position")
    )


# %% wrong: how many tensors -> tensors are counted, not numbers
def count_parameters(model, trainable_only=False):
    return len([p for p in model.parameters() if p.requires_grad or not trainable_only])


# %% wrong: len of each tensor -> rows are counted, not numbers
def count_parameters(model, trainable_only=False):
    return sum(len(p) for p in model.parameters() if p.requires_grad or not trainable_only)


# %% wrong: sum of the shape -> the sides of a matrix are added, not multiplied
def count_parameters(model, trainable_only=False):
    return sum(sum(p.shape) for p in model.parameters() if p.requires_grad or not trainable_only)


# %% wrong: parameters of all modules, with what is inside them -> parameters are counted again at every level
def count_parameters(model, trainable_only=False):
    total = 0
    for module in model.modules():
        for p in module.parameters():
            if p.requires_grad or not trainable_only:
                total += p.numel()
    return total


# %% wrong: positions by name -> learned positions are left out
def count_parameters(model, trainable_only=False):
    return sum(
        p.numel()
        for name, p in model.named_parameters()
        if "position" not in name and (p.requires_grad or not trainable_only)
    )


# %% wrong: in thousands ->
def count_parameters(model, trainable_only=False):
    return sum(p.numel() for p in model.parameters() if p.requires_grad or not trainable_only) / 1000


# %% wrong: takes the head for all that trains ->
def count_parameters(model, trainable_only=False):
    part = model.head if trainable_only else model
    return sum(p.numel() for p in part.parameters())


# %% wrong: places in memory tell what was seen ->
def count_parameters(model, trainable_only=False):
    seen, total = set(), 0
    for _, p in model.named_parameters(remove_duplicate=False):
        if p.data_ptr() in seen or (trainable_only and not p.requires_grad):
            continue
        seen.add(p.data_ptr())
        total += p.numel()
    return total


# %% wrong: added up in float32 ->
def count_parameters(model, trainable_only=False):
    chosen = [p.numel() for p in model.parameters() if p.requires_grad or not trainable_only]
    return int(torch.tensor(chosen, dtype=torch.float32).sum())


# %% wrong: what has a gradient trains ->
def count_parameters(model, trainable_only=False):
    return sum(p.numel() for p in model.parameters() if p.grad is not None or not trainable_only)


# %% wrong: what has no gradient trains -> trainable_only is ignored
def count_parameters(model, trainable_only=False):
    return sum(p.numel() for p in model.parameters() if p.grad is None or not trainable_only)


# %% wrong: the mode of the model decides ->
def count_parameters(model, trainable_only=False):
    if trainable_only and not model.training:
        return 0
    return sum(p.numel() for p in model.parameters())


# %% wrong: all or nothing, by the first parameter of each part ->
def count_parameters(model, trainable_only=False):
    total = 0
    for part in model.children():
        parameters = list(part.parameters())
        if trainable_only and not parameters[0].requires_grad:
            continue
        total += sum(p.numel() for p in parameters)
    return total


# %% wrong: the flags are set while counting ->
def count_parameters(model, trainable_only=False):
    total = sum(p.numel() for p in model.parameters() if p.requires_grad or not trainable_only)
    for p in model.parameters():
        p.requires_grad_(True)
    return total


# %% wrong: always the same number ->
def count_parameters(model, trainable_only=False):
    return 226


# %% wrong: shared biases count twice ->
def count_parameters(model: nn.Module, trainable_only: bool = False) -> int:
    total, matrices = 0, set()
    for _, p in model.named_parameters(remove_duplicate=False):
        if trainable_only and not p.requires_grad:
            continue
        if p.dim() > 1:
            if id(p) in matrices:
                continue
            matrices.add(id(p))
        total += p.numel()
    return total


# %% wrong: what trains is counted unless told ->
def count_parameters(model, trainable_only=True):
    return sum(p.numel() for p in model.parameters() if p.requires_grad or not trainable_only)


# %% wrong: one tensor under two names of one module ->
def count_parameters(model: nn.Module, trainable_only: bool = False) -> int:
    seen, total = set(), 0
    for module in model.modules():
        own = [part for part in module._parameters.values() if part is not None and id(part) not in seen]
        seen.update(id(part) for part in own)
        total += sum(part.numel() for part in own if part.requires_grad or not trainable_only)
    return total


# %% wrong: rows times columns ->
def count_parameters(model, trainable_only=False):
    total = 0
    for parameter in model.parameters():
        if not (trainable_only and not parameter.requires_grad):
            total += parameter.shape[0] * (parameter.shape[1] if parameter.dim() > 1 else 1)
    return total


# %% wrong: the state_dict without what is shared ->
def count_parameters(model: nn.Module, trainable_only: bool = False) -> int:
    """Returns the number of parameters of a model: numbers, not tensors."""
    tensors = {id(tensor): tensor for tensor in model.state_dict(keep_vars=True).values()}
    return sum(tensor.numel() for tensor in tensors.values() if tensor.requires_grad or not trainable_only)


# %% wrong: child by child ->
def count_parameters(model: nn.Module, trainable_only: bool = False) -> int:
    """Returns the number of parameters of a model: numbers, not tensors."""
    parts = list(model.children()) or [model]
    seen = {}
    for part in parts:
        for parameter in part.parameters():
            seen[id(parameter)] = parameter
    return sum(p.numel() for p in seen.values() if p.requires_grad or not trainable_only)


# %% wrong: all less what is frozen, name by name ->
def count_parameters(model: nn.Module, trainable_only: bool = False) -> int:
    """Returns the number of parameters of a model: numbers, not tensors."""
    total = sum(p.numel() for p in model.parameters())
    if not trainable_only:
        return total
    frozen = 0
    for module in model.modules():
        for p in module.parameters(recurse=False):
            if not p.requires_grad:
                frozen += p.numel()
    return total - frozen


# %% wrong: kept of a model that is frozen later ->
import functools


@functools.cache
def count_parameters(model, trainable_only=False):
    return sum(p.numel() for p in model.parameters() if p.requires_grad or not trainable_only)
