"""What is measured of answers: a file a notebook, and `registry`, which says what a measure is."""

from importlib import import_module
from pkgutil import iter_modules

from tutor.checking.measures.registry import INPUTS_KEPT as INPUTS_KEPT
from tutor.checking.measures.registry import MEASURES as MEASURES
from tutor.checking.measures.registry import SAYS_WHY as SAYS_WHY
from tutor.checking.measures.registry import measured as measured

for _file in iter_modules(__path__):
    import_module(f"{__name__}.{_file.name}")
