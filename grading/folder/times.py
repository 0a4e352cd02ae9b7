"""The one reader of times that a person types. What could mean two times is refused: a due date decides about marks."""

from __future__ import annotations

import datetime
import difflib
import re
from zoneinfo import ZoneInfo, available_timezones

from grading.folder.errors import CourseError

UTC = datetime.timezone.utc
FORMS = "'2026-01-12 18:00' in this machine's own time, '... Europe/Berlin', '... +01:00' or '... Z'"
TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[ \t]+|T)([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]+)?)?\s*(\D.*)?",
    re.IGNORECASE,
)
OFFSET = re.compile(r"([+-])([0-9]{2}):?([0-9]{2})?")


def read_time(text: str) -> datetime.datetime:
    """Returns the time that a person has typed, in UTC.

    The forms are "2026-01-12 18:00" in this machine's own zone, also with seconds or a T, and the same with a zone:
    "Europe/Berlin", "+01:00", "+0100", "+01", "Z" or "UTC".

    Raises:
        CourseError: for anything else, and for a time that does not exist or exists twice in its zone.
    """
    text = " ".join(text.replace("\N{MINUS SIGN}", "-").split())
    parts = TIME.fullmatch(text)
    if parts is None:
        raise CourseError(f"{text[:60]!r} is no time; expected year, month, day and time of day: {FORMS}.")
    *numbers, zone = parts.groups()
    try:
        typed = datetime.datetime(*(int(number or 0) for number in numbers))  # type: ignore[arg-type]  # six numbers
        moments = _moments(typed, _zone(zone, text) if zone else None)
    except (ValueError, OverflowError) as problem:
        raise CourseError(f"{text!r} is no time ({problem}); expected for example {FORMS}.") from None
    said = f"{text!r}{'' if zone else ' in the time zone of this machine'}"
    if not moments:
        raise CourseError(f"{said} does not exist: the clocks go forward over it. Write an earlier or a later time.")
    if len(moments) > 1:
        both = " or ".join(f"'{typed:%Y-%m-%d %H:%M} {_offset(typed - moment)}'" for moment in moments)
        raise CourseError(f"{said} exists twice, before and after the clocks go back; write {both}.")
    return moments[0].replace(tzinfo=UTC)


def shown(moment: datetime.datetime) -> str:
    """Returns a time, in UTC, as a person reads it: here, and in UTC."""
    moment = moment.replace(tzinfo=UTC)
    here = moment.astimezone()
    form = "%Y-%m-%d %H:%M:%S" if moment.second else "%Y-%m-%d %H:%M"
    offset = _offset(here.utcoffset() or datetime.timedelta())
    return f"{here.strftime(form)} {offset} here, {moment.strftime(form)} UTC"


def _moments(typed: datetime.datetime, zone: datetime.tzinfo | None) -> list[datetime.datetime]:
    """Returns the times, in UTC and without a zone, that a clock shows as typed; `None` is this machine's clock."""
    found = []
    for fold in (0, 1):
        moment = typed.replace(tzinfo=zone, fold=fold).astimezone(UTC)
        if moment.astimezone(zone).replace(tzinfo=None, fold=0) == typed:
            found.append(moment.replace(tzinfo=None))
    return list(dict.fromkeys(found))


def _zone(zone: str, text: str) -> datetime.tzinfo:
    """Returns the zone that a time ends with.

    Raises:
        CourseError: when it is none, or an abbreviation that several zones have.
        ValueError: when it is an offset of more than a day.
    """
    if zone.upper() in ("Z", "UTC", "GMT"):
        return UTC
    if offset := OFFSET.fullmatch(zone):
        sign, hours, minutes = offset.groups()
        if int(hours) > 14 or int(minutes or 0) > 59:
            raise ValueError(f"{zone} is no distance from UTC")
        distance = datetime.timedelta(hours=int(hours), minutes=int(minutes or 0))
        return datetime.timezone(-distance if sign == "-" else distance)
    known = {name.casefold(): name for name in available_timezones() if "/" in name}
    name = known.get(zone.replace(" ", "_").casefold())
    if name is None:
        near = difflib.get_close_matches(zone.replace(" ", "_").casefold(), known, 1) if "/" in zone else []
        meant = f" Perhaps {known[near[0]]} is meant." if near else ""
        raise CourseError(
            f"{zone[:40]!r} in {text!r} is no time zone that means one thing everywhere; expected a place "
            f"(Europe/Berlin), a distance from UTC (+01:00), Z, or nothing for this machine's own time.{meant}"
        )
    return ZoneInfo(name)


def _offset(distance: datetime.timedelta) -> str:
    minutes = round(distance.total_seconds() / 60)
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
