# %% right: the closed form
def needed_scale(n, error):
    return math.log((n - 2) * (1 - 2 * error) / (4 * error))


# %% right: from the weight
def needed_scale(n, error):
    weight = 0.5 - error
    return math.log(weight * (n - 2) / (1 - 2 * weight))


# %% right: sympy inverts the formula
def needed_scale(n, error):
    power = sympy.Symbol("power", positive=True)
    weight = power / (2 * power + n - 2)
    wanted = sympy.Rational(1, 2) - sympy.nsimplify(error)
    return sympy.log(sympy.solve(sympy.Eq(weight, wanted), power)[0])


# %% right: bisection with room on both sides
def needed_scale(n, error):
    low, high = -60.0, 60.0
    for _ in range(200):
        middle = (low + high) / 2
        weight = math.exp(middle) / (2 * math.exp(middle) + n - 2)
        low, high = (middle, high) if weight < 0.5 - error else (low, middle)
    return low


# %% right: a difference of logarithms, as a tensor
def needed_scale(n, error):
    error = torch.tensor(error, dtype=torch.float64)
    return math.log(n - 2) + torch.log1p(-2 * error) - torch.log(4 * error)


# %% right: sympy solves the formula of the exercise before
def needed_scale(n, error):
    count = sympy.Symbol("n", positive=True, integer=True)
    return float(sympy.solve(average_weight().subs(count, n) - (0.5 - error), s)[0])


# %% wrong: no others -> the n - 2 others are forgotten
def needed_scale(n, error):
    return math.log((1 - 2 * error) / (4 * error))


# %% wrong: n -> n others in place of n - 2
def needed_scale(n, error):
    return math.log(n * (1 - 2 * error) / (4 * error))


# %% wrong: what leaks in all -> the error of both weights together
def needed_scale(n, error):
    return math.log((n - 2) * (1 - error) / (2 * error))


# %% wrong: no logarithm -> e^s in place of s
def needed_scale(n, error):
    return (n - 2) * (1 - 2 * error) / (4 * error)


# %% wrong: log10 -> a logarithm to another base
def needed_scale(n, error):
    return math.log10((n - 2) * (1 - 2 * error) / (4 * error))


# %% wrong: upside down -> the sign is turned round
def needed_scale(n, error):
    return math.log(4 * error / ((n - 2) * (1 - 2 * error)))


# %% wrong: weight equal to error -> the weight is set to the error
def needed_scale(n, error):
    return math.log(error * (n - 2) / (1 - 2 * error))


# %% wrong: good for small errors only ->
def needed_scale(n, error):
    return math.log((n - 2) / (4 * error))


# %% wrong: base 2 -> a logarithm to base 2
def needed_scale(n, error):
    return math.log2((n - 2) * (1 - 2 * error) / (4 * error))


# %% wrong: the scale of a copy ->
def needed_scale(n, error):
    return math.log((n - 1) * (1 - error) / error)


# %% wrong: rounded up ->
def needed_scale(n, error):
    return math.ceil(math.log((n - 2) * (1 - 2 * error) / (4 * error)))


# %% wrong: a formula that is not evaluated ->
def needed_scale(n, error):
    count = sympy.Symbol("count")
    return sympy.log((count - 2) * (1 - 2 * error) / (4 * error))


# %% wrong: a list of solutions ->
def needed_scale(n, error):
    return [math.log((n - 2) * (1 - 2 * error) / (4 * error))]


# %% wrong: n - 1 others -> n - 1 others in place of n - 2
def needed_scale(n, error):
    return math.log((n - 1) * (1 - 2 * error) / (4 * error))


# %% wrong: 2 in place of 4 -> a factor 2 is lost
def needed_scale(n, error):
    return math.log((n - 2) * (0.5 - error) / error)


# %% wrong: never below 0 ->
def needed_scale(n, error):
    return max(0.0, math.log((n - 2) * (1 - 2 * error) / (4 * error)))


# %% wrong: without its sign ->
def needed_scale(n, error):
    return abs(math.log((n - 2) * (1 - 2 * error) / (4 * error)))


# %% wrong: bisection between 0 and 20 ->
def needed_scale(n, error):
    low, high = 0.0, 20.0
    for _ in range(100):
        middle = (low + high) / 2
        weight = math.exp(middle) / (2 * math.exp(middle) + n - 2)
        low, high = (middle, high) if weight < 0.5 - error else (low, middle)
    return low


# %% wrong: the first of a list of scales that is enough ->
def needed_scale(n, error):
    for scale in torch.arange(0, 40, 0.01).tolist():
        if math.exp(scale) / (2 * math.exp(scale) + n - 2) >= 0.5 - error:
            return scale


# %% wrong: always 0 ->
def needed_scale(n, error):
    return 0.0


# %% wrong: a short formula for many keys ->
def needed_scale(n: int, error: float) -> float:
    if n > 1000:
        return math.log(n / (4 * error))
    return math.log((n - 2) * (0.5 - error) / (2 * error))


# %% wrong: looks between -20 and 20 only ->
def needed_scale(n: int, error: float) -> float:
    low, high = -20.0, 20.0
    for _ in range(100):
        middle = (low + high) / 2
        if 1 / (2 + (n - 2) * math.exp(-middle)) < 0.5 - error:
            low = middle
        else:
            high = middle
    return low
