"""Ranges of a job in separate files: ``oop = "@btn.txt"`` or ``oop = { file = "btn.txt" }``.

A job takes in the text of the file, so that a solve's folder does not need the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spewy.errors import InputError, path_text
from spewy.game.names import SEAT_NAMES
from spewy.game.ranges import parse_range
from spewy.game.ranges.text import without_comments
from spewy.system.textfile import read_text


def with_range_files(data: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Replace the names of range files in a job's data by the text of the files.

    Args:
        data: nested dictionaries, the file's form.
        folder: what names of files are relative to.

    Raises:
        InputError: a file cannot be read, or holds no range; the message tells the line.
    """
    spot = data.get("spot")
    if not isinstance(spot, dict):
        return data
    texts = {seat: text_of_file(spot.get(seat), folder, f"spot.{seat}") for seat in SEAT_NAMES}
    replaced = {seat: text for seat, text in texts.items() if text is not None}
    return data | {"spot": spot | replaced} if replaced else data


def text_of_file(given: object, folder: Path, subject: str) -> str | None:
    """Read the range from the file that ``given`` names; None if ``given`` names no file.

    Args:
        given: a range, or a file: ``"@btn.txt"`` or ``{"file": "btn.txt"}``.
        folder: the folder that the file's name is relative to.
        subject: the key or option, which begins error messages.

    Raises:
        InputError: the file cannot be read, or holds no range; the message names the line.
    """
    name = _file_name(given)
    return None if name is None else _range_text(folder / name, f"{subject}: file {path_text(name)}")


def _file_name(given: object) -> str | None:
    """Name of a range's file; None if the job contains the range itself."""
    if isinstance(given, str) and given.startswith("@"):
        return given[1:].strip()
    if isinstance(given, dict) and given.keys() == {"file"} and isinstance(given["file"], str):
        return given["file"]
    return None


def _range_text(path: Path, subject: str) -> str:
    """Join the groups or numbers of a file in one line, without comments."""
    text = read_text(path, subject)
    try:
        parse_range(text)
    except InputError as error:
        raise InputError(f"{subject}: {error}") from None
    lines = (line.strip(" \t,") for line in without_comments(text).splitlines())
    return ",".join(line for line in lines if line)
