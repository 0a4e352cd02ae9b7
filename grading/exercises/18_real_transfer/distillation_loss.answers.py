# %% right: kl_div
def distillation_loss(student, teacher, labels, temperature, share):
    soft = F.softmax(teacher.detach() / temperature, dim=1)
    told = F.kl_div(F.log_softmax(student / temperature, dim=1), soft, reduction="batchmean")
    return share * temperature**2 * told + (1 - share) * F.cross_entropy(student, labels)


# %% right: both as logarithms
def distillation_loss(student, teacher, labels, temperature, share):
    goal = torch.log_softmax(teacher.detach() / temperature, dim=-1)
    mine = torch.log_softmax(student / temperature, dim=-1)
    divergence = (goal.exp() * (goal - mine)).sum(dim=-1).mean()
    return share * temperature * temperature * divergence + (1 - share) * F.cross_entropy(student, labels)


# %% right: cross-entropy minus entropy
# other: It shows that the divergence is a cross-entropy minus the teacher's own entropy, which has no gradient; the solution leaves both to `F.kl_div`.
def distillation_loss(student, teacher, labels, temperature, share):
    soft = (teacher.detach() / temperature).softmax(dim=1)
    entropy = torch.special.entr(soft).sum(dim=1).mean()
    told = F.cross_entropy(student / temperature, soft) - entropy
    return share * temperature**2 * told + (1 - share) * F.cross_entropy(student, labels)


# %% wrong: no square of the temperature -> without the square of the temperature
# hint: A temperature T makes the gradients of the soft part 1/T² as large; the factor T² makes up for it.
# of: kl_div
# ~ share * temperature**2 * told => share * told

# %% wrong: the temperature once -> times the temperature, not its square
# hint: Two logits are divided by T, the student's and, in the gradient, again: the factor is T squared.
# of: kl_div
# ~ temperature**2 => temperature

# %% wrong: the other way round -> the divergence the other way round
# hint: The teacher's distribution is the goal: each logarithm is weighted with the teacher's probability.
# of: both as logarithms
# ~ (goal.exp() * (goal - mine)) => (mine.exp() * (mine - goal))

# %% wrong: a mean over the classes, too -> divided by the number of classes, too
# hint: F.kl_div's mean divides by all numbers of the table. Wanted is the mean over the texts: reduction="batchmean".
# of: kl_div
# ~ reduction="batchmean" => reduction="mean"

# %% wrong: a sum over the texts -> the sum over the texts
# hint: The mean over the texts is wanted, as cross_entropy takes it.
# of: kl_div
# ~ reduction="batchmean" => reduction="sum"

# %% wrong: only the teacher is softened -> the student has no temperature
# hint: Both distributions are compared at the same temperature: divide the student's logits by it, too.
# of: kl_div
# ~ F.log_softmax(student / temperature, dim=1) => F.log_softmax(student, dim=1)

# %% wrong: only the student is softened -> the teacher has no temperature
# hint: Both distributions are compared at the same temperature: divide the teacher's logits by it, too.
# of: kl_div
# ~ teacher.detach() / temperature => teacher.detach()

# %% wrong: cross-entropy at the temperature -> the labels are compared at the temperature, too
# hint: The labels' part is the ordinary cross-entropy; only the comparison with the teacher is softened.
# of: kl_div
# ~ F.cross_entropy(student, labels) => F.cross_entropy(student / temperature, labels)

# %% wrong: multiplied by the temperature -> multiplied by the temperature
# hint: A high temperature makes a distribution softer: logits are divided by it.
# of: kl_div
# ~ student / temperature => student * temperature
# ~ teacher.detach() / temperature => teacher.detach() * temperature

# %% wrong: shares exchanged -> the shares are exchanged
# hint: `share` is the share of the teacher; the labels have what is left, 1 - share.
# of: kl_div
# ~ share * temperature**2 => (1 - share) * temperature**2
# ~ + (1 - share) * => + share *

# %% wrong: the best class of the teacher -> the teacher's best class as a label
# hint: What the teacher knows beyond its best class is in the other probabilities: compare with all of them.
# of: cross-entropy minus entropy
# ~ F.cross_entropy(student / temperature, soft) - entropy => F.cross_entropy(student / temperature, soft.argmax(dim=1))

# %% wrong: the entropy is left in -> the cross-entropy with the teacher
# hint: The gradient is the same, the value is not: a student who equals the teacher has the divergence 0.
# of: cross-entropy minus entropy
# ~ F.cross_entropy(student / temperature, soft) - entropy => F.cross_entropy(student / temperature, soft)

# %% wrong: the teacher learns, too -> the teacher learns, too
# hint: The teacher is not to move towards the student: take `teacher.detach()`, through which no gradient passes.
# of: kl_div
# ~ teacher.detach() => teacher

# %% wrong: a logarithm of a softmax ->
# of: both as logarithms
# ~ mine = torch.log_softmax(student / temperature, dim=-1) => mine = torch.softmax(student / temperature, dim=-1).log()


# %% wrong: no gradient in the soft part -> nothing is learned from the teacher's part
# hint: `no_grad` cuts off the student, too. Only the teacher is left out of learning: `teacher.detach()`.
def distillation_loss(student, teacher, labels, temperature, share):
    with torch.no_grad():
        goal, mine = F.log_softmax(teacher / temperature, dim=1), F.log_softmax(student / temperature, dim=1)
        divergence = (goal.exp() * (goal - mine)).sum(dim=1).mean()
    return share * temperature**2 * divergence + (1 - share) * F.cross_entropy(student, labels)


# %% wrong: the caller's teacher is frozen ->
def distillation_loss(student, teacher, labels, temperature, share):
    teacher.requires_grad_(False)
    soft = F.softmax(teacher / temperature, dim=1)
    told = F.kl_div(F.log_softmax(student / temperature, dim=1), soft, reduction="batchmean")
    return share * temperature**2 * told + (1 - share) * F.cross_entropy(student, labels)


# %% wrong: the caller's teacher is detached in place ->
# of: the caller's teacher is frozen
# ~ teacher.requires_grad_(False) => teacher.detach_()

# %% wrong: the square only above a temperature of 1 ->
# of: kl_div
# ~ share * temperature**2 * told => share * max(temperature, 1) ** 2 * told

# %% wrong: a little is added to the probabilities ->
# of: kl_div
# ~ F.kl_div(F.log_softmax(student / temperature, dim=1), soft, reduction="batchmean") => (soft * ((soft + 1e-8).log() - (F.softmax(student / temperature, dim=1) + 1e-8).log())).sum(dim=1).mean()
