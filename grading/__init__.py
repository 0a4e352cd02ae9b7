"""What instructors run: exercises, examiner, build and command line. Students never need this package."""

import sys

# nbformat imports jsonschema, and that imports this to check addresses in other languages' letters, of which notebooks
# have none: 38 grammars, 2.5 seconds for every command. Where it is missing, jsonschema does without it.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
