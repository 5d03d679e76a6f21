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
    """Read a job file into nested dictionaries with the overrides of `Job.load`, without validation.

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
        raise InputError(f"{subject}: expected numbers of a few digits, found one of thousands") from None
    except RecursionError:
        raise InputError(f"{subject}: expected a few nested brackets, found hundreds") from None
    for text in overrides:
        override(data, text)
    game = data.get("game")
    if isinstance(game, dict) and isinstance(game.get("file"), str):
        beside = path.parent / game["file"]
        if game["file"].endswith(".game") and beside.exists():
            game["file"] = str(beside)
    return with_range_files(data, path.parent)


def override(data: dict[str, Any], text: str) -> None:
    """Set ``section.key=value`` in the nested dictionaries of a job."""
    path, equals, value = text.partition("=")
    keys = path.strip().split(".")
    if not equals or not all(keys):
        raise InputError(f"--set: expected section.key=value, found {shown(text)}")
    try:
        parsed = tomllib.loads(f"value = {value}")["value"]
    except (ValueError, RecursionError):
        parsed = value.strip()  # bare text: no need to quote a quote for the shell
    for key in keys[:-1]:
        data = data.setdefault(key, {})
        if not isinstance(data, dict):
            raise InputError(f"--set {short(text)}: expected {short(key)} to be a section, found a value")
    data[keys[-1]] = parsed


def with_target(data: dict[str, Any]) -> dict[str, Any]:
    """Add the default target of the job's kind: a share of the pot for spots, mbb for whole games."""
    solve = data.get("solve", {})
    if not isinstance(solve, dict) or "target" in solve:
        return data
    return data | {"solve": solve | {"target": "0.3%" if data.get("spot") else "1 mbb"}}


def require_one_board(data: dict[str, Any], subject: str) -> None:
    """Refuse a list of boards, which means several jobs; `spewy.batch` makes these jobs."""
    spot = data.get("spot")
    if isinstance(spot, dict) and "boards" in spot:
        raise InputError(
            f"{subject}: spot.boards: expected one spot.board here (spewy solve takes a list), "
            f"found {shown(spot['boards'])}"
        )


def explain(subject: str, item: Any) -> str:
    """Describe a pydantic error in one line: key, expected, found."""
    parts = (str(part) for part in item["loc"])
    key = short(
        ".".join(part.rstrip("_") for part in parts if part not in ("int", "str") and "[" not in part)
    )
    found = item["input"]
    if item["type"] == "extra_forbidden":
        return f"{subject}: unknown key {key}"
    if item["type"] == "missing":
        return f"{subject}: {key}: expected a value, found none"
    if item["type"] == "no_effect":
        return f"{subject}: {key} {item['msg']}"
    said = item["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    said = said if said.startswith("expected") else f"expected {said}"
    return f"{subject}: {key}: {said}, found {shown(found)}"
