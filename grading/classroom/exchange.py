"""nbgrader's exchange: `collect` takes only what can be trusted, `release_feedback` stops at nobody.

Whoever hands in writes into the exchange as an account of the machine. nbgrader reads what lies there with the
instructor's rights, and warns at most: a folder could bear another student's name, and a link in it could lead to the
solutions, which would then be handed in, graded, and shown on the feedback page. When something came in, too, nbgrader
believes the student: here the file system decides.
"""

from __future__ import annotations

import datetime
import glob
import os
import stat
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect, ExchangeReleaseFeedback
from nbgrader.utils import notebook_hash
from traitlets import Bool

from grading.folder.course import parse_timestamp
from grading.notebooks.beside import SECRET, STAMP, read_beside, why_no_secret
from tutor.files import write_whole

UTC = datetime.timezone.utc
FORM = "%Y-%m-%d %H:%M:%S.%f UTC"
GRACE = datetime.timedelta(seconds=60)  # for handing in: nbgrader takes the time first, and copies then


class CollectOwned(ExchangeCollect):  # type: ignore[misc]  # nbgrader has no types
    """Collects folders that belong to the account they are named after, and from these the plain files of that account.

    `c.ExchangeCollect.check_owner = False` takes folders of all accounts, for an exchange in which everybody is one.

    A submission came in when its folder was last changed: the system keeps that time (`st_ctime`), and no account can
    set it. The time in the folder's name counts where it is at most a minute earlier.
    """

    check_time = Bool(
        default_value=True,
        help="Believe the file system when something came in, and not the student. For an exchange that was copied or "
        "restored from a backup, which makes everything in it new, say False.",
    ).tag(config=True)

    src_records: list[dict[str, Any]]

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """Returns whose a folder is, and when it came in as nbgrader has times: in UTC, without a zone."""
        filename = os.path.basename(path)
        username = filename.rsplit("+", 3)[0]
        try:
            came, _ = self._came_in(filename, [os.lstat(found) for found in (Path(path), *Path(path).iterdir())])
        except OSError:  # it is gone, or no folder
            came = datetime.datetime.fromtimestamp(0, UTC)
        return {"username": username, "filename": filename, "timestamp": came.replace(tzinfo=None)}

    def _came_in(self, filename: str, found: list[os.stat_result]) -> tuple[datetime.datetime, bool]:
        """Returns when a submission came in, of which `found` are the folder and its files, and if its name says so."""
        received = datetime.datetime.fromtimestamp(max(one.st_ctime for one in found), UTC)
        named = parse_timestamp(filename.rsplit("+", 3)[2].encode())
        if named is None or (self.check_time and not received - GRACE <= named <= received):
            return received, False
        return named, True

    def _sort_by_timestamp(self, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Returns what bears somebody's name, the newest first; what another account has made is named, and last."""
        newest: list[dict[str, Any]] = super()._sort_by_timestamp(records)
        for record in newest:
            if not self._is_own(record):
                self.log.warning(
                    "%s is left out: it is named after %s, and somebody else has made it.",
                    record["filename"],
                    record["username"],
                )
        return sorted(newest, key=lambda record: not self._is_own(record))

    def init_src(self) -> None:
        """Finds the newest submission of each student, among those that the student's own account has made."""
        super().init_src()
        self.src_records = [record for record in self.src_records if self._is_own(record)]

    def _is_own(self, record: dict[str, Any]) -> bool:
        if not self.check_owner:
            return True
        import pwd  # Windows has none, and no exchange; this file is read there all the same

        try:
            found = os.lstat(os.path.join(self.inbound_path, record["filename"]))
            return stat.S_ISDIR(found.st_mode) and pwd.getpwuid(found.st_uid).pw_name == record["username"]
        except (OSError, KeyError):  # it is gone, or its account
            return False

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copies the plain files of a submission, those that its folder's owner has made; names what it leaves out.

        No name is looked up twice, so nothing can be exchanged for a link meanwhile. `timestamp.txt` is written anew.
        """
        folder = os.open(src, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
        try:
            owner = os.fstat(folder).st_uid
            os.makedirs(dest)
            left = int(self.coursedir.max_dir_size) * 1000
            names = sorted(os.listdir(folder))
            for name in names:
                content = _plain_file(folder, name, owner, min(left, int(self.coursedir.max_file_size) * 1000))
                if content is None:
                    self.log.warning("%s: %s is left out: no plain file of the student's, or too large", src, name)
                    continue
                left -= len(content)
                Path(dest, name).write_bytes(content)
            # After the last byte was read: what was changed until then came in then.
            found = [os.stat(name, dir_fd=folder, follow_symlinks=False) for name in names]
            came, is_named = self._came_in(os.path.basename(src), [os.fstat(folder), *found])
        finally:
            os.close(folder)
        Path(dest, STAMP).write_text(came.strftime(FORM), encoding="utf-8")
        if not is_named:
            self.log.warning("%s came in at %s, whatever its name says", src, came.strftime(FORM))


def _plain_file(folder: int, name: str, owner: int, most: int) -> bytes | None:
    """Returns what a plain file in an opened folder holds, None for anything else, another's, or more than `most`."""
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)  # a pipe would wait
    except OSError:  # a link, or nothing that can be read
        return None
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != owner:
            return None
        with os.fdopen(file, "rb", closefd=False) as opened:
            content = opened.read(most + 1)
    finally:
        os.close(file)
    return content if len(content) <= most else None


class ReleasePages(ExchangeReleaseFeedback):  # type: ignore[misc]  # nbgrader has no types
    """Gives each feedback page back to the attempt that it is about, and names whose page cannot be given back.

    nbgrader's own stops at the first page whose submission did not come through the exchange, or whose secret cannot be
    read; and of a notebook that was handed in under another name than its assignment's nobody finds the page.
    """

    def copy_files(self) -> None:
        """Puts the pages where nbgrader's `fetch_feedback` looks for them: under the hash of secret and notebook."""
        assignment, excluded = self.coursedir.assignment_id, self.coursedir.student_id_exclude.split(",")
        pages = sorted(glob.glob(os.path.join(self.src_path, f"{glob.escape(assignment)}.html")))
        if not pages:
            self.log.warning("There is no feedback page for %s: generate the feedback first.", self.src_path)
        for page in map(Path, pages):
            student = page.parts[-3]
            if student in excluded:
                continue
            secret = read_beside(page.parent).get(SECRET)
            if secret is None:
                self.log.warning("%s gets no page: %s", student, why_no_secret(self._submitted(student)))
                continue
            for name in {assignment, *self._names(student, secret)}:
                checksum = notebook_hash(secret=secret.decode(), notebook_id=name)
                write_whole(Path(self.dest_path, f"{checksum}.html"), page.read_bytes())
            self.log.info("Released the feedback of %s on %s", student, assignment)

    def _submitted(self, student: str) -> Path:
        folder = self.coursedir
        return Path(folder.format_path(folder.submitted_directory, student, folder.assignment_id))

    def _names(self, student: str, secret: bytes) -> list[str]:
        """Returns the names of all notebooks of an attempt, as long as it is there: nbgrader's Assignment List offers
        feedback only where there is some for each of them."""
        folder = self._submitted(student)
        return [path.stem for path in folder.glob("*.ipynb")] if read_beside(folder).get(SECRET) == secret else []
