"""Exercises of notebook 04: from language model to classifier."""
