"""`python -m grading COMMAND`: the instructor's and the maintainer's command line."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from grading.command_line import parse
from grading.folder.errors import CourseError


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status. Only its own module is imported, and only now."""
    options = parse(arguments)
    name, _, function = options.run.partition(":")
    try:
        if (folder := getattr(options, "course", None)) and not folder.is_dir():
            raise CourseError(f"there is no folder {folder}; expected a course folder, with solutions/ in it.")
        status: int = getattr(importlib.import_module(name), function)(options)
    except CourseError as problem:
        print(problem, file=sys.stderr)
        return problem.status
    except OSError as problem:
        print(
            f"a file cannot be read or written ({problem}); what was written is whole. Make room or give the right, "
            "and run the same command again.",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print("stopped; what was written is whole. Run the same command again to go on.", file=sys.stderr)
        return 130
    return status


if __name__ == "__main__":
    sys.exit(main())
