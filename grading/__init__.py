"""What instructors run: exercises, examiner, build and command line. Students never need this package."""
