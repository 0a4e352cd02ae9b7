# %% right: parameter or buffer
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model, fixed=None):
        super().__init__()
        if fixed is None:
            self.table = nn.Parameter(torch.randn(max_len, d_model))
        else:
            self.register_buffer("table", fixed)

    def forward(self, x):
        n = x.shape[1]
        if n > self.table.shape[0]:
            raise ValueError(f"{n} tokens are more than the {self.table.shape[0]} positions of the table")
        return x + self.table[:n]


# %% right: a parameter that does not require gradients when fixed
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model, fixed=None):
        super().__init__()
        self.max_len = max_len
        start = torch.rand(max_len, d_model) if fixed is None else fixed.clone()
        self.table = nn.Parameter(start, requires_grad=fixed is None)

    def forward(self, x):
        if x.size(1) > self.max_len:
            raise ValueError("too long")
        return add_positions(x, self.table)


# %% right: register_parameter, lookup by number
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model, fixed=None):
        nn.Module.__init__(self)
        if fixed is not None:
            self.register_buffer("table", fixed, persistent=False)
        else:
            weight = torch.empty(max_len, d_model)
            nn.init.normal_(weight, std=0.02)
            self.register_parameter("table", nn.Parameter(weight))

    def forward(self, x):
        b, n, d = x.shape
        places = torch.arange(n, device=x.device).expand(b, n)
        if n > len(self.table):
            raise ValueError(f"no position for word {len(self.table)}")
        return x + nn.functional.embedding(places, self.table)


# %% right: catches torch's own error
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model, fixed=None):
        super().__init__()
        if fixed is None:
            self.table = nn.Parameter(torch.rand(max_len, d_model))
        else:
            self.register_buffer("table", fixed)

    def forward(self, x):
        try:
            return torch.stack([row + self.table[j] for j, row in enumerate(x.unbind(1))], dim=1)
        except IndexError as problem:
            raise ValueError("the sentence is longer than the table") from problem


# %% wrong: register_buffer for both -> the learned table is a buffer
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model, fixed=None):
        super().__init__()
        self.register_buffer("table", torch.randn(max_len, d_model) if fixed is None else fixed)

    def forward(self, x):
        if x.shape[1] > len(self.table):
            raise ValueError("too long")
        return x + self.table[: x.shape[1]]


# %% wrong: nn.Parameter for both -> the fixed table is counted as trainable
# of: register_buffer for both
# -        self.register_buffer("table", torch.randn(max_len, d_model) if fixed is None else fixed)
# +        self.table = nn.Parameter(torch.randn(max_len, d_model) if fixed is None else fixed)


# %% wrong: fixed is forgotten -> the fixed table is not used
# of: register_buffer for both
# -        self.register_buffer("table", torch.randn(max_len, d_model) if fixed is None else fixed)
# +        self.table = nn.Parameter(torch.randn(max_len, d_model))


# %% wrong: only an attribute -> the table is a plain tensor
# of: register_buffer for both
# -        self.register_buffer("table", torch.randn(max_len, d_model) if fixed is None else fixed)
# +        self.table = torch.randn(max_len, d_model, requires_grad=True) if fixed is None else fixed


# %% wrong: an nn.Embedding of another name -> the table has another name
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model, fixed=None):
        super().__init__()
        self.embedding = nn.Embedding(max_len, d_model)

    def forward(self, x):
        if x.shape[1] > self.embedding.num_embeddings:
            raise ValueError("too long")
        return x + self.embedding(torch.arange(x.shape[1]))


# %% wrong: (d_model, max_len) -> rows and columns of the table are exchanged
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model, fixed=None):
        super().__init__()
        if fixed is None:
            self.table = nn.Parameter(torch.randn(d_model, max_len))
        else:
            self.register_buffer("table", fixed)

    def forward(self, x):
        if x.shape[1] > len(self.table):
            raise ValueError("too long")
        return x + self.table[: x.shape[1]]


# %% wrong: sequence-first habit -> positions are added along the batch axis
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model, fixed=None):
        super().__init__()
        if fixed is None:
            self.table = nn.Parameter(torch.randn(max_len, d_model))
        else:
            self.register_buffer("table", fixed)

    def forward(self, x):
        if x.shape[1] > len(self.table):
            raise ValueError("too long")
        return x + self.table.unsqueeze(1)[: x.size(0)]


# %% wrong: the whole table is added -> the table is not cut to the length
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model, fixed=None):
        super().__init__()
        self.max_len = max_len
        if fixed is None:
            self.table = nn.Parameter(torch.randn(max_len, d_model))
        else:
            self.register_buffer("table", fixed)

    def forward(self, x):
        if x.shape[1] > self.max_len:
            raise ValueError("too long")
        return x + self.table


# %% wrong: no rule for long sentences -> too long a sentence is not refused clearly
# of: parameter or buffer
# -        n = x.shape[1]
# -        if n > self.table.shape[0]:
# -            raise ValueError(f"{n} tokens are more than the {self.table.shape[0]} positions of the table")
# -        return x + self.table[:n]
# +        return add_positions(x, self.table)


# %% wrong: remainder of the position -> positions beyond the table start again at 0
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model, fixed=None):
        super().__init__()
        if fixed is None:
            self.table = nn.Parameter(torch.randn(max_len, d_model))
        else:
            self.register_buffer("table", fixed)

    def forward(self, x):
        places = [j % len(self.table) for j in range(x.shape[1])]
        return x + self.table[places]


# %% wrong: the last row for all that comes after -> positions beyond the table repeat the last row
# of: remainder of the position
# -        places = [j % len(self.table) for j in range(x.shape[1])]
# +        places = [min(j, len(self.table) - 1) for j in range(x.shape[1])]


# %% wrong: one trainable vector for all positions ->
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model, fixed=None):
        super().__init__()
        self.max_len = max_len
        if fixed is None:
            self.table = nn.Parameter(torch.randn(1, d_model))
        else:
            self.register_buffer("table", fixed)

    def forward(self, x):
        if x.shape[1] > self.max_len:
            raise ValueError("too long")
        return x + self.table[:1]


# %% wrong: a sinusoidal table trains beside the learned one ->
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model, fixed=None):
        super().__init__()
        self.start = nn.Parameter(sinusoidal_encoding(max_len, d_model))
        if fixed is None:
            self.table = nn.Parameter(torch.randn(max_len, d_model))
        else:
            self.register_buffer("table", fixed)

    def forward(self, x):
        if x.shape[1] > len(self.table):
            raise ValueError("too long")
        return x + self.table[: x.shape[1]]


# %% wrong: a function in place of a module ->
def LearnedPositions(max_len, d_model, fixed=None):
    table = nn.Parameter(torch.randn(max_len, d_model))
    return lambda x: x + table[: x.shape[1]]


# %% wrong: refuses sentences that fill the table exactly -> a sentence that fills the table is refused
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model, fixed=None):
        super().__init__()
        if fixed is None:
            self.table = nn.Parameter(torch.randn(max_len, d_model))
        else:
            self.register_buffer("table", fixed)

    def forward(self, x):
        if x.shape[1] >= len(self.table):
            raise ValueError("too long")
        return x + self.table[: x.shape[1]]


# %% wrong: the numbers of the table only -> training does not reach the table
# of: sequence-first habit
# -        return x + self.table.unsqueeze(1)[: x.size(0)]
# +        return x + self.table.data[: x.shape[1]]


# %% wrong: a parameter called pe -> the table has another name: pe
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model, fixed=None):
        super().__init__()
        if fixed is None:
            self.pe = nn.Parameter(torch.randn(max_len, d_model))
        else:
            self.register_buffer("pe", fixed)

    def forward(self, x):
        if x.shape[1] > len(self.pe):
            raise ValueError("too long")
        return x + self.pe[: x.shape[1]]


# %% wrong: an embedding called table -> the table is an nn.Embedding
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model, fixed=None):
        super().__init__()
        if fixed is None:
            self.table = nn.Embedding(max_len, d_model)
        else:
            self.table = nn.Embedding.from_pretrained(fixed)

    def forward(self, x):
        if x.shape[1] > self.table.num_embeddings:
            raise ValueError("too long")
        return x + self.table(torch.arange(x.shape[1]))


# %% wrong: starts at zero -> the rows of the table start alike
# of: (d_model, max_len)
# -            self.table = nn.Parameter(torch.randn(d_model, max_len))
# +            self.table = nn.Parameter(torch.zeros(max_len, d_model))


# %% wrong: starts at one -> the rows of the table start alike
# of: (d_model, max_len)
# -            self.table = nn.Parameter(torch.randn(d_model, max_len))
# +            self.table = nn.Parameter(torch.ones(max_len, d_model))


# %% wrong: starts with one row, repeated -> the rows of the table start alike
# of: (d_model, max_len)
# -            self.table = nn.Parameter(torch.randn(d_model, max_len))
# +            self.table = nn.Parameter(torch.randn(1, d_model).repeat(max_len, 1))


# %% wrong: starts with sinusoids ->
# of: (d_model, max_len)
# -            self.table = nn.Parameter(torch.randn(d_model, max_len))
# +            self.table = nn.Parameter(sinusoidal_encoding(max_len, d_model))


# %% wrong: a seed of its own ->
# of: a sinusoidal table trains beside the learned one
# -        self.start = nn.Parameter(sinusoidal_encoding(max_len, d_model))
# +        torch.manual_seed(0)


# %% wrong: refuses many sentences -> the number of sentences is compared with max_len
# of: refuses sentences that fill the table exactly
# -        if x.shape[1] >= len(self.table):
# +        if x.shape[1] > len(self.table) or x.shape[0] > len(self.table):


# %% wrong: refuses wide words ->
# of: refuses sentences that fill the table exactly
# -        if x.shape[1] >= len(self.table):
# +        if max(x.shape[1], x.shape[2]) > len(self.table):


# %% wrong: compares the number of sentences -> the number of sentences is compared with max_len
# of: refuses sentences that fill the table exactly
# -        if x.shape[1] >= len(self.table):
# +        if len(x) > len(self.table):


# %% wrong: refuses only while it learns ->
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model, fixed=None):
        super().__init__()
        self.learns = fixed is None
        if fixed is None:
            self.table = nn.Parameter(torch.randn(max_len, d_model))
        else:
            self.register_buffer("table", fixed)

    def forward(self, x):
        n = x.shape[1]
        if self.learns and n > len(self.table):
            raise ValueError("too long")
        return x + self.table[torch.arange(n) % len(self.table)]


# %% wrong: dropout in training ->
# of: sequence-first habit
# -        return x + self.table.unsqueeze(1)[: x.size(0)]
# +        return nn.functional.dropout(x + self.table[: x.shape[1]], 0.1, self.training)


# %% wrong: noise in training ->
# of: sequence-first habit
# -        return x + self.table.unsqueeze(1)[: x.size(0)]
# +        return x + self.table[: x.shape[1]] + (0.01 * torch.randn_like(x) if self.training else 0)


# %% wrong: x cut off from training ->
# of: sequence-first habit
# -        return x + self.table.unsqueeze(1)[: x.size(0)]
# +        return x.detach() + self.table[: x.shape[1]]


# %% wrong: a buffer of places beside the table ->
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model, fixed=None):
        super().__init__()
        if fixed is None:
            self.table = nn.Parameter(torch.randn(max_len, d_model))
        else:
            self.register_buffer("table", fixed)
        self.register_buffer("places", torch.arange(max_len))

    def forward(self, x):
        if x.shape[1] > len(self.table):
            raise ValueError("too long")
        return x + self.table[self.places[: x.shape[1]]]


# %% wrong: adds in the tensor of the caller ->
# of: sequence-first habit
# -        return x + self.table.unsqueeze(1)[: x.size(0)]
# +        return x.add_(self.table[: x.shape[1]])


# %% wrong: scaled down ->
# of: sequence-first habit
# -        return x + self.table.unsqueeze(1)[: x.size(0)]
# +        return x + 0.02 * self.table[: x.shape[1]]


# %% wrong: each table begins with the same random numbers ->
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model, fixed=None):
        super().__init__()
        if fixed is None:
            generator = torch.Generator().manual_seed(0)
            self.table = nn.Parameter(torch.randn(max_len, d_model, generator=generator))
        else:
            self.register_buffer("table", fixed)

    def forward(self, x):
        if x.shape[1] > len(self.table):
            raise ValueError("longer than the table")
        return x + self.table[: x.shape[1]]


# %% wrong: the caller's numbers are put back after a table of always the same ->
# of: each table begins with the same random numbers
# -            generator = torch.Generator().manual_seed(0)
# -            self.table = nn.Parameter(torch.randn(max_len, d_model, generator=generator))
# +            with torch.random.fork_rng():
# +                torch.manual_seed(0)
# +                self.table = nn.Parameter(torch.randn(max_len, d_model))


# %% wrong: dropout on the learned table ->
class LearnedPositions(nn.Module):
    def __init__(self, max_len: int, d_model: int, fixed: Tensor | None = None) -> None:
        super().__init__()
        self.dropout = nn.Dropout(0.1 if fixed is None else 0.0)
        if fixed is None:
            self.table = nn.Parameter(0.02 * torch.randn(max_len, d_model))
        else:
            self.register_buffer("table", fixed)

    def forward(self, x: Tensor) -> Tensor:
        if x.size(1) > len(self.table):
            raise ValueError(f"{x.size(1)} words but {len(self.table)} places")
        return x + self.dropout(self.table[: x.size(1)])


# %% wrong: refused only where the addition fails ->
class LearnedPositions(nn.Module):
    def __init__(self, max_len: int, d_model: int, fixed: Tensor | None = None) -> None:
        super().__init__()
        if fixed is None:
            self.table = nn.Parameter(torch.randn(max_len, d_model))
        else:
            self.register_buffer("table", fixed.detach().clone())

    def forward(self, x: Tensor) -> Tensor:
        try:
            return x + self.table[: x.size(1)]
        except RuntimeError as error:
            raise ValueError(f"{x.size(1)} words, but only {len(self.table)} places") from error


# %% wrong: a lambda holds on to the module that it was made in ->
class LearnedPositions(nn.Module):
    def __init__(self, max_len: int, d_model: int, fixed: Tensor | None = None) -> None:
        super().__init__()
        if fixed is None:
            self.table = nn.Parameter(torch.randn(max_len, d_model))
        else:
            self.register_buffer("table", fixed.detach().clone())
        self.rows = lambda n: self.table[:n]

    def forward(self, x: Tensor) -> Tensor:
        n = x.size(1)
        if n > len(self.table):
            raise ValueError(f"{n} words, but the table has only {len(self.table)} places")
        return x + self.rows(n)


# %% wrong: the first rows are kept for each n ->
class LearnedPositions(nn.Module):
    def __init__(self, max_len: int, d_model: int, fixed: Tensor | None = None) -> None:
        super().__init__()
        if fixed is None:
            self.table = nn.Parameter(torch.randn(max_len, d_model))
        else:
            self.register_buffer("table", fixed.detach().clone())
        self.rows: dict[int, Tensor] = {}

    def forward(self, x: Tensor) -> Tensor:
        n = x.size(1)
        if n > self.table.size(0):
            raise ValueError(f"{n} words, but the table has only {self.table.size(0)} places")
        if n not in self.rows:
            self.rows[n] = self.table[:n]
        return x + self.rows[n]


# %% wrong: an error without a word ->
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model, fixed=None):
        super().__init__()
        if fixed is None:
            self.table = nn.Parameter(torch.randn(max_len, d_model))
        else:
            self.register_buffer("table", fixed)

    def forward(self, x):
        if x.shape[1] > len(self.table):
            raise ValueError
        return x + self.table[: x.shape[1]]


# %% wrong: looked up by numbers on the CPU ->
# of: register_parameter, lookup by number
# -        places = torch.arange(n, device=x.device).expand(b, n)
# +        places = torch.arange(n).expand(b, n)


# %% wrong: added in single precision and back ->
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model, fixed=None):
        super().__init__()
        if fixed is None:
            self.table = nn.Parameter(torch.randn(max_len, d_model))
        else:
            self.register_buffer("table", fixed)

    def forward(self, x):
        if x.size(1) > len(self.table):
            raise ValueError(f"{x.size(1)} words, but the table has {len(self.table)} rows")
        return (x.float() + self.table[: x.size(1)].float()).to(x.dtype)


# %% wrong: the fixed table is kept in single precision ->
# of: added in single precision and back
# -            self.register_buffer("table", fixed)
# +            self.register_buffer("table", fixed.float())
# ...
# -        return (x.float() + self.table[: x.size(1)].float()).to(x.dtype)
# +        return x + self.table[: x.size(1)]
