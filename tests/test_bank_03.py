"""The proof of the exercises of notebook 03."""

from tests.bank_proof import *  # noqa: F403 - pytest finds the tests in this module

NOTEBOOK = "03_attention_heads"
