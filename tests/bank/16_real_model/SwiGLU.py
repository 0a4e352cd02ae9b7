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
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_feedforward):
        super().__init__()
        width = int(2 * d_feedforward / 3)
        self.gate = nn.Linear(d_model, width, bias=False)
        self.hidden = nn.Linear(d_model, width, bias=False)
        self.output = nn.Linear(width, d_model, bias=False)

    def forward(self, x):
        gate = self.gate(x)
        return self.output(gate * torch.sigmoid(gate) * self.hidden(x))


# %% right: nn.SiLU, and steps
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_feedforward):
        super().__init__()
        width = (d_feedforward * 2) // 3
        self.gate = nn.Linear(d_model, width, bias=False)
        self.hidden = nn.Linear(d_model, width, bias=False)
        self.output = nn.Linear(width, d_model, bias=False)

    def forward(self, x):
        opened = nn.SiLU()(self.gate(x))
        mixed = opened.mul(self.hidden(x))
        return self.output(mixed)


# %% wrong: the full width -> the width is not reduced to two thirds
# of: F.silu
# -        width = 2 * d_feedforward // 3
# +        width = d_feedforward


# %% wrong: half of it -> half of the width in place of two thirds
# of: F.silu
# -        width = 2 * d_feedforward // 3
# +        width = d_feedforward // 2


# %% wrong: with biases -> the biases are kept
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_feedforward):
        super().__init__()
        width = 2 * d_feedforward // 3
        self.gate = nn.Linear(d_model, width)
        self.hidden = nn.Linear(d_model, width)
        self.output = nn.Linear(width, d_model)

    def forward(self, x):
        return self.output(F.silu(self.gate(x)) * self.hidden(x))


# %% wrong: the other one is gated -> silu on the wrong one of the two
# of: F.silu
# -        return self.output(F.silu(self.gate(x)) * self.hidden(x))
# +        return self.output(self.gate(x) * F.silu(self.hidden(x)))


# %% wrong: GLU -> sigmoid in place of silu
# of: F.silu
# -        return self.output(F.silu(self.gate(x)) * self.hidden(x))
# +        return self.output(torch.sigmoid(self.gate(x)) * self.hidden(x))


# %% wrong: ReGLU -> ReLU in place of silu
# of: F.silu
# -        return self.output(F.silu(self.gate(x)) * self.hidden(x))
# +        return self.output(F.relu(self.gate(x)) * self.hidden(x))


# %% wrong: bilinear -> no silu at all
# of: F.silu
# -        return self.output(F.silu(self.gate(x)) * self.hidden(x))
# +        return self.output(self.gate(x) * self.hidden(x))


# %% wrong: silu last -> silu around the product
# of: F.silu
# -        return self.output(F.silu(self.gate(x)) * self.hidden(x))
# +        return self.output(F.silu(self.gate(x) * self.hidden(x)))


# %% wrong: a sum -> added in place of multiplied
# of: F.silu
# -        return self.output(F.silu(self.gate(x)) * self.hidden(x))
# +        return self.output(F.silu(self.gate(x)) + self.hidden(x))


# %% wrong: GELU ->
# of: F.silu
# -        return self.output(F.silu(self.gate(x)) * self.hidden(x))
# +        return self.output(F.gelu(self.gate(x)) * self.hidden(x))


# %% wrong: rounded to eight ->
# of: F.silu
# -        width = 2 * d_feedforward // 3
# +        width = -(-2 * d_feedforward // 24) * 8


# %% wrong: two thirds of the width of the model ->
# of: F.silu
# -        width = 2 * d_feedforward // 3
# +        width = 2 * d_model // 3


# %% wrong: hidden is left out ->
# of: F.silu
# -        return self.output(F.silu(self.gate(x)) * self.hidden(x))
# +        return self.output(F.silu(self.gate(x)))


# %% wrong: a residual inside ->
# of: F.silu
# -        return self.output(F.silu(self.gate(x)) * self.hidden(x))
# +        return x + self.output(F.silu(self.gate(x)) * self.hidden(x))


# %% wrong: the gate does not learn ->
# of: F.silu
# -        return self.output(F.silu(self.gate(x)) * self.hidden(x))
# +        return self.output(F.silu(self.gate(x)).detach() * self.hidden(x))


# %% wrong: dropout inside ->
# of: F.silu
# -        return self.output(F.silu(self.gate(x)) * self.hidden(x))
# +        return self.output(F.dropout(F.silu(self.gate(x)) * self.hidden(x), 0.2, self.training))


# %% wrong: rounded up ->
# of: F.silu
# -        width = 2 * d_feedforward // 3
# +        width = -(-2 * d_feedforward // 3)


# %% wrong: twice the floor of a third ->
# of: F.silu
# -        width = 2 * d_feedforward // 3
# +        width = 2 * (d_feedforward // 3)


# %% wrong: silu by an exponential that overflows ->
class SwiGLU(nn.Module):
    def __init__(self, d_model: int, d_feedforward: int) -> None:
        super().__init__()
        width = 2 * d_feedforward // 3
        self.gate = nn.Linear(d_model, width, bias=False)
        self.hidden = nn.Linear(d_model, width, bias=False)
        self.output = nn.Linear(width, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        z = self.gate(x)
        power = torch.exp(z)
        return self.output(z * power / (1 + power) * self.hidden(x))


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


# %% wrong: four numbers wide at least ->
# of: F.silu
# -        width = 2 * d_feedforward // 3
# +        width = max(4, 2 * d_feedforward // 3)


# %% wrong: 64 numbers wide at most ->
# of: F.silu
# -        width = 2 * d_feedforward // 3
# +        width = min(64, 2 * d_feedforward // 3)


# %% wrong: two thirds in four digits ->
# of: F.silu
# -        width = 2 * d_feedforward // 3
# +        width = int(0.6667 * d_feedforward)


# %% wrong: the part of helpers -> a ready-made part in place of an answer
class SwiGLU(nn.Module):
    def __init__(self, d_model, d_feedforward):
        from helpers import llama

        super().__init__()
        self.part = llama.SwiGLU(d_model, 2 * d_feedforward // 3)

    def forward(self, x):
        return self.part(x)
