"""From a submitted file to a mark in nbgrader's gradebook."""
