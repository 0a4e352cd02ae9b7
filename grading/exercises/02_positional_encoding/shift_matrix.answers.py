# %% right: blocks along the diagonal
def shift_matrix(offset, d_model):
    blocks = []
    for i in range(d_model // 2):
        angle = torch.tensor(offset / 10000 ** (2 * i / d_model))
        blocks.append(torch.tensor([[angle.cos(), angle.sin()], [-angle.sin(), angle.cos()]]))
    return torch.block_diag(*blocks)


# %% right: filled by index
def shift_matrix(offset, d_model):
    matrix = torch.zeros(d_model, d_model)
    even = torch.arange(0, d_model, 2)
    angles = offset / 10000 ** (even / d_model)
    matrix[even, even] = matrix[even + 1, even + 1] = torch.cos(angles)
    matrix[even, even + 1] = torch.sin(angles)
    matrix[even + 1, even] = -torch.sin(angles)
    return matrix


# %% right: read off the encoding of the offset itself
# other: It shows that the entries of the matrix are the encoding of the offset itself; the solution makes no table for them, and treats negative offsets like all others.
def shift_matrix(offset, d_model):
    row = sinusoidal_encoding(abs(offset) + 1, d_model)[-1]  # sin, cos, sin, cos, ...
    sines, cosines = row[0::2] * (1 if offset >= 0 else -1), row[1::2]
    return torch.block_diag(*[torch.stack([c, s, -s, c]).view(2, 2) for s, c in zip(sines, cosines)])


# %% right: the exponential of a generator
def shift_matrix(offset, d_model):
    generator = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(0, d_model, 2):
        generator[i, i + 1] = 10000 ** (-i / d_model)
        generator[i + 1, i] = -generator[i, i + 1]
    return torch.matrix_exp(offset * generator)


# %% right: fitted to the whole turn of the slowest pair
def shift_matrix(offset, d_model):
    positions = torch.arange(0, 60000, 7, dtype=torch.float64)[:, None]
    speeds = 10000 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)

    def encoded(p):
        return torch.stack([(p * speeds).sin(), (p * speeds).cos()], dim=-1).flatten(1)

    return torch.linalg.lstsq(encoded(positions), encoded(positions + offset)).solution.T


# %% wrong: a mathematics book's rotation -> the sign of the sine is wrong: it goes back in place of forward
# hint: Your matrix leads from position p to p - offset (it is the transpose of the wanted one). The plus stands in the
# hint: first row: sin(p + k) = cos k sin p + sin k cos p.
def shift_matrix(offset, d_model):
    matrix = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        angle = torch.tensor(offset / 10000 ** (i / d_model))
        matrix[i : i + 2, i : i + 2] = torch.tensor([[angle.cos(), -angle.sin()], [angle.sin(), angle.cos()]])
    return matrix


# %% wrong: forward only -> a negative offset goes forward, too
# hint: An offset of -2 leads two positions back: keep its sign, and the sines have the other one. abs() takes it away.
def shift_matrix(offset, d_model):
    angles = abs(offset) / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    blocks = [torch.stack([a.cos(), a.sin(), -a.sin(), a.cos()]).view(2, 2) for a in angles]
    return torch.block_diag(*blocks)


# %% wrong: one step, repeated; never back -> a negative offset moves nothing
# hint: For an offset of -2 your matrix is the identity: range(offset) is empty, or the offset is cut off at 0. Turn by
# hint: the negative angle.
def shift_matrix(offset, d_model):
    speeds = 1 / 10000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    even = torch.arange(0, d_model, 2)
    one_step = torch.diag(speeds.cos().repeat_interleave(2))
    one_step[even, even + 1], one_step[even + 1, even] = speeds.sin(), -speeds.sin()
    result = torch.eye(d_model, dtype=torch.float64)
    for _ in range(offset):
        result = one_step @ result
    return result.float()


# %% wrong: outer product with PE[0] -> it works for one position only
# hint: Your matrix takes PE[0] to PE[offset], but not PE[1] to PE[1 + offset]. R must not depend on p: use the addition
# hint: formulas of sine and cosine.
def shift_matrix(offset, d_model):
    speeds = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
    goal = torch.stack([(offset * speeds).sin(), (offset * speeds).cos()], dim=1).flatten()
    start = sinusoidal_encoding(1, d_model)[0]
    return torch.outer(goal, start) / (d_model / 2)


# %% wrong: one angle for all -> every pair turns by the same angle
# hint: Each pair has its own speed: the angle of pair i is offset / 10000^(2i / d_model).
def shift_matrix(offset, d_model):
    angle = torch.tensor(float(offset))
    block = torch.tensor([[angle.cos(), angle.sin()], [-angle.sin(), angle.cos()]])
    return torch.block_diag(*[block] * (d_model // 2))


# %% wrong: 2i counted twice -> the factor 2 of the exponent is counted twice
# hint: arange(0, d_model, 2) is 2i already; twice that makes the pairs turn too slowly.
# of: forward only
# ~ abs(offset) / 10000 ** (torch => offset / 10000 ** (2 * torch

# %% wrong: exponent i / d -> the factor 2 of the exponent is missing
# hint: Pair number i turns by offset / 10000^(2i / d_model), not by offset / 10000^(i / d_model).
# ~ abs(offset) / 10000 ** (torch.arange(0, d_model, => offset / 10000 ** (torch.arange(d_model //


# %% wrong: the minus is forgotten -> both sines have a plus
# hint: cos(p + k) = cos p cos k - sin p sin k has a minus. Without it the matrix is no rotation and changes lengths.
def shift_matrix(offset, d_model):
    angles = offset / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.block_diag(*[torch.tensor([[a.cos(), a.sin()], [a.sin(), a.cos()]]) for a in angles])


# %% wrong: a diagonal matrix -> only the cosines, on the diagonal
# hint: sin(p + k) needs cos p as well as sin p: the sine of the offset stands beside the diagonal.
def shift_matrix(offset, d_model):
    angles = offset / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.diag(angles.cos().repeat_interleave(2))


# %% wrong: sines above, cosines below -> pairs from the two halves
# hint: In our table sine and cosine of one pair are neighbours, so the 2 x 2 blocks stand along the diagonal.
def shift_matrix(offset, d_model):
    half = d_model // 2
    angles = offset / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    matrix = torch.zeros(d_model, d_model)
    matrix[:half, :half] = matrix[half:, half:] = torch.diag(angles.cos())
    matrix[:half, half:] = torch.diag(angles.sin())
    matrix[half:, :half] = -torch.diag(angles.sin())
    return matrix


# %% wrong: ones beside the diagonal -> the columns are shifted in place of the positions
# hint: This matrix moves the numbers of one vector to other columns. The offset moves the position: each pair turns.
def shift_matrix(offset, d_model):
    matrix = torch.zeros(d_model, d_model)
    for i in range(d_model):
        matrix[(i + offset) % d_model, i] = 1
    return matrix


# %% wrong: fitted to forty positions in single precision ->
def shift_matrix(offset, d_model):
    speeds = 10000 ** (-torch.arange(0, d_model, 2) / d_model)

    def encoded(start):
        angles = (torch.arange(40) + start)[:, None] * speeds
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)

    return torch.linalg.lstsq(encoded(0), encoded(offset)).solution.T


# %% wrong: offsets in int8 ->
# -    angles = abs(offset) / 10000 ** (torch.arange(0, d_model, 2) / d_model)
# +    step = torch.tensor(offset).to(torch.int8)
# +    angles = step / 10000 ** (torch.arange(0, d_model, 2) / d_model)


# %% wrong: helpers turn the unit matrix -> a ready-made part in place of an answer
def shift_matrix(offset, d_model):
    from helpers.models import rotary_angles, rotate

    angles = rotary_angles(torch.tensor([float(offset)]), d_model)
    return rotate(torch.eye(d_model)[None, None], angles)[0, 0]
