"""A player for any game: for each action, random games from states that the match may be in (flat Monte Carlo).

Games are given to actions by upper confidence bounds (P. Auer, N. Cesa-Bianchi, P. Fischer, "Finite-time Analysis of
the Multiarmed Bandit Problem", 2002). Among actions of about the same worth that is taken whose outcome tells most
about the state: what a sense of blind chess is for.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from random import Random

from spewy.competitions.higc.particles import Particles, play_out
from spewy.competitions.higc.spiel import SpielGame, SpielState, legal, with_actions
from spewy.competitions.higc.text import State
from spewy.errors import InputError

DEPTH = 60
"""Steps of a random game; after them it counts as drawn."""
WIDTH = 0.7
"""Of the confidence bounds, in the game's largest gain."""
TELLING, TOLD_BY = 0.02, 60
"""Worth of a bit that an action tells, in the game's largest gain; by how many states it is estimated."""
SEEING, LEAST_SEEING = 0.25, 0.2
"""Share of the time for an answer that one state may take to be followed, and seconds that it may always."""


class SearchAgent:
    """Plays one seat; a `spewy.competitions.higc.session.Agent`.

    Args:
        game: what is played.
        seat: which player it is.
        seconds: for an answer, about.
        seed: of all that is drawn.
    """

    def __init__(self, game: SpielGame, seat: int, seconds: float, seed: int) -> None:
        self._game, self._seat, self._seconds = game, seat, seconds
        self._rng = Random(seed)
        self._scale: float = max(abs(game.game.max_utility()), abs(game.game.min_utility()), 1e-9)
        self.new_match()

    def new_match(self) -> None:
        """A match begins."""
        self._particles = Particles(
            self._game, self._seat, self._rng, max(SEEING * self._seconds, LEAST_SEEING)
        )

    def see(self, state: State) -> None:
        """The next state."""
        self._particles.see(state)

    def act(self, legal: tuple[int, ...]) -> int:
        """A legal action.

        Raises:
            InputError: no state is known that shows what was seen.
        """
        states = self._particles.states
        if not states:
            raise InputError("state: expected one that shows all that was seen, found none")
        action = legal[0] if len(legal) == 1 else self._best(states, legal)
        self._particles.did(action)
        return action

    def close(self) -> None:
        """Give back nothing."""

    def _best(self, states: list[SpielState], actions: tuple[int, ...]) -> int:
        deadline = time.monotonic() + self._seconds
        arms = {action: _Arm() for action in self._rng.sample(actions, len(actions))}
        played = 0
        while time.monotonic() < deadline:
            action = max(arms, key=lambda each: arms[each].bound(played))
            arms[action].add(self._game_after(self._rng.choice(states), action))
            played += 1
        told = self._told(states, actions)
        return max(arms, key=lambda each: arms[each].mean + TELLING * told[each])

    def _game_after(self, state: SpielState, action: int) -> float:
        """What a random game after an action brings, in the largest gain; nothing where the state lacks the action."""
        child = state.clone()
        if not self._applied(child, action):
            return 0.0
        return play_out(child, self._seat, self._rng, DEPTH) / self._scale

    def _applied(self, state: SpielState, action: int) -> bool:
        """Apply an action, and one of the other player's where both move at once; whether it is legal."""
        if action not in legal(state, self._seat):
            return False
        other = legal(state, 1 - self._seat)
        pair: list[int | None] = [None, None]
        pair[self._seat], pair[1 - self._seat] = action, self._rng.choice(other) if other else None
        with_actions(state, pair)
        return True

    def _told(self, states: list[SpielState], actions: tuple[int, ...]) -> dict[int, float]:
        """Bits of what is seen after each action."""
        some = self._rng.sample(states, min(TOLD_BY, len(states)))
        deadline, out = time.monotonic() + SEEING * self._seconds, dict.fromkeys(actions, 0.0)
        for action in actions:
            seen = Counter[State | None]()
            for state in some:
                child = state.clone()
                self._applied(child, action)
                seen[None if child.is_terminal() else self._game.seen(child, self._seat)] += 1
            out[action] = -sum(n / len(some) * math.log2(n / len(some)) for n in seen.values())
            if time.monotonic() > deadline:
                break
        return out


class _Arm:
    """An action and what games after it brought."""

    def __init__(self) -> None:
        self._n, self._sum = 0, 0.0

    @property
    def mean(self) -> float:
        return self._sum / self._n if self._n else 0.0

    def bound(self, played: int) -> float:
        """How good it may be."""
        return self.mean + WIDTH * math.sqrt(math.log(played + 1) / self._n) if self._n else math.inf

    def add(self, value: float) -> None:
        self._n += 1
        self._sum += value
