"""Track both players' ranges through one hand, and the strategy at each public state of the hand.

A range is an array ``[hand of the deck]``: for each hand, the probability that its player takes all actions so far.
When a card comes, the hands that it blocks leave both ranges. When a player acts, that player's range is multiplied by
the frequency of the action.

The strategy at a public state comes from the re-solved subgame that contains the state. Without such a subgame it comes
from the blueprint, and where the blueprint has no strategy either, from pot odds (`spewy.bot.fallback`). A bet that the
blueprint's tree lacks is translated into a bet of the tree (`spewy.bot.bet_translation`); the blueprint's line
continues with the translated bet.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from buckets.cards import blocked
from solvers.tree import Floats, Ints
from spewy.bot.bet_translation import legal_actions, translate_action
from spewy.bot.blueprint import Blueprint
from spewy.bot.fallback import passive_actions, pot_odds
from spewy.bot.options import Options, Resolve
from spewy.bot.resolving.budget import Budget
from spewy.bot.resolving.builder import Root, SubgameBuilder, add_chips
from spewy.bot.resolving.subgame import BEFORE, HandContext, Subgame
from spewy.bot.tally import Source, Tally
from spewy.errors import InputError
from spewy.game.betting import Betting
from spewy.game.hand import Hand
from spewy.game.nodes import Node
from spewy.game.raises import may_donk

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Answer:
    """The strategy of the player to act, and its source.

    Attributes:
        actions: legal ACPC actions.
        frequencies: frequency of each action for each hand, ``[action, hand of the deck]``.
        source: where the strategy comes from.
    """

    actions: tuple[str, ...]
    frequencies: Floats
    source: Source


@dataclass(eq=False)
class PublicState:
    """A public state of the hand.

    Attributes:
        hand: betting and board.
        blueprint_line: line of this state in the blueprint's tree; None if the tree has no line for the betting.
        put_in_before: chips that each player had put in before the round.
        exact: whether the blueprint's line is the actual betting, without translated bets.
        donk: whether the player who starts the round called the last bet of the previous round.
        above: the previous public state; None at the start of the hand.
        action: the action that led to this state; None after cards, and at the start of the hand.
        subgame: the subgame that contains this state; None if no subgame does.
        ranges: cached range of each player, by player; a range is computed when it is needed.
        answer: cached strategy of the player to act; None before it is needed.
    """

    hand: Hand
    blueprint_line: str | None
    put_in_before: int
    exact: bool = True
    donk: bool = False
    above: PublicState | None = None
    action: str | None = None
    subgame: Subgame | None = None
    ranges: dict[int, Floats] = field(default_factory=dict)
    answer: Answer | None = None

    @property
    def betting(self) -> Betting:
        """The betting of the hand."""
        return self.hand.betting

    @property
    def begins_subgame(self) -> bool:
        """Whether the subgame that contains this state also begins at this state."""
        return self.subgame is not None and self.subgame.betting is self.betting


class Beliefs:
    """The public states of one hand, with both players' ranges and strategies.

    Args:
        blueprint: the stored strategy.
        builder: the builder of subgames.
        options: when and how to re-solve.
        seed: the hand's seed.
        tally: counts re-solves that fail.
    """

    def __init__(
        self, blueprint: Blueprint, builder: SubgameBuilder, options: Options, seed: int, tally: Tally
    ) -> None:
        self._blueprint, self._builder, self._options, self._seed = blueprint, builder, options, seed
        self._game, self._tally, self._budget = blueprint.game, tally, Budget(options.seconds)
        self._context = HandContext(blueprint, builder, options, tally, self._budget)
        self._states: dict[tuple[str, tuple[int, ...]], PublicState] = {}

    @property
    def budget(self) -> Budget:
        """The time budget of the current decision."""
        return self._budget

    def at(self, hand: Hand) -> PublicState:
        """Return the current public state of a hand, and start the time budget of a decision."""
        self._budget.start()
        state = self._known(Hand.start(self._game))
        for t, actions in enumerate(hand.betting.rounds):
            cards = hand.board[len(state.hand.board) : self._game.board_sizes[t]]
            if cards:
                state = self._known(state.hand.deal(cards), state)
            for action in actions:
                state = self._known(state.hand.apply(action), state, action)
        return state

    def range(self, state: PublicState, player: int) -> Floats:
        """Return a player's range at a public state, ``[hand of the deck]``."""
        states: list[PublicState] = []
        known: PublicState | None = state
        while known is not None and player not in known.ranges:
            states.append(known)
            known = known.above
        reach = self._blueprint.initial_range(player) if known is None else known.ranges[player]
        for each in reversed(states):
            reach = each.ranges[player] = self._updated(reach, each, player)
        return reach

    def answer(self, state: PublicState) -> Answer:
        """Return the strategy of the player to act at a public state."""
        if state.answer is None:
            state.answer = self._answer(state)
        return state.answer

    def actions(self, state: PublicState) -> Sequence[str]:
        """Return the legal actions at a public state, by the subgame or the blueprint that covers it."""
        if state.subgame is not None:
            return state.subgame.actions(state.betting)
        node = self._node(state)
        return passive_actions(state.hand) if node is None else legal_actions(node, state.betting)

    def best_values(self, state: PublicState, player: int) -> Floats:
        """Return a player's best-response value of each hand in the subgame that begins at a state.

        Returns:
            The values ``[hand of the deck]``.

        Raises:
            InputError: no subgame begins at the state, or `Subgame.best_values` refuses the subgame.
            solvers.errors.SolverError: `Subgame.best_values` cannot solve the subgame.
        """
        if state.subgame is None or not state.begins_subgame:
            raise InputError(f"line {state.betting.line!r}: no subgame begins here")
        self._enter(state.subgame)
        return state.subgame.best_values(player)

    # Ranges

    def _updated(self, reach: Floats, state: PublicState, player: int) -> Floats:
        """Update a player's range from the previous state by the action or the cards that led to a state."""
        above = state.above
        if above is None:
            return reach
        if state.action is None:
            return np.where(blocked(self._blueprint.hands, state.hand.board), 0.0, reach)
        if above.hand.to_act != player:
            return reach
        frequencies = self._frequencies(above, state, state.action)
        return range_after_action(reach, frequencies, self._blueprint.hands, state.hand.board)

    def _frequencies(self, above: PublicState, state: PublicState, action: str) -> Floats:
        """Frequency of the action between two successive states, for each hand of the deck."""
        subgame = state.subgame
        answer = None
        if subgame is not None and subgame is not above.subgame and subgame.root.extra_bets:
            answer = self._resolved(subgame, above)  # this subgame has the action at its root
        if answer is not None:
            out: Floats = answer.frequencies[answer.actions.index(action)]
            return out
        answer = self.answer(above)
        number = translate_action(
            action, answer.actions, above.betting, self._seed, self._options.translation
        )
        return np.ones(len(self._blueprint.hands)) if number is None else answer.frequencies[number]

    # Strategies

    def _answer(self, state: PublicState) -> Answer:
        subgame = state.subgame
        while subgame is not None:
            answer = self._resolved(subgame, state)
            if answer is not None:
                return answer
            subgame = subgame.outer
        node, stored = self._node(state), self._stored(state)
        if node is not None and stored is not None:
            source: Source = "stored" if state.exact else "translated"
            return _merged(legal_actions(node, state.betting), stored, source)
        player = state.hand.to_act
        assert player is not None
        opponent_range = self.range(state, 1 - player)
        return Answer(
            passive_actions(state.hand), pot_odds(state.hand, opponent_range, self._seed), "fallback"
        )

    def _resolved(self, subgame: Subgame, state: PublicState) -> Answer | None:
        """Return the strategy of a re-solved subgame at a state; None if the subgame has none."""
        player = state.hand.to_act
        assert player is not None
        if not subgame.can_answer(state.betting, player):
            return None
        self._enter(subgame)
        frequencies = subgame.strategy(state.betting, state.hand.board)
        if frequencies is None:
            return None
        return Answer(subgame.actions(state.betting), frequencies, "re-solved")

    def _enter(self, subgame: Subgame) -> None:
        """Set both ranges at the root of a subgame, after those of all subgames around it."""
        around: list[Subgame] = []
        inner: Subgame | None = subgame
        while inner is not None and inner.ranges is None:
            around.append(inner)
            inner = inner.outer
        for each in reversed(around):
            root = self._states[each.betting.line, each.board]
            with self._budget.limited(BEFORE):
                each.ranges = self.range(root, 0), self.range(root, 1)

    def _node(self, state: PublicState) -> Node | None:
        """Return the blueprint's decision at a public state; None if the blueprint's tree has no such decision."""
        if state.blueprint_line is None or state.hand.to_act is None:
            return None
        return self._blueprint.node(state.blueprint_line)

    def _stored(self, state: PublicState) -> Floats | None:
        return self._blueprint.strategy_if_readable(state.blueprint_line, state.hand.board)

    # Public states

    def _known(self, hand: Hand, above: PublicState | None = None, action: str | None = None) -> PublicState:
        key = hand.betting.line, hand.board
        if key not in self._states:
            self._states[key] = self._reached(hand, above, action)
        return self._states[key]

    def _reached(self, hand: Hand, above: PublicState | None, action: str | None) -> PublicState:
        if above is None:
            state = PublicState(hand, "", self._blueprint.config.antes)
        elif action is None:
            state = replace(above, hand=hand, above=above, action=None, ranges={}, answer=None)
        else:
            state = self._after(hand, above, action)
        if hand.to_act is not None and self._begins_subgame(state):
            state.subgame = self._subgame(state) or state.subgame
        return state

    def _after(self, hand: Hand, above: PublicState, action: str) -> PublicState:
        """Return the public state that follows another state by an action."""
        before, betting = above.betting, hand.betting
        line, exact = self._blueprint_line(above, betting, action)
        state = PublicState(
            hand, line, above.put_in_before, above.exact and exact, above.donk, above, action, above.subgame
        )
        if betting.round > before.round:
            state.put_in_before, state.donk = max(betting.spent), may_donk(before, betting)
        if action not in self.actions(above) and self._when(before.round) != "never":
            state.subgame = self._subgame(above, (action,)) or state.subgame
        if state.subgame is not None and betting.to_act is not None and not state.subgame.covers(betting):
            state.subgame = None
        return state

    def _blueprint_line(self, above: PublicState, betting: Betting, action: str) -> tuple[str | None, bool]:
        """Follow an action in the blueprint's tree.

        Returns:
            The line after the action, and whether the tree has exactly this action. The line is None if the tree has no
            similar action, or if the tree continues with another player or round than the actual betting.
        """
        node, before = self._node(above), above.betting
        if node is None or betting.to_act is None:
            return None, False
        actions = legal_actions(node, before)
        number = translate_action(action, actions, before, self._seed, self._options.translation)
        if number is None:
            return None, False
        child = node.children[number]
        following = child.children[0] if child.kind == "chance" else child
        together = (following.round, following.player) == (betting.round, betting.to_act)
        line = following.line if following.kind == "decision" and together else None
        return line, actions[number] == action

    def _begins_subgame(self, state: PublicState) -> bool:
        """Whether a subgame begins at a state: at the start of a round, or where the blueprint has no strategy.

        No subgame begins inside another subgame. The solve of the outer subgame already has a row for each hand and
        accurate ranges, so a second solve would be worse.
        """
        betting = state.betting
        when = self._when(betting.round)
        if state.subgame is not None or when == "never":
            return False
        if when == "always" and not betting.rounds[-1]:
            return True
        node = self._node(state)
        return node is None or node.put_in != betting.spent or self._stored(state) is None

    def _when(self, t: int) -> Resolve:
        """When to re-solve subgames that begin in round ``t``."""
        first = self._options.first_round(self._game.num_rounds)
        return self._options.resolve if t >= first else "never"

    def _subgame(self, state: PublicState, extra_bets: tuple[str, ...] = ()) -> Subgame | None:
        """Make the subgame that begins at a state; None if its betting is impossible."""
        betting, stack, chips = state.betting, self._blueprint.smallest_stack, state.put_in_before
        root = Root(
            betting.round,
            chips,
            None if stack is None else stack - chips,
            tuple(add_chips(action, -chips) for action in betting.rounds[-1]),
            tuple(add_chips(action, -chips) for action in extra_bets),
            state.donk,
        )
        try:
            self._builder.tree(root)
        except InputError as error:
            LOG.warning("line %r: no subgame can begin here: %s", betting.line, error)
            self._tally.failed(betting.line, error)
            return None
        return Subgame(self._context, root, betting, state.hand.board, state.blueprint_line, state.subgame)


def range_after_action(reach: Floats, frequencies: Floats, deck: Ints, board: Sequence[int]) -> Floats:
    """Multiply a range by the frequencies of an action.

    The range stays as it is if no hand of the range takes the action.

    Args:
        reach: the range, ``[hand of the deck]``.
        frequencies: frequency of the action, ``[hand of the deck]``.
        deck: all hands, ``[hand of the deck, hole card]``.
        board: the public cards.
    """
    out: Floats = reach * frequencies
    live = ~blocked(deck, board)
    return out if out[live].max(initial=0.0) > 0 else reach


def _merged(actions: Sequence[str], frequencies: Floats, source: Source) -> Answer:
    """Make an answer from a strategy in which the same action may occur twice; add the frequencies of equal actions.

    Args:
        actions: legal actions, one for each row of ``frequencies``.
        frequencies: ``[action, hand of the deck]``.
        source: source of the strategy.
    """
    unique = tuple(dict.fromkeys(actions))
    out = np.zeros((len(unique), frequencies.shape[1]))
    for action, taken in zip(actions, frequencies, strict=True):
        out[unique.index(action)] += taken
    return Answer(unique, out, source)
