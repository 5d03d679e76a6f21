"""The door to OpenSpiel: games by name, and what a referee shows of their states.

OpenSpiel is an extra of the distribution, so it is imported where it is used.
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
"""A state of OpenSpiel's, which tells no types."""


class SpielGame:
    """A two-player game of OpenSpiel.

    Args:
        name: as OpenSpiel writes it, parameters included.
        dialect: which tensors show its states.

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
        """Whether what one player wins the other one loses."""
        import pyspiel

        return bool(self.game.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM)

    def start(self) -> SpielState:
        """The state at the beginning."""
        return self.game.new_initial_state()

    def tensors(self, state: SpielState, player: int) -> list[Floats]:
        """What a player sees of a state; copies."""
        found = []
        for observer in self._observers:
            observer.set_from(state, player)
            found.append(observer.tensor.copy())
        return found

    def seen(self, state: SpielState, player: int) -> State:
        """The same as it is sent."""
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
    """What a player may do; nothing where it does not act."""
    if state.is_terminal() or state.is_chance_node():
        return ()
    if not state.is_simultaneous_node() and state.current_player() != player:
        return ()
    return tuple(state.legal_actions(player))


def acting(state: SpielState) -> tuple[int, ...]:
    """Who acts: nobody at the end and at a chance node, both players where they move at once."""
    return tuple(player for player in (0, 1) if legal(state, player))


def drawn_action(outcomes: Sequence[tuple[int, float]], draw: float) -> int:
    """The outcome of chance that a number from [0, 1) stands for."""
    cuts = np.cumsum([share for _, share in outcomes])
    place = int(np.searchsorted(cuts, draw * cuts[-1], side="right"))
    return int(outcomes[min(place, len(outcomes) - 1)][0])


def with_actions(state: SpielState, actions: Sequence[int | None]) -> None:
    """Apply what the acting players do; where both move at once, who may do nothing does action 0."""
    if state.is_simultaneous_node():
        state.apply_actions([0 if action is None else action for action in actions])
    else:
        action = actions[state.current_player()]
        assert action is not None
        state.apply_action(action)
