# %% right: stack and flatten
def sinusoidal_encoding(max_len, d_model):
    speeds = 1 / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(max_len)[:, None] * speeds
    return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)


# %% right: an empty table filled by steps of two, with exp and log
# other: It writes sines and cosines straight into even and odd columns, as much published code does; the solution has the power as it stands in the definition, and changes no table in place.
def sinusoidal_encoding(max_len, d_model):
    import math

    table = torch.zeros(max_len, d_model)
    position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    table[:, 0::2] = torch.sin(position * div_term)
    table[:, 1::2] = torch.cos(position * div_term)
    return table


# %% right: a double loop
def sinusoidal_encoding(max_len, d_model):
    import math

    rows = []
    for p in range(max_len):
        row = []
        for i in range(d_model // 2):
            angle = p / 10000 ** (2 * i / d_model)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return torch.tensor(rows)


# %% right: the cosine is a sine a quarter turn later, in double precision
def sinusoidal_encoding(max_len, d_model):
    columns = torch.arange(d_model)
    exponents = (columns - columns % 2).double() / d_model
    angles = torch.outer(torch.arange(max_len).double(), 10000.0**-exponents)
    return torch.sin(angles + (columns % 2) * torch.pi / 2)


# %% right: complex numbers
def sinusoidal_encoding(max_len, d_model):
    angles = torch.outer(torch.arange(max_len), 10000 ** (-torch.arange(d_model // 2) * 2 / d_model))
    turned = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flip(-1).reshape(max_len, d_model)


# %% wrong: cosine first -> sine and cosine are exchanged
# hint: The sine stands in the even columns 0, 2, 4, ... and the cosine in the odd ones.
def sinusoidal_encoding(max_len, d_model):
    angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(1)


# %% wrong: 10000 to the power 2i -> the exponent is not divided by d_model
# hint: 10000^(2i) leaves every pair but the first standing still. The exponent runs from 0 to almost 1: 2i / d_model.
def sinusoidal_encoding(max_len, d_model):
    angles = torch.arange(max_len)[:, None] / 10000.0 ** torch.arange(0, d_model, 2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


# %% wrong: sin p and cos p everywhere -> every pair turns at the same speed
# hint: The exponent 2i / d_model is missing, or always 0, as // makes it: then all pairs say the same, and far
# hint: positions look alike.
def sinusoidal_encoding(max_len, d_model):
    table = torch.zeros(max_len, d_model)
    p = torch.arange(max_len).float()[:, None]
    table[:, 0::2], table[:, 1::2] = p.sin(), p.cos()
    return table


# %% wrong: counts from 1 -> positions start at 1
# hint: The first token has position 0, so the first row is 0, 1, 0, 1, ...
def sinusoidal_encoding(max_len, d_model):
    angles = torch.arange(1, max_len + 1)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


# %% wrong: cat in place of stack -> all sines, then all cosines
# hint: The right numbers in the wrong columns: sine and cosine of one pair are neighbours, columns 2i and 2i + 1.
# of: cosine first
# ~ stack([angles.cos(), angles.sin()], dim=-1).flatten(1) => cat([angles.sin(), angles.cos()], dim=1)


# %% wrong: the column number in the exponent -> each column has its own speed
# hint: The two columns of a pair share one angle. In an odd column 2i + 1 the exponent is still 2i / d_model.
def sinusoidal_encoding(max_len, d_model):
    table = torch.zeros(max_len, d_model)
    for p in range(max_len):
        for column in range(d_model):
            angle = torch.tensor(p / 10000 ** (column / d_model))
            table[p, column] = angle.sin() if column % 2 == 0 else angle.cos()
    return table


# %% wrong: 2 times arange in steps of 2 -> the factor 2 of the exponent is counted twice
# hint: arange(0, d_model, 2) is 2i already; twice that makes the pairs slow down too fast.
def sinusoidal_encoding(max_len, d_model):
    two_i = torch.arange(0, d_model, 2)
    angles = torch.arange(max_len)[:, None] / 10000 ** (2 * two_i / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


# %% wrong: i over d -> the factor 2 of the exponent is missing
# hint: Pair number i has the exponent 2i / d_model, not i / d_model.
# ~ 0, d_model, => d_model //
# ~ cos(), angles.sin => sin(), angles.cos

# %% wrong: starts again at 512 ->
# of: 2 times arange in steps of 2
# ~ two_i = torch.arange(0, d_model, 2) => positions = torch.arange(max_len) % 512
# ~ torch.arange(max_len)[:, None] / 10000 ** (2 * two_i => positions[:, None] / 10000 ** (torch.arange(0, d_model, 2)

# %% wrong: axes of one fall away ->
# of: cosine first
# ~ ([angles.cos(), angles.sin()], dim=-1).flatten(1) => ([angles.sin(), angles.cos()], dim=-1).flatten(1).squeeze()


# %% wrong: in half precision ->
def sinusoidal_encoding(max_len, d_model):
    speed = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(max_len).unsqueeze(1) * speed
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).half().float()


# %% wrong: the root of an infinite power ->
def sinusoidal_encoding(max_len, d_model):
    position = torch.arange(max_len).unsqueeze(1)
    divisor = (10000.0 ** torch.arange(0, d_model, 2)) ** (1 / d_model)
    table = torch.empty(max_len, d_model)
    table[:, 0::2] = (position / divisor).sin()
    table[:, 1::2] = (position / divisor).cos()
    return table


# %% wrong: the table of helpers -> a ready-made part in place of an answer
import helpers.models as m


def sinusoidal_encoding(max_len, d_model):
    return m.sinusoids(max_len, d_model)


# %% wrong: the angles of helpers -> a ready-made part in place of an answer
def sinusoidal_encoding(max_len, d_model):
    from helpers.models import rotary_angles

    angles = rotary_angles(torch.arange(max_len), d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
