"""Kernels are compiled once per machine and version, in a process of their own, and told of before.

Compiling takes up to a minute and several hundred MiB, which shall be nobody's surprise and no part of a solve's
memory. A stamp beside the machine code (`compiled.machine_code`) says that it is complete.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import solvers
from compiled import stamp
from spewy.system.child import end_with_parent, start_python


def make_ready(n_rounds: int, short: bool, note: Callable[[str], None]) -> None:
    """Compile the exact engine for games of so many rounds, in 16 bits or not, if that has not been done.

    Where machine code cannot be kept, it is compiled by the process that needs it, when it needs it.
    """
    there = stamp(Path(solvers.__file__).parent, f"{n_rounds}{'s' * short}")
    if there.exists() or not os.access(there.parent, os.W_OK):
        return
    rounds = f"{n_rounds} round{'s' * (n_rounds > 1)}{' in 16 bits' * short}"
    note(f"compiling the kernels for games of {rounds}, once: up to a minute")
    with start_python(["-m", __name__, str(os.getpid()), str(n_rounds), str(int(short))]) as compiler:
        try:
            failed = compiler.wait()
        finally:
            compiler.kill()
    if not failed:  # else it will be compiled here, in this process
        with suppress(OSError):
            there.touch()


def _compile(n_rounds: int, short: bool) -> None:
    """Solve a tiny spot that begins so many rounds before the end."""
    from spewy.chunks.layout import Layout
    from spewy.job.job import Job

    board = ["Ks", "9d", "6h", "3c", "2s"][: 6 - n_rounds]
    data = {
        "name": "tiny",
        "game": {"file": "holdem.nolimit.2p.reverse_blinds"},
        "spot": {"board": " ".join(board), "pot": 2, "stack": 2, "oop": "AhAd", "ip": "QhQd"},
        "bets": {"flop": {"bet": "a"}},
    }
    from solvers.exact import ExactCfr
    from solvers.variants import EXACT_VARIANT, variant

    ExactCfr(Layout.of(Job.of(data).problem).live, variant(EXACT_VARIANT), short=short).run(1)


if __name__ == "__main__":
    end_with_parent(int(sys.argv[1]))
    _compile(int(sys.argv[2]), sys.argv[3] == "1")
