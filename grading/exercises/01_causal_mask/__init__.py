"""Exercises of notebook 01: the square mask, causality, and padding."""
