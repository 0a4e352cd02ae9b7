"""The proof of the exercises of notebook 10."""

from tests.bank_proof import *  # noqa: F403 - pytest finds the tests in this module

NOTEBOOK = "10_pretrained_knowledge"
