"""The loop learns, says what it did, and goes on where it stopped, bit for bit."""

import copy
import math
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from helpers import training
from helpers.batches import Batch, Batches, for_classifier, for_language_model, for_translation
from helpers.corpora import Split
from helpers.models import Classifier, EncoderDecoder, LanguageModel, TransformerBase
from helpers.training import evaluate, predict, schedule, train
from helpers.vocabulary import Vocabulary

CPU = torch.device("cpu")
TIMES = ["seconds", "tokens_per_second"]


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def split_of(role: str, count: int = 48) -> Split:
    """Texts of 2 to 7 letters; the label says whether the first one is a vowel."""
    generator = torch.Generator().manual_seed(len(role))
    rows = []
    for _ in range(count):
        length = int(torch.randint(2, 8, (), generator=generator))
        letters = ["aeiouxyz"[int(i)] for i in torch.randint(8, (length,), generator=generator)]
        text = "".join(letters)
        rows.append({"text": text, "label": int(text[0] in "aeiou"), "en": text, "fr": text[::-1]})
    return Split(f"letters/{role}", role, pd.DataFrame(rows))  # type: ignore[arg-type]


LETTERS = Vocabulary("aeiouxyz", "character")
ENCODE = {
    "language_model": for_language_model(LETTERS),
    "classifier": for_classifier(LETTERS),
    "translation": for_translation(LETTERS, LETTERS),
}


def batches_of(loss: str, role: str = "train", **options: object) -> Batches:
    settings = {"token_budget": 40, **options}
    return Batches(split_of(role), ENCODE[loss], **settings)  # type: ignore[arg-type]


def model_of(loss: str, dropout: float = 0.1) -> nn.Module:
    torch.manual_seed(0)
    if loss == "translation":
        return EncoderDecoder(12, 12, 16, 1, 2, dropout=dropout)
    base = TransformerBase(12, 16, 2, 2, dropout=dropout)
    return LanguageModel(base) if loss == "language_model" else Classifier(base)


def fit(model: nn.Module, loss: str, **options: object) -> pd.DataFrame:
    settings = {"device": CPU, "progress": False, "epochs": 3, **options}
    batches = settings.pop("batches", None) or batches_of(loss)
    return train(model, batches, loss, **settings)  # type: ignore[arg-type]


def same(first: nn.Module, second: nn.Module) -> bool:
    pairs = zip(first.state_dict().values(), second.state_dict().values(), strict=True)
    return all(one.equal(other) for one, other in pairs)


@pytest.mark.parametrize("loss", ["language_model", "classifier", "translation"])
def test_it_learns(loss: str) -> None:
    model = model_of(loss)
    before = evaluate(model, batches_of(loss), loss)  # type: ignore[arg-type]
    history = fit(model, loss, epochs=25, learning_rate=1e-2, valid=batches_of(loss, "valid"))
    after = evaluate(model, batches_of(loss), loss)  # type: ignore[arg-type]
    assert after["loss"] < before["loss"] - 0.2
    assert after["accuracy"] > before["accuracy"]
    assert history["loss"].iloc[-1] < history["loss"].iloc[0]
    assert (history["perplexity"] - history["loss"].map(math.exp)).abs().max() < 1e-9
    assert history["epoch"].tolist() == list(range(1, 26))
    assert history["step"].is_monotonic_increasing
    names = {"loss", "perplexity", "accuracy", "valid_loss", "valid_accuracy", "learning_rate"}
    assert names <= {*history}
    assert (history["tokens_per_second"] > 0).all()
    assert history["seconds"].is_monotonic_increasing


def test_what_follows_an_epoch_joins_the_history() -> None:
    found = iter([0.25, 0.5, 0.75])
    history = fit(model_of("classifier"), "classifier", after_epoch=lambda: {"bleu": next(found)})
    assert history["bleu"].tolist() == [0.25, 0.5, 0.75]


def test_losses_are_torchs_own() -> None:
    """The padding-free short cut gives what the plain way gives."""
    for loss in ("language_model", "translation"):
        model = model_of(loss).eval()
        for batch in batches_of(loss):
            given = (batch.source, batch.tokens) if loss == "translation" else (batch.tokens,)
            lengths = (batch.source_lengths,) if loss == "translation" else (batch.lengths,)
            plain = F.cross_entropy(model(*given, *lengths).flatten(0, 1), batch.target.flatten())
            logits, targets = training.SCORES[loss](model, batch)
            torch.testing.assert_close(F.cross_entropy(logits, targets), plain)


def test_evaluation_weighs_every_place_alike() -> None:
    model = model_of("language_model", dropout=0.5)
    model.train()
    small = evaluate(model, batches_of("language_model", token_budget=9), "language_model")
    large = evaluate(model, batches_of("language_model", token_budget=999), "language_model")
    assert small == pytest.approx(large, rel=1e-5)
    assert model.training


def test_predictions_come_in_the_order_of_the_rows() -> None:
    model = model_of("classifier")
    batches = batches_of("classifier")
    logits = predict(model, batches)
    model.eval()
    for row, example in enumerate(batches.examples):
        alone = model(torch.tensor([example.tokens]))
        torch.testing.assert_close(logits[row : row + 1], alone.detach())


def test_the_same_seed_gives_the_same_run() -> None:
    first, second, other = (model_of("classifier", 0.3) for _ in range(3))
    valid = batches_of("classifier", "valid")
    histories = [
        fit(model, "classifier", valid=valid, seed=seed).drop(columns=TIMES)
        for model, seed in ((first, 1), (second, 1), (other, 2))
    ]
    pd.testing.assert_frame_equal(histories[0], histories[1], check_exact=True)
    assert same(first, second)
    assert not same(first, other)


def interrupt_at(step: int) -> Callable[[nn.Module, Batch], tuple[Tensor, Tensor]]:
    """The classifier's score, during which somebody presses Ctrl-C once."""
    count = 0

    def score(model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        nonlocal count
        count += model.training
        if count == step and model.training:
            signal.raise_signal(signal.SIGINT)
        return training.score_classifier(model, batch)

    return score


STEPS = len(batches_of("classifier"))


@pytest.fixture
def _ctrl_c_interrupts() -> Iterator[None]:
    """Whoever starts the tests in the background may have told all of them to ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_ctrl_c_interrupts")
@pytest.mark.parametrize("stop", [1, STEPS - 1, STEPS, STEPS + 2, 2 * STEPS])
def test_ctrl_c_and_resume_change_no_bit(stop: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings: dict[str, object] = {
        "valid": batches_of("classifier", "valid"),
        "patience": 2,
        "log_every": 3,
        "factor": schedule("linear", 5, 4 * STEPS),
        "epochs": 4,
        "learning_rate": 0.02,
    }
    whole = model_of("classifier", 0.3)
    expected = fit(whole, "classifier", **settings)

    path = tmp_path / "run.pt"
    stopped = model_of("classifier", 0.3)
    batches = batches_of("classifier")
    part = train(stopped, batches, interrupt_at(stop), device=CPU, progress=False,
                 checkpoint=path, **settings)  # type: ignore[arg-type]  # fmt: skip
    assert part["step"].iloc[-1] == stop
    assert f"Stopped after step {stop}; resume=True goes on" in capsys.readouterr().out
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    torch.manual_seed(99)
    resumed = Classifier(TransformerBase(12, 16, 2, 2, dropout=0.3))  # other weights
    history = fit(resumed, "classifier", checkpoint=path, resume=True, **settings)
    columns = [name for name in expected if name not in TIMES]
    pd.testing.assert_frame_equal(history[columns], expected[columns], check_exact=True)
    assert same(resumed, whole)
    assert [file.name for file in tmp_path.iterdir()] == ["run.pt"]


@pytest.mark.usefixtures("_ctrl_c_interrupts")
def test_a_second_ctrl_c_stops_at_once() -> None:
    def score(model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        for _ in range(2):
            signal.raise_signal(signal.SIGINT)
        return training.score_classifier(model, batch)

    with pytest.raises(KeyboardInterrupt):
        train(model_of("classifier"), batches_of("classifier"), score, epochs=1, progress=False)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_run_goes_on_with_more_epochs(tmp_path: Path) -> None:
    path = tmp_path / "run.pt"
    whole, parts = model_of("language_model"), model_of("language_model")
    fit(whole, "language_model", epochs=4)
    fit(parts, "language_model", epochs=2, checkpoint=path)
    assert len(fit(parts, "language_model", epochs=4, checkpoint=path, resume=True)) == 4
    assert same(whole, parts)


def test_a_checkpoint_is_whole_or_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.pt"
    fit(model_of("classifier"), "classifier", checkpoint=path)
    before = path.read_bytes()

    def full_disk(_: object, file: object) -> None:
        file.write(b"half")  # type: ignore[attr-defined]
        raise OSError("No space left on device")

    monkeypatch.setattr(torch, "save", full_disk)
    with pytest.raises(OSError, match="No space left"):
        fit(model_of("classifier"), "classifier", checkpoint=path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["run.pt"]


def test_a_checkpoint_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.pt"
    fit(model_of("classifier"), "classifier", checkpoint=path)
    for model, loss, seed in (
        (Classifier(TransformerBase(12, 16, 1, 2)), "classifier", 0),
        (model_of("classifier"), "classifier", 5),
    ):
        with pytest.raises(ValueError, match=r"cannot go on from .*run\.pt: .*Delete it"):
            fit(model, loss, checkpoint=path, resume=True, seed=seed)
    path.write_bytes(b"not a checkpoint")
    with pytest.raises(ValueError, match=r"cannot go on from .*run\.pt"):
        fit(model_of("classifier"), "classifier", checkpoint=path, resume=True)


def test_early_stop_goes_back_to_the_best_weights() -> None:
    model = model_of("classifier", 0.0)
    valid = batches_of("classifier", "valid")
    valid.examples = [type(e)(e.tokens, 1 - int(e.target)) for e in valid.examples]  # type: ignore[arg-type]
    history = fit(model, "classifier", valid=valid, patience=2, epochs=50, learning_rate=0.01)
    assert len(history) == 3  # learning makes it worse from the first epoch on
    assert evaluate(model, valid, "classifier")["loss"] == history["valid_loss"].min()


def test_splits_are_not_mixed_up() -> None:
    for role in ("valid", "test", "other"):
        with pytest.raises(ValueError, match=f"letters/{role} has the role '{role}'"):
            fit(model_of("classifier"), "classifier", batches=batches_of("classifier", role))
    with pytest.raises(ValueError, match="letters/test has the role 'test', but 'valid' is needed"):
        fit(model_of("classifier"), "classifier", valid=batches_of("classifier", "test"))


def test_frozen_weights_stay() -> None:
    model: Any = model_of("classifier")
    model.base.requires_grad_(False)
    before = copy.deepcopy(model)
    fit(model, "classifier")
    assert same(model.base, before.base)
    assert not same(model.head, before.head)


def test_norms_and_biases_are_not_decayed() -> None:
    models = [model_of("language_model", 0.0) for _ in range(2)]
    for model, decay in zip(models, (0.0, 0.5), strict=True):
        for weight in model.parameters():
            weight.data += 0.1  # a bias of 0 has nothing to lose
        batches = batches_of("language_model", token_budget=9999)  # one step
        assert len(fit(model, "language_model", batches=batches, epochs=1, log_every=1, weight_decay=decay)) == 1
    for (name, free), decayed in zip(models[0].named_parameters(), models[1].parameters(), strict=True):
        assert free.equal(decayed) == (free.dim() == 1), name


def test_a_model_without_matrices_to_train_trains_its_biases() -> None:
    model: Any = model_of("classifier")
    before = copy.deepcopy(model)
    for weight in model.parameters():
        weight.requires_grad_(weight.dim() == 1)
    fit(model, "classifier")
    assert same(model.base.embedding, before.base.embedding)
    assert not model.head.bias.equal(before.head.bias)


def test_what_goes_wrong_gets_a_sentence() -> None:
    batches = batches_of("classifier")

    def no_memory(model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")

    def not_a_number(model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        logits, target = training.score_classifier(model, batch)
        return logits * math.nan, target

    def wrong_shape(model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        return torch.randn(2, 3) @ torch.randn(2, 3), batch.target

    for score, kind, sentence in (
        (no_memory, MemoryError, r"a batch of \d+ x \d+ tokens does not fit .* lower token_budget"),
        (not_a_number, FloatingPointError, r"the loss is nan after step \d+: lower learning_rate"),
        (wrong_shape, RuntimeError, "shapes cannot be multiplied"),
        ("perplexity", ValueError, "no loss 'perplexity': take one of language_model, classifier"),
    ):
        with pytest.raises(kind, match=sentence):
            fit(model_of("classifier"), score, batches=batches)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="patience needs valid"):
        fit(model_of("classifier"), "classifier", patience=1)


def test_no_step_waits_for_a_number() -> None:
    """What makes a GPU wait, reading a number, happens per row of the history, not per step."""

    class Reads(TorchDispatchMode):
        count = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.count += func in (
                torch.ops.aten._local_scalar_dense.default,
                torch.ops.aten.nonzero.default,
                torch.ops.aten.is_nonzero.default,
            )
            return func(*args, **(kwargs or {}))

    batches = batches_of("language_model")
    ready = list(batches)
    batches.collate = lambda rows: ready[0]  # type: ignore[method-assign]
    counts = []
    for budget in (40, 12):
        batches.token_budget = budget
        with Reads() as reads:
            fit(model_of("language_model"), "language_model", batches=batches, epochs=1)
        counts.append(reads.count)
    assert counts[0] == counts[1]


def test_schedules() -> None:
    linear = schedule("linear", 4, 12)
    assert [linear(step) for step in (0, 1, 3, 4, 8, 12, 99)] == [0.25, 0.5, 1, 1, 0.5, 0, 0]
    assert [schedule("constant", 2)(step) for step in (0, 1, 50)] == [0.5, 1, 1]
    cosine = schedule("cosine", 0, 10)
    assert [round(cosine(step), 6) for step in (0, 5, 10)] == [1, 0.5, 0]
    square = schedule("inverse_sqrt", 4)
    assert [square(3), square(15)] == [1, 0.5]
