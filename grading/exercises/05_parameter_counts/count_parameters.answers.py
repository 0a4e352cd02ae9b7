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
# other: It shows why shared weights count once: a dict holds each of them only once; `parameters()` already does the same, so that the solution is a single sum.
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
# hint: Buffers, such as the table of sinusoidal positions, are stored with the model but never trained: count
# hint: model.parameters() only.
import itertools


def count_parameters(model, trainable_only=False):
    total = 0
    for t in itertools.chain(model.parameters(), model.buffers()):
        if trainable_only and not t.requires_grad:
            continue
        total += t.numel()
    return total


# %% wrong: the buffers are added in any case -> buffers are counted, even among what trains
# hint: Buffers, such as the table of sinusoidal positions, never train: count model.parameters() only.
def count_parameters(model, trainable_only=False):
    parameters = [p for p in model.parameters() if p.requires_grad or not trainable_only]
    return sum(t.numel() for t in parameters + list(model.buffers()))


# %% wrong: module by module, without looking whether it was there before -> what two modules share is counted twice
# hint: Going from module to module gives a matrix again in each that has it. model.parameters() goes through all of
# hint: them and gives it once.
def count_parameters(model, trainable_only=False):
    total = 0
    for module in model.modules():
        for p in module.parameters(recurse=False):
            total += p.numel() if p.requires_grad or not trainable_only else 0
    return total


# %% wrong: every name is counted -> shared weights are counted twice
# hint: The head and the embedding are the same matrix under two names. model.parameters() gives it once.
# of: module by module, without looking whether it was there before
# ~ module in model.modules() => name, p in model.named_parameters(remove_duplicate=False)
# ~ for p in module.parameters(recurse=False) => if p.requires_grad or not trainable_only
# ~ () if p.requires_grad or not trainable_only else 0 => ()


# %% wrong: what would be saved to disk -> counted from the state_dict
# hint: A state_dict lists shared weights under each of their names and does not say what trains. Use
# hint: model.parameters().
def count_parameters(model, trainable_only=False):
    return sum(tensor.numel() for tensor in model.state_dict().values())


# %% wrong: no look at requires_grad -> trainable_only is ignored
# hint: With trainable_only=True, leave out each parameter whose requires_grad is False.
def count_parameters(model, trainable_only=False):
    return sum(p.numel() for p in model.parameters())


# %% wrong: only what trains, always -> frozen parameters are always left out
# hint: Frozen parameters count too, unless trainable_only is True.
def count_parameters(model, trainable_only=False):
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


# %% wrong: not before requires_grad -> the frozen parameters are counted in place of the others
# hint: requires_grad is True for a parameter that trains. Keep these.
def count_parameters(model, trainable_only=False):
    if trainable_only:
        return sum(p.numel() for p in model.parameters() if not p.requires_grad)
    return sum(p.numel() for p in model.parameters())


# %% wrong: the condition is turned round -> trainable_only is turned round
# hint: With trainable_only=True the frozen ones are left out, with False they are counted.
def count_parameters(model, trainable_only=False):
    return sum(p.numel() for p in model.parameters() if p.requires_grad or trainable_only)


# %% wrong: rows times columns of the matrices -> only matrices are counted: biases and norms are lost
# hint: A bias and the two vectors of a norm are parameters as well, though they have one axis only.
# ~ module in model.modules => p in model.parameters
# ~ for p in module.parameters(recurse=False) => if p.dim() > 1 and (p.requires_grad or not trainable_only)
# ~ numel() if p.requires_grad or not trainable_only else 0 => shape.numel()


# %% wrong: weights only, by name -> biases are lost
# hint: Biases train like all the rest: count them.
def count_parameters(model, trainable_only=False):
    chosen = [p for name, p in model.named_parameters() if name.endswith("weight")]
    return sum(p.numel() for p in chosen if p.requires_grad or not trainable_only) + sum(
        p.numel() for name, p in model.named_parameters() if name.endswith("position")
    )


# %% wrong: how many tensors -> tensors are counted, not numbers
# hint: A matrix of 10 rows and 4 columns is one tensor and 40 parameters: add up p.numel().
def count_parameters(model, trainable_only=False):
    return len([p for p in model.parameters() if p.requires_grad or not trainable_only])


# %% wrong: len of each tensor -> rows are counted, not numbers
# hint: len(p) is the number of rows. A matrix of 10 rows and 4 columns has 40 numbers: p.numel().
def count_parameters(model, trainable_only=False):
    return sum(len(p) for p in model.parameters() if p.requires_grad or not trainable_only)


# %% wrong: sum of the shape -> the sides of a matrix are added, not multiplied
# hint: A matrix of 10 rows and 4 columns has 10 * 4 numbers, not 10 + 4: p.numel().
def count_parameters(model, trainable_only=False):
    return sum(sum(p.shape) for p in model.parameters() if p.requires_grad or not trainable_only)


# %% wrong: parameters of all modules, with what is inside them -> parameters are counted again at every level
# hint: module.parameters() already looks into all the modules inside: do not sum it over model.modules().
# -        for p in module.parameters(recurse=False):
# -            total += p.numel() if p.requires_grad or not trainable_only else 0
# +        for p in module.parameters():
# +            if p.requires_grad or not trainable_only:
# +                total += p.numel()


# %% wrong: positions by name -> learned positions are left out
# hint: Learned positions are trained like the embedding. What decides is not the name: a parameter counts, a buffer
# hint: does not.
def count_parameters(model, trainable_only=False):
    return sum(
        p.numel()
        for name, p in model.named_parameters()
        if "position" not in name and (p.requires_grad or not trainable_only)
    )


# %% wrong: added up in float32 ->
def count_parameters(model, trainable_only=False):
    chosen = [p.numel() for p in model.parameters() if p.requires_grad or not trainable_only]
    return int(torch.tensor(chosen, dtype=torch.float32).sum())


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
# of: rows times columns of the matrices
# ~ p in => parameter in
# ~ p.dim() > 1 and (p.requires_grad or not trainable_only) => not (trainable_only and not parameter.requires_grad)
# ~ p.shape.numel() => parameter.shape[0] * (parameter.shape[1] if parameter.dim() > 1 else 1)


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
