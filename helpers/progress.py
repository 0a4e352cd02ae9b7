"""Notebooks that were released before `tutor` was a package of its own say `from helpers.progress import progress`."""

from tutor.overview import progress as progress
