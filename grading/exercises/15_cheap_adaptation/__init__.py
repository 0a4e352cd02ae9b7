"""Exercises of notebook 15: to adapt a model by training few of its numbers."""
