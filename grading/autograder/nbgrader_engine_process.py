"""The process of `grading.autograder.nbgrader_engine`: `python -m` this module, with a socket and a course folder."""

from __future__ import annotations

import json
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from grading import sandbox
from grading.folder.course import Course
from grading.sandbox.fork_server import ForkServer

IDLE = 60.0  # seconds without a request after which the process ends, so that none is left in a Jupyter server


def main(connection: Connection, course: Course) -> None:
    """Answers requests until nobody is there to ask any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if missing := sandbox.probe():
        connection.send_bytes(json.dumps({"refused": missing}).encode())
        return
    with ForkServer() as fork_server:  # both import PyTorch meanwhile
        from grading.autograder.one_submission import NbgraderEngine

        grader = NbgraderEngine(course, fork_server)
        connection.send_bytes(json.dumps({"protections": sandbox.protections()}).encode())
        while connection.poll(IDLE):
            try:
                request: dict[str, Any] = json.loads(connection.recv_bytes())
            except EOFError:
                return
            connection.send_bytes(json.dumps(grader.answer(**request)).encode())


if __name__ == "__main__":
    main(Connection(int(sys.argv[1])), Course(Path(sys.argv[2])))
