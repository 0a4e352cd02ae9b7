# %% right: broadcasting and masked_fill
def alibi_bias(n_heads, size):
    slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    distance = torch.arange(size)[:, None] - torch.arange(size)
    bias = -slopes[:, None, None] * distance
    return bias.masked_fill(distance < 0, float("-inf"))


# %% right: bias plus causal mask
def alibi_bias(n_heads, size):
    places = torch.arange(size, dtype=torch.float)
    mask = torch.full((size, size), float("-inf")).triu(1)
    heads = [(places[None, :] - places[:, None]).tril() * 2 ** (-8 / n_heads * (k + 1)) + mask for k in range(n_heads)]
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
def alibi_bias(n_heads, size):
    slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    distance = torch.arange(size)[:, None] - torch.arange(size)
    return (slopes[:, None, None] * distance).masked_fill(distance < 0, float("-inf"))


# %% wrong: absolute distance, no mask -> symmetric: the future is not blocked
def alibi_bias(n_heads, size):
    slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    distance = torch.arange(size)[:, None] - torch.arange(size)
    return -slopes[:, None, None] * distance.abs()


# %% wrong: no mask at all -> the future is rewarded
def alibi_bias(n_heads, size):
    slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    return slopes[:, None, None] * (torch.arange(size) - torch.arange(size)[:, None])


# %% wrong: tril alone -> the future has a bias of 0
def alibi_bias(n_heads, size):
    slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    distance = torch.arange(size)[:, None] - torch.arange(size)
    return -slopes[:, None, None] * distance.tril()


# %% wrong: rows and columns exchanged -> the past is blocked in place of the future
def alibi_bias(n_heads, size):
    slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    distance = torch.arange(size) - torch.arange(size)[:, None]
    return (-slopes[:, None, None] * distance).masked_fill(distance < 0, float("-inf"))


# %% wrong: 1/2, 1/4, 1/8 for any number of heads -> the slopes halve from head to head, whatever the number of heads
def alibi_bias(n_heads, size):
    slopes = torch.tensor([0.5 ** (k + 1) for k in range(n_heads)])
    distance = torch.arange(size)[:, None] - torch.arange(size)
    return (-slopes[:, None, None] * distance).masked_fill(distance < 0, float("-inf"))


# %% wrong: exponents from 0 -> the first slope is 1
def alibi_bias(n_heads, size):
    slopes = 2 ** (-8 * torch.arange(n_heads) / n_heads)
    distance = torch.arange(size)[:, None] - torch.arange(size)
    return (-slopes[:, None, None] * distance).masked_fill(distance < 0, float("-inf"))


# %% wrong: 1, 7/8, 6/8 -> the slopes go down in equal steps
def alibi_bias(n_heads, size):
    slopes = torch.tensor([(n_heads - k) / n_heads for k in range(n_heads)])
    distance = torch.arange(size)[:, None] - torch.arange(size)
    return (-slopes[:, None, None] * distance).masked_fill(distance < 0, float("-inf"))


# %% wrong: gentle slopes first -> the heads stand in the opposite order
def alibi_bias(n_heads, size):
    slopes = 2 ** (-8 * torch.arange(n_heads, 0, -1) / n_heads)
    distance = torch.arange(size)[:, None] - torch.arange(size)
    return (-slopes[:, None, None] * distance).masked_fill(distance < 0, float("-inf"))


# %% wrong: distance squared -> the distance is squared
def alibi_bias(n_heads, size):
    slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    distance = torch.arange(size)[:, None] - torch.arange(size)
    return (-slopes[:, None, None] * distance**2).masked_fill(distance < 0, float("-inf"))


# %% wrong: one slope for all heads ->
def alibi_bias(n_heads, size):
    distance = torch.arange(size)[:, None] - torch.arange(size)
    bias = (-0.5 * distance).masked_fill(distance < 0, float("-inf"))
    return bias.expand(n_heads, size, size)


# %% wrong: a large number in place of minus infinity -> a large finite number in place of -inf
def alibi_bias(n_heads, size):
    slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    distance = torch.arange(size)[:, None] - torch.arange(size)
    return (-slopes[:, None, None] * distance).masked_fill(distance < 0, -1e9)


# %% wrong: only the distance from the last token ->
def alibi_bias(n_heads, size):
    slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    bias = slopes[:, None, None] * torch.arange(-size + 1, 1).expand(size, size)
    return bias.masked_fill(torch.ones(size, size).triu(1) == 1, float("-inf"))


# %% wrong: one square, no heads ->
def alibi_bias(n_heads, size):
    distance = torch.arange(size)[:, None] - torch.arange(size)
    return (-0.5 * distance).masked_fill(distance < 0, float("-inf"))


# %% wrong: the code of the authors -> other slopes where the number of heads is no power of 2
def alibi_bias(n_heads, size):
    import math

    def powers(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]

    closest = 2 ** math.floor(math.log2(n_heads))
    slopes = torch.tensor(powers(closest) + powers(2 * closest)[0::2][: n_heads - closest])
    distance = torch.arange(size)[:, None] - torch.arange(size)
    return (-slopes[:, None, None] * distance).masked_fill(distance < 0, float("-inf"))


# %% wrong: a list of known numbers of heads ->
def alibi_bias(n_heads, size):
    steps = {1: 8, 2: 4, 4: 2, 8: 1, 16: 0.5}[n_heads]
    slopes = 2 ** (-steps * torch.arange(1, n_heads + 1))
    distance = torch.arange(size)[:, None] - torch.arange(size)
    return (-slopes[:, None, None] * distance).masked_fill(distance < 0, float("-inf"))


# %% wrong: nothing lost beyond 10 steps ->
def alibi_bias(n_heads, size):
    slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    distance = torch.arange(size)[:, None] - torch.arange(size)
    return (-slopes[:, None, None] * distance.clamp(max=10)).masked_fill(distance < 0, float("-inf"))


# %% wrong: nothing lost beyond 16 steps ->
def alibi_bias(n_heads, size):
    slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    distance = torch.arange(size)[:, None] - torch.arange(size)
    return (-slopes[:, None, None] * distance.clamp(max=16)).masked_fill(distance < 0, float("-inf"))


# %% wrong: nothing lost beyond 100 steps ->
def alibi_bias(n_heads, size):
    slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    distance = torch.arange(size)[:, None] - torch.arange(size)
    return (-slopes[:, None, None] * distance.clamp(max=100)).masked_fill(distance < 0, float("-inf"))


# %% wrong: the mask only ->
def alibi_bias(n_heads, size):
    return torch.full((size, size), float("-inf")).triu(1).repeat(n_heads, 1, 1)


# %% wrong: a head alone has no axis ->
def alibi_bias(n_heads, size):
    slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    distance = torch.arange(size)[:, None] - torch.arange(size)
    return (-slopes[:, None, None] * distance).masked_fill(distance < 0, float("-inf")).squeeze()


# %% wrong: distances end at 256 ->
def alibi_bias(n_heads, size):
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    distance = (torch.arange(size)[:, None] - torch.arange(size)).clamp(max=256)
    return (-slopes[:, None, None] * distance).masked_fill(distance < 0, -torch.inf)


# %% wrong: far words are forbidden ->
def alibi_bias(n_heads: int, size: int) -> Tensor:
    places = torch.arange(size)
    distances = places[:, None] - places
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    bias = -slopes[:, None, None] * distances
    return bias.masked_fill((distances < 0) | (bias < -20), float("-inf"))


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
    places = torch.arange(size)
    distances = places[:, None] - places
    bias = -torch.tensor(slopes).view(-1, 1, 1) * distances
    return bias.masked_fill(distances < 0, -torch.inf)


# %% wrong: heads beyond 32 have the slope of head 31 ->
def alibi_bias(n_heads, size):
    head = torch.arange(1, n_heads + 1).clamp(max=32)
    distance = torch.arange(size)[:, None] - torch.arange(size)
    bias = -(2.0 ** (-8 * head / n_heads))[:, None, None] * distance
    return bias.masked_fill(distance < 0, float("-inf"))


# %% wrong: slope times the place of the key, as in the authors' program -> the bias goes with the place of the key
def alibi_bias(n_heads, size):
    slopes = torch.exp2(-8 / n_heads * (torch.arange(n_heads) + 1)).view(n_heads, 1, 1)
    return slopes * torch.arange(size).view(1, 1, size) + torch.full((size, size), -torch.inf).triu(diagonal=1)


# %% wrong: the bias of helpers -> a ready-made part in place of an answer
from helpers import models


def alibi_bias(n_heads, size):
    places = torch.arange(size)
    distance = places[:, None] - places
    return models.alibi_bias(n_heads, distance.float()).masked_fill(distance < 0, -torch.inf)


# %% wrong: the mask of a model of helpers -> a ready-made part in place of an answer
def alibi_bias(n_heads, size):
    from helpers.models import Context, TransformerBase

    base = TransformerBase(2, n_heads, 1, n_heads, positions="alibi")
    return base._look(torch.arange(size), 0, torch.zeros(1, size, n_heads), None, Context()).mask
