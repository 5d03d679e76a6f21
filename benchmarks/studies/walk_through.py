"""Runs all commands of `docs/start/walk-through.md`, from the top of the page to the bottom.

    python -m benchmarks.studies.walk_through [FOLDER] [--pictures]

FOLDER (default: a temporary folder) gets the jobs, results, tables and pictures. Lines of the page that begin with
``$`` are run as commands. The solves of all flops take four minutes of processor time; if FOLDER has their results,
they are not solved again. ``--pictures`` replaces the pictures of the page.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.command import as_command
from benchmarks.paths import ROOT

PAGE = ROOT / "docs/start/walk-through.md"
BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folder", nargs="?", type=Path, help="folder in which the commands run; default: a temporary folder"
    )
    parser.add_argument(
        "--pictures",
        action="store_true",
        help="replace the pictures of docs/start/walk-through.md by the new ones",
    )
    options = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for command in commands(PAGE.read_text()):
            follow(folder, command)
        if options.pictures:
            for picture in folder.glob("*.png"):
                shutil.copy(picture, PAGE.with_suffix("") / picture.name)


def commands(page: str) -> Iterator[str]:
    """Yield the commands in the text of a page: the lines that begin with ``$``."""
    for block in BLOCK.findall(page):
        yield from (line[2:] for line in block.splitlines() if line.startswith("$ "))


def follow(folder: Path, command: str) -> None:
    """Run a command in a folder; skip `spewy new` if its job file exists already."""
    words = command.split()
    if words[1] == "new" and (folder / words[2]).exists():
        return
    print(f"$ {command}", flush=True)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(command, shell=True, check=True, cwd=folder, env=os.environ | {"PATH": path})


if __name__ == "__main__":
    as_command(main)
