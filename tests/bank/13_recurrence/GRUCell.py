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
class GRUCell(nn.Module):
    def __init__(self, d_in, d):
        super().__init__()
        self.from_input = nn.Linear(d_in, 3 * d)
        self.from_state = nn.Linear(d, 3 * d)

    def forward(self, x, state):
        d = state.shape[-1]
        a, b = self.from_input(x), self.from_state(state)
        r = (a[:, :d] + b[:, :d]).sigmoid()
        z = (a[:, d : 2 * d] + b[:, d : 2 * d]).sigmoid()
        n = (a[:, 2 * d :] + r * b[:, 2 * d :]).tanh()
        return n + z * (state - n)


# %% right: both gates at once, and lerp
class GRUCell(nn.Module):
    def __init__(self, d_in, d):
        super().__init__()
        self.from_input = nn.Linear(d_in, 3 * d)
        self.from_state = nn.Linear(d, 3 * d)

    def forward(self, x, state):
        a, b = self.from_input(x), self.from_state(state)
        d = state.size(-1)
        gates = torch.sigmoid(a[..., : 2 * d] + b[..., : 2 * d])
        reset, update = gates.chunk(2, dim=-1)
        candidate = torch.tanh(a[..., 2 * d :] + reset * b[..., 2 * d :])
        return torch.lerp(candidate, state, update)


# %% right: an axis of three
class GRUCell(nn.Module):
    def __init__(self, d_in, d):
        super().__init__()
        self.from_input = nn.Linear(d_in, 3 * d)
        self.from_state = nn.Linear(d, 3 * d)

    def forward(self, x, state):
        a = self.from_input(x).unflatten(-1, (3, -1))
        b = self.from_state(state).unflatten(-1, (3, -1))
        reset, update = (a + b)[:, :2].sigmoid().unbind(1)
        candidate = (a[:, 2] + reset * b[:, 2]).tanh()
        return update * state + (1 - update) * candidate


# %% wrong: torch's own function on these weights -> a ready-made part in place of an answer
class GRUCell(nn.Module):
    def __init__(self, d_in, d):
        super().__init__()
        self.from_input = nn.Linear(d_in, 3 * d)
        self.from_state = nn.Linear(d, 3 * d)

    def forward(self, x, state):
        return torch.gru_cell(
            x, state, self.from_input.weight, self.from_state.weight, self.from_input.bias, self.from_state.bias
        )


# %% wrong: update first -> the gates are swapped
# of: chunks
# -        x_r, x_z, x_n = self.from_input(x).chunk(3, dim=-1)
# -        h_r, h_z, h_n = self.from_state(state).chunk(3, dim=-1)
# +        x_z, x_r, x_n = self.from_input(x).chunk(3, dim=-1)
# +        h_z, h_r, h_n = self.from_state(state).chunk(3, dim=-1)


# %% wrong: candidate, reset, update -> the candidate comes first
# of: chunks
# -        x_r, x_z, x_n = self.from_input(x).chunk(3, dim=-1)
# -        h_r, h_z, h_n = self.from_state(state).chunk(3, dim=-1)
# +        x_n, x_r, x_z = self.from_input(x).chunk(3, dim=-1)
# +        h_n, h_r, h_z = self.from_state(state).chunk(3, dim=-1)


# %% wrong: every third number -> the parts of a layer are taken in turns
class GRUCell(nn.Module):
    def __init__(self, d_in, d):
        super().__init__()
        self.from_input = nn.Linear(d_in, 3 * d)
        self.from_state = nn.Linear(d, 3 * d)

    def forward(self, x, state):
        a, b = self.from_input(x), self.from_state(state)
        reset = torch.sigmoid(a[:, 0::3] + b[:, 0::3])
        update = torch.sigmoid(a[:, 1::3] + b[:, 1::3])
        candidate = torch.tanh(a[:, 2::3] + reset * b[:, 2::3])
        return (1 - update) * candidate + update * state


# %% wrong: update keeps the new -> the mixture is turned round
# of: chunks
# -        return (1 - update) * candidate + update * state
# +        return update * candidate + (1 - update) * state


# %% wrong: no reset -> the candidate is made from the unreset state
# of: chunks
# -        reset, update = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
# -        candidate = torch.tanh(x_n + reset * h_n)
# +        update = torch.sigmoid(x_z + h_z)
# +        candidate = torch.tanh(x_n + h_n)


# %% wrong: as in the paper of 2014 -> the state is reset before the layer
# of: chunks
# -        candidate = torch.tanh(x_n + reset * h_n)
# +        again = self.from_state(reset * state).chunk(3, dim=-1)[2]
# +        candidate = torch.tanh(x_n + again)


# %% wrong: weight times state only is reset -> the bias of from_state stays outside the reset
class GRUCell(nn.Module):
    def __init__(self, d_in, d):
        super().__init__()
        self.from_input = nn.Linear(d_in, 3 * d)
        self.from_state = nn.Linear(d, 3 * d)

    def forward(self, x, state):
        d = state.size(-1)
        x_r, x_z, x_n = self.from_input(x).chunk(3, dim=-1)
        h_r, h_z, _ = self.from_state(state).chunk(3, dim=-1)
        reset, update = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
        product = state @ self.from_state.weight[2 * d :].T
        candidate = torch.tanh(x_n + reset * product + self.from_state.bias[2 * d :])
        return (1 - update) * candidate + update * state


# %% wrong: the sum is reset -> the input is reset, too
# of: chunks
# -        candidate = torch.tanh(x_n + reset * h_n)
# +        candidate = torch.tanh(reset * (x_n + h_n))


# %% wrong: sigmoid everywhere -> the candidate has a sigmoid
# of: chunks
# -        candidate = torch.tanh(x_n + reset * h_n)
# +        candidate = torch.sigmoid(x_n + reset * h_n)


# %% wrong: a linear candidate -> the candidate has no tanh
# of: chunks
# -        candidate = torch.tanh(x_n + reset * h_n)
# +        candidate = x_n + reset * h_n


# %% wrong: only the candidate -> the old state is lost
# of: chunks
# -        reset, update = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
# -        candidate = torch.tanh(x_n + reset * h_n)
# -        return (1 - update) * candidate + update * state
# +        reset = torch.sigmoid(x_r + h_r)
# +        return torch.tanh(x_n + reset * h_n)


# %% wrong: the old state comes back ->
class GRUCell(nn.Module):
    def __init__(self, d_in, d):
        super().__init__()
        self.from_input = nn.Linear(d_in, 3 * d)
        self.from_state = nn.Linear(d, 3 * d)

    def forward(self, x, state):
        return state


# %% wrong: a gate without the state ->
# of: chunks
# -        reset, update = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
# +        reset, update = torch.sigmoid(x_r), torch.sigmoid(x_z)


# %% wrong: tanh for the gates ->
# of: chunks
# -        reset, update = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
# +        reset, update = torch.tanh(x_r + h_r), torch.tanh(x_z + h_z)


# %% wrong: the gradient is cut off ->
# of: chunks
# -        return (1 - update) * candidate + update * state
# +        return ((1 - update) * candidate + update * state).detach()


# %% wrong: dropout on the candidate ->
# of: chunks
# -        candidate = torch.tanh(x_n + reset * h_n)
# +        candidate = nn.functional.dropout(torch.tanh(x_n + reset * h_n), 0.5, self.training)


# %% wrong: the old state is added, not mixed ->
# of: chunks
# -        return (1 - update) * candidate + update * state
# +        return candidate + update * state


# %% wrong: torch's cell inside -> a ready-made part in place of an answer
class GRUCell(nn.Module):
    def __init__(self, d_in, d):
        super().__init__()
        self.cell = nn.GRUCell(d_in, d)

    def forward(self, x, state):
        return self.cell(x, state)


# %% wrong: six layers ->
class GRUCell(nn.Module):
    def __init__(self, d_in, d):
        super().__init__()
        self.x_r, self.x_z, self.x_n = (nn.Linear(d_in, d) for _ in range(3))
        self.h_r, self.h_z, self.h_n = (nn.Linear(d, d) for _ in range(3))

    def forward(self, x, state):
        reset = torch.sigmoid(self.x_r(x) + self.h_r(state))
        update = torch.sigmoid(self.x_z(x) + self.h_z(state))
        candidate = torch.tanh(self.x_n(x) + reset * self.h_n(state))
        return (1 - update) * candidate + update * state


# %% wrong: squeezed ->
# of: chunks
# -        return (1 - update) * candidate + update * state
# +        return ((1 - update) * candidate + update * state).squeeze()


# %% wrong: the state is kept in the module ->
# of: chunks
# -        return (1 - update) * candidate + update * state
# +        new = (1 - update) * candidate + update * getattr(self, "state", state)
# +        if not hasattr(self, "state"):
# +            self.state = new.detach()
# +        return new


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


# %% wrong: sums beyond 8 are cut ->
class GRUCell(nn.Module):
    def __init__(self, d_in: int, d: int) -> None:
        super().__init__()
        self.from_input = nn.Linear(d_in, 3 * d)
        self.from_state = nn.Linear(d, 3 * d)

    def forward(self, x: Tensor, state: Tensor) -> Tensor:
        xr, xz, xn = self.from_input(x).chunk(3, dim=-1)
        hr, hz, hn = self.from_state(state).chunk(3, dim=-1)
        r = torch.sigmoid((xr + hr).clamp(-8, 8))  # safe from overflow
        z = torch.sigmoid((xz + hz).clamp(-8, 8))
        n = torch.tanh((xn + r * hn).clamp(-8, 8))
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


# %% wrong: the state's layer is left out where the state is 0 ->
class GRUCell(nn.Module):
    def __init__(self, d_in: int, d: int) -> None:
        super().__init__()
        self.from_input = nn.Linear(d_in, 3 * d)
        self.from_state = nn.Linear(d, 3 * d)

    def forward(self, x: Tensor, state: Tensor) -> Tensor:
        token = self.from_input(x)
        if state.any():
            memory = self.from_state(state)
        else:  # nothing has been read yet
            memory = torch.zeros_like(token)
        x_r, x_z, x_n = token.chunk(3, dim=-1)
        h_r, h_z, h_n = memory.chunk(3, dim=-1)
        r = torch.sigmoid(x_r + h_r)
        z = torch.sigmoid(x_z + h_z)
        n = torch.tanh(x_n + r * h_n)
        return (1 - z) * n + z * state
