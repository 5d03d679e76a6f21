"""JSON of what a page shows at one position of a solution: the line, both players' hands, and the next actions.

A position is a decision, a deal of cards or the end of a hand. It has the numbers of ``spewy show --json``, rounded,
but those of the hands as columns, which are half as large and three times as fast to write. The page itself averages
them over hand classes and over kinds of hands. Curves and texts of both ranges belong to a decision, too. This module
loads no server, so ``spewy serve --export`` needs none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buckets.cards import (
    RANKS,
    Deck,
    History,
    blocked,
    cards_name,
    hand_index,
    hands,
    parse_hand,
    preflop_classes,
)
from solvers.tree import Floats
from spewy.chunks.locate import Place
from spewy.errors import NotSolvedError
from spewy.game.lines import sized_words
from spewy.game.nodes import Line, Node
from spewy.game.ranges import Range, format_range
from spewy.game.ranges.hand_kinds import DRAWS, MADE
from spewy.game.ranges.range import NUM_HANDS
from spewy.look.colours import SEATS, action_colours, hex_colour
from spewy.look.grid import json_numbers, require_holdem
from spewy.look.hand_filter import filtered
from spewy.look.node import NodeView, Step
from spewy.look.solution import Solution

SHARE_DECIMALS, EQUITY_DECIMALS, EV_DIGITS = 5, 4, 5
"""Decimals of frequencies and reach, decimals of equities, digits of the largest EV: a click waits for each digit."""
SHOWN_DECIMALS = 3
"""Number of decimals of shares that pages show, as percentages."""
STEP_DECIMALS = 7
"""Number of decimals of the frequencies of actions and cards; one of 1,755 flops comes in about 0.0005 of all hands."""
BY_RANK = str.maketrans(RANKS[::-1], "ABCDEFGHIJKLM")
DIGITS = 3
"""Number of decimals of weights in a text; other programs read no more."""


def position(
    solution: Solution,
    line: str | Place = "",
    board: str | Sequence[int] | None = None,
    *,
    ev: bool = True,
    filters: Sequence[str] = (),
    deals: bool = True,
) -> dict[str, Any]:
    """Return everything to show after a line of a solution, as a JSON object.

    Args:
        line: betting since the root of the solve, as players write it or as an ACPC string; or a place.
        ev: whether to compute EVs and equities, which are null otherwise.
        filters: hands to show, by kinds or cards (`spewy.look.hand_filter`); empty for all hands.
        deals: whether to list the cards that can follow at the end of a round, which takes time before the flop.

    Returns:
        ``kind`` of the node (decision, chance, fold or showdown), its ``line`` and ``words``, the public cards as
        ``board``, the ``pot`` and what each player has ``put_in`` since the root, in ``unit``; ``path``, the decisions
        before the node, each with its ``steps`` and the number of the ``taken`` step, and the deals before the node,
        each with the ``dealt`` cards; ``steps``, the actions or cards that can follow; and for a decision ``views``,
        the hands of player 0 and of player 1 with reach, strategy, EV and equity, and ``totals``, EV and equity of
        both ranges; the probability that play comes here as ``reached``, and as ``rare`` whether
        that is so small that the strategy is less sure; the mean ``loss`` of the acting hands; and whether the
        job has ``locked`` the decision.
    """
    place = solution.at(line, board)
    node, unit = place.node, solution.job.amounts
    found: dict[str, Any] = {
        "name": solution.job.name,
        "progress": solution.progress,
        "kind": node.kind,
        "player": node.player,
        "line": unit.line_text(Line(node.line)),
        "words": solution.words(node),
        "board": cards_name(place.cards),
        "unit": unit.name,
        "pot": solution.pot_at(node),
        "put_in": [chips / unit.chips for chips in node.put_in],
        "path": list(_path(solution, place)),
        "steps": _steps(node, solution.children(place) if deals or node.kind != "chance" else ()),
    }
    if node.kind == "decision":
        views = both_views(solution, place, ev=ev, filters=filters)
        acting = views[node.player or 0]
        found["reached"], found["rare"] = _number(acting.reached), acting.rare
        found["loss"] = _number(acting.loss)
        found["views"] = [_view(view, found["pot"]) for view in views]
        found["totals"] = _totals(solution, place, found["pot"]) if ev else None
        found["board_bucket"] = views[0].board_bucket
        found["locked"] = any(
            lock.line == node.line and (lock.history is None or _cards(solution, lock.history) == place.cards)
            for lock in solution.problem.locks
        )
    return found


def _cards(solution: Solution, history: History) -> tuple[int, ...]:
    return solution.job.rules.board_order([card for group in history for card in group])


def both_views(
    solution: Solution, place: Place, *, ev: bool = True, filters: Sequence[str] = ()
) -> list[NodeView]:
    """Return the hands of oop and those of ip at a decision, without hands that a filter excludes."""
    views = (solution.node(place, ev=ev), solution.waiting(place, ev=ev))
    ordered = sorted(views, key=lambda view: view.player)
    return [filtered(solution.job.rules, view, filters) for view in ordered]


def summary(solution: Solution) -> dict[str, Any]:
    job, problem = solution.job, solution.problem
    return {
        "name": job.name,
        "holdem": job.rules.is_holdem,
        "kind": "spot" if problem.is_spot else "whole game",
        "board_buckets": job.sampled,
        "board": "" if job.board is None else cards_name(job.board),
        "board_sizes": list(job.rules.board_sizes),
        "unit": job.amounts.name,
        "pot": problem.pot / job.amounts.chips,
        "progress": solution.progress,
        "quick_loss": solution.quick_loss,
        "exploitability_pct": _number(solution.checked_pct),
    }


def _path(solution: Solution, place: Place) -> Iterator[dict[str, Any]]:
    """Yield each decision before a place with the steps that can follow it, and each deal with the dealt cards."""
    sizes, unit = solution.job.rules.board_sizes, solution.job.amounts
    for before, taken in solution.path(place):
        line, board = unit.line_text(Line(before.line)), cards_name(before.cards)
        if before.node.kind == "chance":
            dealt = place.cards[sizes[before.round] : sizes[before.round + 1]]
            yield {"kind": "cards", "line": line, "board": board, "dealt": cards_name(dealt)}
        else:
            yield {
                "kind": "decision",
                "player": before.node.player,
                "line": line,
                "board": board,
                "taken": taken,
                "steps": _steps(before.node, solution.children(before)),
            }


def _steps(node: Node, steps: Sequence[Step]) -> list[dict[str, Any]]:
    out = [step.to_json() for step in steps]
    for step in out:
        if step["frequency"] is not None:
            step["frequency"] = round(step["frequency"], STEP_DECIMALS)
    if node.kind == "decision":
        colours = action_colours([step.name for step in steps])
        for step, colour in zip(out, colours, strict=True):
            step["words"], step["colour"] = sized_words(step["name"]), hex_colour(colour)
    return out


def _view(view: NodeView, pot: float) -> dict[str, Any]:
    """Return one player's hands at a decision as a JSON object.

    The object has ``player`` and ``actions``; ``hands``, with their ``names`` and the ``columns`` of
    `NodeView.json_columns`, rounded; ``colours`` and ``words`` of the actions; ``combos``, the range's weight; and
    ``shares``, the share of the range that takes each action. For hold'em it also has ``kinds``, the made hand and
    draws of each hand, and ``groups``, the names in ``kinds``, the strongest first.
    """
    if view.holdem:
        view = view.only(np.argsort([name.translate(BY_RANK) for name in view.hands]))
    most = np.nanmax(np.abs(view.ev), initial=0.0, where=~np.isnan(view.ev))
    decimals = max(0, EV_DIGITS - 1 - int(np.floor(np.log10(max(most, 1e-9)))))
    shown = 0 if pot >= 1000 else 1 if pot >= 100 else 2
    rounded = replace(
        view,
        reach=_rounded(view.reach, SHARE_DECIMALS, SHOWN_DECIMALS),
        strategy=_rounded(view.strategy, SHARE_DECIMALS, SHOWN_DECIMALS),
        equity=_rounded(view.equity, EQUITY_DECIMALS, SHOWN_DECIMALS),
        ev=_rounded(view.ev, decimals, shown),
        action_ev=_rounded(view.action_ev, decimals, shown),
    )
    found: dict[str, Any] = {"player": view.player, "actions": list(view.actions)}
    found["hands"] = {"names": list(view.hands), "columns": rounded.json_columns()}
    found["colours"] = [hex_colour(c) for c in action_colours(view.actions) or [SEATS[view.player]]]
    found["words"] = [sized_words(action) for action in view.actions]
    found["shares"] = json_numbers(view.frequencies)
    found["combos"] = float(view.reach.sum())
    if view.kinds is not None:
        made, draws = view.kinds.made_names, view.kinds.draw_names
        found["kinds"] = [", ".join(filter(None, pair)) for pair in zip(made, draws, strict=True)]
        present = set(", ".join(found["kinds"]).split(", "))
        found["groups"] = {
            "made": [name for name in reversed(MADE) if name in present],
            "draws": [name for name in reversed(DRAWS) if name in present],
        }
    return found


def _rounded(values: Floats, decimals: int, shown: int) -> Floats:
    """Round numbers, but not to a half of the last digit that a page shows: 0.447 to 0.44 and not to 0.45, for 0.4."""
    found: Floats = values.round(decimals)
    scaled = found * 10.0**shown
    is_half = (np.abs(scaled - np.floor(scaled) - 0.5) < 1e-6) & (found != values)
    nearer = found + np.sign(values - found) * 10.0**-decimals
    return np.where(is_half, nearer.round(decimals), found) if decimals > shown else found


def _totals(solution: Solution, place: Place, pot: float) -> dict[str, Any] | None:
    """Return EV, equity and realisation of both whole ranges; None if the solve lacks the values for them."""
    try:
        totals = solution.totals(place)
    except NotSolvedError:
        return None
    shares = zip(totals.ev, totals.equity, strict=True)
    return {
        "ev": [_number(value) for value in totals.ev],
        "equity": [_number(value) for value in totals.equity],
        "realisation": [_number(e / (q * pot)) if q * pot > 0 else None for e, q in shares],
    }


def _number(value: float) -> float | None:
    return None if value != value else float(value)


def curves(views: Sequence[NodeView], pot: float) -> dict[str, list[dict[str, Any]]]:
    """Return both players' curves at a decision, as a JSON object by the names ``equity``, ``EV`` and ``realisation``.

    A curve has a player's hands in ascending order of the quantity. Its x axis is the share of the range; each hand
    takes a width in proportion to its weight. So if a quarter of a range is strong, its curve of equity is high in the
    last quarter. The ``pot`` is in the unit of the EVs.
    """
    by_measure = {
        "equity": [view.equity for view in views],
        "EV": [view.ev for view in views],
        "realisation": [realisation(view, pot) for view in views],
    }
    return {
        name: [_curve(view, value) for view, value in zip(views, values, strict=True)]
        for name, values in by_measure.items()
    }


def _curve(view: NodeView, value: Floats) -> dict[str, Any]:
    """Return the hands with weight, sorted by ``value`` ``[hand]``, and the running sum of their range shares."""
    known = np.flatnonzero((view.reach > 0) & ~np.isnan(value))
    order = known[np.argsort(value[known], kind="stable")]
    total = np.cumsum(view.reach[order])
    share = total / total[-1] if len(order) else total
    return {
        "player": view.player,
        "hands": [view.hands[h] for h in order],
        "share": share.tolist(),
        "value": value[order].tolist(),
    }


def realisation(view: NodeView, pot: float) -> Floats:
    """Compute the equity realisation of each hand, ``EV / (equity · pot)``; NaN for hands without equity."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(view.equity > 0, view.ev / (view.equity * pot), np.nan)


def range_texts(view: NodeView) -> list[dict[str, Any]]:
    """Write a player's whole range at a decision, and the range with which the player takes each action, as JSON.

    The texts are read by Spewy and other programs, such as ``AKs:0.5,QQ``; a text is empty if no hand has weight. The
    weight of a hand for an action is its reach times the frequency of the action. Weights are rounded to `DIGITS`. A
    hand that the board blocks gets the weight of its hand class if all other hands of the class have the same weight,
    so that the text names the class.
    """
    require_holdem(view.game)
    numbers = np.array([hand_index(Deck(), parse_hand(name)) for name in view.hands], dtype=np.int64)
    parts = [("", "whole range", view.reach)]
    parts += [
        (action, sized_words(action), view.reach * share)
        for action, share in zip(view.actions, view.strategy, strict=True)
    ]
    dead = blocked(hands(Deck(), 2), view.board)
    return [
        {
            "player": view.player,
            "action": action,
            "words": words,
            "text": _written(numbers, weights, dead),
            "combos": float(weights.sum()),
        }
        for action, words, weights in parts
    ]


def hands_text(view: NodeView, names: Sequence[str]) -> str:
    """Write some of a player's hands as the text of a range, or as a list of names if it is not hold'em."""
    if not view.holdem:
        return ", ".join(names)
    numbers = np.array([hand_index(Deck(), parse_hand(name)) for name in names], dtype=np.int64)
    return _written(numbers, np.ones(len(numbers)), blocked(hands(Deck(), 2), view.board))


def _written(numbers: NDArray[np.int64], weights: Floats, dead: NDArray[np.bool_]) -> str:
    """Write the hands ``numbers`` with ``weights`` as a range; ``dead``, ``[hand of the deck]``, are blocked."""
    written = np.zeros(NUM_HANDS)
    written[numbers] = np.clip(np.round(weights, DIGITS), 0.0, 1.0)
    classes = preflop_classes()[0]
    for number in np.unique(classes[dead]):
        live = written[(classes == number) & ~dead]
        if len(live) and (live == live[0]).all():
            written[classes == number] = live[0]
    return format_range(Range(written)) if written.any() else ""
