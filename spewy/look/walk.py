"""Find the actions or cards that can follow a node of a solve's betting tree, each with its frequency.

The frequency of card c is its probability given both ranges at the node: ``W_c / Σ_c W_c``. Here
``W_c = Σ_{i, j} r0[i] r1[j] compat(i, j)`` with the ranges ``r0`` and ``r1``, summed over all hands without card c;
``compat`` is 1 for two hands without a common card, else 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from buckets.cards import cards_name
from buckets.types import Ints
from solvers.tree import Floats
from spewy.chunks.locate import possible_deals
from spewy.game.nodes import Line, Node
from spewy.look.chunk import NOTHING, Cards
from spewy.look.node import Step
from spewy.look.view import SolveView


def children(
    solution: SolveView, line: str = "", board: str | Sequence[int] | None = None
) -> tuple[Step, ...]:
    """List the actions or cards that can follow a line: see `spewy.Solution.children`."""
    node, cards = solution.at(line, board)
    if node.kind == "decision":
        return tuple(_actions(solution, node, cards))
    if node.kind == "chance":
        return tuple(_deals(solution, node, cards))
    return ()


def _actions(solution: SolveView, node: Node, cards: Cards) -> Iterator[Step]:
    frequencies = solution.chunk_view(node.line, cards, ev=False).frequencies(node).tolist()
    for action, child, share in zip(node.actions, node.children, frequencies, strict=True):
        yield _step(solution, action.label, share, child, cards)


def _deals(solution: SolveView, node: Node, cards: Cards) -> Iterator[Step]:
    """Yield the deals that can follow a chance node, high cards first."""
    (child,) = node.children
    game = solution.problem.game
    if not game.num_board_cards[child.round]:
        yield _step(solution, "no cards", 1.0, child, cards)
        return
    chunk = solution.chunk_view(node.line, cards, ev=False)
    deals = possible_deals(solution.problem, node.round, cards)
    weights = _weights(solution, chunk.reach[node.line], chunk.play.hands, [dealt for dealt, _ in deals])
    weights = weights * np.array([count for _, count in deals])
    total = weights.sum()
    shares = weights / total if total > 0 else np.full(len(deals), np.nan)
    for (dealt, count), share in zip(deals, shares.tolist(), strict=True):
        yield _step(solution, cards_name(dealt), share, child, game.board_order((*cards, *dealt)), count)


def _step(solution: SolveView, name: str, share: float, child: Node, board: Cards, count: int = 1) -> Step:
    line = Line(child.line)
    return Step(
        name,
        share,
        child.kind,
        solution.job.amounts.line_text(line),
        board,
        count,
        partial(solution.node, line, board),
        partial(children, solution, line, board),
    )


def _weights(
    solution: SolveView, reach: tuple[Floats, Floats], hands: tuple[Any, Any], deals: Sequence[Cards]
) -> Floats:
    """Sum the weights of all pairs of compatible hands that have no card of a deal: an array ``[deal]``.

    Args:
        solution: the solve.
        reach: both ranges at the node, per player ``[hand]``.
        hands: per player, numbers of the hands in the deck.
        deals: cards of each deal.
    """
    deck = solution.problem.hands
    n_held, n_cards = deck.shape[1], 1 + max(solution.problem.game.deck.cards)
    left = np.ones((len(deals), n_cards))
    left[np.arange(len(deals))[:, None], np.array(deals)] = 0.0
    by_cards = [_by_cards(deck[own], r, n_cards) for own, r in zip(hands, reach, strict=True)]
    with_card = [left * (left @ table) for table in by_cards]
    first, second = (each.sum(axis=1) / n_held for each in with_card)
    # All pairs, without those that share a card. Equal hands of two cards share both, so they would count twice.
    weights: Floats = first * second - np.einsum("dc,dc->d", *with_card)
    if n_held == 2:
        weights += np.einsum("dc,dc->d", left, left @ (by_cards[0] * by_cards[1])) / 2
    return np.where(weights > NOTHING * first * second, weights, 0.0)


def _by_cards(cards: Ints, reach: Floats, n_cards: int) -> Floats:
    """Arrange a range as a symmetric array ``[card, card]``: each hand's reach by its two cards.

    Hands of one card are on the diagonal.

    Args:
        cards: ``[hand, hole card]``, the cards of the hands.
        reach: ``[hand]``, the reach of the hands.
        n_cards: length of both axes.
    """
    table = np.zeros((n_cards, n_cards))
    table[cards[:, 0], cards[:, -1]] = table[cards[:, -1], cards[:, 0]] = reach
    return table
