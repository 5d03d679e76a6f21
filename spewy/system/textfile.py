"""Reads text files that the user names; only regular files are accepted, since a pipe could block for ever."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spewy.errors import InputError, path_text, short, shown

KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
"""Names of the kinds of files that are not regular files."""
MOST_CHARACTERS = 4_000_000
"""Largest length of a TOML file; a lock of all 1,326 hands has some 60,000 characters."""
CHARACTERS_EACH = 10
"""A TOML text may have one key or value for this number of the characters that are allowed."""
MOST_NAMES = 16
"""Largest number of names in a TOML key, such as two in ``spot.board``."""
MOST_NESTED = 20
"""Largest number of TOML's tables and lists, or of JSON's objects and lists, that stand in one another."""
_TEXT_OR_COMMENT = re.compile(
    r'"""(?:\\.|[^\\])*?(?:"{3,5}|\Z)'
    r"|'''.*?(?:'{3,5}|\Z)"
    r'|"(?:\\.|[^"\\\n])*+"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+",
    re.DOTALL,
)
_LONG_KEY = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{MOST_NAMES}}}")


def read_text(path: Path, subject: str) -> str:
    """Read a regular file in UTF-8 without its byte order mark; errors begin with ``subject``."""
    try:
        require_regular(path, subject)
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        if error.object[:2] in _UTF_16 or 0 in error.object[:2]:
            raise _utf_16(subject) from None
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{subject}, line {line}: expected text in UTF-8, found the byte {error.object[error.start]:#04x}; "
            "save the file as UTF-8"
        ) from None
    except (OSError, ValueError) as error:  # a null character in a path is a ValueError
        raise InputError(f"{subject}: expected a readable text file, found: {_reason(error)}") from None
    if "\0" in text[:2]:
        raise _utf_16(subject)
    return text


def read_toml(path: Path, subject: str) -> dict[str, Any]:
    return parse_toml(read_text(path, subject), subject, MOST_CHARACTERS)


def parse_toml(
    text: str, subject: str, most: int | None = None, parse_float: Callable[[str], Any] = float
) -> dict[str, Any]:
    """Read the text of a TOML file, unless this would take much memory or time.

    An error names the line and the column, and shows the line.

    Args:
        text: the text; a byte order mark at its beginning is skipped.
        subject: name of the file.
        most: largest number of characters, with at most ``most / 10`` keys and values; None: no limit.
        parse_float: function that converts the text of a number with a point or an exponent.
    """
    text = text.removeprefix("\ufeff")
    _require_small(text, subject, most)
    if text.lstrip().startswith("{"):
        raise InputError(f"{subject}: expected TOML, found JSON")
    try:
        data = tomllib.loads(text, parse_float=parse_float)
    except tomllib.TOMLDecodeError as error:
        reason, at, place = str(error).rpartition(" (at ")
        number = re.match(r"line (\d+)", place)
        line = text.split("\n")[int(number[1]) - 1].strip() if number else ""
        found = f"{short(reason)}{at}{place}" if reason else short(place)
        raise InputError(
            f"{subject}: expected TOML, found: {found}{f': {shown(line)}' if line else ''}"
        ) from None
    except ValueError:
        raise InputError(
            f"{subject}: expected numbers of a few digits, found a number of thousands"
        ) from None
    except RecursionError:
        raise InputError(f"{subject}: expected a few nested brackets, found hundreds") from None
    if nested_deeper(data, MOST_NESTED):
        raise InputError(f"{subject}: expected at most {MOST_NESTED} nested tables and lists, found more")
    return data


def nested_deeper(value: object, most: int) -> bool:
    """Whether more than ``most`` dictionaries and lists stand in one another in a value."""
    level = [value]
    for _ in range(most + 1):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return bool(level)


def _require_small(text: str, subject: str, most: int | None) -> None:
    if most is not None and len(text) > most:
        raise InputError(f"{subject}: expected at most {most:,} characters, found {len(text):,}")
    signs = _TEXT_OR_COMMENT.sub("x", text)
    n_values = sum(map(signs.count, "=[,"))
    if most is not None and n_values > most // CHARACTERS_EACH:
        raise InputError(
            f"{subject}: expected at most {most // CHARACTERS_EACH:,} keys and values, found {n_values:,}"
        )
    # tomllib stores every beginning of a dotted key: a key of 24 kB would take 500 MiB.
    if _LONG_KEY.search(signs):
        raise InputError(
            f"{subject}: expected keys of at most {MOST_NAMES} names, such as spot.board, found more"
        )


def require_regular(path: Path, subject: str) -> None:
    kind = stat.S_IFMT(path.stat().st_mode)
    if kind != stat.S_IFREG:
        raise InputError(f"{subject}: expected a file, found {KINDS.get(kind, 'a special file')}")


def exists(path: Path) -> bool:
    """Whether something exists at a path; False if the text cannot be a path."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""Byte order marks of UTF-16; without a mark, one of the first two bytes is zero."""


def _utf_16(subject: str) -> InputError:
    return InputError(f"{subject}: expected text in UTF-8, found UTF-16; save the file as UTF-8")


def _reason(error: OSError | ValueError) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


def replace_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write a file in one step: a reader sees either the old text or the new text.

    If ``private`` is True, only this user may read the file.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        if private:
            temporary.unlink(missing_ok=True)
            temporary.touch(mode=0o600)
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise InputError(
            f"file {path_text(path)}: expected a file that can be written, found: {_reason(error)}"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
