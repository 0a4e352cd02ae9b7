"""Exercises of notebook 03: from one dot product to heads, encoder and decoder layers."""
