"""The proof of the exercises of notebook 01."""

from tests.bank_proof import *  # noqa: F403 - pytest finds the tests in this module

NOTEBOOK = "01_causal_mask"
