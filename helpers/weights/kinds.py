"""Which of the course's models a file of weights describes: its settings, read with care, and its table of names."""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

from torch import nn

from helpers.choices import pick
from helpers.llama import Llama
from helpers.models import Activation, LanguageModel, MaskedLanguageModel, TransformerBase
from helpers.weights.files import Published
from helpers.weights.names import (
    BERT,
    BERT_HEAD,
    BERT_UNUSED,
    GPT2,
    GPT2_UNUSED,
    LLAMA,
    LLAMA_GGUF,
    LLAMA_UNUSED,
    Made,
    Names,
    pairs_side_by_side,
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


def build(published: Published) -> Built:
    """Returns the model that a file describes, with numbers of no meaning.

    Raises:
        ValueError: the kind of model is none of ours, a setting is missing, or it asks for what ours do not compute.
    """
    if published.layout == "gguf":
        kind, kinds = published.setting("general.architecture"), {"llama": _llama_gguf}
    else:
        kind, kinds = published.setting("model_type"), {"bert": _bert, "gpt2": _gpt2, "llama": _llama}
    if not isinstance(kind, str) or kind not in kinds:
        raise ValueError(
            f"{published.path} is a model of kind {kind!r}: in {published.layout}, {', '.join(kinds)} can be loaded"
        )
    try:
        return kinds[kind](published)
    except RuntimeError as error:  # PyTorch counts the bytes of a tensor, on the device "meta" too
        raise ValueError(
            f"{published.path}: its settings ask for a tensor that no memory holds ({str(error).splitlines()[0]})"
        ) from None


def _bert(published: Published) -> Built:
    """BERT (Devlin 2019): both sides, LayerNorm after each sum, learned positions."""
    _refuse_settings(published, position_embedding_type="absolute", is_decoder=False, add_cross_attention=False)
    width = published.whole("hidden_size")
    base = TransformerBase(
        published.whole("vocab_size"),
        width,
        _layers(published, "num_hidden_layers"),
        published.whole("num_attention_heads"),
        published.whole("intermediate_size"),
        dropout=published.share("hidden_dropout_prob", 0.1),
        positions="learned",
        causal=False,
        max_len=published.whole("max_position_embeddings"),
        activation=pick("activation", published.setting("hidden_act", "gelu"), ACTIVATIONS),
        embedding_norm=True,
    )
    prefix = _prefix(published, "bert.")
    old = any(name.endswith("LayerNorm.gamma") for name in published.tensors)

    def in_file(name: str) -> str:
        name = name if name.startswith("cls.") else prefix + name
        if old:  # what the first files call it
            name = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
        return name

    model: Model = base
    names = _renamed(BERT, in_file)
    if "cls.predictions.transform.dense.weight" in published.tensors:
        _refuse_settings(published, tie_word_embeddings=True)
        model = MaskedLanguageModel(base)
        head = OrderedDict[str, nn.Module](transform=nn.Linear(width, width))
        head["activation"] = base.get_submodule("layers.0.feed_forward.activation")  # the same as in the layers
        head["norm"] = nn.LayerNorm(width)
        head["scores"] = nn.Linear(width, base.embedding.num_embeddings)
        model.add_module("head", nn.Sequential(head))
        names = {**_renamed(BERT, in_file, ours="base."), **_renamed(BERT_HEAD, in_file)}
    _set_eps(model, published.number("layer_norm_eps", 1e-12))
    return Built(model, names, [*map(in_file, BERT_UNUSED)])


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
    rope = published.settings.get("rope_parameters") or published.settings.get("rope_scaling") or {}
    if not isinstance(rope, dict):
        raise ValueError(f"{published.path}: the settings of rotary positions are {rope!r}, expected names with values")
    if (kind := rope.get("rope_type", rope.get("type", "default"))) != "default":
        raise ValueError(
            f"{published.path} has rotary positions of the kind {kind!r}, and only 'default' is computed here"
        )
    if (turned := rope.get("partial_rotary_factor", published.settings.get("partial_rotary_factor", 1))) != 1:
        raise ValueError(f"{published.path} turns {turned!r} of each head, and only whole heads are turned here")
    _refuse_settings(published, hidden_act="silu", attention_bias=False, mlp_bias=False, sliding_window=None)
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
    )
    prefix = _prefix(published, "model.")
    names = {**_renamed(LLAMA, lambda name: prefix + name)}
    for part in ("query", "key"):
        ours = f"layers.{{layer}}.attention.{part}.weight"
        names[ours] = Made(pairs_side_by_side(model.d_head), str(names[ours]))
    if not model.tied:
        names["head.weight"] = "lm_head.weight"
    return Built(model, names, [prefix + name for name in LLAMA_UNUSED])


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
