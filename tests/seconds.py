"""Makes `tests/seconds.json`, the order of tests in a fresh clone, of what the last runs took.

After `make test-all`: `.venv/bin/python -m tests.seconds`.
"""

import json

from tests.tiers import DEFAULT, ROOT, Seconds
from tutor.files import write_whole

SHORT = 5  # what takes less need not be known


def main() -> None:
    """Writes the file."""
    seconds = Seconds(ROOT)
    groups = seconds.of_groups([*seconds.known()])
    long = {group: round(took) for group, took in sorted(groups.items()) if took >= SHORT}
    write_whole(DEFAULT, json.dumps(long, indent=1) + "\n")


if __name__ == "__main__":
    main()
