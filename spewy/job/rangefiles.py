"""Ranges of a job in separate files: ``oop = "@btn.txt"`` or ``oop = { file = "btn.txt" }``.

For a file with a list of 1326 numbers, ``oop = { file = "btn.txt", order = "pio" }`` names the order of the hands.
The text of the file replaces its name when the job is read, so the folder of a solve does not need the file. A name of
`spewy.job.presets.shipped_ranges` (``oop = "@hu-btn-opens"``) means this range, unless there is a file of this name.
"""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Any

from spewy.errors import InputError, path_text, shown
from spewy.game.names import SEAT_NAMES
from spewy.game.ranges import parse_range
from spewy.game.ranges.lists import named_list, number_list, without_comments
from spewy.job.presets import shipped_ranges
from spewy.system.textfile import read_text


def with_range_files(data: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Replace the names of range files in a job by the text of the files.

    Args:
        data: the job as nested dictionaries.
        folder: the folder to which the names of files are relative.

    Raises:
        InputError: a file cannot be read or does not hold a range; the message names the line. Or a range of the job is
            a list of numbers in an unknown order.
    """
    spot = data.get("spot")
    if not isinstance(spot, dict):
        return data
    for seat in SEAT_NAMES:
        require_order(spot.get(seat), f"spot.{seat}")
    texts = {seat: text_of_file(spot.get(seat), folder, f"spot.{seat}") for seat in SEAT_NAMES}
    replaced = {seat: text for seat, text in texts.items() if text is not None}
    return data | {"spot": spot | replaced} if replaced else data


def require_order(given: object, subject: str) -> None:
    """Refuse a list of numbers in an unknown order; a text that is no range is refused when the job is validated.

    Args:
        given: a range, or another value of a job.
        subject: the key with which error messages begin.

    Raises:
        InputError: the text is a list of numbers that is another range in each known order.
    """
    if isinstance(given, str) and named_list(given) != given:
        try:
            parse_range(given)
        except InputError as error:
            raise InputError(f"{subject}: {error}") from None


def text_of_file(given: object, folder: Path, subject: str) -> str | None:
    """Read the range that ``given`` names: the text of a file, or a shipped range. None if ``given`` is no name.

    Args:
        given: a range, or a name: ``"@btn.txt"`` or ``{"file": "btn.txt"}``, also with the ``order`` of a list.
        folder: the folder to which the file's name is relative.
        subject: the key or option with which error messages begin.

    Raises:
        InputError: the file cannot be read or does not hold a range, and then the message names the line; or the name
            is almost that of a shipped range.
    """
    name = _file_name(given)
    if name is None:
        return None
    near = get_close_matches(name, shipped_ranges(), n=1, cutoff=0.8)
    if near and not (folder / name).exists():
        if near[0] == name:
            return shipped_ranges()[name].text
        raise InputError(
            f"{subject}: expected a file or a shipped range, found {shown(name)}, nearest to {near[0]}"
        )
    order = given.get("order") if isinstance(given, dict) else None
    return _range_text(folder / name, f"{subject}: file {path_text(name)}", order)


def _file_name(given: object) -> str | None:
    """Return the name of a range's file; None if the job contains the range itself."""
    if isinstance(given, str) and given.startswith("@"):
        return given[1:].strip()
    if isinstance(given, dict) and {"file"} <= given.keys() <= {"file", "order"}:
        return given["file"] if all(isinstance(value, str) for value in given.values()) else None
    return None


def _range_text(path: Path, subject: str, order: str | None) -> str:
    """Return the groups or numbers of a range file in one line, without comments.

    Args:
        path: the file.
        subject: how error messages begin.
        order: name of the order of a list of numbers; None: the file names the order.

    Raises:
        InputError: the file cannot be read or does not hold a range.
    """
    text = read_text(path, subject)
    try:
        if order is not None:
            listed = number_list(without_comments(text))
            if listed is not None and listed.order is not None:
                raise InputError(
                    f"range: the file names the order of its numbers; remove order = {shown(order)}"
                )
            text = f"order = {order} {text}"
        parse_range(text)
    except InputError as error:
        raise InputError(f"{subject}: {error}") from None
    lines = (line.strip(" \t,") for line in without_comments(text).splitlines())
    return ",".join(line for line in lines if line)
