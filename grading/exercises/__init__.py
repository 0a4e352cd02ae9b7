"""The definitions: a folder for each notebook, in it a file for each exercise, named like the exercise.

What several exercises of a notebook share stands beside them in `_common.py`.
"""
