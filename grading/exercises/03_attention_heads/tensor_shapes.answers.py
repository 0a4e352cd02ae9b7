# %% right: one dict
def tensor_shapes(b, n, d, h):
    w = d // h
    return {
        "x": (b, n, d),
        "query": (b, n, d),
        "query_heads": (b, h, n, w),
        "key_heads_turned": (b, h, w, n),
        "scores": (b, h, n, n),
        "weights": (b, h, n, n),
        "mixed": (b, h, n, w),
        "merged": (b, n, d),
        "output": (b, n, d),
    }


# %% right: real tensors, asked for their shapes
# other: It does the computation with zeros, so that each shape follows from an operation; the dict needs no tensors, and shows all shapes at a glance.
def tensor_shapes(b, n, d, h):
    x = torch.zeros(b, n, d)
    heads = x.view(b, n, h, d // h).transpose(1, 2)
    turned = heads.mT
    scores = heads @ turned
    mixed = scores @ heads
    merged = mixed.transpose(1, 2).flatten(2)
    found = dict(x=x, query=x, query_heads=heads, key_heads_turned=turned, scores=scores, weights=scores, mixed=mixed)
    found.update(merged=merged, output=merged)
    return {name: tensor.shape for name, tensor in found.items()}


# %% right: lists in place of tuples, filled name by name
def tensor_shapes(b, n, d, h):
    shapes = {}
    for name in ("x", "query", "merged", "output"):
        shapes[name] = [b, n, d]
    for name in ("query_heads", "mixed"):
        shapes[name] = [b, h, n, int(d / h)]
    for name in ("scores", "weights"):
        shapes[name] = [b, h, n, n]
    shapes["key_heads_turned"] = [b, h, int(d / h), n]
    return shapes


# %% wrong: heads of width d -> d and d/h are mixed up: each head is as wide as the model
# hint: The heads share the d numbers of a token: each gets d/h of them. h heads of width d would need h times the work
# hint: and the memory.
# -    w = d // h
# ...
# -        "query_heads": (b, h, n, w),
# -        "key_heads_turned": (b, h, w, n),
# +        "query_heads": (b, h, n, d),
# +        "key_heads_turned": (b, h, d, n),
# ...
# -        "mixed": (b, h, n, w),
# +        "mixed": (b, h, n, d),

# %% wrong: merged of width d/h -> d and d/h are mixed up: the merged heads are as wide as one head
# hint: Merging puts the h heads of width d/h side by side again: h times d/h is d.
# ~ "merged": (b, n, d), => "merged": (b, n, w),
# ~ "output": (b, n, d), => "output": (b, n, w),

# %% wrong: d/h heads of width h -> the number of heads and their width are exchanged
# hint: There are h heads with d/h numbers each, not d/h heads with h numbers each.
# -        "query_heads": (b, h, n, w),
# -        "key_heads_turned": (b, h, w, n),
# -        "scores": (b, h, n, n),
# -        "weights": (b, h, n, n),
# -        "mixed": (b, h, n, w),
# +        "query_heads": (b, w, n, h),
# +        "key_heads_turned": (b, w, h, n),
# +        "scores": (b, w, n, n),
# +        "weights": (b, w, n, n),
# +        "mixed": (b, w, n, h),

# %% wrong: no transpose -> the heads stand after the tokens
# hint: The last two axes must be token and number, so that the matrix product pairs tokens with tokens: (b, h, n, d/h).
# ~ "query_heads": (b, h, n, w), => "query_heads": (b, n, h, w),
# ~ h, w, n => n, w, h
# ~ h, n, w => n, h, w

# %% wrong: one square of scores -> all heads share one square of scores
# hint: Every head has scores of its own, that is what a head is: one n x n square for each of the h heads.
# ~ "scores": (b, h, n, n), => "scores": (b, n, n),
# ~ h, n, n => n, n

# %% wrong: query turned in place of the key -> scores compare numbers in place of tokens
# hint: A score belongs to a pair of tokens: the product sums over the d/h numbers, and n x n remains.
# ~ "scores": (b, h, n, n), => "scores": (b, h, w, w),
# ~ n, n => w, w

# %% wrong: key as it is -> the key is not turned
# hint: For the product query @ key the last two axes of the key change places: (b, h, d/h, n).
# ~ w, n => n, w

# %% wrong: floats, as the heads share without a rest ->
# ~ // h => / h

# %% wrong: eight heads as in the paper ->
# ~ / h => / 8

# %% wrong: squeezed for one sentence ->
# -    return {
# +    shapes = {
# ...
#      }
# +    return {name: shape[1:] if b == 1 else shape for name, shape in shapes.items()}

# %% wrong: a head has two numbers at least ->
# ~ d // h => max(2, d // h)
