# %% right: the smaller of two branches
def warmup(step, warmup_steps, peak):
    return peak * min(step / warmup_steps, (warmup_steps / step) ** 0.5)


# %% right: with an if
def warmup(step, warmup_steps, peak):
    if step <= warmup_steps:
        return peak * step / warmup_steps
    return peak * warmup_steps**0.5 / step**0.5


# %% right: the formula of the paper, scaled
def warmup(step, warmup_steps, peak):
    paper = min(step**-0.5, step * warmup_steps**-1.5)
    return peak * warmup_steps**0.5 * paper


# %% right: with sympy
def warmup(step, warmup_steps, peak):
    rising = sympy.Rational(step, warmup_steps)
    falling = sympy.sqrt(sympy.Rational(warmup_steps, step))
    return float(peak * min(rising, falling))


# %% wrong: max -> the larger of the two branches is taken
def warmup(step, warmup_steps, peak):
    return peak * max(step / warmup_steps, (warmup_steps / step) ** 0.5)


# %% wrong: flat after the peak -> it stays at the peak
def warmup(step, warmup_steps, peak):
    return peak * min(1.0, step / warmup_steps)


# %% wrong: no root -> it falls like one over the step
def warmup(step, warmup_steps, peak):
    return peak * min(step / warmup_steps, warmup_steps / step)


# %% wrong: falling only -> there is no warm-up
def warmup(step, warmup_steps, peak):
    return peak * (warmup_steps / step) ** 0.5


# %% wrong: one over the root of the step -> it jumps at the end of the warm-up
def warmup(step, warmup_steps, peak):
    if step <= warmup_steps:
        return peak * step / warmup_steps
    return peak / step**0.5


# %% wrong: counts anew from the peak -> it starts to fall from the peak as if the warm-up had not been
def warmup(step, warmup_steps, peak):
    if step <= warmup_steps:
        return peak * step / warmup_steps
    return peak / (step - warmup_steps + 1) ** 0.5


# %% wrong: step minus one -> steps are counted from 0
def warmup(step, warmup_steps, peak):
    return peak * min((step - 1) / warmup_steps, (warmup_steps / step) ** 0.5)


# %% wrong: step plus one -> the first step has number 0
def warmup(step, warmup_steps, peak):
    step = step + 1
    return peak * min(step / warmup_steps, (warmup_steps / step) ** 0.5)


# %% wrong: a factor -> the peak is forgotten
def warmup(step, warmup_steps, peak):
    return min(step / warmup_steps, (warmup_steps / step) ** 0.5)


# %% wrong: copied from the paper -> the formula of the paper without a peak
def warmup(step, warmup_steps, peak):
    return min(step**-0.5, step * warmup_steps**-1.5)


# %% wrong: copied from the paper, times the peak -> the formula of the paper times the peak
def warmup(step, warmup_steps, peak):
    return peak * min(step**-0.5, step * warmup_steps**-1.5)


# %% wrong: falls in a straight line ->
def warmup(step, warmup_steps, peak):
    return peak * min(step / warmup_steps, max(0.0, 2 - step / warmup_steps))


# %% wrong: warm-up plus one ->
def warmup(step, warmup_steps, peak):
    return peak * min(step / (warmup_steps + 1), (warmup_steps / step) ** 0.5)


# %% wrong: rounded to six digits ->
def warmup(step, warmup_steps, peak):
    return round(peak * min(step / warmup_steps, math.sqrt(warmup_steps / step)), 6)


# %% wrong: nothing is learned after a hundred times the warm-up ->
def warmup(step, warmup_steps, peak):
    return peak * min(step / warmup_steps, math.sqrt(warmup_steps / step)) * (step <= 100 * warmup_steps)


# %% wrong: never below a tenth of the peak after the warm-up ->
def warmup(step, warmup_steps, peak):
    return peak * (step / warmup_steps if step <= warmup_steps else max(0.1, math.sqrt(warmup_steps / step)))


# %% wrong: the peak, always ->
def warmup(step, warmup_steps, peak):
    return peak


# %% wrong: whole division ->
def warmup(step, warmup_steps, peak):
    return peak * min(step // warmup_steps, math.sqrt(warmup_steps / step))


# %% wrong: falls as it does after four steps of warm-up ->
def warmup(step, warmup_steps, peak):
    return peak * min(step / warmup_steps, 2 / math.sqrt(step))


# %% wrong: W = 1: the peak forever ->
def warmup(step, warmup_steps, peak):
    if warmup_steps <= 1:
        return peak
    return peak * min(step / warmup_steps, math.sqrt(warmup_steps / step))


# %% wrong: never above 1 ->
def warmup(step, warmup_steps, peak):
    return min(1.0, peak * min(step / warmup_steps, (warmup_steps / step) ** 0.5))


# %% wrong: the schedule of helpers -> a ready-made part in place of an answer
def warmup(step, warmup_steps, peak):
    from helpers.training import schedule

    return peak * schedule("inverse_sqrt", warmup_steps)(step - 1)


# %% wrong: never below a thousandth of the peak ->
def warmup(step, warmup_steps, peak):
    return peak * max(0.001, min(step / warmup_steps, math.sqrt(warmup_steps / step)))


# %% wrong: whole multiples under the root -> the root of whole multiples of the warm-up
def warmup(step, warmup_steps, peak):
    if step < warmup_steps:
        return peak * step / warmup_steps
    return peak / math.sqrt(step // warmup_steps)
