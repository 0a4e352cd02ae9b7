"""What `helpers` does on a device that is not the processor; `test_stand_in_device.py` runs it in its own process.

COURSE_DEVICE=standin pytest tests/helpers/on_stand_in_device.py
COURSE_DEVICE=cuda pytest tests/helpers/on_stand_in_device.py       # on a machine with a GPU, in float32
"""

from __future__ import annotations

import copy
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers import device as device_module
from helpers import plots
from helpers.batches import Batch, Batches, for_answers, for_classifier, for_language_model, for_translation
from helpers.corpora import Split, load
from helpers.device import SETTING, bf16_pays, choose_device, explain_device, set_seed
from helpers.models import (
    Classifier,
    Context,
    EncoderDecoder,
    LanguageModel,
    MaskedLanguageModel,
    Positions,
    TransformerBase,
)
from helpers.training import evaluate, predict, schedule, train
from helpers.vocabulary import Vocabulary
from tests.helpers import stand_in_device
from tutor.checking import plain

if os.environ.get(SETTING, "cpu") == "cpu":
    pytest.skip(f"runs where {SETTING} is {stand_in_device.NAME}, or names a GPU", allow_module_level=True)

STANDS_IN = os.environ[SETTING] == stand_in_device.NAME
DEVICE, CPU = stand_in_device.install() if STANDS_IN else choose_device(), torch.device("cpu")
ROOT = Path(__file__).resolve().parents[2]
about_the_stand_in = pytest.mark.skipif(not STANDS_IN, reason="says what the stand-in device is and refuses")


@pytest.fixture(autouse=True)
def in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers of the processor are float32, also where bfloat16 would pay."""
    monkeypatch.setattr(device_module, "bf16_pays", lambda device: False)


TOKENS = torch.tensor([[1, 5, 6, 7], [1, 8, 0, 0]])  # (b, n), padded with 0
LENGTHS = torch.tensor([4, 2])
SMALL: dict[str, Any] = {"d_model": 8, "n_layers": 2, "n_heads": 2, "dropout": 0.0}


# The device itself: it refuses what a GPU refuses, and its numbers are those of the processor.


class LeavesTheMaskBehind(nn.Module):
    """Makes a new tensor in each call, on the processor."""

    def forward(self, x: Tensor) -> Tensor:
        """Returns `(n, n)`."""
        return (x @ x.T + torch.full((len(x), len(x)), -torch.inf).triu(1)).softmax(dim=-1)


class ForgetsTheBuffer(nn.Module):
    """Has a tensor that neither is a parameter nor a buffer, so that it does not move with the module."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.table = torch.zeros(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        """Returns `(n, 3)`."""
        return x * self.weight + self.table


def _trains_with_targets_left_behind(x: Tensor) -> Tensor:
    return F.cross_entropy(nn.Linear(3, 2).to(DEVICE)(x), torch.zeros(4, dtype=torch.long))


def _adds_to_sums_left_behind(x: Tensor) -> Tensor:
    sums = torch.zeros(3)
    sums += x.sum(dim=0)
    return sums


WRONG: dict[str, Callable[[Tensor], Any]] = {
    "a mask made on the processor": lambda x: LeavesTheMaskBehind().to(DEVICE)(x),
    "a tensor that is no buffer": lambda x: ForgetsTheBuffer().to(DEVICE)(x),
    "a model left behind": lambda x: nn.Linear(3, 2)(x),
    "a batch left behind": lambda x: nn.Linear(3, 2).to(DEVICE)(x.cpu()),
    "tokens left behind": lambda x: nn.Embedding(9, 3).to(DEVICE)(TOKENS),
    "targets left behind": _trains_with_targets_left_behind,
    "sums left behind": _adds_to_sums_left_behind,
    "places left behind": lambda x: x[torch.arange(2)],
    "a boolean index left behind": lambda x: x[torch.tensor([True, False, True, False])],
    "an index for index_select left behind": lambda x: x.index_select(0, torch.tensor([1])),
    "places left behind in an assignment": lambda x: x.index_put_((torch.tensor([1]),), x[0]),
    "a choice between both devices": lambda x: torch.where(x > 0, x, torch.zeros(4, 3)),
    "a row of both devices": lambda x: torch.cat([x, torch.zeros(1, 3)]),
    "a stack of numbers of both devices": lambda x: torch.stack([x[0, 0], torch.tensor(1.0)]),
    "a comparison of both devices": lambda x: torch.equal(x, torch.zeros(4, 3)),
    "a result for the processor": lambda x: torch.add(x, x, out=torch.zeros(4, 3)),
    "random numbers by the other generator": lambda x: torch.randn(3, device=DEVICE, generator=torch.Generator()),
    "draws by the other generator": lambda x: torch.multinomial(x.abs() + 1, 1, generator=torch.Generator()),
    "numpy": lambda x: x.numpy(),
    "numpy of what has a gradient": lambda x: (x * 2).detach().numpy(),
    "an array of it": lambda x: np.asarray(x),
    "an array of its numbers": lambda x: np.array([x[0, 0], x[0, 1]]),
    "a plot of it": lambda x: plt.figure().add_subplot().plot(x[:, 0]),
}


@about_the_stand_in
@pytest.mark.parametrize("fault", WRONG)
def test_code_that_mixes_devices_fails(fault: str) -> None:
    with pytest.raises((RuntimeError, TypeError), match=r"same device|to numpy|device type for generator"):
        WRONG[fault](torch.ones(4, 3, device=DEVICE))
    plt.close("all")


RIGHT: dict[str, Callable[[Tensor], Any]] = {
    "copies": lambda x: torch.zeros(4, 3).copy_(x) + x.cpu() + torch.ones(1).to(x).cpu(),
    "shapes that change in place": lambda x: x.index_fill(0, torch.tensor([1], device=x.device), 2.0).t_().squeeze_(),
    "a number of the processor": lambda x: x * torch.tensor(2.0),
    "numbers to read": lambda x: (x.tolist(), x[0, 0].item(), f"{x[0, 0]:.2f}", bool(x[0, 0] > 0), len(x)),
    "made from lists": lambda x: torch.tensor([[1.0, 2.0], [3.0, 4.0]], device=x.device),
    "made like it": lambda x: (torch.zeros_like(x), x.new_full((2,), 3.0), torch.arange(5, device=x.device)),
    "views that are written": lambda x: x.view(6, 2).T[0].add_(1).new_tensor(x[0].tolist()),
    "numpy of a copy": lambda x: x.cpu().numpy(),
    "quantiles, sorted, counted": lambda x: (x.quantile(0.5), x.sort().values, x.flatten().long().bincount()),
}


@pytest.mark.parametrize("way", RIGHT)
def test_right_code_gives_the_numbers_of_the_processor(way: str) -> None:
    def numbers(value: Any) -> Any:
        if isinstance(value, tuple):
            return [numbers(part) for part in value]
        return value.tolist() if isinstance(value, Tensor | np.ndarray) else value

    x = torch.arange(12.0).view(4, 3)
    assert numbers(RIGHT[way](x.to(DEVICE))) == numbers(RIGHT[way](x.clone()))


def test_a_module_moves_with_what_is_shared_and_comes_back() -> None:
    model = nn.Sequential(nn.Embedding(9, 4), nn.Linear(4, 9, bias=False))
    model[1].weight = model[0].weight
    optimizer = torch.optim.AdamW(model.parameters())
    model.to(DEVICE)
    assert model[1].weight is model[0].weight
    assert optimizer.param_groups[0]["params"][0] is model[0].weight
    assert copy.deepcopy(model)[0].weight.device.type == DEVICE.type
    assert type(model.cpu()[0].weight) is nn.Parameter


def test_the_device_has_random_numbers_of_its_own() -> None:
    set_seed(3)
    first, on_processor = torch.rand(3, device=DEVICE), torch.rand(3)
    set_seed(3)
    assert torch.equal(torch.rand(3), on_processor)  # what the device draws does not change it
    assert torch.equal(torch.rand(3, device=DEVICE), first)


# The course's helpers.


@about_the_stand_in
def test_the_setting_names_the_device() -> None:
    assert choose_device() == DEVICE
    assert explain_device(DEVICE) == (
        "Device standin: an accelerator that PyTorch knows, float32, because COURSE_DEVICE says so."
    )
    assert not bf16_pays(DEVICE)
    with pytest.raises(RuntimeError, match="finds 1 standin device on this machine"):
        choose_device("standin:1")


def _on_both(build: Callable[[], nn.Module], run: Callable[[Any, torch.device], Tensor]) -> None:
    """Says that a model computes the same on both devices, forwards and backwards."""
    torch.manual_seed(0)
    model = build()
    moved = copy.deepcopy(model).to(DEVICE)
    result, wanted = run(moved, DEVICE), run(model, CPU)
    assert result.device.type == DEVICE.type
    torch.testing.assert_close(result.cpu(), wanted)
    if wanted.requires_grad:
        wanted.square().mean().backward()
        result.square().mean().backward()
        for (name, mine), other in zip(moved.named_parameters(), model.parameters(), strict=True):
            assert (mine.grad is None) == (other.grad is None), name
            if mine.grad is not None and other.grad is not None:
                torch.testing.assert_close(mine.grad.cpu(), other.grad)


PADDINGS: dict[str, Callable[[torch.device], Tensor | None]] = {
    "none": lambda device: None,
    "lengths": lambda device: LENGTHS.to(device),
    "mask": lambda device: (TOKENS == 0).to(device),
}


@pytest.mark.parametrize("positions", get_args(Positions))
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("padding", PADDINGS)
def test_models_compute_the_same(positions: Positions, causal: bool, padding: str) -> None:
    def base() -> TransformerBase:
        return TransformerBase(12, positions=positions, causal=causal, max_len=16, **SMALL)

    def run(model: Any, device: torch.device) -> Tensor:
        logits: Tensor = model(TOKENS.to(device), PADDINGS[padding](device))
        return logits

    def look(model: Any, device: torch.device) -> Tensor:
        return torch.stack(model.attention_maps(TOKENS.to(device), PADDINGS[padding](device)))

    _on_both(lambda: Classifier(base()), run)
    _on_both(lambda: LanguageModel(base()) if causal else MaskedLanguageModel(base()), run)
    _on_both(base, look)


@pytest.mark.parametrize("positions", get_args(Positions))
def test_translation_computes_the_same(positions: Positions) -> None:
    def build() -> nn.Module:
        return EncoderDecoder(12, 12, positions=positions, **SMALL)

    _on_both(build, lambda m, device: m(TOKENS.to(device), TOKENS.to(device), LENGTHS.to(device), LENGTHS.to(device)))
    _on_both(build, lambda m, device: m.greedy(TOKENS.to(device), LENGTHS.to(device), 1, 2, 5))

    def token_by_token(model: Any, device: torch.device) -> Tensor:
        context = model.encode(TOKENS.to(device), (TOKENS == 0).to(device))
        context.cache = {}
        return torch.cat([model.decode(TOKENS[:, i : i + 1].to(device), context) for i in range(4)], dim=1)

    _on_both(build, token_by_token)


LETTERS = Vocabulary("aeiouxyz", "character", mask=True)


def _split(role: str, count: int = 24) -> Split:
    draw = np.random.default_rng(len(role))
    texts = ["".join(draw.choice(list("aeiouxyz"), size=draw.integers(2, 8))) for _ in range(count)]
    rows = [{"text": t, "label": int(t[0] in "aeiou"), "en": t, "fr": t[::-1], "question": t, "answer": t[0]}
            for t in texts]  # fmt: skip
    return Split(f"letters/{role}", role, pd.DataFrame(rows))  # type: ignore[arg-type]


TASKS: dict[str, tuple[Any, Any, Callable[[], nn.Module]]] = {
    "language_model": (
        "language_model",
        for_language_model(LETTERS),
        lambda: LanguageModel(TransformerBase(len(LETTERS), 8, 1, 2, dropout=0.0)),
    ),
    "answers": (
        "language_model",
        for_answers(LETTERS),
        lambda: LanguageModel(TransformerBase(len(LETTERS), 8, 1, 2, dropout=0.0, positions="rotary")),
    ),
    "classifier": (
        "classifier",
        for_classifier(LETTERS),
        lambda: Classifier(TransformerBase(len(LETTERS), 8, 1, 2, dropout=0.0, positions="alibi", causal=False)),
    ),
    "translation": (
        "translation",
        for_translation(LETTERS, LETTERS),
        lambda: EncoderDecoder(len(LETTERS), len(LETTERS), 8, 1, 2, dropout=0.0),
    ),
}


def _run_of(task: str, device: torch.device | None, **options: Any) -> tuple[nn.Module, pd.DataFrame]:
    loss, encode, build = TASKS[task]
    set_seed(0)
    model = build()
    train_options = {"epochs": 2, "learning_rate": 1e-2, "progress": False, "device": device, **options}
    batches = Batches(_split("train"), encode, token_budget=40)
    return model, train(model, batches, loss, **train_options)


@pytest.mark.parametrize("task", TASKS)
def test_training_and_evaluation_give_the_numbers_of_the_processor(task: str) -> None:
    loss, encode, _ = TASKS[task]
    options = {"valid": Batches(_split("valid"), encode), "patience": 2, "factor": schedule("linear", 2, 20)}
    model, history = _run_of(task, None, log_every=3, **options)  # None: the setting decides
    other, wanted = _run_of(task, CPU, log_every=3, **options)
    assert next(model.parameters()).device.type == DEVICE.type
    times = ["seconds", "tokens_per_second"]
    pd.testing.assert_frame_equal(history.drop(columns=times), wanted.drop(columns=times), rtol=1e-4)
    test = Batches(_split("test"), encode)
    assert evaluate(model, test, loss) == pytest.approx(evaluate(other, test, loss), rel=1e-4)


def test_predictions_come_back_to_the_processor() -> None:
    (model, _), (other, _) = _run_of("classifier", None), _run_of("classifier", CPU)
    batches = Batches(_split("test"), TASKS["classifier"][1])
    torch.testing.assert_close(predict(model, batches), predict(other, batches), rtol=1e-3, atol=1e-5)


def test_batches_that_change_are_made_on_the_processor() -> None:
    def hide(batch: Batch, generator: torch.Generator) -> Batch:
        hidden = torch.rand(batch.tokens.shape, generator=generator) < 0.3
        batch.tokens = batch.tokens.masked_fill(hidden, 4)
        return batch

    batches = Batches(_split("train"), TASKS["language_model"][1], token_budget=40, change=hide)
    model = MaskedLanguageModel(TransformerBase(len(LETTERS), 8, 1, 2, causal=False))
    history = train(model, batches, "language_model", epochs=1, progress=False)
    assert np.isfinite(history["loss"]).all()
    for batch in batches:
        moved = batch.to(DEVICE)
        places = [value for value in vars(moved).values() if isinstance(value, Tensor)]
        assert {value.device.type for value in places} == {DEVICE.type}
        assert batch.tokens.device == CPU


def test_a_run_that_stops_goes_on_with_the_same_numbers(tmp_path: Path) -> None:
    encode = TASKS["language_model"][1]

    def run(path: Path, interrupted_at: int) -> pd.DataFrame:
        set_seed(0)
        model = LanguageModel(TransformerBase(len(LETTERS), 8, 1, 2, dropout=0.3)).to(DEVICE)
        steps = [0]

        def score(model: Any, batch: Batch) -> tuple[Tensor, Tensor]:
            steps[0] += 1
            if steps[0] == interrupted_at:
                signal.raise_signal(signal.SIGINT)
            return (
                model.head(model.base(batch.tokens, batch.lengths).flatten(0, 1)[batch.scored]),
                batch.target.flatten()[batch.scored],
            )

        batches = Batches(_split("train"), encode, token_budget=40)
        return train(model, batches, score, epochs=2, progress=False, checkpoint=path, resume=True)

    whole = run(tmp_path / "whole.pt", interrupted_at=0)
    run(tmp_path / "parts.pt", interrupted_at=3)
    parts = run(tmp_path / "parts.pt", interrupted_at=0)
    assert parts["loss"].iloc[-1] == whole["loss"].iloc[-1]
    state = torch.load(tmp_path / "parts.pt", map_location="cpu", weights_only=True)
    assert {weight.device for weight in state["model"].values()} == {CPU}
    LanguageModel(TransformerBase(len(LETTERS), 8, 1, 2)).load_state_dict(state["model"])


def test_a_corpus_of_the_course_is_read_on_it() -> None:
    corpus = load("reviews_fr")
    vocabulary = Vocabulary.learn(corpus.train["text"], min_count=2)
    model = Classifier(TransformerBase(len(vocabulary), 8, 1, 2)).to(DEVICE)
    batches = Batches(corpus.test, for_classifier(vocabulary), token_budget=4096)
    assert 0 <= evaluate(model, batches, "classifier")["accuracy"] <= 1


def test_figures_take_tensors_of_the_device() -> None:
    square = torch.full((3, 3), -torch.inf, device=DEVICE).triu(1)
    weights = square.softmax(dim=-1).requires_grad_()
    runs = torch.rand(2, 3, device=DEVICE)
    for shown in (square, weights, weights > 0.4):
        axes = plots.matrix(shown, "a mask", digits=1)
        assert len(axes.images) == 1
        assert plots.describe_matrix(shown, "It") == plots.describe_matrix(shown.detach().cpu(), "It")
    large = torch.arange(16.0, device=DEVICE).view(4, 4)
    assert plots.describe_matrix(large, "It") == "It: a matrix of 4 rows and 4 columns, values from 0 to 15."
    for lines in ({"runs": runs}, {"run": runs[0]}, {"numbers": [runs[0, 0], runs[0, 1], runs[0, 2]]}):
        x = torch.arange(3, device=DEVICE)
        axes = plots.curves(lines, x, title="runs", x_label="step", y_label="loss")
        assert axes.lines
        assert plots.describe_curves(lines, x, "step").startswith(next(iter(lines)))
    assert plots.clock({"hand": runs[0, :2].requires_grad_()}, "a clock").lines
    plt.close("all")


def test_a_check_reads_answers_of_the_device() -> None:
    x = torch.arange(6.0).view(2, 3)
    assert plain.encode(x.to(DEVICE).T) == plain.encode(x.T)


def test_attention_can_be_kept() -> None:
    maps: dict[nn.Module, Tensor] = {}
    model = LanguageModel(TransformerBase(12, 8, 1, 2)).to(DEVICE)
    model(TOKENS.to(DEVICE), LENGTHS.to(DEVICE), Context(maps=maps))
    assert {value.device.type for value in maps.values()} == {DEVICE.type}


LIGHT = ("00_start_here", "01_causal_mask", "05_parameter_counts")


@pytest.mark.parametrize("notebook", LIGHT)
def test_a_light_notebook_runs(notebook: str) -> None:
    from tests.helpers.notebooks_on_device import run_notebook  # it needs what builds the notebooks

    run_notebook(ROOT / "solutions" / f"{notebook}.py")
