# %% right: a copy of the base
def replace_head(model, n_classes):
    return Classifier(copy.deepcopy(model.base), n_classes)


# %% right: a copy of the whole model, of which the base is kept
def replace_head(model, n_classes):
    twin = copy.deepcopy(model)
    return Classifier(base=twin.base, n_classes=n_classes)


# %% right: shared first, copied afterwards
def replace_head(model, n_classes):
    return copy.deepcopy(Classifier(model.base, n_classes))


# %% right: the head is made by hand
def replace_head(model, n_classes):
    import copy as copies

    classifier = Classifier(copies.deepcopy(model.base))
    classifier.head = torch.nn.Linear(model.base.d_model, n_classes).to(model.head.weight.device)
    torch.nn.init.normal_(classifier.head.weight, std=0.02)
    torch.nn.init.zeros_(classifier.head.bias)
    return classifier


# %% right: saved and loaded through memory
def replace_head(model, n_classes):
    import io

    file = io.BytesIO()
    torch.save(model.base, file)
    file.seek(0)
    return Classifier(torch.load(file, weights_only=False), n_classes)


# %% wrong: model.head = ... -> the head is exchanged inside the old model
def replace_head(model, n_classes):
    model.head = torch.nn.Linear(model.head.in_features, n_classes)
    return model


# %% wrong: in a copy, but still a language model -> still a language model: one row for each token
def replace_head(model, n_classes):
    changed = copy.deepcopy(model)
    changed.head = torch.nn.Linear(changed.base.d_model, n_classes)
    return changed


# %% wrong: Classifier around the same base -> the base is shared with the old model
def replace_head(model, n_classes):
    return Classifier(model.base, n_classes)


# %% wrong: a shallow copy -> the base is shared with the old model
def replace_head(model, n_classes):
    return Classifier(copy.copy(model.base), n_classes)


# %% wrong: TransformerBase anew -> the base is a new one
def replace_head(model, n_classes):
    embedding, layers = model.base.embedding, model.base.layers
    base = TransformerBase(embedding.num_embeddings, embedding.embedding_dim, len(layers), model.base.n_heads)
    return Classifier(base, n_classes)


# %% wrong: two classes whatever is asked -> always two classes
def replace_head(model, n_classes):
    return Classifier(copy.deepcopy(model.base))


# %% wrong: V outputs -> the head still has one output for each word
def replace_head(model, n_classes):
    return Classifier(copy.deepcopy(model.base), model.base.embedding.num_embeddings)


# %% wrong: Linear(V, C) -> the head does not expect D numbers
def replace_head(model, n_classes):
    classifier = Classifier(copy.deepcopy(model.base), n_classes)
    classifier.head = torch.nn.Linear(model.head.out_features, n_classes)
    return classifier


# %% wrong: bias=False -> the head has no bias
def replace_head(model, n_classes):
    classifier = Classifier(copy.deepcopy(model.base), n_classes)
    classifier.head = torch.nn.Linear(model.base.d_model, n_classes, bias=False)
    return classifier


# %% wrong: frozen at once -> the base is frozen already
def replace_head(model, n_classes):
    base = copy.deepcopy(model.base)
    for parameter in base.parameters():
        parameter.requires_grad = False
    return Classifier(base, n_classes)


# %% wrong: a right classifier, and the old head deleted -> the old model is changed
def replace_head(model, n_classes):
    classifier = Classifier(copy.deepcopy(model.base), n_classes)
    del model.head
    return classifier


# %% wrong: the right weights in a base with the default heads and positions ->
def replace_head(model, n_classes):
    old = model.base
    base = TransformerBase(old.embedding.num_embeddings, old.d_model, len(old.layers), 2)
    base.load_state_dict(old.state_dict())
    return Classifier(base, n_classes)


# %% wrong: weights copied into a new base with strict=False, without a look -> the base is a new one
def replace_head(model, n_classes):
    old = model.base
    base = TransformerBase(old.embedding.num_embeddings, old.d_model, len(old.layers), old.n_heads)
    base.load_state_dict(model.state_dict(), strict=False)
    return Classifier(base, n_classes)


# %% wrong: the new head alone ->
def replace_head(model, n_classes):
    return torch.nn.Linear(model.base.d_model, n_classes)


# %% wrong: base and head in a row, one answer for each token ->
def replace_head(model, n_classes):
    return torch.nn.Sequential(copy.deepcopy(model.base), torch.nn.Linear(model.base.d_model, n_classes))


# %% wrong: a dict of weights in place of a model ->
def replace_head(model, n_classes):
    return {name: weight for name, weight in model.state_dict().items() if name.startswith("base.")}


# %% wrong: copies the base but freezes the old one ->
def replace_head(model, n_classes):
    classifier = Classifier(copy.deepcopy(model.base), n_classes)
    model.requires_grad_(False)
    return classifier


# %% wrong: only the embedding is copied ->
def replace_head(model, n_classes):
    base = copy.copy(model.base)
    base._modules = dict(model.base._modules)
    base.embedding = copy.deepcopy(model.base.embedding)
    return Classifier(base, n_classes)


# %% wrong: a class of its own that reads the last row -> the head reads the last row
class LastRowClassifier(nn.Module):
    def __init__(self, base, n_classes):
        super().__init__()
        self.base = base
        self.head = nn.Linear(base.d_model, n_classes)

    def forward(self, tokens, lengths=None):
        return self.head(self.base(tokens, lengths)[:, -1])


def replace_head(model, n_classes):
    return LastRowClassifier(copy.deepcopy(model.base), n_classes)


# %% right: a class of its own that reads the last real token
class LastTokenClassifier(nn.Module):
    def __init__(self, base, n_classes):
        super().__init__()
        self.base = base
        self.head = nn.Linear(base.d_model, n_classes)

    def forward(self, tokens, lengths):
        return self.head(last_token(self.base(tokens, lengths), lengths))


def replace_head(model, n_classes):
    return LastTokenClassifier(copy.deepcopy(model.base), n_classes).to(model.head.weight.device)


# %% wrong: the width of the notebook's model -> the head does not expect D numbers
def replace_head(model, n_classes):
    classifier = Classifier(copy.deepcopy(model.base), n_classes)
    classifier.head = nn.Linear(48, n_classes)
    return classifier


# %% wrong: the first rows of the old head ->
def replace_head(model, n_classes):
    classifier = Classifier(copy.deepcopy(model.base), n_classes)
    with torch.no_grad():
        classifier.head.weight.copy_(model.head.weight[:n_classes])
        classifier.head.bias.copy_(model.head.bias[:n_classes])
    return classifier


# %% wrong: the original is put into evaluation mode ->
def replace_head(model, n_classes):
    model.eval()
    return Classifier(copy.deepcopy(model.base), n_classes)


# %% wrong: a base built anew without all options ->
def replace_head(model, n_classes):
    old = model.base
    base = TransformerBase(
        old.embedding.num_embeddings,
        old.d_model,
        len(old.layers),
        old.n_heads,
        positions="learned" if "position" in dict(old.named_parameters()) else "sinusoidal",
        max_len=12,
    )
    base.load_state_dict(old.state_dict(), strict=False)
    return Classifier(base, n_classes)


# %% wrong: rows of the old head, another bias ->
def replace_head(model: LanguageModel, n_classes: int) -> Classifier:
    classifier = Classifier(copy.deepcopy(model.base), n_classes)
    with torch.no_grad():
        rows = model.head.weight[:n_classes]
        classifier.head.weight[: len(rows)] = rows
    return classifier


# %% wrong: one head for all models ->
_heads: dict[tuple, nn.Module] = {}


def replace_head(model: LanguageModel, n_classes: int) -> Classifier:
    classifier = Classifier(copy.deepcopy(model.base), n_classes)
    shape = tuple(classifier.head.weight.shape)
    classifier.head = _heads.setdefault(shape, classifier.head)
    return classifier


# %% wrong: buffers are shared ->
def replace_head(model, n_classes):
    shared = {id(buffer): buffer for buffer in model.base.buffers()}
    return Classifier(copy.deepcopy(model.base, shared), n_classes)


# %% wrong: the mean of the old head's rows ->
def replace_head(model, n_classes):
    classifier = Classifier(copy.deepcopy(model.base), n_classes)
    with torch.no_grad():
        classifier.head.weight.copy_(model.head.weight.mean(dim=0, keepdim=True).expand(n_classes, -1))
    return classifier


# %% wrong: the old head is kept where it has as many outputs ->
def replace_head(model: LanguageModel, n_classes: int) -> Classifier:
    twin = copy.deepcopy(model)
    classifier = Classifier(twin.base, n_classes)
    if classifier.head.weight.shape == twin.head.weight.shape:
        classifier.head = twin.head  # it fits already
    return classifier


# %% wrong: at most 1,000 classes ->
def replace_head(model, n_classes):
    return Classifier(copy.deepcopy(model.base), min(n_classes, 1000))


# %% wrong: kept by the identity of the model ->
made = {}


def replace_head(model, n_classes):
    if id(model) not in made:
        made[id(model)] = copy.deepcopy(model.base)
    return Classifier(copy.deepcopy(made[id(model)]), n_classes)


# %% wrong: two classifiers of one model share their base ->
twins = {}


def replace_head(model, n_classes):
    known, twin = twins.get(id(model), (None, None))
    if known is not model:
        twins[id(model)] = known, twin = model, copy.deepcopy(model)
    twin.load_state_dict(model.state_dict())
    twin.base.train(model.base.training)
    return Classifier(twin.base, n_classes)


# %% wrong: a base built anew with all but its activation ->
def replace_head(model, n_classes):
    old = model.base
    base = TransformerBase(
        old.embedding.num_embeddings,
        old.d_model,
        len(old.layers),
        old.n_heads,
        d_feedforward=old.layers[0].feed_forward.hidden.out_features,
        dropout=old.dropout.p,
        positions=old.positions,
        causal=old.causal,
        norm_first=old.layers[0].pre,
        cross=old.cross,
        max_len=2048 if old.position is None else len(old.position),
        embedding_norm=isinstance(old.embedding_norm, nn.LayerNorm),
    )
    base.load_state_dict(old.state_dict())
    return Classifier(base, n_classes)


# %% wrong: a copy made in evaluation mode, in which the old model stays ->
def replace_head(model, n_classes):
    classifier = Classifier(copy.deepcopy(model.eval().base), n_classes)
    nn.init.normal_(classifier.head.weight, std=0.02)
    nn.init.zeros_(classifier.head.bias)
    return classifier.train()


# %% wrong: the new head is made on the CPU ->
# of: the head is made by hand
# -    classifier.head = torch.nn.Linear(model.base.d_model, n_classes).to(model.head.weight.device)
# +    classifier.head = torch.nn.Linear(model.base.d_model, n_classes)


# %% right: everything is told to learn
def replace_head(model: LanguageModel, n_classes: int) -> Classifier:
    classifier = Classifier(copy.deepcopy(model.base), n_classes)
    classifier.requires_grad_(True)
    return classifier.to(next(model.parameters()).device)


# %% right: in evaluation mode for the copy, and back
def replace_head(model: LanguageModel, n_classes: int) -> Classifier:
    was = model.training
    model.eval()
    classifier = Classifier(copy.deepcopy(model.base), n_classes).to(model.head.weight.device)
    model.train(was)
    return classifier


# %% wrong: the copy without its dropout ->
def replace_head(model: LanguageModel, n_classes: int) -> Classifier:
    classifier = Classifier(copy.deepcopy(model.base), n_classes)
    for part in classifier.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.0
    return classifier
