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
# other: One kind of tensor serves both cases; a buffer is no parameter, so that neither a count of parameters nor `requires_grad_(True)` on the whole model takes in the fixed table.
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
        positions = torch.arange(n, device=x.device).expand(b, n)
        if n > len(self.table):
            raise ValueError(f"no position for word {len(self.table)}")
        return x + nn.functional.embedding(positions, self.table)


# %% right: catches torch's own error
# -            self.table = nn.Parameter(torch.randn(max_len, d_model))
# +            self.table = nn.Parameter(torch.rand(max_len, d_model))
# ...
# -        n = x.shape[1]
# -        if n > self.table.shape[0]:
# -            raise ValueError(f"{n} tokens are more than the {self.table.shape[0]} positions of the table")
# -        return x + self.table[:n]
# +        try:
# +            return torch.stack([row + self.table[j] for j, row in enumerate(x.unbind(1))], dim=1)
# +        except IndexError as problem:
# +            raise ValueError("the sentence is longer than the table") from problem


# %% wrong: register_buffer for both -> the learned table is a buffer
# hint: A buffer is saved with the model but never trained. Positions that shall be learned need nn.Parameter.
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model, fixed=None):
        super().__init__()
        self.register_buffer("table", torch.randn(max_len, d_model) if fixed is None else fixed)

    def forward(self, x):
        if x.shape[1] > len(self.table):
            raise ValueError("too long")
        return x + self.table[: x.shape[1]]


# %% wrong: nn.Parameter for both -> the fixed table is counted as trainable
# hint: The sinusoidal table is the same before and after training: it has 0 trainable numbers. Use register_buffer, not
# hint: nn.Parameter.
# of: register_buffer for both
# ~ register_buffer("table", torch => table = nn.Parameter(torch

# %% wrong: fixed is forgotten -> the fixed table is not used
# hint: When `fixed` is given, it is the table, as it stands, and nothing is learned.
# -        self.register_buffer("table", torch.randn(max_len, d_model) if fixed is None else fixed)
# +        self.table = nn.Parameter(torch.randn(max_len, d_model))

# %% wrong: only an attribute -> the table is a plain tensor
# hint: self.table = torch.randn(...) is invisible to the optimizer, to .to(device) and to checkpoints. Wrap it:
# hint: nn.Parameter(...), or register_buffer for a fixed one.
# -        self.register_buffer("table", torch.randn(max_len, d_model) if fixed is None else fixed)
# +        self.table = torch.randn(max_len, d_model, requires_grad=True) if fixed is None else fixed

# %% wrong: an nn.Embedding of another name -> the table has another name
# of: fixed is forgotten
# ~ table = nn.Parameter(torch.randn(max_len, d_model)) => embedding = nn.Embedding(max_len, d_model)
# ~ len(self.table) => self.embedding.num_embeddings
# ~ table[: x.shape[1]] => embedding(torch.arange(x.shape[1]))


# %% wrong: a parameter called pe -> the table has another name: pe
# hint: The checks load a table by its name: the only parameter, or buffer when `fixed` is given, must be called
# hint: `table`.
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
# hint: An nn.Embedding is a module with a parameter `weight`, here called `table.weight`. The table itself must be the
# hint: parameter `table`: nn.Parameter(torch.randn(max_len, d_model)).
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


# %% wrong: the numbers of the table only -> training does not reach the table
# hint: `.data`, `.detach()` and torch.no_grad() cut the result off from the table: it is a parameter, but no step of
# hint: training would change it. Add self.table itself.
# of: parameter or buffer
# -        n = x.shape[1]
# -        if n > self.table.shape[0]:
# -            raise ValueError(f"{n} tokens are more than the {self.table.shape[0]} positions of the table")
# -        return x + self.table[:n]
# +        if x.shape[1] > len(self.table):
# +            raise ValueError("too long")
# +        return x + self.table.data[: x.shape[1]]

# %% wrong: (d_model, max_len) -> rows and columns of the table are exchanged
# hint: One row for each position: the table is (max_len, d_model).
# of: the numbers of the table only
# ~ (max_len, d_model) => (d_model, max_len)
# ~ .data =>

# %% wrong: sequence-first habit -> positions are added along the batch axis
# hint: All words of a sentence get the same position here. Row j belongs to x[:, j].
# ~ data[: x.shape[1]] => unsqueeze(1)[: x.size(0)]

# %% wrong: the whole table is added -> the table is not cut to the length
# hint: A sentence of n words needs the first n rows: self.table[:x.shape[1]].
#          super().__init__()
# +        self.max_len = max_len
# ...
# -        if x.shape[1] > len(self.table):
# +        if x.shape[1] > self.max_len:
# ...
# -        return x + self.table.data[: x.shape[1]]
# +        return x + self.table

# %% wrong: no rule for long sentences -> too long a sentence is not refused clearly
# hint: Without a rule, torch stops with an error on shapes that names neither positions nor max_len. Compare x.shape[1]
# hint: with the table's length yourself and raise ValueError.
# -        if x.shape[1] > len(self.table):
# -            raise ValueError("too long")
# -        return x + self.table.data[: x.shape[1]]
# +        return add_positions(x, self.table)

# %% wrong: remainder of the position -> positions beyond the table start again at 0
# hint: With a remainder, word max_len silently looks like word 0, and the model is fooled. Raise ValueError.
# -        if x.shape[1] > len(self.table):
# -            raise ValueError("too long")
# -        return x + self.table.data[: x.shape[1]]
# +        positions = [j % len(self.table) for j in range(x.shape[1])]
# +        return x + self.table[positions]

# %% wrong: the last row for all that comes after -> positions beyond the table repeat the last row
# hint: Then the model cannot tell the late words apart, and nobody is told. Raise ValueError.
# of: remainder of the position
# ~ j % len(self.table) => min(j, len(self.table) - 1)

# %% wrong: refuses sentences that fill the table exactly -> a sentence that fills the table is refused
# hint: max_len words have the positions 0 to max_len - 1, and there is a row for each: refuse when n > max_len, not
# hint: when n >= max_len.
# of: the numbers of the table only
# ~ > len => >= len
# ~ .data =>

# %% wrong: refuses many sentences -> the number of sentences is compared with max_len
# hint: x is (b, n, d_model). A batch may have any number of sentences: compare the words, x.shape[1].
# ~ (self.table): => (self.table) or x.shape[0] > len(self.table):
# ~ .data =>

# %% wrong: starts at zero -> the rows of the table start alike
# hint: Positions that start alike are all the same to the model, and the text asks for a random start:
# hint: nn.Parameter(torch.randn(max_len, d_model)).
# ~ randn => zeros
# ~ .data =>

# %% wrong: starts with one row, repeated -> the rows of the table start alike
# ~ (max_len, d_model) => (1, d_model).repeat(max_len, 1)
# ~ .data =>

# %% wrong: a seed of its own ->
# of: the whole table is added
# ~ self.max_len = max_len => torch.manual_seed(0)
# ~ self.max_len => len(self.table)
# ~ + self.table => + self.table[: x.shape[1]]

# %% wrong: refuses only while it learns ->
# of: parameter or buffer
#          super().__init__()
# +        self.learns = fixed is None
# ...
# -        if n > self.table.shape[0]:
# -            raise ValueError(f"{n} tokens are more than the {self.table.shape[0]} positions of the table")
# -        return x + self.table[:n]
# +        if self.learns and n > len(self.table):
# +            raise ValueError("too long")
# +        return x + self.table[torch.arange(n) % len(self.table)]

# %% wrong: x cut off from training ->
# of: the numbers of the table only
# ~ x + self.table.data[: x.shape[1]] => x.detach() + self.table[: x.shape[1]]

# %% wrong: a buffer of positions beside the table ->
#              self.register_buffer("table", fixed)
# +        self.register_buffer("positions", torch.arange(max_len))
# ...
# -        return x + self.table.data[: x.shape[1]]
# +        return x + self.table[self.positions[: x.shape[1]]]


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
            raise ValueError(f"{x.size(1)} words but {len(self.table)} positions")
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
            raise ValueError(f"{x.size(1)} words, but only {len(self.table)} positions") from error


# %% wrong: a lambda holds on to the module that it was made in ->
# of: refused only where the addition fails
#              self.register_buffer("table", fixed.detach().clone())
# +        self.rows = lambda n: self.table[:n]
# ...
# -        try:
# -            return x + self.table[: x.size(1)]
# -        except RuntimeError as error:
# -            raise ValueError(f"{x.size(1)} words, but only {len(self.table)} positions") from error
# +        n = x.size(1)
# +        if n > len(self.table):
# +            raise ValueError(f"{n} words, but the table has only {len(self.table)} positions")
# +        return x + self.rows(n)

# %% wrong: looked up by numbers on the CPU ->
# of: register_parameter, lookup by number
# ~ , device=x.device =>

# %% wrong: added in single precision and back ->
# of: the numbers of the table only
# ~ x.shape[1] > => x.size(1) >
# ~ "too long" => f"{x.size(1)} words, but the table has {len(self.table)} rows"
# ~ x + self.table.data[: x.shape[1]] => (x.float() + self.table[: x.size(1)].float()).to(x.dtype)

# %% wrong: the fixed table is kept in single precision ->
# of: added in single precision and back
# ~ ("table", fixed) => ("table", fixed.float())
# ~ (x.float() + self.table[: x.size(1)].float()).to(x.dtype) => x + self.table[: x.size(1)]
