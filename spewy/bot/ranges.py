"""One hand as its public sees it: where it stands in the locker's tree and in what was re-solved, and both ranges.

Ranges are ``[hand of the deck]``, each player's own reach by what was played: the locker's strategies, or those that
were re-solved. All of it follows from betting, board and seed, and is found when it is asked for first.

Three things can answer at a public state, the first that is there: a sub-game that was re-solved, the locker, and what
is played where nothing is known (`spewy.bot.fallback`). A bet that the tree lacks is taken for one that it has
(`spewy.bot.translate`), and that is remembered: the locker's line goes on from there.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from buckets.hands import blocked, hands
from lockers import LockerError
from solvers.forest import Floats
from solvers.gadget import Gadget
from spewy.bot.fallback import by_equity, passive
from spewy.bot.resolve import Budget, Plays, Resolved, best_elsewhere, resolve, resolve_safely
from spewy.bot.subgames import Root, SubGames, shifted
from spewy.bot.translate import Translation, at_table, translated
from spewy.errors import InputError
from spewy.game.betting import Betting
from spewy.game.hand import Hand
from spewy.game.moves import is_donk
from spewy.game.tree import Node, entry
from spewy.records.policy import Decides

LOG = logging.getLogger(__name__)
MOST_HELD = 1 << 30
"""Bytes of sub-games that are kept for a hand; older ones are solved again where they are asked for."""

Resolve = Literal["never", "off-tree", "always"]
Source = Literal["re-solved", "locker", "equity"]


@dataclass(frozen=True)
class Options:
    """How a bot plays from its lockers.

    Attributes:
        resolve: when sub-games are solved again: where the lockers have no answer to what was done ("off-tree"), or at
            the beginning of each round that allows it too ("always").
        rounds: how many rounds allow it, counted from the last: 2 are turn and river. The first round never does.
        safe: how to see to it that the other player gains nothing by it; None: both ranges are taken as given.
        budget: of a decision.
        translation: whether bets that the tree lacks are taken for others at random, or for the likelier one.
        threads: of a solve.
    """

    resolve: Resolve = "off-tree"
    rounds: int = 2
    safe: Gadget | None = None
    budget: Budget = field(default_factory=Budget)
    translation: Translation = "random"
    threads: int = 1


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
        line: of the locker's tree; None: it has none for what was done.
        base: what each player had put in before the round.
        donk: whether who starts the round called the last bet of the one before.
        above: the state before, and the action that led here; None: cards came, or it is the start.
        part: the sub-game that the state lies in, if there is one.
    """

    hand: Hand
    line: str | None
    base: int
    donk: bool = False
    above: State | None = None
    action: str | None = None
    part: Part | None = None
    reach: dict[int, Floats] = field(default_factory=dict)
    answer: Answer | None = None

    @property
    def betting(self) -> Betting:
        """Of the hand."""
        return self.hand.betting


@dataclass(eq=False)
class Part:
    """A sub-game that is solved when it is asked for.

    Attributes:
        state: at its root.
        root: the root's betting, with the actual bets.
        outer: the sub-game that the root lies in, and that is played on where this one is not solved.
        failed: players for whom it could not be solved.
    """

    state: State
    root: Root
    outer: Part | None
    failed: set[int] = field(default_factory=set)

    def line(self, betting: Betting) -> str:
        """The line of the sub-game that leads to a betting of the hand."""
        rounds = betting.rounds[self.root.round :]
        return shifted("/".join("".join(actions) for actions in rounds), -self.root.base)


class Track:
    """The public states of one hand.

    Args:
        policy: the lockers of a whole game.
        games: its sub-games.
        options: how to play.
        seed: of the hand.
    """

    def __init__(self, policy: Decides, games: SubGames, options: Options, seed: int) -> None:
        self._policy, self._games, self._options, self._seed = policy, games, options, seed
        self._game = games.game
        self._hands = hands(self._game.deck, self._game.num_hole_cards)
        self._states: dict[tuple[str, tuple[int, ...]], State] = {}
        self._solved: OrderedDict[tuple[Part, int], Resolved] = OrderedDict()
        self.deadline: float | None = None

    def within_budget(self) -> None:
        """A decision's time begins to run."""
        seconds = self._options.budget.seconds
        self.deadline = None if seconds is None else time.monotonic() + seconds

    def at(self, hand: Hand) -> State:
        """The public state of a hand as it is played, however much of it was seen before."""
        state = self._known(Hand.start(self._game), None)
        for r, actions in enumerate(hand.betting.rounds):
            if r and len(hand.board) >= self._game.board_sizes[r] > self._game.board_sizes[r - 1]:
                state = self._known(
                    state.hand.deal(hand.board[len(state.hand.board) :][: state.hand.to_deal]), state
                )
            for action in actions:
                state = self._known(state.hand.apply(action), state, action)
        return state

    def range(self, state: State, player: int) -> Floats:
        """``[hand of the deck]``: how likely each hand is held and was played like this; cards held by others apart."""
        if player not in state.reach:
            state.reach[player] = self._range(state, player)
        return state.reach[player]

    def answer(self, state: State) -> Answer:
        """What the player to act does with each hand."""
        if state.answer is None:
            state.answer = self._answer(state)
        return state.answer

    # Going on

    def _known(self, hand: Hand, above: State | None, action: str | None = None) -> State:
        key = hand.betting.line, hand.board
        if key not in self._states:
            self._states[key] = self._reached(hand, above, action)
        return self._states[key]

    def _reached(self, hand: Hand, above: State | None, action: str | None) -> State:
        if above is None:
            base = self._game.blinds[0] if self._game.has_antes else 0
            state = State(hand, "", base)
        elif action is None:
            state = replace(above, hand=hand, above=above, action=None, reach={}, answer=None)
        else:
            state = self._after(hand, above, action)
        if hand.to_act is not None and self._begins_here(state):
            state.part = self._part(state) or state.part
        return state

    def _after(self, hand: Hand, above: State, action: str) -> State:
        before, betting = above.betting, hand.betting
        state = State(hand, None, above.base, above.donk, above, action, above.part)
        node = self._node(above)
        if node is not None:
            menu = at_table(node, before)
            taken = translated(action, menu, before, self._seed, self._options.translation)
            if taken is not None:
                state.line = _goes_on(node.children[taken], betting)
        if betting.round > before.round:
            state.base, state.donk = max(betting.spent), is_donk(before, betting)
        if action not in self._menu(above) and self._allows(before.round):
            state.part = self._part(above, (action,)) or state.part
        if state.part is not None and not self._covers(state.part, betting):
            state.part = None
        return state

    def _begins_here(self, state: State) -> bool:
        """Whether a sub-game begins at a state: with a round, or where neither another one nor the locker goes on."""
        betting = state.betting
        if not self._allows(betting.round):
            return False
        if self._options.resolve == "always" and not betting.rounds[-1]:
            return True
        if state.part is not None:
            return False
        node = self._node(state)
        return node is None or node.put_in != betting.spent or self._read(state) is None

    def _allows(self, t: int) -> bool:
        first = max(1, self._game.num_rounds - self._options.rounds)
        return self._options.resolve != "never" and t >= first

    def _part(self, state: State, more: tuple[str, ...] = ()) -> Part | None:
        """A sub-game with its root at a state; None where its betting cannot be."""
        betting = state.betting
        stack = None if self._game.stacks is None else min(self._game.stacks) - state.base
        here = tuple(shifted(action, -state.base) for action in betting.rounds[-1])
        extra = tuple(shifted(action, -state.base) for action in more)
        root = Root(betting.round, state.base, stack, here, extra, state.donk)
        try:
            self._games.tree(root)
        except InputError as error:
            LOG.warning("line %r: no sub-game begins here: %s", betting.line, error)
            return None
        return Part(state, root, state.part)

    def _covers(self, part: Part, betting: Betting) -> bool:
        return betting.to_act is None or self._games.decision(part.root, part.line(betting)) is not None

    # Answers

    def _node(self, state: State) -> Node | None:
        """The decision of the locker's tree."""
        if state.line is None or state.hand.to_act is None:
            return None
        return self._policy.node(state.line)

    def _menu(self, state: State) -> Sequence[str]:
        """The actions of what answers at a state, without an answer."""
        if state.part is not None:
            return self._part_menu(state.part, state.betting)
        node = self._node(state)
        return passive(state.hand) if node is None else at_table(node, state.betting)

    def _part_menu(self, part: Part, betting: Betting) -> tuple[str, ...]:
        found = self._games.decision(part.root, part.line(betting))
        assert found is not None
        return tuple(shifted(action.acpc, part.root.base) for action in found[2].actions)

    def _answer(self, state: State) -> Answer:
        part = state.part
        while part is not None:
            found = self._of_part(part, state)
            if found is not None:
                return found
            part = part.outer
        node, stored = self._node(state), self._read(state)
        if node is not None and stored is not None:
            return _merged(at_table(node, state.betting), stored, "locker")
        player = state.hand.to_act
        assert player is not None
        theirs = self.range(state, 1 - player)
        return Answer(passive(state.hand), by_equity(state.hand, theirs, self._seed), "equity")

    def _read(self, state: State) -> Floats | None:
        """What the locker says at a state; None: nothing, which is logged."""
        if state.line is None:
            return None
        try:
            return self._stored(state.line, state.hand.board)
        except (InputError, LockerError) as error:
            LOG.warning("line %r: the locker has no answer: %s", state.betting.line, error)
            return None

    def _stored(self, line: str, board: tuple[int, ...]) -> Floats:
        """``[action, hand of the deck]`` in the locker."""
        found = self._policy.decision(line, board)
        out = np.full((len(found.actions), len(self._hands)), 1.0 / len(found.actions))
        out[:, found.hands] = found.frequencies
        return out

    def _of_part(self, part: Part, state: State) -> Answer | None:
        """What a sub-game says; None where it does not go so far, or cannot be solved, which is logged."""
        player, betting = state.hand.to_act, state.betting
        assert player is not None
        if not self._covers(part, betting):
            return None
        solved = self._solve(part, player)
        if solved is None:
            return None
        found = solved.frequencies(part.line(betting), state.hand.board)
        return Answer(self._part_menu(part, betting), found, "re-solved")

    def _solve(self, part: Part, player: int) -> Resolved | None:
        mine = player if self._options.safe is not None else 0
        if (part, mine) in self._solved:
            self._solved.move_to_end((part, mine))
            return self._solved[part, mine]
        if mine in part.failed:
            return None
        try:
            found = self._solved[part, mine] = self._run(part, mine)
        except Exception as error:
            # Whatever it is, a hand is being played, and the lockers still have an answer.
            LOG.warning("line %r: re-solving failed: %s", part.state.betting.line, error, exc_info=True)
            part.failed.add(mine)
            return None
        while sum(each.n_bytes for each in self._solved.values()) > MOST_HELD and len(self._solved) > 1:
            self._solved.popitem(last=False)
        return found

    def _run(self, part: Part, mine: int) -> Resolved:
        state, options = part.state, self._options
        board = state.hand.board
        if options.safe is not None:
            elsewhere = self._elsewhere(part, mine)
            if elsewhere is not None:
                return resolve_safely(
                    self._games,
                    part.root,
                    board,
                    mine,
                    self.range(state, mine),
                    elsewhere,
                    options.safe,
                    options.budget,
                    deadline=self.deadline,
                    threads=options.threads,
                )
        ranges = self.range(state, 0), self.range(state, 1)
        return resolve(
            self._games,
            part.root,
            board,
            ranges,
            options.budget,
            deadline=self.deadline,
            threads=options.threads,
        )

    # What is played otherwise

    def _elsewhere(self, part: Part, mine: int) -> Floats | None:
        """What the other's hands make of what mine would play without this sub-game; None: nothing is known of it."""
        found = self._otherwise(part, mine)
        if found is None:
            return None
        root, plays = found
        board, reach = part.state.hand.board, self.range(part.state, mine)
        values = best_elsewhere(self._games, root, board, mine, reach, plays)
        return values * (part.root.base / root.base)

    def _otherwise(self, part: Part, mine: int) -> tuple[Root, Plays] | None:
        """The same sub-game where it is played otherwise, maybe of another pot, and how mine plays there."""
        state = part.state
        outer = part.outer
        if outer is not None and self._covers(outer, state.betting):
            solved, line = self._solve(outer, mine), outer.line(state.betting)
            if solved is not None:
                by = state.base - outer.root.base
                before = entry(line)
                root = replace(part.root, more=())
                return root, lambda line, board: solved.frequencies(before + shifted(line, by), board)
        node = self._node(state)
        if node is None or state.line is None:
            return None
        begun = entry(state.line)
        base = self._policy.node(begun).put_in[0]
        stack = None if self._game.stacks is None else min(self._game.stacks) - base
        here = _tokens(shifted(state.line[len(begun) :], -base))
        root = Root(node.round, base, stack, here, (), state.donk)
        return root, lambda line, board: self._stored(begun + shifted(line, base), board)

    # Ranges

    def _range(self, state: State, player: int) -> Floats:
        if state.above is None:
            problem = self._policy.problem
            weights = problem.ranges[player]
            return weights if problem.units is None else weights * problem.units[player]
        mine = self.range(state.above, player)
        if state.action is None:
            dead = blocked(self._hands, state.hand.board)
            return np.where(dead, 0.0, mine)
        if state.above.hand.to_act != player:
            return mine
        return played_down(mine, self._frequencies(state.above, state), self._hands, state.hand.board)

    def _frequencies(self, above: State, state: State) -> Floats:
        """``[hand of the deck]``: how often the action that led to a state was taken."""
        part, action = state.part, state.action
        assert action is not None
        if part is not None and part.state is above and part is not above.part:
            answer = self._of_part(part, above)
            if answer is not None and action in answer.actions:
                out: Floats = answer.frequencies[answer.actions.index(action)]
                return out
        answer = self.answer(above)
        taken = translated(action, answer.actions, above.betting, self._seed, self._options.translation)
        return np.ones(len(self._hands)) if taken is None else answer.frequencies[taken]


def played_down(mine: Floats, frequencies: Floats, deck: np.ndarray, board: Sequence[int]) -> Floats:
    """A range after an action that hands take so often; where none of them would, all stay as they were."""
    out: Floats = mine * frequencies
    live = ~blocked(deck, board)
    return out if out[live].max(initial=0.0) > 0 else mine


def _merged(menu: Sequence[str], frequencies: Floats, source: Source) -> Answer:
    """With equal actions of a menu as one."""
    actions = tuple(dict.fromkeys(menu))
    if len(actions) == len(menu):
        return Answer(actions, frequencies, source)
    out = np.zeros((len(actions), frequencies.shape[1]))
    for action, mine in zip(menu, frequencies, strict=True):
        out[actions.index(action)] += mine
    return Answer(actions, out, source)


def _goes_on(child: Node, betting: Betting) -> str | None:
    """The tree's line after an action, where the hand goes on as the tree does; None: they have come apart."""
    node = child
    if node.kind == "chance":
        node = node.children[0]
    if node.kind != "decision" or betting.to_act is None:
        return None
    together = (node.round, node.player) == (betting.round, betting.to_act)
    return node.line if together else None


def _tokens(line: str) -> tuple[str, ...]:
    """The actions of one round.

    >>> _tokens("cr120c"), _tokens("rr"), _tokens("")
    (('c', 'r120', 'c'), ('r', 'r'), ())
    """
    out: list[str] = []
    for character in line:
        if character.isdigit():
            out[-1] += character
        else:
            out.append(character)
    return tuple(out)
