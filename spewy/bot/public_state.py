"""Public states of a hand, the strategies that are played there, and updates of ranges by actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from buckets.cards import blocked
from solvers.tree import Floats, Ints
from spewy.bot.bet_translation import translate_action
from spewy.bot.resolving.subgame import Subgame
from spewy.bot.tally import Source
from spewy.game.betting import Betting
from spewy.game.hand import Hand


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

    def among(self, actions: Sequence[str], taken: str, betting: Betting) -> Floats:
        """Translate the strategy to the actions that another betting tree has at the same decision.

        The action that was played keeps its frequency. If the other tree lacks a bet of this strategy, the frequency of
        the bet goes to the nearest bet there that was not played, or to the check or call if there is none.

        Args:
            actions: legal actions in the other tree; the action that was played is one of them.
            taken: the action that was played.
            betting: the betting before the decision.

        Returns:
            ``[action, hand of the deck]``; NaN for hands without frequencies.
        """
        others = [action for action in actions if action != taken]
        out = np.zeros((len(actions), self.frequencies.shape[1]))
        for action, frequencies in zip(self.actions, self.frequencies, strict=True):
            if action not in actions:
                number = translate_action(action, others, betting, 0, "likelier")
                action = "c" if number is None else others[number]
            out[actions.index(action)] += frequencies
        total = out.sum(axis=0)
        shares: Floats = np.divide(out, total, out=np.full_like(out, np.nan), where=total > 0)
        return shares


@dataclass(eq=False)
class PublicState:
    """A public state of the hand.

    Attributes:
        hand: betting and board.
        blueprint_line: line of this state in the betting tree of the blueprint (the stored strategy); None if the tree
            has no line for the betting.
        put_in_before: chips that each player had put in before the round.
        exact: whether the blueprint's line is the actual betting, without translated bets.
        donk: whether the player who starts the round called the last bet of the previous round, so that a bet would be
            a donk bet.
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
    def round_start(self) -> PublicState:
        """The state at which this state's betting round begins."""
        state = self
        while state.betting.rounds[-1]:
            assert state.above is not None
            state = state.above
        return state

    def path(self, root: PublicState) -> list[PublicState]:
        """List the states after an earlier state ``root``, up to and including this state."""
        out: list[PublicState] = []
        state = self
        while state is not root:
            out.append(state)
            assert state.above is not None
            state = state.above
        return out[::-1]

    @property
    def begins_subgame(self) -> bool:
        """Whether the subgame that contains this state also begins at this state."""
        return self.subgame is not None and self.subgame.betting is self.betting


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


def merged_answer(actions: Sequence[str], frequencies: Floats, source: Source) -> Answer:
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
