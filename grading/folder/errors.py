"""The errors that a person can mend. Standard library only."""

from __future__ import annotations


class CourseError(Exception):
    """Stops a command; the message says what is wrong, what was expected and what to do.

    `status` is the exit status of the command.
    """

    status = 2
