"""One hand as its public sees it: where it stands in the locker's tree and in sub-games, and both ranges.

Ranges are ``[hand of the deck]``, each player's own reach by what was played: the locker's strategies, or those that
were re-solved. All of it follows from betting, board and seed, and is found when it is asked for first.

Three things can answer at a public state, the first that is there: a sub-game that was re-solved, the locker, and what
is played where nothing is known (`spewy.bot.fallback`). A bet that the tree lacks is taken for one that it has
(`spewy.bot.translate`), and that is remembered: the locker's line goes on from there.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from buckets.cards import blocked
from solvers.tree import Floats, Ints
from spewy.bot.book import Book
from spewy.bot.fallback import by_equity, passive
from spewy.bot.options import Options, Resolve
from spewy.bot.parts import Part, Parts
from spewy.bot.subgames import Root, SubGames, shifted
from spewy.bot.tally import Source, Tally
from spewy.bot.translate import at_table, translated
from spewy.errors import InputError
from spewy.game.betting import Betting
from spewy.game.hand import Hand
from spewy.game.nodes import Node
from spewy.game.raises import may_donk

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Answer:
    """What the player to act does with each hand, ``frequencies[action, hand of the deck]``."""

    actions: tuple[str, ...]
    frequencies: Floats
    source: Source


@dataclass(eq=False)
class State:
    """A public state of the hand.

    Attributes:
        hand: betting and board.
        line: the line in the locker's tree; None if the tree has no line for the betting.
        exact: whether ``line`` is the betting as it was, without a bet that was translated to one of the tree's.
        base: chips that each player had put in before the round.
        donk: whether the player who starts the round called the last bet of the round before.
        above: the state before; None at the start.
        action: the action that led here; None after cards, and at the start.
        part: the sub-game that the state lies in, if there is one.
        ranges: the range of each player, once it was asked for.
        answer: the answer at this state, once it was asked for.
    """

    hand: Hand
    line: str | None
    base: int
    exact: bool = True
    donk: bool = False
    above: State | None = None
    action: str | None = None
    part: Part | None = None
    ranges: dict[int, Floats] = field(default_factory=dict)
    answer: Answer | None = None

    @property
    def betting(self) -> Betting:
        """Of the hand."""
        return self.hand.betting


class Track:
    """The public states of one hand.

    Args:
        book: the lockers.
        games: makes sub-games.
        options: how to play.
        seed: the hand's seed.
        tally: counts re-solves that fail.
    """

    def __init__(self, book: Book, games: SubGames, options: Options, seed: int, tally: Tally) -> None:
        self._book, self._games, self._options, self._seed = book, games, options, seed
        self._game, self._tally = book.game, tally
        self._parts = Parts(book, games, options, tally)
        self._states: dict[tuple[str, tuple[int, ...]], State] = {}

    def forget(self) -> None:
        """Give the memory of what was solved back; the hand is over."""
        self._parts.forget()

    def at(self, hand: Hand) -> State:
        """The public state of a hand as it is played, however much of it was seen before.

        A decision's time begins to run.
        """
        self._parts.within_budget()
        state = self._known(Hand.start(self._game))
        for t, actions in enumerate(hand.betting.rounds):
            cards = hand.board[len(state.hand.board) : self._game.board_sizes[t]]
            if cards:
                state = self._known(state.hand.deal(cards), state)
            for action in actions:
                state = self._known(state.hand.apply(action), state, action)
        return state

    def range(self, state: State, player: int) -> Floats:
        """``[hand of the deck]``: how likely it is that a player who holds it played like this."""
        if player not in state.ranges:
            state.ranges[player] = self._range(state, player)
        return state.ranges[player]

    def answer(self, state: State) -> Answer:
        """What the player to act does."""
        if state.answer is None:
            state.answer = self._answer(state)
        return state.answer

    def begins(self, state: State) -> bool:
        """Whether a sub-game begins at a state."""
        part = state.part
        return part is not None and part.betting is state.betting

    def best_values(self, state: State, player: int) -> Floats:
        """``[hand of the deck]``: best responses of a player to what the other plays in the sub-game that begins here.

        Raises:
            InputError: none begins here, or as `Parts.best_values`.
            solvers.errors.SolverError: as there.
        """
        if state.part is None or not self.begins(state):
            raise InputError(
                f"line {state.betting.line!r}: expected a sub-game that begins there, found none"
            )
        return self._parts.best_values(state.part, player)

    # Going on

    def _known(self, hand: Hand, above: State | None = None, action: str | None = None) -> State:
        key = hand.betting.line, hand.board
        if key not in self._states:
            self._states[key] = self._reached(hand, above, action)
        return self._states[key]

    def _reached(self, hand: Hand, above: State | None, action: str | None) -> State:
        if above is None:
            state = State(hand, "", self._book.config.antes)
        elif action is None:
            state = replace(above, hand=hand, above=above, action=None, ranges={}, answer=None)
        else:
            state = self._after(hand, above, action)
        if hand.to_act is not None and self._begins_here(state):
            state.part = self._part(state) or state.part
        return state

    def _after(self, hand: Hand, above: State, action: str) -> State:
        before, betting = above.betting, hand.betting
        line, exact = self._goes_on(above, betting, action)
        state = State(hand, line, above.base, above.exact and exact, above.donk, above, action)
        if betting.round > before.round:
            state.base, state.donk = max(betting.spent), may_donk(before, betting)
        state.part = above.part
        if action not in self._menu(above) and self._when(before.round) != "never":
            state.part = self._part(above, (action,)) or state.part
        if state.part is not None and betting.to_act is not None:
            state.part = state.part if self._parts.covers(state.part, betting) else None
        return state

    def _goes_on(self, above: State, betting: Betting, action: str) -> tuple[str | None, bool]:
        """The tree's line after an action, and whether the tree has exactly this action.

        The line is None if the tree has no line for the action, or if another player or round follows there.
        """
        node, before = self._node(above), above.betting
        if node is None or betting.to_act is None:
            return None, False
        menu = at_table(node, before)
        taken = translated(action, menu, before, self._seed, self._options.translation)
        if taken is None:
            return None, False
        child = node.children[taken]
        following = child.children[0] if child.kind == "chance" else child
        together = (following.round, following.player) == (betting.round, betting.to_act)
        line = following.line if following.kind == "decision" and together else None
        return line, menu[taken] == action

    def _begins_here(self, state: State) -> bool:
        """Whether a sub-game begins at a state: with a round, or where the locker does not go on; never in another one.

        What lies in one that was solved has a row per hand already, and ranges that go with it: solved again with those
        as given it would be worse.
        """
        betting = state.betting
        when = self._when(betting.round)
        if state.part is not None or when == "never":
            return False
        if when == "always" and not betting.rounds[-1]:
            return True
        node = self._node(state)
        return node is None or node.put_in != betting.spent or self._stored(state) is None

    def _when(self, t: int) -> Resolve:
        """When sub-games of a round are solved."""
        return self._options.resolve if t >= self._options.first(self._game.num_rounds) else "never"

    def _part(self, state: State, more: tuple[str, ...] = ()) -> Part | None:
        """A sub-game with its root at a state, and with more bets there; None where its betting cannot be."""
        betting, least = state.betting, self._book.smallest_stack
        root = Root(
            betting.round,
            state.base,
            None if least is None else least - state.base,
            tuple(shifted(action, -state.base) for action in betting.rounds[-1]),
            tuple(shifted(action, -state.base) for action in more),
            state.donk,
        )
        try:
            self._games.tree(root)
        except InputError as error:
            LOG.warning("line %r: no sub-game begins here: %s", betting.line, error)
            self._tally.failed(betting.line, error)
            return None

        def ranges(player: int) -> Floats:
            return self.range(state, player)

        return Part(root, betting, state.hand.board, state.line, ranges, state.part)

    # Answers

    def _node(self, state: State) -> Node | None:
        """The decision of the locker's tree."""
        known = state.line is not None and state.hand.to_act is not None
        return self._book.node(state.line) if known and state.line is not None else None

    def _stored(self, state: State) -> Floats | None:
        return self._book.found(state.line, state.hand.board)

    def _menu(self, state: State) -> Sequence[str]:
        """The actions of what answers at a state, without an answer."""
        if state.part is not None:
            return self._parts.menu(state.part, state.betting)
        node = self._node(state)
        return passive(state.hand) if node is None else at_table(node, state.betting)

    def _answer(self, state: State) -> Answer:
        part = state.part
        while part is not None:
            found = self._of_part(part, state)
            if found is not None:
                return found
            part = part.outer
        node, stored = self._node(state), self._stored(state)
        if node is not None and stored is not None:
            source: Source = "stored" if state.exact else "translated"
            return _merged(at_table(node, state.betting), stored, source)
        player = state.hand.to_act
        assert player is not None
        theirs = self.range(state, 1 - player)
        return Answer(passive(state.hand), by_equity(state.hand, theirs, self._seed), "fallback")

    def _of_part(self, part: Part, state: State) -> Answer | None:
        found = self._parts.frequencies(part, state.betting, state.hand.board)
        return None if found is None else Answer(self._parts.menu(part, state.betting), found, "re-solved")

    # Ranges

    def _range(self, state: State, player: int) -> Floats:
        above = state.above
        if above is None:
            return self._book.start(player)
        mine = self.range(above, player)
        if state.action is None:
            dead = blocked(self._book.hands, state.hand.board)
            return np.where(dead, 0.0, mine)
        if above.hand.to_act != player:
            return mine
        return played_down(mine, self._taken(above, state, state.action), self._book.hands, state.hand.board)

    def _taken(self, above: State, state: State, action: str) -> Floats:
        """``[hand of the deck]``: how often the action that led to a state was taken."""
        part = state.part
        if part is not None and part is not above.part and part.root.more:  # which has the action at its root
            answer = self._of_part(part, above)
            if answer is not None:
                out: Floats = answer.frequencies[answer.actions.index(action)]
                return out
        answer = self.answer(above)
        taken = translated(action, answer.actions, above.betting, self._seed, self._options.translation)
        return np.ones(len(self._book.hands)) if taken is None else answer.frequencies[taken]


def played_down(mine: Floats, frequencies: Floats, deck: Ints, board: Sequence[int]) -> Floats:
    """A range after an action that hands take so often; where none of them would, all stay as they were."""
    out: Floats = mine * frequencies
    live = ~blocked(deck, board)
    return out if out[live].max(initial=0.0) > 0 else mine


def _merged(menu: Sequence[str], frequencies: Floats, source: Source) -> Answer:
    """A locker's answer with equal actions of a menu as one."""
    actions = tuple(dict.fromkeys(menu))
    out = np.zeros((len(actions), frequencies.shape[1]))
    for action, mine in zip(menu, frequencies, strict=True):
        out[actions.index(action)] += mine
    return Answer(actions, out, source)
