"""What the notebooks of the Transformers course import.

Each module is small and meant to be read: `device` (where tensors live), `models`, `check`
(what says whether an answer is right) and the others that the notebooks name.
`python -m helpers` prints what is installed and what is missing.
"""

from helpers.memory import keep_freed_memory
from helpers.threads import use_one_thread

__version__ = "0.1.0"

keep_freed_memory()
use_one_thread()
