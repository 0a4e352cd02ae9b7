"""Files from the network, each once: a cache, a mirror for a class, and a SHA-256 that must be right.

The environment variable COURSE_DATA_MIRROR names another address than that of the files' host, or a folder;
COURSE_DATA_CACHE moves the cache.
"""

import os
import re
import shutil
import time
from functools import partial
from pathlib import Path
from typing import Any

import pooch
import requests
from tqdm import tqdm

BLOCK = 2**16  # bytes read at once
MIRROR, CACHE = "COURSE_DATA_MIRROR", "COURSE_DATA_CACHE"  # environment variables
SLOWEST, PATIENCE = 1000, 60.0  # bytes a second, asked after so many seconds: a server that drips never ends


class DownloadError(RuntimeError):
    """A file could not be had or trusted; the message says why and what to do."""


def cache_of(name: str) -> Path:
    """Returns the folder of what is downloaded under this name."""
    return Path(os.environ.get(CACHE) or pooch.os_cache("transformers-course")) / name


def download(name: str, folder: Path, files: dict[str, dict[str, Any]], host: str, otherwise: str) -> list[Path]:
    """Returns where files lie in `folder`, after downloading those that are missing or damaged, with a bar.

    Args:
        name: of the whole, with which the message of an error begins.
        files: for each name in `folder`, its "path" below the host or the mirror, its "sha256" and, for a large one,
            "begun": where a download that breaks off stays for the next one to go on, and the "size" in bytes, of which
            no more is taken; without them, nothing stays.
        host: the address that COURSE_DATA_MIRROR replaces.
        otherwise: how to do without, which ends that message.

    Raises:
        DownloadError: one cannot be had; nothing of it is kept but what has begun.
    """
    base = os.environ.get(MIRROR) or host
    hashes = {short: f"sha256:{file['sha256']}" for short, file in files.items()}
    urls = {short: f"{base.rstrip('/')}/{file['path']}" for short, file in files.items()}
    store = pooch.create(folder, base_url="", registry=hashes, urls=urls, retry_if_failed=2)
    pooch.get_logger().setLevel("ERROR")
    paths = []
    for short, url in urls.items():
        begun: Path | None = files[short].get("begun")
        over_http: Any = (
            pooch.HTTPDownloader(progressbar=True) if begun is None else partial(_go_on, begun, files[short]["size"])
        )
        get = over_http if "://" in base else lambda url, path, _: shutil.copyfile(url, path)
        try:
            paths.append(Path(store.fetch(short, downloader=get)))
            continue
        except requests.HTTPError as error:
            reason = f"the server answered {str(error)[:3]} for {shown(url)}"
        except requests.RequestException:
            reason = f"no connection, or it broke off, at {shown(url)}"
        except ValueError:
            reason = f"{shown(url)} is damaged or has changed: its SHA-256 is not the expected one"
        except OSError as error:
            reason = f"{shown(url)} could not be stored in {folder} ({error.strerror or error})"
            if begun is not None:
                begun.unlink(missing_ok=True)  # the disk may be full
        (folder / short).unlink(missing_ok=True)
        advice = f"try again later, or set {MIRROR} to a copy; {otherwise}"
        raise DownloadError(f"{name} cannot be downloaded: {reason}. Please {advice}.") from None
    return paths


def shown(address: str) -> str:
    """Returns an address as a message may show it: without the name and password that may stand in it."""
    return re.sub(r"://[^/]*@", "://", address)


def _go_on(begun: Path, size: int, url: str, path: str, _: pooch.Pooch) -> None:
    """Downloads a file of so many bytes into `begun`, from where that ends, and moves it to `path` when it is whole.

    A server that knows no ranges answers with the whole file, and it begins anew. Whether what was joined is one file,
    its SHA-256 says: when not, pooch tries again, and nothing has begun then.
    """
    if begun.is_symlink():  # in a folder that others may write to: what it points to is not ours
        begun.unlink()
    have = begun.stat().st_size if begun.is_file() else 0
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with requests.get(url, headers=headers, stream=True, timeout=30) as response:
        goes_on = response.status_code == 206 and response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
        if response.status_code == 416 or (response.status_code == 206 and not goes_on):
            begun.unlink(missing_ok=True)  # what has begun is no beginning of this file
            raise requests.ConnectionError("the server has another file")
        response.raise_for_status()
        have = have if goes_on else 0
        left = int(response.headers.get("Content-Length", 0))
        bar = tqdm(total=have + left or None, initial=have, unit="B", unit_scale=True, ncols=79)
        start, came = time.monotonic(), 0
        with begun.open("ab" if goes_on else "wb") as file, bar:
            for block in response.iter_content(BLOCK):
                came += len(block)
                seconds = time.monotonic() - start
                if have + came > size:
                    begun.unlink()
                    raise ValueError("it sends more than the file has")
                if seconds > PATIENCE and came < SLOWEST * seconds:
                    raise requests.ConnectionError("it sends next to nothing")
                file.write(block)
                bar.update(len(block))
    if begun.stat().st_size < have + left:
        raise requests.ConnectionError("it broke off")
    os.replace(begun, path)
