"""Exercises of notebook 18."""
