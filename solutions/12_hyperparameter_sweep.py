# ---
# jupyter:
#   course:
#     teaches: a sweep that can be interrupted, and what a failed run died of
#     part: translation
#     column: 3
#     row: 2
#     builds_on: ["11", "05"]
#     running: 3
#     questions:
#       - Which settings, and why?
#       - Does a model overfit, underfit, or does it not train at all?
#       - Why does a deep post-norm model need a warm-up?
#   jupytext:
#     notebook_metadata_filter: course
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 12 · A hyper-parameter sweep
#
# Somebody trains four translation models of growing size. Of the first three, each has a higher BLEU than the one before, the fourth and deepest one is clearly worse, and the report says: *it overfits*. The sentence sounds so natural that nobody asks whether it is true.
#
# In this notebook you run such a sweep yourself, in a way that survives interruptions. You learn to tell from two curves what is wrong with a run, you meet a deep model that fails in the way of the published one, and you repair it.
#
# **When you are done, you can**
# - count the parameters of an encoder-decoder of any size before you train it;
# - run a sweep that can be stopped at any moment and goes on where it was;
# - tell overfitting, underfitting and a failure to train from one another, and say which evidence decides;
# - make a deep post-norm model train, by warm-up or by moving its norms, and show over several seeds that it helps;
# - choose a setting by a rule that you can defend.
#
# **Time**: about 2 h 45 min. **Before this**: notebooks 03 (post-norm and pre-norm), 05 (counting) and 11 (translation, BLEU).
#
# | exercise | what it asks | points |
# |---|---|---|
# | `translator_total` | a formula: the parameters of an encoder-decoder | 2 |
# | `run_sweep` | a sweep that can be interrupted | 5 |
# | `diagnose` | what is wrong with a run, from its curves | 4 |
# | `warmup` | a learning rate that starts small | 3 |
# | `choose_setting` | the smallest setting that is as good as the best | 3 |
# | *essay* `claim_essay` | what is wrong with the published sentence | 2 |
# | *essay* `setting_essay` | choose a setting and defend it | 2 |
# | **total** | | **21** |
#
# Folded cells are experiments: no mark depends on them.

# %% setup
import hashlib
import json
import math
import tempfile
from pathlib import Path

import pandas as pd
import sympy
import torch
from tqdm.auto import tqdm

from helpers import plots
from tutor import by_hand, check, guess, hint, resume, reveal
from helpers.batches import Batches, for_translation
from helpers.bleu import bleu
from helpers.corpora import Split, load
from helpers.device import choose_device
from helpers.models import EncoderDecoder
from helpers.training import train
from helpers.vocabulary import EOS, SOS, Vocabulary

# %% [markdown]
# ## 1. Four settings, a log and a sentence
#
# The numbers of this section come from a published student report on a translation sweep. It prints its whole log, and the course keeps it in `data/published_sweep`: training loss and training accuracy after each of ten epochs, and what was
# measured at the end on the *dev* part, as validation is called there. It numbers its four settings; we call them *shallow*, *middle*, *wide* and *deep*. BLEU is given as a fraction, as in the report: 0.3854 is what others write as 38.54.

# %% experiment
# @title The four published settings, and what was measured at the end
published = load("published_sweep")
NAMES = ("shallow", "middle", "wide", "deep")  # ours
logs = {name: log for name, (_, log) in zip(NAMES, published["epochs"].rows.groupby("setting"))}
ends = published["ends"].rows.assign(setting=NAMES).set_index("setting")

last = pd.DataFrame({name: log.iloc[-1] for name, log in logs.items()}).T
table = ends[["layers", "heads", "width", "dropout"]].assign(**{
    "training loss": last["training_loss"].map("{:.3f}".format),
    "training accuracy": last["training_accuracy"].map("{:.1f} %".format),
    "dev loss": ends["dev_loss"].map("{:.3f}".format),
    "dev accuracy": ends["dev_accuracy"].map("{:.1f} %".format),
    "BLEU": ends["bleu"].map("{:.4f}".format),
    "minutes of training": [f"{log['seconds'].sum() / 60:.0f}" for log in logs.values()],
    "minutes of decoding": (ends["decoding_seconds"] / 60).map("{:.1f}".format),
})
table.T

# %% experiment
# @title Published: loss and accuracy on the training set after each epoch
figure, (left, right) = plots.panels(2, width=4.2, height=3.4)
published_losses = {name: log["training_loss"].tolist() for name, log in logs.items()}
published_accuracies = {name: log["training_accuracy"].tolist() for name, log in logs.items()}
plots.curves(published_losses, range(1, 11), title="Published: loss on the training set",
             x_label="epoch", y_label="loss (as logged)", axes=left)
plots.curves(published_accuracies, range(1, 11), title="Published: accuracy on the training set",
             x_label="epoch", y_label="accuracy (%, as logged)", axes=right)
left.set_ylim(0, 3.5)
plots.show(figure, f"Loss: {plots.describe_curves(published_losses, range(1, 11), 'epoch')} Accuracy in "
           f"per cent: {plots.describe_curves(published_accuracies, range(1, 11), 'epoch')}")

# %% [markdown]
# In both panels three curves move steadily, and *deep* lies flat. About it the report says that the 6-layer model **overfits**, though its training accuracy stays at 63.7 % and its training loss at 2.9.
#
# ### By hand: what do these two numbers say?
#
# A model that overfits has learned the training set by heart: on sentences it has seen ten times, it is nearly always right and nearly always sure. Compute the perplexity of this one, $e^{2.9}$: among how many words does it
# hesitate, so to speak, on the sentences that it has seen ten times? Write a number in place of the dots, or leave them and go on.

# %% guess
guess("the perplexity of the deepest run on its training set", ...)

# %% experiment
# @title The deepest run on its own training set
failed = logs["deep"]
loss, share = failed["training_loss"].iloc[-1], failed["training_accuracy"].iloc[-1] / 100
print(f"perplexity on the training set: {math.exp(loss):.1f}")
print(f"words of the training set that it gets wrong: {1 - share:.1%}")
print(f"training loss after epochs 1, 2 and 10: {failed['training_loss'].iloc[0]:.2f}, "
      f"{failed['training_loss'].iloc[1]:.2f}, {loss:.2f}; last / first: "
      f"{loss / failed['training_loss'].iloc[0]:.2f}")

# %% reveal
reveal("the perplexity of the deepest run on its training set", math.exp(loss))

# %% [markdown]
# It hesitates as if among 18 or 19 words, and gets more than every third word wrong, on what it should know by heart. Its loss *rises* in the second epoch, and in ten epochs it falls by 3 per cent. Keep this in mind; whether there is a better word for it than *overfits* is the question of this notebook.
#
# ## 2. How large are they?
#
# "Deeper" and "wider" are two ways of being larger. Before training, count. An encoder-decoder (`EncoderDecoder` in `helpers/models.py`) has an embedding for each language, $M$ encoder layers, $M$ decoder layers and a head, with $S$ words in the source language and $V$ in the
# target language. In notebook 05 you counted a layer whose feed-forward part is as wide as the model, $F = D$: $6D^2 + 10D$. A decoder layer has one part more.
#
# **By hand**, for $S = 7$, $V = 9$, $D = 4$, $M = 1$: the embeddings have $(7 + 9) \cdot 4 = 64$ parameters, the encoder layer $6 \cdot 16 + 10 \cdot 4 = 136$, the head $4 \cdot 9 + 9 = 45$. What does a decoder layer have? List its parts first: how many matrices, how many biases, how many norms? Then write the number of all parameters of the model.

# %% by_hand
by_hand("translator_total", ...)  # all parameters, for S = 7, V = 9, D = 4, M = 1

# %% [markdown]
# The decoder layer has 224, so that together there are 469. Now for any size.

# %% setup
S, V, D, M, A = sympy.symbols("S V D M A", positive=True, integer=True)  # A: number of heads


# %% exercise="translator_total"
def translator_total() -> sympy.Expr:
    """Returns the number of parameters of an encoder-decoder as a formula.

    The letters: S words in the source, V in the target language, width D, M layers in the
    encoder and M in the decoder, A heads; feed-forward of width F = D, sinusoidal positions,
    post-norm. Example: 469 for S = 7, V = 9, D = 4, M = 1.
    """
    ### BEGIN SOLUTION
    attention, feed_forward, norm = 4 * (D**2 + D), 2 * (D**2 + D), 2 * D
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm  # it reads the encoder, too
    embeddings, head = (S + V) * D, V * (D + 1)
    return embeddings + M * (encoder_layer + decoder_layer) + head
    ### END SOLUTION


# %% [markdown]
# Before the sweep, four more questions about the table and the curves of section 1. Note what you think, on paper; section 4 comes back to them.
#
# 1. Which of the four runs get far more words right in their training set than in the dev part?
# 2. *Middle* has the lowest dev loss, *wide* the highest BLEU. Can both be right?
# 3. *Deep* takes eight times as long to decode as *wide*. What could make it so slow?
# 4. On the dev part, *deep* has a loss of 4.775 and gets 63 % of the words right, with a BLEU of 0.3154. Do these three values go together? If the right words cost nothing, what does each wrong one cost on average?
#
# The sweep of this notebook comes in two sizes. `"small"` takes three to five minutes on a laptop, for all trainings of this notebook together: the four settings with about a tenth of the width, and short sentences of the course's own corpus. `"full"` takes the widths of the table, and real captions of pictures (29,000 pairs); it needs a GPU.
#
# (Without one, try it on a CPU with many cores: `from helpers.device import set_threads` and `set_threads()` give PyTorch all the cores it may use; for small models the course sets one thread, which is fastest.)
#
# **Changing this one line is all it takes:**

# %% experiment open=true
size = "small"  # or "full", for a GPU

# %% experiment
# @title What the two sizes are: corpus, widths, heads, rate, epochs
SIZES = {
    "small": {"corpus": "translation_en_fr", "pairs": 1500, "longest": 7, "min_count": 1,
              "widths": (48, 72), "heads": (4, 6),
              "rate": 2.5e-3, "token_budget": 512, "epochs": 5, "warmup": 60},
    "full": {"corpus": "multi30k_en_fr", "pairs": 29_000, "longest": 50, "min_count": 2,
             "widths": (512, 768), "heads": (8, 12),
             "rate": 1e-3, "token_budget": 8192, "epochs": 10, "warmup": 1000},
}  # fmt: skip
plan = SIZES[size]

# %% experiment open=true
narrow = {"heads": plan["heads"][0], "width": plan["widths"][0]}
broad = {"heads": plan["heads"][1], "width": plan["widths"][1]}
usual = {"norm": "post", "warmup": 0, "seed": 0}  # as in the report: no warm-up
SETTINGS = [
    {"name": "shallow", "layers": 2, **narrow, "dropout": 0.1, **usual},
    {"name": "middle", "layers": 4, **narrow, "dropout": 0.2, **usual},
    {"name": "wide", "layers": 4, **broad, "dropout": 0.2, **usual},
    {"name": "deep", "layers": 6, **broad, "dropout": 0.1, **usual},
]

# %% experiment
# @title The pairs and the words of this sweep
corpus = load(plan["corpus"])
english, french = (Vocabulary.learn(corpus.train[language], min_count=plan["min_count"])
                   for language in ("en", "fr"))


def shorter(split: Split, pairs: int) -> Split:
    """Returns the first pairs of a split whose English side has at most `longest` words."""
    fits = split.rows["en"].map(lambda text: len(english.split(text)) <= plan["longest"])
    return Split(split.name, split.role, split.rows[fits].head(pairs).reset_index(drop=True))


train_pairs, dev_pairs = shorter(corpus.train, plan["pairs"]), shorter(corpus.valid, 250)
test_pairs = shorter(corpus.test, 250)
print(f"{len(train_pairs):,} pairs to learn from, {len(dev_pairs)} of dev, {len(test_pairs)} of test")
print(f"{len(english):,} English and {len(french):,} French words, such as: "
      f"{train_pairs['en'][0]} = {train_pairs['fr'][0]}")

# %% experiment
# @title Parameters of the four settings: counted, by your formula, and at full size
def new_model(setting: dict) -> EncoderDecoder:
    """Returns a new model of a setting, with the first weights of its seed."""
    torch.manual_seed(setting["seed"])
    shape = setting["width"], setting["layers"], setting["heads"]
    return EncoderDecoder(len(english), len(french), *shape,
                          dropout=setting["dropout"], norm_first=setting["norm"] == "pre")


from helpers.formulas import in_letters

rows, formula = [], in_letters(translator_total(), S, V, D, M, A)
for setting, width in zip(SETTINGS, (512, 512, 768, 768)):
    numel = sum(parameter.numel() for parameter in new_model(setting).parameters())
    sizes = {S: len(english), V: len(french),
             D: setting["width"], M: setting["layers"], A: setting["heads"]}
    full = {S: 6000, V: 7000, D: width, M: setting["layers"], A: setting["heads"]}  # S and V: a guess
    published_sizes = []
    for inner in (width, 2048, 4 * width):  # F: the report does not say; each layer has 2DF + F of it
        wider = 2 * setting["layers"] * (2 * width + 1) * (inner - width)
        published_sizes.append(f"{int(formula.subs(full)) + wider:,}")
    rows.append((setting["name"], f"{numel:,}", f"{int(formula.subs(sizes)):,}", *published_sizes))
columns = ["setting", "numel", "your formula",
           "published width, F = D", "published width, F = 2,048", "published width, F = 4D"]
pd.DataFrame(rows, columns=columns).set_index("setting")

# %% [markdown]
# The three columns on the right are guesses, since the report gives neither its vocabularies (we take 6,000 and 7,000 words) nor its `hidden_dim`, the width $F$ of the feed-forward part, which it names among its hyper-parameters. The second guess weighs more: *deep* has 72.1 million parameters at $F = D$, as your formula has it, 95.7 million at $F = 2{,}048$, as in the paper of 2017, and 114.6 million at $F = 4D$. For *shallow* it is 18.7, 25.0 and 25.0 million.
#
# From *shallow* to *deep* the models grow by a factor of about four, for any of these guesses (3.8 to 4.6). The four settings differ in **four** things (depth, width, number of heads, dropout): from *shallow* to *middle* two of them change, from *middle* to *wide* two (a head keeps its width of 64), from *wide* to *deep* two. So, whatever comes out, no single one of them can be named as the reason. That is a first weakness of the published table.
#
# (The report gives three reasons why *wide* wins: its width, its heads, and a depth that it calls optimal. To say so, one would need runs in which one of these alone changes, and more seeds than one: section 7 has them, at our size.)
#
# ## 3. A sweep that can be interrupted
#
# Ten epochs of the published settings took 10 to 28 minutes each by the report's log, an hour and a quarter for all four; with more data, more seeds or a slower machine it is hours. In that time, things happen: somebody presses Ctrl-C, a laptop is closed, Colab takes its GPU back. A sweep that keeps its table in a variable and shows it at the end loses everything. The one in the picture loses at most one training.

# %% experiment
# @title The loop of a sweep that can be stopped at any moment
from helpers.diagrams import Diagram

picture = Diagram(4.2, 2.9)
picture.column(1.35, 0.3, [
    ("settings", "the next setting", "data"), ("asked", "is it in the table?", "data"),
    ("trained", "train it", "part"), ("added", "a row more in the table", "data"),
], step=0.75, width=1.75)
picture.box("saved", (3.45, 2.55), "file", "data", width=0.75)
picture.arrow("added", "saved")
picture.note((2.3, 2.68), "save", va="bottom")
picture.note((1.43, 1.43), "no, or changed since")
picture.around("asked", "settings", reach=1.15)
picture.note((2.58, 0.68), "yes")
picture.around("added", "settings", reach=-1.1)
picture.show(
    "A loop. The next setting: is it in the table? If yes, go on to the next one. If not, or if it has "
    "changed since, train it, add a row to the table, and save the table to a file before the next."
)

# %% [markdown]
# The rules of a sweep that can be trusted:
# 1. **Save after every training**, before the next one begins. (A `finally:` is not enough: when the machine goes off, nothing is executed any more. To save more often than that does no harm.)
# 2. **Do not train again** what is in the table.
# 3. Except when the setting has *changed* since: same name, other dropout. Its old row is about another model; it stays in the table until the new one is there.
# 4. Let an interruption pass. If you press Ctrl-C, you want to stop. What was interrupted leaves **no row**: the next run would take it for finished, and it has no result.
#
# So that your function can be tried in a millisecond, it does not know how a setting is trained and where a table is saved. It gets two functions for it:
# `train_one(setting)` returns the result of a training as a dict, and `save(table)` writes the whole table (it replaces what was saved before).
#
# ### By hand
#
# The table on disk has a row for *middle*. The sweep has the settings *shallow, middle, wide, deep*, and is interrupted while it trains *wide*. Write down the calls of `train_one` and `save` of this run in their order, as a list of texts "train NAME" or "save". Then think through a second run that is not interrupted.

# %% by_hand
by_hand("run_sweep", ...)  # the calls of the first run, a list of "train NAME" and "save"

# %% [markdown]
# The first run trains *shallow*, saves, and begins to train *wide*. The second one trains *wide*, saves, trains *deep*, and saves. So four trainings are begun in all, and three calls of `save` are made.

# %% exercise="run_sweep"
def run_sweep(settings: list[dict], train_one, finished: dict[str, dict], save) -> list[dict]:
    """Trains what is not finished, saves after each training, and returns all rows.

    Args:
        settings: dicts, each with a "name" of its own and more entries, such as "layers" and "dropout",
            whose values may be numbers, texts, None or lists.
        train_one: function of a setting that returns its result, a dict. It may take hours.
        finished: name -> row, of earlier runs, maybe of other sweeps too. A row holds the entries
            of its setting and those of its result; it counts if it has each entry of the setting
            with the same value; one that is None may also be missing. You may write into it.
        save: function of a table, name -> row, that replaces what was saved before.

    Returns:
        One row {**setting, **result} for each setting, in the order of the settings. A new row takes the
        place of an old one of the same name, in the table as well; until it is there, the old one stays.
        What stops train_one, Ctrl-C or an error, passes to the caller; called again with the same
        arguments, it trains that setting anew.
    """
    ### BEGIN SOLUTION
    table = dict(finished)
    for setting in settings:
        row = table.get(setting["name"], {})
        if any(row.get(key) != value for key, value in setting.items()):  # None may be missing
            table[setting["name"]] = {**setting, **train_one(setting)}
            save(table)  # now, not at the end
    return [table[setting["name"]] for setting in settings]
    ### END SOLUTION


# %% [markdown]
# Here are the two runs of the *by hand* paragraph, with a stand-in for training that is interrupted once. The table is a file this time; `save_table` writes a second file first and then puts it in the place of the old one, so that there is a whole table on disk at every moment.

# %% experiment
# @title How a table is written to a file and read again
def save_table(path: Path, table: dict[str, dict]) -> None:
    """Writes a table: whole, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".half")
    half.write_text(json.dumps(table, indent=1), encoding="utf-8")
    half.replace(path)


def load_table(path: Path) -> dict[str, dict]:
    """Returns the table that was saved, or an empty one."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


# %% experiment
# @title The two runs of the example, with a stand-in for training
def interrupted_day(path: Path) -> None:
    """Runs the sweep twice with a stand-in for training: the first run is interrupted while
    it trains `wide`."""
    save_table(path, {"middle": {**SETTINGS[1], "dev_bleu": 20.0}})
    for run in (1, 2):
        def stand_in(setting: dict, run=run) -> dict:
            print("training", setting["name"])
            if run == 1 and setting["name"] == "wide":
                raise KeyboardInterrupt
            return {"dev_bleu": 10.0 * setting["layers"]}

        try:
            rows = run_sweep(SETTINGS, stand_in, load_table(path), lambda table: save_table(path, table))
            print("run 2 returns:", {row["name"]: row["dev_bleu"] for row in rows})
        except KeyboardInterrupt:
            print("run 1 is interrupted; on disk there are:", ", ".join(load_table(path)))


with tempfile.TemporaryDirectory() as folder:
    interrupted_day(Path(folder) / "table.json")

# %% [markdown]
# ### The real thing
#
# `bleu` is what you wrote in notebook 11, in its shortest form, from `helpers.bleu`. With one function more the sweep can start: `train_one` builds the model of a setting, trains it, and returns what goes into the table. It keeps a checkpoint after each epoch, so that even a single
# training goes on where it stopped.

# %% experiment
# @title How a model is scored, and where tables and checkpoints are kept
@torch.no_grad()
def score_bleu(model: EncoderDecoder, pairs: Split) -> float:
    """Returns the BLEU of greedy translations, on lower-case words."""
    device, found = next(model.parameters()).device, {}
    model.eval()
    for on_cpu in Batches(pairs, encode, token_budget=8192):
        batch = on_cpu.to(device)
        numbers = model.greedy(batch.source, batch.source_lengths, SOS, EOS, max_len=plan["longest"] + 10)
        for row, written in zip(on_cpu.rows.tolist(), numbers.tolist()):
            found[row] = [french.tokens[number] for number in written if number != EOS]
    return bleu([found[row] for row in range(len(pairs))], [french.split(text) for text in pairs["fr"]])


encode = for_translation(english, french)
device = choose_device() if size == "full" else torch.device("cpu")  # small models do not need a GPU
# a fixed folder outlives the kernel
folder = Path("sweep_full") if size == "full" else Path(tempfile.mkdtemp())

# %% experiment
# @title How one setting is trained, with a checkpoint after each epoch
def train_one(setting: dict, bar: tqdm) -> dict:
    """Trains the model of a setting and returns its curves, its scores, its size and its time."""
    model, name = new_model(setting), setting["name"]
    # of the whole setting: a changed one must not go on from the weights of the old one
    mark = hashlib.sha256(json.dumps(setting, sort_keys=True).encode()).hexdigest()[:8]
    checkpoint = folder / f"{name} {mark}.pt"
    batches = Batches(train_pairs, encode, plan["token_budget"], seed=setting["seed"])
    factor = (lambda step: warmup(step + 1, setting["warmup"], 1.0)) if setting["warmup"] else None
    bar.set_description(name)
    history = train(
        model, batches, "translation", epochs=plan["epochs"], learning_rate=plan["rate"], factor=factor,
        valid=Batches(dev_pairs, encode, 8192), seed=setting["seed"], device=device, progress=False,
        after_epoch=lambda: {"shown": bar.update()}, checkpoint=checkpoint, resume=True,
    )  # fmt: skip
    if history.get("valid_loss", pd.Series(dtype=float)).count() < plan["epochs"]:
        # `train` ends its step and returns what it has: that is no finished setting
        raise KeyboardInterrupt
    for row in history.itertuples():
        tqdm.write(f"{name:16} epoch {row.epoch}  step {row.step:5,}"
                   f"  loss {row.loss:.2f}  perplexity {row.perplexity:6.1f}"
                   f"  dev loss {row.valid_loss:.2f}  accuracy {row.accuracy:.1%}")
    return {
        "train_loss": history["loss"].tolist(), "dev_loss": history["valid_loss"].tolist(),
        "train_accuracy": history["accuracy"].iloc[-1], "dev_bleu": score_bleu(model, dev_pairs),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "seconds": history["seconds"].iloc[-1], "checkpoint": checkpoint.name,
    }  # fmt: skip

# %% [markdown]
# Now the four settings, with one progress bar over settings and epochs. Press the stop button in the middle if you like, and run the cell again: it goes on where it was. Which of the four will have the highest BLEU on the dev part, after five epochs?

# %% guess
guess("the setting with the highest BLEU", ..., among=["shallow", "middle", "wide", "deep"])

# %% measured
# @title The sweep over four settings: losses, perplexity and accuracy by epoch
def sweep(settings: list[dict]) -> list[dict]:
    """Runs a sweep whose table lies in `folder`, with a progress bar over settings and epochs."""
    path = folder / "table.json"
    known = load_table(path)
    missing = [one for one in settings
               if any(known.get(one["name"], {}).get(key) != value for key, value in one.items())]
    with tqdm(total=len(missing) * plan["epochs"], unit="epoch") as bar:
        return run_sweep(settings, lambda setting: train_one(setting, bar), known,
                         lambda table: save_table(path, table))


rows = sweep([*SETTINGS])

# %% measured
# @title The table of the sweep
def show_table(rows: list[dict]) -> pd.DataFrame:
    """Returns the table of a sweep: parameters, time, losses, accuracy and BLEU."""
    table = pd.DataFrame(rows).set_index("name")
    table["train loss"], table["dev loss"] = (
        table[f"{part}_loss"].map(lambda losses: losses[-1]) for part in ("train", "dev")
    )
    table = table.rename(columns={"train_accuracy": "train accuracy", "dev_bleu": "dev BLEU"})
    shown = table[["parameters", "seconds", "train loss", "dev loss", "train accuracy", "dev BLEU"]]
    return shown.round({"seconds": 1, "train loss": 2, "dev loss": 2, "train accuracy": 3, "dev BLEU": 1})


show_table(rows)

# %% measured
# @title Training loss and dev BLEU of the four settings
epochs = range(1, plan["epochs"] + 1)
figure, (left, right) = plots.panels(2, width=4.2, height=3.4)
losses = {row["name"]: row["train_loss"] for row in rows}
plots.curves(losses, epochs, title="Loss on the training set",
             x_label="epoch", y_label="loss (nats per word)", axes=left)
left.set_xticks(list(epochs))
names, scores = [row["name"] for row in rows], [row["dev_bleu"] for row in rows]
bars = right.bar(names, scores, color=plots.COLOURS[: len(names)])
right.bar_label(bars, fmt="%.1f")
right.set(title="BLEU on the dev part", ylabel="BLEU (0 to 100)", ylim=(0, 1.15 * max(scores) + 1))
told = [f"{name} {score:.0f}" for name, score in zip(names, scores)]
plots.show(figure, f"Left, training loss: {plots.describe_curves(losses, epochs, 'epoch', digits=2)} "
           f"Right, BLEU: {', '.join(told)}.")

# %% reveal
reveal("the setting with the highest BLEU", max(rows, key=lambda row: row["dev_bleu"])["name"])

# %% [markdown]
# Look at the training curve of *deep*. It is not that this model knows the training set and nothing else: of the four, it knows the training set **least**. Its curve goes down to a certain level and lies there. (What level is that? A model that has not yet learned to look at the English
# sentence can still learn which French words are frequent, and what often follows what.)
#
# BLEU alone would not have told you. It is 0 as long as no run of four words is right, so at our small budget *middle* and *wide* have a BLEU of 0 or little more, just like *deep*. But they are on their way: their losses fall from epoch to epoch. **A final score cannot tell a run that needs more time from a run that is lost; the curves can.**
#
# And look at *shallow*. Its training accuracy ends near that of the published *deep*, at about 64 % in our run, and nobody would say that it overfits: its dev loss is even *below* its training loss (which is measured with dropout), and both still fall.
#
# Read this picture as what it is: a sweep **at one learning rate and with one seed**, and a short one. It imitates the last row of the published table, the run that does not train. It does not imitate the first three: there, each setting had a higher BLEU than the one before; here, at five epochs, *shallow* is the only one that translates.
#
# ## 4. What is wrong with this run?
#
# First, what overfitting really looks like. We take the *shallow* setting without dropout, give it only 60 pairs, and let it read them 50 times.

# %% measured
# @title What overfitting looks like: 60 pairs, read 50 times
few = Split("translation/few", "train", train_pairs.rows.head(60))
model = new_model({**SETTINGS[0], "dropout": 0.0})
overfitting = train(model, Batches(few, encode, 512), "translation", epochs=50, learning_rate=3e-3,
                    valid=Batches(dev_pairs, encode, 8192), device=torch.device(device))
found = {"training set": overfitting["loss"], "dev part": overfitting["valid_loss"]}
steps = overfitting["epoch"].tolist()
axes = plots.curves(found, steps, title="Overfitting: 60 pairs, read 50 times",
                    x_label="epoch", y_label="loss (nats per word)")
plots.show(axes.figure, plots.describe_curves(found, steps, "epoch", digits=2))
print(f"at the end: training accuracy {overfitting['accuracy'].iloc[-1]:.1%}, "
      f"training loss {overfitting['loss'].iloc[-1]:.2f}")

# %% [markdown]
# *This* is what the word means: the training set is known by heart (accuracy near 100 %, loss near 0), while the dev loss has turned and rises. Two observations are needed for it. Of the published *deep* run the first one is missing: its training accuracy is 63.7 %. The second one cannot be made for any of the four, since the report gives the dev loss of the last epoch only.
#
# > **A mistake worth making once.** "BLEU on new sentences is low, and the model is large: so it overfits." A bad score on new sentences has at least three possible reasons, and they call for opposite remedies:
# >
# > | | training loss | dev loss | what helps |
# > |---|---|---|---|
# > | **overfits** | low | has turned, and rises | more data, more dropout, stop earlier, a *smaller* model |
# > | **underfits** | falls | still falls | more epochs, a *larger* model, less dropout |
# > | **fails to train** | has not fallen, or is no number | of no interest | another learning rate, warm-up, pre-norm |
# >
# > If you believe in the first one, you reach for more dropout and a smaller model, and the real problem stays where it is.
#
# ### Exercise: the diagnosis
#
# Two lists, one loss for each epoch. Four questions, in this order; the numbers are conventions, but one has to choose some:
# 1. Is the last training loss **not** at most 80 % of the first one? Then it *fails to train*. (Mind NaN, with which every comparison is False.)
# 2. Is the last dev loss more than 10 % above the lowest one? Then it *overfits*.
# 3. Is the last dev loss more than 5 % below the one before? Then it *underfits*.
# 4. Else it *fits*.

# %% exercise="diagnose"
def diagnose(train_loss: list[float], dev_loss: list[float]) -> str:
    """Returns "fails to train", "overfits", "underfits" or "fits", by the four questions above.

    Args:
        train_loss, dev_loss: one mean loss for each epoch (nats per word), at least 3 epochs;
            a training loss may be NaN in any epoch but the first, a dev loss only in a run that
            fails to train. Only the bound of 80 % may be met exactly.

    Example: diagnose([4.0, 2.0, 1.0], [4.1, 3.0, 3.5]) is "overfits".
    """
    ### BEGIN SOLUTION
    if not train_loss[-1] <= 0.8 * train_loss[0]:  # also for NaN
        return "fails to train"
    if dev_loss[-1] > 1.1 * min(dev_loss):
        return "overfits"
    if dev_loss[-1] < 0.95 * dev_loss[-2]:
        return "underfits"
    return "fits"
    ### END SOLUTION


# %% measured
# @title Your diagnosis of the five runs
for row in rows:
    print(f"{row['name']:20} {diagnose(row['train_loss'], row['dev_loss'])}")
print(f"{'60 pairs, 50 times':20} "
      f"{diagnose(overfitting['loss'].tolist(), overfitting['valid_loss'].tolist())}")

# %% [markdown]
# (If *middle* is said to *fit*, your function is not wrong: the dev loss of that run fell by less than 5 % in its last epoch. The rule does not see that it is still high; section 6 comes back to this.)

# %% [markdown] pause
# You have a sweep that survives interruptions, and a function that says what is wrong with a run. What comes next is to try it on the published runs, to repair the deep model, and to choose a setting.

# %% [markdown]
# ### The four published runs
#
# Your function wants two curves. The report has the training loss of all epochs, and the dev loss of the last epoch only. So let us *imagine* the nine that are missing, in three ways: the dev loss lay at its last value all the time, it was a fifth lower once and has turned, or it has fallen by a tenth in
# every epoch. Where your function says the same in all three cases, the log decides. Where it does not, the log cannot.

# %% experiment
# @title Your diagnosis of the published runs, for three courses of the dev loss
imagined = {"has lain still": [1.0] * 10,
            "has turned": [1.1, 0.9, 0.8, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99, 1.0],
            "still falls": [0.9 ** (epoch - 9) for epoch in range(10)]}  # in units of the last dev loss
columns = {}
for way, course in imagined.items():
    dev_losses = {name: [ends["dev_loss"][name] * part for part in course] for name in NAMES}
    verdicts = [diagnose(published_losses[name], dev_losses[name]) for name in NAMES]
    columns[f"if the dev loss {way}"] = verdicts
pd.DataFrame(columns, index=NAMES)

# %% [markdown]
# The next table sets the training set against the dev part, and takes up question 4 of section 2: if the right words cost nothing, what does each wrong one of *deep* cost on average, in nats?

# %% guess
guess("the loss of each wrong word of deep, if right ones cost nothing (nats)", ...)

# %% experiment
# @title The published runs: training set against dev part
compared = {"dev loss - training loss": ends["dev_loss"] - last["training_loss"],
            "dev loss / training loss": ends["dev_loss"] / last["training_loss"],
            "training accuracy - dev accuracy": last["training_accuracy"] - ends["dev_accuracy"],
            "dev perplexity": ends["dev_loss"].map(math.exp),
            "loss per wrong word of dev, if right ones cost nothing":
                ends["dev_loss"] / (1 - ends["dev_accuracy"] / 100)}
pd.DataFrame(compared).astype(float).round(1).T

# %% reveal
of_wrong_ones = compared["loss per wrong word of dev, if right ones cost nothing"]["deep"]
reveal("the loss of each wrong word of deep, if right ones cost nothing (nats)", of_wrong_ones)

# %% [markdown]
# For *deep* it does not matter what the dev loss did: this run **fails to train**. For the other three, the log leaves everything open.
#
# See which of the runs have the gap: *shallow*, *middle* and *wide* get 90 % of the training words right and about 75 % of the dev words, and their dev loss is about five times their training loss. If any of the four has overfitted, it is one of these.
#
# *Deep* gets about as many new words right as words of its training set (63.3 and 63.7 %). By its losses it has a gap as well (1.9, with 1.5 to 1.7 for the others), but a gap alone proves nothing: most good models have one. To overfit is to know the training set too well, and "it overfits" was said of the one run that
# does not know it.
#
# Now the other questions of section 2. The report does not show its program, so these are questions with likely answers, and no more.
#
# - **Middle or wide?** The loss asks how probable the *right* next word is when all words before it are right; BLEU compares what the model writes by itself. They need not agree (notebook 11). The report supposes that *wide* "likely handles longer, more complex sentence structures better"; nothing in its log looks at sentences by length (section 6 of notebook 11 shows how one would). One run each, and differences of 0.13 and 0.006: nobody knows whether a second seed would reverse either of them.
# - **Slow decoding.** A model that hardly ever writes `<eos>` writes up to the longest length allowed, in each sentence. *Deep* may be such a model; its log would fit.
# - **Three values.** A loss of 4.775 is a perplexity of 119. If 63 % of the words were right and cost nothing, each of the others would have to cost 13 nats: the right word would get a probability of about one in 450,000, less than by guessing among all words of most vocabularies.
#
#   It looks as if the accuracy counts something that the loss does not, padding for example, which is easy to predict. The training curve says the same: between 63.3 and 64.0 % in all ten epochs, as if nothing had to be learned for it.
#
#   In the same way, a BLEU of 0.3154 hardly goes with such a loss. Section 6 of notebook 11 shows ways of counting that make it possible: special tokens that count as words, smoothing, a mean over sentences. Which one it was cannot be known from here. So this BLEU does **not** tell us that the model has learned to translate.
#
# ### Essay
#
# In at most ten lines, in English or in French: **what is wrong with the sentence "the 6-layer model overfits"?** Say which evidence of the log speaks against it, which evidence would be needed *for* it, what you would call the run instead and how sure you are, and what the wrong word would have cost.

# %% [markdown] essay="claim_essay"
# **Rubric** (half a point for each, 2 points in all)
#
# - *Against it*: after ten epochs the training loss is 2.92 (perplexity 18.5) and the training accuracy 63.7 %; the loss has risen in the second epoch and fallen by 3 % in all. A model that overfits is nearly always right on the training set. In accuracy it is the run with the smallest gap between training and dev (0.4 points; the others have 15), and in loss its gap is about that of the others.
# - *What would be needed*: a training loss near 0 **and** a dev loss that has turned and rises; two curves, not one final score. The report gives the dev loss of the last epoch only, so overfitting could not be shown for any of the four.
# - *What it is instead*: it fails to train: the loss lies near its level of the first epoch for ten epochs, whatever the dev loss did. With reserve, and one reason for it: one run and one seed; the program is not shown; accuracy, dev loss and BLEU do not go together, so some of them may be counted in another way than one thinks. "Underfits" is accepted if the reason is given that the training loss is high.
# - *The cost*: the remedies are opposite. Against overfitting one takes a smaller model or more dropout; here the optimisation has to be repaired (warm-up, pre-norm, a smaller rate), and one would conclude wrongly that depth does not pay for this task.
#
# **Misconceptions that cost marks**: "it overfits because it has the most parameters"; "63.7 % is not bad"; "the dev score is lower than that of the others, so it overfits"; "a gap between training and dev loss is overfitting" (it is needed for it, and does not suffice); "BLEU 0.3154 shows that it has learned"; "dropout 0.1 was too low" (that would need a low training loss).
#
# **Answers as students write them**
#
# - *Full marks (2 of 2)*: "A model that overfits is nearly always right on the training set; this run has after ten epochs a training loss of
#   2.92 (a perplexity of 18.5) and 63.7 % of the training words right, and its loss rose in the second epoch and fell by 3 % in all. In accuracy it
#   has the smallest gap of the four, 0.4 points against 15. To show overfitting one would need a training loss near 0 and a dev loss that has turned and
#   rises; the report gives the dev loss of the last epoch only. I would say that the run fails to train, with reserve, as it is one run with one seed
#   and its accuracy, dev loss and BLEU do not go together. The wrong word costs the wrong remedy: one takes more dropout or a smaller model, when the
#   optimisation has to be repaired, with warm-up, pre-norm or a smaller rate, and one believes that depth does not pay." Why: All four lines.
# - *Half (1 of 2)*: "The 6-layer model does not overfit, because even on the training set it gets only 63.7 % of the words right and its loss is 2.92
#   after ten epochs, hardly less than at the start. Its dev accuracy, 63.3 %, is almost the same, while the others lose 15 points. If it did overfit,
#   dropout 0.1 was too low, and this would be the evidence that is needed. I would say that it underfits, like each model with a bad score. With the
#   right word one would have tried warm-up or pre-norm; with the wrong one, one takes a smaller model or more dropout, and these do not help here."
#   Why: *against it* and *the cost* (1). *What would be needed* names a misconception and neither a low training loss nor a dev loss that turns (0.5
#   lost); "underfits" counts only with the high training loss as its reason, and how sure one is is missing (0.5 lost).
# - *No marks (0 of 2)*: "The sentence is wrong because it is not proved, but it is probably true: the model has the most parameters and
#   large models overfit. Its dev score is lower than that of the others, which is overfitting, and its dev loss (4.8) is far above its training loss
#   (2.9). Still, 63.7 % is not bad, and BLEU 0.3154 shows that it has learned to translate. I would call it a model that overfits a little, and more
#   dropout would have helped." Why: Every sentence after the first clause is a misconception (parameters, lower dev score, a gap by itself, 63.7 %,
#   BLEU), and the remedy is the one that the wrong word leads to. "Not proved" does not say what a proof would need.

# %% [markdown]
# ## 5. Why a deep post-norm model does not start
#
# Notebook 03 looked into a stack of layers before its first step. In **post-norm**, $\operatorname{norm}(x + \text{part}(x))$, every norm stands on the path of the residual. That deep stacks of this kind need help at the start has been known since 2017 (Vaswani et al., section 5.3, use a warm-up); *why* is not settled. Three explanations:
#
# - **The gradients near the top are large at the start**, and a full learning rate makes steps that are too long there ([Xiong et al. 2020](https://arxiv.org/abs/2002.04745), who prove it for models with random weights).
# - **Adam does not know the usual size of the gradients yet**: its first steps rest on few gradients, and are too bold ([Liu et al. 2020](https://arxiv.org/abs/1908.03265), "RAdam"; [Ma and Yarats 2019](https://arxiv.org/abs/1910.04209) dispute it).
# - **The tokens have become alike.** In a deep post-norm stack with random weights, all tokens of a sentence point in nearly the same direction at the top. Attention then has nothing to tell apart, and queries and keys get hardly any gradient ([Noci et al. 2022](https://arxiv.org/abs/2206.03126); their figure 1 shows it for post-norm translation models).
#
# Two of them can be looked at before the first step: how alike are the decoder's tokens at its top (mean cosine between two words of a sentence), and how large is the gradient of its last feed-forward part? A cosine of 0 means that two words have nothing in common, and 1 that they point in the same direction.
#
# What does each explanation lead you to expect, with post-norm, from two layers to six? Which of the two columns will tell the six layers from the two more clearly? Write `"cosine"` or `"gradient"`.

# %% guess
guess("what tells six post-norm layers from two", ..., among=["cosine", "gradient"])

# %% experiment
# @title How a new decoder is looked at: cosines of its tokens, size of its gradients
def at_the_start(layers: int, norm: str, seeds: int = 3) -> tuple[float, float]:
    """Returns how alike tokens are at the top of a new decoder, and the gradient of its last part."""
    batch = next(iter(Batches(dev_pairs, encode, 2048)))
    alike, gradients = [], []
    for seed in range(seeds):
        model = new_model({**SETTINGS[-1], "layers": layers, "norm": norm, "seed": seed, "dropout": 0.0})
        context = model.encode(batch.source, batch.source_lengths)
        hidden = model.decoder(batch.tokens, batch.lengths, context)  # (b, n, d)
        unit = hidden[:, :4] / hidden[:, :4].norm(dim=-1, keepdim=True)  # four positions that all have
        cosines = unit @ unit.transpose(1, 2)  # (b, 4, 4)
        alike.append(cosines[:, ~torch.eye(4, dtype=torch.bool)].mean().item())
        logits = model.head(hidden).flatten(0, 1)[batch.scored]
        torch.nn.functional.cross_entropy(logits, batch.target.flatten()[batch.scored]).backward()
        last_part = [weight.grad for name, weight in model.decoder.layers[-1].named_parameters()
                     if "feed_forward" in name]
        gradients.append(math.sqrt(sum(float((part**2).sum()) for part in last_part)))
    return sum(alike) / seeds, sum(gradients) / seeds


# %% measured
# @title Before the first step: cosine between tokens, and gradient of the last part
found = {f"{norm}-norm, {layers} layers": at_the_start(layers, norm)
         for norm in ("post", "pre") for layers in (2, 4, 6)}
columns = ["cosine between tokens", "gradient, last feed-forward part"]
pd.DataFrame.from_dict(found, orient="index", columns=columns).round(2)

# %% reveal
growth = [six / two for six, two in zip(found["post-norm, 6 layers"], found["post-norm, 2 layers"])]
reveal("what tells six post-norm layers from two", "cosine" if growth[0] > growth[1] else "gradient")

# %% [markdown]
# **Tokens.** In our run the cosine of post-norm goes from 0.84 with two layers to 0.99 with four and 1.00 with six: at the top of the deep decoder every word looks like every other one. Pre-norm ends at 0.84.
#
# **Gradients.** Post-norm has the larger ones, and its lead grows with depth, from twice to nearly four times those of pre-norm, as Xiong et al. predict.
# But they do not grow from *shallow*, which trains, to *deep*, which does not (0.5 for both in our run); it is those of pre-norm that become smaller.
#
# So the tokens tell *shallow* from *deep* more clearly than the gradients do. This is still a look at the start, in small models: it shows what could go wrong, and not what did.
#
# Two repairs are known:
#
# - **warm-up**: let the rate start near 0 and rise: small steps until the stack has left its beginning, and Adam has seen some gradients;
# - **pre-norm**, $x + \text{part}(\operatorname{norm}(x))$: the path of the residual stays free.
#
# ### Exercise: warm-up
#
# The rate rises in a straight line to its `peak`, which it reaches at step $W$ (`warmup_steps`), and then falls like one over the square root of the step. Steps are counted from 1:
#
# $$ \text{rate}(t) = \text{peak} \cdot \min\left(\frac{t}{W},\ \sqrt{\frac{W}{t}}\right) $$
#
# **By hand**, with $W = 4$ and a peak of 1: what are the rates at steps 1, 2, 4 and 16? Write the last one.

# %% by_hand
by_hand("warmup", ...)  # the rate at step 16

# %% [markdown]
# They are a quarter, a half, 1 and a half. The paper writes the same as $d^{-0.5} \cdot \min(t^{-0.5}, t \cdot W^{-1.5})$: its peak is $d^{-0.5} \, W^{-0.5}$.

# %% exercise="warmup"
def warmup(step: int, warmup_steps: int, peak: float) -> float:
    """Returns the learning rate at a step: a straight rise to the peak, then 1 / sqrt(step).

    Args:
        step: counted from 1.
        warmup_steps: the step at which the peak is reached, 1 or more.
        peak: the highest rate.

    Example: warmup(1, 4, 1.0) is 0.25 and warmup(16, 4, 1.0) is 0.5.
    """
    ### BEGIN SOLUTION
    rising = step / warmup_steps
    falling = math.sqrt(warmup_steps / step)
    return peak * min(rising, falling)
    ### END SOLUTION


# %% [markdown]
# > **A trap.** `helpers.training.train` counts its steps from 0 and multiplies its learning rate by `factor(step)`. So `train_one` above says `warmup(step + 1, ..., peak=1.0)`. With `warmup(step, ...)` it would divide by zero at its very first step.
#
# Move the sliders, with the mouse or with the arrow keys: width and warm-up of the schedule of the paper. A longer warm-up makes the peak, at the dotted line, come later *and* lower. The static figure below shows the setting of the paper, $d = 512$ and $W = 4000$.

# %% interactive
# @title The learning rate of the paper: move width and warm-up
from ipywidgets import IntSlider, SelectionSlider, fixed, interact


def show_schedule(width: int, warmup_steps: int, top: float) -> None:
    """Draws the learning rate of the paper for a width and a warm-up, on an axis up to `top`."""
    peak = width**-0.5 * warmup_steps**-0.5
    steps = [1, *range(200, 20_001, 200)]
    lines = {f"d = {width}, W = {warmup_steps:,}": [warmup(step, warmup_steps, peak) for step in steps]}
    axes = plots.curves(lines, steps, title="The learning rate of the paper",
                        x_label="step", y_label="learning rate")
    axes.set_ylim(0, top)
    axes.axvline(warmup_steps, color="#555555", linestyle=":")
    plots.show(axes.figure, f"The rate rises in a straight line to {peak:.2g} at step {warmup_steps} "
               f"and falls to {lines.popitem()[1][-1]:.2g} at step 20000.")


widths = SelectionSlider(options=[128, 256, 512, 768, 1024], value=512, description="width d")
_ = interact(show_schedule, width=widths, top=fixed(0.003),
             warmup_steps=IntSlider(value=4000, min=1000, max=10_000, step=1000,
                                    description="W", continuous_update=False))

# %% experiment
# @title The learning rate of the paper, for width 512 and a warm-up of 4,000 steps
show_schedule(512, 4000, top=0.001)

# %% [markdown]
# ## 6. The repair, over three seeds
#
# One run proves nothing about depth, and one repaired run proves nothing about the repair. So: the *deep* setting, three times as it is, three times with warm-up, three times with pre-norm. All else is the same: the data, the number of steps, the highest learning rate. And because
# `run_sweep` takes any list of settings, this is just another sweep: *deep* with seed 0 is in the table already, and is not trained again. (After a pause the table is new, and it is.)
#
# Which of the two repairs will help more, and will all three seeds agree? Write `"warm-up"` or `"pre-norm"`.

# %% guess
guess("the repair that helps more", ..., among=["warm-up", "pre-norm"])

# %% measured
# @title The deepest setting as published and with warm-up, three seeds each
def versions(base: dict, **changes) -> list[dict]:
    """Returns a setting with some changes, for each of three seeds; what is unchanged keeps its name."""
    way = " ".join(f"{key} {value}" for key, value in changes.items())
    names = [" ".join(filter(None, (base["name"], way, f"seed {seed}" if seed else "")))
             for seed in range(3)]
    return [{**base, **changes, "name": name, "seed": seed} for seed, name in enumerate(names)]


shallow, deep = SETTINGS[0], SETTINGS[-1]
repairs = {"deep, as published": sweep(versions(deep)),
           "deep, warm-up": sweep(versions(deep, warmup=plan["warmup"]))}

# %% measured
# @title The deepest setting with pre-norm, three seeds
repairs["deep, pre-norm"] = sweep(versions(deep, norm="pre"))

# %% measured
# @title The deepest setting in three ways: training loss, dev BLEU and diagnosis
curves = {way: [row["train_loss"] for row in found] for way, found in repairs.items()}  # (seeds, epochs)
axes = plots.curves(curves, epochs, title="The deepest setting: mean and range of three seeds",
                    x_label="epoch", y_label="training loss (nats per word)")
axes.set_xticks(list(epochs))
plots.show(axes.figure, plots.describe_curves(curves, epochs, "epoch", digits=2))
for way, found in repairs.items():
    for row in found:
        print(f"{way:20} seed {row['seed']}  training loss {row['train_loss'][-1]:.2f}"
              f"  dev BLEU {row['dev_bleu']:5.1f}  {diagnose(row['train_loss'], row['dev_loss'])}")

# %% reveal
at_the_end = {
    way: sum(row["train_loss"][-1] for row in repairs[f"deep, {way}"]) for way in ("warm-up", "pre-norm")
}
reveal("the repair that helps more", min(at_the_end, key=at_the_end.get))

# %% [markdown]
# The same layers, the same data, the same dropout. As published, the mean loss falls in our run from 4.8 to 4.4, and each seed lies flat above 4. With warm-up it leaves that level, and with pre-norm it falls from the first epoch on. Had the model been *too large for its data*, neither could have helped: neither
# makes it smaller or gives it more data.
#
# > **Look at the words in the last column.** Some of the runs with warm-up may be said to *fit*, at a loss of 3 or more. The rule looks at shapes: the dev loss falls by less than 5 % in its last epoch, so it finds nothing to complain about. It does not know how low a loss could be; only the pre-norm runs next to it show that. A diagnosis from one run
# > alone can say that a run has come to rest, not that it rests in a good place.
#
# What this does **not** show: that the published run failed for the same reason. We do not have its program, and our models are ten times narrower. We have reproduced a failure that gives the same picture, and two repairs that could have been tried in an afternoon.
#
# ## 7. Which setting?
#
# Now choose. A sweep has two temptations at its end:
#
# - **to choose on test.** The best of many settings by test score has no honest number left: part of that score is luck, and luck does not repeat itself. Choose on dev; report test once, for the chosen one.
# - **to choose the highest number.** 41.3 against 41.1, with a seed that moves the result by 1: that is nothing. The *one-standard-error rule* (Hastie, Tibshirani and Friedman, *The Elements of Statistical Learning*, section 7.10) takes the **smallest** setting whose mean is at most one standard error below the best mean.
#
# The standard error of the mean of $n$ runs is their standard deviation (with $n - 1$) divided by $\sqrt{n}$. **By hand**: which of these four settings does the rule take?
#
# | setting | parameters | dev BLEU, three seeds |
# |---|---|---|
# | tiny | 1 million | 34, 35, 36 |
# | small | 2 million | 40, 40.3, 40.6 |
# | middle | 3 million | 40, 41, 42 |
# | large | 6 million | 40, 42, 44 |

# %% by_hand
by_hand("choose_setting", ...)  # a name, in quotes

# %% [markdown]
# *Large* has the best mean, 42. Its standard deviation is 2, its standard error $2 / \sqrt 3 \approx 1.15$, so that the limit is 40.85. *Middle*, with a mean of 41, is within it, and *small*, with 40.3, is not: *middle* is taken.

# %% exercise="choose_setting"
def choose_setting(scores: dict[str, dict]) -> str:
    """Returns the name of the smallest setting that is as good as the best one.

    As good: its mean dev BLEU is at most one standard error (that of the best setting's mean)
    below the best mean dev BLEU. Smallest: fewest parameters; of two as small, either will do.

    Args:
        scores: name -> {"parameters": a number, "dev_bleu": a list of BLEU, one for each seed
            (at least 2), "test_bleu": the same for the test part, or empty}.
    """
    ### BEGIN SOLUTION
    means = {name: sum(row["dev_bleu"]) / len(row["dev_bleu"]) for name, row in scores.items()}
    best = max(means, key=means.get)
    runs = torch.tensor(scores[best]["dev_bleu"], dtype=torch.float64)
    limit = means[best] - float(runs.std()) / math.sqrt(len(runs))  # std: with n - 1
    near = [name for name in scores if means[name] >= limit]
    return min(near, key=lambda name: scores[name]["parameters"])
    ### END SOLUTION


# %% [markdown]
# To have something to choose from, the *shallow* setting gets three seeds as well, as it is and with pre-norm. Depth can then be compared with depth: same norm, same seeds, same number of steps.

# %% measured
# @title Five settings of three seeds each, and which one your rule chooses
candidates = {"shallow, as published": sweep(versions(shallow)),
              "shallow, pre-norm": sweep(versions(shallow, norm="pre")), **repairs}
scores = {
    name: {"parameters": found[0]["parameters"],
           "dev_bleu": [row["dev_bleu"] for row in found], "test_bleu": []}
    for name, found in candidates.items()
}
table = pd.DataFrame({
    name: {"parameters": f"{row['parameters']:,}",
           "seconds a run": f"{sum(r['seconds'] for r in candidates[name]) / 3:.0f}",
           "dev BLEU, mean": f"{sum(row['dev_bleu']) / 3:.1f}",
           "lowest": f"{min(row['dev_bleu']):.1f}", "highest": f"{max(row['dev_bleu']):.1f}"}
    for name, row in scores.items()
}).T  # fmt: skip
print("chosen:", choose_setting(scores))
table

# %% [markdown]
# And only now the test part, once, for the chosen setting: its weights lie in the checkpoint of its first seed.

# %% measured
# @title The chosen setting on the test part, once
chosen = candidates[choose_setting(scores)][0]
model = new_model(chosen).to(device)
model.load_state_dict(
    torch.load(folder / chosen["checkpoint"], map_location=device, weights_only=True)["model"]
)
print(f"{chosen['name']}: dev BLEU {chosen['dev_bleu']:.1f}, test BLEU {score_bleu(model, test_pairs):.1f}")

# %% [markdown]
# Compare the two rows as published, and then the two pre-norm rows. With post-norm and no warm-up, depth is a disaster: *shallow* translates, *deep* does not. With pre-norm the order is reversed, and the deep one has the higher mean (look at lowest and highest, too: the ranges overlap, in our run from 29.2 to 32.2; and at the seconds that it costs).
#
# **A sweep at one learning rate, without warm-up, compares how easily its settings start to train, and not how well they translate.** To avoid this, give each setting the training that suits it (at the least, its own learning rate), or say that you have not.
#
# Two more things that the table shows, if one looks for them. *Deep* with warm-up trains, but is far behind pre-norm after the same number of steps: part of them was spent on warming up, and its rate falls afterwards. And pre-norm has a few more parameters: the two norms at the ends of encoder and decoder, $2 \cdot 2D$ numbers, which your formula of section 2 does not know.
#
# ### Go further: one factor at a time
#
# *No exercise depends on this part.* In papers it is an ablation study.
#
# And what of the reasons that the report gives, width, heads and depth? Its table cannot say, because from each row to the next two things change.
#
# Here is what it takes: *shallow* with pre-norm, which trains, and of the four differences **one** at a time, with five seeds each. These 25 runs are the course's own; they took a minute and a half on one core, and what they
# gave is kept in `data/measured_here`, so that you need not wait. Open the next cell and write `again = True`, and your `run_sweep` trains them again. (For the full size nothing is kept: there the cell trains them.)
#
# Which of the four changes will help most? Is there one that makes no difference? Write one of `"width"`, `"heads"`, `"layers"` and `"dropout"`.

# %% guess
guess("the change that helps most", ..., among=["width", "heads", "layers", "dropout"])

# %% experiment
# @title One change at a time, five seeds each
again = size == "full"  # True trains the 25 models
ONE_CHANGE = {"as it is": {}, f"width {broad['width']}": {"width": broad["width"]},
              f"{broad['heads']} heads": {"heads": broad["heads"]}, "4 layers": {"layers": 4},
              "dropout 0.2": {"dropout": 0.2}}


def one_factor(seeds: int = 5) -> pd.DataFrame:
    """Trains *shallow* with pre-norm as it is and with each change, once for each seed."""
    found = []
    for way, change in ONE_CHANGE.items():
        settings = [{**shallow, "norm": "pre", **change, "seed": seed, "name": f"{way}, seed {seed}"}
                    for seed in range(seeds)]
        found += [{"changed": way, **row} for row in sweep(settings)]
    return pd.DataFrame(found)


runs = one_factor() if again else load("measured_here")["one_factor"].rows
bleus = runs.groupby("changed", sort=False)["dev_bleu"]
axes = plots.panels(1, width=6.4, height=3.4)[1][0]
for place, (way, found) in enumerate(bleus):
    axes.scatter([place] * len(found), found, color=plots.COLOURS[0], alpha=0.6)
    axes.hlines(found.mean(), place - 0.25, place + 0.25, color=plots.COLOURS[1])
axes.set_xticks(range(len(bleus)), [way for way, _ in bleus])
axes.set(title="One change at a time: each seed, and the mean",
         ylabel="BLEU on the dev part", ylim=(0, None))
plots.show(axes.figure, "Dev BLEU of five seeds, mean: "
           + ", ".join(f"{way} {found.mean():.0f}" for way, found in bleus) + ".")
pd.DataFrame({"parameters": runs.groupby("changed", sort=False)["parameters"].first().map("{:,}".format),
              "dev BLEU, mean": bleus.mean().round(1), "lowest": bleus.min().round(1),
              "highest": bleus.max().round(1)})

# %% reveal
best_change = bleus.mean().drop("as it is").idxmax()
changes = ("width", "heads", "layers", "dropout")
reveal("the change that helps most", next(change for change in changes if change in best_change))

# %% [markdown]
# The **width** makes the difference: from 31.3 to 58.9 in our run, far outside what seeds do. Two more **heads** make none that can be seen (29.1, and the ranges, 26.2 to 32.2 and 27.4 to 33.0, lie nearly on top of each other). Twice the dropout *costs* something (18.1, and its highest, 21.8, lies far below 27.4), and so, probably, do two more layers (25.5; the ranges just touch, at 27.6 and 27.4).
#
# So of the three reasons that the report gives, one holds at our size, and the other two do not. And it is not
# the number of parameters alone: four layers have four fifths as many as the greater width, and translate no better than two.
#
# What even this table cannot say: what two changes do *together* (wide **and** deep, say), what ten epochs would make of it (dropout and depth ask for more steps, and these are five epochs), and what holds at the full size.
#
# ## 8. Essay
#
# In at most twelve lines, in English or in French: **choose a setting and defend it.** Imagine that you must decide tomorrow which of the settings is trained on the real corpus. Use the table of parameters and time, the BLEU of dev over seeds (yours, and the published ones for the full size), and say what your choice does *not* rest on, and which
# one run more you would pay for, and why.

# %% [markdown] essay="setting_essay"
# **Rubric** (half a point for each, 2 points in all). Any setting can be right; what counts is the defence.
#
# - *A rule, named before the number*: for example the smallest setting within one standard error of the best dev BLEU. Not test, not the highest single figure.
# - *Cost against gain*: uses parameters and time. In the published table, *wide* against *shallow* gains 0.0109 (1.1 BLEU) for more than twice the parameters and twice the minutes, while its dev loss is higher (2.075 against 1.943); whether that is worth it depends on the use, and one run each without seeds cannot tell 0.3796 from 0.3854.
# - *What it does not rest on*: the row *deep* as published says nothing about depth, since that run did not train; depth, width, heads and dropout change together; our small models and invented sentences do not carry over to the full size.
# - *The next run*, with a reason: for example *deep* with pre-norm or warm-up; a second and third seed of *wide* and *middle*; *wide* with dropout 0.1. It should be able to change the decision.
#
# **Misconceptions that cost marks**: "0.3854 is the highest, so wide is best"; "deep models overfit"; choosing by the test score; "more parameters are always better with more epochs"; treating the small-scale BLEU as a forecast of the full-size BLEU.
#
# **Answers as students write them**
#
# - *Full marks (2 of 2)*: "My rule, fixed before I looked: the smallest setting whose mean dev BLEU is within one standard error of the best mean. In
#   our table *deep* with pre-norm has 36.7 (29.2 to 42.2 over three seeds) for 596,618 parameters and 18 s, *shallow* with pre-norm 30.3 (28.0 to
#   32.2) for 134,858 and 6 s. It lies outside one standard error, so the rule takes *deep* with pre-norm; whether 6 points are worth three times the
#   seconds depends on the use, and the ranges of the seeds overlap. My choice does not rest on the published row *deep*, as that run did not train
#   and so says nothing about depth, nor on the 36.7 as a forecast: small models and invented sentences do not carry over. With one more run I would
#   train *deep* with pre-norm at the full width, because if it is not above the published 0.3854 of *wide*, I take a smaller one." Why: All four
#   lines.
# - *Half (1 of 2)*: "I decide by dev BLEU alone, and among settings within one standard error of the best mean I take the smallest. By the published
#   table that is *shallow*: it has 0.3745 and *wide* 0.3854, a gain of 1.1 points for more than twice the parameters and twice the minutes. One run
#   each cannot tell such values apart, so I would not pay for *wide*. My choice rests on the fact that deep models overfit, as the published row
#   *deep* shows. The next run I would pay for is *shallow* with the same seed once more, to be sure." Why: *a rule* and *cost against gain* (1). What
#   it does not rest on is turned round: it rests on the row *deep*, with a misconception (0.5 lost). The next run repeats what is known and cannot
#   change the decision (0.5 lost).
# - *No marks (0 of 2)*: "I choose *wide*, because 0.3854 is the highest BLEU of the published table. With more epochs it would be even better, since
#   more parameters are always better if one trains for longer. *Deep* is no choice, because deep models overfit. My choice does not rest on luck. As
#   one run more I would train *wide* for longer and take it if its test score is higher." Why: The highest single figure in place of a rule, no cost,
#   *deep* misread, and a next run that is judged by the test. Four misconceptions; "does not rest on luck" says nothing, with one run for each
#   setting.

# %% [markdown] questions
# ## Three questions
#
# For yourself: open an answer to see whether it is right.
#
# 1. A large model has a poor score on the dev part. What would show that it overfits?
#    - Its dev score is lower than that of smaller models. => So is that of a run which has learned nothing; the score does not tell them apart.
#    - Its dev loss is higher than its training loss. => It has to be, but most good models have such a gap, too.
#    + Its training loss is low, and its dev loss rises. => It takes two curves; a single score at the end cannot show it.
#    - It has more parameters than it has words to learn from. => That is a reason to look, and no evidence: *deep* with pre-norm has as many, and learns.
# 2. A deep post-norm run ends where it began, with a training loss of 97 % of the first one. What is worth trying first?
#    + Warm-up, pre-norm or a smaller learning rate. => The optimisation has not started; these repair the start, with the same layers and data.
#    - More dropout, so that it learns less by heart. => It has learned nothing by heart: it is wrong on the training set itself.
#    - A smaller model, which cannot overfit so easily. => It does not overfit. You would conclude that depth does not pay, and the cause would stay unknown.
#    - More epochs, since its loss is still high. => That helps where the loss still falls. Here it lay flat for ten epochs.
# 3. Several settings have been trained with three seeds each. Which one do you take?
#    - The one whose best seed has the highest BLEU on dev. => With a seed that moves the result by a point or more, the highest single value is partly luck.
#    - The one with the highest mean BLEU on test. => Then no honest number is left: test is looked at once, for the setting that is chosen.
#    - The largest one, since with more epochs it will be the best. => That has not been measured, and each further parameter costs time in any case.
#    + The smallest within one standard error of the best on dev. => A rule, named before the numbers, that does not pay for what may be luck.

# %% [markdown]
# ## What to remember
#
# - "It overfits" is a claim about **two** curves: the training loss is low, and the dev loss rises. 63.7 % on the training set after ten epochs is no overfitting.
# - First look whether the training loss falls at all. A run that does not train needs another start (warm-up, pre-norm, a smaller rate), not less capacity.
# - A sweep saves after every training, skips what is finished, notices what has changed, and can be stopped at any time.
# - What a setting costs follows from a formula, before anything is trained.
# - On dev, over several seeds, choose the smallest setting within one standard error of the best; look at test once.
#
# **Go further.** First, two factors at a time: `sweep(versions(shallow, norm="pre", width=72, dropout=0.2))`. Is what the two do together the sum of what each does alone? Then: there is a third
# repair: a smaller constant learning rate. Give the settings an entry `"rate"`, let `train_one` use it, and sweep *deep* over four rates. Does the best rate get smaller with depth? With pre-norm too? And at full size (`size = "full"` and a GPU): is the failure there at a rate of 1e-3, and is it there at 1e-4?
#
# **The end of the main path.** (The map at the end of notebook 00 shows what is left.) You began with a triangle of zeros, and can now build, count, train, adapt and question a Transformer. Take a paper that you would like to believe, find the table on which its main claim rests, and ask what you have asked here:
# what was compared with what, over how many seeds, and chosen on which part?

# %% [markdown]
# ## What others call it
#
# - **hyper-parameter**: a number that is chosen, and not learned: width, layers, learning rate.
# - **grid search** (also a *sweep*): trying all combinations of the values that each of them may have, or a list of chosen ones.
# - **generalisation gap**: how much better a model is on its training set.
# - **underfitting**: the training loss itself is still high and falls.
# - **training instability**: the loss jumps, or rises without end to infinity or NaN (*divergence*); a run whose loss rests where it began has *failed to train*.
# - **learning-rate schedule**: how the rate changes from step to step; **warm-up** is its rise, the *inverse square-root schedule* that of the paper of 2017.
# - **ablation study**: one thing changed at a time.
# - **confounding**: two things change together, so that neither can be named as the reason.
# - **one-standard-error rule**: the smallest setting that is nearly as good as the best.

# %% experiment open=true
from tutor import progress

progress()
