# %% right: as in the text, without gradients
def order_blindness(encoder, x, permutation):
    with torch.no_grad():
        after = encoder(x)[:, permutation]
        before = encoder(x[:, permutation])
    return (after - before).abs().max().item()


# %% right: undone on one side
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


# %% wrong: x[permutation] -> the batch axis is permuted
def order_blindness(encoder, x, permutation):
    with torch.no_grad():
        return (encoder(x)[permutation] - encoder(x[permutation])).abs().max().item()


# %% wrong: compares without moving the outputs -> only the input is permuted
def order_blindness(encoder, x, permutation):
    with torch.no_grad():
        return (encoder(x) - encoder(x[:, permutation])).abs().max().item()


# %% wrong: compares the outputs with themselves in another order -> only the output is permuted
def order_blindness(encoder, x, permutation):
    outputs = encoder(x)
    return (outputs[:, permutation] - outputs).abs().max().item()


# %% wrong: argsort on one side, order on the other -> one side is permuted forwards, the other backwards
def order_blindness(encoder, x, permutation):
    inverse = torch.empty_like(permutation)
    inverse[permutation] = torch.arange(len(permutation))
    return (encoder(x)[:, inverse] - encoder(x[:, permutation])).abs().max().item()


# %% wrong: mean of the absolute differences -> the average in place of the largest difference
def order_blindness(encoder, x, permutation):
    return (encoder(x)[:, permutation] - encoder(x[:, permutation])).abs().mean().item()


# %% wrong: max without abs -> the largest difference without absolute values
def order_blindness(encoder, x, permutation):
    return (encoder(x)[:, permutation] - encoder(x[:, permutation])).max().item()


# %% wrong: always 0 ->
def order_blindness(encoder, x, permutation):
    return 0.0


# %% wrong: looks at the setting in place of the outputs ->
def order_blindness(encoder, x, permutation):
    return 0.0 if encoder.positions == "none" else 1.0


# %% wrong: compares the average of each sentence ->
def order_blindness(encoder, x, permutation):
    return (encoder(x).mean(dim=1) - encoder(x[:, permutation]).mean(dim=1)).abs().max().item()


# %% wrong: the first sentence only ->
def order_blindness(encoder, x, permutation):
    return (encoder(x)[0, permutation] - encoder(x[:, permutation])[0]).abs().max().item()


# %% wrong: all differences in place of one number ->
def order_blindness(encoder, x, permutation):
    return (encoder(x)[:, permutation] - encoder(x[:, permutation])).abs()


# %% wrong: reverses the words, whatever the permutation ->
def order_blindness(encoder, x, permutation):
    return (encoder(x).flip(1) - encoder(x.flip(1))).abs().max().item()


# %% wrong: the last sentence only -> only the last sentence counts
def order_blindness(encoder, x, permutation):
    with torch.no_grad():
        change = (encoder(x)[:, permutation] - encoder(x[:, permutation])).abs()
    return change[-1].max().item()


# %% wrong: the first word only ->
def order_blindness(encoder, x, permutation):
    with torch.no_grad():
        change = (encoder(x)[:, permutation] - encoder(x[:, permutation])).abs()
    return change[:, 0].max().item()


# %% wrong: the last word only ->
def order_blindness(encoder, x, permutation):
    with torch.no_grad():
        change = (encoder(x)[:, permutation] - encoder(x[:, permutation])).abs()
    return change[:, -1].max().item()


# %% wrong: the first number only ->
def order_blindness(encoder, x, permutation):
    with torch.no_grad():
        change = (encoder(x)[:, permutation] - encoder(x[:, permutation])).abs()
    return change[..., 0].max().item()


# %% wrong: the sum of the differences ->
def order_blindness(encoder, x, permutation):
    with torch.no_grad():
        change = (encoder(x)[:, permutation] - encoder(x[:, permutation])).abs()
    return change.sum().item()


# %% wrong: the length of the differences ->
def order_blindness(encoder, x, permutation):
    with torch.no_grad():
        change = (encoder(x)[:, permutation] - encoder(x[:, permutation])).abs()
    return change.norm().item()


# %% wrong: rounded to one digit ->
def order_blindness(encoder, x, permutation):
    with torch.no_grad():
        change = (encoder(x)[:, permutation] - encoder(x[:, permutation])).abs()
    return round(change.max().item(), 1)


# %% wrong: yes or no ->
def order_blindness(encoder, x, permutation):
    with torch.no_grad():
        change = (encoder(x)[:, permutation] - encoder(x[:, permutation])).abs()
    return float(change.max() > 1e-4)


# %% wrong: the order of the caller is sorted ->
def order_blindness(encoder, x, permutation):
    with torch.no_grad():
        change = (encoder(x)[:, permutation] - encoder(x[:, permutation])).abs()
    permutation.copy_(permutation.sort().values)
    return change.max().item()


# %% wrong: a permutation of its own ->
def order_blindness(encoder, x, permutation):
    own = torch.randperm(x.shape[1])
    with torch.no_grad():
        change = (encoder(x)[:, own] - encoder(x[:, own])).abs()
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
# -        outputs = encoder(torch.tensor([sentence], device=x.device))[0]
# +        outputs = encoder(torch.tensor([sentence]))[0]
# ...
# -        moved = encoder(torch.tensor([[sentence[j] for j in order]], device=x.device))[0]
# +        moved = encoder(torch.tensor([[sentence[j] for j in order]]))[0]


# %% wrong: a loop that forgets the largest difference so far -> only the last sentence counts
def order_blindness(encoder, x, permutation):
    largest = 0.0
    with torch.no_grad():
        before, after = encoder(x), encoder(x[:, permutation])
    for one, other in zip(before, after):
        largest = (one[permutation] - other).abs().max().item()
    return largest


# %% wrong: the parts stay in evaluation mode ->
def order_blindness(encoder, x, permutation):
    mode = encoder.training
    encoder.eval()
    with torch.no_grad():
        result = (encoder(x)[:, permutation] - encoder(x[:, permutation])).abs().max().item()
    encoder.training = mode
    return result


# %% wrong: dropout is set to 0 for good ->
def order_blindness(encoder, x, permutation):
    for part in encoder.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    with torch.no_grad():
        return (encoder(x)[:, permutation] - encoder(x[:, permutation])).abs().max().item()


# %% right: each part gets its own mode back
def order_blindness(encoder, x, permutation):
    modes = [(part, part.training) for part in encoder.modules()]
    encoder.eval()
    with torch.no_grad():
        result = (encoder(x)[:, permutation] - encoder(x[:, permutation])).abs().max().item()
    for part, mode in modes:
        part.training = mode
    return result


# %% wrong: rounded to three digits -> the result is rounded
def order_blindness(encoder, x, permutation):
    was = encoder.training
    encoder.eval()
    with torch.no_grad():
        result = (encoder(x)[:, permutation] - encoder(x[:, permutation])).abs().max().item()
    encoder.train(was)
    return round(result, 3)


# %% wrong: written into places, on both sides -> both sides are permuted backwards
def order_blindness(encoder: nn.Module, x: Tensor, permutation: Tensor) -> float:
    with torch.no_grad():
        states = encoder(x)
        moved_states, moved_words = torch.empty_like(states), torch.empty_like(x)
        moved_states[:, permutation] = states
        moved_words[:, permutation] = x
        return (moved_states - encoder(moved_words)).abs().max().item()
