"""Read a job file into nested dictionaries with overrides, and shorten each pydantic error to one line."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spewy.errors import InputError, path_text, short, shown
from spewy.job.rangefiles import with_range_files
from spewy.system.textfile import as_path, read_text


def read_job(path: str | Path, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Read a job file into nested dictionaries and apply overrides; the keys are not validated.

    Args:
        path: the job file.
        overrides: keys with values that replace the file's, such as ``solve.target=0.1%``.

    Raises:
        InputError: the file cannot be read or is not TOML, or an override is malformed.
    """
    path = as_path(path, "job")
    subject = f"job {path_text(path)}"
    try:
        data = tomllib.loads(read_text(path, subject))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{subject}: expected TOML, found: {short(str(error))}") from None
    except ValueError:
        raise InputError(
            f"{subject}: expected numbers of a few digits, found a number of thousands"
        ) from None
    except RecursionError:
        raise InputError(f"{subject}: expected a few nested brackets, found hundreds") from None
    for text in overrides:
        override(data, text)
    game = data.get("game")
    if isinstance(game, dict) and isinstance(game.get("file"), str):
        game_file = path.parent / game["file"]
        if game["file"].endswith(".game") and game_file.exists():
            game["file"] = str(game_file)
    return with_range_files(data, path.parent)


def override(data: dict[str, Any], text: str) -> None:
    """Set one key in the nested dictionaries of a job.

    Args:
        data: the job; it is changed in place.
        text: the key and its value, such as ``solve.target=0.1%``.

    Raises:
        InputError: the text has no key or no ``=``, or the key leads into a value that is not a section.
    """
    path, equals, value = text.partition("=")
    keys = path.strip().split(".")
    if not equals or not all(keys):
        raise InputError(f"override {shown(text)}: expected a key and its value, such as solve.target=0.1%")
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except (ValueError, RecursionError):
        parsed = value.strip()  # text without quotes, which a shell would take away
    for key in keys[:-1]:
        data = data.setdefault(key, {})
        if not isinstance(data, dict):
            raise InputError(f"override {shown(text)}: expected {short(key)} to be a section, found a value")
    data[keys[-1]] = parsed


def with_target(data: dict[str, Any]) -> dict[str, Any]:
    """Add the default target if the job has none: 0.3% of the pot for spots, 1 mbb for whole games."""
    solve = data.get("solve", {})
    if not isinstance(solve, dict) or "target" in solve:
        return data
    return data | {"solve": solve | {"target": "0.3%" if data.get("spot") else "1 mbb"}}


def require_one_board(data: dict[str, Any], subject: str) -> None:
    """Refuse a job with a list of boards, which `spewy.batch` splits into jobs with one board each.

    Raises:
        InputError: the job has the key ``spot.boards``.
    """
    spot = data.get("spot")
    if isinstance(spot, dict) and "boards" in spot:
        raise InputError(
            f"{subject}: spot.boards: expected one spot.board, because only a batch solves a list of boards; "
            f"found {shown(spot['boards'])}"
        )


def explain(subject: str, item: Any) -> str:
    """Describe a pydantic error in one line, with the key, the expected value and the value in the file.

    Args:
        subject: how the message begins.
        item: one element of `ValidationError.errors`.
    """
    parts = (str(part) for part in item["loc"])
    key = short(
        ".".join(part.rstrip("_") for part in parts if part not in ("int", "str") and "[" not in part)
    )
    if item["type"] == "extra_forbidden":
        return f"{subject}: unknown key {key}"
    if item["type"] == "missing":
        return f"{subject}: {key}: expected a value, found none"
    if item["type"] == "no_effect":
        return f"{subject}: {key} {item['msg']}"
    expected = item["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    expected = expected if expected.startswith("expected") else f"expected {expected}"
    return f"{subject}: {key}: {expected}, found {shown(item['input'])}"
