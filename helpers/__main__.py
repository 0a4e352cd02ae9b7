"""`python -m helpers` is what students typed before `python -m tutor`; it does the same."""

import sys

from tutor.__main__ import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
