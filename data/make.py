"""Writes the embedded corpora; --check compares them with what would be written."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path

import make_biographies
import make_reviews
import make_translation
import make_winograd
from corpus import words

FOLDER = Path(__file__).resolve().parent
HASHES = FOLDER / "sha256.json"


def made_files() -> dict[str, bytes]:
    """Every made file of the corpora and the list of their SHA-256: path -> bytes."""
    contents: dict[str, bytes] = {}
    for corpus in (make_biographies, make_reviews, make_translation, make_winograd):
        for path, text in corpus.files().items():
            contents[path] = text.encode()
    hashes = {path: hashlib.sha256(contents[path]).hexdigest() for path in sorted(contents)}
    contents[HASHES.name] = (json.dumps(hashes, indent=2) + "\n").encode()
    return contents


def sizes(contents: dict[str, bytes]) -> list[str]:
    """The rows of the table of sizes in README.md: file, lines, words, bytes."""
    rows = []
    for path in sorted(contents):
        if path != HASHES.name:
            text = contents[path].decode()
            counts = (len(text.splitlines()), len(words(text)), len(contents[path]))
            rows.append(f"| `{path}` | " + " | ".join(f"{count:,}" for count in counts) + " |")
    return rows


def main() -> int:
    """Writes or checks; the exit status is 1 when a file differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, report differences")
    parser.add_argument("--sizes", action="store_true", help="write nothing, print a table")
    arguments = parser.parse_args()
    contents = made_files()
    if arguments.sizes:
        print("\n".join(sizes(contents)))
        return 0
    different = [
        path for path, made in contents.items() if not (FOLDER / path).is_file() or (FOLDER / path).read_bytes() != made
    ]
    if arguments.check:
        for path in different:
            print(f"data/{path} is not what its script makes: run `python data/make.py`")
        return 1 if different else 0
    for path in different:
        (FOLDER / path).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / path).write_bytes(contents[path])
    size = sum(map(len, contents.values()))
    print(f"{len(contents)} files, {size / 1e6:.2f} MB, {len(different)} written anew")
    return 0


if __name__ == "__main__":
    sys.exit(main())
