"""What is looked at of a call: `registry` says what a probe is; those of one notebook are in a file of its name."""

from importlib import import_module
from pkgutil import iter_modules

from tutor.checking.probes.registry import PROBES as PROBES
from tutor.checking.probes.registry import Question as Question
from tutor.checking.probes.registry import built as built
from tutor.checking.probes.registry import prepare as prepare
from tutor.checking.probes.registry import probe as probe

for _file in iter_modules(__path__):
    import_module(f"{__name__}.{_file.name}")
