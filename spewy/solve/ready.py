"""Kernels are compiled once per machine and version, in a process of their own, and told of before.

Compiling takes up to a minute and several hundred MiB, which shall be nobody's surprise and no part of a solve's
memory. Numba keeps the machine code; a stamp beside it, named after a hash of the sources, says that it is complete.
Numba looks at the file that a kernel stands in only, so where the sources have changed all of the old code is removed.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import llvmlite.binding
import numba

import solvers
from spewy.user_cache import user_cache

SOURCES = Path(solvers.__file__).parent
CODE = "*.nb[ic]"


def make_ready(n_rounds: int, short: bool, say: Callable[[str], None]) -> None:
    """Compile the exact engine for games of so many rounds, in 16 bits or not, if that has not been done."""
    stamp = _stamp(n_rounds, short)
    if stamp is None or stamp.exists():
        return
    rounds = f"{n_rounds} round{'s' * (n_rounds > 1)}{' in 16 bits' * short}"
    say(f"compiling the kernels for games of {rounds}, once: up to a minute")
    if not list(stamp.parent.glob(f"{stamp.name.rsplit('-', 1)[0]}-*")):
        _remove_old_code()
    done = subprocess.run([sys.executable, "-m", __name__, str(n_rounds), str(int(short))], check=False)
    if done.returncode == 0:  # else it will be compiled here, in this process
        with suppress(OSError):
            stamp.parent.mkdir(parents=True, exist_ok=True)
            stamp.touch()


def _stamp(n_rounds: int, short: bool) -> Path | None:
    """``ready-<hash>-<rounds><s>`` beside the machine code, or in the user's cache where that cannot be written.

    None where neither is: kernels are compiled each time then, in the process that needs them.
    """
    digest = hashlib.sha256()
    for source in sorted(SOURCES.rglob("*.py")):
        digest.update(source.read_bytes())
    digest.update(f"{sys.version} {numba.__version__} {llvmlite.binding.get_host_cpu_name()}".encode())
    name = f"ready-{digest.hexdigest()[:16]}-{n_rounds}{'s' * short}"
    beside = SOURCES / "exact" / "__pycache__"
    try:
        beside.mkdir(exist_ok=True)
        (beside / ".writable").touch()
    except OSError:
        kernels = user_cache("kernels")
        return None if kernels is None else kernels / name
    return beside / name


def _remove_old_code() -> None:
    for folder in (SOURCES / "__pycache__", SOURCES / "exact" / "__pycache__"):
        for file in (*folder.glob(CODE), *folder.glob("ready-*")):
            with suppress(OSError):
                file.unlink()


def _compile(n_rounds: int, short: bool) -> None:
    """Solve a tiny spot that begins so many rounds before the end."""
    from spewy.job import Job
    from spewy.solve.session import lay_out

    board = ["Ks", "9d", "6h", "3c", "2s"][: 6 - n_rounds]
    data = {
        "name": "tiny",
        "game": {"file": "holdem.nolimit.2p.reverse_blinds"},
        "spot": {"board": " ".join(board), "pot": 2, "stack": 2, "oop": "AhAd", "ip": "QhQd"},
        "bets": {"flop": {"bet": "a"}},
    }
    from solvers.exact import ExactCfr
    from solvers.variants import EXACT_VARIANT, variant

    engine = ExactCfr(lay_out(Job.of(data)).live, variant(EXACT_VARIANT), short=short)
    engine.run(1)


if __name__ == "__main__":
    _compile(int(sys.argv[1]), sys.argv[2] == "1")
