"""Measures how much re-solving improves a whole game's strategy, by best responses from a round on.

    python -m benchmarks.studies.resolved_rounds FOLDER [--from river|turn] [--hands 400] [--seed 0]
                                                 [--iterations 100] [--safe HOW] [--json]
    python -m benchmarks.studies.resolved_rounds FOLDER --few 1,3,6,12,30 [--from river|turn] [--bet 150]
                                                 [--hands 40] [--seed 0] [--json]

Hands are dealt, and the stored strategy plays them against itself until the river or the turn (--from) begins. At this
public state both players' best responses for the rest of the hand are computed in the full game, on all boards that can
follow and with exact card removal, against ranges that are played down from the stored strategy. The figure of a hand
is half the sum of what both win, or 0 if the hand ends earlier. The mean over hands is the part of the exploitability
that belongs to play from that round on, in mbb per hand, for opponents who play like the stored strategy before. It is
an unbiased estimate of this part, not a bound on the exploitability. All ways to play are measured in the same states,
so differences are more accurate than the figures. Re-solving without a gadget is made for just these ranges and looks
best here; against opponents with other ranges it may lose, unlike re-solving with a gadget.

The ways to play are the stored strategy ("locker"), re-solving of each river, and with ``--from turn`` also re-solving
of each turn to the end of the hand. For one turn of limit hold'em, 432 rivers are re-solved.

With ``--few`` the ways to play are the stored strategy, and the subgame at the beginning of the round solved in a few
iterations, from scratch or from the stored strategy. The bot at the table would compare a solution with the stored
strategy and play the better one; here the solution is played in any case. With ``--bet`` the subgame also has a bet at
its root that the stored tree lacks, of a given part of the pot or all-in; the stored strategy then reads this bet as a
bet of its tree.
"""

import argparse
import json
import random
import re
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from typing import get_args

import numpy as np

from benchmarks.command import as_command
from solvers.resolve import Gadget
from spewy import open_policy
from spewy.bot.agent import LockerBot
from spewy.bot.options import Options
from spewy.bot.resolving.builder import PlayerStrategy, Root, SubgameBuilder, add_chips, live_game
from spewy.bot.resolving.resolve import Limits, best_responses, resolve
from spewy.bot.resolving.translation import Blueprint, translate_subgame
from spewy.game.hand import Hand
from spewy.records.policy import Stacked

Pair = tuple[np.ndarray, np.ndarray]
"""Numbers of both players' hands, such as ranges or values: two arrays ``[hand of the deck]``."""
LAST = {"river": 1, "turn": 2}
"""Number of rounds from the beginning of the river or the turn to the end of the hand."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", help="folder of a solved whole game")
    parser.add_argument(
        "--from",
        dest="start",
        choices=LAST,
        default="river",
        help="round from whose beginning best responses are computed",
    )
    parser.add_argument(
        "--hands", type=int, default=400, help="number of hands that the stored strategy plays against itself"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the first dealt hand; later hands have the next seeds"
    )
    parser.add_argument(
        "--iterations", type=int, default=Options.iterations, help="number of iterations of each re-solve"
    )
    parser.add_argument(
        "--safe",
        choices=get_args(Gadget),
        help="gadget for safe re-solving; re-solving is then measured with and without this gadget",
    )
    parser.add_argument(
        "--few",
        type=lambda text: [int(part) for part in text.split(",")],
        default=[],
        help="measure solutions after these small numbers of iterations, with commas between them",
    )
    parser.add_argument(
        "--bet", type=int, help="size of an extra bet at the root of the subgame, in %% of the pot"
    )
    parser.add_argument("--json", action="store_true", help="print the results as JSON instead of a table")
    options = parser.parse_args()
    if options.bet and not options.few:
        parser.error("--bet has an effect only with --few; add --few")
    with open_policy(options.folder) as policy:
        if options.bet and policy.problem.game.limit:
            parser.error("--bet needs a no-limit game, and this is a limit game; remove --bet")
        judge = Judge(SubgameBuilder(policy.problem.tree.config), LAST[options.start], options.bet)
        bots = {
            name: LockerBot(policy, how)
            for name, how in ways(options.start, options.iterations, options.safe)[
                : 1 if options.few else None
            ]
        }
        gains: dict[str, Callable[[Hand, int], float]] = {
            name: partial(judge.gain, bot) for name, bot in bots.items()
        }
        if options.bet:
            gains["locker"] = partial(judge.taken_gain, bots["locker"], Blueprint(policy))
        for few, warm in product(options.few, (False, True)):
            name = f"{few} iterations, begun with {'the locker' if warm else 'nothing'}"
            gains[name] = partial(judge.solved_gain, bots["locker"], Blueprint(policy), few, warm)
        found = {name: [] for name in gains}
        seconds = dict.fromkeys(gains, 0.0)
        for n in range(options.hands):
            state = judge.reached(bots["locker"], options.seed + n)
            for name, gain in gains.items():
                started = time.perf_counter()
                found[name].append(0.0 if state is None else gain(state, options.seed + n))
                seconds[name] += time.perf_counter() - started
    tell(found, seconds, options)


def ways(start: str, iterations: int, safe: Gadget | None) -> list[tuple[str, Options]]:
    """List the compared bots as (name, options): the stored strategy, and re-solving without and with a gadget.

    ``start`` is the earliest round that a bot re-solves, "turn" or "river"; ``safe`` is the gadget.
    """
    locker = Options(resolve="never", iterations=iterations, seconds=None)
    out = [("locker", locker)]
    for rounds in range(1, LAST[start] + 1):
        name = "rivers re-solved" if rounds == 1 else "turns and rivers re-solved"
        again = replace(locker, resolve="always", rounds=rounds)
        out.append((name, again))
        if safe:
            out.append((f"{name}, {safe}", replace(again, safe=safe)))
    return out


class Judge:
    """Plays hands to the beginning of a round, and measures what best responses win from there on.

    Args:
        games: builds the trees of subgames.
        left: number of rounds from the beginning of the round to the end of the hand.
        bet: size of an extra bet at the root of subgames in % of the pot; None: no extra bet.
    """

    def __init__(self, games: SubgameBuilder, left: int, bet: int | None = None) -> None:
        self.games, self.game, self.bet = games, games.game, bet
        self.round = self.game.num_rounds - left

    def reached(self, bot: LockerBot, seed: int) -> Hand | None:
        """Deal a hand that the bot plays against itself, and return the public state where ``self.round`` begins.

        Return None if the hand ends before that round.
        """
        rng = random.Random(seed)
        cards = rng.sample(self.game.deck.cards, 2 * self.game.num_hole_cards + self.game.board_sizes[-1])
        n = self.game.num_hole_cards
        hand = Hand.start(self.game, (tuple(cards[:n]), tuple(cards[n : 2 * n])))
        coming = cards[2 * n :]
        bot.new_hand(hand, 0, seed)
        while hand.to_deal or not (hand.is_over or hand.betting.round == self.round):
            if hand.to_deal:
                hand, coming = hand.deal(coming[: hand.to_deal]), coming[hand.to_deal :]
            else:
                hand = hand.apply(bot.act(hand))
        return None if hand.is_over else Hand(hand.betting, board=hand.board)

    def gain(self, bot: LockerBot, state: Hand, seed: int) -> float:
        """Return half the sum of what both players' best responses to a bot win from a state on, in mbb per hand."""
        bot.new_hand(state, 0, seed)
        root, ranges = self.root(state), bot.ranges(state)

        def plays(lines: list[str], board: tuple[int, ...]) -> Stacked:
            hands = (going_on(state, add_chips(line, root.put_in_before), board) for line in lines)
            return Stacked.by_hand(np.concatenate([bot.answer(hand).frequencies for hand in hands]))

        def best(p: int) -> np.ndarray:
            return best_responses(self.games, root, state.board, 1 - p, ranges[1 - p], plays)

        return self.lost(state, ranges, (best(0), best(1)))

    def solved_gain(
        self, locker: LockerBot, blueprint: Blueprint, few: int, warm: bool, state: Hand, seed: int
    ) -> float:
        """Solve a subgame in a few iterations, and return half the sum of what best responses to it win.

        Args:
            locker: a bot that plays the stored strategy, which gives the ranges.
            blueprint: the stored strategy.
            few: number of iterations.
            warm: whether to start from the stored strategy.
            state: the state at which the subgame begins.
            seed: seed of the bot's hand.

        Returns:
            The gain in mbb per hand that comes to the state.
        """
        locker.new_hand(state, 0, seed)
        ranges, plays = locker.ranges(state), self.stored(blueprint, state)
        begin = (plays, plays) if warm else None
        solved = resolve(self.games, self.root(state), state.board, ranges, Limits(few), begin)
        return self.lost(state, ranges, (solved.best_values(0), solved.best_values(1)))

    def taken_gain(self, locker: LockerBot, blueprint: Blueprint, state: Hand, seed: int) -> float:
        """Return half the sum of what best responses to the stored strategy win in a subgame with the extra bet.

        The stored strategy takes the extra bet for a bet of its tree. ``locker`` is a bot that plays the stored
        strategy, ``seed`` the seed of its hand. The result is in mbb per hand that comes to the state.
        """
        locker.new_hand(state, 0, seed)
        root, ranges, plays = self.root(state), locker.ranges(state), self.stored(blueprint, state)

        def best(p: int) -> np.ndarray:
            return best_responses(self.games, root, state.board, 1 - p, ranges[1 - p], plays)

        return self.lost(state, ranges, (best(0), best(1)))

    def stored(self, blueprint: Blueprint, state: Hand) -> PlayerStrategy:
        """Return the stored strategy in the subgame at a state; a bet that its tree lacks becomes one of its bets."""
        root, begun = self.root(state), state.betting.line

        def plays(lines: list[str], board: tuple[int, ...]) -> Stacked:
            return blueprint.strategies(
                [begun + add_chips(line, root.put_in_before) for line in lines], board
            )

        return (
            translate_subgame(self.games, root, replace(root, extra_bets=()), plays)
            if root.extra_bets
            else plays
        )

    def root(self, state: Hand) -> Root:
        """Return the root of the subgame that begins at a state, with the extra bet if there is one."""
        base, least = max(state.betting.spent), min(self.game.stacks or (0,))
        stack = least - base if least else None
        if not self.bet or stack == 0:
            return Root(self.round, base, stack)
        total = max(round(2 * base * self.bet / 100), self.game.big_blind)
        return Root(
            self.round, base, stack, extra_bets=(f"r{total if stack is None else min(total, stack)}",)
        )

    def lost(self, state: Hand, ranges: Pair, best: Pair) -> float:
        """Average both players' best-response values ``best`` at a state, in mbb per hand that comes to the state.

        ``ranges`` and ``best`` have an array ``[hand of the deck]`` for each player.
        """
        layout = self.games.layout(self.root(state), state.board)
        both, total = live_game(layout, ranges), 0.0
        for p in (0, 1):
            hands = layout.board(0, 0).hands[p].numbers
            total += float(both.reach[p][0, : len(hands)] @ best[p][hands])
        return 500 * total / both.deal_weight / self.game.big_blind


def going_on(state: Hand, line: str, board: tuple[int, ...]) -> Hand:
    """Continue a hand from a state by the actions of a betting line, dealing the cards of ``board`` in between."""
    hand = state
    for token in re.findall(r"[fc]|r\d*", line):
        if hand.to_deal:
            hand = hand.deal(board[len(hand.board) :][: hand.to_deal])
        hand = hand.apply(token)
    return hand.deal(board[len(hand.board) :][: hand.to_deal]) if hand.to_deal else hand


def tell(found: dict[str, list[float]], seconds: dict[str, float], options: argparse.Namespace) -> None:
    """Print what best responses win from each bot on average, and how much less than from the stored strategy.

    Args:
        found: for each bot, half the sum of what both best responses win in each hand, in mbb.
        seconds: for each bot, the seconds of all measurements.
        options: the command's arguments.
    """
    alone = np.array(found["locker"])
    rows = []
    for name, gains in found.items():
        mine = np.array(gains)
        rows.append((name, *mean(mine), *mean(alone - mine), seconds[name] / max(1, np.count_nonzero(mine))))
    if options.json:
        names = ("way", "mbb", "mbb_interval", "saved", "saved_interval", "seconds_per_state")
        print(json.dumps([dict(zip(names, row, strict=True)) for row in rows]))
        return
    reached = np.count_nonzero(alone)
    print(
        f"best responses from the {options.start} on: {len(alone)} hands, {reached} come to the {options.start}"
    )
    print("| way to play | mbb per hand | less than the locker | seconds per state |")
    print("|---|---|---|---|")
    for name, mbb, about, saved, within, each in rows:
        print(f"| {name} | {mbb:.1f} ± {about:.1f} | {saved:.1f} ± {within:.1f} | {each:.2f} |")


def mean(numbers: np.ndarray) -> tuple[float, float]:
    """Return the mean of some numbers, and half the width of its 95 % confidence interval."""
    return float(numbers.mean()), 1.96 * float(numbers.std(ddof=1)) / len(numbers) ** 0.5


if __name__ == "__main__":
    as_command(main)
