"""A decision with reach, strategy, EV and equity of each hand, as JSON, data frame and grid of hand classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.cards import cards_name, parse_hand
from solvers.tree import Floats
from spewy.chunks.locate import read_cards
from spewy.errors import InputError, nearest, shown
from spewy.game.amounts import CHIPS, Unit
from spewy.game.gamefile import Game
from spewy.game.names import SEAT_NAMES
from spewy.game.ranges.hand_kinds import HandKinds, kinds_of
from spewy.look.grid import (
    Grid,
    HeatMap,
    class_means,
    grid_html,
    json_numbers,
    require_holdem,
    share_texts,
)
from spewy.system.html import Printed, Table

if TYPE_CHECKING:
    import pandas as pd


class Figure(NamedTuple):
    """A number of each hand at a decision.

    Attributes:
        key: name of the column in JSON and in data frames.
        title: heading of the column where people read it.
        digits: number of decimals in the terminal.
        of: function that returns the numbers ``[hand]`` of a `NodeView`, NaN where they are unknown.
    """

    key: str
    title: str
    digits: int
    of: Callable[[NodeView], Floats]


FIGURES = (
    Figure("ev", "EV", 3, lambda view: view.ev),
    Figure("equity", "equity", 4, lambda view: view.equity),
)
"""Numbers of each hand beside its reach and strategy. A new entry is a new column of tables, exports and JSON."""

BY_ACTION = ("strategy", "action_ev")
"""Numbers that a hand has for each action."""
RARE = 1e-3
"""Share of play below which a decision is rare."""
LARGE = 100
"""Absolute EV from which a heat map omits decimals, since a cell has room for five characters."""


@dataclass(frozen=True, repr=False)
class NodeView(Printed):
    """Reach, strategy, EV and equity of each hand of one player at one decision.

    The player acts at the decision, or waits while the opponent acts. For a player who waits, ``actions`` is empty.

    Attributes:
        player: player to whom the hands belong.
        line: betting since the root of the solve, in ``unit``.
        hands: ``[hand]``, names of the hands.
        reach: ``[hand]``, weight of each hand in the player's range at this decision.
        strategy: ``[action, hand]``, average strategy.
        ev: ``[hand]``, expected share of the pot from the decision on; NaN where the opponent has no compatible hand,
            or where EVs were not computed.
        action_ev: ``[action, hand]``, EV if the hand takes the action now.
        equity: ``[hand]``, chance to win without further betting; NaN where the opponent has no compatible hand, or
            where equities were not computed.
        unit: unit of amounts in the line, the actions and EVs.
        game: rules of the game; without them, there are no grids and no made hands.
        board_bucket: number of the board's bucket (boards that share a strategy) in a whole game with board buckets,
            else None.
        follow: function that returns a `Step` for each action.
        reached: how often play comes to the decision, given the cards: the product of the shares of both ranges that
            play to it; NaN if unknown. At rare decisions a solve's frequencies are less certain.
    """

    player: int
    line: str
    board: tuple[int, ...]
    actions: tuple[str, ...]
    hands: tuple[str, ...]
    reach: Floats
    strategy: Floats
    ev: Floats
    action_ev: Floats
    equity: Floats
    unit: str = "chips"
    game: Game | None = None
    board_bucket: int | None = None
    follow: Callable[[], tuple[Step, ...]] | None = field(default=None, repr=False, compare=False)
    reached: float = np.nan

    def in_unit(self, unit: Unit) -> NodeView:
        """Convert the line and EVs from chips to another unit; labels of actions are already in that unit."""
        if unit == CHIPS:
            return self
        line, ev, action_ev = unit.line_text(self.line), self.ev / unit.chips, self.action_ev / unit.chips
        return replace(self, line=line, ev=ev, action_ev=action_ev, unit=unit.name)

    @property
    def children(self) -> tuple[Step, ...]:
        """A `Step` for each action, with its frequency and with ``children`` of its own."""
        return () if self.follow is None else self.follow()

    def action_probabilities(self, hand: str) -> dict[str, float]:
        """Return the frequency of each action for a hand, by the label of the action.

        >>> solution.node().action_probabilities("AsKs")  # doctest: +SKIP
        {'check': 0.52, 'bet 120': 0.27, 'bet 216': 0.21, 'all-in 900': 0.0}
        """
        wanted = tuple(sorted(read_cards("hand", "AsKh", hand)))
        for h, name in enumerate(self.hands):
            if parse_hand(name) == wanted:
                return dict(zip(self.actions, self.strategy[:, h].tolist(), strict=True))
        raise InputError(f"hand {shown(hand)}: the player to act cannot have it here")

    def grid(self) -> Grid:
        """Average reach and strategy over each hand class of hold'em."""
        require_holdem(self.game)
        return Grid.of(self.board, self.hands, self.actions, self.reach, self.strategy, self.player)

    def heat_map(self, what: str) -> HeatMap:
        """Average a quantity over each hand class of hold'em.

        Args:
            what: name of the quantity: ``"EV"``, ``"equity"``, ``"reach"``, or the label of an action for its EV.
        """
        require_holdem(self.game)
        if not isinstance(what, str):
            raise InputError(f"heat map: expected the name of a quantity, such as 'EV', found {shown(what)}")
        seat, wanted = SEAT_NAMES[self.player], self._quantity(what)
        tell: Callable[[float], str]
        if wanted == "equity":
            title, values, tell = "equity, %", 100 * self.equity, "{:z.0f}".format
        elif wanted == "reach":
            title, values, tell = "reach, %", 100 * self.reach, "{:z.0f}".format
        elif wanted == "EV":
            title, values, tell = f"EV, {self.unit}", self.ev, _amounts(self.ev)
        else:
            values = self.action_ev[self.actions.index(wanted)]
            title, tell = f"EV of {wanted}, {self.unit}", _amounts(values)
        if np.isnan(values).all():
            raise InputError(f"heat map of {wanted}: no hand has a known value at this decision")
        return HeatMap(f"{seat}: {title}", class_means(self.hands, self.reach, values), tell)

    def names_action(self, what: str) -> bool:
        """Whether the quantity ``what`` of a heat map is the label of an action at this decision."""
        return self._quantity(what) in self.actions

    @property
    def holdem(self) -> bool:
        """Whether the game has the hands of hold'em."""
        return self.game is not None and self.game.is_holdem

    @property
    def rare(self) -> bool:
        """Whether fewer than one hand in a thousand comes to this decision."""
        return self.reached < RARE

    @property
    def regret(self) -> Floats:
        """EV of each hand's best action less the EV of its strategy, ``[hand]``; NaN if unknown or if nobody acts."""
        best = self.action_ev.max(axis=0) if self.actions else np.full(len(self.hands), np.nan)
        return np.maximum(best - self.ev, 0.0)

    @property
    def loss(self) -> float:
        """Unweighted mean of `regret` over the hands for which it is known; NaN if it is known for none."""
        known = self.regret[~np.isnan(self.regret)]
        return float(known.mean()) if len(known) else float("nan")

    @property
    def frequencies(self) -> Floats:
        """Share of the range that takes each action (an array ``[action]``); NaN if no hand reaches the decision."""
        total = self.reach.sum()
        return self.strategy @ self.reach / total if total > 0 else np.full(len(self.actions), np.nan)

    @cached_property
    def kinds(self) -> HandKinds | None:
        """Made hands, draws and blockers of the hands; None if the game is not hold'em."""
        if not self.holdem or len(self.board) not in (0, 3, 4, 5):
            return None
        return _kinds(self.board, self.hands)

    def only(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> NodeView:
        """Return the decision with the hands for which ``chosen`` is True, or with those whose numbers it has."""
        return replace(
            self,
            hands=tuple(np.array(self.hands, dtype=object)[chosen].tolist()),
            reach=self.reach[chosen],
            strategy=self.strategy[:, chosen],
            ev=self.ev[chosen],
            action_ev=self.action_ev[:, chosen],
            equity=self.equity[chosen],
        )

    def frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each hand and action, with the columns of ``spewy export``."""
        import pandas as pd

        n_actions, n_hands = self.strategy.shape
        return pd.DataFrame(
            {
                "board": cards_name(self.board),
                "line": self.line,
                "player": self.player,
                "hand": np.repeat(np.array(self.hands, dtype=object), n_actions),
                "action": np.tile(np.array(self.actions, dtype=object), n_hands),
                "reach": np.repeat(self.reach, n_actions),
                "frequency": self.strategy.T.ravel(),
                "ev": np.repeat(self.ev, n_actions),
                "action_ev": self.action_ev.T.ravel(),
                **{figure.key: np.repeat(figure.of(self), n_actions) for figure in FIGURES},
                **{column: np.repeat(names, n_actions) for column, names in self._kind_names().items()},
            }
        )

    def wide_frame(self, actions: Sequence[str] | None = None) -> pd.DataFrame:
        """Return a data frame with a row for each hand, and columns for the frequency and the EV of each action.

        Args:
            actions: actions that get columns, which are NaN if the decision lacks the action; None for the actions of
                the decision.
        """
        import pandas as pd

        columns: dict[str, Any] = {
            "board": cards_name(self.board),
            "line": self.line,
            "player": self.player,
            "hand": np.array(self.hands, dtype=object),
            "reach": self.reach,
            **{figure.key: figure.of(self) for figure in FIGURES},
            **self._kind_names(),
        }
        nothing = np.full(len(self.hands), np.nan)
        here = {action: a for a, action in enumerate(self.actions)}
        for name, values in (("frequency", self.strategy), ("action_ev", self.action_ev)):
            for action in actions or self.actions:
                columns[f"{name}_{action}"] = values[here[action]] if action in here else nothing
        return pd.DataFrame(columns)

    def _kind_names(self) -> dict[str, NDArray[np.object_]]:
        """Return the columns ``made``, ``draws`` and ``blockers`` of a data frame; none if not hold'em."""
        if self.kinds is None:
            return {}
        names = (self.kinds.made_names, self.kinds.draw_names, self.kinds.blocker_names)
        columns = zip(("made", "draws", "blockers"), names, strict=True)
        return {column: np.array(texts, dtype=object) for column, texts in columns}

    def _quantity(self, what: str) -> str:
        """Return the quantity of a heat map that ``what`` names, where upper and lower case make no difference."""
        names = ("EV", "equity", "reach", *self.actions)
        spelled = {name.lower(): name for name in names}
        quantity = spelled.get(what.strip().lower())
        if quantity is None:
            hint = nearest(what.strip().lower(), spelled)
            raise InputError(f"heat map: expected one of {', '.join(names)}; found {shown(what)}{hint}")
        return quantity

    def _repr_html_(self) -> str:
        return grid_html(self.grid(), self._title) if self.holdem else super()._repr_html_()

    @property
    def _title(self) -> str:
        words = "to act" if self.actions else "waits"
        board = f" on {cards_name(self.board)}" if self.board else ""
        return f"{SEAT_NAMES[self.player]} {words}{board}" + (f" after {self.line}" if self.line else "")

    def _table(self) -> Table:
        figures = (self.reach, *self.strategy, *(figure.of(self) for figure in FIGURES))
        unit = "" if self.unit == CHIPS.name else f" ({self.unit})"
        titles = (figure.title + (unit if figure.title == "EV" else "") for figure in FIGURES)
        columns = ("hand", "reach", *self.actions, *titles)
        shares = ", ".join(share_texts(self.actions, self.frequencies))
        title = f"{self._title}: {shares}" if shares else self._title
        return Table(
            title, columns, tuple(zip(self.hands, *(figure.tolist() for figure in figures), strict=True))
        )

    def to_json(self) -> dict[str, Any]:
        """Return the decision as the JSON object that ``spewy show --json`` prints."""
        columns = self.json_columns()
        columns["strategy"] = self.strategy.T.tolist()
        columns["action_ev"] = json_numbers(self.action_ev.T)
        rows = zip(self.hands, *columns.values(), strict=True)
        hands = {hand: dict(zip(columns, values, strict=True)) for hand, *values in rows}
        unit = {} if self.unit == CHIPS.name else {"unit": self.unit}
        bucket = {} if self.board_bucket is None else {"board_bucket": self.board_bucket}
        return {"player": self.player, "actions": list(self.actions), **unit, "hands": hands, **bucket}

    def json_columns(self) -> dict[str, list[Any]]:
        """Return the numbers of the hands as lists ``[hand]``, those in `BY_ACTION` as lists ``[action][hand]``."""
        return {
            "reach": json_numbers(self.reach),
            "strategy": json_numbers(self.strategy),
            "ev": json_numbers(self.ev),
            "action_ev": json_numbers(self.action_ev),
            **{figure.key: json_numbers(figure.of(self)) for figure in FIGURES},
        }


@dataclass(frozen=True, repr=False)
class Step:
    """An action or a deal of cards that leads from one node of the betting tree to the next.

    Attributes:
        name: label of the action, such as ``bet 120``, or names of the dealt cards.
        frequency: probability of the step at its node; NaN if no hands reach the node.
        kind: kind of the next node: ``"decision"``, ``"chance"``, ``"fold"`` or ``"showdown"``.
        line: line of the next node, in the unit of the job.
        count: number of deals that the step represents, since deals that are equal up to suits are one step.
        open: function that returns the next node, if it is a decision.
        follow: function that returns the steps from the next node.
    """

    name: str
    frequency: float
    kind: str
    line: str
    board: tuple[int, ...]
    count: int
    open: Callable[[], NodeView] = field(repr=False, compare=False)
    follow: Callable[[], tuple[Step, ...]] = field(repr=False, compare=False)

    def __repr__(self) -> str:
        return f"Step({self.name!r}, {self.frequency:.4g}, {self.kind!r}, {str(self.line)!r})"

    @property
    def children(self) -> tuple[Step, ...]:
        """Steps from the next node on; empty after the end of a hand."""
        return self.follow()

    def node(self) -> NodeView:
        """Return the decision to which the step leads."""
        if self.kind != "decision":
            raise InputError(f"step {self.name}: it leads to a {self.kind}, where nobody acts")
        return self.open()

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "frequency": _number(self.frequency),
            "kind": self.kind,
            "line": self.line,
            "board": cards_name(self.board),
            "count": self.count,
        }


@lru_cache(maxsize=64)
def _kinds(board: tuple[int, ...], hands: tuple[str, ...]) -> HandKinds:
    return kinds_of(board, [parse_hand(name) for name in hands])


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _amounts(values: Floats) -> Callable[[float], str]:
    known = values[~np.isnan(values)]
    return "{:z.0f}".format if len(known) and np.abs(known).max() >= LARGE else "{:z.1f}".format
