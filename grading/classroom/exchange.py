"""`nbgrader collect` from an exchange that a whole hub shares: only what belongs to whom it is named after.

Whoever hands in writes into the exchange as an account of the machine. nbgrader reads what lies there with the
instructor's rights, and warns at most: a folder could bear another student's name, and a link in it could lead to the
solutions, which would then be handed in, graded, and shown on the feedback page.
"""

from __future__ import annotations

import os
import pwd
import stat
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect


class CollectOwned(ExchangeCollect):  # type: ignore[misc]  # nbgrader has no types
    """Collects folders that belong to the account they are named after, and from these the plain files of that account.

    `c.ExchangeCollect.check_owner = False` takes folders of all accounts, for an exchange in which everybody is one.
    """

    src_records: list[dict[str, Any]]

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
        try:
            found = os.lstat(os.path.join(self.inbound_path, record["filename"]))
            return stat.S_ISDIR(found.st_mode) and pwd.getpwuid(found.st_uid).pw_name == record["username"]
        except (OSError, KeyError):  # it is gone, or its account
            return False

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copies the plain files of a submission, those that its folder's owner has made; names what it leaves out.

        No name is looked up twice, so nothing can be exchanged for a link meanwhile.
        """
        folder = os.open(src, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
        try:
            owner = os.fstat(folder).st_uid
            os.makedirs(dest)
            left = int(self.coursedir.max_dir_size) * 1000
            for name in sorted(os.listdir(folder)):
                content = _plain_file(folder, name, owner, min(left, int(self.coursedir.max_file_size) * 1000))
                if content is None:
                    self.log.warning("%s: %s is left out: no plain file of the student's, or too large", src, name)
                    continue
                left -= len(content)
                Path(dest, name).write_bytes(content)
        finally:
            os.close(folder)


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
