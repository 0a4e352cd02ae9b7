# %% right: inherits from nn.Linear
class LoRALinear(nn.Linear):
    def __init__(self, d_in, d_out, rank, alpha=8.0):
        super().__init__(d_in, d_out)
        self.weight.requires_grad_(False)
        self.bias.requires_grad_(False)
        self.scale = alpha / rank
        self.down = nn.Parameter(torch.randn(rank, d_in) / d_in**0.5)
        self.up = nn.Parameter(torch.zeros(d_out, rank))

    def forward(self, x):
        return super().forward(x) + self.scale * (x @ self.down.T @ self.up.T)

    def merged(self):
        layer = nn.Linear(self.in_features, self.out_features, device=self.weight.device, dtype=self.weight.dtype)
        with torch.no_grad():
            layer.weight.copy_(self.weight + self.scale * self.up @ self.down)
            layer.bias.copy_(self.bias)
        return layer


# %% right: a module with parameters of its own
class LoRALinear(nn.Module):
    def __init__(self, d_in, d_out, rank, alpha=8.0):
        super().__init__()
        self.d_in, self.d_out, self.alpha, self.rank = d_in, d_out, alpha, rank
        old = nn.Linear(d_in, d_out)
        self.weight = nn.Parameter(old.weight.detach(), requires_grad=False)
        self.bias = nn.Parameter(old.bias.detach(), requires_grad=False)
        self.down = nn.Parameter(torch.empty(rank, d_in))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))
        self.up = nn.Parameter(torch.zeros(d_out, rank))

    def forward(self, x):
        change = F.linear(F.linear(x, self.down), self.up)
        return F.linear(x, self.weight, self.bias) + change * self.alpha / self.rank

    def merged(self):
        layer = nn.Linear(self.d_in, self.d_out).to(self.weight)
        weight = self.weight + self.alpha / self.rank * torch.mm(self.up, self.down)
        layer.load_state_dict({"weight": weight, "bias": self.bias})
        return layer


# %% right: the merged weight in each call
# of: inherits from nn.Linear
# -        return super().forward(x) + self.scale * (x @ self.down.T @ self.up.T)
# +        return F.linear(x, self.weight + self.scale * self.up @ self.down, self.bias)
# ...
# -        with torch.no_grad():
# -            layer.weight.copy_(self.weight + self.scale * self.up @ self.down)
# -            layer.bias.copy_(self.bias)
# +        layer.weight.data = (self.weight + self.scale * self.up @ self.down).detach().clone()
# +        layer.bias.data = self.bias.detach().clone()


# %% right: small random numbers, and a sum of outer products
class LoRALinear(nn.Linear):
    def __init__(self, d_in, d_out, rank, alpha=8.0):
        super().__init__(d_in, d_out)
        self.weight.requires_grad_(False)
        self.bias.requires_grad_(False)
        self.scale = alpha / rank
        self.down = nn.Parameter(0.01 * torch.randn(rank, d_in))
        self.up = nn.Parameter(torch.zeros(d_out, rank))

    def forward(self, x):
        first = torch.einsum("...i,ri->...r", x, self.down)
        return nn.Linear.forward(self, x) + torch.einsum("...r,or->...o", first, self.up) * self.scale

    def merged(self):
        import copy as copies

        layer = nn.Linear(self.in_features, self.out_features, device=self.weight.device, dtype=self.weight.dtype)
        product = sum(torch.outer(self.up[:, k], self.down[k]) for k in range(len(self.down)))
        layer.weight = nn.Parameter(self.weight.detach() + self.scale * product.detach())
        layer.bias = copies.deepcopy(self.bias)
        return layer


# %% wrong: zeros twice -> down does not start with random numbers
# of: inherits from nn.Linear
# -        self.down = nn.Parameter(torch.randn(rank, d_in) / d_in**0.5)
# +        self.down = nn.Parameter(torch.zeros(rank, d_in))


# %% wrong: randn twice -> both factors start with random numbers
# of: inherits from nn.Linear
# -        self.up = nn.Parameter(torch.zeros(d_out, rank))
# +        self.up = nn.Parameter(torch.randn(d_out, rank))


# %% wrong: zeros for down, randn for up -> up starts with random numbers and down with zeros
# of: inherits from nn.Linear
# -        self.down = nn.Parameter(torch.randn(rank, d_in) / d_in**0.5)
# -        self.up = nn.Parameter(torch.zeros(d_out, rank))
# +        self.down = nn.Parameter(torch.zeros(rank, d_in))
# +        self.up = nn.Parameter(torch.randn(d_out, rank))


# %% wrong: nothing is frozen -> the frozen layer is not frozen
# of: inherits from nn.Linear
# -        self.weight.requires_grad_(False)
# -        self.bias.requires_grad_(False)


# %% wrong: only the weight is frozen -> the bias still trains
# of: inherits from nn.Linear
# -        self.bias.requires_grad_(False)


# %% wrong: frozen at the end -> the factors are frozen too
# of: inherits from nn.Linear
# -        self.weight.requires_grad_(False)
# -        self.bias.requires_grad_(False)
# ...
#          self.up = nn.Parameter(torch.zeros(d_out, rank))
# +        self.requires_grad_(False)


# %% wrong: no scale at all -> the scale is forgotten
# of: inherits from nn.Linear
# -        self.scale = alpha / rank
# +        self.scale = 1


# %% wrong: alpha alone -> the scale is alpha
# of: inherits from nn.Linear
# -        self.scale = alpha / rank
# +        self.scale = alpha


# %% wrong: one over the rank -> the scale is 1 / rank
# of: inherits from nn.Linear
# -        self.scale = alpha / rank
# +        self.scale = 1 / rank


# %% wrong: turned round -> the scale is rank / alpha
# of: inherits from nn.Linear
# -        self.scale = alpha / rank
# +        self.scale = rank / alpha


# %% wrong: alpha over the root of the rank -> the scale is alpha / sqrt(rank)
# of: inherits from nn.Linear
# -        self.scale = alpha / rank
# +        self.scale = alpha / rank**0.5


# %% wrong: the sum is scaled -> the scale multiplies the frozen layer too
# of: inherits from nn.Linear
# -        return super().forward(x) + self.scale * (x @ self.down.T @ self.up.T)
# +        return self.scale * (super().forward(x) + x @ self.down.T @ self.up.T)


# %% wrong: the change alone -> the frozen layer is left out
# of: inherits from nn.Linear
# -        return super().forward(x) + self.scale * (x @ self.down.T @ self.up.T)
# +        return self.scale * (x @ self.down.T @ self.up.T)


# %% wrong: merged without the scale -> merged() forgets the scale
# of: inherits from nn.Linear
# -        with torch.no_grad():
# -            layer.weight.copy_(self.weight + self.scale * self.up @ self.down)
# -            layer.bias.copy_(self.bias)
# +        layer.weight.data = (self.weight + self.up @ self.down).detach().clone()
# +        layer.bias.data = self.bias.detach().clone()


# %% wrong: merged into its own weight -> merged() changes the layer itself
# of: inherits from nn.Linear
# +        with torch.no_grad():
# +            self.weight += self.scale * self.up @ self.down
#          layer = nn.Linear(self.in_features, self.out_features, device=self.weight.device, dtype=self.weight.dtype)
# -        with torch.no_grad():
# -            layer.weight.copy_(self.weight + self.scale * self.up @ self.down)
# -            layer.bias.copy_(self.bias)
# +        layer.load_state_dict({"weight": self.weight, "bias": self.bias})


# %% wrong: the product alone is merged -> merged() leaves the frozen weight out
# of: inherits from nn.Linear
# -        with torch.no_grad():
# -            layer.weight.copy_(self.weight + self.scale * self.up @ self.down)
# -            layer.bias.copy_(self.bias)
# +        layer.weight.data = (self.scale * self.up @ self.down).detach().clone()
# +        layer.bias.data = self.bias.detach().clone()


# %% wrong: the old weight is handed out -> merged() gives the frozen layer, without what was learned
# of: inherits from nn.Linear
# -        with torch.no_grad():
# -            layer.weight.copy_(self.weight + self.scale * self.up @ self.down)
# -            layer.bias.copy_(self.bias)
# +        layer.weight.data = self.weight.detach().clone()
# +        layer.bias.data = self.bias.detach().clone()


# %% wrong: merged with a random bias ->
# of: inherits from nn.Linear
# -        with torch.no_grad():
# -            layer.weight.copy_(self.weight + self.scale * self.up @ self.down)
# -            layer.bias.copy_(self.bias)
# +        layer.weight.data = (self.weight + self.scale * self.up @ self.down).detach().clone()


# %% wrong: merged gives a tensor ->
# of: inherits from nn.Linear
# -        layer = nn.Linear(self.in_features, self.out_features, device=self.weight.device, dtype=self.weight.dtype)
# -        with torch.no_grad():
# -            layer.weight.copy_(self.weight + self.scale * self.up @ self.down)
# -            layer.bias.copy_(self.bias)
# -        return layer
# +        return self.weight + self.scale * self.up @ self.down


# %% wrong: merged is not written ->
class LoRALinear(nn.Linear):
    def __init__(self, d_in, d_out, rank, alpha=8.0):
        super().__init__(d_in, d_out)
        self.weight.requires_grad_(False)
        self.bias.requires_grad_(False)
        self.scale = alpha / rank
        self.down = nn.Parameter(torch.randn(rank, d_in) / d_in**0.5)
        self.up = nn.Parameter(torch.zeros(d_out, rank))

    def forward(self, x):
        return super().forward(x) + self.scale * (x @ self.down.T @ self.up.T)


# %% wrong: the factors have other names ->
class LoRALinear(nn.Linear):
    def __init__(self, d_in, d_out, rank, alpha=8.0):
        super().__init__(d_in, d_out)
        self.requires_grad_(False)
        self.scale = alpha / rank
        self.A = nn.Parameter(torch.randn(rank, d_in))
        self.B = nn.Parameter(torch.zeros(d_out, rank))

    def forward(self, x):
        return super().forward(x) + self.scale * (x @ self.A.T @ self.B.T)

    def merged(self):
        layer = nn.Linear(self.in_features, self.out_features, device=self.weight.device, dtype=self.weight.dtype)
        layer.weight.data = (self.weight + self.scale * self.B @ self.A).detach().clone()
        layer.bias.data = self.bias.detach().clone()
        return layer


# %% wrong: the factors lie on their side ->
class LoRALinear(nn.Linear):
    def __init__(self, d_in, d_out, rank, alpha=8.0):
        super().__init__(d_in, d_out)
        self.weight.requires_grad_(False)
        self.bias.requires_grad_(False)
        self.scale = alpha / rank
        self.down = nn.Parameter(torch.randn(d_in, rank))
        self.up = nn.Parameter(torch.zeros(rank, d_out))

    def forward(self, x):
        return super().forward(x) + self.scale * (x @ self.down @ self.up)

    def merged(self):
        layer = nn.Linear(self.in_features, self.out_features, device=self.weight.device, dtype=self.weight.dtype)
        layer.weight.data = (self.weight + self.scale * (self.down @ self.up).T).detach().clone()
        layer.bias.data = self.bias.detach().clone()
        return layer


# %% wrong: one full matrix ->
# of: inherits from nn.Linear
# -        self.down = nn.Parameter(torch.randn(rank, d_in) / d_in**0.5)
# -        self.up = nn.Parameter(torch.zeros(d_out, rank))
# +        self.down = nn.Parameter(torch.randn(d_in, d_in))
# +        self.up = nn.Parameter(torch.zeros(d_out, d_in))


# %% wrong: down starts with ones -> down does not start with random numbers
# of: inherits from nn.Linear
# -        self.down = nn.Parameter(torch.randn(rank, d_in) / d_in**0.5)
# +        self.down = nn.Parameter(torch.ones(rank, d_in))


# %% wrong: a ReLU between the factors ->
# of: inherits from nn.Linear
# -        return super().forward(x) + self.scale * (x @ self.down.T @ self.up.T)
# +        return super().forward(x) + self.scale * (torch.relu(x @ self.down.T) @ self.up.T)


# %% wrong: dropout before the factors ->
# of: inherits from nn.Linear
# -        return super().forward(x) + self.scale * (x @ self.down.T @ self.up.T)
# +        return super().forward(x) + self.scale * (F.dropout(x, 0.3, self.training) @ self.down.T @ self.up.T)


# %% wrong: no gradient reaches x through the factors ->
# of: inherits from nn.Linear
# -        return super().forward(x) + self.scale * (x @ self.down.T @ self.up.T)
# +        return super().forward(x) + self.scale * (x.detach() @ self.down.T @ self.up.T)


# %% wrong: another default ->
# of: inherits from nn.Linear
# -    def __init__(self, d_in, d_out, rank, alpha=8.0):
# +    def __init__(self, d_in, d_out, rank, alpha=1.0):


# %% wrong: the scale is a buffer ->
# of: inherits from nn.Linear
# -        self.weight.requires_grad_(False)
# -        self.bias.requires_grad_(False)
# -        self.scale = alpha / rank
# +        self.requires_grad_(False)
# +        self.register_buffer("scale", torch.tensor(alpha / rank))


# %% wrong: the merged layer shares the bias ->
class LoRALinear(nn.Linear):
    def __init__(self, d_in, d_out, rank, alpha=8.0):
        super().__init__(d_in, d_out)
        self.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, d_in) / d_in**0.5)
        self.up = nn.Parameter(torch.zeros(d_out, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return super().forward(x) + self.scale * (x @ self.down.T) @ self.up.T

    @torch.no_grad()
    def merged(self):
        plain = nn.Linear(self.in_features, self.out_features)
        plain.weight = nn.Parameter(self.weight + self.scale * self.up @ self.down)
        plain.bias = self.bias
        return plain


# %% wrong: merged in single precision always ->
# of: the merged layer shares the bias
# -        plain.weight = nn.Parameter(self.weight + self.scale * self.up @ self.down)
# -        plain.bias = self.bias
# +        plain.weight.copy_(self.weight + self.scale * self.up @ self.down)
# +        plain.bias.copy_(self.bias)


# %% wrong: down from a generator with a seed of its own ->
class LoRALinear(nn.Linear):
    def __init__(self, d_in, d_out, rank, alpha=8.0):
        super().__init__(d_in, d_out)
        self.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, d_in, generator=torch.Generator().manual_seed(1)) / math.sqrt(d_in))
        self.up = nn.Parameter(torch.zeros(d_out, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return F.linear(x, self.weight, self.bias) + self.scale * (x @ self.down.T @ self.up.T)

    @torch.no_grad()
    def merged(self):
        plain = nn.Linear(self.in_features, self.out_features, device=self.weight.device, dtype=self.weight.dtype)
        plain.weight.copy_(self.weight + self.scale * self.up @ self.down)
        plain.bias.copy_(self.bias)
        return plain


# %% wrong: down starts as a unit matrix ->
# of: down from a generator with a seed of its own
# -        self.down = nn.Parameter(torch.randn(rank, d_in, generator=torch.Generator().manual_seed(1)) / math.sqrt(d_in))
# +        self.down = nn.Parameter(torch.eye(rank, d_in))


# %% wrong: a single token has no axis to flatten ->
class LoRALinear(nn.Linear):
    def __init__(self, d_in: int, d_out: int, rank: int, alpha: float = 8.0) -> None:
        super().__init__(d_in, d_out)
        self.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, d_in) / math.sqrt(d_in))
        self.up = nn.Parameter(torch.zeros(d_out, rank))
        self.scale = alpha / rank

    def forward(self, x: Tensor) -> Tensor:
        rows = x.flatten(0, -2)  # (all, d_in)
        change = torch.mm(torch.mm(rows, self.down.T), self.up.T)
        return super().forward(x) + self.scale * change.unflatten(0, x.shape[:-1])

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        plain = nn.Linear(self.in_features, self.out_features).to(self.weight)
        plain.weight.copy_(self.weight + self.scale * self.up @ self.down)
        plain.bias.copy_(self.bias)
        return plain


# %% wrong: the thin part holds on to the first layer ->
class LoRALinear(nn.Linear):
    def __init__(self, d_in: int, d_out: int, rank: int, alpha: float = 8.0) -> None:
        super().__init__(d_in, d_out)
        self.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, d_in) / math.sqrt(d_in))
        self.up = nn.Parameter(torch.zeros(d_out, rank))
        self.scale = alpha / rank
        self.thin = lambda x: F.linear(F.linear(x, self.down), self.up) * self.scale

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + self.thin(x)

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        plain = nn.Linear(self.in_features, self.out_features, device=self.weight.device, dtype=self.weight.dtype)
        plain.weight.copy_(self.weight + self.scale * self.up @ self.down)
        plain.bias.copy_(self.bias)
        return plain


# %% wrong: merged() freezes the factors ->
class LoRALinear(nn.Linear):
    def __init__(self, d_in: int, d_out: int, rank: int, alpha: float = 8.0) -> None:
        super().__init__(d_in, d_out)
        self.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, d_in) / math.sqrt(d_in))
        self.up = nn.Parameter(torch.zeros(d_out, rank))
        self.scale = alpha / rank

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + self.scale * (x @ self.down.T @ self.up.T)

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        self.requires_grad_(False)  # the training is over
        plain = nn.Linear(self.in_features, self.out_features, device=self.weight.device, dtype=self.weight.dtype)
        plain.weight.copy_(self.weight + self.scale * self.up @ self.down)
        plain.bias.copy_(self.bias)
        return plain


# %% wrong: the rank is at most 32 ->
# of: inherits from nn.Linear
# -        super().__init__(d_in, d_out)
# +        super().__init__(d_in, d_out)
# +        rank = min(rank, 32)


# %% wrong: the scale is at most 16 ->
# of: inherits from nn.Linear
# -        self.scale = alpha / rank
# +        self.scale = min(alpha / rank, 16.0)


# %% wrong: an alpha of 0 is taken for none given ->
# of: inherits from nn.Linear
# -        self.scale = alpha / rank
# +        self.scale = (alpha or 8.0) / rank


# %% wrong: only 64 tokens are changed ->
# of: inherits from nn.Linear
# -        return super().forward(x) + self.scale * (x @ self.down.T @ self.up.T)
# +        change = self.scale * (x @ self.down.T @ self.up.T)
# +        if x.dim() > 1:
# +            change[..., 64:, :] = 0
# +        return super().forward(x) + change


# %% wrong: merged() makes its layer on the CPU ->
# of: inherits from nn.Linear
# -        layer = nn.Linear(self.in_features, self.out_features, device=self.weight.device, dtype=self.weight.dtype)
# +        layer = nn.Linear(self.in_features, self.out_features, dtype=self.weight.dtype)


# %% right: a deep copy of the bias, and a weight as it comes
# of: small random numbers, and a sum of outer products
# -        layer = nn.Linear(self.in_features, self.out_features, device=self.weight.device, dtype=self.weight.dtype)
# +        layer = nn.Linear(self.in_features, self.out_features)
