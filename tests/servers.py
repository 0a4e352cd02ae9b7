"""A server on this machine that stands in for the network, and serves well or badly."""

import http.server
import re
import threading
from pathlib import Path


class Server(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, well or badly, and counts what it was asked.

    With the fault "breaks" the first answer ends in its middle, and those that follow are whole: parts of a file where
    those were requested or, with "breaks, knows no ranges", all of it. With "breaks, changes" the first half is of
    another file of the same length. "never ends" sends and sends, "has another" answers each request as if it had begun
    elsewhere in the file, "waits" sends half of a file, and the rest slowly until `go_on` is set.
    """

    fault = ""
    asked: list[str] = []  # noqa: RUF012 - one list for all requests of a test
    ranges: list[str] = []  # noqa: RUF012 - the part that each requested, "" for all
    go_on = threading.Event()

    def do_GET(self) -> None:
        type(self).asked.append(self.path)
        type(self).ranges.append(self.headers.get("Range", ""))
        if not self.fault:
            super().do_GET()
            return
        if self.fault.startswith("breaks"):
            self._serve_and_break()
            return
        if self.fault == "waits":
            self._serve_and_wait()
            return
        if self.fault == "missing":
            self.send_error(404)
            return
        if self.fault == "has another":
            self.send_error(416)
            return
        if self.fault == "never ends":
            self._send_without_end()
            return
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"x" * (1000 if self.fault == "damaged" else 500))

    def _serve_and_break(self) -> None:
        first, content = len(self.asked) == 1, Path(self.translate_path(self.path)).read_bytes()
        if first and "changes" in self.fault:
            content = bytes(len(content))
        match = re.fullmatch(r"bytes=(\d+)-", self.ranges[-1])
        start = int(match[1]) if match and "no ranges" not in self.fault else 0
        if start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self.wfile.write(content[start : len(content) // 2 if first else None])

    def _serve_and_wait(self) -> None:
        content = Path(self.translate_path(self.path)).read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        sent = len(content) // 2
        self.wfile.write(content[:sent])
        while not self.go_on.wait(0.5):  # a little now and then, or whoever waits gives up
            self.wfile.write(content[sent : sent + 2**16])
            sent += 2**16
        self.wfile.write(content[sent:])

    def _send_without_end(self) -> None:
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(bytes(2**16))
        except OSError:
            return  # whoever asked has had enough

    def log_message(self, *_: object) -> None:
        pass
