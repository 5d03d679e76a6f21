"""Collect what a web page shows at one position of a solution: the line, both players' hands, and the next actions.

A position is a decision, a deal of cards or the end of a hand. Its JSON is made of the objects of
`spewy.look.node.NodeView.to_json`, `spewy.look.grid.Grid.to_json` and `spewy.look.node.Step.to_json`, so a page shows
the same numbers as ``spewy show --json``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from buckets.cards import cards_name
from solvers.tree import Floats
from spewy.errors import NotSolvedError
from spewy.game.lines import action_words
from spewy.game.nodes import Line, Node
from spewy.look.chunk import Cards
from spewy.look.colours import SEATS, action_colours, hex_colour
from spewy.look.curves import realisation
from spewy.look.grid import class_means, json_numbers
from spewy.look.hand_filter import filtered
from spewy.look.node import NodeView, Step
from spewy.look.solution import Solution

HEATS = ("EV", "equity", "realisation", "regret")
"""Quantities for which a position has heat maps, besides the reach and the frequencies of its grid."""


def position(
    solution: Solution,
    line: str = "",
    board: str | Sequence[int] | None = None,
    *,
    ev: bool = True,
    filters: Sequence[str] = (),
    deals: bool = True,
) -> dict[str, Any]:
    """Return everything to show after a line of a solution, as a JSON object.

    Args:
        solution: the solution.
        line: betting since the root of the solve, as players write it or as an ACPC string.
        board: all public cards; None for the root's.
        ev: whether to compute EVs and equities, which are null otherwise.
        filters: hands to show, by kinds or cards (`spewy.look.hand_filter`); empty for all hands.
        deals: whether to list the cards that can follow at the end of a round, which takes time before the flop.

    Returns:
        ``kind`` of the node (decision, chance, fold or showdown), its ``line`` and ``words``, the public cards as
        ``board``, the ``pot`` and what each player has ``put_in`` since the root, in ``unit``; ``path``, the decisions
        before the node, each with its ``steps`` and the number of the ``taken`` step, and the deals before the node,
        each with the ``dealt`` cards; ``steps``, the actions or cards that can follow; and for a decision ``views``,
        the hands of player 0 and of player 1 with reach, strategy, EV and equity, and ``totals``, EV and equity of
        both ranges.

    Raises:
        InputError: the line does not exist, the board is impossible after it, or a filter is invalid.
    """
    node, cards = solution.at(line, board)
    unit = solution.job.amounts
    found: dict[str, Any] = {
        "name": solution.job.name,
        "progress": solution.progress,
        "kind": node.kind,
        "player": node.player,
        "line": unit.line_text(Line(node.line)),
        "words": solution.words(node),
        "board": cards_name(cards),
        "unit": unit.name,
        "pot": solution.pot_at(node),
        "put_in": [chips / unit.chips for chips in node.put_in],
        "path": list(_path(solution, node, cards)),
        "steps": _steps(
            node, solution.children(Line(node.line), cards) if deals or node.kind != "chance" else ()
        ),
    }
    if node.kind == "decision":
        views = [
            solution.node(Line(node.line), cards, ev=ev),
            solution.waiting(Line(node.line), cards, ev=ev),
        ]
        views = [filtered(solution.job.rules, view, filters) for view in views]
        found["views"] = [_view(view, found["pot"]) for view in sorted(views, key=lambda view: view.player)]
        found["totals"] = _totals(solution, node, cards, found["pot"]) if ev else None
        found["board_bucket"] = views[0].board_bucket
    return found


def summary(solution: Solution) -> dict[str, Any]:
    """Return facts about a solution as a JSON object: name, kind, board, progress and last measured exploitability."""
    job, problem = solution.job, solution.problem
    pct = float("nan") if job.sampled else solution.checked_pct
    return {
        "name": job.name,
        "holdem": job.rules.num_hole_cards == 2 and len(job.rules.deck) == 52,
        "kind": "spot" if problem.is_spot else "whole game",
        "board_buckets": job.sampled,
        "board": "" if job.board is None else cards_name(job.board),
        "board_sizes": list(job.rules.board_sizes),
        "unit": job.amounts.name,
        "pot": problem.pot / job.amounts.chips,
        "progress": solution.progress,
        "exploitability_pct": _number(pct),
    }


def _path(solution: Solution, node: Node, cards: Cards) -> Iterator[dict[str, Any]]:
    """Yield each decision before a node with the steps that can follow it, and each deal with the dealt cards."""
    sizes, first = solution.job.rules.board_sizes, solution.problem.first_round
    before = ""
    for token in re.findall(r"/|[a-z]\d*", node.line):
        after = before + token
        t = first + before.count("/")
        board = cards[: sizes[t]]
        if token == "/":
            dealt = cards[sizes[t] : sizes[t + 1]]
            yield {
                "kind": "cards",
                "line": solution.job.amounts.line_text(Line(before)),
                "board": cards_name(board),
                "dealt": cards_name(dealt),
            }
        else:
            here = solution.problem.tree.alone(Line(before))
            yield {
                "kind": "decision",
                "player": here.player,
                "line": solution.job.amounts.line_text(Line(before)),
                "board": cards_name(board),
                "taken": [child.line.rstrip("/") for child in here.children].index(after),
                "steps": _steps(here, solution.children(Line(before), board)),
            }
        before = after


def _steps(node: Node, steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Return the actions or deals that can follow a node as JSON objects; actions get words and a colour."""
    out = [step.to_json() for step in steps]
    if node.kind == "decision":
        colours = action_colours([step.name for step in steps])
        for step, colour in zip(out, colours, strict=True):
            step["words"], step["colour"] = action_words(step["name"]), hex_colour(colour)
    return out


def _view(view: NodeView, pot: float) -> dict[str, Any]:
    """Return one player's hands at a decision as a JSON object.

    The object has the keys of `NodeView.to_json`, and ``shares``, the share of the whole range that takes each action.
    For hold'em it also has ``grid``, the grid of hand classes; ``heat``, the means over hand classes by the name of the
    quantity; and ``kinds``, the made hand and draws of each hand.

    Args:
        view: the player's hands at the decision.
        pot: size of the pot, in the unit of the EVs.
    """
    found = view.to_json()
    found["colours"] = [hex_colour(c) for c in action_colours(view.actions) or [SEATS[view.player]]]
    found["words"] = [action_words(action) for action in view.actions]
    found["shares"] = json_numbers(view.frequencies)
    found["combos"] = float(view.reach.sum())
    for name, values in _hand_figures(view, pot).items():
        for hand, value in zip(found["hands"].values(), json_numbers(values), strict=True):
            hand[name] = value
    if not view.holdem:
        return found
    found["grid"] = view.grid().to_json() | {"shares": found["shares"]}
    figures = {"EV": view.ev, "equity": view.equity, **_hand_figures(view, pot)}
    found["heat"] = {name: json_numbers(class_means(view.hands, view.reach, figures[name])) for name in HEATS}
    if view.kinds is not None:
        made, draws = view.kinds.made_names, view.kinds.draw_names
        found["kinds"] = [", ".join(filter(None, pair)) for pair in zip(made, draws, strict=True)]
    return found


def _hand_figures(view: NodeView, pot: float) -> dict[str, Floats]:
    """Compute two quantities of each hand from its EVs and equity, as arrays ``[hand]`` by name.

    ``realisation`` is ``EV / (equity · pot)``. ``regret`` is the EV of the hand's best action minus its EV, if the
    strategy is followed afterwards; NaN for the player who waits.
    """
    best = view.action_ev.max(axis=0) if view.actions else np.full(len(view.hands), np.nan)
    regret = np.maximum(best - view.ev, 0.0)
    return {"realisation": realisation(view, pot), "regret": regret}


def _totals(solution: Solution, node: Node, cards: Cards, pot: float) -> dict[str, Any] | None:
    """Return EV, equity and equity realisation of both whole ranges; None if the solve lacks the values for them."""
    try:
        totals = solution.totals(Line(node.line), cards)
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
