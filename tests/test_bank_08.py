"""The proof of the exercises of notebook 08."""

from tests.bank_proof import *  # noqa: F403 - pytest finds the tests in this module

NOTEBOOK = "08_attention_copying"
