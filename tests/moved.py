"""What solves gave before modules moved: recorded once, to the last bit, and compared by `test_nothing_moved`.

``python tests/moved.py`` records anew, for a change that is meant to change results.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from spewy import Job, Session

HERE = Path(__file__).parent
RECORD = HERE / "data/moves/traces.json"
EXAMPLES = HERE.parent / "examples"
STEEP = "solve.variant=dcfr-steep", "solve.check_every=10"
T1_IN_ROWS = ("rows.turn=40", "rows.river=40", "rows.clustering=equity-quantiles")


@dataclass(frozen=True)
class Run:
    """A job of ``examples/`` with overrides; ``slow`` ones take more than some seconds."""

    job: str
    overrides: tuple[str, ...] = ()
    slow: bool = False

    def solve(self) -> dict[str, Any]:
        """The trace without its seconds, and EVs or value; floats by their bits."""
        job = Job.load(EXAMPLES / f"{self.job}.toml", ("solve.workers=1", *self.overrides))
        with Session(job) as session:
            result = session.solve()
        told = result.ev or (result.value,)
        return {
            "trace": [[sweep, found.hex()] for sweep, _, found in result.trace],
            "told": [None if x is None else float(x).hex() for x in told],
        }


def _sweeps(number: int, every: int, target: str = "0 chips") -> tuple[str, ...]:
    return f"solve.target={target}", f"solve.max_sweeps={number}", f"solve.check_every={every}"


RUNS = {
    "R1": Run("R1", (*STEEP, "solve.target=0.1%")),
    "R1 in 16 bits": Run("R1", (*STEEP, "solve.target=0.1%", "solve.precision=16-bit")),
    "R1 by the generic engine": Run("R1", (*_sweeps(20, 10), "solve.precision=double")),
    "T1": Run("T1", (*STEEP, "solve.target=0.1%")),
    "Leduc, regret": Run("leduc", _sweeps(60, 10)),
    "Leduc, live": Run("leduc", (*_sweeps(60, 10), "solve.leaves=live", "solve.symmetry=true")),
    "Leduc, average": Run("leduc", (*_sweeps(20, 5), "solve.integrate=average")),
    "Leduc, average by LP": Run("leduc", (*_sweeps(4, 2), "solve.integrate=average", "solve.method=lp")),
    "Leduc, two rows": Run("leduc", (*_sweeps(20, 5), "rows.flop=2", "rows.clustering=equity-quantiles")),
    "Rhode Island": Run("rhode-island", _sweeps(100, 20), slow=True),
    "T1, 40 + 40 rows, stored": Run("T1", (*T1_IN_ROWS, *_sweeps(6, 2), "solve.leaves=stored"), slow=True),
    "T1, 40 + 40 rows, average": Run(
        "T1", (*T1_IN_ROWS, *_sweeps(4, 2), "solve.integrate=average"), slow=True
    ),
    "T1, 40 + 40 rows, live": Run("T1", (*T1_IN_ROWS, *_sweeps(30, 10), "solve.leaves=live"), slow=True),
}


def processor() -> str:
    """What decides the order in which vectors are summed."""
    return str(llvm.get_host_cpu_name())


def main() -> None:
    """Record all runs."""
    found = {}
    for name, run in RUNS.items():
        found[name] = run.solve()
        sys.stderr.write(f"{name}: {len(found[name]['trace'])} checks\n")
    RECORD.write_text(json.dumps({"processor": processor(), "runs": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
