"""Random damage to a folder of lockers."""

import json
import os
import shutil
from pathlib import Path
from random import Random

from lockers.files import _checksum

from .mutate import change_value

PAGE = 4096


def damage(rng: Random, folder: Path, others: list[Path]) -> str:
    """Damage one file of a folder; what was done. ``others`` are folders to take files from."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.endswith("-lock"))
    file = rng.choice(files)
    often = (_flip,) * 4 + (_overwrite, _truncate, _swap_pages, _manifest) * 2
    change = rng.choice(
        (*often, _append, _delete, _empty, _folder, _link, _exchange, _replace, _lock_file, _strange)
    )
    return f"{change.__name__[1:]} {change(rng, file, files, others)}"


def rewritten(note: str) -> bool:
    """Whether the damage was one that makes another store, which nobody could tell from a right one."""
    return note.startswith(("manifest", "replace", "exchange"))


def _flip(rng: Random, file: Path, *_: object) -> str:
    """Flip one to eight bits, in one byte or over the file."""
    size = file.stat().st_size
    places = [rng.randrange(size) for _ in range(rng.choice((1, 1, 1, 2, 8)))]
    with file.open("r+b") as opened:
        for place in places:
            opened.seek(place)
            old = opened.read(1)[0]
            opened.seek(place)
            opened.write(bytes([old ^ 1 << rng.randrange(8)]))
    return f"{file.name} at {places}"


def _overwrite(rng: Random, file: Path, *_: object) -> str:
    """Put zeros, ones or noise over a few bytes, or a page."""
    size = file.stat().st_size
    length = min(size, rng.choice((1, 2, 4, 8, 16, 100, PAGE)))
    start = rng.randrange(size - length + 1)
    if length == PAGE:
        start -= start % PAGE
    content = rng.choice((bytes(length), b"\xff" * length, rng.randbytes(length)))
    with file.open("r+b") as opened:
        opened.seek(start)
        opened.write(content)
    return f"{file.name} at {start}, {content[:16].hex()}, {length} bytes"


def _truncate(rng: Random, file: Path, *_: object) -> str:
    size = file.stat().st_size
    left = rng.choice((rng.randrange(size), PAGE * rng.randrange(size // PAGE + 1), max(0, size - 1)))
    os.truncate(file, left)
    return f"{file.name} to {left} of {size}"


def _append(rng: Random, file: Path, *_: object) -> str:
    content = rng.choice((bytes(PAGE), rng.randbytes(100), b"\n", file.read_bytes()))
    with file.open("ab") as opened:
        opened.write(content)
    return f"{len(content)} bytes to {file.name}"


def _swap_pages(rng: Random, file: Path, *_: object) -> str:
    content = bytearray(file.read_bytes())
    pages = len(content) // PAGE
    if pages < 2:
        return f"{file.name} not, it has one page"
    a, b = (PAGE * page for page in rng.sample(range(pages), 2))
    content[a : a + PAGE], content[b : b + PAGE] = content[b : b + PAGE], content[a : a + PAGE]
    file.write_bytes(content)
    return f"{file.name} at {a} and {b}"


def _delete(_: Random, file: Path, *__: object) -> str:
    file.unlink()
    return file.name


def _empty(_: Random, file: Path, *__: object) -> str:
    os.truncate(file, 0)
    return file.name


def _folder(_: Random, file: Path, *__: object) -> str:
    file.unlink()
    file.mkdir()
    return file.name


def _link(rng: Random, file: Path, files: list[Path], _: object) -> str:
    """A link to itself, to nowhere or to another file."""
    target = rng.choice((file, Path("nowhere"), rng.choice(files)))
    file.unlink()
    file.symlink_to(target)
    return f"{file.name} to {target.name}"


def _exchange(rng: Random, file: Path, files: list[Path], _: object) -> str:
    """Two files under each other's name."""
    other = rng.choice(files)
    aside = file.with_name("aside")
    file.rename(aside)
    if other != file:
        other.rename(file)
    aside.rename(other)
    return f"{file.name} and {other.name}"


def _replace(rng: Random, file: Path, _: list[Path], others: list[Path]) -> str:
    """A file of another folder."""
    sources = sorted(path for path in rng.choice(others).iterdir() if path.suffix == file.suffix)
    if not sources:
        return f"{file.name} not, no other folder has one of its kind"
    source = rng.choice(sources)
    shutil.copy(source, file)
    return f"{file.name} by {source.parent.name}/{source.name}"


def _manifest(rng: Random, file: Path, *_: object) -> str:
    """Another value in the manifest, with the right checksum."""
    path = file.parent / "manifest.json"
    content = json.loads(path.read_text())
    content.pop("crc32")
    change_value(rng, content)
    text = json.dumps(content | {"crc32": _checksum(content)})
    path.write_text(text)
    return text[:3000]


def _lock_file(rng: Random, file: Path, *_: object) -> str:
    """Noise in a lock file, or no lock file."""
    path = file.parent / "lockers.mdb-lock"
    if path.exists() and rng.random() < 0.5:
        path.unlink()
        return f"{path.name} deleted"
    path.write_bytes(rng.randbytes(rng.choice((0, 10, 8192))))
    return f"{path.name} overwritten"


def _strange(rng: Random, file: Path, *_: object) -> str:
    """A file that does not belong there."""
    name = rng.choice(("other.mdb", "shard-000.mdb", "lockers.mdb.tmp", "notes.txt", ".manifest.json.1.tmp"))
    path = file.parent / name
    if path.exists():
        return f"{name} not, it is there"
    path.write_bytes(rng.randbytes(100))
    return name
