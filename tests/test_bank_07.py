"""The proof of the exercises of notebook 07."""

from tests.bank_proof import *  # noqa: F403 - pytest finds the tests in this module

NOTEBOOK = "07_bert_contrast"
