"""JupyterHub for one server on which everybody has an account: docs/hub.md says how to set it up.

`deploy.hub.install` copies this file; the folder above its own holds the environment, the exchange and the hub's files.
"""

import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import roles

c = get_config()  # noqa: F821 - JupyterHub defines it when it reads this file

folder = Path(__file__).resolve().parent.parent

# Who may come in: accounts of this machine in one of two groups, with their passwords. For a school's own sign-in put
# another class here (docs/hub.md); the accounts on this machine stay what separates people's files.
c.JupyterHub.authenticator_class = "pam"
c.PAMAuthenticator.allowed_groups = {roles.INSTRUCTORS, roles.STUDENTS}

# Instructors see who is here and may stop a server that hangs; they cannot enter it. Read anew when the hub starts.
c.JupyterHub.load_groups = {"instructors": {"users": roles.members(roles.INSTRUCTORS)}}
c.JupyterHub.load_roles = [
    {
        "name": "instructor",
        "groups": ["instructors"],
        "scopes": ["admin-ui", "list:users", "read:users:activity", "read:servers", "delete:servers"],
    }
]

# What each server gets, by role: folder, menus, nbgrader's settings, limits.
c.JupyterHub.spawner_class = roles.LimitedSpawner
c.Spawner.pre_spawn_hook = roles.before_start(folder)
c.Spawner.cmd = [sys.executable, "-m", "jupyterhub.singleuser"]  # the environment that all share
c.Spawner.default_url = "/lab"
c.Spawner.mem_limit = "2G"  # of each process
c.Spawner.cpu_limit = 2  # cores that `set_threads()` takes; by itself PyTorch takes one
c.Spawner.start_timeout = c.Spawner.http_timeout = 120
programs = str(Path(sys.executable).parent)  # nbgrader starts `alembic` by name
path = os.pathsep.join([programs, "/usr/local/bin", "/usr/bin", "/bin"])
c.Spawner.environment = {"PATH": path}

# Students' kernels and JupyterLabs are forked from processes that have imported what they import. The memory of each
# begins as a copy of theirs, so these get an empty environment: the hub's has secrets. Without these lines kernels and
# JupyterLabs start as elsewhere.
# As servers have it, and where nothing is said as Python tells it to the programs that it starts.
language = {name: os.environ[name] for name in ("LANG", "LC_ALL") if name in os.environ} or {"LC_CTYPE": "C.UTF-8"}
variables = {"PATH": path, "HOME": "/nonexistent", **roles.THREADS, **language}
python = ["env", "-i", *(f"{name}={value}" for name, value in variables.items()), sys.executable]
groups = [roles.STUDENTS, roles.INSTRUCTORS]
c.JupyterHub.services = [
    {
        "name": kind,
        "command": [*python, str(folder / "settings" / "warm.py"), kind, str(folder / "warm" / kind), *groups],
    }
    for kind in ("kernels", "servers")
]

# A web server in front of it brings the certificate; nothing else reaches this port from outside.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.ConfigurableHTTPProxy.command = [shutil.which("configurable-http-proxy") or "configurable-http-proxy"]
os.environ.setdefault("NODE_PATH", "/usr/share/nodejs")  # Debian's proxy, also where Node comes from elsewhere
c.JupyterHub.db_url = f"sqlite:///{folder / 'run' / 'jupyterhub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(folder / "run" / "cookie_secret")
c.ConfigurableHTTPProxy.pid_file = str(folder / "run" / "proxy.pid")
