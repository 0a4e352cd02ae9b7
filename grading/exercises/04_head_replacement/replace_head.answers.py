# %% right: a copy of the base
def replace_head(model, n_classes):
    return Classifier(copy.deepcopy(model.base), n_classes)


# %% right: a copy of the whole model, of which the base is kept
def replace_head(model, n_classes):
    twin = copy.deepcopy(model)
    return Classifier(base=twin.base, n_classes=n_classes)


# %% right: shared first, copied afterwards
# other: It builds the classifier and then copies all of it, so that nothing can stay shared; the solution copies only the base, since the head is new anyway.
# ~ Classifier(copy.deepcopy(model.base), n_classes) => copy.deepcopy(Classifier(model.base, n_classes))


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


# %% wrong: a right classifier, and the old head deleted -> the old model is changed
# hint: The language model is no longer what it was: it has lost its head, or it no longer learns. Leave it alone and
# hint: work on a copy.
def replace_head(model, n_classes):
    classifier = Classifier(copy.deepcopy(model.base), n_classes)
    del model.head
    return classifier


# %% wrong: a class of its own that reads the last row -> the head reads the last row
# hint: The last row is padding for most texts. Take the last real token, as in section 3: pass the lengths on.
class LastRowClassifier(nn.Module):
    def __init__(self, base, n_classes):
        super().__init__()
        self.base = base
        self.head = nn.Linear(base.d_model, n_classes)

    def forward(self, tokens, lengths=None):
        return self.head(self.base(tokens, lengths)[:, -1])


def replace_head(model, n_classes):
    return LastRowClassifier(copy.deepcopy(model.base), n_classes)


# %% wrong: model.head = ... -> the head is exchanged inside the old model
# hint: The language model has lost its head and can no longer write; and what comes back still gives one row per token.
# hint: Make a new Classifier around a copy of the base.
def replace_head(model, n_classes):
    model.head = torch.nn.Linear(model.head.in_features, n_classes)
    return model


# %% wrong: in a copy, but still a language model -> still a language model: one row for each token
# hint: A head of the right width is not enough: LanguageModel applies it to every token, (b, n, C). A Classifier reads
# hint: the last real token, (b, C).
def replace_head(model, n_classes):
    changed = copy.deepcopy(model)
    changed.head = torch.nn.Linear(changed.base.d_model, n_classes)
    return changed


# %% wrong: Classifier around the same base -> the base is shared with the old model
# hint: Both models hold the same parameters: training the classifier would ruin the language model without a word. Copy
# hint: the base with copy.deepcopy.
# ~ copy.deepcopy(model.base) => model.base


# %% wrong: TransformerBase anew -> the base is a new one
# hint: A base that is built anew starts from random numbers: everything the language model has learned is lost. Copy
# hint: the base that you were given.
def replace_head(model, n_classes):
    embedding, layers = model.base.embedding, model.base.layers
    base = TransformerBase(embedding.num_embeddings, embedding.embedding_dim, len(layers), model.base.n_heads)
    return Classifier(base, n_classes)


# %% wrong: two classes whatever is asked -> always two classes
# hint: The new head has 2 outputs whatever n_classes says: pass it on to Classifier.
# ~ (copy.deepcopy(model.base), n_classes) => (copy.deepcopy(model.base))

# %% wrong: V outputs -> the head still has one output for each word
# hint: The new head has V outputs in place of n_classes.
# ~ (copy.deepcopy(model.base), n_classes) => (copy.deepcopy(model.base), model.base.embedding.num_embeddings)

# %% wrong: Linear(V, C) -> the head does not expect D numbers
# hint: The head reads a hidden state of model.base.d_model numbers. This is not V, the outputs of the old head, nor
# hint: always 48, the width of the notebook's own model.
# of: a right classifier, and the old head deleted
# ~ del model.head => classifier.head = torch.nn.Linear(model.head.out_features, n_classes)

# %% wrong: bias=False -> the head has no bias
# hint: The new head has n_classes * D numbers; a Linear also has a bias for each class.
# ~ del model.head => classifier.head = torch.nn.Linear(model.base.d_model, n_classes, bias=False)


# %% wrong: frozen at once -> the base is frozen already
# hint: Freezing is a decision of its own, the subject of section 6. Here everything shall be able to learn.
def replace_head(model, n_classes):
    base = copy.deepcopy(model.base)
    for parameter in base.parameters():
        parameter.requires_grad = False
    return Classifier(base, n_classes)


# %% wrong: copies the base but freezes the old one ->
# ~ del model.head => model.requires_grad_(False)

# %% wrong: the mean of the old head's rows ->
# -    del model.head
# +    with torch.no_grad():
# +        classifier.head.weight.copy_(model.head.weight.mean(dim=0, keepdim=True).expand(n_classes, -1))


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
# ~ .to(model.head.weight.device) =>


# %% wrong: the copy without its dropout ->
def replace_head(model: LanguageModel, n_classes: int) -> Classifier:
    classifier = Classifier(copy.deepcopy(model.base), n_classes)
    for part in classifier.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.0
    return classifier
