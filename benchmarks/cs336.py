"""Runs the public tests of Stanford's CS336, assignment 1, on the course's answers, and counts.

    python -m benchmarks.cs336 FOLDER
    python -m benchmarks.cs336 FOLDER --their-rules

FOLDER is a clone of github.com/stanford-cs336/assignment1-basics, which is fetched by whoever runs this: its tests are
not ours to pass on. They need `pip install tiktoken einops`. The tests are copied to a folder that is deleted
afterwards, with `benchmarks/peers/cs336.py` in the place of their adapters; what the course has no exercise for is
skipped. With `--their-rules` texts are cut, and equal counts decided, as the assignment says.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
# Where tiktoken has GPT-2's vocabulary and merges from, and their place in the tests: with these it needs no network.
TIKTOKEN = "https://openaipublic.blob.core.windows.net/gpt-2/encodings/main"
FIXTURES = {"encoder.json": ("gpt2_vocab.json", b""), "vocab.bpe": ("gpt2_merges.txt", b"#version: 0.2\n")}


def main() -> None:
    """Prints what each file of tests gives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a clone of stanford-cs336/assignment1-basics")
    parser.add_argument("--their-rules", action="store_true", help="cut words and decide equal counts as they do")
    given = parser.parse_args()
    if not (given.folder / "tests" / "adapters.py").is_file():
        parser.error(f"{given.folder} holds no tests/adapters.py: clone github.com/stanford-cs336/assignment1-basics")
    with tempfile.TemporaryDirectory() as folder:
        report = run(given.folder / "tests", Path(folder), their_rules=given.their_rules)
    show(report)


def run(tests: Path, folder: Path, *, their_rules: bool) -> ElementTree.Element:
    """Returns pytest's report of the tests, copied into an empty folder."""
    shutil.copytree(tests, folder / "tests")
    (folder / "tests" / "adapters.py").write_text("from benchmarks.peers.cs336 import *  # noqa: F403\n", "utf-8")
    (folder / "tiktoken").mkdir()
    for name, (fixture, head) in FIXTURES.items():
        kept = hashlib.sha1(f"{TIKTOKEN}/{name}".encode(), usedforsecurity=False).hexdigest()
        (folder / "tiktoken" / kept).write_bytes(head + (tests / "fixtures" / fixture).read_bytes())
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    environment = os.environ | {"PYTHONPATH": paths, "TIKTOKEN_CACHE_DIR": str(folder / "tiktoken")}
    environment["COURSE_PEERS_RULES"] = "theirs" if their_rules else ""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=report.xml", "tests"]
    subprocess.run(command, cwd=folder, env=environment, stdout=sys.stderr, check=False)
    return ElementTree.parse(folder / "report.xml").getroot()


def show(report: ElementTree.Element) -> None:
    """Prints a row for each file of tests, and the reasons of what did not pass."""
    counts, reasons = dict[str, Counter[str]](), list[str]()
    for case in report.iter("testcase"):
        file = case.attrib["classname"].rpartition(".")[2]
        problem = next((part for part in case if part.tag in ("failure", "error", "skipped")), None)
        outcome = "passed" if problem is None else _outcome(problem)
        counts.setdefault(file, Counter())[outcome] += 1
        if problem is not None:
            message = " ".join(problem.attrib.get("message", "").split())[:160]
            reasons.append(f"{outcome}: {file}::{case.attrib['name']}: {message}")
    outcomes = ("passed", "failed", "no exercise", "a file is missing", "expected to fail")
    print("| tests | " + " | ".join(outcomes) + " |\n" + "|---" * (len(outcomes) + 1) + "|")
    total = Counter[str]()
    for file, found in sorted(counts.items()):
        print(f"| {file} | " + " | ".join(str(found[outcome]) for outcome in outcomes) + " |")
        total += found
    print("| **all** | " + " | ".join(str(total[outcome]) for outcome in outcomes) + " |")
    print("\n".join(sorted(reasons)))


def _outcome(problem: ElementTree.Element) -> str:
    if "FileNotFoundError" in problem.attrib.get("message", ""):
        return "a file is missing"
    if problem.tag == "skipped":
        return "expected to fail" if problem.attrib.get("type") == "pytest.xfail" else "no exercise"
    return "failed"


if __name__ == "__main__":
    main()
