# %% right: broadcasting and masked_fill
def alibi_bias(n_heads, size):
    slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    distance = torch.arange(size)[:, None] - torch.arange(size)
    bias = -slopes[:, None, None] * distance
    return bias.masked_fill(distance < 0, float("-inf"))


# %% right: bias plus causal mask
# other: Bias and causal mask are two terms that are added, as they are added to the scores; the solution makes all heads at once, without a loop.
def alibi_bias(n_heads, size):
    positions = torch.arange(size, dtype=torch.float)
    mask = torch.full((size, size), float("-inf")).triu(1)
    distance = (positions[None, :] - positions[:, None]).tril()
    heads = [distance * 2 ** (-8 / n_heads * (k + 1)) + mask for k in range(n_heads)]
    return torch.stack(heads)


# %% right: three loops
def alibi_bias(n_heads, size):
    ratio = 2 ** (-8 / n_heads)
    bias = torch.full((n_heads, size, size), -torch.inf)
    slope = 1.0
    for k in range(n_heads):
        slope *= ratio
        for i in range(size):
            for j in range(i + 1):
                bias[k, i, j] = -slope * (i - j)
    return bias


# %% right: einsum and where, in double precision
def alibi_bias(n_heads, size):
    slopes = torch.tensor([1 / 256 ** ((k + 1) / n_heads) for k in range(n_heads)], dtype=torch.float64)
    i, j = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    linear = torch.einsum("h,ij->hij", slopes, (j - i).double())
    return torch.where(j > i, -torch.inf, linear)


# %% wrong: plus in place of minus -> the slopes are positive
# hint: Your bias rewards distance: the farther a word, the higher its score. It must be minus slope times distance.
def alibi_bias(n_heads, size):
    slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    distance = torch.arange(size)[:, None] - torch.arange(size)
    return (slopes[:, None, None] * distance).masked_fill(distance < 0, float("-inf"))


# %% wrong: absolute distance, no mask -> symmetric: the future is not blocked
# hint: -slope * |i - j| lets a token see the future as well as the past. Here the bias holds the causal mask too: -inf
# hint: where j > i.
# of: plus in place of minus
# ~ (slopes[:, None, None] * distance).masked_fill(distance < 0, float("-inf") => -slopes[:, None, None] * distance.abs(


# %% wrong: slope times the key's position, as in the authors' program -> the bias goes with the position of the key
# hint: slope * j makes the same weights, since softmax does not mind a constant in a row, and some programs do so.
# hint: Asked for is minus slope times the distance i - j: 0 on the diagonal, and less with each step back.
def alibi_bias(n_heads, size):
    slopes = torch.exp2(-8 / n_heads * (torch.arange(n_heads) + 1)).view(n_heads, 1, 1)
    return slopes * torch.arange(size).view(1, 1, size) + torch.full((size, size), -torch.inf).triu(diagonal=1)


# %% wrong: no mask at all -> the future is rewarded
# hint: For j > i the distance i - j is negative, and minus slope times it is a bonus. Put -inf there.
def alibi_bias(n_heads, size):
    slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    return slopes[:, None, None] * (torch.arange(size) - torch.arange(size)[:, None])


# %% wrong: tril alone -> the future has a bias of 0
# hint: 0 is the best score there is, and the future gets it. Put -inf where j > i.
# -    return (slopes[:, None, None] * distance).masked_fill(distance < 0, float("-inf"))
# +    return -slopes[:, None, None] * distance.tril()

# %% wrong: rows and columns exchanged -> the past is blocked in place of the future
# hint: Row i is the token that looks: -inf belongs above the diagonal, where j > i.
# ~ (size)[:, None] - torch.arange(size) => (size) - torch.arange(size)[:, None]
# ~ (slopes[:, None, None] * distance) => (-slopes[:, None, None] * distance)

# %% wrong: 1/2, 1/4, 1/8 for any number of heads -> the slopes halve from head to head, whatever the number of heads
# hint: That is right for 8 heads. In general the factor is 2^(-8 / h), so that the last slope is always 1/256.
# ~ 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads) => torch.tensor([0.5 ** (k + 1) for k in range(n_heads)])
# ~ (slopes[:, None, None] * distance) => (-slopes[:, None, None] * distance)

# %% wrong: exponents from 0 -> the first slope is 1
# hint: Head 0 has the slope 2^(-8 / h), not 2^0: the exponents run from 1 to h.
# ~ 1, n_heads + 1 => n_heads
# ~ (slopes[:, None, None] * distance) => (-slopes[:, None, None] * distance)

# %% wrong: 1, 7/8, 6/8 -> the slopes go down in equal steps
# hint: Slopes are geometric: each is the one before times the same factor. So some heads look near and others far.
# ~ 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads => torch.tensor([(n_heads - k) / n_heads for k in range(n_heads)]
# ~ (slopes[:, None, None] * distance) => (-slopes[:, None, None] * distance)

# %% wrong: gentle slopes first -> the heads stand in the opposite order
# hint: Head 0 has the steepest slope and looks nearest; the last one has 1/256.
# ~ 1, n_heads + 1 => n_heads, 0, -1
# ~ (slopes[:, None, None] * distance) => (-slopes[:, None, None] * distance)

# %% wrong: distance squared -> the distance is squared
# hint: ALiBi is linear: each step back costs the same.
# ~ slopes[:, None, None] * distance => -slopes[:, None, None] * distance**2


# %% wrong: the code of the authors -> other slopes where the number of heads is no power of 2
# hint: The published code of the paper does so. Here the rule is the same for all: the slope of head k is 2^(-8 (k + 1)
# hint: / h).
def alibi_bias(n_heads, size):
    import math

    def powers(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]

    closest = 2 ** math.floor(math.log2(n_heads))
    slopes = torch.tensor(powers(closest) + powers(2 * closest)[0::2][: n_heads - closest])
    distance = torch.arange(size)[:, None] - torch.arange(size)
    return (-slopes[:, None, None] * distance).masked_fill(distance < 0, float("-inf"))


# %% wrong: a large number in place of minus infinity -> a large finite number in place of -inf
# hint: -1e9 mostly works, but not in half precision, and a row in which all is blocked gets equal weights without a
# hint: warning. Use -torch.inf.
# -    return (slopes[:, None, None] * distance).masked_fill(distance < 0, float("-inf"))
# +    return (-slopes[:, None, None] * distance).masked_fill(distance < 0, -1e9)

# %% wrong: a head alone has no axis ->
# -    return (slopes[:, None, None] * distance).masked_fill(distance < 0, float("-inf"))
# +    return (-slopes[:, None, None] * distance).masked_fill(distance < 0, float("-inf")).squeeze()


# %% wrong: distances end at 256 ->
def alibi_bias(n_heads, size):
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    distance = (torch.arange(size)[:, None] - torch.arange(size)).clamp(max=256)
    return (-slopes[:, None, None] * distance).masked_fill(distance < 0, -torch.inf)


# %% wrong: the logarithm of what each step back leaves ->
def alibi_bias(n_heads, size):
    slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    distance = (torch.arange(size).unsqueeze(1) - torch.arange(size)).clamp(min=0)
    factors = torch.exp(-slopes.view(-1, 1, 1) * distance)
    return factors.tril().log()


# %% wrong: exponents are added up while they are at most 8, and rounding loses the last head ->
def alibi_bias(n_heads: int, size: int) -> Tensor:
    step = 8 / n_heads
    slopes, exponent = [], step
    while exponent <= 8:
        slopes.append(2**-exponent)
        exponent += step
    positions = torch.arange(size)
    distances = positions[:, None] - positions
    bias = -torch.tensor(slopes).view(-1, 1, 1) * distances
    return bias.masked_fill(distances < 0, -torch.inf)


# %% wrong: heads beyond 32 have the slope of head 31 ->
# of: broadcasting and masked_fill
# ~ slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads) => head = torch.arange(1, n_heads + 1).clamp(max=32)
# ~ slopes => (2.0 ** (-8 * head / n_heads))


# %% wrong: the bias of helpers -> a ready-made part in place of an answer
from helpers import models


def alibi_bias(n_heads, size):
    positions = torch.arange(size)
    distance = positions[:, None] - positions
    return models.alibi_bias(n_heads, distance.float()).masked_fill(distance < 0, -torch.inf)


# %% wrong: the mask of a model of helpers -> a ready-made part in place of an answer
def alibi_bias(n_heads, size):
    from helpers.models import Context, TransformerBase

    base = TransformerBase(2, n_heads, 1, n_heads, positions="alibi")
    return base._look(torch.arange(size), 0, torch.zeros(1, size, n_heads), None, Context()).mask
