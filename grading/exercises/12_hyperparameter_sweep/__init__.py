"""Exercises of notebook 12: a sweep over four settings, and one that fails."""
