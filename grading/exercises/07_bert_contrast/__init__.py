"""Exercises of notebook 07: causal against masked language modelling."""
