"""What the notebooks of the Transformers course compute with: small modules, meant to be read.

`device` (where tensors live), `vocabulary`, `corpora`, `batches`, `models`, `training` with its `checkpoints`, and
`plots`; `weights`, which reads published models, and `llama`; `heads`, `pieces` and `bleu`, on which later notebooks
build.
What checks answers and gives hints is in `tutor`.
"""

import sys

from helpers.memory import keep_freed_memory
from helpers.moved import Moved
from helpers.threads import use_one_thread

__version__ = "0.3.0"

sys.meta_path.append(Moved)
keep_freed_memory()
use_one_thread()
if "torch" in sys.modules:  # as in all notebooks; else `helpers.training` does it
    from helpers.optimizers import leave_out_compiler

    leave_out_compiler()
