# %% right: as in the text, without gradients
def order_blindness(encoder, x, permutation):
    with torch.no_grad():
        after = encoder(x)[:, permutation]
        before = encoder(x[:, permutation])
    return (after - before).abs().max().item()


# %% right: undone on one side
# other: It undoes the permutation, so that both outputs are in the original order; the solution needs no inverse, and with `no_grad` it keeps nothing for gradients.
def order_blindness(encoder, x, permutation):
    back = torch.argsort(permutation)
    return (encoder(x[:, permutation])[:, back] - encoder(x)).abs().max()


# %% right: index_select and the infinity norm
def order_blindness(encoder, x, permutation):
    first = torch.index_select(encoder(x), 1, permutation)
    second = encoder(torch.index_select(x, 1, permutation))
    return float(torch.linalg.vector_norm(first - second, ord=float("inf")))


# %% right: plain loops, one sentence at a time
def order_blindness(encoder, x, permutation):
    largest = 0.0
    order = permutation.tolist()
    for sentence in x.tolist():
        outputs = encoder(torch.tensor([sentence], device=x.device))[0]
        moved = encoder(torch.tensor([[sentence[j] for j in order]], device=x.device))[0]
        for i, j in enumerate(order):
            largest = max(largest, (outputs[j] - moved[i]).abs().max().item())
    return largest


# %% right: each part gets its own mode back
def order_blindness(encoder, x, permutation):
    modes = [(part, part.training) for part in encoder.modules()]
    encoder.eval()
    with torch.no_grad():
        result = (encoder(x)[:, permutation] - encoder(x[:, permutation])).abs().max().item()
    for part, mode in modes:
        part.training = mode
    return result


# %% wrong: x[permutation] -> the batch axis is permuted
# hint: You exchange whole sentences, and no encoder mixes sentences: this is 0 for every model, even for one with
# hint: positions. The words stand along axis 1: x[:, permutation].
def order_blindness(encoder, x, permutation):
    with torch.no_grad():
        return (encoder(x)[permutation] - encoder(x[permutation])).abs().max().item()


# %% wrong: compares without moving the outputs -> only the input is permuted
# hint: The words have moved, so the outputs have moved with them. Take encoder(x) in the new order too before you
# hint: compare.
# of: x[permutation]
# ~ )[permutation] - encoder(x[permutation])).abs().max().item() => ) - encoder(x[:, permutation])).abs().max().item()


# %% wrong: compares the outputs with themselves in another order -> only the output is permuted
# hint: Both ways must move the words once: one before the encoder, the other after it.
def order_blindness(encoder, x, permutation):
    outputs = encoder(x)
    return (outputs[:, permutation] - outputs).abs().max().item()


# %% wrong: argsort on one side, order on the other -> one side is permuted forwards, the other backwards
# hint: Both sides need the same order: index both with `permutation`, or undo it on one side only, with argsort.
def order_blindness(encoder, x, permutation):
    inverse = torch.empty_like(permutation)
    inverse[permutation] = torch.arange(len(permutation))
    return (encoder(x)[:, inverse] - encoder(x[:, permutation])).abs().max().item()


# %% wrong: written to positions, on both sides -> both sides are permuted backwards
# hint: Position i gets what stood at permutation[i]: x[:, permutation]. Whoever writes to positions, new[:,
# hint: permutation] = x, or indexes with argsort, moves the words by the inverse order.
def order_blindness(encoder: nn.Module, x: Tensor, permutation: Tensor) -> float:
    with torch.no_grad():
        states = encoder(x)
        moved_states, moved_words = torch.empty_like(states), torch.empty_like(x)
        moved_states[:, permutation] = states
        moved_words[:, permutation] = x
        return (moved_states - encoder(moved_words)).abs().max().item()


# %% wrong: the last sentence only -> only the last sentence counts
# hint: A loop over the sentences must keep the largest value so far: largest = max(largest, value).
def order_blindness(encoder, x, permutation):
    with torch.no_grad():
        change = (encoder(x)[:, permutation] - encoder(x[:, permutation])).abs()
    return change[-1].max().item()


# %% wrong: mean of the absolute differences -> the average in place of the largest difference
# hint: An average over many small differences hides a large one. Take the maximum of the absolute values.
def order_blindness(encoder, x, permutation):
    return (encoder(x)[:, permutation] - encoder(x[:, permutation])).abs().mean().item()


# %% wrong: max without abs -> the largest difference without absolute values
# hint: A difference of -3 is larger than one of +1: take abs() before max().
def order_blindness(encoder, x, permutation):
    return (encoder(x)[:, permutation] - encoder(x[:, permutation])).max().item()


# %% wrong: rounded to three digits -> the result is rounded
# hint: The number is nearly the expected one: return it as it is, and round where you print.
def order_blindness(encoder, x, permutation):
    was = encoder.training
    encoder.eval()
    with torch.no_grad():
        result = (encoder(x)[:, permutation] - encoder(x[:, permutation])).abs().max().item()
    encoder.train(was)
    return round(result, 3)


# %% wrong: the first sentence only ->
def order_blindness(encoder, x, permutation):
    return (encoder(x)[0, permutation] - encoder(x[:, permutation])[0]).abs().max().item()


# %% wrong: the order of the caller is sorted ->
def order_blindness(encoder, x, permutation):
    with torch.no_grad():
        change = (encoder(x)[:, permutation] - encoder(x[:, permutation])).abs()
    permutation.copy_(permutation.sort().values)
    return change.max().item()


# %% wrong: only the words that move are compared ->
def order_blindness(encoder: nn.Module, x: Tensor, permutation: Tensor) -> float:
    moved = permutation != torch.arange(len(permutation), device=permutation.device)
    if not moved.any():
        return 0.0
    with torch.no_grad():
        difference = encoder(x)[:, permutation] - encoder(x[:, permutation])
    return difference[:, moved].abs().max().item()


# %% wrong: sentences are made on the CPU ->
# of: plain loops, one sentence at a time
# ~ (torch.tensor([sentence], device=x.device))[0] => (torch.tensor([sentence]))[0]
# ~ , device=x.device =>

# %% wrong: the parts stay in evaluation mode ->
# of: rounded to three digits
# ~ was = => mode =
# ~ train(was) => training = mode
# ~ round(result, 3) => result


# %% wrong: dropout is set to 0 for good ->
def order_blindness(encoder, x, permutation):
    for part in encoder.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    with torch.no_grad():
        return (encoder(x)[:, permutation] - encoder(x[:, permutation])).abs().max().item()
