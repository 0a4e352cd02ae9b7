"""Exercises of notebook 08: attention as a soft dictionary, measured by what it gives out."""
