"""The proof of the exercises of notebook 12."""

from tests.bank_proof import *  # noqa: F403 - pytest finds the tests in this module

NOTEBOOK = "12_hyperparameter_sweep"
