"""The machinery behind `check()`: plain values, asking an answer, comparing, judging. Not part of the lessons."""
