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
# other: It shows that LoRA is a linear layer with a changed weight; the solution multiplies by two thin matrices, and never makes a change as large as the weight, except to merge it.
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


# %% right: a deep copy of the bias, and a weight as it comes
# of: small random numbers, and a sum of outer products
# ~ , device=self.weight.device, dtype=self.weight.dtype =>

# %% wrong: zeros twice -> down does not start with random numbers
# hint: The gradient of each factor is a product with the other one. Where both are zero, both gradients are zero, and
# hint: nothing ever moves; where all rows of down are alike, all learn the same. Start it with torch.randn.
# of: inherits from nn.Linear
# ~ randn(rank, d_in) / d_in**0.5 => zeros(rank, d_in)

# %% wrong: randn twice -> both factors start with random numbers
# hint: The model is disturbed before it has seen one label. Start up with zeros.
# ~ zeros => randn

# %% wrong: zeros for down, randn for up -> up starts with random numbers and down with zeros
# hint: It would learn as well, but here it is the other way round, as in the paper: down is random, up is zero.
# ~ randn(rank, d_in) / d_in**0.5 => zeros(rank, d_in)
# ~ zeros(d_out, rank) => randn(d_out, rank)

# %% wrong: nothing is frozen -> the frozen layer is not frozen
# hint: weight and bias still train: then all d_out * d_in numbers change, and nothing is saved. Set their requires_grad
# hint: to False.
# -        self.weight.requires_grad_(False)
# -        self.bias.requires_grad_(False)

# %% wrong: only the weight is frozen -> the bias still trains
# hint: The bias belongs to the frozen layer: set its requires_grad to False as well.
# -        self.bias.requires_grad_(False)

# %% wrong: frozen at the end -> the factors are frozen too
# hint: Nothing trains any more: freeze weight and bias first, and make down and up afterwards.
# of: nothing is frozen
#          self.up = nn.Parameter(torch.zeros(d_out, rank))
# +        self.requires_grad_(False)

# %% wrong: no scale at all -> the scale is forgotten
# hint: The way through the factors is multiplied by alpha / rank; in merged() as well.
# of: inherits from nn.Linear
# ~ alpha / rank => 1

# %% wrong: alpha alone -> the scale is alpha
# hint: Divide by the rank: with it the size of the change depends less on how many rows down has.
# ~ alpha / rank => alpha

# %% wrong: alpha over the root of the rank -> the scale is alpha / sqrt(rank)
# hint: A later variant (rank-stabilised LoRA) divides by the root. Here, as in the paper, alpha is divided by the rank
# hint: itself.
# ~ / rank => / rank**0.5

# %% wrong: one over the rank -> the scale is 1 / rank
# hint: alpha is not used: the scale is alpha / rank.
# ~ alpha / => 1 /

# %% wrong: turned round -> the scale is rank / alpha
# hint: It is the other way round: alpha / rank.
# ~ alpha / rank => rank / alpha

# %% wrong: the sum is scaled -> the scale multiplies the frozen layer too
# hint: Only the way through the factors is scaled; what the frozen layer gives is added as it is.
# ~ super().forward(x) + self.scale * (x => self.scale * (super().forward(x) + x

# %% wrong: the change alone -> the frozen layer is left out
# hint: The factors make a change of what the layer knows already: add what the frozen layer gives.
# ~ super().forward(x) + self => self

# %% wrong: merged without the scale -> merged() forgets the scale
# hint: The same scale belongs into the merged weight: weight + alpha / rank * up @ down.
# -        with torch.no_grad():
# -            layer.weight.copy_(self.weight + self.scale * self.up @ self.down)
# -            layer.bias.copy_(self.bias)
# +        layer.weight.data = (self.weight + self.up @ self.down).detach().clone()
# +        layer.bias.data = self.bias.detach().clone()

# %% wrong: merged into its own weight -> merged() changes the layer itself
# hint: After it, the layer has the change in its weight and adds it a second time. Make a new nn.Linear.
#      def merged(self):
# +        with torch.no_grad():
# +            self.weight += self.scale * self.up @ self.down
# ...
# -        with torch.no_grad():
# -            layer.weight.copy_(self.weight + self.scale * self.up @ self.down)
# -            layer.bias.copy_(self.bias)
# +        layer.load_state_dict({"weight": self.weight, "bias": self.bias})

# %% wrong: the product alone is merged -> merged() leaves the frozen weight out
# hint: The merged weight is the frozen one plus the product of the factors.
# of: merged without the scale
# ~ weight + => scale *

# %% wrong: the old weight is handed out -> merged() gives the frozen layer, without what was learned
# hint: Add the product of the factors, times the scale, to the weight.
# ~ (self.weight + self.up @ self.down) => self.weight

# %% wrong: dropout before the factors ->
# of: inherits from nn.Linear
# ~ (x @ self.down.T @ self.up.T) => (F.dropout(x, 0.3, self.training) @ self.down.T @ self.up.T)

# %% wrong: no gradient reaches x through the factors ->
# ~ (x @ self.down.T @ self.up.T) => (x.detach() @ self.down.T @ self.up.T)

# %% wrong: another default ->
# ~ 8.0 => 1.0

# %% wrong: the scale is a buffer ->
# of: only the weight is frozen
# ~ weight.requires_grad_ => requires_grad_
# ~ scale = alpha / rank => register_buffer("scale", torch.tensor(alpha / rank))


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


# %% wrong: down from a generator with a seed of its own ->
# of: the merged layer shares the bias
# -        self.down = nn.Parameter(torch.randn(rank, d_in) / d_in**0.5)
# +        self.down = nn.Parameter(torch.randn(rank, d_in, generator=torch.Generator().manual_seed(1)) / math.sqrt(d_in))
# ...
# -        return super().forward(x) + self.scale * (x @ self.down.T) @ self.up.T
# +        return F.linear(x, self.weight, self.bias) + self.scale * (x @ self.down.T @ self.up.T)
# ...
# -        plain = nn.Linear(self.in_features, self.out_features)
# -        plain.weight = nn.Parameter(self.weight + self.scale * self.up @ self.down)
# -        plain.bias = self.bias
# +        plain = nn.Linear(self.in_features, self.out_features, device=self.weight.device, dtype=self.weight.dtype)
# +        plain.weight.copy_(self.weight + self.scale * self.up @ self.down)
# +        plain.bias.copy_(self.bias)


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


# %% wrong: the rank is at most 32 ->
# of: inherits from nn.Linear
#          super().__init__(d_in, d_out)
# +        rank = min(rank, 32)

# %% wrong: the scale is at most 16 ->
# ~ alpha / rank => min(alpha / rank, 16.0)

# %% wrong: an alpha of 0 is taken for none given ->
# ~ alpha / => (alpha or 8.0) /

# %% wrong: only 64 tokens are changed ->
# -        return super().forward(x) + self.scale * (x @ self.down.T @ self.up.T)
# +        change = self.scale * (x @ self.down.T @ self.up.T)
# +        if x.dim() > 1:
# +            change[..., 64:, :] = 0
# +        return super().forward(x) + change

# %% wrong: merged() makes its layer on the CPU ->
# ~ device=self.weight.device, dtype => dtype

# %% wrong: all rows of down are alike -> down does not start with random numbers
# of: inherits from nn.Linear
# ~ torch.randn(rank, d_in) / => torch.randn(1, d_in).repeat(rank, 1) /

# %% wrong: all numbers of each row of down are alike ->
# ~ torch.randn(rank, d_in) / => torch.randn(rank, 1).repeat(1, d_in) /

# %% wrong: merged() keeps the numbers of its first call -> merged() gives what it gave before
# hint: Training goes on after a call, and what was merged then is old: compute it anew each time.
#          with torch.no_grad():
# -            layer.weight.copy_(self.weight + self.scale * self.up @ self.down)
# -            layer.bias.copy_(self.bias)
# +            if not hasattr(self, "kept"):
# +                self.kept = [self.weight + self.scale * self.up @ self.down, self.bias.clone()]
# +            layer.weight.copy_(self.kept[0])
# +            layer.bias.copy_(self.kept[1])

# %% wrong: merged() keeps its first layer -> merged() gives what it gave before
#      def merged(self):
# +        if hasattr(self, "kept") and self.kept[0].weight.dtype == self.weight.dtype:
# +            return copy.deepcopy(self.kept[0])
# ...
# -        return layer
# +        self.kept = [copy.deepcopy(layer)]
# +        return layer

# %% wrong: merged() is kept until up changes ->
#      def merged(self):
# +        if hasattr(self, "kept") and self.kept[1].dtype == self.up.dtype and self.kept[1].equal(self.up):
# +            return copy.deepcopy(self.kept[0])
# ...
# -        return layer
# +        self.kept = [copy.deepcopy(layer), self.up.detach().clone()]
# +        return layer

# %% wrong: a layer that is new merges into its own numbers ->
# -        return layer
# +        if not self.up.any():
# +            layer.weight, layer.bias = self.weight, self.bias
# +        return layer
