"""Notebooks that were released before `tutor` was a package of its own say `from helpers.check import check`."""

from tutor.checks import check as check
