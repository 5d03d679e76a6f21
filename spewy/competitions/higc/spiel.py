"""OpenSpiel's games by name, and the tensors and legal actions that a referee shows to players.

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
"""A state of a game in OpenSpiel, which has no type annotations."""


class SpielGame:
    """A two-player game of OpenSpiel.

    Args:
        dialect: dialect of the protocol, which determines the tensors: see `spewy.competitions.higc.text`.
    """

    def __init__(self, name: str, dialect: Dialect = "rules") -> None:
        require_spiel(f"game {shown(name)}")
        import pyspiel

        self.name, self.dialect = name, dialect
        if re.sub(r"\W.*", "", name, flags=re.DOTALL) not in pyspiel.registered_names():
            raise InputError(f"game {shown(name)}: OpenSpiel does not have this game")
        try:
            self.game = pyspiel.load_game(name)
        except (RuntimeError, ValueError) as error:  # OpenSpiel's errors are runtime errors
            raise InputError(f"game {shown(name)}: OpenSpiel cannot load it: {shown(str(error))}") from None
        kind = self.game.get_type()
        if self.game.num_players() != 2:
            raise InputError(f"game {shown(name)}: expected two players, found {self.game.num_players()}")
        if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
            raise InputError(
                f"game {shown(name)}: OpenSpiel can only sample its chance outcomes, not list them"
            )
        self._observers = self._make_observers()

    @cached_property
    def is_zero_sum(self) -> bool:
        import pyspiel

        return bool(self.game.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM)

    def start(self) -> SpielState:
        return self.game.new_initial_state()

    def tensors(self, state: SpielState, player: int) -> list[Floats]:
        """Return copies of the tensors that show a state to a player."""
        tensors = []
        for observer in self._observers:
            observer.set_from(state, player)
            tensors.append(observer.tensor.copy())
        return tensors

    def seen(self, state: SpielState, player: int) -> State:
        """Return a state in the form in which the referee sends it to a player."""
        pack = plain if self.dialect == "rules" else compressed
        return State(tuple(pack(tensor) for tensor in self.tensors(state, player)), legal(state, player))

    def _make_observers(self) -> list[Any]:
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
            observers = [make_observation(self.game, *(() if kind is None else (kind,))) for kind in kinds]
        except (RuntimeError, ValueError):
            observers = [None]
        if any(observer is None or observer.tensor is None for observer in observers):
            raise InputError(
                f"game {shown(self.name)}: OpenSpiel has no tensors for the {self.dialect} dialect"
            )
        return observers


def legal(state: SpielState, player: int) -> tuple[int, ...]:
    if state.is_terminal() or state.is_chance_node():
        return ()
    if not state.is_simultaneous_node() and state.current_player() != player:
        return ()
    return tuple(state.legal_actions(player))


def drawn_action(outcomes: Sequence[tuple[int, float]], draw: float) -> int:
    """Return the chance outcome that a random number from [0, 1) selects."""
    cuts = np.cumsum([share for _, share in outcomes])
    place = int(np.searchsorted(cuts, draw * cuts[-1], side="right"))
    return int(outcomes[min(place, len(outcomes) - 1)][0])


def with_actions(state: SpielState, actions: Sequence[int | None]) -> None:
    """Apply the players' actions to a state.

    Args:
        actions: action of each player; None for a player who is not to act. If both players move
            at once, None stands for action 0.
    """
    if state.is_simultaneous_node():
        state.apply_actions([0 if action is None else action for action in actions])
    else:
        action = actions[state.current_player()]
        assert action is not None
        state.apply_action(action)
