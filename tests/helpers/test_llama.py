"""Llama's parts compute what their papers say, and reading with a cache changes nothing."""

import pytest
import torch
from torch import Tensor, nn

from helpers.llama import GroupedAttention, Llama, RMSNorm, SwiGLU
from helpers.models import Context, rotary_angles

VOCAB, WIDTH, LAYERS, HEADS, SHARED, INNER = 29, 24, 3, 6, 2, 40


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


def make_llama(**options: object) -> Llama:
    """A small Llama with weights large enough for every part to show."""
    model = Llama(VOCAB, WIDTH, LAYERS, HEADS, **{"n_kv_heads": SHARED, "d_feedforward": INNER, **options}).double()  # type: ignore[arg-type]
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.uniform_(0.5, 1.5) if name.endswith("norm.weight") else weight.normal_(std=0.3)
    return model.eval()


def some_tokens(b: int = 3, n: int = 8) -> Tensor:
    return torch.randint(VOCAB, (b, n))


# Parts


def test_rms_norm_is_that_of_torch() -> None:
    ours, theirs = RMSNorm(WIDTH, 1e-3), nn.RMSNorm(WIDTH, 1e-3)
    nn.init.uniform_(ours.weight)
    theirs.load_state_dict(ours.state_dict())
    x = torch.randn(2, 5, WIDTH) * 0.05  # so small that eps shows
    torch.testing.assert_close(ours(x), theirs(x))
    assert not torch.allclose(ours(x), RMSNorm(WIDTH, 1e-6)(x) * ours.weight)


def test_half_precision_stays_and_its_squares_do_not_overflow() -> None:
    x = torch.full((1, 2, WIDTH), 1000.0, dtype=torch.float16)  # the square of 1000 is no number of half precision
    normed = RMSNorm(WIDTH).half()(x)
    assert normed.dtype == torch.float16
    torch.testing.assert_close(normed, torch.ones_like(x))
    model = make_llama().to(torch.bfloat16)
    assert model(some_tokens()).dtype == torch.bfloat16


def test_swiglu_is_its_formula() -> None:
    part, x = SwiGLU(WIDTH, INNER).double(), torch.randn(2, 5, WIDTH).double()
    gate, up = x @ part.gate.weight.T, x @ part.up.weight.T
    torch.testing.assert_close(part(x), (gate / (1 + torch.exp(-gate)) * up) @ part.down.weight.T)


def test_grouped_heads_are_as_many_heads_whose_keys_and_values_are_repeated() -> None:
    grouped, whole = GroupedAttention(WIDTH, HEADS, SHARED, 4), GroupedAttention(WIDTH, HEADS, HEADS, 4)
    state = grouped.state_dict()
    for part in ("key", "value"):
        heads = state[f"{part}.weight"].unflatten(0, (SHARED, 4))  # (g, w, d)
        state[f"{part}.weight"] = torch.cat([heads[head * SHARED // HEADS] for head in range(HEADS)])
    whole.load_state_dict(state)
    x, angles = torch.randn(2, 5, WIDTH), rotary_angles(torch.arange(5), 4)
    small, large = Context(causal=True, cache={}), Context(causal=True, cache={})
    torch.testing.assert_close(grouped(x, angles, small), whole(x, angles, large))
    assert small.cache is not None
    assert large.cache is not None
    assert small.cache[grouped][0].numel() * HEADS == large.cache[whole][0].numel() * SHARED


def test_scores_depend_on_how_far_tokens_are_apart_and_not_on_where_they_are() -> None:
    attention, x = GroupedAttention(WIDTH, HEADS, SHARED, 4).double(), torch.randn(1, 5, WIDTH).double()
    found = []
    for start in (0, 1000):
        context = Context(causal=True, maps={})
        attention(x, rotary_angles(torch.arange(start, start + 5).double(), 4, 500.0), context)
        assert context.maps is not None
        found.append(context.maps[attention])
    torch.testing.assert_close(found[0], found[1])
    uniform = torch.ones(5, 5).tril().double() / torch.arange(1, 6).double().unsqueeze(1)
    assert not torch.allclose(found[0], uniform.expand_as(found[0]), atol=0.01)


# The whole model


@pytest.mark.parametrize("pieces", [[1] * 8, [5, 1, 1, 1], [3, 4, 1], [8]])
def test_reading_with_a_cache_changes_nothing(pieces: list[int]) -> None:
    model, tokens = make_llama(), some_tokens()
    context = Context(cache={})
    read = torch.cat([model(piece, context=context) for piece in tokens.split(pieces, dim=1)], dim=1)
    torch.testing.assert_close(read, model(tokens))
    assert context.cache is not None
    assert {key.shape for key, _ in context.cache.values()} == {(3, SHARED, 8, WIDTH // HEADS)}


def test_no_token_sees_what_comes_after_it_and_padding_at_the_end_changes_nothing() -> None:
    model, tokens = make_llama(), some_tokens()
    changed = tokens.clone()
    changed[:, 5:] = (changed[:, 5:] + 1) % VOCAB
    before, after = model(tokens), model(changed, torch.tensor([5, 5, 5]))
    assert torch.equal(before[:, :5], after[:, :5])
    assert not torch.isclose(before[:, 5:], after[:, 5:]).all(dim=-1).any()


@pytest.mark.parametrize("pieces", [[8], [3, 5]])
def test_attention_maps_are_those_of_the_fused_kernel(pieces: list[int]) -> None:
    model, tokens = make_llama(), some_tokens()
    context = Context(cache={}, maps={})
    logits = torch.cat([model(piece, context=context) for piece in tokens.split(pieces, dim=1)], dim=1)
    torch.testing.assert_close(logits, model(tokens))
    maps = model.attention_maps(tokens)
    assert [tuple(weights.shape) for weights in maps] == [(3, HEADS, 8, 8)] * LAYERS
    for weights in maps:
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(3, HEADS, 8).double())
        assert not weights.triu(1).any()


def test_greedy_writes_the_most_probable_token_and_stops_at_the_end() -> None:
    model, tokens = make_llama(), some_tokens(n=4)
    read = tokens
    for _ in range(6):
        read = torch.cat([read, model(read)[:, -1:].argmax(dim=-1)], dim=1)
    written = read[:, 4:]
    assert torch.equal(model.greedy(tokens, 6), written)
    end = int(written[0, 2])
    stopped = model.greedy(tokens, 6, end)
    for row, whole in zip(stopped.tolist(), written.tolist(), strict=True):
        position = whole.index(end) if end in whole else len(whole)
        assert row == (whole[: position + 1] + [end] * 6)[: stopped.size(1)]
    assert model.greedy(tokens[:1], 6, end).size(1) == written[0].tolist().index(end) + 1
    assert model.greedy(tokens, 0).shape == (3, 0)


def test_every_weight_counts_and_learns() -> None:
    for tied in (True, False):
        model = make_llama(tied=tied)
        head = WIDTH // HEADS
        layer = 2 * WIDTH * HEADS * head + 2 * WIDTH * SHARED * head + 3 * WIDTH * INNER + 2 * WIDTH
        expected = VOCAB * WIDTH * (1 if tied else 2) + LAYERS * layer + WIDTH
        assert sum(weight.numel() for weight in model.parameters()) == expected
        model(some_tokens()).square().mean().backward()
        assert all(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in model.parameters())


def test_what_is_not_given_follows_from_what_is() -> None:
    model = Llama(VOCAB, WIDTH, 1, HEADS)
    attention = model.layers[0].attention
    assert attention.key.weight.shape == attention.query.weight.shape == (WIDTH, WIDTH)
    assert model.layers[0].feed_forward.up.weight.shape == (8 * WIDTH // 3, WIDTH)
    wide = Llama(VOCAB, 10, 1, 4, d_head=6)  # no equal parts of 10 are needed then
    assert wide(some_tokens()).shape == (3, 8, VOCAB)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_kv_heads": 4}, "6 query heads cannot share 4 heads of keys and values equally"),
        ({"n_heads": 5, "n_kv_heads": 5}, "d_model 24 has no equal part for each of 5 heads: say d_head"),
        ({"n_heads": 8, "n_kv_heads": 8}, "a head of 3 numbers has one left over"),
    ],
)
def test_heads_that_cannot_share_are_refused(options: dict[str, int], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Llama(**{"vocab_size": VOCAB, "d_model": WIDTH, "n_layers": 1, "n_heads": HEADS, **options})  # type: ignore[arg-type]


def test_too_many_tokens_and_padding_in_front_are_refused() -> None:
    model, context = make_llama(max_len=8), Context(cache={})
    model(some_tokens(), context=context)
    with pytest.raises(ValueError, match="9 tokens are more than max_len=8, for which the model was made"):
        model(some_tokens(n=1), context=context)
    with pytest.raises(ValueError, match=r"give lengths \(b,\), not a mask"):
        model(some_tokens(), torch.zeros(3, 8, dtype=torch.bool))
