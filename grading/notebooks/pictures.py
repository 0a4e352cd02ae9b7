"""Which pictures of a student's notebook a page may show. Standard library only.

A picture is known by its first bytes, whatever it is called. What its head says of its size is read too: a file of
a few kilobytes can ask a browser for gigabytes.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Iterator

MAX_PICTURE = 4 << 20  # bytes of one picture
MAX_DOTS = 50_000_000  # width times height: 200 MB where a browser unpacks it
# A frame of a JPEG: marker, length, bits, height, width, components. The length has to fit the components.
JPEG_FRAME = re.compile(
    rb"\xff[\xc0-\xc3\xc5-\xc7\xc9-\xcb\xcd-\xcf](..)[\x08\x0c\x10](..)(..)([\x01-\x04])", re.DOTALL
)
SHOWN = f"a PNG, JPEG, GIF or WebP picture of at most {MAX_PICTURE >> 20} MB and {MAX_DOTS // 1_000_000} million dots"


def read_picture(encoded: str) -> tuple[str, str] | None:
    """Returns kind ("image/png") and base64 of a picture that a page may show; None for anything else.

    That is a PNG, JPEG, GIF or WebP of at most `MAX_PICTURE` bytes and `MAX_DOTS` dots, known by its first bytes. It is
    decoded and encoded again, so that an attribute can hold nothing else.
    """
    if len(encoded) > 2 * MAX_PICTURE:
        return None
    try:
        data = base64.b64decode("".join(encoded.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    if len(data) > MAX_PICTURE:
        return None
    for kind, (starts, sizes) in KINDS.items():
        if starts.match(data):
            try:
                dots = max((width * height for width, height in sizes(data)), default=0)
            except (struct.error, IndexError):  # its head is cut off
                return None
            return (f"image/{kind}", base64.b64encode(data).decode()) if 0 < dots <= MAX_DOTS else None
    return None


def _png(data: bytes) -> Iterator[tuple[int, int]]:
    if data[12:16] == b"IHDR":
        yield struct.unpack_from(">II", data, 16)


def _jpeg(data: bytes) -> Iterator[tuple[int, int]]:
    """Yields width and height of every frame, wherever it stands: readers differ in what they skip before it."""
    for length, height, width, components in JPEG_FRAME.findall(data):
        if int.from_bytes(length, "big") == 8 + 3 * components[0]:
            yield int.from_bytes(width, "big"), int.from_bytes(height, "big") or 0xFFFF  # 0: it is said at the end


def _gif(data: bytes) -> Iterator[tuple[int, int]]:
    """Yields the size of the screen and how far each frame reaches: a frame may be larger than the screen."""
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    yield width, height
    place = 13 + _table(flags)
    while place + 10 <= len(data) and data[place] in b"\x21\x2c":
        if data[place] == 0x2C:
            left, top, width, height, flags = struct.unpack_from("<HHHHB", data, place + 1)
            yield left + width, top + height
            place += 11 + _table(flags)
        else:
            place += 2
        while place < len(data) and data[place]:  # blocks of a length each
            place += 1 + data[place]
        place += 1


def _table(flags: int) -> int:
    """Returns how many bytes the table of colours takes that these flags announce."""
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _webp(data: bytes) -> Iterator[tuple[int, int]]:
    if data[12:16] == b"VP8X":
        yield tuple(1 + int.from_bytes(data[at : at + 3], "little") for at in (24, 27))  # type: ignore[misc]
    elif data[12:16] == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        yield 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    elif data[12:16] == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        yield width & 0x3FFF, height & 0x3FFF


KINDS = {
    "png": (re.compile(rb"\x89PNG\r\n\x1a\n"), _png),
    "jpeg": (re.compile(rb"\xff\xd8\xff"), _jpeg),
    "gif": (re.compile(rb"GIF8[79]a"), _gif),
    "webp": (re.compile(rb"RIFF....WEBP", re.DOTALL), _webp),
}
