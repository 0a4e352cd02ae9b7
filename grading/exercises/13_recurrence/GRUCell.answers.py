# %% right: chunks
class GRUCell(nn.Module):
    def __init__(self, d_in, d):
        super().__init__()
        self.from_input = nn.Linear(d_in, 3 * d)
        self.from_state = nn.Linear(d, 3 * d)

    def forward(self, x, state):
        x_r, x_z, x_n = self.from_input(x).chunk(3, dim=-1)
        h_r, h_z, h_n = self.from_state(state).chunk(3, dim=-1)
        reset, update = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
        candidate = torch.tanh(x_n + reset * h_n)
        return (1 - update) * candidate + update * state


# %% right: slices and in place of a mixture a step towards the candidate
# -        x_r, x_z, x_n = self.from_input(x).chunk(3, dim=-1)
# -        h_r, h_z, h_n = self.from_state(state).chunk(3, dim=-1)
# -        reset, update = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
# -        candidate = torch.tanh(x_n + reset * h_n)
# -        return (1 - update) * candidate + update * state
# +        d = state.shape[-1]
# +        a, b = self.from_input(x), self.from_state(state)
# +        r = (a[:, :d] + b[:, :d]).sigmoid()
# +        z = (a[:, d : 2 * d] + b[:, d : 2 * d]).sigmoid()
# +        n = (a[:, 2 * d :] + r * b[:, 2 * d :]).tanh()
# +        return n + z * (state - n)

# %% right: both gates at once, and lerp
# other: One sigmoid makes both gates, and `lerp` the mixture, which is fewer operations; the solution gives each gate a line of its own, and reads like the formulas.
# -        x_r, x_z, x_n = self.from_input(x).chunk(3, dim=-1)
# -        h_r, h_z, h_n = self.from_state(state).chunk(3, dim=-1)
# -        reset, update = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
# -        candidate = torch.tanh(x_n + reset * h_n)
# -        return (1 - update) * candidate + update * state
# +        a, b = self.from_input(x), self.from_state(state)
# +        d = state.size(-1)
# +        gates = torch.sigmoid(a[..., : 2 * d] + b[..., : 2 * d])
# +        reset, update = gates.chunk(2, dim=-1)
# +        candidate = torch.tanh(a[..., 2 * d :] + reset * b[..., 2 * d :])
# +        return torch.lerp(candidate, state, update)

# %% right: an axis of three
# -        x_r, x_z, x_n = self.from_input(x).chunk(3, dim=-1)
# -        h_r, h_z, h_n = self.from_state(state).chunk(3, dim=-1)
# -        reset, update = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
# -        candidate = torch.tanh(x_n + reset * h_n)
# -        return (1 - update) * candidate + update * state
# +        a = self.from_input(x).unflatten(-1, (3, -1))
# +        b = self.from_state(state).unflatten(-1, (3, -1))
# +        reset, update = (a + b)[:, :2].sigmoid().unbind(1)
# +        candidate = (a[:, 2] + reset * b[:, 2]).tanh()
# +        return update * state + (1 - update) * candidate

# %% wrong: update first -> the gates are swapped
# hint: Of the three parts of a layer the first belongs to the reset gate, the second to the update gate.
# ~ x_r, x_z => x_z, x_r
# ~ h_r, h_z => h_z, h_r

# %% wrong: candidate, reset, update -> the candidate comes first
# hint: Of the three parts of a layer the first belongs to the reset gate, the second to the update gate and the last to
# hint: the candidate, as in PyTorch.
# ~ x_r, x_z, x_n => x_n, x_r, x_z
# ~ h_r, h_z, h_n => h_n, h_r, h_z

# %% wrong: every third number -> the parts of a layer are taken in turns
# hint: The first d numbers are for the reset gate, the next d for the update gate, the last d for the candidate:
# hint: `chunk(3, dim=-1)`.
# -        x_r, x_z, x_n = self.from_input(x).chunk(3, dim=-1)
# -        h_r, h_z, h_n = self.from_state(state).chunk(3, dim=-1)
# -        reset, update = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
# -        candidate = torch.tanh(x_n + reset * h_n)
# +        a, b = self.from_input(x), self.from_state(state)
# +        reset = torch.sigmoid(a[:, 0::3] + b[:, 0::3])
# +        update = torch.sigmoid(a[:, 1::3] + b[:, 1::3])
# +        candidate = torch.tanh(a[:, 2::3] + reset * b[:, 2::3])

# %% wrong: update keeps the new -> the mixture is turned round
# hint: The update gate says how much of the OLD state stays: (1 - update) * candidate + update * state.
# ~ (1 - update) * candidate + update => update * candidate + (1 - update)

# %% wrong: no reset -> the candidate is made from the unreset state
# hint: Nothing is ever forgotten for the candidate: multiply what from_state gives for it by the reset gate.
# ~ reset, update = torch.sigmoid(x_r + h_r), => update =
# ~ reset * h_n => h_n

# %% wrong: as in the paper of 2014 -> the state is reset before the layer
# hint: That is the form of Cho et al. (2014). PyTorch's, and ours, multiplies by the reset gate after the layer: reset
# hint: * (last third of from_state(state)).
# -        candidate = torch.tanh(x_n + reset * h_n)
# +        again = self.from_state(reset * state).chunk(3, dim=-1)[2]
# +        candidate = torch.tanh(x_n + again)

# %% wrong: weight times state only is reset -> the bias of from_state stays outside the reset
# hint: The reset gate multiplies all that from_state gives for the candidate, its bias too.
#      def forward(self, x, state):
# +        d = state.size(-1)
# ...
# -        h_r, h_z, h_n = self.from_state(state).chunk(3, dim=-1)
# +        h_r, h_z, _ = self.from_state(state).chunk(3, dim=-1)
# ...
# -        candidate = torch.tanh(x_n + reset * h_n)
# +        product = state @ self.from_state.weight[2 * d :].T
# +        candidate = torch.tanh(x_n + reset * product + self.from_state.bias[2 * d :])

# %% wrong: the sum is reset -> the input is reset, too
# hint: Only what comes from the state is multiplied by the reset gate: tanh(input part + reset * state part).
# ~ x_n + reset * h_n => reset * (x_n + h_n)

# %% wrong: sigmoid everywhere -> the candidate has a sigmoid
# hint: A gate is between 0 and 1, a candidate between -1 and 1: tanh.
# ~ tanh => sigmoid

# %% wrong: a linear candidate -> the candidate has no tanh
# hint: Without tanh the state can grow from step to step. The candidate is tanh(...).
# ~ torch.tanh(x_n + reset * h_n) => x_n + reset * h_n

# %% wrong: only the candidate -> the old state is lost
# hint: What comes back is the candidate alone. The new state is (1 - update) * candidate + update * state.
# -        reset, update = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
# -        candidate = torch.tanh(x_n + reset * h_n)
# -        return (1 - update) * candidate + update * state
# +        reset = torch.sigmoid(x_r + h_r)
# +        return torch.tanh(x_n + reset * h_n)

# %% wrong: torch's own function on these weights -> a ready-made part in place of an answer
# -        x_r, x_z, x_n = self.from_input(x).chunk(3, dim=-1)
# -        h_r, h_z, h_n = self.from_state(state).chunk(3, dim=-1)
# -        reset, update = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
# -        candidate = torch.tanh(x_n + reset * h_n)
# -        return (1 - update) * candidate + update * state
# +        return torch.gru_cell(
# +            x, state, self.from_input.weight, self.from_state.weight, self.from_input.bias, self.from_state.bias
# +        )

# %% wrong: the gradient is cut off ->
# ~ (1 - update) * candidate + update * state => ((1 - update) * candidate + update * state).detach()

# %% wrong: dropout on the candidate ->
# ~ torch.tanh(x_n + reset * h_n) => nn.functional.dropout(torch.tanh(x_n + reset * h_n), 0.5, self.training)


# %% wrong: what it made of the last x is kept ->
class GRUCell(nn.Module):
    def __init__(self, d_in: int, d: int) -> None:
        super().__init__()
        self.from_input = nn.Linear(d_in, 3 * d)
        self.from_state = nn.Linear(d, 3 * d)
        self.last_x, self.last_part = None, None

    def forward(self, x: Tensor, state: Tensor) -> Tensor:
        if x is not self.last_x:
            self.last_x, self.last_part = x, self.from_input(x)
        x_r, x_z, x_n = self.last_part.chunk(3, dim=-1)
        h_r, h_z, h_n = self.from_state(state).chunk(3, dim=-1)
        r, z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
        n = torch.tanh(x_n + r * h_n)
        return (1 - z) * n + z * state


# %% wrong: tanh by hand ->
class GRUCell(nn.Module):
    def __init__(self, d_in: int, d: int) -> None:
        super().__init__()
        self.from_input = nn.Linear(d_in, 3 * d)
        self.from_state = nn.Linear(d, 3 * d)

    def forward(self, x: Tensor, state: Tensor) -> Tensor:
        xr, xz, xn = self.from_input(x).chunk(3, dim=-1)
        hr, hz, hn = self.from_state(state).chunk(3, dim=-1)
        r = 1 / (1 + torch.exp(-(xr + hr)))
        z = 1 / (1 + torch.exp(-(xz + hz)))
        e = torch.exp(2 * (xn + r * hn))
        n = (e - 1) / (e + 1)
        return (1 - z) * n + z * state


# %% wrong: squeeze, whatever the width ->
class GRUCell(nn.Module):
    def __init__(self, d_in: int, d: int) -> None:
        super().__init__()
        self.from_input = nn.Linear(d_in, 3 * d)
        self.from_state = nn.Linear(d, 3 * d)
        self.d = d

    def forward(self, x: Tensor, state: Tensor) -> Tensor:
        token = self.from_input(x).view(-1, 3, self.d).split(1, dim=1)
        memory = self.from_state(state).view(-1, 3, self.d).split(1, dim=1)
        x_r, x_z, x_n = (part.squeeze() for part in token)
        h_r, h_z, h_n = (part.squeeze() for part in memory)
        r = torch.sigmoid(x_r + h_r)
        z = torch.sigmoid(x_z + h_z)
        n = torch.tanh(x_n + r * h_n)
        return (1 - z) * n + z * state
