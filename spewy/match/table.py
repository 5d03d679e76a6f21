"""Deal the cards of a match from its seed, and play a hand step by step at a table.

Cards come as the ACPC's reference dealer deals them. The caller asks the player whose turn it is for an action, and
passes it to the table, so the players can be people or programs of any kind. `play_hand` plays a hand between two bots.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from solvers.tree import Floats
from spewy.bot.bot import Mix
from spewy.bot.tally import Tally
from spewy.errors import InputError, shown
from spewy.game.betting import Betting
from spewy.game.gamefile import Game
from spewy.game.hand import Hand
from spewy.match.seat import Seat

MOST_SEED = 2**32 - 1
_WORDS = 624
MOST_AHEAD = 64
"""Largest number of states after a decision at which `look_ahead` asks for strategies."""


@dataclass(frozen=True)
class Dealt:
    """All cards of one hand.

    Attributes:
        hole: hole cards of players 0 and 1.
        board: public cards of all rounds in the order of the deal, also of rounds that the hand does not reach.
    """

    hole: tuple[tuple[int, ...], tuple[int, ...]]
    board: tuple[int, ...]


def deals(game: Game, seed: int) -> Iterator[Dealt]:
    rng = _generator(seed)
    # The reference dealer's deck goes suit by suit.
    cards = sorted(game.deck.cards, key=lambda card: (card & 3, card >> 2))
    size, n_board = game.num_hole_cards, sum(game.num_board_cards)
    while True:
        drawn = _drawn(rng, list(cards), 2 * size + n_board)
        yield Dealt((drawn[:size], drawn[size : 2 * size]), drawn[2 * size :])


def hand_seed(seed: int, number: int) -> int:
    """Return the seed of a bot's random choices in hand ``number`` of a match that has the seed ``seed``."""
    return seed << 32 | number


def _drawn(rng: Random, deck: list[int], number: int) -> tuple[int, ...]:
    """Draw cards one by one; after each draw the deck's last card moves to where the drawn card was."""
    out = []
    for _ in range(number):
        place = rng.getrandbits(32) % len(deck)
        out.append(deck[place])
        deck[place] = deck[-1]
        deck.pop()
    return tuple(out)


def _generator(seed: int) -> Random:
    """Make a Mersenne Twister that is seeded as in C programs; Python's own `seed` would mix the number first."""
    if not 0 <= seed <= MOST_SEED:
        raise InputError(f"seed: expected 0 to {MOST_SEED}, found {shown(seed)}")
    words = [seed]
    for i in range(1, _WORDS):
        words.append((1812433253 * (words[-1] ^ (words[-1] >> 30)) + i) & 0xFFFFFFFF)
    rng = Random()
    rng.setstate((3, (*words, _WORDS), None))
    return rng


class Table:
    """One hand, played step by step.

    Args:
        dealt: all cards of the hand; public cards are revealed round by round.

    Attributes:
        hand: the hand so far, with the hole cards of both players.

    >>> from spewy.game.gamefile import load_game
    >>> table = Table(load_game("leduc"), Dealt(((51,), (47,)), (50,)))
    >>> table.to_act, table.legal
    (0, ('c', 'r'))
    >>> [table.step(action) for action in "crc"]
    [(), (), ((50,),)]
    >>> [table.step(action) for action in "rf"], table.is_over, table.result
    ([(), ()], True, (3, -3))
    """

    def __init__(self, game: Game, dealt: Dealt, *, free_folds: bool = False) -> None:
        self.hand = Hand.start(game, dealt.hole)
        self._board, self._free_folds = dealt.board, free_folds
        self._deal()

    @property
    def to_act(self) -> int | None:
        return self.hand.to_act

    @property
    def is_over(self) -> bool:
        return self.hand.is_over

    @property
    def legal(self) -> tuple[str, ...]:
        """Legal ACPC actions of the player to act; of all no-limit raises only the smallest and the largest."""
        betting = self.hand.betting
        if betting.to_act is None:
            return ()
        folds = ("f",) if betting.can_fold or self._free_folds else ()
        bounds = betting.raise_bounds()
        if bounds is None:
            return (*folds, "c")
        raises = ("r",) if betting.game.limit else tuple(f"r{total}" for total in sorted(set(bounds)))
        return (*folds, "c", *raises)

    @property
    def result(self) -> tuple[int, int]:
        """Net chips that each player has won; a loss is negative."""
        return self.hand.net()

    def view(self, player: int) -> Hand:
        """Return the hand as a player sees it."""
        return self.hand.seen_by(player)

    def step(self, action: str) -> tuple[tuple[int, ...], ...]:
        """Play an ACPC action of the player to act, and deal the public cards that follow.

        Returns:
            The board after each deal of public cards: no boards within a round, several boards after an all-in.
        """
        gives_up = action == "f" and self._free_folds
        self.hand = self.hand.given_up() if gives_up else self.hand.apply(action)
        return self._deal()

    def _deal(self) -> tuple[tuple[int, ...], ...]:
        boards = []
        while size := self.hand.to_deal:
            begun = len(self.hand.board)
            self.hand = self.hand.deal(self._board[begun : begun + size])
            boards.append(self.hand.board)
        return tuple(boards)


@dataclass(frozen=True)
class Fault:
    """Something that a bot did wrong in a hand, such as an illegal answer, or no answer in time."""

    player: int
    text: str


@dataclass(frozen=True)
class Step:
    """One decision of a hand.

    Attributes:
        hand: the hand before the decision, without hole cards.
        mix: the player's strategy at the decision; None if the player does not reveal it.
        ahead: strategies at states that may follow the decision in its round, by betting line. Which states these are
            depends neither on the action nor on hole cards.
    """

    hand: Hand
    action: str
    mix: Mix | None
    ahead: Mapping[str, Mix] = field(default_factory=dict)

    @property
    def player(self) -> int:
        player = self.hand.to_act
        assert player is not None
        return player


@dataclass(frozen=True)
class Played:
    """A finished hand with its decisions, and with the faults and tallies of both bots.

    Attributes:
        hand: the hand with all cards.
        faults: illegal or missing answers, and lines that a client sent without being asked.
        tallies: for each player, the number of decisions from each source (such as the stored strategy), their times,
            and the failures.
    """

    hand: Hand
    steps: tuple[Step, ...]
    faults: tuple[Fault, ...]
    tallies: tuple[Tally, Tally] = field(default_factory=lambda: (Tally(), Tally()))


def play_hand(
    dealt: Dealt, seats: tuple[Seat, Seat], game: Game, seeds: tuple[int, int], record: bool = False
) -> Played:
    """Play one hand between two bots, players 0 and 1.

    Args:
        seeds: seed of each bot's random choices.
        record: whether to ask each bot that reveals its strategy for the strategy at each of its decisions.
    """
    table, steps = Table(game, dealt), list[Step]()
    for player, seat in enumerate(seats):
        seat.new_hand(table.view(player), player, seeds[player])
    while (player_to_act := table.to_act) is not None:
        seat, public = seats[player_to_act], replace(table.hand, hole=(None, None))
        mix = seat.strategy(public) if record else None
        ahead = {} if mix is None else look_ahead(seats, public, mix)
        steps.append(Step(public, seat.act(table.view(player_to_act)), mix, ahead))
        table.step(steps[-1].action)
    for player, seat in enumerate(seats):
        seat.hand_over(table.view(player))
    faults = [Fault(player, text) for player, seat in enumerate(seats) for text in seat.take_faults()]
    tallies = seats[0].take_tally(), seats[1].take_tally()
    return Played(table.hand, tuple(steps), tuple(faults), tallies)


def look_ahead(seats: tuple[Seat, Seat], public: Hand, mix: Mix) -> dict[str, Mix]:
    """Ask the bots for their strategies at states that may follow a decision in the same round.

    A bot is asked only where computing its strategy takes milliseconds: first at the states directly after the
    decision, then at the states after those, and so on, for at most `MOST_AHEAD` states. The states directly after the
    decision have no such limits if the player to act asks for these strategies anyway, as Local Best Response does.

    Args:
        public: the state of the decision, without hole cards.
        mix: the strategy of the player to act there.

    Returns:
        The strategies by betting line.
    """
    found: dict[str, Mix] = {}
    states = list(_following(public, mix))
    known = public.to_act is not None and seats[public.to_act].asks_answers
    while states and (known or len(found) + len(states) <= MOST_AHEAD):
        following: list[Hand] = []
        for state in states:
            seat = seats[1 if state.to_act else 0]
            answer = seat.strategy(state) if known or seat.is_cheap(state) else None
            if answer is not None:
                found[state.betting.line] = answer
                following.extend(_following(state, answer))
        states, known = following, False
    return found


def _following(public: Hand, mix: Mix) -> Iterator[Hand]:
    """Yield the decisions of the same round that follow a decision by actions which some hand takes."""
    for action, row in zip(mix.actions, mix.frequencies, strict=True):
        betting = public.betting.apply(action)
        if row.any() and betting.to_act is not None and betting.round == public.betting.round:
            yield replace(public, betting=betting)


def decisions(hand: Hand) -> Iterator[tuple[Hand, str]]:
    """Yield each decision of a hand: the hand before the decision, without hole cards, and the action."""
    state, board = Hand(Betting.start(hand.game, hand.betting.min_bet)), hand.board
    for actions in hand.betting.rounds:
        for action in actions:
            if state.to_deal:
                state = state.deal(board[len(state.board) : len(state.board) + state.to_deal])
            yield state, action
            state = replace(state, betting=acted(state.betting, action))


def acted(betting: Betting, action: str) -> Betting:
    """Return the betting after an action, which may be a fold even if checking is free."""
    return betting.given_up() if action == "f" else betting.apply(action)


def by_action(mix: Mix, n_hands: int) -> dict[str, Floats]:
    """Return the frequencies of each action, ``[hand of the deck]``; 0 for hands that the strategy lacks."""
    out: dict[str, Floats] = {}
    for action, row in zip(mix.actions, mix.frequencies, strict=True):
        out[action] = np.zeros(n_hands)
        out[action][mix.hands] = row
    return out
