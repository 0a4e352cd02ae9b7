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
def tensor_shapes(b, n, d, h):
    return {
        "x": (b, n, d),
        "query": (b, n, d),
        "query_heads": (b, h, n, d),
        "key_heads_turned": (b, h, d, n),
        "scores": (b, h, n, n),
        "weights": (b, h, n, n),
        "mixed": (b, h, n, d),
        "merged": (b, n, d),
        "output": (b, n, d),
    }


# %% wrong: merged of width d/h -> d and d/h are mixed up: the merged heads are as wide as one head
# of: one dict
# -        "merged": (b, n, d),
# -        "output": (b, n, d),
# +        "merged": (b, n, w),
# +        "output": (b, n, w),


# %% wrong: d/h heads of width h -> the number of heads and their width are exchanged
def tensor_shapes(b, n, d, h):
    w = d // h
    return {
        "x": (b, n, d),
        "query": (b, n, d),
        "query_heads": (b, w, n, h),
        "key_heads_turned": (b, w, h, n),
        "scores": (b, w, n, n),
        "weights": (b, w, n, n),
        "mixed": (b, w, n, h),
        "merged": (b, n, d),
        "output": (b, n, d),
    }


# %% wrong: no transpose -> the heads stand after the tokens
def tensor_shapes(b, n, d, h):
    w = d // h
    return {
        "x": (b, n, d),
        "query": (b, n, d),
        "query_heads": (b, n, h, w),
        "key_heads_turned": (b, n, w, h),
        "scores": (b, h, n, n),
        "weights": (b, h, n, n),
        "mixed": (b, n, h, w),
        "merged": (b, n, d),
        "output": (b, n, d),
    }


# %% wrong: one square of scores -> all heads share one square of scores
# of: one dict
# -        "scores": (b, h, n, n),
# -        "weights": (b, h, n, n),
# +        "scores": (b, n, n),
# +        "weights": (b, n, n),


# %% wrong: query turned in place of the key -> scores compare numbers in place of tokens
# of: one dict
# -        "scores": (b, h, n, n),
# -        "weights": (b, h, n, n),
# +        "scores": (b, h, w, w),
# +        "weights": (b, h, w, w),


# %% wrong: key as it is -> the key is not turned
# of: one dict
# -        "key_heads_turned": (b, h, w, n),
# +        "key_heads_turned": (b, h, n, w),


# %% wrong: the worked example for every question ->
def tensor_shapes(b, n, d, h):
    return {
        "x": (1, 2, 6),
        "query": (1, 2, 6),
        "query_heads": (1, 3, 2, 2),
        "key_heads_turned": (1, 3, 2, 2),
        "scores": (1, 3, 2, 2),
        "weights": (1, 3, 2, 2),
        "mixed": (1, 3, 2, 2),
        "merged": (1, 2, 6),
        "output": (1, 2, 6),
    }


# %% wrong: two names forgotten ->
# of: one dict
# -        "merged": (b, n, d),
# -        "output": (b, n, d),


# %% wrong: heads before sentences ->
def tensor_shapes(b, n, d, h):
    w = d // h
    return {
        "x": (b, n, d),
        "query": (b, n, d),
        "query_heads": (h, b, n, w),
        "key_heads_turned": (h, b, w, n),
        "scores": (h, b, n, n),
        "weights": (h, b, n, n),
        "mixed": (h, b, n, w),
        "merged": (b, n, d),
        "output": (b, n, d),
    }


# %% wrong: floats, as the heads share without a rest ->
# of: one dict
# -    w = d // h
# +    w = d / h


# %% wrong: eight heads as in the paper ->
# of: one dict
# -    w = d // h
# +    w = d // 8


# %% wrong: texts in place of numbers ->
def tensor_shapes(b, n, d, h):
    outside, inside = "(b, n, d)", "(b, h, n, d/h)"
    shapes = dict(x=outside, query=outside, query_heads=inside, key_heads_turned="(b, h, d/h, n)")
    return shapes | dict(scores="(b, h, n, n)", weights="(b, h, n, n)", mixed=inside, merged=outside, output=outside)


# %% wrong: squeezed for one sentence ->
# of: one dict
# -    return {
# +    shapes = {
# ...
#      }
# +    return {name: shape[1:] if b == 1 else shape for name, shape in shapes.items()}


# %% wrong: a head has two numbers at least ->
# of: one dict
# -    w = d // h
# +    w = max(2, d // h)


# %% wrong: sentence and head in one axis of the scores ->
# of: one dict
# -        "scores": (b, h, n, n),
# -        "weights": (b, h, n, n),
# +        "scores": (b * h, n, n),
# +        "weights": (b * h, n, n),
