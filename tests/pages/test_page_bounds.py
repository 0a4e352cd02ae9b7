"""One student's notebook never makes a page that cannot be opened, and never costs another student's page."""

import base64
import io
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest
from PIL import Image

from grading.classroom.essays import Answer, Mark, Question
from grading.folder.course import Course
from grading.notebooks.pictures import MAX_DOTS, read_picture
from grading.pages import essays, feedback
from grading.pages.exporter import make_page
from grading.pages.markup import markdown
from grading.pages.rendering import MAX_PAGE
from tests.pages.test_feedback import PNG, graded, marked, refuse_anything_active


def picture(size: int) -> str:
    """Returns a small picture with bytes behind it, as base64."""
    return base64.b64encode(base64.b64decode(PNG) + bytes(size)).decode()


def often(reference: str, times: int, size: int) -> tuple[str, dict[str, Any]]:
    return reference * times, {"d.png": {"image/png": picture(size)}}


@pytest.mark.parametrize(
    ("text", "pictures"),
    [
        often("![](attachment:d.png)", 4_000, 90_000),
        often("![](attachment:d.png)\n\n", 3_000, 3_900_000),
        often("<img src='attachment:d.png'>", 3_000, 90_000),
        ("![][a] " * 9_000 + "\n\n[a]: attachment:d.png", {"d.png": {"image/png": [picture(300_000), ""]}}),
        (
            "".join(f"![](attachment:%{ord('d'):x}.png?)" for _ in range(2_000)),
            {"d.png?": {"image/png": picture(90_000)}},
        ),
        ("![][a] " * 7_000 + f"\n\n[a]: data:image/png;base64,{picture(30_000)}", {}),
        ("[x][a] " * 7_000 + f"\n\n[a]: http://x.org/{'y' * 40_000}", {}),
        (
            "".join(f"![](attachment:{number}.png)" for number in range(40)),
            {f"{number}.png": {"image/png": picture(1_000_000 + number)} for number in range(40)},
        ),
        ("$x$" * 30_000, {}),
        ("| a |\n|:-:|\n" + "| b |\n" * 12_000, {}),
        ("> " * 5_000 + "deep\n" + "- " * 5_000 + "deep", {}),
    ],
)
def test_no_text_becomes_many_times_as_large(text: str, pictures: Mapping[str, Any]) -> None:
    assert len(markdown(text, pictures=pictures)) < MAX_PAGE


def test_a_picture_that_is_shown_again_and_again_is_pointed_to() -> None:
    text, pictures = often("![d](attachment:d.png)", 30, 90_000)
    made = markdown(text, pictures=pictures)
    assert 1 < made.count("<img") < 12
    assert "[picture: d (the same one stands above)]" in made


def test_a_page_has_a_bound_and_checks_stay() -> None:
    loud = nbformat.v4.new_output("display_data", {"image/png": picture(3_000_000)})
    cells = [nbformat.v4.new_code_cell("plot()", outputs=[loud]) for _ in range(9)]
    cells += [nbformat.v4.new_code_cell("+ " * 5_000) for _ in range(90)]
    last = marked(nbformat.v4.new_markdown_cell("the answer"), solution=True, grade=True, grade_id="last", points=2)
    page = make_page(graded(*cells, last), {"notebook": "01_x", "student": "ada"})
    assert len(page) < MAX_PAGE * 1.1
    assert "the answer" in page
    assert "it stands in the notebook, 01_x.ipynb" in refuse_anything_active(page).text


# --- what a picture's head says ---------------------------------------------------------------------------------------


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def saved(form: str, size: tuple[int, int] = (3, 2), **more: Any) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size).save(file, form, **more)
    return file.getvalue()


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
@pytest.mark.parametrize("more", [{}, {"lossless": True}, {"progressive": True}])
def test_pictures_as_programs_write_them_are_shown(form: str, more: dict[str, Any]) -> None:
    found = read_picture(encoded(saved(form, (640, 480), **more)))
    assert found is not None
    assert found[0] == f"image/{form.lower()}"


PNG_HEAD, GIF_HEAD, JPEG_HEAD = saved("PNG"), saved("GIF"), saved("JPEG")
FRAME = JPEG_HEAD.index(b"\xff\xc0")


@pytest.mark.parametrize(
    "data",
    [
        PNG_HEAD[:16] + struct.pack(">II", 100_000, 100_000) + PNG_HEAD[24:],
        PNG_HEAD[:16] + struct.pack(">II", 30_000, 30_000) + PNG_HEAD[24:],
        PNG_HEAD[:16] + struct.pack(">II", 0, 7) + PNG_HEAD[24:],
        PNG_HEAD[:20],
        PNG_HEAD[:8] + b"\0\0\0\4tEXtabcdefgh" + PNG_HEAD[8:],
        GIF_HEAD[:6] + struct.pack("<HH", 65_535, 65_535) + GIF_HEAD[10:],
        GIF_HEAD.replace(b"\x2c\0\0\0\0\3\0\2\0", b"\x2c\0\0\0\0\xff\xff\xff\xff", 1),  # a frame beyond the screen
        JPEG_HEAD[: FRAME + 5] + struct.pack(">HH", 60_000, 60_000) + JPEG_HEAD[FRAME + 9 :],
        JPEG_HEAD[: FRAME + 5] + struct.pack(">HH", 0, 60_000) + JPEG_HEAD[FRAME + 9 :],
        JPEG_HEAD[:2] + b"junk\xff" + JPEG_HEAD[2 : FRAME + 5] + b"\xff\xff\xff\xff" + JPEG_HEAD[FRAME + 9 :],
        JPEG_HEAD[:FRAME],
        b"RIFF\x20\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\xff\xff\0\xff\xff\0" + bytes(9),
        b"RIFF\x20\0\0\0WEBPVP8L\x0d\0\0\0\x2f" + struct.pack("<I", (16_383 << 14) | 16_383) + bytes(9),
        b"RIFF\x20\0\0\0WEBPVP8 \x20\0\0\0\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 16_383, 16_383) + bytes(9),
        b"RIFF\x20\0\0\0WEBPICCP" + bytes(20),
    ],
)
def test_a_picture_of_very_many_dots_is_left_out(data: bytes) -> None:
    assert read_picture(encoded(data)) is None
    kind = {b"\x89": "png", b"G": "gif", b"\xff": "jpeg", b"R": "webp"}[data[:1]]
    shown = markdown("![d](attachment:d)", pictures={"d": {f"image/{kind}": encoded(data)}})
    assert f"at most 4 MB and {MAX_DOTS // 10**6} million dots" in shown


# --- reading essays, and feedback -------------------------------------------------------------------------------------


def test_a_large_answer_is_a_link_on_the_page_of_all_answers() -> None:
    asked = Question("01_x", "essay", 2, "", "", "")
    names = [f"{number}.png" for number in range(4)]
    large = Answer(
        "k1",
        " ".join(f"![d](attachment:{name})" for name in names),
        Mark(None),
        "unread",
        pictures={name: {"image/png": picture(2_500_000 + len(name) + at)} for at, name in enumerate(names)},
    )
    (now,) = essays.shown(asked, [large])
    assert 'href="essay/k1"' in now["html"]
    assert len(now["html"]) < 1000
    small = Answer("k2", "![d](attachment:d.png)", Mark(None), "unread", pictures={"d.png": {"image/png": PNG}})
    assert "<img" in essays.shown(asked, [small])[0]["html"]


@pytest.mark.parametrize(
    "problem", [MemoryError(), RecursionError("too deep"), KeyError("x"), ValueError("it\nis odd")]
)
def test_a_page_that_fails_in_any_way_costs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], problem: Exception
) -> None:
    made = list[str]()
    for student in ("aa", "bb", "cc"):
        path = Course(tmp_path).autograded(student, "01_x")
        path.parent.mkdir(parents=True)
        path.write_text("{}" if student != "bb" else "[" * 100_000)

    def write(course: Course, path: Path, log: object) -> str:
        if path.parts[-3] == "aa":
            raise problem
        made.append(path.parts[-3])
        return ""

    monkeypatch.setattr(feedback, "_write_page", write)
    assert feedback.run(Course(tmp_path), progress=False) == 1
    assert made == ["bb", "cc"]
    told = capsys.readouterr()
    assert f"no page for aa 01_x: {type(problem).__name__}" in told.err
    assert "feedback: 1\n" in told.out


def test_a_text_at_which_the_parser_fails_is_shown_as_it_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: object, source: str) -> str:
        raise RecursionError

    monkeypatch.setattr("grading.pages.markup.MarkdownWithMath.render", fail)
    assert "&lt;b&gt; text" in markdown("<b> text")
