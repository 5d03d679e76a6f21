"""Duplicate matches of a solved whole game against all opponents that play by rules, and against Local Best Response.

    python -m benchmarks.studies.matches play FOLDER [--hands 10000] [--opponents equity,lbr:fc]
                                              [--resolve never] [--safe HOW] [--seed 1] [--no-aivat] [--logs DIR]
    python -m benchmarks.studies.matches table

A match has two runs of ``--hands`` hands with the same cards, the second with the seats swapped. An interrupted match
continues from its logs, unless the solve or an option has changed meanwhile. Its score is added to the data file
(``--data``), where it replaces an earlier score with the same folder, opponent and re-solving. Scores are what the
folder's bot wins; ``width`` is the width of the confidence interval over pairs of hands with AIVAT divided by that over
single hands without AIVAT. ``table`` prints all scores of the data file.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.command import as_command
from benchmarks.paths import ROOT
from spewy.bot.options import Options
from spewy.match.match import match_of, run_match
from spewy.match.opponents import OPPONENTS
from spewy.system.textfile import replace_text

DATA = ROOT / "docs/data/matches.json"
SECONDS = 600.0
"""Time limit of one decision in seconds."""
KEY = ("folder", "opponent", "resolve", "safe")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, help="JSON file to which scores are added")
    commands = parser.add_subparsers(required=True)
    play = commands.add_parser("play", help="play matches, and add their scores to the data file")
    play.set_defaults(run=play_all)
    play.add_argument("folder", type=Path, help="folder of a solved whole game")
    play.add_argument(
        "--hands", type=int, default=10000, help="number of hands in each of the two runs of a match"
    )
    play.add_argument(
        "--opponents",
        default=",".join(OPPONENTS),
        help="names of the opponents, as in `spewy match`, with commas between them",
    )
    play.add_argument(
        "--resolve",
        default="never",
        choices=("never", "off-tree", "always"),
        help="when the bot re-solves: never, only after bets that the tree lacks, or on every turn and river",
    )
    play.add_argument(
        "--safe",
        nargs="?",
        const="mixed",
        default=False,
        choices=("cfr-d", "mixed"),
        help="gadget for safe re-solving; --safe alone means mixed",
    )
    play.add_argument("--seed", type=int, default=1, help="seed of the cards")
    play.add_argument(
        "--aivat",
        default=True,
        action=argparse.BooleanOptionalAction,
        help="also estimate the score without luck (AIVAT)",
    )
    play.add_argument("--workers", type=int, help="number of processes (default: all cores)")
    play.add_argument(
        "--logs",
        type=Path,
        default=ROOT / "results/matches",
        help="folder for the logs of the matches, from which an interrupted match continues",
    )
    table = commands.add_parser("table", help="print all scores of the data file")
    table.set_defaults(run=tell_table)
    args = parser.parse_args()
    args.run(args)


def play_all(args: argparse.Namespace) -> None:
    """Play the matches one after the other; print each score, and add it to the data file."""
    for name in args.opponents.split(","):
        row = _played(args, name)
        rows = [old for old in _rows(args.data) if any(old[key] != row[key] for key in KEY)]
        args.data.parent.mkdir(parents=True, exist_ok=True)
        replace_text(args.data, json.dumps([*rows, row], indent=1) + "\n")
        print(_line(row), flush=True)


def tell_table(args: argparse.Namespace) -> None:
    """Print the table of all scores in the data file."""
    print(
        "| locker | re-solving | opponent | hands | it wins, mbb per hand: AIVAT | plain, duplicate | width |"
    )
    print("|---|---|---|---|---|---|---|")
    for row in _rows(args.data):
        print(_line(row))


def _played(args: argparse.Namespace, name: str) -> dict[str, Any]:
    options = Options.of(resolve=args.resolve, safe=args.safe)
    match = match_of(
        args.folder, name, options, None, args.hands, (args.seed,), args.aivat, SECONDS, args.workers
    )
    folder = match.entrants[0]
    way = args.resolve + (f"-{args.safe}" if args.safe else "")
    logs = args.logs / "-".join((folder.name, way, name.replace(":", "-"), str(args.hands), str(args.seed)))
    score = run_match(match, logs, _tell, args.workers)
    return {
        "folder": folder.name,
        "opponent": name,
        "resolve": args.resolve,
        "safe": args.safe,
        "hands": score.plain.n,
        "score": score.to_json(),
        "faults": [len(faults) for faults in score.faults],
    }


def _tell(played: int, total: int) -> None:
    if played % max(1, total // 20) == 0:
        print(f"{played:,} of {total:,} hands", file=sys.stderr)


def _rows(data: Path) -> list[dict[str, Any]]:
    return json.loads(data.read_text()) if data.exists() else []


def _line(row: dict[str, Any]) -> str:
    score = row["score"]
    plain, clean = score["duplicate"], score["aivat_duplicate"]
    width = f"{clean['half'] / score['plain']['half']:.2f}" if clean else "–"
    way = row["resolve"] + (f", {row['safe']}" if row["safe"] else "")
    cells = (row["folder"], way, row["opponent"], f"{row['hands']:,}", _mean(clean), _mean(plain), width)
    return f"| {' | '.join(cells)} |"


def _mean(mean: dict[str, float] | None) -> str:
    return f"{mean['mean']:+,.0f} ± {mean['half']:,.0f}" if mean else "–"


if __name__ == "__main__":
    as_command(main)
