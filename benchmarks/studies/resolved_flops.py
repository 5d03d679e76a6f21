"""Exploitability, on whole flops, of a bot that re-solves turns and rivers, compared with that of its stored strategy.

    python -m benchmarks.studies.resolved_flops FOLDER --flops "Ks 9s 4d,8h 5h 2h" [--iterations 30]
                                                [--safe HOW] [--rounds 2] [--cold]
                                                [--workers 2] [--keep DIR] [--data FILE]
    python -m benchmarks.studies.resolved_flops table

Best responses are computed for every hand, on every turn and river of a flop and after every betting line. The bot
re-solves a subgame on each turn (``--rounds 2``) or each river (``--rounds 1``) after each line that leads to it: limit
hold'em has 63 lines to the turn, and a flop has 23 to 49 turns up to suits. Each subgame is solved for a number of
iterations, with both ranges played down from the stored strategy; before the subgame the bot plays the stored strategy.

Figures are in mbb per hand on the flop: half the sum of what both players' best responses win. A best response begins
at the flop, or in the round that the column names; before that it plays like the bot. Results of subgames are stored in
the folder of ``--keep``, so that an interrupted run can continue; results of finished flops are added to the data file,
which ``table`` prints.
"""

import argparse
import gc
import hashlib
import json
import re
import time
from pathlib import Path
from typing import Any, get_args

import joblib
import numpy as np

from benchmarks.command import as_command
from benchmarks.paths import ROOT
from benchmarks.studies.bot_judge import Key, kept_judge, open_judge
from buckets.cards import canonical, cards_name, parse_cards
from lockers import open_store
from solvers.resolve import Gadget
from spewy.bot.options import Options
from spewy.chunks.rounds import line_forests
from spewy.learn.real_game import RealGame
from spewy.look.folder import strategy_folder
from spewy.look.judging import decoded_game
from spewy.records.strategy_locker import StrategyLocker
from spewy.system.textfile import replace_text

DATA, KEEP = ROOT / "docs/data/resolved-flops.json", ROOT / "results/resolved-flops"
KEY = ("locker", "deals", "flop", "iterations", "rounds", "safe", "warm")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folder", help="folder of a solved whole game, or the word `table` to print the data file"
    )
    parser.add_argument(
        "--flops", help="flops to measure, such as 'Ks 9s 4d,8h 5h 2h', with commas between them"
    )
    parser.add_argument("--iterations", type=int, default=30, help="number of iterations of each re-solve")
    parser.add_argument(
        "--rounds", type=int, default=2, help="re-solve rivers (1), or turns to the end of the hand (2)"
    )
    parser.add_argument(
        "--safe", choices=get_args(Gadget), help="gadget for safe re-solving; default: no gadget"
    )
    parser.add_argument(
        "--cold", action="store_true", help="start re-solves from scratch, not from the stored strategy"
    )
    parser.add_argument("--workers", type=int, default=2, help="number of processes that solve subgames")
    parser.add_argument(
        "--keep",
        type=Path,
        default=KEEP,
        help="folder for the results of subgames, from which an interrupted run continues",
    )
    parser.add_argument(
        "--data", type=Path, default=DATA, help="JSON file to which the results of finished flops are added"
    )
    args = parser.parse_args()
    if args.folder != "table":
        if args.flops is None:
            parser.error("--flops: expected flops, such as 'Ks 9s 4d,8h 5h 2h', found none")
        judge_all(args)
    print(table(_rows(args.data)))


def judge_all(args: argparse.Namespace) -> None:
    """Measure the flops one after the other, and add the results to the data file."""
    play = strategy_folder(args.folder)
    options = Options("always", args.rounds, args.safe, args.iterations, seconds=None, warm=not args.cold)
    with (
        StrategyLocker(open_store(play, read_only=True)) as averages,
        decoded_game(averages, play) as (decoder, _, mark, game),
    ):
        deals, unit = averages.saved.deals, 1000 / decoder.job.rules.big_blind
        lines = list(line_forests(decoder.job.betting_tree)[1].lines)
        for text in args.flops.split(","):
            first, flop = _canonical(game, parse_cards(text.strip()))
            begun = time.process_time()
            alone = unit * game.later(first, game.desk())
            seconds = time.process_time() - begun
            _note(f"{cards_name(flop)}: the locker alone {alone.round(1)} mbb, {seconds:.0f} core-seconds")
            own, spent = _judged(play, mark, options, game, flop, lines, args)
            row = {
                "locker": str(args.folder),
                "deals": deals,
                "flop": cards_name(flop),
                "iterations": args.iterations,
                "rounds": args.rounds,
                "safe": args.safe or False,
                "warm": options.warm,
                "alone": alone.tolist(),
                "resolved": [unit * chips for chips in own],
                "core_seconds": spent,
            }
            rows = [old for old in _rows(args.data) if any(old[key] != row[key] for key in KEY)]
            replace_text(args.data, json.dumps([*rows, row], indent=1) + "\n")


def _judged(
    play: Path,
    mark: str,
    options: Options,
    game: RealGame,
    flop: tuple[int, ...],
    lines: list[str],
    args: argparse.Namespace,
) -> tuple[list[float], float]:
    """Solve the subgames of a flop, and compute best responses to the bot.

    Args:
        play: folder of the strategy locker.
        mark: hash of the stored strategy, which becomes part of the names of stored results.
        options: options of the bot.
        game: the whole game.
        flop: the flop, in canonical suits.
        lines: the betting lines that lead to the flop.
        args: the command's arguments.

    Returns:
        What best responses win from the flop on, and from the first re-solved round on, both in chips per hand on the
        flop; and the core-seconds of all solves.
    """
    told = f"{mark} {options} {flop}"
    keep = args.keep / hashlib.blake2b(told.encode(), digest_size=8).hexdigest()
    keep.mkdir(parents=True, exist_ok=True)
    symmetric = len(game.trees.perms) > 1
    with open_judge(play, options, symmetric=symmetric) as judge:
        begin = judge.subgames(flop, lines)
        files = {key: keep / f"{_name(key[0])}-{cards_name(key[1][len(flop) :])}.npy" for key in begin}
        missing = sorted((key for key, file in files.items() if not file.exists()), key=lambda key: key[1])
        _note(f"{len(begin):,} subgames, {len(missing):,} to solve, {args.workers} at a time")
        started = time.monotonic()
        work = joblib.Parallel(args.workers, return_as="generator_unordered")
        tasks = (joblib.delayed(_below)(play, options, symmetric, key, files[key]) for key in missing)
        for done, _ in enumerate(work(tasks), 1):
            if done % 50 == 0 or done == len(missing):
                left = (time.monotonic() - started) / done * (len(missing) - done)
                _note(f"{done:,} of {len(missing):,}, {left / 60:.1f} min left")
        kept = {key: np.load(file) for key, file in files.items()}
        found = {
            key: None if numbers.ndim == 1 else (numbers[0], numbers[1]) for key, numbers in kept.items()
        }
        spent = sum(float(numbers[-1].max()) for numbers in kept.values())
        whole = judge.judged(flop, lines, found.__getitem__, later=judge.game.num_rounds - args.rounds)
        reach = [judge.reach(line) for line in lines]
    chips = [
        sum(float(both[p] @ values[p, r]) for p in (0, 1) for r, both in enumerate(reach)) for values in whole
    ]
    return [game.trees.per_pair * each / 2 / game.n_pairs for each in chips], spent


def _below(play: Path, options: Options, symmetric: bool, key: Key, file: Path) -> None:
    """Solve the subgame at a state (``key``) in a worker process, and write the result to a file.

    ``play`` is the folder of the strategy locker, whose strategy is ``symmetric`` if it treats hands alike that are
    equal up to suits. The file has an array with
    three rows: best-response values ``[hand]`` of both players, and the seconds of processor time. It has the seconds
    alone if the bot cannot solve the subgame.
    """
    begun = time.process_time()
    values = kept_judge(play, options, symmetric=symmetric).below(key)
    seconds = time.process_time() - begun
    numbers = [seconds] if values is None else [*values, np.full(len(values[0]), seconds)]
    partial = file.with_suffix(".part")
    with partial.open("wb") as out:
        np.save(out, np.array(numbers, dtype=np.float32))
    partial.replace(file)
    gc.collect()  # subgames and hands refer to each other


def _canonical(game: RealGame, flop: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """Return (number, cards) of the canonical flop that equals a flop up to suits."""
    history = canonical((tuple(sorted(flop)),), game.trees.deck, game.trees.perms)[0]
    return game.trees.firsts[0].index(history), history[-1]


def _name(line: str) -> str:
    return re.sub("/", "_", line)


def _rows(file: Path) -> list[dict[str, Any]]:
    return json.loads(file.read_text()) if file.exists() else []


def table(rows: list[dict[str, Any]]) -> str:
    """Format all results of the data file as a Markdown table."""
    out = [
        "| locker (deals) | flop | locker alone: from the flop, turn, river on | re-solved | from the flop on | "
        "from the re-solved round on | core-minutes |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        how = f"{('rivers', 'turns and rivers')[row['rounds'] - 1]}, {row['iterations']} iterations"
        how += f", begun with {'the locker' if row['warm'] else 'nothing'}"
        how += f", {row['safe']}" if row["safe"] else ""
        alone = ", ".join(f"{mbb:.1f}" for mbb in row["alone"])
        flop, later = row["resolved"]
        out.append(
            f"| `{row['locker']}` ({row['deals']:,}) | {row['flop']} | {alone} | {how} | **{flop:.1f}** "
            f"| {later:.1f} | {row['core_seconds'] / 60:.0f} |"
        )
    return "\n".join(out)


def _note(text: str) -> None:
    print(time.strftime("%H:%M:%S"), text, flush=True)


if __name__ == "__main__":
    as_command(main)
