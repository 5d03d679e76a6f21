"""A particle filter: a sample of the states of a game that agree with everything a player has seen.

After each step of the match, the filter follows the possible actions of chance and of the other player from each state
of the sample. It keeps the states that look to the player like the state that the referee shows. It assumes that the
other player acts at random. If no state agrees, it keeps the states that differ least.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product
from random import Random

from spewy.competitions.higc.spiel import SpielGame, SpielState, drawn_action, legal, with_actions
from spewy.competitions.higc.text import State

MOST = 150
"""Largest number of states in the sample."""
SPARE = 2
"""Number of agreeing states to look for, in multiples of `MOST`; the sample is drawn from these states."""
MOST_OTHERS = 1000
"""Largest number of disagreeing states to keep; the nearest of them are used if no state agrees."""


class Particles:
    """A sample of the states in which a match may be, given what one player has seen.

    Args:
        game: the game that is played.
        seat: number of the player who sees the states of the match.
        rng: source of random numbers.
        seconds: time limit for one update of the sample.

    Attributes:
        states: the states of the sample.
    """

    def __init__(self, game: SpielGame, seat: int, rng: Random, seconds: float) -> None:
        self._game, self._seat, self._rng, self._seconds = game, seat, rng, seconds
        self._did: int | None = None
        self._begun = False
        self.states: list[SpielState] = [game.start()]

    def did(self, action: int) -> None:
        """Record the player's own action at the last state."""
        self._did = action

    def see(self, state: State) -> None:
        """Update the sample by the next state that the referee shows."""
        if self._begun:
            self.states = self._following(state)
        else:
            self.states = [each for each in self.states if self._shows(each, state)]
        self._begun, self._did = True, None

    def _following(self, state: State) -> list[SpielState]:
        deadline = time.monotonic() + self._seconds
        fitting, others = list[SpielState](), list[SpielState]()
        share = 1 + SPARE * MOST // max(len(self.states), 1)
        for before in self._rng.sample(self.states, len(self.states)):
            kept = 0
            for child in self._children(before):
                if child.is_terminal():
                    continue
                if self._shows(child, state):
                    fitting.append(child)
                    kept += 1
                elif len(others) < MOST_OTHERS:
                    others.append(child)
                if kept == share or time.monotonic() > deadline:
                    break
            if time.monotonic() > deadline and (fitting or others):
                break
        fitting = fitting or self._nearest(others, state)
        return self._rng.sample(fitting, min(MOST, len(fitting)))

    def _nearest(self, states: list[SpielState], seen: State) -> list[SpielState]:
        """Return the states that look to the player most like the state that the referee shows."""
        gaps = [_gap(self._game.seen(state, self._seat), seen) for state in states]
        return [state for state, gap in zip(states, gaps, strict=True) if gap == min(gaps)]

    def _children(self, state: SpielState) -> Iterator[SpielState]:
        """Yield the states that may follow a state, in random order."""
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            self._rng.shuffle(outcomes)
            for action, _ in outcomes:
                yield state.child(action)
            return
        menus: list[list[int | None]] = [list(legal(state, player)) or [None] for player in (0, 1)]
        if self._did is not None:
            menus[self._seat] = [self._did] if self._did in menus[self._seat] else []
        self._rng.shuffle(menus[1 - self._seat])
        for actions in product(*menus):
            child = state.clone()
            with_actions(child, actions)
            yield child

    def _shows(self, state: SpielState, seen: State) -> bool:
        return self._game.seen(state, self._seat) == seen


def play_out(state: SpielState, player: int, rng: Random, most: int) -> float:
    """Play a random game from a state, and return a player's result; 0 if the game takes too long.

    Args:
        state: the state, which changes.
        player: number of the player whose result is wanted.
        rng: source of random numbers.
        most: largest number of actions.
    """
    for _ in range(most):
        if state.is_terminal():
            return float(state.returns()[player])
        if state.is_chance_node():
            state.apply_action(drawn_action(state.chance_outcomes(), rng.random()))
        else:
            menus = [legal(state, each) for each in (0, 1)]
            with_actions(state, [rng.choice(menu) if menu else None for menu in menus])
    return float(state.returns()[player]) if state.is_terminal() else 0.0


def _gap(first: State, second: State) -> int:
    """Return how much two states differ for a player.

    Returns:
        The number of tensor bytes that differ, plus 1,000 if the legal actions differ.
    """
    pairs = zip(b"".join(first.tensors), b"".join(second.tensors), strict=False)
    return sum(one != two for one, two in pairs) + 1000 * (first.legal != second.legal)
