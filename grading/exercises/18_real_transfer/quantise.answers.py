# %% right: the largest amount is 127
def quantise(weight):
    largest = weight.detach().abs().amax(dim=1)
    scales = torch.where(largest > 0, largest / 127, torch.ones_like(largest))
    return (weight.detach() / scales.unsqueeze(1)).round().to(torch.int8), scales


# %% right: multiplied by 127
def quantise(weight):
    weight = weight.detach()
    top = torch.maximum(weight.max(dim=1).values, -weight.min(dim=1).values)[:, None]
    codes = torch.round(weight * (127 / top.masked_fill(top == 0, 127)))
    return codes.type(torch.int8), top.masked_fill(top == 0, 127).squeeze(1) / 127


# %% right: row by row
# other: It reads like the rule, one row at a time; the solution does all rows at once, and the row of zeros with them.
def quantise(weight):
    codes, scales = [], []
    for row in weight.detach():
        scale = row.abs().max() / 127 if row.any() else row.new_ones(())
        codes.append(torch.floor(row / scale + 0.5))
        scales.append(scale)
    return torch.stack(codes).to(torch.int8), torch.stack(scales)


# %% wrong: one scale for all rows -> one scale for the whole matrix
# hint: A single large row makes the codes of all others small. Each row has a scale of its own.
# ~ weight.detach().abs().amax(dim=1) => weight.detach().abs().amax().expand(len(weight))


# %% wrong: by columns -> the scales are those of the columns
# hint: A row is what one output is made of: one scale for each row, dim=1.
def quantise(weight):
    largest = weight.detach().abs().amax(dim=0)
    scales = torch.where(largest > 0, largest / 127, torch.ones_like(largest))
    return (weight.detach() / scales).round().to(torch.int8), scales


# %% wrong: cut off -> cut off in place of rounded
# hint: .to(torch.int8) cuts towards 0: round first. Cut codes are wrong by up to a whole step, rounded ones by half.
# ~ .round().to(torch.int8) => .to(torch.int8)

# %% wrong: rounded down -> rounded down
# hint: The nearest whole number is wanted: 2.7 becomes 3, and -2.7 becomes -3.
# ~ .round().to(torch.int8) => .floor().to(torch.int8)

# %% wrong: 128 steps -> divided by 128
# hint: int8 goes from -128 to 127: with 128 the largest value of a row does not fit.
# ~ largest / 127 => largest / 128

# %% wrong: 255 steps -> divided by 255
# hint: Codes have a sign: the largest amount becomes 127, not 255.
# ~ largest / 127 => largest / 255

# %% wrong: the largest value, not amount -> the sign of the largest value
# hint: The largest *amount* counts: in a row of -3 and 2 it is 3.
# ~ weight.detach().abs().amax(dim=1) => weight.detach().amax(dim=1).abs()

# %% wrong: a scale that is its inverse -> the inverse of the scale
# hint: code times scale is the value: the scale is the largest amount divided by 127.
# ~ .to(torch.int8), scales => .to(torch.int8), 1 / scales

# %% wrong: zeros divided by zero ->
# ~ scales = torch.where(largest > 0, largest / 127, torch.ones_like(largest)) => scales = largest / 127

# %% wrong: a little added ->
# ~ scales = torch.where(largest > 0, largest / 127, torch.ones_like(largest)) => scales = largest / 127 + 1e-8

# %% wrong: whole numbers in a float tensor -> the codes are no bytes
# hint: A byte a value is the point: .to(torch.int8) at the end.
# of: the largest amount is 127
# ~ .round().to(torch.int8) => .round()

# %% wrong: whole numbers of 64 bits -> the codes are no bytes
# of: the largest amount is 127
# ~ .to(torch.int8) => .long()

# %% wrong: the scale is kept below one ->
# of: the largest amount is 127
# ~ torch.ones_like(largest)) => torch.ones_like(largest)).clamp(max=1.0)

# %% wrong: scales in a column -> the scales stand in a column
# hint: Wanted is one number for each row, `(r,)`. A column `(r, 1)` is for the division alone: `scales[:, None]`.
# of: the largest amount is 127
# ~ .to(torch.int8), scales => .to(torch.int8), scales[:, None]

# %% wrong: the scale has the sign of the largest amount -> scales below 0
# hint: Scales are greater than 0, and codes have the sign of their values: take the amount, `.abs()`, of the largest.
# of: the largest amount is 127
# ~ weight.detach().abs().amax(dim=1) => weight.detach().gather(1, weight.detach().abs().argmax(dim=1, keepdim=True))[:, 0]
# ~ largest > 0 => largest != 0

# %% wrong: small rows count as zeros ->
# of: the largest amount is 127
# ~ largest > 0 => largest > 1e-6

# %% wrong: at least a small scale ->
# of: the largest amount is 127
# ~ largest / 127, torch.ones_like(largest)) => (largest / 127).clamp_min(1e-8), torch.ones_like(largest))

# %% wrong: at least a very small scale ->
# of: the largest amount is 127
# ~ largest / 127, torch.ones_like(largest)) => (largest / 127).clamp_min(1e-12), torch.ones_like(largest))

# %% wrong: only a matrix of zeros ->
# of: the largest amount is 127
# ~ torch.where(largest > 0, largest / 127, torch.ones_like(largest)) => largest / 127 if weight.any() else torch.ones_like(largest)
