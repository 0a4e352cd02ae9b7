"""Which questions a submission meets: drawn from a seed that nobody outside can know. Standard library only.

The seed is one of a few, chosen by a secret of the course, the student and the submission. So the same submission
always meets the same questions, and who hands in something else nearly always meets others: what one has learned of the
hidden questions is of no use. That they are few saves most of the time of a large class: each is drawn once.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets

from grading.folder.course import Course
from grading.folder.errors import CourseError
from tutor.files import write_new

FILE = ".course_secret"  # in the course's folder; git ignores it, and only its owner can read it
VARIABLE = "COURSE_SECRET"  # of the environment: in place of the file, where several machines grade one class
LEAST = 16  # signs
VARIANTS = 12  # sets of questions in a course


def secret_of(course: Course) -> bytes:
    """Returns the secret of a course; makes its file when there is none.

    Raises:
        CourseError: when the file cannot be read or made, or what it holds is no secret.
    """
    path = course.root / FILE
    secret = os.environ.get(VARIABLE, "")
    try:
        if not secret:
            write_new(path, f"{secrets.token_hex(32)}\n".encode(), mode=0o600)
            secret = path.read_text(encoding="ascii").strip()
    except (OSError, ValueError) as problem:
        raise CourseError(
            f"{path} cannot be read or made ({problem}); expected the secret from which hidden questions are drawn. "
            f"Give its folder's owner the right to write there, or set {VARIABLE}."
        ) from problem
    if len(secret) < LEAST:
        raise CourseError(
            f"the secret of the course has {len(secret)} signs; expected at least {LEAST}. Delete {path}: a new one is "
            "made, and every submission is graded again."
        )
    return secret.encode()


def seed_of(secret: bytes, student: str, submission: str) -> str:
    """Returns the seed for one submission, chosen by its fingerprint: one of `VARIANTS`."""
    chosen = int.from_bytes(_mixed(secret, f"{student}\0{submission}"), "big") % VARIANTS
    return _mixed(secret, f"variant {chosen}").hex()


def _mixed(secret: bytes, text: str) -> bytes:
    return hmac.new(secret, text.encode(), hashlib.sha256).digest()
