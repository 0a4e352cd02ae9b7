"""Exercises of notebook 11: translation."""
