"""Has a student's kernels forked by the hub's service; the settings beside this file say the rest."""

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

from jupyter_client.provisioning import KernelProvisionerFactory

c = get_config()  # noqa: F821 - Jupyter defines it when it reads this file

sys.path.append(str(Path(__file__).resolve().parents[1]))
# What an installed package would say of itself. A variable of the environment could name these kernels too, but then
# a student's own Jupyter, which does not know them, would ask for them as well.
NAME, GROUP = "forked", KernelProvisionerFactory.GROUP_NAME
KernelProvisionerFactory.provisioners[NAME] = EntryPoint(NAME, "forked_kernels:ForkedProvisioner", GROUP)
c.KernelProvisionerFactory.default_provisioner_name = NAME
