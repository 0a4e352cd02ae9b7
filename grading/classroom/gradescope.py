"""Whose each folder of Gradescope's export is: a file of the site says it, beside the folders."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from grading.classroom.deliveries import Item, RefusedError

METADATA = "submission_metadata.yml"
EXPORT = re.compile(r"assignment_\d+_export(?: ?\(\d+\))?")
FOLDER = re.compile(r"submission_\d+")
ENTRY = re.compile(r"^submission_\d+:[^\S\n]*\n(?:(?:[ ].*)?\n)*", re.MULTILINE)
SUBMITTERS = re.compile(r"^(submission_\d+:).*\n(?:.*\n)*?(  :?submitters:.*\n(?:(?:   .*|  -.*)?\n)*)")
MAX_SIGNS = 2 << 20  # of a class of thousands

Submitters = list[dict[str, str]]  # `name`, `sid` and `email` of each


def is_metadata(item: Item) -> bool:
    """Says whether a file is the list of submitters, at the top of a delivery: above what a student can write."""
    above = item.parts[:-1]
    at_top = not above or (len(above) == 1 and EXPORT.fullmatch(above[0]) is not None)
    return at_top and item.parts[-1] == METADATA and not item.inner


def read_submitters(items: Sequence[Item]) -> dict[str, Submitters]:
    """Returns who has handed in each folder of an export, by its path; nothing where there is no list of submitters.

    It counts where everything else lies in such folders beside it: where people put files themselves, one of them may
    have written it.
    """
    found = dict[str, Submitters]()
    for listed in filter(is_metadata, items):
        above = listed.parts[:-1]
        others = [item.parts for item in items if item is not listed]
        if all(
            len(parts) > len(above) + 1 and parts[: len(above)] == above and FOLDER.fullmatch(parts[len(above)])
            for parts in others
        ):
            for folder, entry in _load(listed).items():
                if whom := _submitters(entry):
                    found["/".join((*above, folder))] = whom
    return found


def _load(item: Item) -> Mapping[str, Any]:
    """Returns what the file says of submitters, by folder, all values as text; nothing when it cannot be read.

    The rest of it, marks and what tests have printed, has megabytes, and is not read.
    """
    import yaml

    try:
        text = item.read().decode().replace("\r\n", "\n") + "\n"
        wanted = [
            match[1] + "\n" + match[2]
            for entry in ENTRY.findall(text)
            for match in (SUBMITTERS.search(entry),)
            if match
        ]
        if sum(map(len, wanted)) > MAX_SIGNS:
            return {}
        # The base loader makes nothing but texts, lists and tables: no tag of a stranger means anything.
        held = yaml.load("".join(wanted), Loader=yaml.BaseLoader)
    except (RefusedError, yaml.YAMLError, RecursionError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}


def _submitters(entry: Any) -> Submitters:
    listed = entry.get(":submitters", entry.get("submitters")) if isinstance(entry, dict) else None
    if not isinstance(listed, list):
        return []
    wanted = ("name", "sid", "email")
    return [
        {key: value.strip() for key in wanted if isinstance(value := one.get(f":{key}", one.get(key)), str)}
        for one in listed
        if isinstance(one, dict)
    ]
