"""Measures which numbers of board buckets are best, and whether turns and rivers should remember the flop's bucket.

    python -m benchmarks.studies.board_classes [--deals 30000] [--ranks 6] [--workers 2] [--data FILE] [--quick]
    python -m benchmarks.studies.board_classes table

The game is limit hold'em with 24 cards (six ranks), so that best responses on all flops take only a minute or two. It
is solved with several abstractions, for the same number of deals; all but the last need about the same memory. Each
result is added to the data file at once, and results that the file has already are not computed again. ``table`` prints
the data file.
"""

import argparse
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks.command import as_command
from benchmarks.paths import ROOT
from benchmarks.sampled_games import small_limit
from spewy.chunks.bucket_locker import abstraction
from spewy.look.judging import judge_folder
from spewy.run.sampled_plan import SampledPlan
from spewy.run.session import Session
from spewy.system.textfile import replace_text

DATA = ROOT / "docs/data/board-classes.json"


class Case(NamedTuple):
    """An abstraction to measure.

    Attributes:
        board_buckets: numbers of board buckets of flop, turn and river.
        rows: number of rows (buckets of hands) in each board bucket.
        remember: whether boards of different flop buckets never share a board bucket on turn and river.
    """

    board_buckets: tuple[int | str, int, int]
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
    parser.add_argument(
        "command",
        nargs="?",
        choices=["measure", "table"],
        default="measure",
        help="measure the abstractions that the data file lacks, or only print the table of the data file",
    )
    parser.add_argument("--deals", type=int, default=30_000, help="number of deals of each solve")
    parser.add_argument("--ranks", type=int, default=6, help="number of ranks in the deck")
    parser.add_argument("--workers", type=int, default=2, help="number of threads of each solve")
    parser.add_argument("--data", type=Path, default=DATA, help="JSON file to which results are added")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="run a short test: the first abstraction with few deals and five ranks; results are not saved",
    )
    args = parser.parse_args()
    found: list[dict[str, Any]] = json.loads(args.data.read_text()) if args.data.exists() else []
    if args.quick:
        args.deals, args.ranks, found = 64, 5, []
    if args.command == "measure":
        for case in CASES[:1] if args.quick else CASES:
            key = {"ranks": args.ranks, "deals": args.deals, **case._asdict()}
            key["classes"] = list(case.board_buckets)
            if any({name: one[name] for name in key} == key for one in found):
                continue
            found.append(key | _measured(case, args))
            print(_row(found[-1]), flush=True)
            if not args.quick:
                replace_text(args.data, json.dumps(found, indent=1) + "\n")
    print("\n".join([*_head(), *map(_row, found)]))


def _measured(case: Case, args: argparse.Namespace) -> dict[str, Any]:
    job = small_limit(
        args.ranks,
        case.board_buckets,
        case.rows,
        args.deals,
        remember=case.remember,
        workers=args.workers,
        memory="8 GiB",
    )
    with TemporaryDirectory(prefix="spewy-") as scratch:
        with Session(job, scratch) as session:
            assert isinstance(session.plan, SampledPlan)
            cost, spec = session.plan.cost, session.plan.spec
            session.solve()
        board_buckets = abstraction(spec, lambda done, of: None).n_board_buckets[1:]
        judged = judge_folder(Path(scratch), flops=None, seed=1, workers=args.workers)
    assert judged.sample is not None  # a whole game with board buckets
    return {
        "there_are": list(board_buckets),
        "table_mib": cost.state_bytes / 2**20,
        "exploitability_mbb": judged.exploitability_mbb,
        "flops": judged.sample.flops,
        "judge_core_seconds": judged.sample.core_seconds,
    }


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
    as_command(main)
