# %% right: stack and flatten
def sinusoidal_encoding(max_len, d_model):
    speeds = 1 / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(max_len)[:, None] * speeds
    return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)


# %% right: an empty table filled by steps of two, with exp and log
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
def sinusoidal_encoding(max_len, d_model):
    angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(1)


# %% wrong: 10000 to the power 2i -> the exponent is not divided by d_model
def sinusoidal_encoding(max_len, d_model):
    angles = torch.arange(max_len)[:, None] / 10000.0 ** torch.arange(0, d_model, 2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


# %% wrong: sin p and cos p everywhere -> every pair turns at the same speed
def sinusoidal_encoding(max_len, d_model):
    table = torch.zeros(max_len, d_model)
    p = torch.arange(max_len).float()[:, None]
    table[:, 0::2], table[:, 1::2] = p.sin(), p.cos()
    return table


# %% wrong: counts from 1 -> positions start at 1
def sinusoidal_encoding(max_len, d_model):
    angles = torch.arange(1, max_len + 1)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


# %% wrong: cat in place of stack -> all sines, then all cosines
def sinusoidal_encoding(max_len, d_model):
    angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.cat([angles.sin(), angles.cos()], dim=1)


# %% wrong: the column number in the exponent -> each column has its own speed
def sinusoidal_encoding(max_len, d_model):
    table = torch.zeros(max_len, d_model)
    for p in range(max_len):
        for column in range(d_model):
            angle = torch.tensor(p / 10000 ** (column / d_model))
            table[p, column] = angle.sin() if column % 2 == 0 else angle.cos()
    return table


# %% wrong: 2 times arange in steps of 2 -> the factor 2 of the exponent is counted twice
def sinusoidal_encoding(max_len, d_model):
    two_i = torch.arange(0, d_model, 2)
    angles = torch.arange(max_len)[:, None] / 10000 ** (2 * two_i / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


# %% wrong: i over d -> the factor 2 of the exponent is missing
def sinusoidal_encoding(max_len, d_model):
    angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(d_model // 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


# %% wrong: times the power ->
def sinusoidal_encoding(max_len, d_model):
    angles = torch.arange(max_len, dtype=torch.float64)[:, None] * 10000 ** (
        torch.arange(0, d_model, 2).double() / d_model
    )
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).float()


# %% wrong: base 1000 ->
def sinusoidal_encoding(max_len, d_model):
    angles = torch.arange(max_len)[:, None] / 1000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


# %% wrong: the exponent runs up to exactly 1 ->
def sinusoidal_encoding(max_len, d_model):
    exponents = torch.linspace(0, 1, d_model // 2)
    angles = torch.arange(max_len)[:, None] / 10000**exponents
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


# %% wrong: always 512 columns' speeds ->
def sinusoidal_encoding(max_len, d_model):
    angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / 512)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


# %% wrong: rounded to whole numbers ->
def sinusoidal_encoding(max_len, d_model):
    angles = torch.arange(max_len)[:, None] // 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


# %% wrong: angles in half precision ->
def sinusoidal_encoding(max_len, d_model):
    angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    angles = angles.half()
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).float()


# %% wrong: places in bfloat16 ->
def sinusoidal_encoding(max_len, d_model):
    places = torch.arange(max_len).to(torch.bfloat16).float()
    angles = places[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


# %% wrong: places in int8 ->
def sinusoidal_encoding(max_len, d_model):
    places = torch.arange(max_len).to(torch.int8)
    angles = places[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


# %% wrong: starts again at 32 ->
def sinusoidal_encoding(max_len, d_model):
    places = torch.arange(max_len) % 32
    angles = places[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


# %% wrong: starts again at 512 ->
def sinusoidal_encoding(max_len, d_model):
    places = torch.arange(max_len) % 512
    angles = places[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


# %% wrong: starts again at 2048 ->
def sinusoidal_encoding(max_len, d_model):
    places = torch.arange(max_len) % 2048
    angles = places[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


# %% wrong: the last place of an odd number is forgotten ->
def sinusoidal_encoding(max_len, d_model):
    angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    if max_len % 2:
        angles[-1] = 0
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


# %% wrong: 0, 1, 0, 1 in every row ->
def sinusoidal_encoding(max_len, d_model):
    return torch.tensor([0.0, 1.0]).repeat(max_len, d_model // 2)


# %% wrong: axes of one fall away ->
def sinusoidal_encoding(max_len, d_model):
    angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).squeeze()


# %% wrong: rounded to three digits ->
def sinusoidal_encoding(max_len, d_model):
    angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).round(decimals=1)


# %% wrong: cut from a table of 5000 places ->
def sinusoidal_encoding(max_len, d_model):
    speed = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(5000).unsqueeze(1) * speed
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:max_len]


# %% wrong: in half precision ->
def sinusoidal_encoding(max_len, d_model):
    speed = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(max_len).unsqueeze(1) * speed
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).half().float()


# %% wrong: the root of an infinite power ->
def sinusoidal_encoding(max_len, d_model):
    place = torch.arange(max_len).unsqueeze(1)
    divisor = (10000.0 ** torch.arange(0, d_model, 2)) ** (1 / d_model)
    table = torch.empty(max_len, d_model)
    table[:, 0::2] = (place / divisor).sin()
    table[:, 1::2] = (place / divisor).cos()
    return table


# %% wrong: the table of helpers -> a ready-made part in place of an answer
import helpers.models as m


def sinusoidal_encoding(max_len, d_model):
    return m.sinusoids(max_len, d_model)


# %% wrong: full turns taken off with a rounded 2 pi ->
def sinusoidal_encoding(max_len, d_model):
    pair = torch.arange(d_model, dtype=torch.float64) // 2
    angles = torch.arange(max_len, dtype=torch.float64).view(-1, 1) / 10000 ** (2 * pair / d_model)
    angles = angles % (2 * 3.1416)
    return torch.where(torch.arange(d_model) % 2 == 0, angles.sin(), angles.cos()).float()


# %% wrong: the table of a model of helpers -> a ready-made part in place of an answer
def sinusoidal_encoding(n_positions, d_model):
    from helpers.models import TransformerBase

    return TransformerBase(5, d_model, 1, 1, max_len=n_positions, positions="sinusoidal").position


# %% wrong: the angles of helpers -> a ready-made part in place of an answer
def sinusoidal_encoding(max_len, d_model):
    from helpers.models import rotary_angles

    angles = rotary_angles(torch.arange(max_len), d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
