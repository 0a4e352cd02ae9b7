"""The process in which a Dask worker has submissions graded: `python -m` this module, with a socket and two numbers.

It is the local pool, with jobs that come over the socket. A process of its own, because pools fork, and a Dask worker
has threads.
"""

from __future__ import annotations

import pickle
import signal
import sys
from collections.abc import Mapping
from multiprocessing.connection import Connection

from grading import sandbox
from grading.autograder.fingerprint import environment_key, protocol_key
from grading.folder.course import ROOT
from grading.sandbox.fork_server import ForkServer

IDLE = 900.0  # seconds without a job after which the process ends: nobody may be there to end it


def refusal(keys: Mapping[str, str]) -> str:
    """Returns "" or why this machine cannot grade for a coordinator whose `keys` these are, by assignment."""
    if missing := sandbox.probe():
        return missing
    protocol, known = keys.get("", ""), [name for name in keys if name]
    if protocol != protocol_key():
        return f"its course in {ROOT} has another version of the grader than the coordinator's; bring both to one."
    different = [name for name in known if environment_key(name) != keys[name]]
    if different:
        return (
            f"its course in {ROOT} would mark {', '.join(different)} otherwise than the coordinator's; expected the "
            "same exercises, helpers, and versions of torch, numpy and sympy."
        )
    return ""


def main(connection: Connection, workers: int) -> None:
    """Grades what comes with `workers` at a time, until the other side ends, or nothing has come for long.

    First come the fingerprints of what marks depend on, then masters and budget; the reply to each is "", or a refusal
    after which the process ends. Then come jobs, as numbered requests. The replies to a job are its number with True
    when its student's process stands still, with False when it works again, and last with its pickled result.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the Dask worker, which then ends this process
    keys: dict[str, str] = pickle.loads(connection.recv_bytes())
    refused = refusal(keys)
    connection.send(refused)
    if refused:
        return
    with ForkServer() as fork_server:  # both import PyTorch meanwhile
        from grading.autograder.drawn_sets import DrawnSets
        from grading.autograder.pool import Context, Job, Pool, prepare
        from grading.sandbox.student_process import Pace

        masters, budget = pickle.loads(connection.recv_bytes())
        sets = DrawnSets()  # in memory: a worker needs no disk
        prepare(fork_server, masters, sets)
        connection.send("")

        def on_pace(job: Job, pace: Pace) -> None:
            connection.send((job.number, pace is Pace.IDLE))

        with Pool(workers, Context(fork_server, masters, budget, sets), on_pace) as working:
            while working.at_work or connection.poll(IDLE):
                for job, result in working.results([connection]):
                    connection.send((job.number, pickle.dumps(result)))
                while connection.poll():
                    try:
                        number, request = connection.recv()
                    except EOFError:
                        return
                    assignment, seed, work = pickle.loads(request)
                    working.add(Job(assignment, "", work, "", seed, number=number))


if __name__ == "__main__":
    main(Connection(int(sys.argv[1])), int(sys.argv[2]))
