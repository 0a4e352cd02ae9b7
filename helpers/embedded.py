"""Where the files lie that are part of the course: in a clone's `data/`, or in the installed package."""

from pathlib import Path


def embedded(name: str) -> Path:
    """Returns the path of the file or folder `name` of `data/`; where it is missing, where a clone would have it."""
    here = Path(__file__).resolve().parent
    places = [here.parent / "data" / name, here / "corpora" / name]
    return next((place for place in places if place.exists()), places[0])
