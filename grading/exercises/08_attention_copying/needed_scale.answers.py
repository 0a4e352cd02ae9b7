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
# other: Bisection needs only the weight for a given scale, and so works where no formula can be inverted; the closed form is one step, holds for scales of any size, and shows how n enters.
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
# hint: More keys leak more: e^s must grow with n - 2.
# ~ (n - 2) * (1 - 2 * error) => (1 - 2 * error)

# %% wrong: n -> n others in place of n - 2
# hint: a and b are among the n keys: n - 2 others leak.
# ~ (n - 2) => n

# %% wrong: n - 1 others -> n - 1 others in place of n - 2
# hint: One key has n - 1 others. Here two keys share the attention: n - 2 others leak.
# ~ (n - 2) * => (n - 1) *

# %% wrong: 2 in place of 4 -> a factor 2 is lost
# hint: e^s/(2 e^s + n - 2) = 1/2 - error gives e^s (1 - 2 (1/2 - error)) = (n - 2)(1/2 - error): the bracket on the
# hint: left is 2 error, and a half on the right becomes another 2 below. In all 4 error.
# ~ (1 - 2 * error) / (4 * error) => (0.5 - error) / error

# %% wrong: what leaks in all -> the error of both weights together
# hint: `error` is how far each of the two weights stays below one half; the others then get twice as much in all.
# ~ (1 - 2 * error) / (4 * error) => (1 - error) / (2 * error)

# %% wrong: no logarithm -> e^s in place of s
# hint: You have solved for e^s. Take the natural logarithm to get the scale itself.
# ~ math.log((n - 2) * (1 - 2 * error) / (4 * error)) => (n - 2) * (1 - 2 * error) / (4 * error)

# %% wrong: log10 -> a logarithm to another base
# hint: The softmax uses powers of e, so the logarithm is the natural one: math.log or sympy.log.
# ~ log => log10

# %% wrong: base 2 -> a logarithm to base 2
# hint: The softmax uses powers of e, so the logarithm is the natural one: math.log or sympy.log.
# ~ log => log2

# %% wrong: upside down -> the sign is turned round
# hint: ln(1/x) is -ln(x): your fraction is upside down.
# ~ (n - 2) * (1 - 2 * error) / (4 * error) => 4 * error / ((n - 2) * (1 - 2 * error))

# %% wrong: weight equal to error -> the weight is set to the error
# hint: The weight must be 1/2 - error, not error.
# ~ (n - 2) * (1 - 2 * error) / (4 * error) => error * (n - 2) / (1 - 2 * error)

# %% wrong: rounded up ->
# ~ log((n - 2) * (1 - 2 * error) / (4 * error)) => ceil(math.log((n - 2) * (1 - 2 * error) / (4 * error)))

# %% wrong: never below 0 ->
# ~ math.log((n - 2) * (1 - 2 * error) / (4 * error)) => max(0.0, math.log((n - 2) * (1 - 2 * error) / (4 * error)))


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
