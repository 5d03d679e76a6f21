"""Compile engines' kernels once for each machine and version of the code, in separate processes.

Compiling an engine's kernels takes up to half a minute and several hundred MiB of memory. Notes say what is compiled
and when it is done, and separate processes keep it out of the solve's memory. A kernel is one function, which LLVM
compiles on one core; kernels of several engines, or for several numbers of rounds, are compiled at the same time. A
file beside the cached machine code (`compiled.decorators`) records that all kernels of an engine are compiled.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import solvers
from compiled import stamp
from spewy.run.cost import available_memory
from spewy.system.children import Child, end_with_parent, start_python

if TYPE_CHECKING:
    from solvers.game import LiveGame

Engine = Literal["exact", "live", "sampled"]
"""Name of an engine whose kernels take long to compile."""
COMPILER_BYTES = 500 * 2**20
"""Largest memory of a process that compiles (measured)."""
_SECONDS = 3
"""Rough seconds of compiling for each round of the game, and once more (`python -m benchmarks.speed.start`)."""
_LOOK_SECONDS = 0.05


class Kernels(NamedTuple):
    """The kernels of an engine for games with a number of rounds; ``short``: with numbers of 16 bits."""

    engine: Engine
    n_rounds: int
    short: bool = False

    @property
    def ready(self) -> Path:
        """File that exists once the kernels are compiled."""
        mark = f"{self.n_rounds}{'s' * self.short}"
        return stamp(
            Path(solvers.__file__).parent, mark if self.engine == "exact" else f"{self.engine}-{mark}"
        )

    def __str__(self) -> str:
        sampled = "sampled " * (self.engine == "sampled")
        return (
            f"{sampled}games of {self.n_rounds} round{'s' * (self.n_rounds > 1)}{' in 16 bits' * self.short}"
        )


def warm_up(wanted: Iterable[Kernels], note: Callable[[str], None]) -> None:
    """Compile kernels that are not cached yet, as many at the same time as cores and memory allow.

    If the machine code cannot be cached, or compiling fails, the solve compiles the kernels itself.
    """
    missing = sorted({each for each in wanted if not each.ready.exists()}, key=lambda each: each.n_rounds)
    if not missing or not os.access(missing[0].ready.parent, os.W_OK):
        return
    room = available_memory()
    fit = len(missing) if room is None else max(1, room // COMPILER_BYTES)
    at_once = min(len(missing), fit, os.cpu_count() or 1)
    seconds = [_SECONDS * (each.n_rounds + 1) for each in missing]
    names = " and ".join(map(str, missing))
    expected = max(seconds[-1], sum(seconds) // at_once)
    note(f"compiling the kernels for {names}, once: some {expected} seconds or more")
    began, running = time.monotonic(), dict[Kernels, Child]()
    with ExitStack() as started:
        while missing or running:
            while missing and len(running) < at_once:
                each = missing.pop()  # those that take longest first
                running[each] = started.enter_context(_compiler(each))
                started.callback(running[each].kill)
            for each in [each for each, process in running.items() if process.poll() is not None]:
                if running.pop(each).returncode == 0:
                    with suppress(OSError):
                        each.ready.touch()
                    note(f"compiled the kernels for {each} after {time.monotonic() - began:.0f} s")
            time.sleep(_LOOK_SECONDS)


def _compiler(kernels: Kernels) -> Child:
    engine, n_rounds, short = kernels
    return start_python(["-m", __name__, str(os.getpid()), engine, str(n_rounds), str(int(short))])


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
