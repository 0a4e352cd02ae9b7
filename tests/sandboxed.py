"""Whether this machine can make a sandbox: asked once, for all tests that need one."""

import pytest

from grading import sandbox

WHY = sandbox.probe()
needs_sandbox = pytest.mark.skipif(bool(WHY), reason=f"no sandbox on this machine: {WHY}")
