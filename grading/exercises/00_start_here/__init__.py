"""The one exercise of notebook 00: it shows the whole way from an empty cell to a mark."""
