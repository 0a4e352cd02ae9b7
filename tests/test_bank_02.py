"""The proof of the exercises of notebook 02."""

from tests.bank_proof import *  # noqa: F403 - pytest finds the tests in this module

NOTEBOOK = "02_positional_encoding"
