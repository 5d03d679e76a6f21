"""One decision hand by hand: what is looked at, told as JSON and put into frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from buckets.cards import cards_name, parse_hand
from solvers.tree import Floats
from spewy.game.amounts import CHIPS, Unit
from spewy.game.ranges.hand_kinds import HandKinds, kinds_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class NodeView:
    """One decision: arrays over the hands of one player, who acts there or, where there are no actions, waits.

    ``reach`` is the weight in the player's range here, ``strategy[action, hand]`` the average strategy, ``ev`` the
    expected share of the pot from here on, ``action_ev[action, hand]`` the same if the hand takes that action now,
    ``equity`` the chance to win without further betting. NaN: the opponent has no hand that goes with this one, or
    nobody has computed it.
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
    """Of amounts in the line, the actions and EVs."""
    holdem: bool = False
    """Whether hands are hold'em's, which have classes and names."""

    def in_unit(self, unit: Unit) -> NodeView:
        """The same, whose line and EVs are in chips, in another unit; actions have been told in it."""
        if unit == CHIPS:
            return self
        line, ev, action_ev = unit.line_text(self.line), self.ev / unit.chips, self.action_ev / unit.chips
        return replace(self, line=line, ev=ev, action_ev=action_ev, unit=unit.name)

    @property
    def frequencies(self) -> Floats:
        """``[action]``: how often the range takes each action; NaN if it never comes here."""
        total = self.reach.sum()
        return self.strategy @ self.reach / total if total > 0 else np.full(len(self.actions), np.nan)

    @cached_property
    def kinds(self) -> HandKinds | None:
        """What the hands are; None where hands or boards are not hold'em's."""
        if not self.holdem or len(self.board) not in (0, 3, 4, 5):
            return None
        return kinds_of(self.board, [parse_hand(name) for name in self.hands])

    def only(self, chosen: NDArray[np.bool_]) -> NodeView:
        """The same decision of some of the hands: ``chosen[hand]``."""
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
        """One row per hand and action, the columns of an export."""
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
        """One row per hand, with a frequency and an EV of each action in columns of their own.

        Args:
            actions: whose columns there are, in order, those that are none here too; None: the decision's.
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
        """Columns ``[hand]`` that tell what the hands are; none where they have no names."""
        if self.kinds is None:
            return {}
        names = (self.kinds.made_names, self.kinds.draw_names, self.kinds.blocker_names)
        columns = zip(("made", "draws", "blockers"), names, strict=True)
        return {column: np.array(told, dtype=object) for column, told in columns}

    def _repr_html_(self) -> str:
        """What notebooks show: the chart of hands, or a table of them."""
        from spewy.look.html import decision_html

        return decision_html(self)

    def to_json(self) -> dict[str, Any]:
        """The object that ``spewy show --json`` prints."""
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
        return {"player": self.player, "actions": list(self.actions), **unit, "hands": hands}


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
