# %% right: a mask over the rows
def preference_pairs(rewards):
    best, worst = rewards.argmax(dim=1), rewards.argmin(dim=1)
    rows = torch.stack([torch.arange(len(rewards)), best, worst], dim=1)
    return rows[rewards.amax(dim=1) > rewards.amin(dim=1)]


# %% right: prompt by prompt
# other: It reads like the rule, prompt by prompt; the solution has no loop, and a result without rows has its three columns without a special case.
def preference_pairs(rewards):
    rows = []
    for prompt, row in enumerate(rewards.tolist()):
        best, worst = row.index(max(row)), row.index(min(row))
        if max(row) > min(row):
            rows.append([prompt, best, worst])
    return torch.tensor(rows, dtype=torch.long).view(-1, 3)


# %% right: nonzero
def preference_pairs(rewards):
    prompts = (rewards.max(dim=1).values != rewards.min(dim=1).values).nonzero().flatten()
    kept = rewards[prompts]
    if len(kept) == 0:
        return torch.zeros(0, 3, dtype=torch.long)
    return torch.stack((prompts, kept.argmax(1), kept.argmin(1)), 1)


# %% wrong: every prompt -> prompts without a preference are kept
# hint: Where all answers are equally good, none is to be preferred: leave the prompt out.
# ~ [rewards.amax(dim=1) > rewards.amin(dim=1)] =>

# %% wrong: numbered by the result -> the rows are numbered anew
# hint: The first column is the number of the prompt in rewards, not that of the row in the result.
# of: prompt by prompt
# ~ [prompt, best, worst] => [len(rows), best, worst]

# %% wrong: worst first -> best and worst are exchanged
# hint: The second column is the best answer, the third the worst.
# of: a mask over the rows
# ~ [torch.arange(len(rewards)), best, worst] => [torch.arange(len(rewards)), worst, best]

# %% wrong: the last of equals -> the last of several best answers
# hint: Of equally good answers take the first, among the best and among the worst.
# -    best, worst = rewards.argmax(dim=1), rewards.argmin(dim=1)
# +    k = rewards.shape[1]
# +    best, worst = k - 1 - rewards.flip(1).argmax(dim=1), k - 1 - rewards.flip(1).argmin(dim=1)

# %% wrong: the other axis -> the best and worst prompt for each answer
# hint: A row of rewards is a prompt, a column one of its answers: look along the row, dim=1.
# ~ (dim=1), rewards.argmin(dim=1) => (dim=0), rewards.argmin(dim=0)
# ~ len(rewards) => rewards.shape[1]
# ~ (dim=1) > rewards.amin(dim=1) => (dim=0) > rewards.amin(dim=0)


# %% wrong: first and second -> the second best in place of the worst
# hint: The rejected answer is the worst of all: argmin, not the second of a sorted list.
def preference_pairs(rewards):
    order = rewards.argsort(dim=1, descending=True, stable=True)
    rows = torch.stack([torch.arange(len(rewards)), order[:, 0], order[:, 1]], dim=1)
    return rows[rewards.amax(dim=1) > rewards.amin(dim=1)]


# %% wrong: a margin of one thousandth ->
# ~ [rewards.amax(dim=1) > rewards.amin(dim=1)] => [rewards.amax(dim=1) > rewards.amin(dim=1) + 1e-3]

# %% wrong: at most 64 prompts ->
# ~ [rewards.amax(dim=1) > rewards.amin(dim=1)] => [:64][(rewards.amax(dim=1) > rewards.amin(dim=1))[:64]]

# %% wrong: numbers with a point ->
# ~ [rewards.amax(dim=1) > rewards.amin(dim=1)] => [rewards.amax(dim=1) > rewards.amin(dim=1)].float()


# %% wrong: rewards that vary, by their standard deviation ->
def preference_pairs(rewards):
    rows = torch.stack([torch.arange(len(rewards)), rewards.argmax(dim=1), rewards.argmin(dim=1)], dim=1)
    return rows[rewards.std(dim=1) > 0] if rewards.shape[1] > 1 else rows[:0]
