"""Classes of boards on which rounds, remembering or not: limit hold'em with 24 cards, judged on all flops.

    python -m benchmarks.studies.board_classes [--deals 30000] [--ranks 6] [--workers 2] [--data FILE] [--quick]
    python -m benchmarks.studies.board_classes table

The whole game with four rounds and the betting of limit hold'em, but with six ranks, so that all flops are judged
within a minute or two. One abstraction after another learns from as many deals; their tables are of about the same
size, but for the last one's. What is found is kept in the data file at once, and is not looked for again; ``table``
prints it.
"""

import argparse
import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks.paths import ROOT
from spewy import Job
from spewy.game.gamefile import format_game
from spewy.look.judging import judge_folder
from spewy.run.reporter import Silent
from spewy.run.session import Session
from spewy.system.textfile import replace_text

DATA = ROOT / "docs/data/board-classes.json"
LIMIT = ROOT / "examples/limit-holdem.toml"


class Case(NamedTuple):
    """Classes of flop, turn and river, rows of each, and whether later ones remember the flop's."""

    classes: tuple[int | str, int, int]
    rows: int = 40
    remember: bool = False


CASES = (
    Case((20, 40, 80)),
    Case((20, 40, 80), remember=True),
    Case((5, 40, 80), remember=True),
    Case((5, 40, 80)),
    Case(("all", 40, 80)),
    Case((20, 200, 62)),
    Case((40, 80, 160), 20),
    Case((10, 20, 40), 80),
    Case((20, 40, 320)),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", nargs="?", choices=["measure", "table"], default="measure")
    parser.add_argument("--deals", type=int, default=30_000)
    parser.add_argument("--ranks", type=int, default=6)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument(
        "--quick", action="store_true", help="the first case, few deals, five ranks; not kept"
    )
    args = parser.parse_args()
    found: list[dict[str, Any]] = json.loads(args.data.read_text()) if args.data.exists() else []
    if args.quick:
        args.deals, args.ranks, found = 64, 5, []
    if args.command == "measure":
        for case in CASES[:1] if args.quick else CASES:
            key = {"ranks": args.ranks, "deals": args.deals, **case._asdict()}
            key["classes"] = list(case.classes)
            if any({name: one[name] for name in key} == key for one in found):
                continue
            found.append(key | _measured(case, args))
            print(_row(found[-1]), flush=True)
            if not args.quick:
                replace_text(args.data, json.dumps(found, indent=1) + "\n")
    print("\n".join([*_head(), *map(_row, found)]))


def _measured(case: Case, args: argparse.Namespace) -> dict[str, Any]:
    """Deal, and judge on all flops."""
    names = ("flop", "turn", "river")
    limit = Job.load(LIMIT)
    text = re.sub(r"numRanks = \d+", f"numRanks = {args.ranks}", format_game(limit.rules))
    job = Job.of(
        {
            "name": "board-classes",
            "game": {"text": text},
            "boards": dict(zip(names, case.classes, strict=True)) | {"remember": case.remember},
            "rows": dict.fromkeys(names, case.rows),
            "solve": {
                "target": "0 mbb",
                "max_sweeps": args.deals,
                "check_flops": 1,
                "cfr_br": limit.solve.cfr_br,
                "workers": args.workers,
                "memory": "8 GiB",
            },
        }
    )
    with TemporaryDirectory(prefix="spewy-") as scratch:
        with Session(job, scratch) as session:
            cost = session.plan.cost
            session.solve(Silent())
            classes = session.classes(lambda done, of: None).n_classes[1:]
        judged = judge_folder(Path(scratch), _Unheard(), flops=None, seed=1, workers=args.workers)
    assert judged.sample is not None  # a whole game with board buckets
    return {
        "there_are": list(classes),
        "table_mib": cost.state_bytes / 2**20,
        "exploitability_mbb": judged.exploitability_mbb,
        "flops": judged.sample.flops,
        "judge_core_seconds": judged.sample.core_seconds,
    }


class _Unheard:
    def begin(self, *told: object) -> None:
        """Nobody hears."""

    def judged(self, *told: object) -> None:
        """Nobody hears."""


def _head() -> list[str]:
    return [
        "| flop / turn / river × rows | remember the flop's class | tables, MiB | deals | exploitability, mbb |",
        "|---" * 5 + "|",
    ]


def _row(one: dict[str, Any]) -> str:
    sizes = " / ".join(f"{n:,}" for n in one["there_are"])
    return (
        f"| {sizes} × {one['rows']} | {'yes' if one['remember'] else 'no'} | {one['table_mib']:.0f} "
        f"| {one['deals']:,} | {one['exploitability_mbb']:.0f} |"
    )


if __name__ == "__main__":
    main()
