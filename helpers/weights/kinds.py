"""Which of the course's models a file of weights describes: its settings, read with care, and its table of names."""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from torch import nn

from helpers.choices import pick
from helpers.llama import Llama, Slower
from helpers.models import Activation, LanguageModel, MaskedLanguageModel, TransformerBase
from helpers.weights.files import Published
from helpers.weights.names import (
    BERT,
    BERT_HEAD,
    BERT_UNUSED,
    DISTILBERT,
    DISTILBERT_HEAD,
    DISTILBERT_UNUSED,
    GPT2,
    GPT2_UNUSED,
    LLAMA,
    LLAMA_GGUF,
    LLAMA_UNUSED,
    QWEN2,
    ROBERTA_HEAD,
    ROBERTA_UNUSED,
    Made,
    Names,
    pairs_side_by_side,
    with_first_type_from,
)

Model: TypeAlias = TransformerBase | LanguageModel | Llama
ACTIVATIONS: dict[str, Activation] = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
}


class Built(NamedTuple):
    """A model that waits for its numbers, and where they are."""

    model: Model
    names: Names  # as they stand in the file
    unused: list[str]


def build(published: Published, *, base_only: bool = False) -> Built:
    """Returns the model that a file describes, with numbers of no meaning; with `base_only`, without any head.

    Raises:
        ValueError: the kind of model is none of ours, a setting is missing, or it asks for what ours do not compute.
    """
    if published.layout == "gguf":
        kind, kinds = published.setting("general.architecture"), GGUF
    else:
        kind, kinds = published.setting("model_type"), SAFETENSORS
    if not isinstance(kind, str) or kind not in kinds:
        raise ValueError(
            f"{published.path} is a model of kind {kind!r}: in {published.layout}, {', '.join(kinds)} can be loaded"
        )
    try:
        built = kinds[kind](published)
        return _base_alone(published, built) if base_only and published.layout == "safetensors" else built
    except RuntimeError as error:  # PyTorch counts the bytes of a tensor, on the device "meta" too
        raise ValueError(
            f"{published.path}: its settings ask for a tensor that no memory holds ({str(error).splitlines()[0]})"
        ) from None


class Table(NamedTuple):
    """How a kind of encoder names its tensors."""

    prefix: str  # of the base, in a file that holds more
    names: Names
    head: Names  # for hidden words
    unused: Iterable[str]


def _bert(published: Published) -> Built:
    """BERT (Devlin 2019)."""
    sizes = "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act"
    return _encoder(published, Table("bert.", BERT, BERT_HEAD, BERT_UNUSED), sizes)


def _roberta(published: Published) -> Built:
    """RoBERTa (Liu 2019), CamemBERT and XLM-R: BERT, but the first positions are kept for padding."""
    start = published.whole("pad_token_id", 1) + 1
    position = BERT["position"]
    assert isinstance(position, Made)
    names = {**BERT, "position": Made(with_first_type_from(start), *position.names)}
    sizes = "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act"
    return _encoder(published, Table("roberta.", names, ROBERTA_HEAD, ROBERTA_UNUSED), sizes, start)


def _distilbert(published: Published) -> Built:
    """DistilBERT (Sanh 2019): BERT with half of its layers, and no second text."""
    table = Table("distilbert.", DISTILBERT, DISTILBERT_HEAD, DISTILBERT_UNUSED)
    return _encoder(published, table, ("dim", "n_layers", "n_heads", "hidden_dim", "activation"))


def _encoder(published: Published, table: Table, sizes: tuple[str, str, str, str, str], start: int = 0) -> Built:
    """Both sides, LayerNorm after each sum, learned positions, of which a text begins with number `start`."""
    _refuse_settings(published, position_embedding_type="absolute", is_decoder=False, add_cross_attention=False)
    width, layers, heads, inner, activation = sizes
    dropout = "dropout" if width == "dim" else "hidden_dropout_prob"
    base = TransformerBase(
        published.whole("vocab_size"),
        published.whole(width),
        _layers(published, layers),
        published.whole(heads),
        published.whole(inner),
        dropout=published.share(dropout, 0.1),
        positions="learned",
        causal=False,
        max_len=max(1, published.whole("max_position_embeddings") - start),
        activation=pick("activation", published.setting(activation, "gelu"), ACTIVATIONS),
        embedding_norm=True,
    )
    prefix = _prefix(published, table.prefix)
    old = any(name.endswith("LayerNorm.gamma") for name in published.tensors)

    def in_file(name: str) -> str:
        name = name if name.startswith(("cls.", "lm_head.", "vocab_")) else prefix + name
        if old:  # what the first files call it
            name = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
        return name

    model: Model = base
    names = _renamed(table.names, in_file)
    if table.head["head.transform.weight"] in published.tensors:
        _refuse_settings(published, tie_word_embeddings=True)
        model = MaskedLanguageModel(base)
        head = OrderedDict[str, nn.Module](transform=nn.Linear(base.d_model, base.d_model))
        head["activation"] = base.get_submodule("layers.0.feed_forward.activation")  # the same as in the layers
        head["norm"] = nn.LayerNorm(base.d_model)
        head["scores"] = nn.Linear(base.d_model, base.embedding.num_embeddings)
        model.add_module("head", nn.Sequential(head))
        names = {**_renamed(table.names, in_file, ours="base."), **_renamed(table.head, in_file)}
    _set_eps(model, published.number("layer_norm_eps", 1e-12))
    return Built(model, names, [*map(in_file, table.unused)])


def _gpt2(published: Published) -> Built:
    """GPT-2 (Radford 2019): LayerNorm before each part and after the last, GELU by tanh, learned positions."""
    _refuse_settings(
        published, scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False, add_cross_attention=False
    )
    width = published.whole("n_embd")
    base = TransformerBase(
        published.whole("vocab_size"),
        width,
        _layers(published, "n_layer"),
        published.whole("n_head"),
        published.whole("n_inner", 4 * width),
        dropout=published.share("resid_pdrop", 0.1),
        positions="learned",
        norm_first=True,
        max_len=published.whole("n_positions", 1024),
        activation=pick("activation", published.setting("activation_function", "gelu_new"), ACTIVATIONS),
    )
    _set_eps(base, published.number("layer_norm_epsilon", 1e-5))
    model = LanguageModel(base)
    model.head = nn.Linear(width, base.embedding.num_embeddings, bias=False)
    prefix = _prefix(published, "transformer.")
    names = _renamed(GPT2, lambda name: prefix + name, ours="base.")
    head = "lm_head.weight" if "lm_head.weight" in published.tensors else f"{prefix}wte.weight"
    return Built(model, {**names, "head.weight": head}, [prefix + name for name in GPT2_UNUSED])


def _llama(published: Published) -> Built:
    """Llama in safetensors, whose rotary pairs are the halves of a head."""
    _refuse_settings(published, attention_bias=False, sliding_window=None)
    return _decoder(published)


def _mistral(published: Published) -> Built:
    """Mistral: Llama, but a token sees the last `sliding_window` ones only. Ours takes no more, so it sees them all."""
    _refuse_settings(published, attention_bias=False)
    built = _decoder(published)
    if published.settings.get("sliding_window") is not None and isinstance(built.model, Llama):
        built.model.max_len = min(built.model.max_len, published.whole("sliding_window"))
    return built


def _qwen2(published: Published) -> Built:
    """Qwen2: Llama with a bias in queries, keys and values."""
    _refuse_settings(published, use_sliding_window=False)
    return _decoder(published, bias=True)


def _decoder(published: Published, *, bias: bool = False) -> Built:
    rope = published.settings.get("rope_parameters") or published.settings.get("rope_scaling") or {}
    if not isinstance(rope, dict):
        raise ValueError(f"{published.path}: the settings of rotary positions are {rope!r}, expected names with values")
    if (turned := rope.get("partial_rotary_factor", published.settings.get("partial_rotary_factor", 1))) != 1:
        raise ValueError(f"{published.path} turns {turned!r} of each head, and only whole heads are turned here")
    _refuse_settings(published, hidden_act="silu", mlp_bias=False)
    width, n_heads = published.whole("hidden_size"), published.whole("num_attention_heads")
    model = Llama(
        published.whole("vocab_size"),
        width,
        _layers(published, "num_hidden_layers"),
        n_heads,
        published.whole("num_key_value_heads", n_heads),
        published.whole("intermediate_size"),
        d_head=published.whole("head_dim", max(1, width // n_heads)),
        base=published.number("rope_theta", rope.get("rope_theta", 10000)),
        eps=published.number("rms_norm_eps", 1e-6),
        max_len=published.whole("max_position_embeddings", 2048),
        tied="lm_head.weight" not in published.tensors,
        bias=bias,
        slower=_slower(published, rope),
    )
    prefix = _prefix(published, "model.")
    names = _renamed({**LLAMA, **QWEN2} if bias else LLAMA, lambda name: prefix + name)
    for part in ("query", "key"):
        for kind in ("weight", "bias") if bias else ("weight",):
            ours = f"layers.{{layer}}.attention.{part}.{kind}"
            names[ours] = Made(pairs_side_by_side(model.d_head), str(names[ours]))
    if not model.tied:
        names["head.weight"] = "lm_head.weight"
    return Built(model, names, [prefix + name for name in LLAMA_UNUSED])


def _slower(published: Published, rope: dict[str, Any]) -> Slower | None:
    """Returns how Llama 3.1 makes its rotary angles smaller, or None for those of Llama.

    Raises:
        ValueError: they are made in another way, which is not computed here.
    """
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind not in ("default", "llama3"):
        raise ValueError(
            f"{published.path} has rotary positions of the kind {kind!r}, and only 'default' and 'llama3' are computed "
            "here"
        )
    if kind == "default":
        return None
    told = replace(published, settings=rope)
    parts = ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings")
    slower = Slower(*map(told.number, parts))
    if slower.low >= slower.high:
        raise ValueError(f"{published.path}: low_freq_factor is {slower.low}, expected less than high_freq_factor")
    return slower


def _llama_gguf(published: Published) -> Built:
    """Llama in GGUF, whose rotary pairs are neighbours."""
    if (kind := published.settings.get("llama.rope.scaling.type", "none")) != "none":
        raise ValueError(
            f"{published.path} has rotary positions of the kind {kind!r}, and only 'none' is computed here"
        )
    width, n_heads = published.whole("llama.embedding_length"), published.whole("llama.attention.head_count")
    d_head = published.whole("llama.attention.key_length", max(1, width // n_heads))
    if (turned := published.whole("llama.rope.dimension_count", d_head)) != d_head:
        raise ValueError(f"{published.path} turns {turned} numbers of a head of {d_head}, and only all are turned here")
    model = Llama(
        published.whole("llama.vocab_size", len(published.settings.get("tokenizer.ggml.tokens") or [])),
        width,
        _layers(published, "llama.block_count"),
        n_heads,
        published.whole("llama.attention.head_count_kv", n_heads),
        published.whole("llama.feed_forward_length"),
        d_head=d_head,
        base=published.number("llama.rope.freq_base", 10000),
        eps=published.number("llama.attention.layer_norm_rms_epsilon"),
        max_len=published.whole("llama.context_length"),
        tied="output.weight" not in published.tensors,
    )
    head = {} if model.tied else {"head.weight": "output.weight"}
    return Built(model, {**LLAMA_GGUF, **head}, [])


def _base_alone(published: Published, built: Built) -> Built:
    """Returns a model without its head; what stands beside the base in the file is not read."""
    model, names, unused = built
    if isinstance(model, LanguageModel):
        model, old = model.base, names
        names = {name.removeprefix("base."): made for name, made in old.items() if name.startswith("base.")}
    read = [made.names[0] if isinstance(made, Made) else made for made in names.values()]
    inside = {name.partition(".")[0] for name in read}
    return Built(model, names, unused + [name for name in published.tensors if name.partition(".")[0] not in inside])


# What `model_type` may be in `config.json`
SAFETENSORS: dict[str, Callable[[Published], Built]] = {
    "bert": _bert,
    "roberta": _roberta,
    "camembert": _roberta,
    "xlm-roberta": _roberta,
    "distilbert": _distilbert,
    "gpt2": _gpt2,
    "llama": _llama,
    "mistral": _mistral,
    "qwen2": _qwen2,
}
GGUF: dict[str, Callable[[Published], Built]] = {"llama": _llama_gguf}  # by `general.architecture`


def _layers(published: Published, name: str) -> int:
    """Returns the number of layers, which cannot be larger than that of tensors: a damaged one would take for ever."""
    layers = published.whole(name)
    if layers > len(published.tensors):
        raise ValueError(f"{published.path}: {name} is {layers}, more than the {len(published.tensors)} tensors in it")
    return layers


def _refuse_settings(published: Published, **computed: Any) -> None:
    """Raises ValueError when a setting without a tensor of its own asks for what our models do not compute."""
    for name, value in computed.items():
        if (found := published.settings.get(name, value)) != value:
            raise ValueError(f"{published.path}: {name} is {found!r}, and only {value!r} is computed here")


def _prefix(published: Published, prefix: str) -> str:
    """Returns `prefix`, or "" in a file that was saved without the model around the base."""
    return prefix if any(name.startswith(prefix) for name in published.tensors) else ""


def _renamed(names: Names, in_file: Callable[[str], str], ours: str = "") -> dict[str, str | Made]:
    """Returns a table with `ours` before our names, and published names as they stand in the file."""
    return {
        ours + name: Made(source.change, *map(in_file, source.names)) if isinstance(source, Made) else in_file(source)
        for name, source in names.items()
    }


def _set_eps(model: nn.Module, eps: float) -> None:
    norms: Iterable[nn.LayerNorm] = (part for part in model.modules() if isinstance(part, nn.LayerNorm))
    for norm in norms:
        norm.eps = eps
