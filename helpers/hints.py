"""Notebooks that were released before `tutor` was a package of its own say `from helpers.hints import hint`."""

from tutor.hints import hint as hint
