"""Files that come with the program: ranges, presets for `spewy new`, and examples for `spewy examples`.

A *preset* is a common situation on the flop, with pot, stacks and ranges. The ranges in ``presets/ranges`` were written
by hand. Those in ``presets/preflop`` are from solves of heads-up no-limit hold'em, with a file for each depth of the
stacks (`benchmarks.studies.preflop_ranges`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal

from spewy.errors import InputError, path_text, shown

FOLDER = Path(__file__).resolve().parent.parent / "examples"
SUFFIXES = (".toml", ".game")
_PRESETS = FOLDER.parent / "presets"


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
        raiser: the seat that raised last before the flop; None: nobody raised.
        range_names: names of both ranges in `shipped_ranges`, oop first.
    """

    name: str
    about: str
    pot: float
    stack: float
    raiser: Literal["oop", "ip"] | None
    range_names: tuple[str, str]

    @property
    def ranges(self) -> tuple[GivenRange, GivenRange]:
        """Both players' ranges, oop first."""
        oop, ip = self.range_names
        return shipped_ranges()[oop], shipped_ranges()[ip]


@cache
def presets() -> Mapping[str, Preset]:
    rows: dict[str, dict[str, Any]] = tomllib.loads(_PRESETS.joinpath("presets.toml").read_text("utf-8"))
    for solved in _solves():
        rows |= solved["presets"]
    return {
        name: Preset(name, row["about"], row["pot"], row["stack"], row.get("raiser"), (row["oop"], row["ip"]))
        for name, row in rows.items()
    }


@cache
def shipped_ranges() -> Mapping[str, GivenRange]:
    """Return all ranges that belong to the program, by name; ranges from solves come last.

    >>> shipped_ranges()["hu-btn-opens"].about
    'Heads-up: the button opens to 2.5.'
    """
    paths = sorted(_PRESETS.joinpath("ranges").iterdir(), key=lambda file: file.name)
    by_hand = {file.name.removesuffix(".txt"): _range(file.read_text("utf-8")) for file in paths}
    from_solves = {
        name: GivenRange(row["about"], row["range"].strip())
        for solved in _solves()
        for name, row in solved["ranges"].items()
    }
    return by_hand | from_solves


def preset(name: str) -> Preset:
    known = presets()
    if name not in known:
        close = get_close_matches(name, known, n=1, cutoff=0.4)
        near = f", nearest to {close[0]}" if close else ""
        raise InputError(f"preset: expected one of {', '.join(known)}; found {shown(name)}{near}")
    return known[name]


def preset_of(oop: str, ip: str) -> Preset | None:
    """Return the first preset with two ranges that have these texts, whatever their line breaks; None if there is none.

    >>> preset_of(*(given.text for given in preset("hu-3bet").ranges)).name
    'hu-3bet'
    """
    return _by_ranges().get((_one_word(oop), _one_word(ip)))


@cache
def _by_ranges() -> Mapping[tuple[str, str], Preset]:
    rows = [(tuple(_one_word(each.text) for each in known.ranges), known) for known in presets().values()]
    return {(oop, ip): known for (oop, ip), known in reversed(rows)}


def _one_word(text: str) -> str:
    return "".join(text.split())


def _solves() -> Iterator[dict[str, Any]]:
    """Yield a dictionary for each file of solved ranges and presets, the smallest depth of stacks first."""
    for file in sorted(_PRESETS.joinpath("preflop").iterdir(), key=lambda file: file.name):
        yield tomllib.loads(file.read_text("utf-8"))


def _range(text: str) -> GivenRange:
    lines = text.splitlines()
    groups = [line for line in lines if not line.startswith("#")]
    return GivenRange(lines[0].removeprefix("# "), "\n".join(groups))


@dataclass(frozen=True)
class Example:
    """A job, a game or a tournament that comes with the package.

    Attributes:
        name: path of the file in the folder of examples, such as ``tournaments/leduc.toml``.
        about: the file's first comment.
        text: the whole file.
    """

    name: str
    about: str
    text: str


def examples() -> list[Example]:
    return [_example(file) for file in sorted(FOLDER.rglob("*")) if file.suffix in SUFFIXES]


def copy_examples(folder: Path) -> list[Path]:
    """Write all examples into a folder, which is made if it does not exist; return the paths of the files."""
    found = examples()
    if folder.exists() and not folder.is_dir():
        raise InputError(f"folder {path_text(folder)}: expected a folder, found a file; give another name")
    for example in found:
        file = folder / example.name
        if file.exists() and file.read_bytes() != example.text.encode():
            raise InputError(
                f"file {path_text(file)} exists and differs from the example; give another folder, or move it away"
            )
    for example in found:
        (folder / example.name).parent.mkdir(parents=True, exist_ok=True)
        (folder / example.name).write_text(example.text, encoding="utf-8")
    return [folder / example.name for example in found]


def _example(file: Path) -> Example:
    text = file.read_text(encoding="utf-8")
    return Example(
        file.relative_to(FOLDER).as_posix(), text.partition("\n")[0].removeprefix("#").strip(), text
    )
