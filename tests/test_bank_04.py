"""The proof of the exercises of notebook 04."""

from tests.bank_proof import *  # noqa: F403 - pytest finds the tests in this module

NOTEBOOK = "04_head_replacement"
