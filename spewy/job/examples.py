"""Example files that come with the package: jobs, games and tournaments, for `spewy examples`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from spewy.errors import InputError, path_text

FOLDER = Path(__file__).resolve().parent.parent / "examples"
SUFFIXES = (".toml", ".game")


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
    """Return all examples, by name."""
    files = sorted(file for file in FOLDER.rglob("*") if file.suffix in SUFFIXES)
    return [_example(file) for file in files]


def copy_examples(folder: Path) -> list[Path]:
    """Write all examples into a folder, which is made if it does not exist; return the paths of the files.

    Raises:
        InputError: a file in the folder has the name of an example, but not its text; or the folder is a file. In both
            cases this function writes nothing.
    """
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
