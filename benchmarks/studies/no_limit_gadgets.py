"""Compares ways of re-solving in two small no-limit games, by exact best responses in the whole game.

    python -m benchmarks.studies.no_limit_gadgets [--games flop,turn] [--seeds 2] [--first-seed 0]
                                                  [--iterations 150] [--ways unsafe,cfr-d]
                                                  [--bets 0.5,2] [--stack 1000] [--quick]

*flop* is a no-limit hold'em that ends with the betting on the flop; *turn* has one more card and one more round. Decks
are small, and stacks are a few big blinds. Each game is solved with few buckets and few deals (*coarse*), and with many
buckets and many deals (*fine*); each seed deals other boards. Then a bot plays from this stored strategy, and re-solves
the last round in each of the ways, with the bet sizes of the tree and all bets that were made. The table has the
exploitability of the bot's whole strategy in mbb per hand, on all boards and with exact card removal: half the sum of
what best responses win in both seats. They know the bot's strategy. The first number of a cell is for opponents who bet
as the bot's tree bets. Opponents of the second number can also make one bet in each hand that the tree lacks
(``--bets``), only in the last round. Without a way (``--ways ""``) the table shows only the stored strategy.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.command import as_command
from benchmarks.studies.bot_judge import BotJudge, Offers, open_judge
from solvers.resolve import Gadget
from spewy import Job, solve
from spewy.bot.options import Options
from spewy.game.hand import Hand

GAME = """GAMEDEF
nolimit
numPlayers = 2
numRounds = {rounds}
stack = {{stack}} {{stack}}
blind = 100 50
firstPlayer = {first}
numSuits = {suits}
numRanks = {ranks}
numHoleCards = 2
numBoardCards = {cards}
END GAMEDEF
"""
GAMES = {
    "flop": GAME.format(rounds=2, suits=3, ranks=4, cards="0 3", first="2 1"),
    "turn": GAME.format(rounds=3, suits=3, ranks=3, cards="0 3 1", first="2 1 1"),
}
BETS = {"bet": "100%, a", "raise": "a"}
JOB: dict[str, Any] = {
    "name": "small deck",
    "bets": {"preflop": {"bet": "100%", "raise": "a"}, "flop": BETS, "turn": BETS},
}
DETAILS: dict[str, dict[str, Any]] = {
    "coarse": {
        "boards": {"flop": {"flop": 3}, "turn": {"flop": 3, "turn": 4}},
        "rows": {"preflop": 6, "flop": 4, "turn": 4},
        "deals": 2_000,
    },
    "fine": {
        "boards": {"flop": {"flop": 30}, "turn": {"flop": 20, "turn": 27}},
        "rows": {"preflop": 30, "flop": 40, "turn": 40},
        "deals": 40_000,
    },
}
WAYS: dict[str, Gadget | None] = {"unsafe": None, "cfr-d": "cfr-d", "mixed": "mixed"}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--games", default=",".join(GAMES), help="names of the games to measure, with commas between them"
    )
    parser.add_argument(
        "--seeds",
        type=int,
        default=2,
        help="number of stored strategies of each game and detail, each solved with other random deals",
    )
    parser.add_argument("--first-seed", type=int, default=0, help="seed of the first stored strategy")
    parser.add_argument("--iterations", type=int, default=150, help="number of iterations of each re-solve")
    parser.add_argument(
        "--ways", default=",".join(WAYS), help="ways of re-solving to compare, with commas between them"
    )
    parser.add_argument(
        "--bets",
        default="0.5,2",
        help="bets that the opponent can make although the bot's tree lacks them, as shares of the pot after a call",
    )
    parser.add_argument("--stack", type=int, default=1000, help="chips of each player; the big blind is 100")
    parser.add_argument(
        "--quick", action="store_true", help="run a short test: only the game flop, with one seed"
    )
    args = parser.parse_args()
    games, seeds = (["flop"], 1) if args.quick else (args.games.split(","), args.seeds)
    names = [name for name in args.ways.split(",") if name]
    shares = [float(share) for share in args.bets.split(",")]
    print("| " + " | ".join(["game", "stored strategy", "seed", "stored", *names]) + " |")
    print("|---|---|---|---|" + "---|" * len(names))
    with tempfile.TemporaryDirectory(prefix="spewy-") as temporary:
        for game in games:
            for detail in DETAILS:
                for seed in range(args.first_seed, args.first_seed + seeds):
                    folder = stored(Path(temporary), game, detail, seed, args.stack)
                    cells = [cell(folder, how, shares) for how in ways(names, args.iterations)]
                    print(f"| {game} | {detail} | {seed} | {' | '.join(cells)} |", flush=True)


def ways(names: Sequence[str], iterations: int) -> Iterator[Options]:
    """Yield the bot's options for each column of the table: no re-solving, then each named way of re-solving."""
    yield Options("never", seconds=None, strict=True)
    for name in names:
        yield Options("always", 1, WAYS[name], iterations, None, strict=True, menu="job")


def stored(temporary: Path, game: str, detail: str, seed: int, stack: int) -> Path:
    """Solve a small game with coarse or fine detail; return the folder of the solve."""
    file, folder = temporary / f"{game}.game", temporary / f"{game}-{detail}-{seed}"
    file.write_text(GAMES[game].format(stack=stack))
    rounds = ("preflop", "flop", "turn")[: 2 + (game == "turn")]
    sizes = DETAILS[detail]
    job = Job.of(
        {
            **JOB,
            "game": {"file": str(file)},
            "bets": {t: JOB["bets"][t] for t in rounds},
            "boards": sizes["boards"][game],
            "rows": {t: sizes["rows"][t] for t in rounds},
            "solve": {"target": "0 mbb", "max_sweeps": sizes["deals"], "seed": seed},
        }
    )
    solve(job, folder)
    return folder


def cell(folder: Path, options: Options, shares: Sequence[float]) -> str:
    """Return a table cell: the bot's exploitability in mbb per hand without and with bets that its tree lacks."""
    with open_judge(folder, options, symmetric=True) as judge:
        found = [exploitability(judge, offers) for offers in (None, offered(judge, shares))]
    return ", ".join(f"{mbb:.0f}" for mbb in found)


def exploitability(judge: BotJudge, offers: Offers | None = None) -> float:
    """Compute the exploitability of a bot in the whole game, in mbb per hand.

    Args:
        judge: computes best responses to the bot.
        offers: bets that the opponent can make besides those of the bot's tree; None: no such bets.
    """
    judge.bot.new_hand(Hand.start(judge.game), 0, 0)
    ranges = judge.bot.initial_ranges
    values = judge.whole(offers)
    pairs = float(ranges[0] @ judge.meets((), ranges[1]))
    chips = sum(float(mine @ each) for mine, each in zip(ranges, values, strict=True))
    return 1000 * chips / 2 / pairs / judge.game.big_blind


def offered(judge: BotJudge, shares: Sequence[float]) -> Offers:
    """Return a function that lists bets of some shares of the pot at a state of the last round, and none earlier."""
    last = judge.game.num_rounds - 1

    def bets(state: Hand) -> list[str]:
        bounds = state.betting.raise_bounds() if state.betting.round == last else None
        if bounds is None:
            return []
        highest = max(state.betting.spent)
        totals = [highest + round(share * 2 * highest) for share in shares]
        return [f"r{total}" for total in totals if bounds[0] <= total < bounds[1]]

    return bets


if __name__ == "__main__":
    as_command(main)
