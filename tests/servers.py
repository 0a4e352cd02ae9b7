"""A server on this machine that stands in for the network, and serves well or badly."""

import http.server


class Server(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, well or badly, and counts what it was asked."""

    fault = ""
    asked: list[str] = []  # noqa: RUF012 - one list for all requests of a test

    def do_GET(self) -> None:
        type(self).asked.append(self.path)
        if not self.fault:
            super().do_GET()
            return
        if self.fault == "missing":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"x" * (1000 if self.fault == "damaged" else 500))

    def log_message(self, *_: object) -> None:
        pass
