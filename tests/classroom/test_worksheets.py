"""Moodle's grading worksheet in any language, with whatever columns the school shows: as a roster and to hand back."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import pytest

from grading.classroom import collect, roster
from grading.classroom.export import Mark
from grading.classroom.worksheet import Worksheet, is_worksheet
from grading.classroom.worksheet_columns import find_columns
from grading.folder.course import Course
from grading.folder.errors import CourseError
from tests.classroom.delivered import A, content, make_zip, there

# The word for a participant, the titles, a status, "Yes", a date.
LANGUAGES = {
    "English": (
        "Participant ",
        "Identifier,Full name,ID number,Email address,Status,Grade,Maximum grade,Grade can be changed,"
        "Last modified (submission),Last modified (grade),Feedback comments",
        ("Submitted for grading", "Yes", "Monday, 12 January 2026, 5:00 PM"),
    ),
    "French": (
        "Participant ",
        "Identifiant,Nom complet,Numéro d'identification,Adresse de courriel,Statut,Note,Note maximale,La note peut "
        "être modifiée,Dernière modification (travail remis),Dernière modification (note),Commentaires de feedback",
        ("Remis pour évaluation", "Oui", "lundi 12 janvier 2026, 17:00"),
    ),
    "German": (
        "Teilnehmer/in",
        "ID,Vollständiger Name,ID-Nummer,E-Mail-Adresse,Status,Bewertung,Maximale Bewertung,Bewertung kann geändert "
        "werden,Zuletzt geändert (Abgabe),Zuletzt geändert (Bewertung),Feedback als Kommentar",
        ("Zur Bewertung abgegeben", "Ja", "Montag, 12. Januar 2026, 17:00"),
    ),
    "Spanish": (
        "Participante ",
        "Identificador,Nombre completo,Número de ID,Dirección de correo,Estado,Calificación,Calificación máxima,La "
        "calificación puede ser cambiada,Última modificación (entrega),Última modificación (calificación),Comentarios",
        ("Enviado para calificar", "Sí", "lunes, 12 de enero de 2026, 17:00"),
    ),
    "Finnish": (
        "Osallistuja ",
        "Tunniste,Koko nimi,Tunnistenumero,Sähköposti,Tila,Arvosana,Suurin,Voi muuttaa,Muokattu,Arvioitu,Palaute",
        ("Palautettu", "Kyllä", "maanantai 12. tammikuuta 2026, 17.00"),
    ),
    "Russian": (
        "Участник ",
        "Идентификатор,Полное имя,Номер,Адрес,Состояние,Оценка,Максимум,Можно изменить,Изменён,Оценен,Отзыв",
        ("Ответы для оценки", "Да", "понедельник, 12 января 2026, 17:00"),
    ),
    "Chinese": (
        "参与者",
        "识别符,全名,ID号,电子邮件,状态,成绩,最高分,成绩可以修改,最后修改(提交),最后修改(成绩),反馈意见",
        ("已提交", "是", "2026年01月12日 星期一 17:00"),
    ),
}
PEOPLE = [
    ("Ada Lovelace", "00012345", "ada@x.org"),
    ("Jürgen Müller", "00012346", "jm@x.org"),
    ("Kurt Gödel", "", "k@x.org"),
]


def sheet(
    language: str,
    *,
    shown: Sequence[str] = ("name", "id", "mail"),
    comma: bool = False,
    grade: str = "",
    separator: str = ",",
) -> str:
    """Returns a worksheet; `shown` are the columns that the school shows to teachers."""
    word, titles, (status, yes, date) = LANGUAGES[language]
    head = titles.split(",")
    places = [at for at, name in enumerate(("name", "id", "mail"), start=1) if name not in shown]
    lines = [head]
    for number, (name, identifier, mail) in enumerate(PEOPLE, start=8800001):
        highest = "16,00" if comma else "16.00"
        there = number < 8800003
        lines.append(
            [f"{word}{number}", name, identifier, mail, status, grade, highest, yes, date if there else "-", "-", ""]
        )
    file = io.StringIO()
    table = [[value for at, value in enumerate(line) if at not in places] for line in lines]
    csv.writer(file, delimiter=separator, lineterminator="\r\n").writerows(table)
    return file.getvalue()


def delivery(path: Path, names: Sequence[str] = ("Ada Lovelace", "Jürgen Müller", "Kurt Gödel")) -> Path:
    files = {
        f"{name}_{8800001 + at}_assignsubmission_file/{A}.ipynb": content(str(at)) for at, name in enumerate(names)
    }
    return make_zip(path, files)


def collected(tmp_path: Path, text: str, names: Sequence[str] = (), encoding: str = "utf-8-sig") -> set[str]:
    course, file = tmp_path / "course", tmp_path / "students.csv"
    file.write_bytes(text.encode(encoding))
    found = collect.collect(
        Course(course), delivery(tmp_path / "x.zip", names or [one[0] for one in PEOPLE]), A, roster_file=file
    )
    assert (found.unknown, found.refused, found.missing) == ([], [], [])
    mine = {f"{8800001 + at}": at for at in range(3)}
    for place, data in there(course).items():
        (person,) = [one for one in roster.load(file) if one.id == place.split("/")[0]]
        assert data == content(str(mine[person.columns["identifier"].rpartition(" ")[2].lstrip("参与者")]))
    return {place.split("/")[0] for place in there(course)}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("separator", "comma"), [(",", False), (";", True), ("\t", True)])
def test_any_language_is_a_roster(tmp_path: Path, language: str, separator: str, comma: bool) -> None:
    text = sheet(language, separator=separator, comma=comma)
    assert collected(tmp_path, text) == {"00012345", "00012346", "k@x.org"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("language", ["French", "German", "Spanish"])
def test_any_alphabet(tmp_path: Path, language: str, encoding: str) -> None:
    text = sheet(language, separator=";", comma=True)
    assert collected(tmp_path, text, encoding=encoding) == {"00012345", "00012346", "k@x.org"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_where_the_school_hides_ids_the_number_is_the_id(tmp_path: Path, language: str) -> None:
    numbers = {"8800001", "8800002", "8800003"}
    assert collected(tmp_path / "name", _made(tmp_path / "name", sheet(language, shown=["name"]))) == numbers
    word = LANGUAGES[language][0].strip().replace("/", "")
    for at, names in enumerate(([word] * 3, [f"{word} {8800001 + at}" for at in range(3)], [f"Gruppe 1-{word}"] * 3)):
        folder = tmp_path / str(at)
        assert collected(folder, _made(folder, sheet(language, shown=[])), names) == numbers


def _made(folder: Path, text: str) -> str:
    folder.mkdir()
    return text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("shown", [["name", "id", "mail"], ["name", "mail"], ["name"], []])
@pytest.mark.parametrize("comma", [False, True])
def test_marks_go_back_into_the_same_worksheet(tmp_path: Path, language: str, shown: list[str], comma: bool) -> None:
    path = tmp_path / "w.csv"
    before = sheet(language, shown=shown, comma=comma)
    path.write_text(before, encoding="utf-8", newline="")
    assert is_worksheet(path)
    made = Worksheet(path)
    wanted = {"ada@x.org"} if "mail" in shown else {"00012345"} if "id" in shown else {"8800001"}
    assert made.find(wanted) == ("" if shown == ["name"] and wanted != {"8800001"} else "8800001")
    mark = Mark("ada", A, 14.5, 16.0, 0, "")
    assert made.other_scale(mark, "8800001") == ""
    made.grade("ada", "8800001", mark, has_page=False)
    after = list(csv.reader(io.StringIO(made.content().decode())))
    old = list(csv.reader(io.StringIO(before)))
    changed = [(row, at) for row, line in enumerate(old) for at, value in enumerate(line) if after[row][at] != value]
    grade = 5 - (3 - len(shown))
    assert changed == [(1, grade), (1, grade + 5)]
    assert after[1][grade] == ("14,5" if comma else "14.5")
    assert after[1][grade + 5] == "14.5 of 16 points."


def test_marks_that_are_there_do_not_hide_the_columns(tmp_path: Path) -> None:
    for grade in ("16.00", "3.5", "-"):
        lines = list(csv.reader(io.StringIO(sheet("French", grade=grade))))
        found = find_columns(lines[0], lines[1:])
        assert found is not None
        assert (found.grade, found.highest, found.comments, found.name, found.mail, found.ids) == (5, 6, 10, 1, 3, (2,))


@pytest.mark.parametrize(
    "text",
    [
        "id,first_name,last_name,email\nu1,Ada,Lovelace,a@x.org\nu2,Kurt,Gödel,k@x.org\n",
        "username;name;points;max;seen\nu1;Ada;3;16;-\nu2;Kurt;4;16;-\n",
        "username,name,mail,joined,seen\n"
        "u1,Ada,a@x.org,2026-01-12 17:00,2026-01-13 08:00\nu2,Kurt,k@x.org,2026-01-12 17:00,-\n",
        "login,name,a,b,c,d\nstudent 1,Ada,,,,\nstudent 2,Kurt,,,,\n",
        "id,name,when,last,x\nu1,Ada,2026-01-12 17:00,n,1\nu2,Kurt,2026-01-12 17:00,n,2\n",
    ],
)
def test_other_lists_are_no_worksheets(tmp_path: Path, text: str) -> None:
    lines = list(csv.reader(io.StringIO(text), delimiter=";" if ";" in text else ","))
    assert find_columns(lines[0], lines[1:]) is None
    path = tmp_path / "x.csv"
    path.write_text(text)
    assert not is_worksheet(path)
    with pytest.raises(CourseError, match="no grading worksheet"):
        Worksheet(path)


def test_blind_marking_without_a_list_goes_by_the_number(tmp_path: Path) -> None:
    course = tmp_path / "course"
    found = collect.collect(Course(course), delivery(tmp_path / "x.zip", ["Participant"] * 3), A)
    assert found.unknown == []
    assert there(course) == {f"{8800001 + at}/{A}": content(str(at)) for at in range(3)}
    later = make_zip(tmp_path / "y.zip", {f"Participant_8800009_assignsubmission_file/{A}.ipynb": content("z")})
    collect.collect(Course(course), later, A)
    assert there(course)[f"8800001/{A}"] == content("0")
