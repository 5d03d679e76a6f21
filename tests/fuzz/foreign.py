"""Folders that a command does not expect: of another job, half-written, of a batch, of another version."""

import json
import os
import shutil
from pathlib import Path
from random import Random

from lockers.files import _checksum

INSIDE = ("play", "judged", "log.txt", "status.json", ".lock", "manifest.json", "lockers.mdb")
"""Names of files and folders in a solve's folder."""


def foreign(rng: Random, folder: Path, others: list[Path]) -> str:
    """Change a copy of a solved folder at random; return what was done. ``others`` are solved folders."""
    change = rng.choice((_other_job, _batch, _no_folder, *(_half, _version, _misplaced) * 2))
    return f"{change.__name__[1:]}: {change(rng, folder, others)}"


def _other_job(rng: Random, folder: Path, others: list[Path]) -> str:
    """Replace the folder, or one entry of it, by that of another folder."""
    source = rng.choice(others)
    inside = sorted(path.name for path in source.iterdir())
    name = rng.choice(["", *inside])
    target = folder / name if name else folder
    _remove(target)
    if (source / name).is_dir():
        shutil.copytree(source / name, target)
    else:
        shutil.copy(source / name, target)
    return f"{name or 'all'} of {source.name}"


def _half(rng: Random, folder: Path, _: object) -> str:
    """Remove some of the folder's files, as a broken-off copy or removal does."""
    names = sorted(path.name for path in folder.iterdir())
    gone = rng.sample(names, rng.randint(1, len(names)))
    for name in gone:
        _remove(folder / name)
    if rng.random() < 0.2:
        (folder / ".manifest.json.removed").write_text("{}")
    return f"without {', '.join(gone)}"


def _batch(rng: Random, folder: Path, others: list[Path]) -> str:
    """Make it a folder of solves, maybe with the ``boards.csv`` of a batch of flops."""
    _remove(folder)
    folder.mkdir()
    for source in rng.sample(others, rng.choice((0, 1, 2))):
        shutil.copytree(source, folder / source.name)
    if rng.random() < 0.5:
        text = rng.choice(("board,weight\nQsJh2h,3\n", "board,weight\nQsJh2h,-1\n", "board\n", "", "\0"))
        (folder / "boards.csv").write_text(text)
    return ", ".join(sorted(path.name for path in folder.iterdir()))


def _version(rng: Random, folder: Path, _: object) -> str:
    """Change a key of a manifest, and its checksum with it."""
    manifests = sorted(path for path in folder.rglob("manifest.json") if path.is_file())
    if not manifests:  # an earlier change has removed them
        return "no manifest"
    path = rng.choice(manifests)
    try:
        content = json.loads(path.read_bytes())
    except ValueError:  # an earlier change has put another file there
        return "no manifest"
    content.pop("crc32")
    where = rng.choice([part for part in (content, content["manifest"]) if part and isinstance(part, dict)])
    key = rng.choice(sorted(where))
    where[key] = rng.choice((0, 2, 999, -1, "2", None, {}, [], 10**400))
    if rng.random() < 0.3:
        where["new"] = 1
    path.write_text(json.dumps(content | {"crc32": _checksum(content)}))
    return f"{path}: {key}"


def _misplaced(rng: Random, folder: Path, _: object) -> str:
    """Put a file, a folder, a link or a pipe in the place of one of the folder's entries."""
    path = folder / rng.choice(INSIDE)
    _remove(path)
    match rng.randrange(5):
        case 0:
            path.mkdir()
            return f"folder {path.name}"
        case 1:
            path.write_bytes(rng.randbytes(rng.choice((0, 100))))
            return f"file {path.name}"
        case 2:
            path.symlink_to(rng.choice((path, Path("nowhere"), folder.absolute())))
            return f"link {path.name}"
        case 3:
            os.mkfifo(path)
            return f"pipe {path.name}"
        case _:
            path.mkdir()
            (path / "notes.txt").write_text("notes")
            return f"folder {path.name} with notes"


def _no_folder(rng: Random, folder: Path, _: object) -> str:
    """Put a file, a link, a pipe or a foreign folder in the place of the folder."""
    _remove(folder)
    match rng.randrange(4):
        case 0:
            folder.write_text("notes")
            return "file"
        case 1:
            folder.symlink_to(rng.choice((folder.name, "nowhere")))
            return "link"
        case 2:
            os.mkfifo(folder)
            return "pipe"
        case _:
            folder.mkdir()
            (folder / rng.choice(("notes.txt", "lockers.mdb", ".lock", "log.txt"))).write_text("notes")
            return "folder with a file"


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
