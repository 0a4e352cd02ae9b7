"""Our models compute what torch's own layers compute, and count as the notebooks say."""

from typing import Any, TypeVar

import pytest
import torch
from torch import Tensor, nn

from helpers.models import (
    Attention,
    Classifier,
    Context,
    EncoderDecoder,
    LanguageModel,
    MaskedLanguageModel,
    TransformerBase,
    as_mask,
    rotary_angles,
    rotate,
    sinusoids,
)

KINDS = ("none", "sinusoidal", "learned", "alibi", "rotary")
Model = TypeVar("Model", bound=nn.Module)
VOCAB, WIDTH, LAYERS, HEADS = 23, 12, 3, 2


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


def make_base(**options: object) -> TransformerBase:
    settings = {"dropout": 0.0, **options}
    return TransformerBase(VOCAB, WIDTH, LAYERS, HEADS, **settings).double()  # type: ignore[arg-type]


def some_tokens(b: int = 4, n: int = 7) -> Tensor:
    return torch.randint(VOCAB, (b, n))


# The same weights in torch's layers


def copy_attention(theirs: nn.MultiheadAttention, ours: Attention) -> None:
    parts = (ours.query, ours.key, ours.value)
    theirs.in_proj_weight.data = torch.cat([part.weight.data for part in parts])
    theirs.in_proj_bias.data = torch.cat([part.bias.data for part in parts])
    theirs.out_proj.load_state_dict(ours.output.state_dict())


def copy_layer(theirs: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer, ours: Any) -> None:
    copy_attention(theirs.self_attn, ours.attention)
    norms = [ours.attention_norm, ours.feed_forward_norm]
    if ours.cross:
        copy_attention(theirs.multihead_attn, ours.cross_attention)  # type: ignore[arg-type]
        norms.insert(1, ours.cross_attention_norm)
    for number, norm in enumerate(norms, start=1):
        getattr(theirs, f"norm{number}").load_state_dict(norm.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.hidden.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.output.state_dict())


def torch_stack(base: TransformerBase, norm_first: bool) -> Any:
    """torch's encoder or decoder with the weights of `base`."""
    cross = base.layers[0].cross
    one: Any = nn.TransformerDecoderLayer if cross else nn.TransformerEncoderLayer
    layer = one(WIDTH, HEADS, WIDTH, dropout=0.0, batch_first=True, norm_first=norm_first)
    last = nn.LayerNorm(WIDTH) if norm_first else None
    stack = (
        nn.TransformerDecoder(layer, LAYERS, last)
        if cross
        else nn.TransformerEncoder(layer, LAYERS, last, enable_nested_tensor=False)
    ).double()
    for theirs, ours in zip(stack.layers, base.layers, strict=True):
        copy_layer(theirs, ours)
    if last is not None:
        stack.norm.load_state_dict(base.norm.state_dict())
    return stack


def stirred(model: Model) -> Model:
    """Biases and norms away from 0 and 1, so that a forgotten one shows."""
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    return model


def causal_mask(size: int) -> Tensor:
    return torch.ones(size, size, dtype=torch.bool).triu(1)


@pytest.mark.parametrize("training", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
@pytest.mark.parametrize("padding", ["no padding", "lengths", "mask", "padding on the left"])
@pytest.mark.parametrize("causal", [False, True], ids=["both sides", "causal"])
def test_encoder_equals_torch(causal: bool, padding: str, norm_first: bool, training: bool) -> None:
    base = stirred(make_base(causal=causal, norm_first=norm_first)).train(training)
    theirs = torch_stack(base, norm_first).train(training)
    tokens = some_tokens()
    n = tokens.size(1)
    lengths = torch.tensor([7, 1, 4, 6])
    mask = as_mask(lengths, n) if padding != "padding on the left" else as_mask(lengths, n).flip(1)
    given = {"no padding": None, "lengths": lengths}.get(padding, mask)
    real = ~mask if given is not None else torch.ones_like(mask)

    embedded = (base.embedding(tokens) * WIDTH**0.5 + sinusoids(n, WIDTH)).detach()
    inputs = embedded.clone().requires_grad_()
    expected = theirs(
        inputs,
        mask=causal_mask(n) if causal else None,
        src_key_padding_mask=None if given is None else mask,
    )
    ours = base(tokens, given)
    torch.testing.assert_close(ours[real], expected[real])
    assert ours.isfinite().all()

    # One loss through both: every weight must get the same gradient.
    direction = torch.randn_like(ours[real])
    (ours[real] * direction).sum().backward()
    if not expected[real].isfinite().all():
        pytest.fail("torch gave no number where ours does")
    (expected[real] * direction).sum().backward()
    layers: Any = base.layers
    for theirs_layer, layer in zip(theirs.layers, layers, strict=True):
        weights = (layer.attention.query, layer.attention.key, layer.attention.value)
        gradient = torch.cat([part.weight.grad for part in weights])
        torch.testing.assert_close(gradient, theirs_layer.self_attn.in_proj_weight.grad)
        torch.testing.assert_close(layer.feed_forward.hidden.weight.grad, theirs_layer.linear1.weight.grad)
        torch.testing.assert_close(layer.feed_forward.output.bias.grad, theirs_layer.linear2.bias.grad)
        torch.testing.assert_close(layer.attention_norm.weight.grad, theirs_layer.norm1.weight.grad)
        torch.testing.assert_close(layer.feed_forward_norm.bias.grad, theirs_layer.norm2.bias.grad)
    words = torch.zeros_like(base.embedding.weight)
    words.index_add_(0, tokens.flatten(), inputs.grad.flatten(0, 1) * WIDTH**0.5)
    torch.testing.assert_close(base.embedding.weight.grad, words)


@pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
def test_decoder_equals_torch(norm_first: bool) -> None:
    model = EncoderDecoder(VOCAB, VOCAB, WIDTH, LAYERS, HEADS, dropout=0.0, norm_first=norm_first)
    model = stirred(model).double()
    source, target, lengths = some_tokens(3, 5), some_tokens(3, 6), torch.tensor([5, 2, 3])
    memory = model.encoder(source, lengths)
    theirs = torch_stack(model.decoder, norm_first)
    embedded = model.decoder.embedding(target) * WIDTH**0.5 + sinusoids(6, WIDTH)
    expected = theirs(
        embedded,
        memory,
        tgt_mask=causal_mask(6),
        memory_key_padding_mask=as_mask(lengths, 5),
        tgt_is_causal=True,
    )
    torch.testing.assert_close(model(source, target, lengths), model.head(expected))


# What the notebooks count


def count(model: nn.Module, trainable_only: bool = False) -> int:
    return sum(p.numel() for p in model.parameters() if p.requires_grad or not trainable_only)


def test_counts_of_the_course() -> None:
    with torch.device("meta"):
        base = TransformerBase(50_001, 200, 4, 2)
        assert count(LanguageModel(base)) == 21_018_401
        classifier = Classifier(base, 2)
    assert count(classifier) == 10_968_602
    classifier.base.requires_grad_(False)
    assert count(classifier, trainable_only=True) == 402
    assert count(base.layers[0]) == 6 * 200**2 + 10 * 200


def test_names_of_the_parameters() -> None:
    model = LanguageModel(TransformerBase(9, 4, 1, 2))
    linear = ("attention.query", "attention.key", "attention.value", "attention.output")
    parts = (*linear, "attention_norm", "feed_forward.hidden", "feed_forward.output")
    layer = [f"base.layers.0.{part}" for part in (*parts, "feed_forward_norm")]
    expected = {f"{name}.{kind}" for name in (*layer, "head") for kind in ("weight", "bias")}
    assert set(dict(model.named_parameters())) == expected | {"base.embedding.weight"}
    assert set(model.state_dict()) == set(dict(model.named_parameters()))  # no positions stored


def test_learned_positions_are_trained_and_pre_norm_has_one_more_norm() -> None:
    plain = count(TransformerBase(9, 4, 2, 2))
    assert count(TransformerBase(9, 4, 2, 2, positions="learned", max_len=7)) == plain + 7 * 4
    assert count(TransformerBase(9, 4, 2, 2, norm_first=True)) == plain + 2 * 4


def test_activations_are_torchs_own() -> None:
    x = torch.randn(50).double()
    for name, expected in {
        "relu": x.relu(),
        "gelu": x * (1 + torch.erf(x / 2**0.5)) / 2,
        "gelu_tanh": x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3))) / 2,
    }.items():
        layers: Any = make_base(activation=name).layers
        for layer in layers:
            torch.testing.assert_close(layer.feed_forward.activation(x), expected)
    assert isinstance(make_base().layers[0].feed_forward.activation, nn.ReLU)


# Who sees whom


@pytest.mark.parametrize("positions", KINDS)
@pytest.mark.parametrize("padding", [None, torch.tensor([7, 5]), as_mask(torch.tensor([7, 5]), 7)])
def test_the_past_does_not_see_the_future(positions: str, padding: Tensor | None) -> None:
    base = stirred(make_base(positions=positions)).eval()
    tokens = some_tokens(2)
    changed = tokens.clone()
    changed[:, 4] = (tokens[:, 4] + 1) % VOCAB
    before, after = base(tokens, padding), base(changed, padding)
    torch.testing.assert_close(before[:, :4], after[:, :4], rtol=0, atol=0)
    assert not torch.isclose(before[:, 4:5], after[:, 4:5]).all()


@pytest.mark.parametrize("causal", [False, True], ids=["both sides", "causal"])
@pytest.mark.parametrize("positions", KINDS)
def test_padding_changes_no_real_token(positions: str, causal: bool) -> None:
    base = stirred(make_base(positions=positions, causal=causal)).eval()
    tokens, lengths = some_tokens(3), torch.tensor([7, 3, 1])
    for given in (lengths, as_mask(lengths, 7)):
        together = base(tokens, given)
        assert together.isfinite().all()
        for row, length in enumerate(lengths.tolist()):
            alone = base(tokens[row : row + 1, :length])
            torch.testing.assert_close(together[row : row + 1, :length], alone)


def test_rows_that_see_nothing_are_numbers() -> None:
    for causal in (False, True):
        base = make_base(causal=causal)
        everything_padded = torch.ones(2, 5, dtype=torch.bool)
        hidden = base(some_tokens(2, 5), everything_padded)
        hidden.sum().backward()
        assert hidden.isfinite().all()
        assert all(p.grad.isfinite().all() for p in base.parameters() if p.grad is not None)
    model = EncoderDecoder(VOCAB, VOCAB, WIDTH, 1, HEADS)
    assert model(some_tokens(2, 5), some_tokens(2, 3), torch.tensor([0, 2])).isfinite().all()


@pytest.mark.parametrize("causal", [False, True], ids=["both sides", "causal"])
def test_order_is_seen_through_positions_only(causal: bool) -> None:
    tokens, order = some_tokens(2), torch.randperm(7)
    blind = make_base(positions="none", causal=False)
    torch.testing.assert_close(blind(tokens)[:, order], blind(tokens[:, order]))
    for positions in KINDS[1:]:
        base = stirred(make_base(positions=positions, causal=causal))
        assert not torch.isclose(base(tokens)[:, order], base(tokens[:, order])).all()


def test_rotary_scores_depend_on_the_distance_only() -> None:
    query, key = torch.randn(2, 1, 1, 1, 8, dtype=torch.double)
    frequencies = 10000 ** -(torch.arange(0, 8, 2) / 8)

    def score(i: int, j: int) -> Tensor:
        return (rotate(query, i * frequencies[None]) * rotate(key, j * frequencies[None])).sum()

    torch.testing.assert_close(score(3, 1), score(12, 10), rtol=1e-5, atol=1e-6)
    assert not torch.isclose(score(3, 1), score(3, 2))


def test_attention_maps_are_what_the_fused_kernel_uses() -> None:
    for causal in (False, True):
        for given in (None, torch.tensor([7, 5, 2, 1])):
            base = stirred(make_base(causal=causal)).eval()
            tokens = some_tokens()
            maps = base.attention_maps(tokens, given)
            assert [m.shape for m in maps] == [(4, HEADS, 7, 7)] * LAYERS
            torch.testing.assert_close(maps[0].sum(-1), torch.ones(4, HEADS, 7).double())
            slow = base(tokens, given, Context(maps={}))
            torch.testing.assert_close(slow, base(tokens, given))
            if causal:
                assert (maps[0][..., causal_mask(7)] == 0).all()


def test_a_context_stays_as_its_owner_made_it() -> None:
    memory = torch.randn(2, 5, WIDTH).double()
    for positions in KINDS:
        context = Context(memory=memory)
        base = make_base(positions=positions, cross=True)
        first = base(some_tokens(2, 5), torch.tensor([5, 3]), context)
        assert first.isfinite().all()
        assert vars(context) == vars(Context(memory=memory))  # a dict compares by identity first, as tensors must be


# Heads and decoding


@pytest.mark.parametrize("causal", [False, True], ids=["both sides", "causal"])
def test_classifier_reads_the_last_real_token(causal: bool) -> None:
    model = Classifier(stirred(make_base(causal=causal)), 3).double()
    tokens, lengths = some_tokens(), torch.tensor([7, 3, 1, 5])
    left = torch.stack([row.roll(7 - int(n)) for row, n in zip(tokens, lengths, strict=True)])
    expected = torch.cat([model(tokens[i : i + 1, :n]) for i, n in enumerate(lengths.tolist())])
    torch.testing.assert_close(model(tokens, lengths), expected)
    torch.testing.assert_close(model(tokens, as_mask(lengths, 7)), expected)
    assert model(left, as_mask(lengths, 7).flip(1)).shape == (4, 3)


@pytest.mark.parametrize("positions", KINDS)
def test_step_by_step_equals_all_at_once(positions: str) -> None:
    model = EncoderDecoder(VOCAB, VOCAB, WIDTH, LAYERS, HEADS, positions=positions)
    model = stirred(model).double().eval()
    source, target, lengths = some_tokens(3, 5), some_tokens(3, 8), torch.tensor([5, 2, 3])
    context = model.encode(source, lengths)
    context.cache = {}
    cuts = ((0, 1), (1, 2), (2, 5), (5, 6), (6, 8))  # one token at a time, and several
    steps = [model.decode(target[:, start:stop], context) for start, stop in cuts]
    torch.testing.assert_close(torch.cat(steps, dim=1), model(source, target, lengths))

    language_model = LanguageModel(stirred(make_base(positions=positions)).eval()).double()
    kept = Context(cache={})
    steps = [language_model(target[:, [i]], context=kept) for i in range(8)]
    torch.testing.assert_close(torch.cat(steps, dim=1), language_model(target))


def test_greedy_takes_the_best_token_and_stops() -> None:
    model = stirred(EncoderDecoder(VOCAB, VOCAB, WIDTH, 2, HEADS)).double().eval()
    source, lengths = some_tokens(5, 6), torch.tensor([6, 2, 3, 1, 6])
    found = model.greedy(source, lengths, sos=1, eos=2, max_len=9)
    assert found.size(1) <= 9
    for row in range(5):
        written = [1]
        while len(written) <= found.size(1) and (len(written) == 1 or written[-1] != 2):
            target = torch.tensor([written])
            logits = model(source[row : row + 1], target, lengths[row : row + 1])
            written.append(int(logits[0, -1].argmax()))
        ours = found[row].tolist()
        assert ours[: len(written) - 1] == written[1:]
        assert set(ours[len(written) - 1 :]) <= {2}
    model.head.bias.data[2] = 100.0  # the end at once
    assert model.greedy(source, None, sos=1, eos=2, max_len=9).tolist() == [[2]] * 5


def test_wrong_settings_get_a_sentence() -> None:
    with pytest.raises(ValueError, match="d_model 10 has no equal part for each of 4 heads"):
        TransformerBase(9, 10, 1, 4)
    with pytest.raises(ValueError, match="d_model 12 has no equal, even part for each of 4 heads"):
        TransformerBase(9, 12, 1, 4, positions="rotary")
    with pytest.raises(ValueError, match="there is no kind of positions 'absolute': take one of none, sinusoidal"):
        TransformerBase(9, 12, 1, 4, positions="absolute")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="both sides: its base needs causal=False"):
        MaskedLanguageModel(make_base())
    with pytest.raises(ValueError, match="8 tokens are more than max_len=7"):
        make_base(max_len=7)(some_tokens(1, 8))
    with pytest.raises(ValueError, match="output of an encoder"):
        make_base(cross=True)(some_tokens())


# What published models ask for


def test_a_norm_after_the_embedding_is_that_of_the_sum_and_there_only_when_asked() -> None:
    base = stirred(make_base(positions="learned", embedding_norm=True)).eval()
    plain = make_base(positions="learned").eval()
    assert [name for name in base.state_dict() if name not in plain.state_dict()] == [
        "embedding_norm.weight",
        "embedding_norm.bias",
    ]
    seen: list[Tensor] = []
    base.layers[0].register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    tokens = some_tokens()
    base(tokens)
    assert base.position is not None
    total = base.embedding(tokens) * WIDTH**0.5 + base.position[:7]
    assert torch.equal(seen[0], base.embedding_norm(total))


def test_rotary_angles_with_another_base_turn_the_last_pairs_slower() -> None:
    places = torch.arange(5)
    assert torch.equal(rotary_angles(places, 8), rotary_angles(places, 8, 10000))
    slow = rotary_angles(places.double(), 8, 500_000.0)
    assert torch.equal(slow[:, 0], places.double())  # one radian from token to token, whatever the base
    torch.testing.assert_close(slow[1], 500_000.0 ** -torch.tensor([0, 0.25, 0.5, 0.75]).double())
