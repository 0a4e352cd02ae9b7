# %% right: rules for Q and V
def kqv_matrices(u_a, u_b, u_c, u_d):
    square = u_a @ u_a
    Q = (torch.outer(u_d, u_a) + torch.outer(u_c, u_d)) / square
    V = (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / square
    return torch.eye(len(u_a)), Q, V


# %% right: the work is done by K, and Q is the identity
# other: It shows that scores depend only on the product of K and Q, so that either may do the work; the solution's Q says for each token what it looks for.
# ~ Q = (torch.outer(u_d, u_a) + torch.outer(u_c, u_d)) => K = (torch.outer(u_a, u_d) + torch.outer(u_d, u_c))
# ~ torch.eye(len(u_a)), Q, V => [K, torch.eye(len(u_a)), V]


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


# %% right: the rule of token 1 starts from u_b
def kqv_matrices(u_a, u_b, u_c, u_d):
    square = u_a @ u_a
    Q = (torch.outer(u_d, u_a) + torch.outer(u_c, u_b)) / square
    return torch.eye(len(u_a)), Q, (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / square


# %% wrong: V is the identity -> V does not let u_b alone through
# hint: With V = I the whole token is copied: c2 = u_d + u_b. V must drop u_d and turn u_c round.
def kqv_matrices(u_a, u_b, u_c, u_d):
    eye = torch.eye(len(u_a))
    return eye, (torch.outer(u_d, u_a) + torch.outer(u_c, u_d)) / (u_a @ u_a), eye


# %% wrong: V without the division -> V is not divided by beta squared
# hint: outer(u, u) @ u is beta^2 times u. Divide by u @ u, so that V gives u_b and not a multiple of it.
def kqv_matrices(u_a, u_b, u_c, u_d):
    Q = (torch.outer(u_d, u_a) + torch.outer(u_c, u_d)) / (u_a @ u_a)
    return torch.eye(len(u_a)), Q, torch.outer(u_b, u_b) - torch.outer(u_c, u_c)


# %% wrong: V over the length -> V is divided by beta, not by its square
# hint: outer(u, u) @ u = (u . u) u, and u . u is beta squared.
# of: V without the division
# ~ torch.outer(u_b, u_b) - torch.outer(u_c, u_c) => (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / u_a.norm()

# %% wrong: the scores are too small -> the scores are about beta, not about beta squared
# hint: One token takes nearly all the weight when its score is about beta^2; yours are about beta. Q must turn u_a into
# hint: a vector of length beta: torch.outer(y, x) / (x @ x) does.
# of: the rule of token 1 starts from u_b
# ~ u_b)) / square => u_d)) / square / u_a.norm()

# %% wrong: outer the wrong way round -> Q is transposed, or K and Q are exchanged
# hint: outer(y, x) @ x is a multiple of y: it takes x in and gives y out. Q acts on the token that looks, K on the
# hint: tokens looked at, and the order of the answer is K, Q, V.
# ~ (u_d, u_a) + torch.outer(u_c, u_b) => (u_a, u_d) + torch.outer(u_d, u_c)

# %% wrong: plus u_c -> V adds u_c in place of taking it away
# hint: c1 shall be u_b - u_c, so V must turn u_c into -u_c.
# ~ (torch.outer(u_d, u_a) + torch.outer(u_c, u_b)) => (torch.outer(u_d, u_a) + torch.outer(u_c, u_d))
# ~ - torch => + torch

# %% wrong: V keeps u_b, and that is all -> c1 is u_b, without -u_c
# hint: There are two ways to this. Either V has no second rule, which turns u_c into -u_c. Or token 1 does not look at
# hint: x3: compute Q @ (u_d + u_b), its query, and see whether it asks for u_c.
# ~ Q = (torch.outer(u_d, u_a) + torch.outer(u_c, u_b)) => queries = (torch.outer(u_d, u_a) + torch.outer(u_c, u_d))
# ~ Q, (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) => queries, torch.outer(u_b, u_b)

# %% wrong: one rule in Q -> the query of token 1 is not set
# hint: Q must do two things: turn u_a (token 2) into a query for x1, and u_d (in token 1) into a query for x3.
# ~ Q = (torch.outer(u_d, u_a) + torch.outer(u_c, u_b)) => V = (torch.outer(u_b, u_b) - torch.outer(u_c, u_c))
# ~ Q, (torch.outer(u_b, u_b) - torch.outer(u_c, u_c)) / square => torch.outer(u_d, u_a) / square, V

# %% wrong: asks for u_b -> token 2 looks for u_b itself
# hint: u_b is in x1 and in x3, so both get the same weight, and c2 is the mean of V x1 and V x3. Ask for what only one
# hint: of them has: u_d.
# ~ (u_d, u_a) + torch.outer(u_c, u_b) => (u_b, u_a) + torch.outer(u_c, u_d)

# %% wrong: three identities -> K, Q and V are all the identity
# hint: Then every token copies itself, as in the exercise before.
# of: V is the identity
# ~ (torch.outer(u_d, u_a) + torch.outer(u_c, u_d)) / (u_a @ u_a) => eye

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
