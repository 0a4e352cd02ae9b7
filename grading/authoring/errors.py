"""What is said of a source that is not as it must be."""

from __future__ import annotations

from grading.folder.errors import CourseError


class BuildError(CourseError):
    """A source is not as it must be; the message names the file and the line."""
