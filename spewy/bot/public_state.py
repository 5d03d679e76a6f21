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
                number = translate_action(action, others, betting)
                action = "c" if number is None else others[number]
            out[actions.index(action)] += frequencies
        total = out.sum(axis=0)
        shares: Floats = np.divide(out, total, out=np.full_like(out, np.nan), where=total > 0)
        return shares


@dataclass(frozen=True)
class Step:
    """A step in the blueprint's tree: from a line before an action at the table to a line after the action.

    Attributes:
        above: index of the line before the action, in the `PublicState.lines` of the state before the action.
        action: index of the translated action at the decision of that line; None: the line has no decision.
        probability: probability of the translation.
        made: whether the line's decision has exactly the action that was made.
    """

    above: int
    action: int | None
    probability: float
    made: bool = False


@dataclass(frozen=True)
class StoredLine:
    """A line of the blueprint's tree that stands for the betting of a hand.

    Attributes:
        line: the line; None if the blueprint's tree has no decision here.
        exact: whether the line is the actual betting, without translated bets.
        probability: probability that all translations of the hand lead to this line.
        calls: whether the last bet was translated into a check or call that ends the round. Then the player to act
            calls, and ``line`` begins the next round.
        steps: the lines before the last action from which the action leads here.
    """

    line: str | None
    exact: bool = True
    probability: float = 1.0
    calls: bool = False
    steps: tuple[Step, ...] = ()


@dataclass(eq=False)
class PublicState:
    """A public state of the hand.

    Attributes:
        hand: betting and board.
        lines: the lines of this state in the betting tree of the blueprint (the stored strategy), the most probable
            first; several if a bet was translated into two bets.
        put_in_before: chips that each player had put in before the round.
        donk: whether the player who starts the round called the last bet of the previous round, so that a bet would be
            a donk bet.
        above: the previous public state; None at the start of the hand.
        action: the action that led to this state; None after cards, and at the start of the hand.
        subgame: the subgame that contains this state; None if no subgame does.
        ranges: cached range of each player, by player; a range is computed when it is needed.
        answer: cached strategy of the player to act; None before it is needed.
        stored: cached stored strategy of the player to act at each of the lines; None: not read yet.
        weights: cached weights of the lines, by player (`spewy.bot.stored_play.StoredPlay.weights`).
    """

    hand: Hand
    lines: tuple[StoredLine, ...]
    put_in_before: int
    donk: bool = False
    above: PublicState | None = None
    action: str | None = None
    subgame: Subgame | None = None
    ranges: dict[int, Floats] = field(default_factory=dict)
    answer: Answer | None = None
    stored: tuple[Floats | None, ...] | None = None
    weights: dict[int, Floats] = field(default_factory=dict)

    @property
    def blueprint_line(self) -> str | None:
        """The most probable line of this state in the blueprint's tree; None if that line has no decision here."""
        main = self.lines[0]
        return None if main.calls else main.line

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


def mixed_answer(answers: Sequence[Answer], weights: Sequence[Floats], source: Source) -> Answer:
    """Mix strategies of the same decision, hand by hand.

    Args:
        answers: the strategies; their actions may differ.
        weights: the weight of each strategy, ``[hand of the deck]``; a hand's weights add up to 1.
        source: source of the mixed strategy.
    """
    actions = [action for answer in answers for action in answer.actions]
    parts = [answer.frequencies * weight for answer, weight in zip(answers, weights, strict=True)]
    return merged_answer(actions, np.concatenate(parts), source)


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
