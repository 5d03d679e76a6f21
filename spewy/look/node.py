"""One decision, hand by hand, as JSON, as a frame and as a grid of hand classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from buckets.cards import cards_name, parse_hand
from buckets.errors import CardError
from solvers.tree import Floats
from spewy.errors import InputError, shown
from spewy.game.amounts import CHIPS, Unit
from spewy.game.gamefile import Game
from spewy.game.lines import action_words
from spewy.game.names import SEAT_NAMES
from spewy.game.ranges.hand_kinds import HandKinds, kinds_of
from spewy.look.grid import Grid, HeatMap, class_means, grid_html, is_holdem, require_holdem, share_texts
from spewy.system import html

if TYPE_CHECKING:
    import pandas as pd


LARGE = 100
"""Amount from which a grid shows EVs without decimals, since a cell holds five characters."""


@dataclass(frozen=True)
class NodeView:
    """One decision with the hands of one player; a view of the waiting player has no actions.

    Attributes:
        player: player whose hands these are.
        line: betting since the solve's root, in ``unit``.
        board: public cards.
        actions: labels of the actions.
        hands: ``[hand]``, names of the hands.
        reach: ``[hand]``, weight of each hand in the player's range at this decision.
        strategy: ``[action, hand]``, average strategy.
        ev: ``[hand]``, expected share of the pot from the decision on; NaN where the opponent has no compatible hand,
            or where EVs were not computed.
        action_ev: ``[action, hand]``, EV if the hand takes the action now.
        equity: ``[hand]``, chance to win without further betting; NaN as ``ev``.
        unit: unit of amounts in the line, the actions and EVs.
        game: rules of the game; None leaves out grids and hand classes.
        board_bucket: board bucket of the board, in a whole game with board buckets.
        follow: function that returns the actions that can follow.
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

    def in_unit(self, unit: Unit) -> NodeView:
        """Convert EVs from chips to another unit; labels of actions are already in that unit."""
        if unit == CHIPS:
            return self
        line, ev, action_ev = unit.line_text(self.line), self.ev / unit.chips, self.action_ev / unit.chips
        return replace(self, line=line, ev=ev, action_ev=action_ev, unit=unit.name)

    @property
    def children(self) -> tuple[Step, ...]:
        """Steps for the actions that can follow, each with its frequency and its own ``children``."""
        return () if self.follow is None else self.follow()

    def action_probabilities(self, hand: str) -> dict[str, float]:
        """Frequencies of a hand's actions, by the actions' labels.

        >>> solution.node().action_probabilities("AsKs")  # doctest: +SKIP
        {'Check': 0.7, 'Bet(120)': 0.3}

        Raises:
            InputError: the player cannot have the hand here.
        """
        try:
            wanted = parse_hand(hand)
        except CardError as error:
            raise InputError(f"hand {shown(hand)}: {error}") from None
        for h, name in enumerate(self.hands):
            if parse_hand(name) == wanted:
                return dict(zip(self.actions, self.strategy[:, h].tolist(), strict=True))
        raise InputError(f"hand {shown(hand)}: the player to act cannot have it here")

    def grid(self) -> Grid:
        """The decision by classes of hold'em hands.

        Raises:
            InputError: the game is not hold'em.
        """
        require_holdem(self.game)
        return Grid.of(self.board, self.hands, self.actions, self.reach, self.strategy, self.player)

    def heat_map(self, what: str) -> HeatMap:
        """EV, equity or reach of the hands, or the EV of an action by the action's label, by classes of hands.

        Raises:
            InputError: ``what`` is something else, or unknown at this decision; or the game is not hold'em.
        """
        require_holdem(self.game)
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
            title, tell = f"EV of {action_words(wanted)}, {self.unit}", _amounts(values)
        if np.isnan(values).all():
            raise InputError(f"heat map of {wanted}: no hand has a known value at this decision")
        return HeatMap(f"{seat}: {title}", class_means(self.hands, self.reach, values), tell)

    def names_action(self, what: str) -> bool:
        """Whether ``what`` is the label of an action; only the player to act has heat maps of actions."""
        return self._quantity(what) in self.actions

    @property
    def holdem(self) -> bool:
        """Whether the hands are those of hold'em, which have classes and names."""
        return is_holdem(self.game)

    @property
    def frequencies(self) -> Floats:
        """``[action]``: share of the range that takes each action; NaN if the player never reaches the decision."""
        total = self.reach.sum()
        return self.strategy @ self.reach / total if total > 0 else np.full(len(self.actions), np.nan)

    @cached_property
    def kinds(self) -> HandKinds | None:
        """Made hands, draws and blockers of the hands; None unless the hands and the board are hold'em's."""
        if not self.holdem or len(self.board) not in (0, 3, 4, 5):
            return None
        return kinds_of(self.board, [parse_hand(name) for name in self.hands])

    def only(self, chosen: NDArray[np.bool_]) -> NodeView:
        """Return the decision with some of its hands only.

        Args:
            chosen: ``[hand]``, True for the hands to keep.
        """
        return replace(
            self,
            hands=tuple(name for name, kept in zip(self.hands, chosen.tolist(), strict=True) if kept),
            reach=self.reach[chosen],
            strategy=self.strategy[:, chosen],
            ev=self.ev[chosen],
            action_ev=self.action_ev[:, chosen],
            equity=self.equity[chosen],
        )

    def frame(self) -> pd.DataFrame:
        """One row per hand and action, in the columns of ``spewy export``."""
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
                "equity": np.repeat(self.equity, n_actions),
                **{column: np.repeat(names, n_actions) for column, names in self._kind_names().items()},
            }
        )

    def wide_frame(self, actions: Sequence[str] | None = None) -> pd.DataFrame:
        """One row per hand, with columns for the frequency and the EV of each action.

        Args:
            actions: actions that get columns, empty where the decision lacks one; None for the decision's own.
        """
        import pandas as pd

        columns: dict[str, Any] = {
            "board": cards_name(self.board),
            "line": self.line,
            "player": self.player,
            "hand": np.array(self.hands, dtype=object),
            "reach": self.reach,
            "ev": self.ev,
            "equity": self.equity,
            **self._kind_names(),
        }
        nothing = np.full(len(self.hands), np.nan)
        here = {action: a for a, action in enumerate(self.actions)}
        for name, values in (("frequency", self.strategy), ("action_ev", self.action_ev)):
            for action in actions or self.actions:
                columns[f"{name}_{action}"] = values[here[action]] if action in here else nothing
        return pd.DataFrame(columns)

    def _kind_names(self) -> dict[str, NDArray[np.object_]]:
        """Columns ``[hand]`` with the names of made hands, draws and blockers; none outside hold'em."""
        if self.kinds is None:
            return {}
        names = (self.kinds.made_names, self.kinds.draw_names, self.kinds.blocker_names)
        columns = zip(("made", "draws", "blockers"), names, strict=True)
        return {column: np.array(told, dtype=object) for column, told in columns}

    def _quantity(self, what: str) -> str:
        """Return the quantity of a heat map in its proper spelling."""
        names = ("EV", "equity", "reach", *self.actions)
        spelled = {name.lower(): name for name in names}
        quantity = spelled.get(what.strip().lower())
        if quantity is None:
            near = get_close_matches(what.strip().lower(), spelled, 1)
            hint = f" (nearest: {spelled[near[0]]})" if near else ""
            raise InputError(f"heat map: expected one of {', '.join(names)}; found {shown(what)}{hint}")
        return quantity

    def _repr_html_(self) -> str:
        """The grid of hand classes in hold'em, else a table of hands, for notebooks."""
        words = "to act" if self.actions else "waits"
        place = f" on {cards_name(self.board)}" if self.board else ""
        title = f"{SEAT_NAMES[self.player]} {words}{place}" + (f" after {self.line}" if self.line else "")
        if self.holdem:
            return grid_html(self.grid(), title)
        figures = (self.reach.tolist(), *self.strategy.tolist(), self.ev.tolist(), self.equity.tolist())
        unit = "" if self.unit == CHIPS.name else f" ({self.unit})"
        columns = ("hand", "reach", *self.actions, f"EV{unit}", "equity")
        shares = ", ".join(share_texts(self.actions, self.frequencies))
        title = f"{title}: {shares}" if shares else title
        return html.table(title, columns, zip(self.hands, *figures, strict=True))

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``spewy show --json`` prints."""
        hands = {
            hand: {
                "reach": float(self.reach[h]),
                "strategy": self.strategy[:, h].tolist(),
                "ev": _number(self.ev[h]),
                "action_ev": [_number(ev) for ev in self.action_ev[:, h]],
                "equity": _number(self.equity[h]),
            }
            for h, hand in enumerate(self.hands)
        }
        unit = {} if self.unit == CHIPS.name else {"unit": self.unit}
        bucket = {} if self.board_bucket is None else {"board_bucket": self.board_bucket}
        return {"player": self.player, "actions": list(self.actions), **unit, "hands": hands, **bucket}


@dataclass(frozen=True)
class Step:
    """An action or a deal of cards that leads from one node to the next.

    Attributes:
        name: label of the action, such as ``Bet(120)``, or names of the cards.
        frequency: probability of the step at the node; NaN if the ranges never come there.
        kind: kind of node that the step leads to: a decision, a chance node, a fold or a showdown.
        line: line that the step leads to, in the job's unit.
        board: public cards there.
        count: number of deals that the step stands for; deals that are the same up to suits are one step.
        open: function that returns the decision that the step leads to.
        follow: function that returns the steps that follow.
    """

    name: str
    frequency: float
    kind: str
    line: str
    board: tuple[int, ...]
    count: int
    open: Callable[[], NodeView] = field(repr=False, compare=False)
    follow: Callable[[], tuple[Step, ...]] = field(repr=False, compare=False)

    @property
    def children(self) -> tuple[Step, ...]:
        """The steps that follow this one."""
        return self.follow()

    def node(self) -> NodeView:
        """The decision that the step leads to.

        Raises:
            InputError: the step leads to the end of the hand, or of the round.
        """
        if self.kind != "decision":
            raise InputError(f"step {self.name}: it leads to a {self.kind}, where nobody acts")
        return self.open()

    def to_json(self) -> dict[str, Any]:
        """Return the step as a JSON object."""
        return {
            "name": self.name,
            "frequency": _number(self.frequency),
            "kind": self.kind,
            "line": self.line,
            "board": cards_name(self.board),
            "count": self.count,
        }


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _amounts(values: Floats) -> Callable[[float], str]:
    known = values[~np.isnan(values)]
    return "{:z.0f}".format if len(known) and np.abs(known).max() >= LARGE else "{:z.1f}".format
