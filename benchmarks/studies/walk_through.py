"""Runs all commands of `docs/start/walk-through.md`, from the top of the page to the bottom.

    python -m benchmarks.studies.walk_through [FOLDER] [--pictures]

FOLDER (default: a temporary folder) gets the jobs, results, tables and pictures. Lines of the page that begin with
``$`` are run as commands. A block of TOML is appended to the file that its first line names. The solves of all flops
take ten minutes of processor time; if FOLDER has their results, they are not solved again. ``--pictures`` replaces the
pictures of the page.
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

from benchmarks.paths import ROOT

PAGE = ROOT / "docs/start/walk-through.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"# at the end of (\S+)\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, help="folder in which the commands run")
    parser.add_argument("--pictures", action="store_true", help="replace the pictures of the page")
    options = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in steps(PAGE.read_text()):
            follow(folder, file, text)
        if options.pictures:
            for picture in folder.glob("*.png"):
                shutil.copy(picture, PAGE.with_suffix("") / picture.name)


def steps(page: str) -> Iterator[tuple[str | None, str]]:
    """List the steps of the page: (None, command), or (file, text to append to the file)."""
    for kind, text in BLOCK.findall(page):
        named = NAMED.match(text)
        if kind == "toml" and named:
            yield named[1], text
        else:
            yield from ((None, line[2:]) for line in text.splitlines() if line.startswith("$ "))


def follow(folder: Path, file: str | None, text: str) -> None:
    """Do a step of the page: run a command, or append text to a file.

    Texts that an earlier run has appended, and `spewy new` for a job file that exists, are skipped.
    """
    if file is not None:
        with (folder / file).open("a+") as out:
            out.seek(0)
            if text not in out.read():
                out.write(f"\n{text}")
        return
    words = text.split()
    if words[1] == "new" and (folder / words[2]).exists():
        return
    print(f"$ {text}", flush=True)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(text, shell=True, check=True, cwd=folder, env=os.environ | {"PATH": path})


if __name__ == "__main__":
    main()
