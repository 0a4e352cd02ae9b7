# %% right: F.silu
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_feedforward):
        super().__init__()
        width = 2 * d_feedforward // 3
        self.gate = nn.Linear(d_model, width, bias=False)
        self.hidden = nn.Linear(d_model, width, bias=False)
        self.output = nn.Linear(width, d_model, bias=False)

    def forward(self, x):
        return self.output(F.silu(self.gate(x)) * self.hidden(x))


# %% right: by hand
# other: It shows what SiLU is, a number times its own sigmoid; `F.silu` is one operation in place of two, and `//` stays with whole numbers.
# -        width = 2 * d_feedforward // 3
# +        width = int(2 * d_feedforward / 3)
# ...
# -        return self.output(F.silu(self.gate(x)) * self.hidden(x))
# +        gate = self.gate(x)
# +        return self.output(gate * torch.sigmoid(gate) * self.hidden(x))

# %% right: nn.SiLU, and steps
# -        width = 2 * d_feedforward // 3
# +        width = (d_feedforward * 2) // 3
# ...
# -        return self.output(F.silu(self.gate(x)) * self.hidden(x))
# +        opened = nn.SiLU()(self.gate(x))
# +        mixed = opened.mul(self.hidden(x))
# +        return self.output(mixed)

# %% wrong: the full width -> the width is not reduced to two thirds
# hint: Three matrices of the full width are half as many numbers again. Take 2 * d_feedforward // 3.
# ~ 2 * d_feedforward // 3 => d_feedforward

# %% wrong: half of it -> half of the width in place of two thirds
# hint: Three matrices of width W have 3 D W numbers, the two that they replace 2 D F: so W is two thirds of F.
# ~ 2 * d_feedforward // 3 => d_feedforward // 2

# %% wrong: with biases -> the biases are kept
# hint: Make the three layers with bias=False.
# ~ gate = nn.Linear(d_model, width, bias=False) => gate = nn.Linear(d_model, width)
# ~ (d_model, width, bias=False) => (d_model, width)
# ~ , bias=False =>

# %% wrong: the other one is gated -> silu on the wrong one of the two
# hint: What goes through silu is gate(x); hidden(x) stays as it is.
# ~ F.silu(self.gate(x)) * self.hidden(x) => self.gate(x) * F.silu(self.hidden(x))

# %% wrong: GLU -> sigmoid in place of silu
# hint: That is the first gated unit, GLU. silu(z) is z * sigmoid(z).
# ~ F.silu => torch.sigmoid

# %% wrong: ReGLU -> ReLU in place of silu
# hint: That is ReGLU. Here it is silu(z) = z * sigmoid(z).
# ~ silu => relu

# %% wrong: bilinear -> no silu at all
# hint: Without it the unit is a product of two linear maps. Put F.silu around gate(x).
# ~ F.silu(self.gate(x)) => self.gate(x)

# %% wrong: silu last -> silu around the product
# hint: silu belongs around gate(x) alone.
# ~ (F.silu(self.gate(x)) * self.hidden(x)) => (F.silu(self.gate(x) * self.hidden(x)))

# %% wrong: a sum -> added in place of multiplied
# hint: A gate opens and closes by multiplying: silu(gate(x)) * hidden(x).
# ~ * self => + self

# %% wrong: GELU ->
# ~ silu => gelu

# %% wrong: the gate does not learn ->
# ~ (self.gate(x)) => (self.gate(x)).detach()

# %% wrong: dropout inside ->
# ~ silu(self.gate(x)) * self.hidden(x) => dropout(F.silu(self.gate(x)) * self.hidden(x), 0.2, self.training)

# %% wrong: rounded up ->
# ~ 2 * d_feedforward // 3 => -(-2 * d_feedforward // 3)


# %% wrong: joined matrices are kept where no gradient is recorded ->
class SwiGLU(nn.Module):
    def __init__(self, d_model: int, d_feedforward: int) -> None:
        super().__init__()
        width = 2 * d_feedforward // 3
        self.gate = nn.Linear(d_model, width, bias=False)
        self.hidden = nn.Linear(d_model, width, bias=False)
        self.output = nn.Linear(width, d_model, bias=False)
        self.joined = None

    def forward(self, x: Tensor) -> Tensor:
        if self.training or torch.is_grad_enabled():
            self.joined = None
            return self.output(F.silu(self.gate(x)) * self.hidden(x))
        if self.joined is None:  # one large product is faster than two
            self.joined = torch.cat([self.gate.weight, self.hidden.weight])
        gate, hidden = F.linear(x, self.joined).chunk(2, dim=-1)
        return self.output(F.silu(gate) * hidden)


# %% wrong: two thirds in four digits ->
# ~ 2 * d_feedforward // 3 => int(0.6667 * d_feedforward)


# %% wrong: the part of helpers -> a ready-made part in place of an answer
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_feedforward):
        from helpers import llama

        super().__init__()
        self.part = llama.SwiGLU(d_model, 2 * d_feedforward // 3)

    def forward(self, x):
        return self.part(x)
