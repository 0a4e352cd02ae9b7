"""`python -m helpers.weights`: which real models there are, and fetching them."""

import sys

from helpers.weights.fetching import main

sys.exit(main(sys.argv[1:]))
