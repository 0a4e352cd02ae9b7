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
# other: A rotation is one multiplication by a complex number, as in Llama's published code; the solution stays with real numbers, and shows each sine and cosine of the rotation.
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
# hint: Only queries and keys are turned: their score then depends on the distance. A turned value would carry its
# hint: absolute position into the output. x[2] comes back as it is.
def rotary(x, positions):
    angles = positions[:, None] / 10000 ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    even, odd = x[..., 0::2], x[..., 1::2]
    pairs = [even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()]
    return torch.stack(pairs, dim=-1).flatten(-2)


# %% wrong: rotate_half -> pairs from the two halves
# hint: You pair number i with number i + d/2. Some published models do that; ours pairs neighbours: (0, 1), (2, 3), ...
# hint: Weights trained with one convention do not work with the other.
def rotary(x, positions):
    d = x.shape[-1]
    angles = (positions[:, None] / 10000 ** (torch.arange(0, d, 2) / d)).repeat(1, 2)
    half = torch.cat([-x[..., d // 2 :], x[..., : d // 2]], dim=-1)
    turned = x * angles.cos() + half * angles.sin()
    return torch.cat([turned[:2], x[2:]])


# %% wrong: the other way round -> turned backwards
# hint: The angles have the wrong sign: (a, b) becomes (a cos - b sin, a sin + b cos).
def rotary(x, positions):
    angles = positions[:, None] / 10000 ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    even, odd = x[:2, ..., 0::2], x[:2, ..., 1::2]
    pairs = [even * angles.cos() + odd * angles.sin(), odd * angles.cos() - even * angles.sin()]
    return torch.cat([torch.stack(pairs, dim=-1).flatten(-2), x[2:]])


# %% wrong: no minus -> both sines have a plus
# hint: Without the minus this is no rotation: lengths change, and the score depends on the positions themselves.
# of: the other way round
# ~ odd * angles.cos() - even * angles.sin => even * angles.sin() + odd * angles.cos

# %% wrong: the angle is the position -> every pair turns at the same speed
# hint: Pair i turns by p / 10000^(2i / d). With one speed for all, positions one turn apart look alike.
# of: all three are turned
# ~ [:, None] / 10000 ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1]) => [:, None].float()
# ~ [..., 0::2], x[..., 1::2] => [:2, ..., 0::2], x[:2, ..., 1::2]
# ~ stack(pairs, dim=-1).flatten(-2) => cat([torch.stack(pairs, dim=-1).flatten(-2), x[2:]])


# %% wrong: only the first pair is turned -> only the first pair is turned
# hint: Every pair of numbers turns, pair number i by p / 10000^(2i / d).
def rotary(x, positions):
    result = x.clone()
    sine, cosine = positions.sin(), positions.cos()
    result[:2, ..., 0] = x[:2, ..., 0] * cosine - x[:2, ..., 1] * sine
    result[:2, ..., 1] = x[:2, ..., 0] * sine + x[:2, ..., 1] * cosine
    return result


# %% wrong: 2i counted twice -> the factor 2 of the exponent is counted twice
# hint: arange(0, d, 2) is 2i already; twice that makes the pairs turn too slowly: p / 10000^(2i / d).
def rotary(x, positions):
    d = x.shape[-1]
    angles = positions[:, None] / 10000 ** (2 * torch.arange(0, d, 2) / d)
    even, odd = x[:2, ..., 0::2], x[:2, ..., 1::2]
    first, second = even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()
    turned = torch.stack([first, second], dim=-1).flatten(-2)
    return torch.cat([turned, x[2:]])


# %% wrong: exponent i / d -> the factor 2 of the exponent is missing
# hint: Pair number i turns by p / 10000^(2i / d), not by p / 10000^(i / d).
# of: 2i counted twice
# ~ 2 * torch.arange(0, d, 2) => torch.arange(d // 2)


# %% wrong: views of the result -> the second number of a pair is made from the new first one
# hint: x[..., 0::2] is a view: once the first results are written into it, the old numbers are lost. Work out both
# hint: results before you write either.
def rotary(x, positions):
    d = x.shape[-1]
    angles = positions[:, None] / 10000 ** (torch.arange(0, d, 2) / d)
    y = x.clone()
    even, odd = y[:2, ..., 0::2], y[:2, ..., 1::2]
    y[:2, ..., 0::2] = even * angles.cos() - odd * angles.sin()
    y[:2, ..., 1::2] = even * angles.sin() + odd * angles.cos()
    return y


# %% wrong: cosines and sines side by side in place of neighbours -> the turned pairs are not put back side by side
# hint: cat puts all first numbers before all second ones. The two numbers of pair i stand in columns 2i and 2i + 1:
# hint: torch.stack([first, second], dim=-1).flatten(-2).
# of: all three are turned
# ~ [..., 0::2], x[..., 1::2] => [:2, ..., 0::2], x[:2, ..., 1::2]
# ~ stack(pairs, dim=-1).flatten(-2) => cat([torch.cat(pairs, dim=-1), x[2:]])


# %% wrong: arange in place of the positions -> 0, 1, 2, ... in place of the given positions
# hint: The token in row r stands at positions[r], which need not be r: think of the second half of a text.
def rotary(x, positions):
    n, d = x.shape[-2:]
    angles = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, d, 2) / d)
    even, odd = x[:2, ..., 0::2], x[:2, ..., 1::2]
    pairs = [even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()]
    return torch.cat([torch.stack(pairs, dim=-1).flatten(-2), x[2:]])


# %% wrong: positions relative to the first one -> positions are counted from the first token
# hint: The scores stay the same, but here the first token is at positions[0], and is turned, too.
# ~ positions[:, None] => (positions - positions[0])[:, None]
# ~ [..., 0::2], x[..., 1::2] => [:2, ..., 0::2], x[:2, ..., 1::2]
# ~ stack(pairs, dim=-1).flatten(-2) => cat([torch.stack(pairs, dim=-1).flatten(-2), x[2:]])

# %% wrong: queries only -> only the queries are turned
# hint: Then the score depends on the position of the query, not on the distance. Turn the keys x[1] as well.
# ~ [..., 0::2], x[..., 1::2] => [:1, ..., 0::2], x[:1, ..., 1::2]
# ~ stack(pairs, dim=-1).flatten(-2) => cat([torch.stack(pairs, dim=-1).flatten(-2), x[1:]])

# %% wrong: keys only -> only the keys are turned
# hint: Then the score depends on the position of the key, not on the distance. Turn the queries x[0] as well.
# ~ [..., 0::2], x[..., 1::2] => [1:2, ..., 0::2], x[1:2, ..., 1::2]
# ~ stack(pairs, dim=-1).flatten(-2) => cat([x[:1], torch.stack(pairs, dim=-1).flatten(-2), x[2:]])

# %% wrong: an axis too many -> the positions run along the heads
# hint: The angles are (n, d/2), and torch lines them up from the end with (b, h, n, d/2): they need no extra axis.
# of: arange in place of the positions
# ~ n, d = x.shape[-2:] => angles = positions[:, None] / 10000 ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])
# ~ torch.arange(n)[:, None] / 10000 ** (torch.arange(0, d, 2) / d) => angles.unsqueeze(1)


# %% wrong: adds the encoding -> sinusoids are added in place of turning
# hint: That is the encoding of section 3, on queries and keys. Rotary positions multiply: each pair is turned.
def rotary(x, positions):
    table = sinusoidal_encoding(int(positions.max()) + 1, x.shape[-1])[positions]
    return torch.stack([x[0] + table, x[1] + table, x[2]])


# %% wrong: the width of all heads -> the exponent is divided by the width of all heads together
# -    n, d = x.shape[-2:]
# -    angles = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, d, 2) / d)
# +    d = x.shape[-1]
# +    width = d * x.shape[2]
# +    angles = positions[:, None] / 10000 ** (torch.arange(0, d, 2) / width)


# %% wrong: nothing is turned -> nothing is turned
# hint: Queries and keys come back as they are. Each pair of them must turn by the angle of its position.
def rotary(x, positions):
    return x.clone()


# %% wrong: turned in the tensor of the caller ->
def rotary(x, positions):
    angles = positions[:, None] / 10000 ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    even, odd = x[:2, ..., 0::2].clone(), x[:2, ..., 1::2].clone()
    x[:2, ..., 0::2] = even * angles.cos() - odd * angles.sin()
    x[:2, ..., 1::2] = even * angles.sin() + odd * angles.cos()
    return x


# %% wrong: the numbers in half precision ->
# of: even and odd
#      sine, cosine = angles.sin(), angles.cos()
# +    x = x.half()
# ...
# -    return result
# +    return result.float()


# %% wrong: the rotation of helpers -> a ready-made part in place of an answer
from helpers import models


def rotary(x, positions):
    angles = models.rotary_angles(positions, x.shape[-1])
    return torch.stack([models.rotate(x[0], angles), models.rotate(x[1], angles), x[2]])


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
