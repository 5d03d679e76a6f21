"""Reads job files into nested dictionaries, with overrides and range files, and shortens pydantic's errors to a line.

A job may name files with ranges: ``oop = "@btn.txt"`` or ``oop = { file = "btn.txt" }``. For a file with a list of 1326
numbers, ``oop = { file = "btn.txt", order = "pio" }`` names the order of the hands. The text of the file replaces its
name when the job is read, so the folder of a solve does not need the file. A name of
`spewy.job.shipped.shipped_ranges` (``oop = "@hu-btn-opens"``) means this range, unless there is a file of this name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from spewy.errors import InputError, nearest, path_text, short, shown
from spewy.game.names import ROUND_NAMES, SEAT_NAMES
from spewy.game.ranges import parse_range
from spewy.game.ranges.text import named_list, number_list, without_comments
from spewy.job.shipped import FOLDER as EXAMPLES
from spewy.job.shipped import shipped_ranges
from spewy.system.textfile import exists, parse_toml, read_text, read_toml
from spewy.system.tools import as_path

MOST_EXPLAINED = 20
"""Largest number of wrong keys that an error describes."""


def read_job(path: str | Path, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Read a job file into nested dictionaries and apply overrides; the keys are not validated.

    Args:
        path: the job file.
        overrides: keys with values that replace the file's, such as ``solve.target=0.1%``.
    """
    path = as_path(path, "job")
    subject = f"job {path_text(path)}"
    if exists(path) and path.is_dir():
        raise InputError(f"{subject}: expected a job file, such as job.toml, found a folder")
    if str(path) == "-" and not exists(path):
        raise InputError("job -: a job is not read from stdin; write it into a file, such as job.toml")
    if path.parent.name == "examples" and exists(EXAMPLES / path.name) and not exists(path):
        raise InputError(
            f"{subject} does not exist; `spewy examples {path_text(path.parent)}` copies it there"
        )
    data = read_toml(path, subject)
    if isinstance(overrides, str):
        raise InputError(f'overrides: expected a list such as ["solve.target=1%"], found {shown(overrides)}')
    for text in overrides:
        override(data, text)
    game = data.get("game")
    if isinstance(game, dict) and isinstance(game.get("file"), str):
        game_file = path.parent / game["file"]
        if game["file"].endswith(".game") and game_file.exists():
            game["file"] = str(game_file)
    return with_range_files(data, path.parent)


def lists_boards(file: str | Path, overrides: Sequence[str] = ()) -> bool:
    """Whether a job file has the key ``spot.boards``, and so gives several jobs."""
    spot = read_job(file, overrides).get("spot")
    return isinstance(spot, dict) and "boards" in spot


def override(data: dict[str, Any], text: str) -> None:
    """Set one key in the nested dictionaries of a job, or add to its value.

    ``text`` is the key and its value, such as ``solve.target=0.1%``; or ``lock+=x: bet``, which adds a value to a list
    or text to a text.
    """
    path, equals, value = text.partition("=")
    adds = path.endswith("+")
    keys = path.removesuffix("+").strip().split(".")
    if not equals or not all(keys):
        raise InputError(f"override {shown(text)}: expected a key and its value, such as solve.target=0.1%")
    try:
        parsed = parse_toml(f"value = {value}", "value")["value"]
    except InputError:
        parsed = value.strip()  # text without quotes, which a shell would take away
    subject = f"override {shown(text)}"
    if adds:
        parsed = _sum(section_of(data, keys, subject).get(keys[-1], []), parsed, text)
    set_key(data, keys, parsed, subject)


def set_key(data: dict[str, Any], keys: Sequence[str], value: Any, subject: str) -> None:
    """Set a key of a job; ``keys`` are the names of the sections that lead to the key, and the key's own name."""
    section_of(data, keys, subject)[keys[-1]] = value


def section_of(data: dict[str, Any], keys: Sequence[str], subject: str) -> dict[str, Any]:
    """Return the section of a key, and create it if it is missing; ``keys``: the sections' names and the key's own."""
    for key in keys[:-1]:
        data = data.setdefault(key, {})
        if not isinstance(data, dict):
            raise InputError(f"{subject}: expected {short(key)} to be a section, found a value")
    return data


def _sum(old: Any, new: Any, override_text: str) -> Any:
    if isinstance(old, str):
        return f"{old}{new}"
    if not isinstance(old, list):
        raise InputError(
            f"override {shown(override_text)}: expected a list or a text before +=, found {shown(old)}"
        )
    return [*old, new]


def with_range_files(data: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Replace the names of range files in a job, which are relative to ``folder``, by the text of the files."""
    spot = data.get("spot")
    if not isinstance(spot, dict):
        return data
    for seat in SEAT_NAMES:
        _require_order(spot.get(seat), f"spot.{seat}")
    texts = {seat: text_of_file(spot.get(seat), folder, f"spot.{seat}") for seat in SEAT_NAMES}
    replaced = {seat: text for seat, text in texts.items() if text is not None}
    return data | {"spot": spot | replaced} if replaced else data


def _require_order(given: object, subject: str) -> None:
    """Refuse a list of 1326 numbers that does not name its order, since `Job.stored` would read it in Spewy's order."""
    if isinstance(given, str) and named_list(given) != given:
        try:
            parse_range(given)
        except InputError as error:
            raise InputError(f"{subject}: {error}") from None


def text_of_file(given: object, folder: Path, subject: str) -> str | None:
    """Read the range that ``given`` names: the text of a file, or a shipped range. None if ``given`` is no name.

    A name is ``"@btn.txt"`` or ``{"file": "btn.txt"}``, also with the ``order`` of a list.
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
    if isinstance(given, str) and given.startswith("@"):
        return given[1:].strip()
    if isinstance(given, dict) and {"file"} <= given.keys() <= {"file", "order"}:
        return given["file"] if all(isinstance(value, str) for value in given.values()) else None
    return None


def _range_text(path: Path, subject: str, order: str | None) -> str:
    """Return the groups or numbers of a range file in one line, without comments."""
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


def explain(subject: str, errors: Sequence[Any], model: type[BaseModel]) -> str:
    """Describe pydantic errors in one line, each with the key, the expected value and the value in the file.

    A key that has several errors is described by the first. Of many wrong keys, only the first are described.

    Args:
        subject: name of the job.
        errors: the elements of `ValidationError.errors`.
        model: the class that the data were validated with, whose keys are known.
    """
    first: dict[str, Any] = {}
    for item in errors:
        parts = (str(part) for part in item["loc"])
        key = ".".join(part.rstrip("_") for part in parts if part not in ("int", "str") and "[" not in part)
        first.setdefault(key, item)
    texts = [_told(key, item, model) for key, item in islice(first.items(), MOST_EXPLAINED)]
    if len(first) > len(texts):
        texts.append(f"{len(first) - len(texts):,} more keys are wrong")
    return f"{subject}: {'; '.join(texts)}"


_LOCK = re.compile(r"lock\.([0-9]+)(?:\.([^\s,:]+))?")


def _told(key: str, item: Any, model: type[BaseModel]) -> str:
    text = _explained(key, item, model)
    if not key.startswith("lock."):
        return text
    # A user counts locks from 1: "lock 1, strategy" in place of "lock.0.strategy".
    return _LOCK.sub(lambda lock: f"lock {int(lock[1]) + 1}" + (f", {lock[2]}" if lock[2] else ""), text, 1)


WORDS = {
    "string_type": 'a text between quotes, such as "text"',
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "model_type": "a section",
    "dict_type": "a table",
    "tuple_type": "a list",
    "list_type": "a list",
    "string_too_short": "a text of at least one character",
}
"""Descriptions of expected values, by the type of pydantic's error."""
UNITS = {"target": "%", "memory": " GiB", "bet": "%", "raise": "%", "donk": "%"}
"""The most common unit of each key whose value is a text with a unit."""


def _explained(key: str, item: Any, model: type[BaseModel]) -> str:
    kind = item["type"]
    if kind == "extra_forbidden":
        return f"unknown key {short(key)}{_nearest_key(key, model)}"
    if kind == "missing":
        return f"{short(key)}: expected a value, found none"
    if kind == "no_effect":
        return f"{short(key)} {item['msg']}"
    if kind == "literal_error" and item["loc"][-1] == "[key]":
        section, _, name = key.rpartition(".")
        near = nearest(name, ROUND_NAMES)
        rounds = ", ".join(f"[{section}.{each}]" for each in ROUND_NAMES)
        return f"{short(key)}: expected the sections {rounds}; found {shown(name)}{near}"
    unit, value = UNITS.get(key.rpartition(".")[2]), item["input"]
    if kind == "string_type" and unit is not None and isinstance(value, int | float):
        return f'{short(key)}: expected a unit and quotes, such as "{value}{unit}"; found {shown(value)}'
    expected = item["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    expected = WORDS.get(kind, expected).removeprefix("expected ")
    if expected.startswith(("greater than", "less than")):
        expected = f"a number {expected}"
    return f"{short(key)}: expected {expected}, found {shown(value)}"


def _nearest_key(key: str, model: type[BaseModel]) -> str:
    """Return the known key nearest to an unknown key; it may lie in another section."""
    known = sorted(set(_keys(model)), key=lambda path: (path.startswith("lock."), path))
    name = key.rpartition(".")[2]
    for path in known:
        if path.rpartition(".")[2] == name:
            return f" (nearest: {path})"
    return nearest(key, known) or nearest(name, {path.rpartition(".")[2]: path for path in reversed(known)})


def _keys(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        key = field.alias or name
        yield key
        for inner in _models(field.annotation):
            yield from (f"{key}.{inside}" for inside in _keys(inner))


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the section classes that the type of a key mentions, such as `LockSection` for a list of locks."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)
