"""How much a cell may show: what an endless loop prints would fill the browser, and the notebook's file."""

from __future__ import annotations

from typing import Any

TEXT = 1_000_000  # characters that a cell may print, and as many of text that it displays
RICH = 20_000_000  # characters of pictures and pages that it displays
EACH = 200  # characters that a display takes in the file, however little it shows
BAR = 1_000  # characters that a progress bar may have
ERROR = 20_000  # characters of each line of an error
CUT = "The output of this cell is cut here, at 1 MB: the rest is not shown and not saved."


class OutputLimit:
    """Stands in a kernel's way out, and lets no more of a cell's output pass than anybody reads.

    A line that a progress bar writes anew, or a display that is updated or cleared, counts for what stays of it. What
    is printed and what is displayed are counted apart: a check is still seen where much was printed before.

    Args:
        session: the kernel's; each message leaves through its `send`.
    """

    def __init__(self, session: Any) -> None:
        self._send = session.send
        self._used: dict[tuple[str, str], int] = {}  # characters by cell (the id of the request to run it) and sort
        session.send = self.send

    def send(
        self, stream: Any, msg_or_type: Any, content: Any = None, parent: Any = None, *rest: Any, **more: Any
    ) -> Any:
        """Does what `jupyter_client.session.Session.send` does, with an output shortened or left out."""
        if isinstance(msg_or_type, dict):
            kind, body, request = (msg_or_type[part] for part in ("msg_type", "content", "parent_header"))
        else:
            kind, body, request = msg_or_type, content, parent
        request = request or {}
        if not self._passes(kind, body, str(request.get("header", request).get("msg_id", ""))):
            return None
        return self._send(stream, msg_or_type, content, parent, *rest, **more)

    def _passes(self, kind: Any, content: Any, cell: str) -> bool:
        """Says whether a message is sent, and shortens its content in place."""
        if kind == "stream":
            size = _what_stays(content["text"])
            room = self._room(cell, "printed", TEXT, size)
            if size > room:
                content["text"] = f"{content['text'][: max(room, 0)]}\n{CUT}\n"
            return room >= 0
        if kind in ("display_data", "execute_result"):
            text, rich = _sizes(content["data"])
            rooms = self._room(cell, "text", TEXT, text), self._room(cell, "rich", RICH, rich)
            if text > rooms[0] or rich > rooms[1]:
                self._used[cell, "text"] = TEXT + 1  # nothing after the sentence
                plain = str(content["data"].get("text/plain", ""))[: max(rooms[0], 0)]
                content["data"] = {"text/plain": f"{plain}\n{CUT}"}
            return min(rooms) >= 0
        if kind == "clear_output":
            self._used = {key: used for key, used in self._used.items() if key[0] != cell}
        if kind == "error":
            content["evalue"] = content["evalue"][:ERROR]
            content["traceback"] = [line[:ERROR] for line in content["traceback"]]
        return True

    def _room(self, cell: str, sort: str, limit: int, size: int) -> int:
        """Counts an output, and returns how much there was room for: less than 0 after the first that was too large."""
        used = self._used.get((cell, sort), 0)
        self._used[cell, sort] = used + size
        return limit - used


def _what_stays(text: str) -> int:
    """Returns how many characters of a text stay: of each line what follows its last carriage return.

    The line that is still open, which the next text is going to write anew, counts for what is longer than a bar.
    """
    if "\r" not in text:
        return len(text)
    *lines, still_open = (len(line.rpartition("\r")[2]) for line in text.split("\n"))
    return sum(lines) + len(lines) + max(0, still_open - BAR)


def _sizes(data: dict[str, Any]) -> tuple[int, int]:
    """Returns the characters of a display's text, and of its pictures and pages."""
    sizes = {kind: len(value) for kind, value in data.items() if isinstance(value, str)}
    text = sizes.pop("text/plain", 0)
    return max(text, EACH), sum(sizes.values())


_limit: OutputLimit | None = None


def limit_output(session: Any) -> None:
    """Begins to limit what cells show, once in a kernel."""
    global _limit
    if _limit is None:
        _limit = OutputLimit(session)
