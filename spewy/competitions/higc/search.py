"""Flat Monte Carlo search for any game: random games after each action, from sampled possible states.

Upper confidence bounds distribute the games among actions (P. Auer, N. Cesa-Bianchi, P. Fischer, "Finite-time Analysis
of the Multiarmed Bandit Problem", 2002). Among actions of similar value the search prefers the action whose outcome
tells most about the state, such as a sense in blind chess.
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
"""Largest number of steps in a random game; a longer game counts as a draw."""
WIDTH = 0.7
"""Width of the confidence bounds, as a share of the game's largest gain."""
TELLING, TOLD_BY = 0.02, 60
"""Value of a bit of information, as a share of the game's largest gain, and number of states for its estimate."""
SEEING, LEAST_SEEING = 0.25, 0.2
"""Time limit for following a state: a share of the time for an answer, and the smallest number of seconds."""


class SearchAgent:
    """Plays one seat; a `spewy.competitions.higc.session.Agent`.

    Args:
        game: the game.
        seat: number of the player.
        seconds: approximate time for an answer.
        seed: seed of all random choices.
    """

    def __init__(self, game: SpielGame, seat: int, seconds: float, seed: int) -> None:
        self._game, self._seat, self._seconds = game, seat, seconds
        self._rng = Random(seed)
        self._scale: float = max(abs(game.game.max_utility()), abs(game.game.min_utility()), 1e-9)
        self.new_match()

    def new_match(self) -> None:
        """Begin a match."""
        self._particles = Particles(
            self._game, self._seat, self._rng, max(SEEING * self._seconds, LEAST_SEEING)
        )

    def see(self, state: State) -> None:
        """Process the next state."""
        self._particles.see(state)

    def act(self, legal: tuple[int, ...]) -> int:
        """Choose a legal action.

        Raises:
            InputError: no known state fits the states that were seen.
        """
        states = self._particles.states
        if not states:
            raise InputError("state: expected one that shows all that was seen, found none")
        action = legal[0] if len(legal) == 1 else self._best(states, legal)
        self._particles.did(action)
        return action

    def close(self) -> None:
        """Release nothing."""

    def _best(self, states: list[SpielState], actions: tuple[int, ...]) -> int:
        deadline = time.monotonic() + self._seconds
        arms = {action: _Arm() for action in self._rng.sample(actions, len(actions))}
        played = 0
        while time.monotonic() < deadline:
            action = max(arms, key=lambda each: arms[each].bound(played))
            arms[action].add(self._game_after(self._rng.choice(states), action))
            played += 1
        bits = self._told(states, actions)
        return max(arms, key=lambda each: arms[each].mean + TELLING * bits[each])

    def _game_after(self, state: SpielState, action: int) -> float:
        """Return of a random game after an action, as a share of the largest gain; 0 if the action is illegal."""
        child = state.clone()
        if not self._applied(child, action):
            return 0.0
        return play_out(child, self._seat, self._rng, DEPTH) / self._scale

    def _applied(self, state: SpielState, action: int) -> bool:
        """Apply an action, with a random action of the opponent at a simultaneous node; False if it is illegal."""
        if action not in legal(state, self._seat):
            return False
        other = legal(state, 1 - self._seat)
        pair: list[int | None] = [None, None]
        pair[self._seat], pair[1 - self._seat] = action, self._rng.choice(other) if other else None
        with_actions(state, pair)
        return True

    def _told(self, states: list[SpielState], actions: tuple[int, ...]) -> dict[int, float]:
        """Entropy in bits of the next observation after each action."""
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
    """An action with the returns of the random games after it."""

    def __init__(self) -> None:
        self._n, self._sum = 0, 0.0

    @property
    def mean(self) -> float:
        return self._sum / self._n if self._n else 0.0

    def bound(self, played: int) -> float:
        """Upper confidence bound of the action's value."""
        return self.mean + WIDTH * math.sqrt(math.log(played + 1) / self._n) if self._n else math.inf

    def add(self, value: float) -> None:
        self._n += 1
        self._sum += value
