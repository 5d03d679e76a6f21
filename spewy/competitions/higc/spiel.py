"""OpenSpiel's games by name, and the tensors and legal actions that a referee shows.

OpenSpiel is an optional dependency, so functions import it when they use it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from solvers.tree import Floats
from spewy.competitions.higc.text import Dialect, State, compressed, plain
from spewy.errors import InputError, shown
from spewy.look.openspiel import require_spiel

SpielState = Any
"""A state of OpenSpiel, which has no type annotations."""


class SpielGame:
    """A two-player game of OpenSpiel.

    Args:
        name: OpenSpiel's name of the game with its parameters.
        dialect: dialect of the tensors.

    Raises:
        InputError: there is no such game, or a referee cannot show it.
        MissingError: OpenSpiel is not installed.
    """

    def __init__(self, name: str, dialect: Dialect = "rules") -> None:
        require_spiel(f"game {shown(name)}")
        import pyspiel

        self.name, self.dialect = name, dialect
        if re.sub(r"\W.*", "", name, flags=re.DOTALL) not in pyspiel.registered_names():
            raise InputError(f"game {shown(name)}: expected the name of one of OpenSpiel's games, found none")
        try:
            self.game = pyspiel.load_game(name)
        except (RuntimeError, ValueError) as error:  # OpenSpiel's errors are runtime errors
            raise InputError(
                f"game {shown(name)}: expected one of OpenSpiel's, found: {shown(str(error))}"
            ) from None
        kind = self.game.get_type()
        if self.game.num_players() != 2:
            raise InputError(f"game {shown(name)}: expected two players, found {self.game.num_players()}")
        if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
            raise InputError(f"game {shown(name)}: expected chance that can be listed, found it sampled")
        self._observers = self._made()

    @cached_property
    def is_zero_sum(self) -> bool:
        """Whether the game is a zero-sum game."""
        import pyspiel

        return bool(self.game.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM)

    def start(self) -> SpielState:
        """The initial state."""
        return self.game.new_initial_state()

    def tensors(self, state: SpielState, player: int) -> list[Floats]:
        """Copies of the tensors that show a state to a player."""
        found = []
        for observer in self._observers:
            observer.set_from(state, player)
            found.append(observer.tensor.copy())
        return found

    def seen(self, state: SpielState, player: int) -> State:
        """Make the state in the form that is sent to a player."""
        pack = plain if self.dialect == "rules" else compressed
        return State(tuple(pack(tensor) for tensor in self.tensors(state, player)), legal(state, player))

    def _made(self) -> list[Any]:
        import pyspiel
        from open_spiel.python.observation import make_observation

        kinds: Sequence[Any] = (None,)
        if self.dialect == "older":
            private = pyspiel.PrivateInfoType
            kinds = [
                pyspiel.IIGObservationType(public_info=public, perfect_recall=False, private_info=which)
                for public, which in ((True, private.NONE), (False, private.SINGLE_PLAYER))
            ]
        try:
            found = [make_observation(self.game, *(() if kind is None else (kind,))) for kind in kinds]
        except (RuntimeError, ValueError):
            found = [None]
        if any(observer is None or observer.tensor is None for observer in found):
            raise InputError(
                f"game {shown(self.name)}: expected tensors of the {self.dialect} dialect, found none"
            )
        return found


def legal(state: SpielState, player: int) -> tuple[int, ...]:
    """Legal actions of a player; empty if the player does not act."""
    if state.is_terminal() or state.is_chance_node():
        return ()
    if not state.is_simultaneous_node() and state.current_player() != player:
        return ()
    return tuple(state.legal_actions(player))


def drawn_action(outcomes: Sequence[tuple[int, float]], draw: float) -> int:
    """The outcome of chance for a number from [0, 1)."""
    cuts = np.cumsum([share for _, share in outcomes])
    place = int(np.searchsorted(cuts, draw * cuts[-1], side="right"))
    return int(outcomes[min(place, len(outcomes) - 1)][0])


def with_actions(state: SpielState, actions: Sequence[int | None]) -> None:
    """Apply the actions of the players to act; at simultaneous nodes, a player without an action plays 0."""
    if state.is_simultaneous_node():
        state.apply_actions([0 if action is None else action for action in actions])
    else:
        action = actions[state.current_player()]
        assert action is not None
        state.apply_action(action)
