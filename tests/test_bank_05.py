"""The proof of the exercises of notebook 05."""

from tests.bank_proof import *  # noqa: F403 - pytest finds the tests in this module

NOTEBOOK = "05_parameter_counts"
