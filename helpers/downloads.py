"""Files from the network, each once: a cache, a mirror for a class, and a SHA-256 that must be right.

The environment variable COURSE_DATA_MIRROR names another address than that of the files' host, or a folder;
COURSE_DATA_CACHE moves the cache.
"""

import os
import shutil
from pathlib import Path
from typing import Any

import pooch
import requests

MIRROR, CACHE = "COURSE_DATA_MIRROR", "COURSE_DATA_CACHE"  # environment variables


class DownloadError(RuntimeError):
    """A file could not be had or trusted; the message says why and what to do."""


def cache_of(name: str) -> Path:
    """Returns the folder of what is downloaded under this name."""
    return Path(os.environ.get(CACHE) or pooch.os_cache("transformers-course")) / name


def download(name: str, folder: Path, files: dict[str, dict[str, Any]], host: str, otherwise: str) -> list[Path]:
    """Returns where files lie in `folder`, after downloading those that are missing or damaged, with a bar.

    Args:
        name: of the whole, with which the message of an error begins.
        files: for each name in `folder`, its "path" below the host or the mirror, and its "sha256".
        host: the address that COURSE_DATA_MIRROR replaces.
        otherwise: how to do without, which ends that message.

    Raises:
        DownloadError: one cannot be had; nothing of it is kept.
    """
    base = os.environ.get(MIRROR) or host
    hashes = {short: f"sha256:{file['sha256']}" for short, file in files.items()}
    urls = {short: f"{base.rstrip('/')}/{file['path']}" for short, file in files.items()}
    store = pooch.create(folder, base_url="", registry=hashes, urls=urls, retry_if_failed=2)
    pooch.get_logger().setLevel("ERROR")
    get = pooch.HTTPDownloader(progressbar=True) if "://" in base else lambda url, path, _: shutil.copyfile(url, path)
    paths = []
    for short, url in urls.items():
        try:
            paths.append(Path(store.fetch(short, downloader=get)))
            continue
        except requests.HTTPError as error:
            reason = f"the server answered {str(error)[:3]} for {url}"
        except requests.RequestException:
            reason = f"no connection, or it broke off, at {url}"
        except ValueError:
            reason = f"{url} is damaged or has changed: its SHA-256 is not the expected one"
        except OSError as error:
            reason = f"{url} could not be stored in {folder} ({error.strerror or error})"
        (folder / short).unlink(missing_ok=True)
        advice = f"try again later, or set {MIRROR} to a copy; {otherwise}"
        raise DownloadError(f"{name} cannot be downloaded: {reason}. Please {advice}.") from None
    return paths
