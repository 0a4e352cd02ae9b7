"""Makes the course's environment from nothing but a Python; `python3 -m deploy --help` says how."""
