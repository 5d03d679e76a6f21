"""Describe the board bucket of a board in a whole game: other boards of the bucket, and the row of each hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from buckets.cards import canonical, cards_name, hand_name
from spewy.errors import InputError
from spewy.look.solution import Solution
from spewy.records.bucket_policy import BucketPolicy

DEALS_AT_ONCE = 4096
"""Number of random deals that are searched for other boards in one step."""
MOST_DEALS = 100_000
"""Largest number of random deals that are searched for other boards of a bucket."""
MOST_BOARDS = 12
"""Largest number of other boards that are listed for a bucket."""


def board_bucket(
    solution: Solution, line: str = "", board: str | Sequence[int] | None = None
) -> dict[str, Any]:
    """Describe the board bucket of a board, as a JSON object.

    Args:
        solution: the solve of a whole game with board buckets.
        line: betting since the root of the solve.
        board: all public cards; None if there are none.

    Returns:
        ``bucket``, the number of the board bucket; ``of``, the number of board buckets in its round; ``boards``, names
        of other boards of the bucket, found by random deals and different by more than suits; and ``row_of``, the
        number of each hand's row by the name of the hand.

    Raises:
        InputError: the solve has no board buckets, or the board is impossible after the line.
    """
    policy = solution.reads.policy
    if not isinstance(policy, BucketPolicy):
        raise InputError(f"job {solution.job.name}: expected a whole game with [boards], found another solve")
    node, cards = solution.at(line, board)
    bucket, rows = policy.rows_on(node.round, cards)
    deck = solution.problem.hands
    return {
        "bucket": bucket,
        "of": policy.strategies.saved.board_buckets[node.round],
        "boards": [cards_name(found) for found in _others(solution, policy, node.round, cards, bucket)],
        "row_of": {hand_name(deck[h]): int(rows[h]) for h in np.flatnonzero(rows >= 0)},
    }


def _others(
    solution: Solution, policy: BucketPolicy, t: int, cards: Sequence[int], bucket: int
) -> Iterator[tuple[int, ...]]:
    """Yield other boards of a board bucket of round t, from random deals."""
    from buckets.abstraction import Abstraction

    game, size, abstraction = solution.job.rules, len(cards), policy.abstraction
    if not size or not isinstance(abstraction, Abstraction):
        return
    seen = {canonical(game.cut(cards), game.deck)[0]}
    for first in range(0, MOST_DEALS, DEALS_AT_ONCE):
        classes = abstraction.classes_of_deals(0, first, DEALS_AT_ONCE)[:, t]
        for number in first + np.flatnonzero(classes == bucket):
            dealt = tuple(abstraction.deal(0, [int(number)]).boards[0, :size].tolist())
            history = canonical(game.cut(dealt), game.deck)[0]
            if history not in seen:
                seen.add(history)
                yield game.board_order(dealt)
            if len(seen) > MOST_BOARDS:
                return
