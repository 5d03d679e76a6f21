"""Flat Monte Carlo search for any game: play random games after each action, from sampled possible states.

Upper confidence bounds decide which action the next random game follows (P. Auer, N. Cesa-Bianchi, P. Fischer,
"Finite-time Analysis of the Multiarmed Bandit Problem", 2002). Among actions of similar value the search prefers the
action that reveals most about the state, for example a sense action in blind chess.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator
from itertools import product
from random import Random

from spewy.competitions.higc.session import Agent
from spewy.competitions.higc.spiel import SpielGame, SpielState, drawn_action, legal, with_actions
from spewy.competitions.higc.text import State
from spewy.errors import InputError

DEPTH = 60
"""Largest number of actions in a random game; a longer game counts as a draw."""
WIDTH = 0.7
"""Width of the confidence bounds, as a share of the largest gain in the game."""
BIT_VALUE, BIT_STATES = 0.02, 60
"""Value of one bit of information as a share of the largest gain; number of sampled states that estimate the bits."""
UPDATE_SHARE, LEAST_UPDATE = 0.25, 0.2
"""Time limit for updating the possible states: a share of the answer's time, but at least this many seconds."""
MOST = 150
"""Largest number of states in the sample."""
SPARE = 2
"""Number of states to look for that agree with the referee's, in multiples of `MOST`; the sample is drawn from them."""
MOST_OTHERS = 1000
"""Largest number of states to keep that differ from the referee's; the nearest of them are used if no state agrees."""


class SearchAgent(Agent):
    """Plays one seat of any game by search, for about ``seconds`` at each answer."""

    def __init__(self, game: SpielGame, seat: int, seconds: float, seed: int) -> None:
        self._game, self._seat, self._seconds = game, seat, seconds
        self._rng = Random(seed)
        self._scale: float = max(abs(game.game.max_utility()), abs(game.game.min_utility()), 1e-9)
        self.new_match()

    def new_match(self) -> None:
        self._particles = Particles(
            self._game, self._seat, self._rng, max(UPDATE_SHARE * self._seconds, LEAST_UPDATE)
        )

    def see(self, state: State) -> None:
        self._particles.see(state)

    def act(self, legal: tuple[int, ...]) -> int:
        states = self._particles.states
        if not states:
            raise InputError("no known state of the game agrees with what the referee has shown")
        action = legal[0] if len(legal) == 1 else self._best(states, legal)
        self._particles.did = action
        return action

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
        """Return the result of a random game after an action as a share of the largest gain; 0 for illegal actions."""
        child = state.clone()
        if not self._applied(child, action):
            return 0.0
        return play_out(child, self._seat, self._rng, DEPTH) / self._scale

    def _applied(self, state: SpielState, action: int) -> bool:
        """Apply an action; if both move at once, the opponent moves at random. Return False for an illegal action."""
        if action not in legal(state, self._seat):
            return False
        other = legal(state, 1 - self._seat)
        pair: list[int | None] = [None, None]
        pair[self._seat], pair[1 - self._seat] = action, self._rng.choice(other) if other else None
        with_actions(state, pair)
        return True

    def _information(self, states: list[SpielState], actions: tuple[int, ...]) -> dict[int, float]:
        """Estimate for each action the entropy, in bits, of what the player sees afterwards."""
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


class Particles:
    """A particle filter: a sample of the states in which a match may be, given what one player has seen.

    After each step of the match, the filter follows the possible actions of chance and of the other player from each
    state of the sample. It keeps the states that look to the player like the state that the referee shows. It assumes
    that the other player acts at random. If no state agrees, it keeps the states that differ least.

    Args:
        seconds: time limit for one update of the sample.

    Attributes:
        did: the player's own action at the last state; None: the player was not to act.
    """

    def __init__(self, game: SpielGame, seat: int, rng: Random, seconds: float) -> None:
        self._game, self._seat, self._rng, self._seconds = game, seat, rng, seconds
        self.did: int | None = None
        self._begun = False
        self.states: list[SpielState] = [game.start()]

    def see(self, state: State) -> None:
        if self._begun:
            self.states = self._following(state)
        else:
            self.states = [each for each in self.states if self._shows(each, state)]
        self._begun, self.did = True, None

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
        if self.did is not None:
            menus[self._seat] = [self.did] if self.did in menus[self._seat] else []
        self._rng.shuffle(menus[1 - self._seat])
        for actions in product(*menus):
            child = state.clone()
            with_actions(child, actions)
            yield child

    def _shows(self, state: SpielState, seen: State) -> bool:
        return self._game.seen(state, self._seat) == seen


def play_out(state: SpielState, player: int, rng: Random, most: int) -> float:
    """Play a random game from a state, and return a player's result; 0 if ``most`` actions do not end the game."""
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
    """Return the number of tensor bytes that differ, plus 1,000 if the legal actions differ."""
    pairs = zip(b"".join(first.tensors), b"".join(second.tensors), strict=False)
    return sum(one != two for one, two in pairs) + 1000 * (first.legal != second.legal)
