"""Measures the bot of UPAC: size and time of its package, and how well its tables and its rivers play.

    python -m benchmarks.studies.upac measure PACKAGE.zip [--games 10]
    python -m benchmarks.studies.upac agreement PACKAGE.zip LADDER [--boards 300]
    python -m benchmarks.studies.upac rivers PACKAGE.zip [--hands 400] [--seed 1]

"measure" plays games against the rule `equity` in a Python environment that has NumPy only, and prints the package's
size, its memory, its wall time (with the start of the interpreter and other work on the machine) and its processor
time. "agreement" compares the board buckets and rows that the package's tables give with those of the solves in LADDER.
"rivers" plays hands of each rung (a stack size with tables of its own) by the tables, and prints what best responses
win from the river on: against the tables, and against the river as the bot re-solves it. The figures are exact for each
river, and means over a sample of rivers.
"""

import argparse
import shutil
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.command import as_command
from spewy.competitions.upac.games import (
    RULES,
    command_contender,
    play_games,
    rule_contender,
    standing,
    unpack,
)
from spewy.competitions.upac.package import MOST_BYTES, open_tables
from spewy.competitions.upac.rules import Rules
from spewy.competitions.upac.runtime.player import (
    BOARD_CARDS,
    RIVER_ROUND,
    SECONDS,
    Came,
    Player,
    River,
    ranges,
)
from spewy.competitions.upac.runtime.protocol import Table
from spewy.competitions.upac.runtime.tables import HANDS, PLAYER, ROUND, Tables, strengths
from spewy.competitions.upac.tables import rung_folders
from spewy.look.folder import open_policy
from spewy.records.policy import board_abstraction

BIG_BLIND = 2


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    each = commands.add_parser("measure", help="measure the size, memory and time of a package")
    each.add_argument("package", type=Path, help="package of the bot, a zip file")
    each.add_argument("--games", type=int, default=10, help="number of games to play")
    each = commands.add_parser(
        "agreement",
        help="measure how often a package's tables give the same board bucket and row as the solve",
    )
    each.add_argument("package", type=Path, help="package of the bot, a zip file")
    each.add_argument(
        "ladder",
        type=Path,
        help="folder with the solves from which the package was made, one for each rung (stack size)",
    )
    each.add_argument("--boards", type=int, default=300, help="number of random boards of each round")
    each = commands.add_parser("rivers", help="measure best responses to the bot from the river on")
    each.add_argument("package", type=Path, help="package of the bot, a zip file")
    each.add_argument(
        "--hands", type=int, default=400, help="number of hands to deal for each rung (stack size)"
    )
    each.add_argument("--seed", type=int, default=1, help="seed of the cards")
    args = parser.parse_args()
    if args.command == "measure":
        measure(args.package, args.games)
    elif args.command == "agreement":
        agreement(args.package, args.ladder, args.boards)
    else:
        rivers(args.package, args.hands, args.seed)


def measure(package: Path, games: int) -> None:
    """Print the size, memory and time of a package that plays in a clean environment."""
    with TemporaryDirectory() as temporary:
        python = clean_environment(Path(temporary) / "environment")
        package_bot = unpack(package, Path(temporary) / "package")
        n_bytes = sum(
            file.stat().st_size for file in (Path(temporary) / "package").rglob("*") if file.is_file()
        )
        command = package_bot.run.replace("python3", str(python))
        bot = command_contender(package_bot.name, command, package_bot.folder)
        heard: list[str] = []
        seeds = range(1, (games + 1) // 2 + 1)
        bots = bot, rule_contender("equity", RULES["equity"])
        score = standing(list(play_games(Rules(), bots, seeds, 60.0, heard.append)))
    print(f"size      {n_bytes:,} bytes unpacked, of {MOST_BYTES:,}; zip file {package.stat().st_size:,}")
    print(f"games     {score.games} against equity, share {score.share:.3f} ± {score.half:.3f}")
    print(f"memory    {bot.spent.mib:.0f} MiB at most")
    print(f"wall      {bot.spent.slowest:.2f} s slowest answer, {bot.spent.game:.1f} s longest game")
    print(f"processor {bot.spent.cpu:.2f} s longest game, start included")
    times = processor_times(package, heard)
    print(f"answers   {len(times):,}; processor {median(times):.4f} s median, {max(times):.4f} s slowest")


def clean_environment(folder: Path) -> Path:
    """Make a Python environment that has NumPy only; return its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    site = next(folder.glob("lib/python*/site-packages"))
    own = Path(np.__file__).parent
    for name in ("numpy", "numpy.libs"):
        if (own.parent / name).exists():
            shutil.copytree(own.parent / name, site / name)
    return folder / "bin" / "python3"


def processor_times(package: Path, heard: list[str]) -> list[float]:
    """Replay logged games in this process, and return the seconds of processor time of each answer of the bot.

    Args:
        package: the bot's package.
        heard: lines of a log of games, in which the bot's seat is called "Defender"; the bot answers the messages that
            this seat received.
    """
    times = []
    with closing(open_tables(package)) as tables:
        player, table = Player(tables, 1), Table()
        for line in heard:
            seat, mark, text = [*line.split(" ", 2), ""][:3]
            if seat != "Defender" or mark != "<":
                continue
            spot = table.hear(text).spot
            if spot is not None:
                begun = time.process_time()
                answer = player.answer(spot)
                times.append(time.process_time() - begun)
                table.answered(spot, answer)
    return times


def agreement(package: Path, ladder: Path, n_boards: int) -> None:
    """Print how often the package's tables give the same board bucket and row as the solve, on random boards."""
    rng = Random(1)
    with closing(open_tables(package)) as tables, open_policy(rung_folders(ladder)[0]) as policy:
        abstraction = board_abstraction(policy.problem.game, policy.strategies.arrays())
        for n_cards in (3, 4, 5):
            same_bucket = same_row = near_row = 0
            for _ in range(n_boards):
                dealt = rng.sample(range(52), n_cards + 2)
                hole, board = tuple(sorted(dealt[:2])), tuple(dealt[2:])
                board_buckets, rows = abstraction.boards(n_cards - 2, np.array([board]))
                row = int(rows[0][(hole == HANDS).all(axis=1)][0])
                found = tables.row(hole, board)
                same_bucket += found[0] == board_buckets[0]
                same_row += found == (board_buckets[0], row)
                near_row += found[0] == board_buckets[0] and abs(found[1] - row) <= 1
            print(
                f"{n_cards} cards: same board bucket {same_bucket / n_boards:.3f}, same row "
                f"{same_row / n_boards:.3f}, same or next row {near_row / n_boards:.3f}"
            )


def rivers(package: Path, n_hands: int, seed: int) -> None:
    """Print, for each rung (stack size), what best responses win from the river on, in mbb per dealt hand."""
    print("| big blinds | rivers | by the tables, mbb | re-solved, mbb | seconds to solve: median, slowest |")
    print("|---|---|---|---|---|")
    with closing(open_tables(package)) as tables:
        for rung, stack in enumerate(tables.stacks):
            rng, found, times = Random(seed), [], []
            for _ in range(n_hands):
                cards = tuple(rng.sample(range(52), 9))
                path = walk(tables, rung, cards, rng)
                if path is None:
                    found.append((0.0, 0.0))
                    continue
                board, tree = cards[4:], tables.tree(rung)
                weights = ranges(tables, rung, path[:-1], board)
                game = River(tree, path[-1][0], weights, strengths(board))
                stored = {
                    node: tables.all_frequencies(rung, node, board)[
                        :, game.held[int(tree.nodes[node, PLAYER])]
                    ]
                    for node in game.decisions
                }
                begun = time.process_time()
                solved = game.solve(SECONDS)
                times.append(time.process_time() - begun)
                found.append((won(game, stored), won(game, solved)))
            by_hand = 1000 / BIG_BLIND * np.array(found)
            error = by_hand.std(axis=0) / len(found) ** 0.5
            told = " | ".join(
                f"{mean:.1f} ± {one:.1f}" for mean, one in zip(by_hand.mean(axis=0), error, strict=True)
            )
            took = f"{median(times):.2f}, {max(times):.2f}" if times else "–"
            print(f"| {stack / BIG_BLIND:g} | {len(times)} | {told} | {took} |", flush=True)


def walk(tables: Tables, rung: int, cards: tuple[int, ...], rng: Random) -> Came | None:
    """Play a hand by the tables up to the first decision on the river.

    Args:
        tables: the tables of the package.
        rung: the rung (stack size) by whose tables both players play.
        cards: two cards of player 0, two of player 1, then the board.
        rng: draws the actions.

    Returns:
        Pairs (decision, number of its action) along the way; the last pair is the decision on the river, with 0. None
        if the hand ends earlier, or the players are all-in.
    """
    tree, node, path = tables.tree(rung), 0, []
    while (player := int(tree.nodes[node, PLAYER])) >= 0:
        if tree.nodes[node, ROUND] == RIVER_ROUND:
            return [*path, (node, 0)]
        board = cards[4 : 4 + BOARD_CARDS[tree.nodes[node, ROUND]]]
        often = tables.frequencies(rung, node, tuple(sorted(cards[2 * player : 2 * player + 2])), board)
        place = rng.choices(range(len(often)), often.tolist())[0]
        path.append((node, place))
        node = tree.children(node)[place]
    return None


def won(game: River, play: dict[int, np.ndarray]) -> float:
    """Return half the sum of what both players' best responses win on a river, in chips per hand that reaches it.

    ``play`` is the strategy against which best responses are computed: frequencies ``[action, hand]`` at each decision.
    """
    total = sum(float(game.weights[p] @ game.best(play, p)) for p in (0, 1))
    first, second = (HANDS[held] for held in game.held)
    apart = (first[:, None, :, None] != second[None, :, None, :]).all(axis=(2, 3))
    return float(total / 2 / (game.weights[0] @ apart @ game.weights[1]))


if __name__ == "__main__":
    as_command(main)
