# %% right: root and division
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight


# %% right: rsqrt
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        return self.weight * (x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + self.eps))

# %% right: a norm and the width
# other: It shows that a vector's length is divided out, up to `sqrt(d)`; the solution follows the name, root, mean and square, and takes no root only to square it again.
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        squares = torch.linalg.vector_norm(x, dim=-1, keepdim=True) ** 2 / x.size(-1)
# +        return x / (squares + self.eps).sqrt() * self.weight


# %% right: line by line, as a student types it
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        return x / torch.sqrt(x.square().mean(dim=-1, keepdim=True) + self.eps) * self.weight


# %% wrong: the mean goes first -> the mean is subtracted
# hint: That is LayerNorm. RMSNorm leaves the mean where it is.
#      def forward(self, x):
# +        x = x - x.mean(-1, keepdim=True)

# %% wrong: variance in place of the mean square -> divided by the standard deviation
# hint: The standard deviation measures from the mean, the root mean square from zero.
# ~ (x**2).mean(-1, keepdim=True) => x.var(-1, keepdim=True, unbiased=False)

# %% wrong: eps outside -> eps is added to the root
# hint: Add it to the mean of the squares: the root of 1e-6 is 1e-3, a thousand times as much.
# ~ torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) => (torch.sqrt((x**2).mean(-1, keepdim=True)) + self.eps)

# %% wrong: no eps -> eps is not used
# hint: A token of zeros gives 0 / 0. Add eps to the mean of the squares.
# ~ ((x**2).mean(-1, keepdim=True) + self.eps) => ((x**2).mean(-1, keepdim=True))

# %% wrong: 1e-5 by default -> eps has another default
# hint: Where it is left out, it is 1e-6: `def __init__(self, d_model, eps=1e-6)`.
# ~ (self, d_model, eps=1e-6): => (self, d_model, eps=1e-5):

# %% wrong: the length of the token -> the sum in place of the mean
# hint: With the sum, wide tokens become small ones: take the mean of the squares.
# ~ mean => sum

# %% wrong: the mean square itself -> the root is missing
# hint: It is divided by the mean square itself: take its root.
# ~ torch.sqrt =>

# %% wrong: over the tokens -> the mean runs over the tokens
# hint: Each token by itself: the mean runs over its numbers, dim=-1.
# ~ -1, => -2,

# %% wrong: over all -> the mean runs over everything
# hint: Each token by itself: the mean runs over its numbers, dim=-1, and keepdim=True keeps the axis.
# ~ -1, keepdim=True =>

# %% wrong: the weight is forgotten -> the learned weight is not used
# hint: Multiply the normalised numbers by self.weight.
# ~ ((x**2).mean(-1, keepdim=True) + self.eps) * self.weight => ((x**2).mean(-1, keepdim=True) + self.eps)

# %% wrong: with a bias -> a bias is kept
# hint: RMSNorm has a weight only.
#          self.weight = nn.Parameter(torch.ones(d_model))
# +        self.bias = nn.Parameter(torch.zeros(d_model))
# ...
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight + self.bias

# %% wrong: torch's own -> a ready-made part in place of an answer
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        return F.rms_norm(x, (x.size(-1),), self.weight, self.eps)

# %% wrong: the weight starts at zero ->
#          self.weight = nn.Parameter(torch.ones(d_model))
# +        nn.init.zeros_(self.weight)

# %% wrong: single precision always ->
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        single = x.float()
# +        return single / torch.sqrt((single**2).mean(-1, keepdim=True) + self.eps) * self.weight.float()

# %% wrong: the root mean square is cut off from training ->
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        root = torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps)
# +        return x / root.detach() * self.weight


# %% wrong: a second reference to the first weight ->
class RMSNorm(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.settings = (self.weight, eps)

    def forward(self, x: Tensor) -> Tensor:
        weight, eps = self.settings
        return weight * x / (x.pow(2).mean(dim=-1, keepdim=True) + eps).sqrt()


# %% wrong: eps is a tensor that is not registered ->
# ~ = eps => = torch.tensor([eps], dtype=torch.float64)
# ~ ((x**2).mean(-1, keepdim=True) + self.eps) => ((x**2).mean(-1, keepdim=True) + self.eps.to(x.dtype))

# %% wrong: eps is 1e-8 at least ->
# ~ = eps => = max(eps, 1e-8)

# %% wrong: large numbers are cut off before they are squared ->
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        squares = x.clamp(-1000, 1000) ** 2
# +        return x / torch.sqrt(squares.mean(-1, keepdim=True) + self.eps) * self.weight
