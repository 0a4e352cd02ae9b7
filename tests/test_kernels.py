"""The kernels of the replay: forked, and apart from each other; where none can be forked, in a process of their own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, RunningKernel

from deploy.hub.forking import Process
from tests import kernels

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no kernel is forked")
SEED = "import torch; print(torch.initial_seed())"
LOADED = "import sys; print('torch' in sys.modules)"


@pytest.fixture(scope="module")
def server() -> Iterator[None]:
    """A process that forks kernels: that of this run, or else one for these tests."""
    if kernels.SOCKET in os.environ:
        yield
        return
    end = kernels.begin()
    yield
    end()


@pytest.fixture(autouse=True)
def _taken_by_nbval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nbval.kernel.KernelManager", kernels.Manager)


def started(folder: Path) -> RunningKernel:
    return RunningKernel(CURRENT_ENV_KERNEL_NAME, cwd=str(folder), startup_timeout=600)


def printed(kernel: RunningKernel, source: str) -> str:
    """Returns what a cell prints; fails where it raises."""
    asked, text = kernel.execute_cell_input(source), ""
    while True:
        message = kernel.get_message("iopub", timeout=600)
        if message["parent_header"].get("msg_id") != asked:
            continue
        assert message["msg_type"] != "error", message["content"]
        text += message["content"].get("text", "")
        if message["content"].get("execution_state") == "idle":
            return text.strip()


@pytest.mark.usefixtures("server")
def test_a_forked_kernel_shares_the_libraries_and_nothing_that_another_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = started(tmp_path)
    assert isinstance(first.km.provisioner.process, Process)
    assert printed(first, LOADED) == "True"
    seed = printed(first, SEED)
    printed(first, "import os, torch; torch.seed(); torch.of_the_first = mine = 1; os.environ['OF_THE_FIRST'] = '1'")
    monkeypatch.setenv("OF_THE_SECOND", "1")
    second = started(tmp_path)
    assert isinstance(second.km.provisioner.process, Process)
    assert printed(second, LOADED) == "True"
    assert printed(second, SEED) == seed != printed(first, SEED)
    assert printed(second, "import os\nprint(hasattr(torch, 'of_the_first'), 'mine' in globals())") == "False False"
    assert printed(second, "print([name for name in os.environ if name.startswith('OF_THE_')])") == "['OF_THE_SECOND']"
    assert printed(second, "print(os.getcwd())") == str(tmp_path)
    alone = [
        sys.executable,
        "-c",
        "import os; print(os.getcwd())",
    ]  # a child's end is told to a kernel as to any process
    assert printed(second, f"import subprocess\nprint(subprocess.run({alone}).returncode)") == "0"
    first.stop()
    assert not first.is_alive()
    assert printed(second, "print(1)") == "1"
    second.stop()


@pytest.mark.usefixtures("server")
def test_a_kernel_that_ends_is_noticed(tmp_path: Path) -> None:
    kernel = started(tmp_path)
    process = kernel.km.provisioner.process
    kernel.execute_cell_input("import os; os._exit(1)")
    assert process.wait() == process.poll() == 0
    assert not kernel.is_alive()


def test_where_none_can_be_forked_a_kernel_has_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(kernels.SOCKET, str(tmp_path / "none"))
    kernel = started(tmp_path)
    assert isinstance(kernel.km.provisioner.process, subprocess.Popen)
    assert printed(kernel, LOADED) == "False"
    kernel.stop()
    assert not kernel.is_alive()
