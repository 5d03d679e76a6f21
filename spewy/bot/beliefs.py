"""Decide at each public state whether to re-solve or to play the stored strategy, and track both players' ranges.

A range is an array ``[hand of the deck]``: for each hand, the probability that its player takes all actions so far.
When a card comes, the hands that it blocks leave both ranges. When a player acts, that player's range is multiplied by
the frequency of the action.

The strategy at a public state comes from the re-solved subgame that contains the state, or from stored play
(`spewy.bot.stored_play`): the blueprint, and where the blueprint has no strategy either, pot odds. A bet that the
blueprint's tree lacks is translated into bets of the tree, and the hand continues at their lines.

**Subgames begin with a round.** If a player makes a bet that the round's subgame lacks, the round is solved again from
its beginning, in a tree with all bets that were really made in the round. Both ranges at the root are those with which
the players have entered the round. The decisions between the root and the bet are treated in two ways:

- *Kept*: decisions of a player who has made only bets that the bot's strategy also makes; at the table this player is
  the bot. These decisions are facts that no new solve can change. So they are locked to the strategy that was played,
  for all hands (`Subgame.kept`). (Pluribus locks its decisions only for the hand that it holds, and solves them again
  for all other hands. Then its range after the bet differs from the range with which it really got there. Locks cost
  nothing.)
- *Free*: decisions of a player who has made a bet that the bot's strategy lacks. As this player does not follow the
  strategy, the player's earlier decisions in the round need not follow it either. The solve finds the decisions with
  which the player wins most, from the beginning of the round on.

So the bot answers the bet as if it came from a range with which the opponent could really have arrived at the bet. The
result is no equilibrium of the whole round, because the bot's kept decisions were made without the bet in mind. But a
bot that learns of a bet only when it is made can do no more. `docs/research/re-solving.md` compares this method with
translated bets, and with subgames that begin at the bet.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from buckets.cards import blocked
from solvers.tree import Floats
from spewy.bot.bet_translation import translations
from spewy.bot.bot import Answer
from spewy.bot.options import Method, Resolve
from spewy.bot.resolving.builder import Root, add_chips
from spewy.bot.resolving.preflop import last_raiser, rounded
from spewy.bot.resolving.subgame import (
    BEFORE,
    HandContext,
    PreflopSubgame,
    QuickSubgame,
    SampledSubgame,
    Subgame,
)
from spewy.bot.stored_play import PublicState, Step, StoredLine, StoredPlay, range_after_action
from spewy.errors import InputError
from spewy.game.hand import Hand
from spewy.game.treeconfig import may_donk

LOG = logging.getLogger(__name__)


class Beliefs:
    """The public states of one hand, with both players' ranges and strategies."""

    def __init__(self, context: HandContext) -> None:
        self._context, self._blueprint, self._options = context, context.blueprint, context.options
        self._game, self.budget = context.blueprint.game, context.budget
        self._play = StoredPlay(context.blueprint, context.options.translation, context.seed)
        self._start = PublicState(
            Hand.start(self._game), (StoredLine(self._blueprint.node("")),), self._blueprint.config.antes
        )
        self._states: dict[tuple[str, tuple[int, ...]], PublicState] = {("", ()): self._start}

    def at(self, hand: Hand) -> PublicState:
        """Return the public state that a hand has reached, and start the time budget of a decision."""
        self.budget.start()
        state = self._start
        for t, actions in enumerate(hand.betting.rounds):
            cards = hand.board[len(state.hand.board) : self._game.board_sizes[t]]
            if cards:
                state = self.observe(state, cards)
            for action in actions:
                state = self.observe(state, action)
        return state

    def observe(self, state: PublicState, what: str | tuple[int, ...]) -> PublicState:
        """Return the state that follows a state, after an action or public cards."""
        hand = state.hand.apply(what) if isinstance(what, str) else state.hand.deal(what)
        key = hand.betting.line, hand.board
        if key not in self._states:
            after = (
                self._after_action(hand, state, what) if isinstance(what, str) else _after_cards(hand, state)
            )
            if hand.to_act is not None and self._begins_subgame(after):
                after.subgame = self._subgame(after) or after.subgame
            self._states[key] = after
        return self._states[key]

    def range(self, state: PublicState, player: int) -> Floats:
        """Return a player's range at a public state, ``[hand of the deck]``."""
        path: list[PublicState] = []
        each: PublicState | None = state
        while each is not None and player not in each.ranges:
            path.append(each)
            each = each.before
        for each in reversed(path):
            each.ranges[player] = self._range(each, player)
        return state.ranges[player]

    def decide(self, state: PublicState) -> Answer:
        """Return the strategy of the player to act; solve the subgame that contains the state unless it is solved."""
        subgame = state.subgame
        while subgame is not None and state.answer is None:
            if subgame.can_answer(state.betting, state.to_act):
                self._enter(subgame)
                state.answer = subgame.answer(state.betting, state.hand.board)
            subgame = subgame.outer
        if state.answer is None and state.subgame is not None and self._has_nothing(state):
            with self.budget.unlimited():
                self._enter(state.subgame)
                state.answer = state.subgame.late_answer(state.betting, state.hand.board)
        if state.answer is None:
            state.answer = self._play.answer(state, lambda player: self.range(state, player))
        return state.answer

    def actions(self, state: PublicState) -> Sequence[str]:
        """Return the actions that the bot's strategy can take at a public state, as legal ACPC actions.

        They are the actions of the subgame's tree or the blueprint's tree, or else only fold, check and call.
        """
        if state.subgame is not None:
            return state.subgame.actions(state.betting)
        return self._play.actions(state)

    def best_values(self, state: PublicState, player: int) -> Floats:
        """Return a player's best-response values ``[hand of the deck]`` in the subgame that begins at a state."""
        if state.subgame is None or not state.begins_subgame or state.subgame.ends_with_round:
            raise InputError(f"line {state.betting.line!r}: no subgame to the end of the hand begins here")
        self._enter(state.subgame)
        return state.subgame.best_values(player)

    # Ranges

    def _range(self, state: PublicState, player: int) -> Floats:
        before = state.before
        if before is None:
            return self._blueprint.initial_range(player)
        reach = before.ranges[player]
        if state.action is None:
            return np.where(blocked(self._blueprint.hands, state.hand.board), 0.0, reach)
        for each in state.path(before):
            above, action = each.above, each.action
            assert above is not None
            assert action is not None
            if above.hand.to_act != player:
                continue
            answer = None
            subgame = state.subgame if state.is_solved_again else None
            if subgame is not None:
                self._enter(subgame)
                if subgame.line(above.betting) not in subgame.kept and subgame.can_answer(
                    above.betting, player
                ):
                    answer = subgame.answer(above.betting, above.hand.board)
            answer = answer or self.decide(above)
            found = translations(action, answer.actions, above.betting, self._options.translation)
            if found:
                frequencies: Floats = sum(often * answer.frequencies[i] for i, often in found)
                reach = range_after_action(reach, frequencies, self._blueprint.hands, each.hand.board)
        return reach

    def _kept(self, subgame: Subgame) -> dict[str, Floats]:
        """Return the frequencies of locked decisions by line; a player whose bet the bot's strategy lacks has none."""
        root = self._root(subgame)
        steps = [(each.above, each.action) for each in self._states[subgame.begun, subgame.board].path(root)]
        left = {above.hand.to_act for above, action in steps if above and not self._makes(above, action)}
        out = {}
        for above, action in steps:
            if above is not None and action is not None and above.hand.to_act not in left:
                answer = self.decide(above)
                if action in answer.actions:
                    actions = subgame.actions(above.betting)
                    out[subgame.line(above.betting)] = answer.among(actions, action, above.betting)
        return out

    def _makes(self, state: PublicState, action: str | None) -> bool:
        """Whether the bot's strategy has an action; the subgame is solved only for an action of the blueprint alone."""
        if state.subgame is not None:
            if action in state.subgame.actions(state.betting):
                return True
            if action not in self._play.actions(state):
                return False
        return action in self.decide(state).actions

    # Subgames

    def _enter(self, subgame: Subgame) -> None:
        """Set a subgame's root ranges and locked decisions unless they are set, first those of enclosing subgames."""
        around: list[Subgame] = []
        inner: Subgame | None = subgame
        while inner is not None and inner.ranges is None:
            around.append(inner)
            inner = inner.outer
        for each in reversed(around):
            root = self._root(each)
            with self.budget.limited(BEFORE):
                each.kept = self._kept(each)
                each.ranges = self.range(root, 0), self.range(root, 1)

    def _root(self, subgame: Subgame) -> PublicState:
        return self._states[subgame.betting.line, subgame.board]

    # Public states

    def _after_action(self, hand: Hand, above: PublicState, action: str) -> PublicState:
        before, betting = above.betting, hand.betting
        lines = self._play.after(above, betting, action)
        state = PublicState(hand, lines, above.put_in_before, above.donk, above, action, above.subgame)
        if betting.round > before.round:
            state.put_in_before, state.donk = max(betting.spent), may_donk(before, betting)
            if before.round == 0 and betting.to_act is not None:
                state.lines = self._entered(state) or state.lines
        lacked = action[0] == "r" and action not in self.actions(above)
        if lacked and self._when(before.round) != "never":
            state.subgame = self._subgame(state) or state.subgame
        if state.subgame is not None and betting.to_act is not None and not state.subgame.covers(betting):
            state.subgame = None
        return state

    def _begins_subgame(self, state: PublicState) -> bool:
        """Whether the bot should re-solve a subgame that begins at a state.

        No re-solved subgame begins inside another, whose solve has a row for each hand and accurate ranges already.
        """
        betting = state.betting
        when = self._when(betting.round)
        if state.subgame is None and when == "never":
            return self._is_lost(state)
        if state.subgame is not None:
            return False
        if when == "always" and not betting.rounds[-1]:
            return True
        node = self._play.node(state)
        return node is None or node.put_in != betting.spent or not self._play.is_readable(state)

    def _is_lost(self, state: PublicState) -> bool:
        """Whether a state after the first round has no stored strategy, in a bot that may re-solve the first round."""
        can = self._context.preflop is not None and state.betting.round > 0
        return can and self._has_nothing(state)

    def _has_nothing(self, state: PublicState) -> bool:
        """Whether the most probable stored line has no decision here, so that stored play uses pot odds."""
        return state.lines[0].node is None and not state.lines[0].calls

    def _when(self, t: int) -> Resolve:
        if t == 0:
            return "never" if self._context.preflop is None else "off-tree"
        return self._options.resolve if self._options.method(t, self._game.num_rounds) else "never"

    def _entered(self, state: PublicState) -> tuple[StoredLine, ...]:
        """Return the stored lines that follow a re-solved first round; empty if the first round was not re-solved."""
        preflop, above = self._context.preflop, state.above
        assert above is not None
        if preflop is None or above.subgame is None:
            return ()
        raiser = last_raiser(self._game, state.betting.rounds[0])
        return tuple(
            StoredLine(node, False, often, steps=tuple(Step(i, None, often) for i in range(len(above.lines))))
            for node, often in preflop.values.played(state.put_in_before, raiser)
        )

    def _subgame(self, state: PublicState) -> Subgame | None:
        """Make the subgame of a state's round, with all bets made in the round; None if no tree has this betting."""
        start, stack = state.round_start, self._blueprint.smallest_stack
        betting, chips = start.betting, start.put_in_before
        if betting.round == 0:
            return self._preflop_subgame(state)
        root = Root(betting.round, chips, None if stack is None else stack - chips, donk=start.donk)
        made = [add_chips(action, -chips) for action in state.betting.rounds[-1]]
        options = self._options
        method = options.method(betting.round, self._game.num_rounds) or "sampled"
        try:
            root = self._context.builder.fitting(
                root, made, options.menu, options.expected_seconds, sampled=method != "exact"
            )
        except InputError as error:
            LOG.warning("line %r: no subgame can begin here: %s", state.betting.line, error)
            self._context.tally.failed(state.betting.line, error)
            return None
        outer, line = state.subgame, start.blueprint_line
        kinds: dict[Method, type[Subgame]] = {
            "sampled": SampledSubgame,
            "quick": QuickSubgame,
            "exact": Subgame,
        }
        return kinds[method](self._context, root, betting, state.hand.board, line, outer, state.betting.line)

    def _preflop_subgame(self, state: PublicState) -> Subgame | None:
        start, made = self._start.betting, state.betting.rounds[0]
        try:
            root = self._context.builder.with_bets(Root(0, 0, None), rounded(made, start))
            return PreflopSubgame(self._context, root, start, made, state.subgame)
        except InputError as error:
            LOG.warning("line %r: the round cannot be solved again: %s", state.betting.line, error)
            self._context.tally.failed(state.betting.line, error)
            return None


def _after_cards(hand: Hand, above: PublicState) -> PublicState:
    # ``weights`` stay those of the state above: a card does not change them
    state = replace(above, hand=hand, above=above, action=None, ranges={}, answer=None, stored=None)
    if state.subgame is not None and state.subgame.ends_with_round:
        state.subgame = None
    return state
