# %% right: the smaller of two branches
def warmup(step, warmup_steps, peak):
    return peak * min(step / warmup_steps, (warmup_steps / step) ** 0.5)


# %% right: with an if
def warmup(step, warmup_steps, peak):
    if step <= warmup_steps:
        return peak * step / warmup_steps
    return peak * warmup_steps**0.5 / step**0.5


# %% right: the formula of the paper, scaled
# other: It has the formula of the Transformer paper, so that the two can be compared; the solution's two ratios are 1 at the peak, so that the rate there is plainly the peak.
def warmup(step, warmup_steps, peak):
    paper = min(step**-0.5, step * warmup_steps**-1.5)
    return peak * warmup_steps**0.5 * paper


# %% right: with sympy
def warmup(step, warmup_steps, peak):
    rising = sympy.Rational(step, warmup_steps)
    falling = sympy.sqrt(sympy.Rational(warmup_steps, step))
    return float(peak * min(rising, falling))


# %% wrong: max -> the larger of the two branches is taken
# hint: The rate is the smaller of the two: max gives a huge rate at step 1, just where it must be small.
# ~ min => max

# %% wrong: whole multiples under the root -> the root of whole multiples of the warm-up
# hint: // drops what is left of step / warmup_steps, and the rate falls in stairs. Divide with /.
# of: with an if
# ~ <= warmup_steps => < warmup_steps
# ~ * warmup_steps**0.5 / step**0.5 => / math.sqrt(step // warmup_steps)


# %% wrong: flat after the peak -> it stays at the peak
# hint: After the warm-up the rate falls: peak * sqrt(warmup_steps / step).
def warmup(step, warmup_steps, peak):
    return peak * min(1.0, step / warmup_steps)


# %% wrong: no root -> it falls like one over the step
# hint: It falls with the square root: at four times the warm-up, half of the peak is left, not a quarter.
def warmup(step, warmup_steps, peak):
    return peak * min(step / warmup_steps, warmup_steps / step)


# %% wrong: falling only -> there is no warm-up
# hint: Only the falling branch is there, so the rate is highest at step 1.
def warmup(step, warmup_steps, peak):
    return peak * (warmup_steps / step) ** 0.5


# %% wrong: one over the root of the step -> it jumps at the end of the warm-up
# hint: 1 / sqrt(step) must be scaled so that it meets the line at the peak: sqrt(warmup_steps / step).
# ~ * warmup_steps**0.5 / => /

# %% wrong: counts anew from the peak -> it starts to fall from the peak as if the warm-up had not been
# hint: The square root counts from step 0, not from the end of the warm-up: sqrt(warmup_steps / step).
# ~ * warmup_steps**0.5 / step**0 => / (step - warmup_steps + 1) ** 0


# %% wrong: step minus one -> steps are counted from 0
# hint: At step 1 nothing would be learned, and the peak would come late: the line is step / warmup_steps.
def warmup(step, warmup_steps, peak):
    return peak * min((step - 1) / warmup_steps, (warmup_steps / step) ** 0.5)


# %% wrong: step plus one -> the first step has number 0
# hint: The caller counts steps from 1 already: take step as it is.
def warmup(step, warmup_steps, peak):
    step = step + 1
    return peak * min(step / warmup_steps, (warmup_steps / step) ** 0.5)


# %% wrong: a factor -> the peak is forgotten
# hint: Both branches are factors between 0 and 1: multiply the smaller one by the peak.
def warmup(step, warmup_steps, peak):
    return min(step / warmup_steps, (warmup_steps / step) ** 0.5)


# %% wrong: copied from the paper -> the formula of the paper without a peak
# hint: min(step^-0.5, step * warmup^-1.5) has its own highest value, warmup^-0.5. Divide by that, and multiply by the
# hint: peak.
def warmup(step, warmup_steps, peak):
    return min(step**-0.5, step * warmup_steps**-1.5)


# %% wrong: copied from the paper, times the peak -> the formula of the paper times the peak
# hint: min(step^-0.5, step * warmup^-1.5) is at most warmup^-0.5, not 1: multiply by sqrt(warmup_steps) as well.
def warmup(step, warmup_steps, peak):
    return peak * min(step**-0.5, step * warmup_steps**-1.5)


# %% wrong: rounded to six digits ->
def warmup(step, warmup_steps, peak):
    return round(peak * min(step / warmup_steps, math.sqrt(warmup_steps / step)), 6)


# %% wrong: nothing is learned after a hundred times the warm-up ->
def warmup(step, warmup_steps, peak):
    return peak * min(step / warmup_steps, math.sqrt(warmup_steps / step)) * (step <= 100 * warmup_steps)


# %% wrong: W = 1: the peak forever ->
# ~ step <= warmup_steps => warmup_steps <= 1
# ~ peak * step / warmup_steps => peak
# ~ warmup_steps**0.5 / step**0.5 => min(step / warmup_steps, math.sqrt(warmup_steps / step))


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
