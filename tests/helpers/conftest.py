"""An empty cache for what is downloaded, and a server on this machine to download it from."""

import http.server
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pooch
import pytest

from helpers import downloads
from tests.servers import Server


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(downloads.CACHE, str(tmp_path / "cache"))
    monkeypatch.setattr(pooch.core, "time", SimpleNamespace(sleep=lambda _: None))
    return tmp_path / "cache"


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch, cache: Path) -> Iterator[Callable[..., type[Server]]]:
    """Start a server for a folder, or a bad one, and let what downloads use it as its mirror."""
    running = []

    def start(folder: Path | None = None, fault: str = "") -> type[Server]:
        handler = type("Handler", (Server,), {"fault": fault, "asked": [], "ranges": []})
        made = partial(handler, directory=str(folder or cache))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), made)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        running.append(server)
        monkeypatch.setenv(downloads.MIRROR, f"http://127.0.0.1:{server.server_port}")
        return handler

    yield start
    for server in running:
        server.shutdown()
        server.server_close()
