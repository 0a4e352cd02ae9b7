"""Feedback pages: check, points and hint are there; nothing hidden, nothing that runs, nothing from outside."""

import base64
import html.parser
import re
import time
import types
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
import torch
from nbformat import NotebookNode

from grading import sandbox
from grading.authoring import source
from grading.autograder import run as autograde
from grading.autograder.nbgrader_commands import nbgrader
from grading.autograder.run import Settings
from grading.classroom import demo
from grading.folder.course import ROOT, Course
from grading.folder.errors import CourseError
from grading.pages import feedback
from grading.pages.exporter import make_page, state_of
from grading.pages.markup import markdown
from grading.pages.mathml import mathml
from helpers import plots
from tests.classroom.submissions import ASSIGNMENT, cell, perfect
from tutor.checking.verdict import MIME, Verdict

EVIL = '<script>alert("evil")</script><img src="http://evil.example/x.png" onerror="alert(1)">'
PNG = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU\x00\x00\x00\nIDATx\x9c"
    b"c`\x00\x00\x00\x02\x00\x01H\xaf\xa4q\x00\x00\x00\x00IEND\xaeB`\x82"
).decode()
_TAGS = (
    "html head meta title style body main h1 h2 h3 h4 h5 h6 p table tr td th thead tbody section div span "
    "pre code details summary ul ol li strong em del blockquote hr br img a dl dt dd input math mrow mi "
    "mn mo mtext mspace mfrac msqrt mroot mstyle msub msup msubsup munder mover munderover mtable mtr mtd"
)
TAGS = frozenset(_TAGS.split())
_ATTRIBUTES = (
    "lang charset http-equiv content name class id href alt src style start type checked disabled display scope "
    "mathvariant stretchy fence form separator lspace rspace largeop movablelimits minsize maxsize "
    "linethickness columnalign columnspacing rowspacing width height depth scriptlevel displaystyle "
    "accent tabindex role aria-label open"
)
ATTRIBUTES = frozenset(_ATTRIBUTES.split())


class Page(html.parser.HTMLParser):
    """Collects what a page is made of, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def refuse_anything_active(text: str) -> Page:
    """Asserts that a page has only harmless elements, and that nothing in it is loaded or leads elsewhere."""
    page = Page(text)
    for tag, attributes in page.tags:
        assert tag in TAGS, tag
        assert set(attributes) <= ATTRIBUTES, (tag, attributes)
        assert (attributes.get("href") or "#").startswith("#"), attributes
        assert (attributes.get("src") or "data:image/").startswith("data:image/"), attributes
        assert tag != "meta" or attributes.get("http-equiv") in (None, "Content-Security-Policy")
        assert "url(" not in (attributes.get("style") or "")
    assert not re.search(r"""(src|href)\s*=\s*["']\s*(https?:|//)""", text, re.IGNORECASE)
    styles = "".join(re.findall(r"<style>(.*?)</style>", text, re.DOTALL))
    assert "url(" not in styles
    assert "@import" not in styles
    return page


def graded(*cells: NotebookNode) -> NotebookNode:
    notebook: NotebookNode = nbformat.v4.new_notebook(cells=list(cells))
    return notebook


def marked(made: NotebookNode, **settings: object) -> NotebookNode:
    made.metadata["nbgrader"] = {"grade_id": "x", "grade": False, "solution": False, "locked": False, **settings}
    return made


def check_cell(*outputs: NotebookNode) -> NotebookNode:
    text = 'check(mask)\n### BEGIN HIDDEN TESTS\nmark("01", "mask", mask)\n### END HIDDEN TESTS'
    made = nbformat.v4.new_code_cell(text, outputs=list(outputs))
    return marked(made, grade=True, locked=True, grade_id="mask_check", score=1.5, points=3.0)


def display(**data: str) -> NotebookNode:
    return nbformat.v4.new_output("display_data", {name.replace("_", "/"): text for name, text in data.items()})


def judgement(**parts: object) -> NotebookNode:
    """Returns the output in which the examiner has judged `mask`: 1.5 of 3 points, unless `parts` say otherwise."""
    fields = {"name": "mask", "outcome": "wrong", "earned": 1.5, "points": 3.0, "graded": True}
    verdict = Verdict(**{**fields, "stages": (("shape", True), ("values", False)), **parts})  # type: ignore[arg-type]
    return nbformat.v4.new_output("display_data", {"text/plain": str(verdict), MIME: verdict.as_data()})


def test_what_students_write_print_and_show_is_escaped() -> None:
    solution = nbformat.v4.new_code_cell(f"x = '{EVIL}'")
    solution.outputs = [
        nbformat.v4.new_output("stream", text=f"\x1b[31m{EVIL}\x1b[0m"),
        nbformat.v4.new_output("error", ename=EVIL, evalue=EVIL, traceback=[EVIL]),
        display(text_html=EVIL),
        display(text_html=EVIL, text_plain=EVIL),
        display(text_markdown=EVIL, text_latex=EVIL, **{"application/javascript": "alert(1)", "image/svg+xml": EVIL}),
        display(image_png=f'{PNG}" onerror="alert(1)'),
        display(text_html=f'<img alt="" onload="alert(1)" src="data:image/png;base64,{PNG}">'),
        nbformat.v4.new_output(
            "display_data", {"image/png": PNG}, metadata={"alt": EVIL, "image/png": {"width": '"><script>'}}
        ),
    ]
    essay = nbformat.v4.new_markdown_cell(
        f"{EVIL}\n\n# {EVIL}\n\n[a](javascript:alert(1)) [b](http://evil.example) ![c{EVIL}](http://evil.example/c.png)\n\n"
        f"http://evil.example <http://evil.example>\n\n```mermaid\n</pre>{EVIL}\n```\n\n```{EVIL}\ncode\n```\n\n"
        f"$\\text{{{EVIL}}} \\href{{javascript:alert(1)}}{{x}}$ $$\\style{{background:url(//evil.example)}}{{y}}$$\n\n"
        f"| {EVIL} | b |\n|---|---|\n| c | {EVIL} |\n\n[r]: http://evil.example '{EVIL}'\n\n- [x] [r]\n"
    )
    notebook = graded(
        marked(solution, solution=True, grade_id=EVIL, comment=EVIL),
        marked(essay, solution=True, grade=True, grade_id="essay", score=1, points=2, comment=EVIL),
        nbformat.v4.new_markdown_cell(EVIL),
        nbformat.v4.new_raw_cell(EVIL),
        check_cell(judgement(name=EVIL, sentence=EVIL, mistake=EVIL, hint=EVIL, notes=[EVIL], stages=[(EVIL, True)])),
    )
    notebook.metadata["grading"] = {"put_right": [f"the file is called {EVIL}"]}
    text = make_page(notebook, {"student": EVIL, "notebook": EVIL, "score": 1, "max_score": 2})
    page = refuse_anything_active(text)
    assert page.text.count('alert("evil")') > 12  # it can be read, and does nothing
    assert "evil.example)" in page.text  # a link's address is shown
    assert sum(tag == "img" for tag, _ in page.tags) == 2  # both decoded and encoded again


GIF = "R0lGODlhAQABAAAAACw="
PICTURES = {
    "drawing.png": {"image/png": PNG},
    "my cat.gif": {"image/svg+xml": GIF},  # its kind is recognised by its bytes
    "svg.png": {"image/png": base64.b64encode(f"<svg onload='alert(1)'>{EVIL}</svg>".encode()).decode()},
    "html.png": {"text/html": EVIL},
    "broken.png": {"image/png": f'{PNG}" onerror="alert(1)'},
    "large.png": {"image/png": PNG + "A" * (8 << 20)},
    "list.png": {"image/png": [PNG]},
    "none.png": {},
}


def test_pictures_of_an_essay_are_shown_where_they_are_safe() -> None:
    text = "\n\n".join(
        [
            "![a *drawing*](attachment:drawing.png)",
            '<p align="center"><img alt="a &lt;cat&gt;" src=\'attachment:my%20cat.gif\' onerror="alert(1)"></p>',
            "Text <IMG SRC=attachment:drawing.png onload=alert(1)> goes on.",
            f"![uri](data:image/gif;base64,{GIF}) <img src='data:image/svg+xml;base64,{PNG}'>",
            *(
                f'![{name}](attachment:{name} "a title")'
                for name in PICTURES
                if name not in ("drawing.png", "my cat.gif")
            ),
            f"![{EVIL}](attachment:absent.png) ![svg uri](data:image/svg+xml;base64,PHN2Zz4=)",
            f"![h](data:text/html,{EVIL}) <img src='x' alt='attachment:drawing.png'>",
            '<img src="http://evil.example/x.png"> <img src="data:text/html,x">',
            f'<img src="attachment:drawing.png" alt=\'{EVIL}"><script>alert(3)</script>\'>',
        ]
    )
    essay = nbformat.v4.new_markdown_cell(text)
    essay.attachments = PICTURES
    page = refuse_anything_active(make_page(graded(marked(essay, solution=True, grade=True, grade_id="essay")), {}))
    pictures = [attributes for tag, attributes in page.tags if tag == "img"]
    assert all(set(one) == {"alt", "src"} for one in pictures)
    assert [(one["src"] or "")[:16] for one in pictures] == [
        *("data:image/png;b", "data:image/gif;b", "data:image/png;b", "data:image/gif;b", "data:image/png;b"),
        *("data:image/png;b",) * (len(pictures) - 5),
    ]
    assert [one["alt"] for one in pictures[:3]] == ["a drawing", "a <cat>", "a picture without a description"]
    assert len(pictures) == 6  # the five, and the one in a list
    assert page.text.count("not shown: expected a PNG, JPEG, GIF or WebP picture of at most 4 MB") == 7
    assert "<script>alert(3)</script>" in page.text
    for address in ("http://evil.example/x.png", "data:text/html,x"):
        assert f'<img src="{address}">' in page.text  # as it was typed


def test_a_text_that_is_cut_says_so() -> None:
    assert "... (7 characters more)" in markdown("word " * 20_000 + "and end")


def test_formgrader_shows_the_pictures_of_a_cell() -> None:
    from nbconvert.exporters import HTMLExporter
    from traitlets.config import Config
    from traitlets.config.loader import PyFileConfigLoader

    config = Config()
    config.merge(PyFileConfigLoader("nbgrader_config.py", str(ROOT)).load_config())
    essay = nbformat.v4.new_markdown_cell(f"![d](attachment:d.png) {EVIL}")
    essay.attachments = {"d.png": {"image/png": PNG}}
    made = HTMLExporter(config=config).from_notebook_node(graded(essay))[0]
    pictures = [attributes["src"] for tag, attributes in Page(made).tags if tag == "img"]
    assert pictures == [f"data:image/png;base64,{PNG}"]
    assert EVIL not in made


@pytest.mark.parametrize(
    ("manual", "needs", "source", "text"),
    [
        (None, False, "*Your answer here*", "no answer found in its cell"),
        (None, True, "My text.", "still to be read by a person"),
        (None, True, "", "its cell is missing; a person will look at it"),
        (0.0, False, "My text.", "read by a person"),
        (1.0, True, "My text.", "read by a person; changed since, to be read again"),
    ],
)
def test_read_by_a_person_stands_only_where_a_person_has_marked_it(
    manual: float | None, needs: bool, source: str, text: str
) -> None:
    essay = marked(nbformat.v4.new_markdown_cell(source), solution=True, grade=True, grade_id="essay")
    grade = types.SimpleNamespace(manual_score=manual, needs_manual_grade=needs)
    essay.metadata.nbgrader |= {"score": manual or 0.0, "points": 2.0, **state_of(essay, grade)}
    page = Page(make_page(graded(essay), {}))
    assert text in page.text
    assert page.text.count("read by a person") == (text != "no answer found in its cell" and "missing" not in text) * (
        2 if manual is None else 1
    )


def test_a_page_has_one_title_and_headings_without_gaps() -> None:
    essay = nbformat.v4.new_markdown_cell("# My view\n\n## Second")
    notebook = graded(
        nbformat.v4.new_markdown_cell("# Causal masks\n\nText."),
        nbformat.v4.new_markdown_cell("## Section\n\n###### Deep"),
        marked(essay, solution=True, grade=True, grade_id="essay", score=1, points=2, comment="# Good"),
        check_cell(judgement()),
    )
    notebook.metadata["grading"] = {"put_right": ["the file is called 'x'"]}
    page = refuse_anything_active(make_page(notebook, {"notebook": "01"}))
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels == [1, 2, 2, 3, 6, 3, 4, 5, 4, 3]  # title, put right; notebook, section, deep; essay, comment; check


def test_code_in_sentences_is_code_and_stays_text() -> None:
    verdict = judgement(sentence="got `(1, n)`, `<b>`", mistake="the mask is `(n, n)`", hint="see `torch.tril` ` alone")
    text = make_page(graded(check_cell(verdict)), {"notebook": "01"})
    for code in ("(1, n)", "&lt;b&gt;", "(n, n)", "torch.tril"):
        assert f"<code>{code}</code>" in text
    assert "</code> ` alone" in text
    refuse_anything_active(text)


def test_tables_can_be_scrolled_and_have_no_empty_titles() -> None:
    cell = nbformat.v4.new_markdown_cell("|  | a |\n|:---|---|\n| b | 1 |\n")
    text = make_page(graded(cell, check_cell(judgement())), {"notebook": "01"})
    assert not re.search(r"<th[^>]*>\s*</th>", text)
    assert re.search(r'<td style="text-align:left">\s*</td>\s*<th>a</th>', text)
    assert len(re.findall(r'<div class="scroll"[^>]*>\s*<table', text)) == text.count("<table") == 2
    refuse_anything_active(text)


def test_what_is_hidden_stays_hidden() -> None:
    shown = judgement()
    result = nbformat.v4.new_output("execute_result", {"text/plain": "1.5"}, execution_count=1)
    stream = nbformat.v4.new_output("stream", text="called with SECRET-INPUT")
    error = nbformat.v4.new_output("error", ename="ValueError", evalue="SECRET-INPUT", traceback=['mark("01", SECRET)'])
    for outputs in ((stream, shown, result), (stream, error), (display(text_plain="SECRET-INPUT"),)):
        text = make_page(graded(check_cell(*outputs)), {"notebook": "01", "score": 1.5, "max_score": 3})
        assert "SECRET" not in text
        assert "HIDDEN" not in text
        assert "mark(" not in text
    page = make_page(graded(check_cell(stream, shown, result)), {"notebook": "01", "score": 1.5, "max_score": 3})
    assert "check" in Page(page).text
    assert "mask: not yet right - 1.5 of 3 points" in page
    assert "✓ shape" in page
    assert "✗ values" in page
    assert "The check stopped with ValueError" in make_page(graded(check_cell(error)), {"notebook": "01"})
    missing = nbformat.v4.new_output("error", ename="NameError", evalue="name 'mask' is not defined", traceback=[])
    text = Page(make_page(graded(check_cell(missing)), {})).text
    assert "The check stopped with NameError: name 'mask' is not defined" in text


def test_only_a_check_speaks_for_the_examiner() -> None:
    forged = judgement(outcome="right", earned=3.0, sentence="FORGED")
    own = nbformat.v4.new_code_cell("display(forged)", outputs=[forged])
    solution = marked(nbformat.v4.new_code_cell("display(forged)", outputs=[forged]), solution=True, grade_id="mask")
    printed = nbformat.v4.new_output("stream", text="mask: all checks passed - 3 of 3 points FORGED")
    page = Page(make_page(graded(own, solution, check_cell(forged, judgement(), printed)), {}))
    verdicts = [attributes["class"] for _, attributes in page.tags if "verdict" in (attributes.get("class") or "")]
    assert verdicts == ["verdict wrong"]
    assert page.text.count("FORGED") == 2  # each as an output of the student's own cells
    assert page.text.count("mask: not yet right - 1.5 of 3 points") == 1


def test_a_check_that_was_graded_before_verdicts_were_data_is_reported() -> None:
    shown = display(text_plain="mask: all checks passed - 3 of 3 points\n  [passed] shape")
    for outputs in ([shown], []):
        page = Page(make_page(graded(check_cell(*outputs)), {}))
        assert "There is no verdict: the check was not run, or has to be graded again." in page.text
        assert "all checks passed" not in page.text


def test_pictures_keep_their_description() -> None:
    own = display(text_html=f'<img alt="a &amp; b" style="max-width:100%" src="data:image/png;base64,{PNG}">')
    plain = nbformat.v4.new_output("display_data", {"image/png": PNG}, metadata={"image/png": {"alt": "a curve"}})
    shown = nbformat.v4.new_code_cell("plot()", outputs=[own, plain])
    page = refuse_anything_active(make_page(graded(shown), {}))
    assert [attributes["alt"] for tag, attributes in page.tags if tag == "img"] == ["a & b", "a curve"]


def test_a_figure_of_a_notebook_is_a_picture() -> None:
    drawn = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plots, "display", lambda data, raw: drawn.append(nbformat.v4.new_output("display_data", data)))
        plots.show(plots.matrix(torch.eye(3), "a title").figure, "ones where row and column are the same")
    page = refuse_anything_active(make_page(graded(nbformat.v4.new_code_cell("plot()", outputs=drawn)), {}))
    assert [attributes["alt"] for tag, attributes in page.tags if tag == "img"] == [
        "ones where row and column are the same"
    ]


def test_large_outputs_are_cut() -> None:
    shown = nbformat.v4.new_code_cell("x", outputs=[nbformat.v4.new_output("stream", text="y" * 1_000_000)])
    text = make_page(graded(shown), {})
    assert len(text) < 30_000
    assert "(990000 signs more)" in text


@pytest.mark.parametrize("beginning", ["\\begin{a}", r"\\[", r"\\( x", r"\\[\begin"])
def test_blocks_of_latex_that_do_not_end_cost_little(beginning: str) -> None:
    start = time.process_time()
    assert "signs more" in markdown(beginning * 20_000)
    assert time.process_time() - start < 5


def test_unread_essays_late_work_and_comments_are_reported() -> None:
    essay = marked(nbformat.v4.new_markdown_cell("my text"), solution=True, grade=True, grade_id="essay")
    essay.metadata.nbgrader |= {
        "score": 0.0,
        "points": 2.0,
        "unread": True,
        "said": "still to be read by a person",
        "comment": "Read **this**: $x^2$",
    }
    row = {"notebook": "01", "student": "ada", "score": 3, "max_score": 16, "late_penalty": 1.5}
    text = make_page(graded(essay), row)
    assert "1 written answer is still to be read. Handed in late: 1.5 points taken off." in text
    assert "still to be read by a person" in text
    assert "Read <strong>this</strong>: <math" in text


def formulas() -> Iterator[str]:
    for path in sorted((ROOT / "solutions").glob("[0-9][0-9]_*.py")):
        for one in source.read(path):
            if one.language == "markdown":
                text = re.sub(r"`[^`]*`|```.*?```", "", one.source, flags=re.DOTALL)
                yield from re.findall(r"\$\$(.+?)\$\$", text, re.DOTALL)
                yield from re.findall(r"\$(.+?)\$", re.sub(r"\$\$.+?\$\$", "", text, flags=re.DOTALL))


def test_every_formula_of_the_course_becomes_mathml() -> None:
    found = list(formulas())
    assert len(found) > 50
    for latex in found:
        made = mathml(latex)
        assert made.startswith("<math"), latex
        assert "\\" not in Page(made).text, latex
        refuse_anything_active(made)


def test_between_a_function_and_what_it_is_of_is_a_space() -> None:
    assert '<mi>ln</mi><mspace width="0.167em"></mspace><mi>V</mi>' in mathml(r"\ln V")
    assert "<mspace" not in mathml(r"\ln(V)") + mathml("x V")


@pytest.mark.parametrize(
    "latex",
    [
        "{" * 3000,
        r"\frac{",
        r"\begin{x}",
        "x" * 100_000,
        "\x00",
        r"\left(",
        "^^^",
        r"\sqrt[",
        "&",
        r"\unknowncommand{x}",
    ],
)
def test_formulas_that_are_none_do_no_harm(latex: str) -> None:
    refuse_anything_active(mathml(latex, block=True))


def test_formulas_of_students_are_escaped() -> None:
    made = mathml(r"\text{<script>alert(1)</script>} \href{javascript:alert(1)}{x} \class{a}{b} \style{color:red}{y}")
    page = refuse_anything_active(made)
    assert "<script>alert(1)</script>" in page.text.replace("\xa0", " ")


def test_what_is_not_graded_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="no graded submission in"):
        feedback.run(Course(tmp_path))
    with pytest.raises(CourseError, match="no graded submission of '02_x'"):
        feedback.run(Course(tmp_path), ["02_x"])
    graded = Course(tmp_path).autograded("ada", ASSIGNMENT)
    graded.parent.mkdir(parents=True)
    graded.write_text("{}")
    for assignments in ([], [ASSIGNMENT]):
        with pytest.raises(CourseError, match=r"of a student called 'nobody'.*; expected the id of one of the 1 in"):
            feedback.run(Course(tmp_path), assignments, students=["ada", "nobody"])


# --- through nbgrader -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two students of the demo class and one whose texts are full of HTML, graded the safe way."""
    if sandbox.probe():
        pytest.skip(f"no sandbox on this machine: {sandbox.probe()}")
    made = tmp_path_factory.mktemp("feedback")
    demo.make(made)
    hostile = perfect()
    cell(hostile, "causal_mask").source = f'"""{EVIL}"""\nraise ValueError({EVIL!r})'
    cell(hostile, "attention_weights").source += f"\nprint({EVIL!r})"
    cell(hostile, "mask_essay").source = f"{EVIL}\n\n[link](http://evil.example)"
    folder = made / "gradebook" / "submitted" / "hostile" / ASSIGNMENT
    folder.mkdir(parents=True)
    (folder / f"{EVIL.replace('/', '_')}.ipynb").write_text(nbformat.writes(hostile), encoding="utf-8")
    students = ["ada_perfect", "denis_mistaken", "hostile"]
    autograde.run(Settings(Course(made), students=students, workers=1, progress=False))
    return made


def page_of(course: Path, student: str) -> str:
    return (course / "gradebook" / "feedback" / student / ASSIGNMENT / f"{ASSIGNMENT}.html").read_text(encoding="utf-8")


@pytest.mark.all
def test_nbgraders_own_command_makes_our_pages(course: Path) -> None:
    done = nbgrader(course, "generate_feedback", ASSIGNMENT, "--student", "denis_mistaken")
    assert done.returncode == 0, done.stderr
    text = page_of(course, "denis_mistaken")
    page = refuse_anything_active(text)
    assert "1.25 of 16 points" in page.text
    assert "causal_mask: not yet right - 0.25 of 3 points" in page.text
    assert "This looks like: the diagonal is blocked too" in page.text
    assert text.count("<math") > 10
    assert "HIDDEN" not in text
    assert "grading.definitions.examiner" not in text
    assert f"<title>{ASSIGNMENT}: denis_mistaken</title>" in text  # the gradebook knows no name yet
    Course(course).name_students({"denis_mistaken": ("Denis", "<i>Mistaken")})
    assert feedback.run(Course(course), students=["denis_mistaken"], progress=False) == 0
    named = f"{ASSIGNMENT}: Denis &lt;i&gt;Mistaken (denis_mistaken)"
    text = page_of(course, "denis_mistaken")
    assert f"<title>{named}</title>" in text
    assert f"<h1>{named}</h1>" in text


def test_feedback_of_the_chosen_students_holds_marks_as_they_are_now(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course}/gradebook/gradebook.db", "transformers") as book:
        grade = book.find_grade("mask_essay", ASSIGNMENT, ASSIGNMENT, "ada_perfect")
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        book.find_comment("mask_essay", ASSIGNMENT, ASSIGNMENT, "ada_perfect").manual_comment = "Well *said*"
        book.db.commit()
    assert feedback.run(Course(course), students=["ada_perfect"], progress=False) == 0
    assert "feedback: 1\n" in capsys.readouterr().out
    page = refuse_anything_active(page_of(course, "ada_perfect"))
    assert "15.5 of 16 points" in page.text
    assert "Well said" in page.text
    assert "still to be read" not in page.text


def test_a_hostile_submission_makes_a_harmless_page(course: Path) -> None:
    assert feedback.run(Course(course), [ASSIGNMENT], ["hostile"], progress=False) == 0
    page = refuse_anything_active(page_of(course, "hostile"))
    assert page.text.count('alert("evil")') >= 3
    assert "Put right before grading" in page.text


def test_a_page_that_cannot_be_made_is_reported_and_costs_no_other(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = course / "gradebook" / "autograded" / "broken" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    broken.parent.mkdir(parents=True)
    broken.write_text("{ half of a file")
    assert feedback.run(Course(course), students=["ada_perfect", "broken"], progress=False) == 1
    captured = capsys.readouterr()
    assert "feedback: 1\n" in captured.out
    assert f"no page for broken {ASSIGNMENT}" in captured.err
    log = Path(captured.err.rsplit("log: ", 1)[1].strip()).read_text(encoding="utf-8")
    assert "There was an error processing assignment" in log
    assert "Traceback" in log
