"""`python3 -m deploy --lab` does what `make lab` does.

A Python that is too old must be able to read this file, to say so; environment.py is for newer ones.
"""

import sys

OLDEST = (3, 10)

if sys.version_info[:2] < OLDEST:
    found = sys.executable + " is Python " + ".".join(map(str, sys.version_info[:3]))
    remedy = "and name it, for example `make lab PYTHON=python3.12` or `python3.12 -m deploy --lab`."
    wanted = "The course needs Python " + ".".join(map(str, OLDEST)) + " or newer"
    sys.exit(wanted + ", and " + found + ": install a newer Python " + remedy)
else:
    from deploy.environment import main

    sys.exit(main())
