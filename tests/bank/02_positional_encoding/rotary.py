# %% right: even and odd
def rotary(x, positions):
    angles = positions[:, None] / 10000 ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    sine, cosine = angles.sin(), angles.cos()
    result = x.clone()
    even, odd = x[:2, ..., 0::2], x[:2, ..., 1::2]
    result[:2, ..., 0::2] = even * cosine - odd * sine
    result[:2, ..., 1::2] = even * sine + odd * cosine
    return result


# %% right: complex numbers
def rotary(x, positions):
    d = x.size(-1)
    angles = torch.outer(positions.float(), 10000 ** (-torch.arange(0, d, 2).float() / d))
    turn = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(x[:2].reshape(*x[:2].shape[:-1], d // 2, 2).contiguous())
    turned = torch.view_as_real(pairs * turn).flatten(-2)
    return torch.cat([turned, x[2:]])


# %% right: one matrix for each position
def rotary(x, positions):
    queries, keys, values = x
    turned = [torch.empty_like(queries), torch.empty_like(keys)]
    for row, p in enumerate(positions.tolist()):
        matrix = shift_matrix(p, x.shape[-1]).T.to(x.dtype)
        turned[0][:, :, row] = queries[:, :, row] @ matrix.T
        turned[1][:, :, row] = keys[:, :, row] @ matrix.T
    return torch.stack([*turned, values])


# %% right: neighbours exchanged, cosine and sine repeated
def rotary(x, positions):
    d = x.shape[-1]
    angles = (positions[:, None] / 10000 ** (torch.arange(0, d, 2) / d)).repeat_interleave(2, dim=-1)
    neighbours = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
    turned = x * angles.cos() + neighbours * angles.sin()
    is_value = (torch.arange(3) == 2).view(3, 1, 1, 1, 1)
    return torch.where(is_value, x, turned)


# %% wrong: all three are turned -> the values are turned too
def rotary(x, positions):
    angles = positions[:, None] / 10000 ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    even, odd = x[..., 0::2], x[..., 1::2]
    pairs = [even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()]
    return torch.stack(pairs, dim=-1).flatten(-2)


# %% wrong: rotate_half -> pairs from the two halves
def rotary(x, positions):
    d = x.shape[-1]
    angles = (positions[:, None] / 10000 ** (torch.arange(0, d, 2) / d)).repeat(1, 2)
    half = torch.cat([-x[..., d // 2 :], x[..., : d // 2]], dim=-1)
    turned = x * angles.cos() + half * angles.sin()
    return torch.cat([turned[:2], x[2:]])


# %% wrong: the other way round -> turned backwards
def rotary(x, positions):
    angles = positions[:, None] / 10000 ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    even, odd = x[:2, ..., 0::2], x[:2, ..., 1::2]
    pairs = [even * angles.cos() + odd * angles.sin(), odd * angles.cos() - even * angles.sin()]
    return torch.cat([torch.stack(pairs, dim=-1).flatten(-2), x[2:]])


# %% wrong: no minus -> both sines have a plus
# of: the other way round
# -    pairs = [even * angles.cos() + odd * angles.sin(), odd * angles.cos() - even * angles.sin()]
# +    pairs = [even * angles.cos() + odd * angles.sin(), even * angles.sin() + odd * angles.cos()]


# %% wrong: the angle is the position -> every pair turns at the same speed
def rotary(x, positions):
    angles = positions[:, None].float()
    even, odd = x[:2, ..., 0::2], x[:2, ..., 1::2]
    pairs = [even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()]
    return torch.cat([torch.stack(pairs, dim=-1).flatten(-2), x[2:]])


# %% wrong: arange in place of the positions -> 0, 1, 2, ... in place of the given positions
def rotary(x, positions):
    n, d = x.shape[-2:]
    angles = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, d, 2) / d)
    even, odd = x[:2, ..., 0::2], x[:2, ..., 1::2]
    pairs = [even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()]
    return torch.cat([torch.stack(pairs, dim=-1).flatten(-2), x[2:]])


# %% wrong: queries only -> only the queries are turned
def rotary(x, positions):
    angles = positions[:, None] / 10000 ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    even, odd = x[:1, ..., 0::2], x[:1, ..., 1::2]
    pairs = [even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()]
    return torch.cat([torch.stack(pairs, dim=-1).flatten(-2), x[1:]])


# %% wrong: keys only -> only the keys are turned
def rotary(x, positions):
    angles = positions[:, None] / 10000 ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    even, odd = x[1:2, ..., 0::2], x[1:2, ..., 1::2]
    pairs = [even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()]
    return torch.cat([x[:1], torch.stack(pairs, dim=-1).flatten(-2), x[2:]])


# %% wrong: an axis too many -> the positions run along the heads
def rotary(x, positions):
    angles = positions[:, None] / 10000 ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    angles = angles.unsqueeze(1)
    even, odd = x[:2, ..., 0::2], x[:2, ..., 1::2]
    pairs = [even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()]
    return torch.cat([torch.stack(pairs, dim=-1).flatten(-2), x[2:]])


# %% wrong: adds the encoding -> sinusoids are added in place of turning
def rotary(x, positions):
    table = sinusoidal_encoding(int(positions.max()) + 1, x.shape[-1])[positions]
    return torch.stack([x[0] + table, x[1] + table, x[2]])


# %% wrong: nothing is turned -> nothing is turned
def rotary(x, positions):
    return x.clone()


# %% wrong: cosines and sines side by side in place of neighbours -> the turned pairs are not put back side by side
def rotary(x, positions):
    angles = positions[:, None] / 10000 ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    even, odd = x[:2, ..., 0::2], x[:2, ..., 1::2]
    pairs = [even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()]
    return torch.cat([torch.cat(pairs, dim=-1), x[2:]])


# %% wrong: positions relative to the first one -> positions are counted from the first token
# of: the angle is the position
# -    angles = positions[:, None].float()
# +    angles = (positions - positions[0])[:, None] / 10000 ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])


# %% wrong: only the first pair is turned -> only the first pair is turned
def rotary(x, positions):
    result = x.clone()
    sine, cosine = positions.sin(), positions.cos()
    result[:2, ..., 0] = x[:2, ..., 0] * cosine - x[:2, ..., 1] * sine
    result[:2, ..., 1] = x[:2, ..., 0] * sine + x[:2, ..., 1] * cosine
    return result


# %% wrong: queries and keys only, the values are lost ->
# of: all three are turned
# -    even, odd = x[..., 0::2], x[..., 1::2]
# +    even, odd = x[:2, ..., 0::2], x[:2, ..., 1::2]


# %% wrong: exponent i / d -> the factor 2 of the exponent is missing
def rotary(x, positions):
    d = x.shape[-1]
    angles = positions[:, None] / 10000 ** (torch.arange(d // 2) / d)
    even, odd = x[:2, ..., 0::2], x[:2, ..., 1::2]
    first, second = even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()
    turned = torch.stack([first, second], dim=-1).flatten(-2)
    return torch.cat([turned, x[2:]])


# %% wrong: 2i counted twice -> the factor 2 of the exponent is counted twice
# of: exponent i / d
# -    angles = positions[:, None] / 10000 ** (torch.arange(d // 2) / d)
# +    angles = positions[:, None] / 10000 ** (2 * torch.arange(0, d, 2) / d)


# %% wrong: views of the result -> the second number of a pair is made from the new first one
def rotary(x, positions):
    d = x.shape[-1]
    angles = positions[:, None] / 10000 ** (torch.arange(0, d, 2) / d)
    y = x.clone()
    even, odd = y[:2, ..., 0::2], y[:2, ..., 1::2]
    y[:2, ..., 0::2] = even * angles.cos() - odd * angles.sin()
    y[:2, ..., 1::2] = even * angles.sin() + odd * angles.cos()
    return y


# %% wrong: the width of all heads -> the exponent is divided by the width of all heads together
def rotary(x, positions):
    d = x.shape[-1]
    width = d * x.shape[2]
    angles = positions[:, None] / 10000 ** (torch.arange(0, d, 2) / width)
    even, odd = x[:2, ..., 0::2], x[:2, ..., 1::2]
    pairs = [even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()]
    return torch.cat([torch.stack(pairs, dim=-1).flatten(-2), x[2:]])


# %% wrong: starts again at 128 ->
def rotary(x, positions):
    d = x.shape[-1]
    speeds = 1 / 10000 ** (torch.arange(0, d, 2) / d)
    angles = (positions % 128)[:, None] * speeds
    even, odd = x[:2, ..., 0::2], x[:2, ..., 1::2]
    pairs = [even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()]
    return torch.cat([torch.stack(pairs, dim=-1).flatten(-2), x[2:]])


# %% wrong: starts again at 512 ->
# of: starts again at 128
# -    angles = (positions % 128)[:, None] * speeds
# +    angles = (positions % 512)[:, None] * speeds


# %% wrong: starts again at 2048 ->
# of: starts again at 128
# -    angles = (positions % 128)[:, None] * speeds
# +    angles = (positions % 2048)[:, None] * speeds


# %% wrong: positions in bfloat16 ->
# of: starts again at 128
# -    angles = (positions % 128)[:, None] * speeds
# +    angles = positions.to(torch.bfloat16).float()[:, None] * speeds


# %% wrong: positions in int8 ->
# of: starts again at 128
# -    angles = (positions % 128)[:, None] * speeds
# +    angles = positions.to(torch.int8)[:, None] * speeds


# %% wrong: sorted positions ->
# of: starts again at 128
# -    angles = (positions % 128)[:, None] * speeds
# +    angles = positions.sort().values[:, None] * speeds


# %% wrong: ranks of the positions -> 0, 1, 2, ... in place of the given positions
# of: starts again at 128
# -    angles = (positions % 128)[:, None] * speeds
# +    angles = positions.argsort().argsort()[:, None] * speeds


# %% wrong: axes of one fall away ->
def rotary(x, positions):
    d = x.shape[-1]
    speeds = 1 / 10000 ** (torch.arange(0, d, 2) / d)
    angles = positions[:, None] * speeds
    even, odd = x[:2, ..., 0::2], x[:2, ..., 1::2]
    pairs = [even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()]
    return torch.cat([torch.stack(pairs, dim=-1).flatten(-2), x[2:]]).squeeze()


# %% wrong: turned in the tensor of the caller ->
def rotary(x, positions):
    angles = positions[:, None] / 10000 ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    even, odd = x[:2, ..., 0::2].clone(), x[:2, ..., 1::2].clone()
    x[:2, ..., 0::2] = even * angles.cos() - odd * angles.sin()
    x[:2, ..., 1::2] = even * angles.sin() + odd * angles.cos()
    return x


# %% wrong: the first head only ->
def rotary(x, positions):
    angles = positions[:, None] / 10000 ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    y = x.clone()
    even, odd = x[:2, :, 0, :, 0::2], x[:2, :, 0, :, 1::2]
    y[:2, :, 0, :, 0::2] = even * angles.cos() - odd * angles.sin()
    y[:2, :, 0, :, 1::2] = even * angles.sin() + odd * angles.cos()
    return y


# %% wrong: the numbers in half precision ->
# of: even and odd
# -    result = x.clone()
# +    x = x.half()
# +    result = x.clone()
# ...
# -    return result
# +    return result.float()


# %% wrong: sines and cosines in half precision ->
# of: even and odd
# -    sine, cosine = angles.sin(), angles.cos()
# +    sine, cosine = angles.sin().half().float(), angles.cos().half().float()
# %% wrong: the rotation of helpers -> a ready-made part in place of an answer
from helpers import models


def rotary(x, positions):
    angles = models.rotary_angles(positions, x.shape[-1])
    return torch.stack([models.rotate(x[0], angles), models.rotate(x[1], angles), x[2]])


# %% wrong: angles in half precision ->
def rotary(x, positions):
    d = x.shape[-1]
    speeds = 1 / 10000 ** (torch.arange(0, d, 2) / d)
    angles = (positions[:, None] * speeds).half().float()
    cos, sin = angles.cos(), angles.sin()

    def turned(part):
        a, b = part[..., 0::2], part[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)

    return torch.stack([turned(x[0]), turned(x[1]), x[2]])


# %% wrong: in single precision ->
def rotary(x, positions):
    d = x.size(-1)
    angles = positions[:, None].float() / 10000 ** (torch.arange(0, d, 2, device=x.device) / d)
    even, odd = x[:2, ..., 0::2].float(), x[:2, ..., 1::2].float()
    turned = [even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()]
    return torch.cat([torch.stack(turned, dim=-1).flatten(-2), x[2:].float()])


# %% wrong: of two tokens at one position only the first is turned ->
def rotary(x, positions):
    d, result = x.size(-1), x.clone()
    for position in positions.tolist():
        row = positions.tolist().index(position)
        angles = position / 10000 ** (torch.arange(0, d, 2) / d)
        even, odd = x[:2, :, :, row, 0::2], x[:2, :, :, row, 1::2]
        result[:2, :, :, row, 0::2] = even * angles.cos() - odd * angles.sin()
        result[:2, :, :, row, 1::2] = even * angles.sin() + odd * angles.cos()
    return result
