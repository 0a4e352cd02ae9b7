# %% right: cosine similarity
def nearest(query, states, k):
    cosines = F.cosine_similarity(states, query.unsqueeze(0), dim=1)
    return cosines.argsort(descending=True)[:k].tolist()


# %% right: both made as long as 1
# other: It normalises once and multiplies, so that a whole library of texts is prepared in advance; the solution says what is meant in one call.
def nearest(query, states, k):
    directions = states / states.norm(dim=1, keepdim=True)
    return torch.topk(directions @ (query / query.norm()), k).indices.tolist()


# %% right: plain Python
def nearest(query, states, k):
    def cosine(state):
        return float(state @ query) / math.sqrt(float(state @ state) * float(query @ query))

    return sorted(range(len(states)), key=lambda number: cosine(states[number]), reverse=True)[:k]


# %% right: the smallest distance of directions
def nearest(query, states, k):
    distances = torch.cdist(F.normalize(states, dim=1), F.normalize(query, dim=0)[None]).squeeze(1)
    return distances.argsort()[:k].tolist()


# %% wrong: the product alone -> the lengths count
# hint: A product grows with the length of the vectors: divide each text's vector by its length first.
def nearest(query, states, k):
    return (states @ query).argsort(descending=True)[:k].tolist()


# %% wrong: the distance -> the distance in place of the angle
# hint: The distance depends on how long the vectors are. The cosine is the product of both divided by both lengths.
def nearest(query, states, k):
    return (states - query).norm(dim=1).argsort()[:k].tolist()


# %% wrong: the smallest first -> the least alike come first
# hint: A large cosine is a small angle: the largest one comes first.
# of: cosine similarity
# ~ argsort(descending=True) => argsort()

# %% wrong: the amount -> the sign of the cosine is lost
# hint: A cosine of -1 is the opposite direction, and not as near as 1.
# of: cosine similarity
# ~ cosines.argsort => cosines.abs().argsort

# %% wrong: not in order -> the k nearest, not in their order
# hint: The nearest one comes first, the next one behind it.
# of: cosine similarity
# ~ .argsort(descending=True)[:k].tolist() => .topk(k).indices.sort().values.tolist()

# %% wrong: columns made as long as 1 -> normalised over the texts
# hint: Each text, a row, is divided by its own length: dim=1. You divide each column.
# of: both made as long as 1
# ~ states.norm(dim=1, keepdim=True) => states.norm(dim=0, keepdim=True)

# %% wrong: divided by the square of the length -> divided by the squared length
# hint: The length is the *root* of the sum of the squares.
# of: both made as long as 1
# ~ states.norm(dim=1, keepdim=True) => (states**2).sum(dim=1, keepdim=True)

# %% wrong: the cosines themselves -> values in place of positions
# hint: Wanted are the numbers of the rows, not how near they are.
# of: cosine similarity
# ~ cosines.argsort(descending=True)[:k].tolist() => cosines.sort(descending=True).values[:k].tolist()

# %% wrong: only one -> only the nearest one
# hint: As many as `k` says are wanted, in a list.
# of: cosine similarity
# ~ cosines.argsort(descending=True)[:k].tolist() => [int(cosines.argmax())]


# %% wrong: the largest number of each column ->
def nearest(query, states, k):
    scaled = states / states.abs().amax(dim=1, keepdim=True)
    return (scaled @ query).argsort(descending=True)[:k].tolist()


# %% wrong: none that looks away ->
# of: cosine similarity
# ~ cosines.argsort(descending=True)[:k].tolist() => [one for one in cosines.argsort(descending=True)[:k].tolist() if cosines[one] > 0]


# %% right: numpy, from the smallest angle on
def nearest(query, states, k):
    import numpy as np

    x, q = states.detach().numpy().astype(float), query.detach().numpy().astype(float)
    angles = np.arccos(np.clip(x @ q / (np.linalg.norm(x, axis=1) * np.linalg.norm(q)), -1, 1))
    return [int(number) for number in np.argsort(angles)[:k]]


# %% wrong: rounded cosines ->
# of: cosine similarity
# ~ cosines.argsort(descending=True) => (10 * cosines).round().argsort(descending=True, stable=True)

# %% wrong: centred first, as a correlation ->
# of: cosine similarity
# ~ F.cosine_similarity(states, query.unsqueeze(0), dim=1) => F.cosine_similarity(states - states.mean(1, keepdim=True), (query - query.mean()).unsqueeze(0), dim=1)

# %% wrong: cosines of two digits -> the cosines are rounded
# hint: Cosines that differ in the fourth digit have an order, too: put them in order as they are.
# of: cosine similarity
# ~ cosines.argsort(descending=True) => (100 * cosines).round().argsort(descending=True, stable=True)

# %% wrong: cosines of three digits ->
# of: cosine similarity
# ~ cosines.argsort(descending=True) => (1000 * cosines).round().argsort(descending=True, stable=True)

# %% wrong: half precision ->
# of: cosine similarity
# ~ cosines.argsort(descending=True) => cosines.bfloat16().argsort(descending=True, stable=True)

# %% wrong: a large number in the divisor -> a number is added to the product of the lengths
# hint: A vector of length 0.001 vanishes beside what you add. No vector is zero: divide by the lengths alone.
# of: cosine similarity
# ~ F.cosine_similarity(states, query.unsqueeze(0), dim=1) => states @ query / (states.norm(dim=1) * query.norm() + 1e-2)
