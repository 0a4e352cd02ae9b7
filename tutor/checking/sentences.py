"""What a verdict says of an answer: all its sentences, with what is put into them by name.

What compares two values has its own (`compare`), and so has what stops a call.
"""

from __future__ import annotations

from tutor.checking.probes.several_notebooks import OWN_WEIGHTS, SAME_OBJECT

# --- what is wrong ----------------------------------------------------------------------------------------------------

STOPPED_WITH = "it stopped with {error}{place}"
NO_RESULT = "no result came back"
STOPPED = "it was stopped; is there a loop that never ends?"  # all that a mark reveals of a late reply
RETURNS_NONE = "it returns None, and here there is something to return"
NOT_RAISED = "expected a {error} with a clear sentence; {got}"
RETURNED = "it was returned, not raised"
GOT = "got {kind}"
SAYS_NOTHING = "the {error} says nothing; whoever meets it wants to read what was found and what was expected"
DOES_NOT_NAME = "the message of the {error} does not name {missing}"
THE_SHAPE = "the shape {shape}"
TOO_LITTLE = "the message of the {error} does not name all that it shall"
MEASURED = "{what}: {problem}"
INPUTS_CHANGED = "what the function was given is no longer as it was; the caller still needs it"
INPUT_CHANGED = "{change}; the caller still needs it as it came"
NO_ANSWER = (
    "it uses {parts}, which is what this exercise asks for: that is no answer, and earns nothing (see notebook 00). "
    "Write it yourself; what else PyTorch has may be used"
)
OF_A_PROBE = {  # the probe of a question -> what is found in the sentence on its entries, and what replaces it
    **dict.fromkeys(
        ("learns", "learning"),
        (
            (
                r"the entry '(?P<entry>.+) \(asks for a gradient and gets none\)' is not expected",
                "{entry} gets no gradient, and still asks for one: it is cut off, and not frozen",
            ),
            (r"the entry '(?P<entry>.+)' is missing", "{entry} does not learn"),
            (r"the entry '(?P<entry>.+)' is not expected", "{entry} still learns"),
        ),
    ),
    "gradients": (
        (r"the entry '(?P<entry>.+)' is missing", "{entry} does not arrive"),
        (r"the entry '(?P<entry>.+)' is not expected", "{entry} arrives, where nothing is to be learned"),
    ),
    "device": ((r"expected '.+', got '(?P<got>.+)'$", "{got}"),),
    "again": ((r"at entry 'what is handed out': expected '.+', got '(?P<got>.+)'$", "what comes back is {got}"),),
    "gradients again": (
        (r"the entry '(?P<entry>.+)' is missing", "{entry} does not arrive after a call without gradients"),
    ),
    "shared": (
        (
            r"the entry '(?P<entry>.+)' is not expected(?: \((\d+) are not\))?",
            "{entry} is not a copy: it lies in the memory of what was given, or of what another call returns",
        ),
    ),
}

# --- what a mark says of it, without inputs and values ----------------------------------------------------------------

OF_A_STAGE = "stage '{stage}': {problem}"
OF_A_VIEW = "stage '{stage}' ({view}): {problem}"
UNREADABLE_RESULT = "the result cannot be read"
ANOTHER_RESULT = "the result is not the wanted one"
AN_ERROR = "an error"
OF_AN_INPUT = "{changes} of {input}"
AN_INPUT = "input {number}"

# --- where to look ----------------------------------------------------------------------------------------------------

LEAVE_IT = {  # the kind of a change -> how to do without
    "numbers": "Work on a copy: `x = x + 1` in place of `x += 1`, `masked_fill` in place of `masked_fill_`, and "
    "`x = x.clone()` before `x[...] = ...`.",
    "weights": "Work on a copy of the model: `copy.deepcopy(model)`.",
    "mode": "Call neither `eval()` nor `train()` on it where the result is the same in both modes. Else put the mode "
    "back: `was = model.training` at the beginning, and `model.train(was)` at the end, which reaches its parts too.",
    "requires_grad": "`requires_grad_` and `detach_` act on what the caller holds. Work with `x.detach()`, which "
    "leaves `x` alone, or on `copy.deepcopy(model)`, or put it back at the end.",
    "gradients": "`backward()` adds to the gradients of all that trains, and the caller's next step follows the sum: "
    "`torch.autograd.grad(output, inputs)` gives those of `inputs` and leaves the others alone.",
    "settings": "Work on a copy of the model, `copy.deepcopy(model)`, or put the number back at the end.",
    "hooks": "Take each hook away again: `handle = part.register_forward_hook(...)`, and `handle.remove()` at the end.",
    "entries": "Work on a copy: `dict(entries)` of a dictionary, `list(words)` of a list, `copy.deepcopy` of one that "
    "holds others. `append`, `update`, `pop`, `sort` and `+=` change the caller's own.",
    "kind": "Work on a copy.",
}
NO_GRADIENT = "Training goes through here. `.detach()`, `.data`, `.item()`, `torch.no_grad()` and numpy stop gradients."
NEEDLESS_GRADIENT = "Nothing is to be learned through this input: `x.detach()` lets no gradient pass to `x`."
NO_NAME = "A name is used that is bound nowhere: misspelt, not imported, or made in a cell that has not run."
TRY_IT = (
    "What the question gives may have other parts, and take other arguments, than you expect: try the line on "
    "`check.given({number})`."
)
KEPT_WHAT = {  # what is found in a sentence on the probe "again" -> where to look
    SAME_OBJECT: "It hands out a list, a dictionary or a tensor that it keeps: whoever changes that changes what "
    "the next one gets. Make a new one in each call.",
    OWN_WEIGHTS: "A call changes the module's own weights. Work on a copy of them.",
    "a deep copy": "A deep copy of the module still uses what belongs to the first one: a function, a layer or a "
    "tensor that is bound to it. Take everything from `self` in each call.",
    "with other weights": "It keeps what it has made of its weights, and a step of training changes these. Make it "
    "anew in each call.",
    "does not arrive": "It keeps what a call without gradients has made, and no gradient passes through that. Make it "
    "anew in each call.",
    "with other numbers": "It finds a result that it has kept although the numbers are others: by the identity or the "
    "shape of what it is given. Work it out anew in each call.",
}
OTHER_KIND = {  # the kind that is wanted -> how to make it of another one
    "set": "`set(...)` makes a set of the numbers of a range, a list or a tuple.",
    "list": "`list(...)` makes a list of a tuple, a set or a range, `.tolist()` of a tensor.",
    "tuple": "`tuple(...)` makes a tuple of a list or a range; `return first, second` returns one.",
}
ONE_OBJECT = (
    "Two parts of the module are one and the same object. Make each of them anew, in a list, too: `[Layer(...)] * n` "
    "holds one layer n times, `[Layer(...) for _ in range(n)]` holds n."
)
OTHER_SHAPE = (
    "The numbers are right, and so is their order: only the shape is not. Look at what adds an axis or takes one away, "
    "such as an index, `squeeze`, `view` or `reshape`, also where a size is 1."
)
NOT_FINITE = (
    "A NaN comes of 0 * inf, inf - inf or 0 / 0, an infinity of the exponential of a large number, of the logarithm of "
    "0 or of a division by 0."
)

# --- beside the result ------------------------------------------------------------------------------------------------

ONLY_BESIDE = "what is passed so far earns its points together with {stages}."
OR = " or "
AT_CORNERS = (
    "'{stage}' fails only at the edges of what is asked for, such as the smallest input or a very long one. That costs "
    "{points:g} of the points, and not the whole stage."
)
PRINTS = "the function prints its result; what counts is what it returns."
NEW_SYMBOLS = (
    "{symbols} are made anew and without assumptions: to sympy they are others than those of the notebook, and a later "
    "`.subs` will not find them. Use the notebook's own."
)
THE_SYMBOLS = "the symbols {names}"
SOME_SYMBOLS = "some of its symbols"

# --- names of stages, and of a mistake, that no definition has --------------------------------------------------------

INPUTS_STAY = "what it is given stays as it is"
KEEPS = "what every answer keeps (see notebook 00)"
OWN_PART = "a ready-made part in place of an answer"
