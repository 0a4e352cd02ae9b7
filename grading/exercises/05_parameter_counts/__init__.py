"""Exercises of notebook 05: count by hand, by sympy and by numel."""
