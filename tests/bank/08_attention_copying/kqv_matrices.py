# %% right: rules for Q and V
def kqv_matrices(u_a, u_b, u_c, u_d):
    square = u_a @ u_a
    Q = (torch.outer(u_d, u_a) + torch.outer(u_c, u_d)) / square
    V = (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / square
    return torch.eye(len(u_a)), Q, V


# %% right: the work is done by K, and Q is the identity
def kqv_matrices(u_a, u_b, u_c, u_d):
    square = u_a @ u_a
    K = (torch.outer(u_a, u_d) + torch.outer(u_d, u_c)) / square
    V = (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / square
    return [K, torch.eye(len(u_a)), V]


# %% right: sharper scores, without the division in Q
def kqv_matrices(u_a, u_b, u_c, u_d):
    direction = lambda u: u.double() / u.double().norm()
    a, b, c, d = map(direction, (u_a, u_b, u_c, u_d))
    Q = 5 * (torch.outer(d, a) + torch.outer(c, d))
    V = torch.outer(b, b) - torch.outer(c, c)
    return torch.stack([torch.eye(len(a)).double(), Q, V])


# %% right: token 1 looks at x3 by what it lacks, solved by least squares
def kqv_matrices(u_a, u_b, u_c, u_d):
    u = torch.stack([u_a, u_b, u_c, u_d])
    back = torch.linalg.pinv(u)
    queries = torch.stack([u_d, torch.zeros_like(u_a), torch.zeros_like(u_a), u_c])
    values = torch.stack([torch.zeros_like(u_a), u_b, -u_c, torch.zeros_like(u_a)])
    return torch.eye(len(u_a)), (back @ queries).T, (back @ values).T


# %% right: the value rule keeps everything else too, and queries push away
def kqv_matrices(u_a, u_b, u_c, u_d):
    square = u_a @ u_a
    Q = (torch.outer(u_d - u_c, u_a) + torch.outer(u_c - u_d - u_a, u_d)) / square
    V = torch.eye(len(u_a)) - (2 * torch.outer(u_c, u_c) + torch.outer(u_d, u_d)) / square
    return torch.eye(len(u_a)), Q, V


# %% wrong: V is the identity -> V does not let u_b alone through
def kqv_matrices(u_a, u_b, u_c, u_d):
    eye = torch.eye(len(u_a))
    return eye, (torch.outer(u_d, u_a) + torch.outer(u_c, u_d)) / (u_a @ u_a), eye


# %% wrong: V without the division -> V is not divided by beta squared
def kqv_matrices(u_a, u_b, u_c, u_d):
    Q = (torch.outer(u_d, u_a) + torch.outer(u_c, u_d)) / (u_a @ u_a)
    return torch.eye(len(u_a)), Q, torch.outer(u_b, u_b) - torch.outer(u_c, u_c)


# %% wrong: V over the length -> V is divided by beta, not by its square
def kqv_matrices(u_a, u_b, u_c, u_d):
    Q = (torch.outer(u_d, u_a) + torch.outer(u_c, u_d)) / (u_a @ u_a)
    return torch.eye(len(u_a)), Q, (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / u_a.norm()


# %% wrong: outer the wrong way round -> Q is transposed, or K and Q are exchanged
def kqv_matrices(u_a, u_b, u_c, u_d):
    square = u_a @ u_a
    Q = (torch.outer(u_a, u_d) + torch.outer(u_d, u_c)) / square
    return torch.eye(len(u_a)), Q, (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / square


# %% wrong: Q, K, V -> Q is transposed, or K and Q are exchanged
# of: rules for Q and V
# -    return torch.eye(len(u_a)), Q, V
# +    return Q, torch.eye(len(u_a)), V


# %% wrong: plus u_c -> V adds u_c in place of taking it away
def kqv_matrices(u_a, u_b, u_c, u_d):
    square = u_a @ u_a
    Q = (torch.outer(u_d, u_a) + torch.outer(u_c, u_d)) / square
    return torch.eye(len(u_a)), Q, (torch.outer(u_b, u_b) + torch.outer(u_c, u_c)) / square


# %% wrong: one rule in Q -> the query of token 1 is not set
def kqv_matrices(u_a, u_b, u_c, u_d):
    square = u_a @ u_a
    V = (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / square
    return torch.eye(len(u_a)), torch.outer(u_d, u_a) / square, V


# %% wrong: asks for u_b -> token 2 looks for u_b itself
def kqv_matrices(u_a, u_b, u_c, u_d):
    square = u_a @ u_a
    Q = (torch.outer(u_b, u_a) + torch.outer(u_c, u_d)) / square
    return torch.eye(len(u_a)), Q, (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / square


# %% wrong: three identities -> K, Q and V are all the identity
def kqv_matrices(u_a, u_b, u_c, u_d):
    eye = torch.eye(len(u_a))
    return eye, eye, eye


# %% wrong: the axes in place of the vectors ->
def kqv_matrices(u_a, u_b, u_c, u_d):
    width = len(u_a)
    Q, V = torch.zeros(width, width), torch.zeros(width, width)
    Q[3, 0] = Q[2, 3] = V[1, 1] = 1.0
    V[2, 2] = -1.0
    return torch.eye(width), Q, V


# %% wrong: the length is taken to be 4 ->
def kqv_matrices(u_a, u_b, u_c, u_d):
    Q = (torch.outer(u_d, u_a) + torch.outer(u_c, u_d)) / 16
    return torch.eye(len(u_a)), Q, (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / 16


# %% wrong: c1 only ->
def kqv_matrices(u_a, u_b, u_c, u_d):
    square = u_a @ u_a
    V = (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / square
    return torch.eye(len(u_a)), torch.outer(u_c, u_d) / square, V


# %% wrong: the scores are too small -> the scores are about beta, not about beta squared
def kqv_matrices(u_a, u_b, u_c, u_d):
    square = u_a @ u_a
    Q = (torch.outer(u_d, u_a) + torch.outer(u_c, u_d)) / square / u_a.norm()
    return torch.eye(len(u_a)), Q, (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / square


# %% wrong: V writes into the next vector too ->
# of: rules for Q and V
# -    V = (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / square
# +    V = (torch.outer(u_b + 0.1 * u_a, u_b) - torch.outer(u_c, u_c)) / square


# %% wrong: only two matrices ->
def kqv_matrices(u_a, u_b, u_c, u_d):
    return torch.eye(len(u_a)), torch.eye(len(u_a))


# %% wrong: the outputs in place of the matrices ->
def kqv_matrices(u_a, u_b, u_c, u_d):
    return u_b - u_c, u_b, u_b


# %% wrong: V keeps u_b, and that is all -> c1 is u_b, without -u_c
def kqv_matrices(u_a, u_b, u_c, u_d):
    square = u_a @ u_a
    queries = (torch.outer(u_d, u_a) + torch.outer(u_c, u_d)) / square
    return torch.eye(len(u_a)), queries, torch.outer(u_b, u_b) / square


# %% wrong: token 1 looks at itself -> c1 is u_b, without -u_c
def kqv_matrices(u_a, u_b, u_c, u_d):
    square = u_a @ u_a
    Q = (torch.outer(u_d, u_a) + torch.outer(u_d, u_d)) / square
    return torch.eye(len(u_a)), Q, (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / square


# %% wrong: token 1 looks at itself, by what it shares with token 3 -> c1 is u_b, without -u_c
def kqv_matrices(u_a, u_b, u_c, u_d):
    square = u_a @ u_a
    Q = (torch.outer(u_d, u_a) + torch.outer(u_d, u_b)) / square
    return torch.eye(len(u_a)), Q, (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / square


# %% right: the rule of token 1 starts from u_b
def kqv_matrices(u_a, u_b, u_c, u_d):
    square = u_a @ u_a
    Q = (torch.outer(u_d, u_a) + torch.outer(u_c, u_b)) / square
    return torch.eye(len(u_a)), Q, (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / square


# %% wrong: three matrices of zeros ->
def kqv_matrices(u_a, u_b, u_c, u_d):
    return tuple(torch.zeros(len(u_a), len(u_a)) for _ in range(3))


# %% wrong: the vectors are divided where they stand ->
# of: rules for Q and V
#      V = (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / square
# +    u_a /= square


# %% wrong: V is divided by a length of always 4.5 ->
def kqv_matrices(u_a, u_b, u_c, u_d):
    rule = lambda y, x: torch.outer(y, x) / (u_a @ u_a)
    V = torch.outer(u_b, u_b) / 20.25 - torch.outer(u_c, u_c) / 20.25
    return torch.eye(len(u_a)), rule(u_d, u_a) + rule(u_c, u_d), V


# %% wrong: the scores are divided by the root of the width ->
def kqv_matrices(u_a: Tensor, u_b: Tensor, u_c: Tensor, u_d: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    squared, d = u_a @ u_a, len(u_a)
    K = torch.eye(d, dtype=u_a.dtype) / math.sqrt(d)  # as in Vaswani et al.
    Q = (torch.outer(u_d, u_a) + torch.outer(u_c, u_d)) / squared
    V = (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / squared
    return K, Q, V
