"""Package a bot as a folder: its strategy locker, the code of Spewy, and a start script."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from lockers import open_store
from spewy.errors import InputError, path_text
from spewy.look.folder import require_solve, strategy_folder
from spewy.system.children import HOME
from spewy.system.failures import failure_text

PACKAGES = ("buckets", "compiled", "lockers", "solvers", "spewy")

START = """#!/bin/sh
# Usage: startme.sh HOST PORT
if [ $# -ne 2 ]; then
    echo "startme.sh: expected HOST PORT, found $# arguments" >&2
    exit 2
fi
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd) || exit 1
PYTHONPATH="$here/code${{PYTHONPATH:+:$PYTHONPATH}}"
export PYTHONPATH
exec "${{PYTHON:-python3}}" -P -m spewy play acpc "$1" "$2" --lockers "$here/lockers" {options}
"""

README = """A bot that plays {game}, in a folder of its own.

    ./startme.sh HOST PORT

connects to a dealer that speaks the ACPC's protocol 2.0.0, plays until the dealer closes the connection, and ends
with exit code 0. Exit code 1 means that the dealer vanished in the middle of a hand. The script gives these options to
"spewy play acpc":

    {options}

The bot needs Python 3.11 or newer for this kind of machine, as python3 or named by $PYTHON. Install its packages with

    python3 -m pip install -r requirements.txt

The bot's code is in code/, its strategy in lockers/ ({size:.0f} MiB). The bot writes only to the lock files there. The
first start compiles machine code, which takes a while, so play some hands before a match. The machine code is stored in
$SPEWY_KERNELS, by default in the user's cache. The bot writes nothing else, and connects only to the dealer.
"""


def package_acpc(folder: Path, out: Path, options: Sequence[str]) -> int:
    """Make a folder with a bot for the ACPC: start script, code, and strategy locker of the solve in ``folder``.

    Args:
        options: options of ``spewy play acpc`` in the start script.

    Returns:
        The size of the new folder in bytes.
    """
    if os.path.lexists(out) or not out.absolute().parent.is_dir():
        raise InputError(f"folder {path_text(out)}: expected the name of a new folder in an existing folder")
    temporary = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    try:
        _fill(folder, temporary, shlex.join(options))
        temporary.replace(out)
    except OSError as error:
        if failure_text(error) is not None:
            raise
        raise InputError(
            f"folder {path_text(out)}: the folder cannot be made: {error.strerror or error}"
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return _size(out)


def _fill(folder: Path, out: Path, options: str) -> None:
    out.mkdir()
    require_solve(folder)
    with open_store(strategy_folder(folder), read_only=True) as store:
        store.copy_to(out / "lockers")
        job = store.manifest.get("job")
    game = job.get("name", "a game") if isinstance(job, dict) else "a game"
    for package in PACKAGES:
        shutil.copytree(
            Path(HOME) / package,
            out / "code" / package,
            ignore=shutil.ignore_patterns("__pycache__", "*.py[cod]"),
        )
    start = out / "startme.sh"
    start.write_text(START.format(options=options))
    start.chmod(0o755)
    required = [line for line in metadata.requires("spewy") or [] if "extra ==" not in line]
    (out / "requirements.txt").write_text("".join(f"{line}\n" for line in required))
    (out / "README.txt").write_text(
        README.format(game=game, size=_size(out / "lockers") / 2**20, options=options)
    )


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
