"""docs/sources.md: each thing that the sources say is taught where the page says."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_item_names_sections_that_exist() -> None:
    page = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
    sections = {
        (path.stem[:2], number)
        for path in (ROOT / "solutions").glob("[0-9][0-9]_*.py")
        for number in re.findall(r"^# ## (\d+)\. ", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    parts = re.split(r"^## .* \((\d+)\)$", page, flags=re.MULTILINE)[1:]
    counted = [len(re.findall(r"^- ", items, re.MULTILINE)) for items in parts[1::2]]
    assert counted == [int(number) for number in parts[::2]]
    (count,) = re.findall(r"Each of the (\d+) things", page)
    assert sum(counted) == int(count)
    for item in re.findall(r"^- .+$", page, re.MULTILINE):
        named = re.findall(r"\b(\d\d) §(\d+)", item.rpartition(": ")[2])
        assert named, item
        assert set(named) <= sections, item
