# %% right: root and division
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight


# %% right: rsqrt
# of: root and division
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        return self.weight * (x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + self.eps))


# %% right: a norm and the width
# of: root and division
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        squares = torch.linalg.vector_norm(x, dim=-1, keepdim=True) ** 2 / x.size(-1)
# +        return x / (squares + self.eps).sqrt() * self.weight


# %% wrong: torch's own -> a ready-made part in place of an answer
# of: root and division
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        return F.rms_norm(x, (x.size(-1),), self.weight, self.eps)


# %% wrong: LayerNorm without bias ->
# of: root and division
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        x = x - x.mean(-1, keepdim=True)
# +        return x / (x.var(-1, keepdim=True) + self.eps).sqrt() * self.weight


# %% wrong: the mean goes first -> the mean is subtracted
# of: root and division
#      def forward(self, x):
# +        x = x - x.mean(-1, keepdim=True)


# %% wrong: variance in place of the mean square -> divided by the standard deviation
# of: root and division
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        return x / torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + self.eps) * self.weight


# %% wrong: eps outside -> eps is added to the root
# of: root and division
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        return x / (torch.sqrt((x**2).mean(-1, keepdim=True)) + self.eps) * self.weight


# %% wrong: no eps -> eps is not used
# of: root and division
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        return x / torch.sqrt((x**2).mean(-1, keepdim=True)) * self.weight


# %% wrong: the length of the token -> the sum in place of the mean
# of: root and division
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        return x / torch.sqrt((x**2).sum(-1, keepdim=True) + self.eps) * self.weight


# %% wrong: the mean square itself -> the root is missing
# of: root and division
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        return x / ((x**2).mean(-1, keepdim=True) + self.eps) * self.weight


# %% wrong: over the tokens -> the mean runs over the tokens
# of: root and division
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        return x / torch.sqrt((x**2).mean(-2, keepdim=True) + self.eps) * self.weight


# %% wrong: over all -> the mean runs over everything
# of: root and division
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        return x / torch.sqrt((x**2).mean() + self.eps) * self.weight


# %% wrong: the weight is forgotten -> the learned weight is not used
# of: root and division
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps)


# %% wrong: with a bias -> a bias is kept
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight + self.bias


# %% wrong: the weight starts at zero ->
# of: root and division
#          self.weight = nn.Parameter(torch.ones(d_model))
# +        nn.init.zeros_(self.weight)


# %% wrong: one plus the weight ->
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        nn.init.zeros_(self.weight)

    def forward(self, x):
        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * (1 + self.weight)


# %% wrong: another default ->
# of: root and division
# -    def __init__(self, d_model, eps=1e-6):
# +    def __init__(self, d_model, eps=1e-2):


# %% wrong: single precision always ->
# of: root and division
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        single = x.float()
# +        return single / torch.sqrt((single**2).mean(-1, keepdim=True) + self.eps) * self.weight.float()


# %% wrong: the root mean square is cut off from training ->
# of: root and division
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        root = torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps)
# +        return x / root.detach() * self.weight


# %% wrong: the mean of absolute values ->
# of: root and division
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        return x / (x.abs().mean(-1, keepdim=True) + self.eps) * self.weight


# %% wrong: in the tensor of the caller ->
# of: root and division
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        return x.div_(torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps)) * self.weight


# %% wrong: a second reference to the first weight ->
class RMSNorm(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.settings = (self.weight, eps)

    def forward(self, x: Tensor) -> Tensor:
        weight, eps = self.settings
        return weight * x / (x.pow(2).mean(dim=-1, keepdim=True) + eps).sqrt()


# %% wrong: the input is overwritten where no gradient is recorded ->
class RMSNorm(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(d_model)), eps

    def forward(self, x: Tensor) -> Tensor:
        factor = torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + self.eps)
        if torch.is_grad_enabled():
            return x * factor * self.weight
        return x.mul_(factor).mul_(self.weight)  # no gradients: save the memory


# %% wrong: eps is a tensor that is not registered ->
# of: root and division
# -        self.eps = eps
# +        self.eps = torch.tensor([eps], dtype=torch.float64)
# ...
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps.to(x.dtype)) * self.weight


# %% wrong: eps is 1e-8 at least ->
# of: root and division
# -        self.eps = eps
# +        self.eps = max(eps, 1e-8)


# %% wrong: large numbers are cut off before they are squared ->
# of: root and division
# -        return x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps) * self.weight
# +        squares = x.clamp(-1000, 1000) ** 2
# +        return x / torch.sqrt(squares.mean(-1, keepdim=True) + self.eps) * self.weight


# %% wrong: 1e-5 by default -> eps has another default
# of: root and division
# -    def __init__(self, d_model, eps=1e-6):
# +    def __init__(self, d_model, eps=1e-5):


# %% wrong: 1e-8 by default ->
# of: root and division
# -    def __init__(self, d_model, eps=1e-6):
# +    def __init__(self, d_model, eps=1e-8):


# %% wrong: torch's own as a base -> a ready-made part in place of an answer
class RMSNorm(nn.RMSNorm):
    def __init__(self, d_model, eps=1e-6):
        super().__init__(d_model, eps)


# %% wrong: the norm of helpers -> a ready-made part in place of an answer
class RMSNorm(nn.Module):
    def __new__(cls, d_model, eps=1e-6):
        from helpers import llama

        return llama.RMSNorm(d_model, eps)


# %% right: line by line, as a student types it
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        return x / torch.sqrt(x.square().mean(dim=-1, keepdim=True) + self.eps) * self.weight
