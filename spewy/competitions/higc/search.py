"""Flat Monte Carlo search for any game: play random games after each action, from sampled possible states.

Upper confidence bounds decide which action the next random game follows (P. Auer, N. Cesa-Bianchi, P. Fischer,
"Finite-time Analysis of the Multiarmed Bandit Problem", 2002). Among actions of similar value the search prefers the
action that reveals most about the state, for example a sense action in blind chess.
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
"""Largest number of actions in a random game; a longer game counts as a draw."""
WIDTH = 0.7
"""Width of the confidence bounds, as a share of the largest gain in the game."""
BIT_VALUE, BIT_STATES = 0.02, 60
"""Value of one bit of information as a share of the largest gain, and number of states for estimating bits."""
UPDATE_SHARE, LEAST_UPDATE = 0.25, 0.2
"""Time limit for updating the possible states: a share of the answer's time, but at least this many seconds."""


class SearchAgent:
    """Plays one seat of any game by search; implements `spewy.competitions.higc.session.Agent`.

    Args:
        game: the game to play.
        seat: number of the player.
        seconds: approximate seconds for an answer.
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
            self._game, self._seat, self._rng, max(UPDATE_SHARE * self._seconds, LEAST_UPDATE)
        )

    def see(self, state: State) -> None:
        """Update the possible states by the state that the referee shows."""
        self._particles.see(state)

    def act(self, legal: tuple[int, ...]) -> int:
        """Choose a legal action.

        Raises:
            InputError: no known state agrees with what the referee has shown.
        """
        states = self._particles.states
        if not states:
            raise InputError("no known state of the game agrees with what the referee has shown")
        action = legal[0] if len(legal) == 1 else self._best(states, legal)
        self._particles.did(action)
        return action

    def close(self) -> None:
        """Do nothing; the agent holds no files."""

    def _best(self, states: list[SpielState], actions: tuple[int, ...]) -> int:
        deadline = time.monotonic() + self._seconds
        arms = {action: _Arm() for action in self._rng.sample(actions, len(actions))}
        played = 0
        while time.monotonic() < deadline:
            action = max(arms, key=lambda each: arms[each].bound(played))
            arms[action].add(self._game_after(self._rng.choice(states), action))
            played += 1
        bits = self._information(states, actions)
        return max(arms, key=lambda each: arms[each].mean + BIT_VALUE * bits[each])

    def _game_after(self, state: SpielState, action: int) -> float:
        """Play a random game after an action, and return its result as a share of the largest gain.

        The result is 0 if the action is illegal in the state.
        """
        child = state.clone()
        if not self._applied(child, action):
            return 0.0
        return play_out(child, self._seat, self._rng, DEPTH) / self._scale

    def _applied(self, state: SpielState, action: int) -> bool:
        """Apply an action to a state; return False if the action is illegal.

        If both players move at once, the opponent moves at random.
        """
        if action not in legal(state, self._seat):
            return False
        other = legal(state, 1 - self._seat)
        pair: list[int | None] = [None, None]
        pair[self._seat], pair[1 - self._seat] = action, self._rng.choice(other) if other else None
        with_actions(state, pair)
        return True

    def _information(self, states: list[SpielState], actions: tuple[int, ...]) -> dict[int, float]:
        """Estimate for each action the entropy, in bits, of the state that the player sees after the action."""
        sampled = self._rng.sample(states, min(BIT_STATES, len(states)))
        deadline, out = time.monotonic() + UPDATE_SHARE * self._seconds, dict.fromkeys(actions, 0.0)
        for action in actions:
            seen = Counter[State | None]()
            for state in sampled:
                child = state.clone()
                self._applied(child, action)
                seen[None if child.is_terminal() else self._game.seen(child, self._seat)] += 1
            out[action] = -sum(n / len(sampled) * math.log2(n / len(sampled)) for n in seen.values())
            if time.monotonic() > deadline:
                break
        return out


class _Arm:
    """An action, with the number and the mean result of the random games after it."""

    def __init__(self) -> None:
        self._n, self._sum = 0, 0.0

    @property
    def mean(self) -> float:
        return self._sum / self._n if self._n else 0.0

    def bound(self, played: int) -> float:
        """Return the upper confidence bound of the action's value, after ``played`` random games in all."""
        return self.mean + WIDTH * math.sqrt(math.log(played + 1) / self._n) if self._n else math.inf

    def add(self, value: float) -> None:
        self._n += 1
        self._sum += value
