"""The proof of the exercises of notebook 09."""

from tests.bank_proof import *  # noqa: F403 - pytest finds the tests in this module

NOTEBOOK = "09_synthesizer"
