# %% right: one by one
def parameter_formulas():
    return {
        "base.embedding.weight": V * D,
        "base.layers.0.attention.query.weight": D * D,
        "base.layers.0.attention.query.bias": D,
        "base.layers.0.attention.key.weight": D * D,
        "base.layers.0.attention.key.bias": D,
        "base.layers.0.attention.value.weight": D * D,
        "base.layers.0.attention.value.bias": D,
        "base.layers.0.attention.output.weight": D * D,
        "base.layers.0.attention.output.bias": D,
        "base.layers.0.attention_norm.weight": D,
        "base.layers.0.attention_norm.bias": D,
        "base.layers.0.feed_forward.hidden.weight": F * D,
        "base.layers.0.feed_forward.hidden.bias": F,
        "base.layers.0.feed_forward.output.weight": D * F,
        "base.layers.0.feed_forward.output.bias": D,
        "base.layers.0.feed_forward_norm.weight": D,
        "base.layers.0.feed_forward_norm.bias": D,
        "head.weight": C * D,
        "head.bias": C,
    }


# %% right: loops over the parts
def parameter_formulas():
    formulas = {"base.embedding.weight": V * D, "head.weight": C * D, "head.bias": C}
    layer = "base.layers.0."
    for name in ["query", "key", "value", "output"]:
        formulas[layer + "attention." + name + ".weight"] = D**2
        formulas[layer + "attention." + name + ".bias"] = D
    formulas[layer + "feed_forward.hidden.weight"] = D * F
    formulas[layer + "feed_forward.hidden.bias"] = F
    formulas[layer + "feed_forward.output.weight"] = D * F
    formulas[layer + "feed_forward.output.bias"] = D
    for name in ["attention_norm", "feed_forward_norm"]:
        for kind in ["weight", "bias"]:
            formulas[f"{layer}{name}.{kind}"] = D
    return formulas


# %% right: the shapes of a model whose sizes are all different
# other: It reads names and shapes off a model, so that no parameter is forgotten; the solution shows which layer makes each formula, and needs no sizes chosen with care.
def parameter_formulas():
    sizes = {11: V, 4: D, 6: F, 5: C}
    base = TransformerBase(11, 4, n_layers=1, n_heads=2, d_feedforward=6)
    model = Classifier(base, 5)
    return {name: sympy.prod([sizes[side] for side in parameter.shape]) for name, parameter in model.named_parameters()}


# %% right: each head's rows are added up
def parameter_formulas():
    linear = lambda inputs, outputs: {"weight": inputs * outputs, "bias": outputs}
    norm = {"weight": D, "bias": D}
    all_heads = {"weight": A * (D / A) * D, "bias": A * (D / A)}
    parts = {"attention." + name: all_heads for name in ("query", "key", "value", "output")}
    parts |= {"feed_forward.hidden": linear(D, F), "feed_forward.output": linear(F, D)}
    parts |= {"attention_norm": norm, "feed_forward_norm": norm}
    formulas = {"base.embedding.weight": V * D}
    for part, pair in parts.items():
        formulas.update({f"base.layers.0.{part}.{kind}": formula for kind, formula in pair.items()})
    return formulas | {"head." + kind: formula for kind, formula in linear(D, C).items()}


# %% wrong: weights only -> biases are lost
# hint: Each Linear and each norm has a bias: one number for each output.
def parameter_formulas():
    formulas = {"base.embedding.weight": V * D, "head.weight": C * D}
    for name in ["query", "key", "value", "output"]:
        formulas[f"base.layers.0.attention.{name}.weight"] = D**2
    for name in ["hidden", "output"]:
        formulas[f"base.layers.0.feed_forward.{name}.weight"] = D * F
    for name in ["attention_norm", "feed_forward_norm"]:
        formulas[f"base.layers.0.{name}.weight"] = D
    return formulas


# %% wrong: weights only, biases 0 -> biases are set to 0
# hint: A bias has one number for each output, and it trains.
def parameter_formulas():
    formulas = {}
    for part in ["attention.query", "attention.key", "attention.value", "attention.output"]:
        formulas[f"base.layers.0.{part}.weight"] = D**2
    for part in ["feed_forward.hidden", "feed_forward.output"]:
        formulas[f"base.layers.0.{part}.weight"] = D * F
    for part in ["attention_norm", "feed_forward_norm"]:
        formulas[f"base.layers.0.{part}.weight"] = D
    formulas["head.weight"] = C * D
    biases = {name.replace("weight", "bias"): 0 for name in formulas}
    return formulas | biases | {"base.embedding.weight": V * D}


# %% wrong: a bias is a single number -> a bias is one number
# hint: A bias has one number for each output: D, F or C of them.
# of: weights only, biases 0
# ~ 0 for => sympy.Integer(1) for

# %% wrong: A matrices for each projection -> the heads multiply the weights
# hint: However many heads there are, they share one D x D matrix: each head works on its own D/A rows.
# of: loops over the parts
# -        formulas[layer + "attention." + name + ".weight"] = D**2
# +        formulas[layer + "attention." + name + ".weight"] = A * D**2
# ...
# -        for kind in ["weight", "bias"]:
# -            formulas[f"{layer}{name}.{kind}"] = D
# +        formulas[layer + name + ".weight"] = formulas[layer + name + ".bias"] = D

# %% wrong: A projections with their biases -> the heads multiply weights and biases
# hint: However many heads there are, they share D x D matrices: each head works on its own D/A rows of them.
# of: A matrices for each projection
# ~ D**2 => D * D
# ~ [layer + "attention." + name + ".bias"] = D => [layer + "attention." + name + ".bias"] = A * D


# %% wrong: each head has a query, a key and a value -> the heads multiply query, key and value
# hint: However many heads there are, they share one query, one key and one value matrix: each head works on its own D/A
# hint: rows.
def parameter_formulas():
    linear = {"attention.query": (D, D), "attention.key": (D, D), "attention.value": (D, D), "attention.output": (D, D)}
    linear |= {"feed_forward.hidden": (D, F), "feed_forward.output": (F, D)}
    sizes = {"base.embedding.weight": V * D}
    for part, (inputs, outputs) in linear.items():
        heads = A if part.split(".")[1] in ("query", "key", "value") else 1
        sizes[f"base.layers.0.{part}.weight"] = heads * inputs * outputs
        sizes[f"base.layers.0.{part}.bias"] = heads * outputs
    for part in ("attention_norm", "feed_forward_norm"):
        sizes[f"base.layers.0.{part}.weight"] = sizes[f"base.layers.0.{part}.bias"] = D
    return sizes | {"head.weight": C * D, "head.bias": C}


# %% wrong: each head has the matrices of a query, a key and a value -> the heads multiply the weights of query, key and value
# hint: However many heads there are, they share one query, one key and one value matrix: each head works on its own D/A
# hint: rows.
# of: each head has a query, a key and a value
# ~ heads * outputs => outputs

# %% wrong: biases of the norms only -> the biases of the Linears are lost
# hint: Each Linear has a bias too, as the norms have: one number for each output.
# of: weights only
#          formulas[f"base.layers.0.{name}.weight"] = D
# +        formulas[f"base.layers.0.{name}.bias"] = D

# %% wrong: two classes -> C is taken to be 2
# hint: A classifier may have any number of classes: write C.
# of: each head has the matrices of a query, a key and a value
# -        heads = A if part.split(".")[1] in ("query", "key", "value") else 1
# -        sizes[f"base.layers.0.{part}.weight"] = heads * inputs * outputs
# +        sizes[f"base.layers.0.{part}.weight"] = inputs * outputs
# ...
# -    return sizes | {"head.weight": C * D, "head.bias": C}
# +    return sizes | {"head.weight": 2 * D, "head.bias": sympy.Integer(2)}

# %% wrong: the D/A rows of one head -> only one head is counted
# hint: D/A rows belong to one head; the matrix holds those of all A heads: D rows.
# of: A matrices for each projection
#  def parameter_formulas():
# +    d = D / A
# ...
# -        formulas[layer + "attention." + name + ".weight"] = A * D**2
# -        formulas[layer + "attention." + name + ".bias"] = D
# +        formulas[layer + "attention." + name + ".weight"] = d * D
# +        formulas[layer + "attention." + name + ".bias"] = d


# %% wrong: F forgotten -> F is taken to be D
# hint: The feed-forward part has its own width F; F = D is only the default.
def parameter_formulas():
    formulas = {"base.embedding.weight": V * D, "head.weight": C * D, "head.bias": C}
    for part in [
        "attention.query",
        "attention.key",
        "attention.value",
        "attention.output",
        "feed_forward.hidden",
        "feed_forward.output",
    ]:
        formulas[f"base.layers.0.{part}.weight"] = D**2
        formulas[f"base.layers.0.{part}.bias"] = D
    for part in ["attention_norm", "feed_forward_norm"]:
        formulas[f"base.layers.0.{part}.weight"] = D
        formulas[f"base.layers.0.{part}.bias"] = D
    return formulas


# %% wrong: hidden.bias D, output.bias F -> the two biases of the feed-forward part are exchanged
# hint: A bias has one number for each output: hidden puts out F numbers, output D.
def parameter_formulas():
    sizes = {11: V, 4: D, 6: F, 5: C}
    model = Classifier(TransformerBase(11, 4, n_layers=1, n_heads=2, d_feedforward=6), 5)
    formulas = {
        name: sympy.prod([sizes[side] for side in parameter.shape]) for name, parameter in model.named_parameters()
    }
    formulas["base.layers.0.feed_forward.hidden.bias"] = D
    formulas["base.layers.0.feed_forward.output.bias"] = F
    return formulas


# %% wrong: as many biases as inputs -> a bias has one number for each input
# hint: A bias is added to the outputs: it has one number for each of these.
def parameter_formulas():
    linear = lambda inputs, outputs: {"weight": inputs * outputs, "bias": inputs}
    parts = {"base.layers.0.attention." + name: linear(D, D) for name in ("query", "key", "value", "output")}
    parts["base.layers.0.feed_forward.hidden"] = linear(D, F)
    parts["base.layers.0.feed_forward.output"] = linear(F, D)
    parts["base.layers.0.attention_norm"] = parts["base.layers.0.feed_forward_norm"] = {"weight": D, "bias": D}
    parts["head"] = linear(D, C)
    formulas = {"base.embedding.weight": V * D}
    for part, pair in parts.items():
        formulas |= {part + "." + kind: formula for kind, formula in pair.items()}
    return formulas


# %% wrong: the weight of a norm is D x D -> a norm is taken for a matrix
# hint: A norm keeps the D numbers apart: a vector of weights and a vector of biases, D numbers each.
# of: F forgotten
# -        "feed_forward.hidden",
# -        "feed_forward.output",
# +        "attention_norm",
# +        "feed_forward_norm",
# ...
# -    for part in ["attention_norm", "feed_forward_norm"]:
# -        formulas[f"base.layers.0.{part}.weight"] = D
# -        formulas[f"base.layers.0.{part}.bias"] = D
# +    formulas["base.layers.0.feed_forward.hidden.weight"] = D * F
# +    formulas["base.layers.0.feed_forward.hidden.bias"] = F
# +    formulas["base.layers.0.feed_forward.output.weight"] = D * F
# +    formulas["base.layers.0.feed_forward.output.bias"] = D


# %% wrong: no norms -> the norms are lost
# hint: A LayerNorm has parameters too: a weight and a bias, D numbers each.
def parameter_formulas():
    formulas = {"base.embedding.weight": V * D, "head.weight": C * D, "head.bias": C}
    for name in ["query", "key", "value", "output"]:
        formulas[f"base.layers.0.attention.{name}.weight"] = D**2
        formulas[f"base.layers.0.attention.{name}.bias"] = D
    formulas["base.layers.0.feed_forward.hidden.weight"] = D * F
    formulas["base.layers.0.feed_forward.hidden.bias"] = F
    formulas["base.layers.0.feed_forward.output.weight"] = D * F
    formulas["base.layers.0.feed_forward.output.bias"] = D
    return formulas


# %% wrong: V in place of C -> the head has V outputs
# hint: Write C for the outputs of the head: V for a language model, but 2 for a review that is good or bad.
def parameter_formulas():
    sizes = {11: V, 4: D, 6: F}
    model = LanguageModel(TransformerBase(11, 4, n_layers=1, n_heads=2, d_feedforward=6))
    return {name: sympy.prod([sizes[side] for side in parameter.shape]) for name, parameter in model.named_parameters()}


# %% wrong: no head.bias -> the head bias is lost
# hint: The head is a Linear with a bias: one number for each of its C outputs.
def parameter_formulas():
    formulas = {"base.embedding.weight": V * D, "head.weight": C * D}
    for part in ["attention.query", "attention.key", "attention.value", "attention.output"]:
        formulas[f"base.layers.0.{part}.weight"] = D**2
        formulas[f"base.layers.0.{part}.bias"] = D
    formulas["base.layers.0.feed_forward.hidden.weight"] = D * F
    formulas["base.layers.0.feed_forward.hidden.bias"] = F
    formulas["base.layers.0.feed_forward.output.weight"] = D * F
    formulas["base.layers.0.feed_forward.output.bias"] = D
    for part in ["attention_norm", "feed_forward_norm"]:
        formulas[f"base.layers.0.{part}.weight"] = formulas[f"base.layers.0.{part}.bias"] = D
    return formulas


# %% wrong: the buffer too -> positions are counted
# hint: Sinusoidal positions are a buffer: named_parameters() does not list them, they do not train.
def parameter_formulas():
    sizes = {11: V, 4: D, 6: F, 5: C, 2048: L}
    model = Classifier(TransformerBase(11, 4, n_layers=1, n_heads=2, d_feedforward=6), 5)
    tensors = dict(model.named_parameters()) | dict(model.named_buffers())
    return {name: sympy.prod([sizes[side] for side in t.shape]) for name, t in tensors.items()}


# %% wrong: the wider of the two has the bias ->
def parameter_formulas() -> dict[str, sympy.Expr]:
    layer = "base.layers.0."
    formulas = {"base.embedding.weight": V * D, "head.weight": C * D, "head.bias": C}
    for name in ("query", "key", "value", "output"):
        formulas[f"{layer}attention.{name}.weight"] = D**2
        formulas[f"{layer}attention.{name}.bias"] = D
    for norm in ("attention_norm", "feed_forward_norm"):
        formulas[f"{layer}{norm}.weight"] = D
        formulas[f"{layer}{norm}.bias"] = D
    formulas[f"{layer}feed_forward.hidden.weight"] = D * F
    formulas[f"{layer}feed_forward.hidden.bias"] = sympy.Max(D, F)
    formulas[f"{layer}feed_forward.output.weight"] = F * D
    formulas[f"{layer}feed_forward.output.bias"] = D
    return formulas


# %% wrong: an even width ->
def parameter_formulas() -> dict[str, sympy.Expr]:
    rows = 2 * (D // 2)  # two heads, each with its share of the rows
    layer = "base.layers.0."
    formulas = {"base.embedding.weight": V * D}
    for name in ("query", "key", "value"):
        formulas[f"{layer}attention.{name}.weight"] = rows * D
        formulas[f"{layer}attention.{name}.bias"] = rows
    formulas[layer + "attention.output.weight"] = D * rows
    formulas[layer + "attention.output.bias"] = D
    formulas[layer + "feed_forward.hidden.weight"] = D * F
    formulas[layer + "feed_forward.hidden.bias"] = F
    formulas[layer + "feed_forward.output.weight"] = D * F
    formulas[layer + "feed_forward.output.bias"] = D
    for name in ("attention_norm", "feed_forward_norm"):
        formulas[f"{layer}{name}.weight"] = D
        formulas[f"{layer}{name}.bias"] = D
    return formulas | {"head.weight": C * D, "head.bias": C}


# %% wrong: one output for two classes ->
def parameter_formulas() -> dict[str, sympy.Expr]:
    outputs_of_head = sympy.Piecewise((1, sympy.Eq(C, 2)), (C, True))
    linears = {"head": (D, outputs_of_head)}
    for name in ("query", "key", "value", "output"):
        linears[f"base.layers.0.attention.{name}"] = (D, D)
    linears["base.layers.0.feed_forward.hidden"] = (D, F)
    linears["base.layers.0.feed_forward.output"] = (F, D)
    formulas = {"base.embedding.weight": V * D}
    for name, (inputs, outputs) in linears.items():
        formulas[name + ".weight"] = inputs * outputs
        formulas[name + ".bias"] = outputs
    for name in ("attention_norm", "feed_forward_norm"):
        formulas[f"base.layers.0.{name}.weight"] = D
        formulas[f"base.layers.0.{name}.bias"] = D
    return formulas
