"""The proof of the exercises of notebook 00."""

from tests.bank_proof import *  # noqa: F403 - pytest finds the tests in this module

NOTEBOOK = "00_start_here"
