"""Exercises of notebook 06: pretrained against scratch."""
