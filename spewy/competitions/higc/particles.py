"""States that a match may be in, as one player sees it: a sample of those that show all that it was shown.

From each state of the sample all that chance or the other player can do is tried, and what would have been seen
otherwise is dropped. The other player is taken to do anything as often. Where nothing is left, which a sample may come
to, the states stay that differ least from what was seen.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product
from random import Random

from spewy.competitions.higc.spiel import SpielGame, SpielState, drawn_action, legal, with_actions
from spewy.competitions.higc.text import State

MOST = 150
"""States that are kept."""
SPARE = 2
"""How many times more are looked for, to be drawn from."""
MOST_OTHERS = 1000
"""States that show something else and are remembered for the case that none shows what was seen."""


class Particles:
    """A sample of states.

    Args:
        game: what is played.
        seat: who sees.
        rng: of the sample.
        seconds: for one step.
    """

    def __init__(self, game: SpielGame, seat: int, rng: Random, seconds: float) -> None:
        self._game, self._seat, self._rng, self._seconds = game, seat, rng, seconds
        self._did: int | None = None
        self._begun = False
        self.states: list[SpielState] = [game.start()]

    def did(self, action: int) -> None:
        """The player itself acts at the state that was seen last."""
        self._did = action

    def see(self, state: State) -> None:
        """The next state of the match."""
        if self._begun:
            self.states = self._following(state)
        else:
            self.states = [each for each in self.states if self._shows(each, state)]
        self._begun, self._did = True, None

    def _following(self, state: State) -> list[SpielState]:
        deadline = time.monotonic() + self._seconds
        found, others = list[SpielState](), list[SpielState]()
        share = 1 + SPARE * MOST // max(len(self.states), 1)
        for before in self._rng.sample(self.states, len(self.states)):
            kept = 0
            for child in self._children(before):
                if child.is_terminal():
                    continue
                if self._shows(child, state):
                    found.append(child)
                    kept += 1
                elif len(others) < MOST_OTHERS:
                    others.append(child)
                if kept == share or time.monotonic() > deadline:
                    break
            if time.monotonic() > deadline and (found or others):
                break
        found = found or self._nearest(others, state)
        return self._rng.sample(found, min(MOST, len(found)))

    def _nearest(self, states: list[SpielState], seen: State) -> list[SpielState]:
        """Those that differ least from what was seen."""
        gaps = [_gap(self._game.seen(state, self._seat), seen) for state in states]
        return [state for state, gap in zip(states, gaps, strict=True) if gap == min(gaps)]

    def _children(self, state: SpielState) -> Iterator[SpielState]:
        """What may follow a state, in an order that is drawn."""
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
    """What a player wins where anybody does anything, from a state that changes; 0 after so many steps."""
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
    """In how many bytes two states look different, and whether the player may do other things."""
    pairs = zip(b"".join(first.tensors), b"".join(second.tensors), strict=False)
    return sum(one != two for one, two in pairs) + 1000 * (first.legal != second.legal)
