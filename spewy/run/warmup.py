"""Compile an engine's kernels once for each machine and version of the code, in a separate process.

Compiling takes up to half a minute and several hundred MiB of memory. A note announces it, and a separate process keeps
it out of the solve's memory. A file beside the cached machine code (`compiled.decorators`) records that all kernels of
an engine are compiled.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import solvers
from compiled import stamp
from spewy.system.children import end_with_parent, start_python

if TYPE_CHECKING:
    from solvers.game import LiveGame

Engine = Literal["exact", "live", "sampled"]
"""Name of an engine whose kernels take long to compile."""


def warm_up(engine: Engine, n_rounds: int, short: bool, note: Callable[[str], None]) -> None:
    """Compile the kernels of an engine, unless they are cached; ``short``: with numbers of 16 bits.

    If the machine code cannot be cached, this function does nothing, and the solve compiles the kernels.
    """
    mark = f"{n_rounds}{'s' * short}" if engine == "exact" else f"{engine}-{n_rounds}{'s' * short}"
    there = stamp(Path(solvers.__file__).parent, mark)
    if there.exists() or not os.access(there.parent, os.W_OK):
        return
    rounds = f"{n_rounds} round{'s' * (n_rounds > 1)}{' in 16 bits' * short}"
    note(f"compiling the kernels for games of {rounds}, once: up to half a minute")
    with start_python(["-m", __name__, str(os.getpid()), engine, str(n_rounds), str(int(short))]) as compiler:
        try:
            failed = compiler.wait()
        finally:
            compiler.kill()
    if not failed:  # after a failure the solve compiles the kernels
        with suppress(OSError):
            there.touch()


def _compile_exact(n_rounds: int, short: bool) -> None:
    from solvers.discount import exact_variant, variant
    from solvers.exact import ExactCfr

    ExactCfr(_tiny(n_rounds), variant(exact_variant(n_rounds)), short=short).run(1)


def _compile_live(n_rounds: int, short: bool) -> None:
    del short  # this engine has no 16-bit numbers
    from solvers.discount import DEFAULT_VARIANT, variant
    from solvers.reference.cfr import Cfr

    solver = Cfr(_tiny(n_rounds), variant(DEFAULT_VARIANT))
    solver.run(1)
    solver.best_values(0)


def _tiny(n_rounds: int) -> LiveGame:
    """Make the game of a tiny spot with one hand for each player."""
    from spewy.chunks.layout import Layout
    from spewy.job.job import Job

    board = ["Ks", "9d", "6h", "3c", "2s"][: 6 - n_rounds]
    data = {
        "name": "tiny",
        "game": {"file": "holdem.nolimit.2p.reverse_blinds"},
        "spot": {"board": " ".join(board), "pot": 2, "stack": 2, "oop": "AhAd", "ip": "QhQd"},
        "bets": {"flop": {"bet": "a"}},
    }
    return Layout.of(Job.of(data).problem).live


def _compile_sampled(n_rounds: int, short: bool) -> None:
    """Solve one deal, measure it and convert average strategies to bytes, in a game of one row with two hands."""
    import numpy as np

    from buckets.abstraction import Dealt
    from compiled.records import Packed
    from solvers.sampled.boards import paths
    from solvers.sampled.engine import Context, SampledCfr
    from solvers.sampled.quantise import byte_tables, quantise
    from solvers.tree import Chance, Decision, Fold, Forest, Showdown

    ends: list[Chance | Showdown] = [*(Chance(0) for _ in range(n_rounds - 1)), Showdown(1.0)]
    forests = [Forest.build([Decision(0, (Fold(-1.0), end))]) for end in ends]
    rows = np.zeros((1, n_rounds, 2), dtype=np.int16)
    cards, order = np.array([[[0, 1], [2, 3]]], dtype=np.int32), np.array([[0, 1]], dtype=np.int32)
    dealt = Dealt(rows[:, :, 0].astype(np.int32), rows, cards, order, order, np.zeros((1, 0), dtype=np.int8))
    one = [1] * n_rounds
    engine = SampledCfr(forests, one, one, 2, 4, lambda first, n: dealt, short=short)
    engine.run(1)
    numbers, evens, hands = engine.numbers, [1.0] * n_rounds, [2] * n_rounds
    context = Context(forests, engine.batches, one, numbers, hands, 4, evens, evens)
    boards = Packed(paths(dealt.board_buckets, dealt.rows, dealt.cards, dealt.strength, 4))
    context.values(0, context.packed_workspaces()[0], boards, n_rounds, context.out())
    quantise(numbers.sums[0][0], 1, byte_tables(engine.batches[0], 0, 1))


if __name__ == "__main__":
    end_with_parent(int(sys.argv[1]))
    compile_ = {"exact": _compile_exact, "live": _compile_live, "sampled": _compile_sampled}[sys.argv[2]]
    compile_(int(sys.argv[3]), sys.argv[4] == "1")
