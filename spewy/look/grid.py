"""The grid of 13 x 13 hand classes of hold'em, such as AKs, with aces first and suited hands above the diagonal.

A cell shows the mean over the hands of its class that the board does not block. `grid_html` draws a grid for notebooks,
`spewy.cli.decision` for terminals, and `spewy.plot.hands` as a picture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buckets.cards import Deck, blocked, hand_index, hands, parse_hand, preflop_classes
from solvers.tree import Floats
from spewy.errors import InputError
from spewy.game.gamefile import Game
from spewy.game.names import SEAT_NAMES
from spewy.game.ranges.range import NUM_HANDS
from spewy.look import ABOVE
from spewy.look.colours import SEATS, UNUSED, Colour, action_colours, hex_colour, lightness
from spewy.system.html import Printed, Table, heading

SIZE = 13
NOBODY = 5e-4
"""Reach or frequency below which a hand class or an action is not shown."""
_CELL_STYLE = "width: 3em; height: 2em; padding: 0 2px; text-align: left; vertical-align: top; font-size: 80%"


@dataclass(frozen=True)
class Cell:
    """One hand class in a grid.

    Attributes:
        name: name of the class, such as ``AKs``.
        reach: mean reach of the hands of the class; NaN if the board blocks all of them.
        fill: reach as a share of the largest reach in the grid; 0 if the range has no hand of the class.
        mix: ``[action]``, frequency of each action; the single number 1 if the player does not act.
    """

    row: int
    column: int
    name: str
    reach: float
    fill: float
    mix: Floats


@dataclass(frozen=True, repr=False)
class Grid(Printed):
    """Reach and strategy of one player at a decision, averaged over each hand class.

    Attributes:
        actions: labels of the actions; empty for a player who does not act.
        reach: ``[row, column]``, mean reach of the class; NaN if the board blocks all its hands.
        frequencies: ``[action, row, column]``, frequency of each action; NaN if no hand of the class reaches the
            decision.
        shares: ``[action]``, share of the whole range that takes each action; NaN if no hand reaches the decision.
        player: player to whom the range belongs.
    """

    actions: tuple[str, ...]
    reach: Floats
    frequencies: Floats
    shares: Floats
    player: int = 0

    @classmethod
    def of(
        cls,
        board: Sequence[int],
        names: Sequence[str],
        actions: Sequence[str],
        reach: Floats,
        strategy: Floats,
        player: int = 0,
    ) -> Grid:
        """Average a player's hands by hand class.

        Args:
            names: ``[hand]``, names of hold'em hands.
            reach: ``[hand]``, weight of each hand in the range.
            strategy: ``[action, hand]``, frequency of each action.
        """
        numbers = _numbers(tuple(names))
        weights = np.zeros((1 + len(actions), NUM_HANDS))
        weights[0, numbers] = reach
        weights[1:, numbers] = reach * strategy
        allowed = ~blocked(hands(Deck(), 2), board)
        mass, *taken = (_by_class(of_hands) for of_hands in weights)
        mixes, total = np.array(taken).reshape(-1, SIZE, SIZE), float(reach.sum())
        shares = strategy @ reach / total if total > 0 else np.full(len(actions), np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            return cls(tuple(actions), mass / _by_class(allowed), mixes / mass, shares, player)

    @property
    def colours(self) -> list[Colour]:
        """Colour of each action; for a player who does not act, the colour of the player."""
        return action_colours(self.actions) or [SEATS[self.player]]

    def cells(self) -> Iterator[Cell]:
        highest = max(float(np.nanmax(self.reach, initial=0.0)), NOBODY)
        mixes = self.frequencies if self.actions else np.ones((1, *self.reach.shape))
        known = np.asarray(~np.isnan(mixes).any(axis=0))
        for (row, column), reach in np.ndenumerate(self.reach):
            mix = mixes[:, row, column]
            in_range = reach >= NOBODY and known[row, column]
            fill = min(1.0, float(reach) / highest) if in_range else 0.0
            yield Cell(row, column, class_name(row, column), float(reach), fill, mix)

    def plot(self, ax: Any = None) -> Any:
        """Draw the grid with matplotlib: see `spewy.plot.hand_chart`."""
        return ABOVE["hand_chart"](self, ax)

    def to_json(self) -> dict[str, Any]:
        """Return the grid as a JSON object, with null for NaN, without classes that the board blocks completely."""
        mixes = self.frequencies.reshape(len(self.actions), SIZE * SIZE).T
        rows = zip(preflop_classes()[1], self.reach.ravel().tolist(), json_numbers(mixes), strict=True)
        classes = {name: {"reach": reach, "frequencies": mix} for name, reach, mix in rows if reach == reach}
        return {
            "player": self.player,
            "actions": list(self.actions),
            "shares": json_numbers(self.shares),
            "classes": classes,
        }

    def _table(self) -> Table:
        shares = zip(self.actions, self.shares.tolist(), strict=True)
        return Table(f"{SEAT_NAMES[self.player]}: grid of hand classes", ("action", "share"), tuple(shares))

    def _repr_html_(self) -> str:
        return grid_html(self, SEAT_NAMES[self.player])


@dataclass(frozen=True, repr=False)
class HeatMap(Printed):
    """A number for each hand class, such as its EV.

    Attributes:
        title: name and unit of the numbers.
        values: ``[row, column]``; NaN if a class has no number.
        tell: function that formats a number as text.
    """

    title: str
    values: Floats
    tell: Callable[[float], str]

    def _table(self) -> Table:
        rows = tuple(
            tuple(
                f"{class_name(r, c)} {self.tell(value) if value == value else '–'}"
                for c, value in enumerate(row)
            )
            for r, row in enumerate(self.values.tolist())
        )
        return Table(self.title, (), rows)


def class_means(names: Sequence[str], reach: Floats, values: Floats) -> Floats:
    """Average values ``[hand]`` of hold'em hands by hand class, weighted by reach ``[hand]``.

    Hands with NaN are left out.

    Returns:
        Means ``[row, column]`` of the grid; NaN if no hand of a class has both reach and a value.
    """
    known, numbers = ~np.isnan(values), _numbers(tuple(names))
    weights = np.zeros((2, NUM_HANDS))
    weights[:, numbers[known]] = np.array([reach * values, reach])[:, known]
    total, mass = (_by_class(of_hands) for of_hands in weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        means: Floats = total / mass
    return means


def class_name(row: int, column: int) -> str:
    """Return the name of the hand class in a row and column of the grid.

    >>> class_name(0, 1), class_name(1, 0)
    ('AKs', 'AKo')
    """
    return preflop_classes()[1][SIZE * row + column]


def json_numbers(values: Floats) -> list[Any]:
    """Return an array as nested lists for JSON, with None for NaN."""
    unknown = np.isnan(values)
    numbers: list[Any] = (np.where(unknown, np.array(None), values) if unknown.any() else values).tolist()
    return numbers


def require_holdem(game: Game | None) -> None:
    """Check that a game has the hands of hold'em."""
    if game is None or not game.is_holdem:
        name = "another game" if game is None else game.name
        raise InputError(f"grid: expected a hold'em game (two hole cards, 52 cards), found {name}")


@lru_cache(maxsize=64)
def _numbers(names: tuple[str, ...]) -> NDArray[np.int64]:
    if not names:
        return np.empty(0, dtype=np.int64)
    return hand_index(Deck(), [parse_hand(name) for name in names])


def _by_class(weights: np.ndarray) -> Floats:
    """Sum the weights of all 1,326 hands by hand class: an array ``[row, column]`` of the grid."""
    sums = np.bincount(preflop_classes()[0], weights, SIZE * SIZE)
    return sums.astype(np.float64).reshape(SIZE, SIZE)


def grid_html(grid: Grid, title: str) -> str:
    """Draw a grid; the coloured height of a cell shows its reach, the widths of the colours its frequencies."""
    colours = grid.colours
    names = share_texts(grid.actions, grid.shares) or [SEAT_NAMES[grid.player]]
    legend = " ".join(
        f'<span style="{_ink(colour)}; padding: 0 4px">{escape(text)}</span>'
        for colour, text in zip(colours, names, strict=True)
    )
    rows: dict[int, str] = {}
    for cell in grid.cells():
        rows[cell.row] = rows.get(cell.row, "") + _cell(cell, grid.actions, colours)
    body = "".join(f"<tr>{cells}</tr>" for cells in rows.values())
    return (
        f"<div>{heading(title)}<br>{legend}"
        f'<table style="border-collapse: separate; border-spacing: 1px"><tbody>{body}</tbody></table></div>'
    )


def share_texts(actions: Sequence[str], shares: Floats) -> list[str]:
    return [
        f"{action} {'–' if np.isnan(share) else f'{100 * share:.1f} %'}"
        for action, share in zip(actions, shares, strict=True)
    ]


def _cell(cell: Cell, actions: tuple[str, ...], colours: list[Colour]) -> str:
    name = escape(cell.name)
    if not cell.fill:
        return f'<td style="{_CELL_STYLE}; background: {hex_colour(UNUSED)}; color: #888">{name}</td>'
    shares = share_texts(actions, cell.mix) if actions else []
    tooltip = escape("; ".join([f"{cell.name}: reach {cell.reach:.3g}", *shares]))
    fill = f"{_bands(cell.mix, colours)} bottom / 100% {100 * cell.fill:.0f}% no-repeat"
    return (
        f'<td title="{tooltip}" style="{_CELL_STYLE}; background: {fill}, {hex_colour(UNUSED)}; color: #000; '
        f'text-shadow: 0 0 3px #fff, 0 0 3px #fff">{name}</td>'
    )


def _bands(mix: Floats, colours: list[Colour]) -> str:
    """Return the CSS background of a cell: stripes in the actions' colours, as wide as their frequencies."""
    ends = 100 * np.cumsum(mix)
    stops = [
        f"{hex_colour(colour)} {end - 100 * share:.1f}% {end:.1f}%"
        for colour, share, end in zip(colours, mix, ends, strict=True)
        if share > 0
    ]
    return f"linear-gradient(to right, {', '.join(stops)})"


def _ink(colour: Colour) -> str:
    """Return a CSS style with a background colour, and with black or white text, whichever has more contrast."""
    return f"background: {hex_colour(colour)}; color: {'#000' if lightness(colour) > 0.5 else '#fff'}"
