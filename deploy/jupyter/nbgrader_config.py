"""What Validate needs, where Jupyter looks for settings from any folder: in `etc/jupyter` of the environment."""

import sys

if "nbgrader" in sys.modules:  # who only looks for the address of the gradebook need not wait for it
    from tutor import validating

    validating.configure(get_config())  # noqa: F821 - nbgrader defines it when it reads this file
