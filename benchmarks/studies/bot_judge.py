"""Best responses to a bot that re-solves its last rounds, for each hand on one flop.

The computation traverses all betting lines and boards after the flop. Where the bot plays its stored strategy, this
strategy is used. Where the bot would re-solve a subgame to the end of the hand, the subgame is solved once, and both
players' best responses to its solution are computed. The bot's choice of the subgame depends on the public state only,
so best responses know it, and their values are exact, as in `spewy.learn.real_game`. Values are counterfactual: the
chips that a hand wins, weighted by the opponent's reach and summed over the opponent's hands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import product
from math import comb
from pathlib import Path
from typing import NamedTuple

import numpy as np

from buckets.cards import Perms, blocked, deals, hand_permutation, strengths, suit_permutations
from solvers.errors import SolverError
from solvers.tree import Floats, Ints
from spewy.bot.agent import LockerBot, bot_of
from spewy.bot.bot import Answer
from spewy.bot.options import Options
from spewy.errors import InputError
from spewy.game.betting import parse_line
from spewy.game.hand import Hand
from spewy.system.tools import Closing

Pair = tuple[Floats, Floats]
"""Numbers of both players' hands, such as ranges or values: two arrays ``[hand of the deck]``."""

Key = tuple[str, tuple[int, ...]]
"""A public state: its betting line and its board."""

Found = Callable[[Key], Pair | None]
"""A function that returns both players' best-response values at a state where the bot solves a subgame.

None if the bot cannot solve the subgame, and plays the stored strategy in it.
"""


Offers = Callable[[Hand], list[str]]
"""A function that lists bets that are possible at a state, as ACPC actions; the bot's tree may lack them."""


class Judged(NamedTuple):
    """Counterfactual values of each hand at the beginning of a flop, after each betting line that leads to the flop.

    Attributes:
        best: ``[player, line, hand of the deck]``, values of best responses.
        own: ``[player, line, hand of the deck]``, values of a player who plays like the bot up to a later round, and
            plays a best response from that round on.
    """

    best: Floats
    own: Floats


class BotJudge(Closing):
    """Computes exact best responses to a bot that re-solves subgames to the end of the hand.

    Args:
        bot: a bot with one thread and no time limit, so that it always plays alike; `close` closes it.
        perms: suit permutations that do not change the bot's strategy, used to skip equal boards.

    Raises:
        InputError: the bot has a time limit or several threads.
    """

    def __init__(self, bot: LockerBot, perms: Perms) -> None:
        options = bot.options
        if options.seconds is not None or options.threads != 1:
            raise InputError(
                f"bot: expected one thread and no time limit, found threads={options.threads}, "
                f"seconds={options.seconds}"
            )
        self.bot, self.game, self._perms = bot, bot.game, perms
        self._first_round = next(t for t, n in enumerate(self.game.num_board_cards) if n)
        self._deck = bot.hands.astype(np.int64)
        self._flop: tuple[int, ...] = ()
        self._answers = lru_cache(1 << 16)(self._answer)
        self._below = lru_cache(256)(self._dealt)
        self._power = lru_cache(1 << 11)(self._strength)

    def close(self) -> None:
        self.bot.close()

    def subgames(self, flop: tuple[int, ...], lines: list[str]) -> list[Key]:
        """List the states at which the bot solves a subgame, on a flop that is reached by the given betting lines.

        States that are equal up to suits are listed once.
        """
        out = dict[Key, None]()
        for line in lines:
            out |= dict.fromkeys(self._roots(self._entered(line, flop)))
        return list(out)

    def below(self, key: Key) -> Pair | None:
        """Solve the subgame that the bot solves at a state; return both players' best-response values to its solution.

        Returns:
            The values ``[hand of the deck]``; None if the bot cannot solve the subgame, because its ranges have no
            pair of hands that can come to the state.

        Raises:
            InputError: the bot solves no subgame at this state, or the subgame is too large.
        """
        hand, flop = (
            Hand(parse_line(self.game, key[0]), board=key[1]),
            self.game.cut(key[1])[self._first_round],
        )
        if (
            self.bot.options.flops != "sampled" or flop != self._flop
        ):  # a sampled flop is solved once for all its turns
            self.bot.new_hand(hand, 0, 0)
        self._flop = flop
        try:
            return self.bot.best_values(hand, 0), self.bot.best_values(hand, 1)
        except SolverError:
            if self._come_together(hand):
                raise
            return None

    def judged(self, flop: tuple[int, ...], lines: list[str], found: Found, later: int) -> Judged:
        """Compute the values on a flop from the values of its subgames.

        Args:
            flop: the flop, in canonical suits.
            lines: the betting lines that lead to the flop.
            found: returns both players' values at each state of `subgames`, as `below` computes them.
            later: the round from which players play a best response in `Judged.own`.
        """
        out = []
        for first in (0, later):
            best = []
            for line in lines:
                state = self._entered(line, flop)
                best.append(_Walk(self, found, first).values(state, self.reach(line)))
            out.append(np.array(best).transpose(1, 0, 2))
        return Judged(*out)

    def whole(self, offers: Offers | None = None) -> Pair:
        """Compute the values of both players' best responses in the whole game, for each hand at the deal.

        Args:
            offers: bets besides those of the bot's tree, of which the best responder can make one in a hand; None: no
                such bets.
        """
        return _Walk(self, None, 0, offers).values(Hand.start(self.game), self.bot.initial_ranges)

    def reach(self, line: str) -> Pair:
        """Return both players' reach ``[hand of the deck]`` at the flop after a line, if both play as the bot does."""
        state, reach = Hand.start(self.game), self.bot.initial_ranges
        for action in parse_line(self.game, line).rounds[0]:
            player, answer = state.to_act, self.answer(state)
            assert player is not None
            reach = _played(reach, player, answer.frequencies[answer.actions.index(action)])
            state = state.apply(action)
        return reach

    def answer(self, state: Hand) -> Answer:
        """Return the bot's actions and frequencies at a state."""
        return self._answers(state.betting.line, state.board)

    def begins(self, state: Hand) -> bool:
        """Return whether the bot solves a subgame that begins at a state."""
        return state.to_act is not None and self.bot.begins_subgame(state)

    def dealt(self, state: Hand) -> list[tuple[Hand, Ints]]:
        """List the states after the next cards are dealt, with one state for all cards that are equal up to suits.

        Each state comes with an array ``[deal, hand]``, which has a row for each deal that the state stands for: the
        number of the hand that each hand becomes when the deal's suits are renamed to those of the state.
        """
        return [(state.deal(cards), moved) for cards, moved in self._below(state.board, state.to_deal)]

    def power(self, board: tuple[int, ...]) -> Ints:
        """Return the strength of each hand of the deck on a board: ``[hand]``; -1: the board blocks the hand."""
        return self._power(board)

    def meets(self, board: tuple[int, ...], reach: Floats) -> Floats:
        """Return ``[hand]``: the weight of a range's hands that share no card with the hand; 0 for blocked hands."""
        live = ~blocked(self._deck, board)
        mass = np.where(live, reach, 0.0)
        by_card = np.zeros(max(self.game.deck.cards) + 1)
        for cards in self._deck.T:
            by_card += np.bincount(cards, weights=mass, minlength=len(by_card))
        twin = mass if self._deck.shape[1] > 1 else np.zeros_like(mass)
        out: Floats = np.where(live, mass.sum() - by_card[self._deck].sum(axis=1) + twin, 0.0)
        return out

    def showdown(self, board: tuple[int, ...], reach: Floats) -> Floats:
        """Return ``[hand]``: the weight of the opposing range that each hand beats, minus the weight that beats it."""
        power = self.power(board)
        order = np.argsort(power, kind="stable")
        order = order[power[order] >= 0]
        mine, mass = power[order], reach[order]
        weaker, not_stronger = np.searchsorted(mine, mine, "left"), np.searchsorted(mine, mine, "right")
        out = np.zeros(len(reach))
        total = np.concatenate([[0.0], np.cumsum(mass)])
        out[order] = total[weaker] - (total[-1] - total[not_stronger])
        holds = np.zeros((len(order), max(self.game.deck.cards) + 1))
        for cards in self._deck[order].T:
            holds[np.arange(len(order)), cards] = mass
        by_card = np.concatenate([np.zeros((1, holds.shape[1])), np.cumsum(holds, axis=0)])
        for cards in self._deck[order].T:
            out[order] -= by_card[weaker, cards] - (by_card[-1, cards] - by_card[not_stronger, cards])
        return out

    def _come_together(self, hand: Hand) -> bool:
        first, second = self.bot.ranges(hand)
        return bool((first * self.meets(hand.board, second)).sum() > 0)

    def _entered(self, line: str, flop: tuple[int, ...]) -> Hand:
        return Hand(parse_line(self.game, line)).deal(flop)

    def _roots(self, state: Hand) -> Iterator[Key]:
        if state.to_deal:
            for child, _ in self.dealt(state):
                yield from self._roots(child)
        elif state.to_act is not None:
            if self.begins(state):
                yield state.betting.line, state.board
            else:
                for action in self.answer(state).actions:
                    yield from self._roots(state.apply(action))

    def _answer(self, line: str, board: tuple[int, ...]) -> Answer:
        return self.bot.answer(Hand(parse_line(self.game, line), board=board))

    def _dealt(self, board: tuple[int, ...], n_cards: int) -> list[tuple[tuple[int, ...], Ints]]:
        out = []
        for deal in deals(self.game.cut(board), n_cards, self.game.deck, self._perms):
            moved = [
                hand_permutation(self.game.deck, self.game.num_hole_cards, perm) for _, perm in deal.members
            ]
            out.append((deal.history[-1], np.array(moved)))
        return out

    def _strength(self, board: tuple[int, ...]) -> Ints:
        out: Ints = strengths(np.array([board]), self._deck)[0].astype(np.int64)
        return out


def open_judge(folder: Path, options: Options, *, symmetric: bool) -> BotJudge:
    """Open a `BotJudge` for a bot that plays from a folder.

    Args:
        folder: folder of a whole game, or its strategy locker.
        options: options of the bot.
        symmetric: whether the stored strategy treats hands alike that are equal up to suits.

    Raises:
        lockers.LockerError: the folder has no strategy, or is damaged.
        InputError: the folder does not hold a whole game, or the bot has a time limit or several threads.
    """
    bot = bot_of(folder, options)
    try:
        return BotJudge(bot, suit_permutations(bot.game.deck)[: None if symmetric else 1])
    except BaseException:
        bot.close()
        raise


@lru_cache(1)
def kept_judge(folder: Path, options: Options, *, symmetric: bool) -> BotJudge:
    """Open a `BotJudge`, or return the one that this process opened before with the same arguments."""
    return open_judge(folder, options, symmetric=symmetric)


class _Walk:
    """Traverses the game below a state, and computes both players' counterfactual values there.

    Args:
        judge: knows the bot and its strategy.
        found: returns the values of states at which the bot solves a subgame; None: traverse these states, too.
        first: the first round in which players play a best response; before it they play as the bot does.
        offers: bets that a best responder can make besides those of the bot's tree; None: no such bets.
    """

    def __init__(
        self, judge: BotJudge, found: Found | None, first: int, offers: Offers | None = None
    ) -> None:
        self._judge, self._found, self._first, self._offers = judge, found, first, offers

    def values(self, state: Hand, reach: Pair) -> Pair:
        """Return both players' counterfactual values ``[hand of the deck]`` at a state, given both players' reach."""
        if state.betting.folded is not None:
            return self._folded(state, reach)
        if state.to_deal:
            return self._chance(state, reach)
        if state.to_act is None:
            stake = min(state.betting.spent)
            first, second = (self._judge.showdown(state.board, theirs) for theirs in reach)
            return stake * second, stake * first
        if self._found is not None and self._judge.begins(state):
            found = self._found((state.betting.line, state.board))
            if found is None:
                return _Walk(self._judge, None, self._first, self._offers).values(state, reach)
            return found[0] * reach[1].max(), found[1] * reach[0].max()
        return self._decision(state, state.to_act, reach)

    def _folded(self, state: Hand, reach: Pair) -> Pair:
        folded = state.betting.folded
        assert folded is not None
        lost = state.betting.spent[folded]
        first, second = (self._judge.meets(state.board, reach[1 - p]) for p in (0, 1))
        return (-lost * first, lost * second) if folded == 0 else (lost * first, -lost * second)

    def _chance(self, state: Hand, reach: Pair) -> Pair:
        game = self._judge.game
        left = len(game.deck) - 2 * game.num_hole_cards - len(state.board)
        chance = 1 / comb(left, state.to_deal)
        out = np.zeros((2, len(reach[0])))
        for child, moved in self._judge.dealt(state):
            if not state.board:
                self._judge.bot.new_hand(child, 0, 0)  # makes the bot forget the subgames of other flops
            live = ~blocked(self._judge.bot.hands, child.board)
            below = self.values(child, (reach[0] * live, reach[1] * live))
            for p, member in product((0, 1), moved):
                out[p] += chance * below[p][member]
        return out[0], out[1]

    def _decision(self, state: Hand, player: int, reach: Pair) -> Pair:
        if not reach[
            player
        ].any():  # the player has made an offered bet, so the best response no longer follows the bot
            after = [self.values(state.apply(action), reach) for action in self._judge.bot.actions(state)]
            mine = np.array([both[player] for both in after]).max(axis=0)
            return _ordered(player, mine, np.zeros_like(mine))
        answer = self._judge.answer(state)
        below = np.array(
            [
                self.values(state.apply(action), _played(reach, player, taken))
                for action, taken in zip(answer.actions, answer.frequencies, strict=True)
            ]
        )
        responds = state.betting.round >= self._first
        mine = below[:, player]
        own = mine.max(axis=0) if responds else (answer.frequencies * mine).sum(axis=0)
        if responds and self._offers is not None and reach[1 - player].any():
            without = _played(reach, player, np.zeros_like(own))
            for bet in self._offers(state):
                if bet not in answer.actions:
                    own = np.maximum(own, self.values(state.apply(bet), without)[player])
        return _ordered(player, own, below[:, 1 - player].sum(axis=0))


def _ordered(player: int, mine: Floats, theirs: Floats) -> Pair:
    return (mine, theirs) if player == 0 else (theirs, mine)


def _played(reach: Pair, player: int, taken: Floats) -> Pair:
    first, second = reach
    return (first * taken, second) if player == 0 else (first, second * taken)
