"""Common situations on the flop with 100 big blinds, for `spewy new`: pots, stacks and ranges."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from spewy.errors import InputError, shown

__all__ = ["GivenRange", "Preset", "preset", "presets"]


@dataclass(frozen=True)
class GivenRange:
    """A range as it is written into a new job file.

    Attributes:
        about: description of the range.
        text: groups of hands, in several lines.
    """

    about: str
    text: str


@dataclass(frozen=True)
class Preset:
    """A common situation on the flop, such as a single raised pot; amounts are in big blinds.

    Attributes:
        name: name of the preset.
        about: description of the situation.
        pot, stack: pot and effective stack when the flop is dealt.
        raiser: the seat that raised last before the flop.
        range_files: names of the files of both ranges, oop first.
    """

    name: str
    about: str
    pot: float
    stack: float
    raiser: Literal["oop", "ip"]
    range_files: tuple[str, str]

    @property
    def ranges(self) -> tuple[GivenRange, GivenRange]:
        """Both players' ranges, oop first."""
        return _range(self.range_files[0]), _range(self.range_files[1])


@cache
def presets() -> Mapping[str, Preset]:
    """Return all presets by name."""
    data: dict[str, dict[str, Any]] = tomllib.loads(_text("presets.toml"))
    return {
        name: Preset(name, row["about"], row["pot"], row["stack"], row["raiser"], (row["oop"], row["ip"]))
        for name, row in data.items()
    }


def preset(name: str) -> Preset:
    """Look up a preset by name.

    Raises:
        InputError: there is no such preset; the message names the closest one.
    """
    known = presets()
    if name not in known:
        close = get_close_matches(name, known, n=1, cutoff=0.4)
        near = f", nearest to {close[0]}" if close else ""
        raise InputError(f"preset: expected one of {', '.join(known)}; found {shown(name)}{near}")
    return known[name]


def _range(name: str) -> GivenRange:
    lines = _text(f"ranges/{name}.txt").splitlines()
    groups = [line for line in lines if not line.startswith("#")]
    return GivenRange(lines[0].removeprefix("# "), "\n".join(groups))


def _text(name: str) -> str:
    return files("spewy").joinpath("presets", name).read_text(encoding="utf-8")
