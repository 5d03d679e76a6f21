"""Package UPAC's bot as a zip file: the runtime's source code, its tables, and bot.json."""

from __future__ import annotations

import io
import json
import stat
import time
import zipfile
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np

from spewy.competitions.upac.runtime.tables import Tables
from spewy.errors import InputError, one_line, path_text, shown
from spewy.match.connection import Program, wait_for_any
from spewy.match.entrant import plain_name
from spewy.system.children import HOME
from spewy.system.failures import failure_text

MOST_BYTES = 5_000_000
"""Largest size in bytes of the package of Spewy's bot, packed and unpacked."""
MOST_UNPACKED, MOST_FILES = 64 * 2**20, 1000
"""Largest unpacked size in bytes, and largest number of files, of another author's package.

The limits are higher than the competition's, because a package may contain files that only its build needs.
"""
_IN_PIECES = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compression methods that can be unpacked in pieces; other methods may turn a few bytes into gigabytes at once."""
BUILD_SECONDS = 60.0
BUILD_POLL_SECONDS = 0.05
BUILD_LINES, MOST_OF_BUILD = 20, 400
"""Largest number of lines and characters from a failed build's output that the error shows."""
_PIECE = 2**20
TABLES = "bot/tables.npz"
RUNTIME = "spewy/competitions/upac/runtime"
LIBRARY = (
    "buckets/cards/cards.py",
    "buckets/cards/hands.py",
    "buckets/cards/rank_sets.py",
    "buckets/errors.py",
    "buckets/types.py",
    "compiled/errors.py",
)
"""Modules of other packages that the runtime imports; they need only NumPy."""
STUB = '"""This package holds only the bot."""\n'
_DATE = (2024, 1, 1, 0, 0, 0)
"""Date of all members, so that equal tables give equal bytes."""


def write_package(tables: Mapping[str, np.ndarray], out: Path) -> int:
    """Write the zip file with which Spewy's bot takes part in the competition.

    Returns:
        The size of the unpacked package in bytes.
    """
    members = {"bot/bot.json": _json(), TABLES: packed(tables)}
    members |= {f"bot/{name}": text.encode() for name, text in _sources().items()}
    n_bytes = sum(map(len, members.values()))
    if n_bytes > MOST_BYTES:
        raise InputError(
            f"package {path_text(out)}: expected at most {MOST_BYTES:,} bytes, found {n_bytes:,}; "
            "use fewer rungs, board buckets or lines"
        )
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), data, zipfile.ZIP_DEFLATED)
    return n_bytes


def open_tables(file: Path) -> Tables:
    with _reading(f"package {path_text(file)}: expected a zip file with tables of UPAC's bot"):
        with zipfile.ZipFile(file) as archive:
            require_small(archive)
            data = archive.read(TABLES)
        if zipfile.is_zipfile(io.BytesIO(data)):  # for other data `Tables` raises the error
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                require_small(archive)
    return Tables(io.BytesIO(data), path_text(file))


class PackageBot(NamedTuple):
    name: str
    run: str
    folder: Path


def unpack(package: Path, folder: Path) -> PackageBot:
    """Unpack a package into a folder, and run its build command."""
    subject = f"package {path_text(package)}"
    with _reading(f"{subject}: expected a zip file with bot/bot.json"):
        with zipfile.ZipFile(package) as archive:
            require_small(archive)
            archive.extractall(folder)
        config = json.loads((folder / "bot" / "bot.json").read_text(encoding="utf-8"))
        name, build, run = (str(config[key]) for key in ("name", "build", "run"))
    wrong = _build(build, folder / "bot")
    if wrong:
        raise InputError(f"{subject}: the build failed: {wrong}")
    return PackageBot(plain_name(name), run, folder / "bot")


@contextmanager
def _reading(expected: str) -> Iterator[None]:
    """Raise an `InputError` that begins with ``expected`` for any error of the ``with`` block."""
    try:
        yield
    except Exception as error:  # zip files fail in many ways
        if failure_text(error) is not None:
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"{expected}, found: {reason}") from None


def _build(command: str, folder: Path) -> str:
    """Run a build command, and kill all processes that it has left; return why it failed, or an empty text."""
    deadline, lines = time.monotonic() + BUILD_SECONDS, deque[bytes](maxlen=BUILD_LINES)
    if "\0" in command:
        return "embedded null byte"
    with Program(["sh", "-c", command], "build", folder=folder, merged=True) as build:
        while time.monotonic() < deadline:
            ended = build.exit_code is not None
            wait_for_any([build], min(deadline, time.monotonic() + BUILD_POLL_SECONDS))
            while time.monotonic() < deadline and (line := build.poll()) is not None:
                lines.append(line)
            if build.ended:
                build.wait(deadline)
            if ended or build.ended:  # a child of the build may keep its output open
                break
        code = build.exit_code
    wrong = (
        f"not finished within {BUILD_SECONDS:g} s" if code is None else f"exit code {code}" if code else ""
    )
    text = b"\n".join(lines).decode(errors="replace").strip()
    text = one_line(text if len(text) <= MOST_OF_BUILD else f"... {text[-MOST_OF_BUILD:]}", 2 * MOST_OF_BUILD)
    return f"{wrong}; the end of its output: {text}" if wrong and text else wrong


def require_small(archive: zipfile.ZipFile) -> None:
    """Refuse a zip file that is too large when unpacked, or that would write outside its folder."""
    members = archive.infolist()
    if len(members) > MOST_FILES:
        raise InputError(f"{len(members):,} files; at most {MOST_FILES:,} are allowed")
    n_bytes = sum(member.file_size for member in members)
    if n_bytes > MOST_UNPACKED:
        raise InputError(f"{n_bytes:,} unpacked bytes; at most {MOST_UNPACKED:,} are allowed")
    for member in members:
        path, kind = PurePosixPath(member.filename), stat.S_IFMT(member.external_attr >> 16)
        if path.is_absolute() or ".." in path.parts or "\\" in member.filename:
            raise InputError(f"a name that leaves the folder, {shown(member.filename)}")
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise InputError(f"a link or a device, {shown(member.filename)}")
        if member.compress_type not in _IN_PIECES:
            raise InputError(f"a member that is neither stored nor deflated, {shown(member.filename)}")
        _require_size(archive, member)


def _require_size(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Refuse a member that unpacks to more bytes than it declares."""
    whole, n_bytes = copy(member), 0
    whole.file_size = 2 * MOST_UNPACKED  # so that bytes after the declared size are read too
    with archive.open(whole) as file:
        while piece := file.read(_PIECE):
            n_bytes += len(piece)
            if n_bytes > member.file_size:
                raise InputError(
                    f"more than the {member.file_size:,} bytes that {shown(member.filename)} declares"
                )


def packed(tables: Mapping[str, np.ndarray]) -> bytes:
    """Pack tables as NumPy's ``.npz`` with the best compression; equal tables give equal bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, array in tables.items():
            data = io.BytesIO()
            np.lib.format.write_array(data, np.ascontiguousarray(array), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", _DATE), data.getvalue(), zipfile.ZIP_DEFLATED, 9)
    return out.getvalue()


def _json() -> bytes:
    command = f"exec python3 -m {RUNTIME.replace('/', '.')}"
    return json.dumps({"name": "Spewy", "build": "true", "run": command}, indent=2).encode() + b"\n"


def _sources() -> dict[str, str]:
    """Return the source files of the bot by path, with a stub ``__init__.py`` for each package above them."""
    paths = [*(f"{RUNTIME}/{file.name}" for file in sorted((Path(HOME) / RUNTIME).glob("*.py"))), *LIBRARY]
    above = sorted({str(parent) for path in paths for parent in PurePosixPath(path).parents if parent.name})
    stubs = {f"{parent}/__init__.py": STUB for parent in above}
    return stubs | {path: (Path(HOME) / path).read_text(encoding="utf-8") for path in paths}
