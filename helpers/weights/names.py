"""Which published tensor becomes which of the course's own: tables for BERT, GPT-2, Llama and their relatives.

Published names are those of `transformers` and, for GGUF, of llama.cpp; ours are those of `helpers.models` and
`helpers.llama`. Shapes: vocabulary V, width d, heads h of w numbers.
"""

from collections.abc import Callable, Mapping

from torch import Tensor


class Made:
    """Says that one of our tensors is made of published ones, and how."""

    def __init__(self, change: Callable[..., Tensor], *names: str) -> None:
        self.change, self.names = change, names


Names = Mapping[str, str | Made]  # our name -> the published one; `{layer}` stands for 0, 1, 2, ... in both

# What is done to published tensors


def unchanged(tensor: Tensor) -> Tensor:
    """Returns the tensor `(...)` itself."""
    return tensor


def transposed(weight: Tensor) -> Tensor:
    """Returns `(out, in)`, as nn.Linear has it, of GPT-2's `(in, out)`."""
    return weight.T


def divided_by_root(embedding: Tensor) -> Tensor:
    """Returns an embedding `(V, d)` for TransformerBase, which multiplies it by sqrt(d); published models do not."""
    return embedding / embedding.size(-1) ** 0.5


BY_ROWS = (unchanged, divided_by_root)  # which give the same for some rows as for all


def with_first_type(positions: Tensor, types: Tensor) -> Tensor:
    """Returns positions `(max_len, d)` plus the first of BERT's types `(2, d)`, that of all tokens of a single text."""
    return positions + types[:1].view(1, positions.size(-1))  # another width must not be broadcast


def with_first_type_from(start: int) -> Callable[[Tensor, Tensor], Tensor]:
    """Returns `with_first_type` for RoBERTa, whose first token has position `start`; those before it are not used."""
    return lambda positions, types: with_first_type(positions[start:], types)


def third(number: int) -> Callable[[Tensor], Tensor]:
    """Returns what takes query (0), key (1) or value (2) out of GPT-2's fused `(d, 3 d)` or bias `(3 d,)`.

    A weight is transposed as well: it becomes `(out, in)`.
    """
    return lambda fused: fused.tensor_split(3, dim=-1)[number].movedim(-1, 0)


def pairs_side_by_side(d_head: int) -> Callable[[Tensor], Tensor]:
    """Returns what reorders the rows of queries or keys `(h w, d)`, or biases `(h w,)`, from rotary halves to pairs.

    In `transformers`, number i of a head turns with number i + w/2; in GGUF and in `helpers.models.rotate`, number 2i
    turns with number 2i + 1. So within each head row i goes to 2i, and row i + w/2 to 2i + 1. Queries and keys are
    reordered alike, so no score changes.
    """
    return lambda weight: weight.unflatten(0, (-1, 2, d_head // 2)).transpose(1, 2).flatten(0, 2)


# Tables of names: ours on the left, the published ones on the right

BERT: Names = {
    "embedding.weight": Made(divided_by_root, "embeddings.word_embeddings.weight"),
    "position": Made(
        with_first_type, "embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight"
    ),
    "embedding_norm.weight": "embeddings.LayerNorm.weight",
    "embedding_norm.bias": "embeddings.LayerNorm.bias",
    "layers.{layer}.attention.query.weight": "encoder.layer.{layer}.attention.self.query.weight",
    "layers.{layer}.attention.query.bias": "encoder.layer.{layer}.attention.self.query.bias",
    "layers.{layer}.attention.key.weight": "encoder.layer.{layer}.attention.self.key.weight",
    "layers.{layer}.attention.key.bias": "encoder.layer.{layer}.attention.self.key.bias",
    "layers.{layer}.attention.value.weight": "encoder.layer.{layer}.attention.self.value.weight",
    "layers.{layer}.attention.value.bias": "encoder.layer.{layer}.attention.self.value.bias",
    "layers.{layer}.attention.output.weight": "encoder.layer.{layer}.attention.output.dense.weight",
    "layers.{layer}.attention.output.bias": "encoder.layer.{layer}.attention.output.dense.bias",
    "layers.{layer}.attention_norm.weight": "encoder.layer.{layer}.attention.output.LayerNorm.weight",
    "layers.{layer}.attention_norm.bias": "encoder.layer.{layer}.attention.output.LayerNorm.bias",
    "layers.{layer}.feed_forward.hidden.weight": "encoder.layer.{layer}.intermediate.dense.weight",
    "layers.{layer}.feed_forward.hidden.bias": "encoder.layer.{layer}.intermediate.dense.bias",
    "layers.{layer}.feed_forward.output.weight": "encoder.layer.{layer}.output.dense.weight",
    "layers.{layer}.feed_forward.output.bias": "encoder.layer.{layer}.output.dense.bias",
    "layers.{layer}.feed_forward_norm.weight": "encoder.layer.{layer}.output.LayerNorm.weight",
    "layers.{layer}.feed_forward_norm.bias": "encoder.layer.{layer}.output.LayerNorm.bias",
}
BERT_HEAD: Names = {  # the scores use the embedding once more
    "head.transform.weight": "cls.predictions.transform.dense.weight",
    "head.transform.bias": "cls.predictions.transform.dense.bias",
    "head.norm.weight": "cls.predictions.transform.LayerNorm.weight",
    "head.norm.bias": "cls.predictions.transform.LayerNorm.bias",
    "head.scores.weight": "embeddings.word_embeddings.weight",
    "head.scores.bias": "cls.predictions.bias",
}
ROBERTA_HEAD: Names = {
    "head.transform.weight": "lm_head.dense.weight",
    "head.transform.bias": "lm_head.dense.bias",
    "head.norm.weight": "lm_head.layer_norm.weight",
    "head.norm.bias": "lm_head.layer_norm.bias",
    "head.scores.weight": "embeddings.word_embeddings.weight",
    "head.scores.bias": "lm_head.bias",
}
DISTILBERT: Names = {
    "embedding.weight": Made(divided_by_root, "embeddings.word_embeddings.weight"),
    "position": "embeddings.position_embeddings.weight",
    "embedding_norm.weight": "embeddings.LayerNorm.weight",
    "embedding_norm.bias": "embeddings.LayerNorm.bias",
    "layers.{layer}.attention.query.weight": "transformer.layer.{layer}.attention.q_lin.weight",
    "layers.{layer}.attention.query.bias": "transformer.layer.{layer}.attention.q_lin.bias",
    "layers.{layer}.attention.key.weight": "transformer.layer.{layer}.attention.k_lin.weight",
    "layers.{layer}.attention.key.bias": "transformer.layer.{layer}.attention.k_lin.bias",
    "layers.{layer}.attention.value.weight": "transformer.layer.{layer}.attention.v_lin.weight",
    "layers.{layer}.attention.value.bias": "transformer.layer.{layer}.attention.v_lin.bias",
    "layers.{layer}.attention.output.weight": "transformer.layer.{layer}.attention.out_lin.weight",
    "layers.{layer}.attention.output.bias": "transformer.layer.{layer}.attention.out_lin.bias",
    "layers.{layer}.attention_norm.weight": "transformer.layer.{layer}.sa_layer_norm.weight",
    "layers.{layer}.attention_norm.bias": "transformer.layer.{layer}.sa_layer_norm.bias",
    "layers.{layer}.feed_forward.hidden.weight": "transformer.layer.{layer}.ffn.lin1.weight",
    "layers.{layer}.feed_forward.hidden.bias": "transformer.layer.{layer}.ffn.lin1.bias",
    "layers.{layer}.feed_forward.output.weight": "transformer.layer.{layer}.ffn.lin2.weight",
    "layers.{layer}.feed_forward.output.bias": "transformer.layer.{layer}.ffn.lin2.bias",
    "layers.{layer}.feed_forward_norm.weight": "transformer.layer.{layer}.output_layer_norm.weight",
    "layers.{layer}.feed_forward_norm.bias": "transformer.layer.{layer}.output_layer_norm.bias",
}
DISTILBERT_HEAD: Names = {
    "head.transform.weight": "vocab_transform.weight",
    "head.transform.bias": "vocab_transform.bias",
    "head.norm.weight": "vocab_layer_norm.weight",
    "head.norm.bias": "vocab_layer_norm.bias",
    "head.scores.weight": "embeddings.word_embeddings.weight",
    "head.scores.bias": "vocab_projector.bias",
}
GPT2: Names = {
    "embedding.weight": Made(divided_by_root, "wte.weight"),
    "position": "wpe.weight",
    "layers.{layer}.attention_norm.weight": "h.{layer}.ln_1.weight",
    "layers.{layer}.attention_norm.bias": "h.{layer}.ln_1.bias",
    "layers.{layer}.attention.query.weight": Made(third(0), "h.{layer}.attn.c_attn.weight"),
    "layers.{layer}.attention.query.bias": Made(third(0), "h.{layer}.attn.c_attn.bias"),
    "layers.{layer}.attention.key.weight": Made(third(1), "h.{layer}.attn.c_attn.weight"),
    "layers.{layer}.attention.key.bias": Made(third(1), "h.{layer}.attn.c_attn.bias"),
    "layers.{layer}.attention.value.weight": Made(third(2), "h.{layer}.attn.c_attn.weight"),
    "layers.{layer}.attention.value.bias": Made(third(2), "h.{layer}.attn.c_attn.bias"),
    "layers.{layer}.attention.output.weight": Made(transposed, "h.{layer}.attn.c_proj.weight"),
    "layers.{layer}.attention.output.bias": "h.{layer}.attn.c_proj.bias",
    "layers.{layer}.feed_forward_norm.weight": "h.{layer}.ln_2.weight",
    "layers.{layer}.feed_forward_norm.bias": "h.{layer}.ln_2.bias",
    "layers.{layer}.feed_forward.hidden.weight": Made(transposed, "h.{layer}.mlp.c_fc.weight"),
    "layers.{layer}.feed_forward.hidden.bias": "h.{layer}.mlp.c_fc.bias",
    "layers.{layer}.feed_forward.output.weight": Made(transposed, "h.{layer}.mlp.c_proj.weight"),
    "layers.{layer}.feed_forward.output.bias": "h.{layer}.mlp.c_proj.bias",
    "norm.weight": "ln_f.weight",
    "norm.bias": "ln_f.bias",
}
LLAMA: Names = {  # queries and keys: see `pairs_side_by_side`
    "embedding.weight": "embed_tokens.weight",
    "layers.{layer}.attention_norm.weight": "layers.{layer}.input_layernorm.weight",
    "layers.{layer}.attention.query.weight": "layers.{layer}.self_attn.q_proj.weight",
    "layers.{layer}.attention.key.weight": "layers.{layer}.self_attn.k_proj.weight",
    "layers.{layer}.attention.value.weight": "layers.{layer}.self_attn.v_proj.weight",
    "layers.{layer}.attention.output.weight": "layers.{layer}.self_attn.o_proj.weight",
    "layers.{layer}.feed_forward_norm.weight": "layers.{layer}.post_attention_layernorm.weight",
    "layers.{layer}.feed_forward.gate.weight": "layers.{layer}.mlp.gate_proj.weight",
    "layers.{layer}.feed_forward.up.weight": "layers.{layer}.mlp.up_proj.weight",
    "layers.{layer}.feed_forward.down.weight": "layers.{layer}.mlp.down_proj.weight",
    "norm.weight": "norm.weight",
}
QWEN2: Names = {  # besides those of Llama
    "layers.{layer}.attention.query.bias": "layers.{layer}.self_attn.q_proj.bias",
    "layers.{layer}.attention.key.bias": "layers.{layer}.self_attn.k_proj.bias",
    "layers.{layer}.attention.value.bias": "layers.{layer}.self_attn.v_proj.bias",
}
LLAMA_GGUF: Names = {  # pairs stand side by side already
    "embedding.weight": "token_embd.weight",
    "layers.{layer}.attention_norm.weight": "blk.{layer}.attn_norm.weight",
    "layers.{layer}.attention.query.weight": "blk.{layer}.attn_q.weight",
    "layers.{layer}.attention.key.weight": "blk.{layer}.attn_k.weight",
    "layers.{layer}.attention.value.weight": "blk.{layer}.attn_v.weight",
    "layers.{layer}.attention.output.weight": "blk.{layer}.attn_output.weight",
    "layers.{layer}.feed_forward_norm.weight": "blk.{layer}.ffn_norm.weight",
    "layers.{layer}.feed_forward.gate.weight": "blk.{layer}.ffn_gate.weight",
    "layers.{layer}.feed_forward.up.weight": "blk.{layer}.ffn_up.weight",
    "layers.{layer}.feed_forward.down.weight": "blk.{layer}.ffn_down.weight",
    "norm.weight": "output_norm.weight",
}

# What is not read, and why

BERT_UNUSED = {
    "embeddings.position_ids": "the numbers 0, 1, 2, ...",
    "pooler.dense.weight": "read by heads for pairs of sentences, which the course does not have",
    "pooler.dense.bias": "of the same part",
    "cls.seq_relationship.weight": "such a head: does one sentence follow the other?",
    "cls.seq_relationship.bias": "of the same part",
    "cls.predictions.decoder.weight": "the embedding once more",
    "cls.predictions.decoder.bias": "cls.predictions.bias once more",
}
ROBERTA_UNUSED = {
    "embeddings.position_ids": "the numbers 0, 1, 2, ...",
    "pooler.dense.weight": "read by heads for whole texts, which the course has of its own",
    "pooler.dense.bias": "of the same part",
    "lm_head.decoder.weight": "the embedding once more",
    "lm_head.decoder.bias": "lm_head.bias once more",
}
DISTILBERT_UNUSED = {
    "vocab_projector.weight": "the embedding once more",
}
GPT2_UNUSED = {
    "h.{layer}.attn.bias": "the causal mask",
    "h.{layer}.attn.masked_bias": "what the mask adds to a score",
}
LLAMA_UNUSED = {
    "layers.{layer}.self_attn.rotary_emb.inv_freq": "the steps of the rotary angles",
}
