"""What Validate needs, where Jupyter looks for settings from any folder: in `etc/jupyter` of the environment."""

from helpers import validating

validating.configure(get_config())  # noqa: F821 - nbgrader defines it when it reads this file
