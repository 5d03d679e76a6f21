"""Measures how long a bot's decisions take while other processes are busy, compared with the bot's time limit.

    python -m benchmarks.speed.bot_budget FOLDER [--budget 1] [--decisions 20] [--busy 2] [--resolve always] [--safe]
    python -m benchmarks.speed.bot_budget [--quick]

The bot plays hands of the game in FOLDER against an opponent that mostly calls and sometimes bets a random amount. A
number of other processes (--busy) use all the processor time that they get. A decision counts if it solved a subgame.

The benchmark prints, in seconds, the time of the very first decision, and for the decisions that count the median, the
90 % quantile and the maximum. It also prints how many of them took more than 1.1 times the limit (--budget), and for
each round the median and the 99 % quantile of all decisions. It ends after 20 hands for each decision of --decisions,
even if fewer decisions counted. Without FOLDER the game is a small limit hold'em with 36 cards, which is solved for a
few seconds first.
"""

import argparse
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from statistics import quantiles
from tempfile import TemporaryDirectory

from benchmarks.command import as_command
from spewy import Job, open_bot, solve
from spewy.bot.agent import LockerBot
from spewy.bot.options import MOST_ITERATIONS
from spewy.bot.tally import summary
from spewy.game.hand import Hand

LATE = 1.1
MOST_HANDS = 20
"""Number of hands, for each decision of --decisions, after which the benchmark ends.

The limit matters if too few decisions count, because subgames are too large, or are solved almost at once.
"""
BETS = 0.15
"""Probability that the opponent bets or raises when the rules allow it."""
SMALL_GAME = """GAMEDEF
limit
numPlayers = 2
numRounds = 4
blind = 10 5
raiseSize = 10 10 20 20
firstPlayer = 2 1 1 1
maxRaises = 2 2 4 4
numSuits = 4
numRanks = 9
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""
SMALL_JOB = """
name = "small"
[game]
file = '{game}'
[boards]
flop = 2
turn = 3
river = 4
[rows]
preflop = 20
flop = 12
turn = 12
river = 12
[solve]
target = "0 mbb"
max_sweeps = 200
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        help="folder of the solved whole game that the bot plays; default: a small game, solved first",
    )
    parser.add_argument(
        "--budget", type=float, default=1.0, help="time limit of each decision of the bot, in seconds"
    )
    parser.add_argument(
        "--decisions",
        type=int,
        default=20,
        help="number of decisions to measure; only decisions that re-solve a subgame count",
    )
    parser.add_argument(
        "--busy",
        type=int,
        default=2,
        help="number of other processes that use all the processor time they get",
    )
    parser.add_argument(
        "--resolve",
        choices=("off-tree", "always"),
        default="always",
        help="when the bot re-solves: only after bets that the tree lacks, or on every turn and river",
    )
    parser.add_argument(
        "--threads",
        type=int,
        help="number of threads of a re-solve; default: all cores with --resolve always, else 1",
    )
    parser.add_argument("--safe", action="store_true", help="let the bot re-solve with the gadget `mixed`")
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of the cards and of the opponent's random actions"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="run a short benchmark: time limit 0.2 s, 4 decisions, 1 busy process",
    )
    options = parser.parse_args()
    if options.quick:
        options.budget, options.decisions, options.busy = 0.2, 4, 1
    with ExitStack() as held:
        folder = options.folder or small_folder(Path(held.enter_context(TemporaryDirectory())))
        began = time.monotonic()
        bot = held.enter_context(
            open_bot(
                folder,
                resolve=options.resolve,
                safe=options.safe,
                seconds=options.budget,
                iterations=MOST_ITERATIONS,
                threads=options.threads,
            )
        )
        opened = time.monotonic() - began
        held.enter_context(busy(options.busy))
        times, first = decisions(bot, options.decisions, options.budget, options.seed)
        print(f"start      {opened:.2f} s; the first decision {first:.3f} s")
        _tell(times, options.budget)
        for row in summary(bot.tally.spent):
            seconds = row["seconds"]
            print(
                f"{row['round']:10} {row['n']} decisions, {row['solved']} solved a subgame: "
                f"{seconds['median']:.3f} s median, 99 % within {seconds['p99']:.3f} s"
            )
        print(f"sources    {bot.tally.sources_text}; failed: {bot.tally.failures_text or 'nothing'}")


def decisions(bot: LockerBot, wanted: int, budget: float, seed: int) -> tuple[list[float], float]:
    """Play hands, and measure the time of each decision of the bot, until ``wanted`` decisions solved a subgame.

    A decision counts as solving a subgame if it takes more than a quarter of ``budget``, the bot's limit in seconds.

    Returns:
        The seconds of each decision that solved a subgame, and the seconds of the very first decision.
    """
    rng, times, first, number = Random(seed), list[float](), None, 0
    while len(times) < wanted and number < MOST_HANDS * wanted:
        number += 1
        hand, coming, seat = *_dealt(bot, rng), number % 2
        bot.new_hand(hand.seen_by(seat), seat, number)
        while not hand.is_over:
            if hand.to_deal:
                new, coming = coming[: hand.to_deal], coming[hand.to_deal :]
                hand = hand.deal(new)
                continue
            if hand.to_act != seat:
                hand = hand.apply(_other(hand, rng))
                continue
            began = time.monotonic()
            action = bot.act(hand.seen_by(seat))
            took = time.monotonic() - began
            first = took if first is None else first
            if took > budget / 4:  # reading alone takes a few milliseconds
                times.append(took)
            hand = hand.apply(action)
        bot.hand_over(hand.seen_by(seat))
    return times, first or 0.0


@contextmanager
def busy(number: int):
    """Run ``number`` processes that use all the processor time they get, until the block ends."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _dealt(bot: LockerBot, rng: Random) -> tuple[Hand, tuple[int, ...]]:
    game = bot.game
    cards = rng.sample(game.deck.cards, 2 * game.num_hole_cards + game.board_sizes[-1])
    n = game.num_hole_cards
    return Hand.start(game, (tuple(cards[:n]), tuple(cards[n : 2 * n]))), tuple(cards[2 * n :])


def _other(hand: Hand, rng: Random) -> str:
    bounds = hand.betting.raise_bounds()
    if bounds is None or rng.random() > BETS:
        return "c"
    return "r" if hand.game.limit else f"r{rng.choice((bounds[1], rng.randint(*bounds)))}"


def small_folder(folder: Path) -> Path:
    """Solve a small limit hold'em game for a few seconds; return the folder of the solve."""
    solve(Job.load(small_job(folder)), folder / "out")
    return folder / "out"


def small_job(folder: Path) -> Path:
    """Write the game file and the job file of a small limit hold'em game; return the job file."""
    (folder / "small.game").write_text(SMALL_GAME)
    (folder / "job.toml").write_text(SMALL_JOB.format(game=folder / "small.game"))
    return folder / "job.toml"


def _tell(times: list[float], budget: float) -> None:
    if len(times) < 2:
        print(
            f"decisions  only {len(times)} took more than a quarter of {budget:g} s, too few for statistics"
        )
        return
    within = quantiles(times, n=10, method="inclusive")
    late = sum(seconds > LATE * budget for seconds in times)
    print(f"decisions  {len(times)} that solved a subgame, with a limit of {budget:g} s")
    print(f"seconds    {within[4]:.3f} median, 90 % within {within[8]:.3f}, {max(times):.3f} at most")
    print(f"late       {late} took more than {LATE:g} times the limit")


if __name__ == "__main__":
    as_command(main)
