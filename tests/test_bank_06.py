"""The proof of the exercises of notebook 06."""

from tests.bank_proof import *  # noqa: F403 - pytest finds the tests in this module

NOTEBOOK = "06_pretrained_vs_scratch"
