"""Percentile outcomes: the share of opposing hands that a hand beats, for each way to complete the board.

For each way r to complete the board with cards that the hand does not hold,

``outcome[h, r] = Σ_o (1[h beats o] + 1/2 1[h ties o]) / Σ_o 1``

over the opposing hands o that share no card with h or the final board. All ways and all opposing hands have equal
weight. `outcomes` sorts a hand's outcomes in ascending order, which makes its *curve*. So the k-th outcomes of two
hands can be compared, although they come from different cards. (B. Williams et al., "Spewy Louie Jr.", the hand
clustering.)

All denominators are equal, so an outcome is an integer, its *level* ``2 · wins + ties``, divided by a constant.
"""

from collections.abc import Sequence
from math import comb

import numpy as np
from numpy.typing import NDArray

from buckets.cards.cards import Deck
from buckets.cards.hands import blocked
from buckets.cards.showdown import MAX_BOARDS, final_boards
from buckets.cards.strength import strengths
from buckets.cards.symmetry import hand_orbits

#: Number of final boards to draw if there are too many to use all of them (before hold'em's flop).
SAMPLES = 20_000
#: Number of outcomes of each hand when final boards are drawn: the quantiles at (k + 1/2) / SAMPLED_OUTCOMES.
SAMPLED_OUTCOMES = 1_000
_BOARDS_PER_CALL = 256  # limits the memory of the strengths to about a MB


def outcomes(
    board: Sequence[int],
    hands: NDArray[np.integer],
    deck: Deck | None = None,
    n_board: int = 5,
    *,
    samples: int | None = None,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Compute the sorted outcomes of each hand: (n_hands, n_outcomes); nan: the board blocks the hand.

    Args:
        board: the public cards so far.
        hands: (n_hands, hole_cards), all hands of the deck; the opponent holds one of them.
        deck: the cards of the game; None: 52 cards.
        n_board: number of public cards at the showdown.
        samples: number of final boards to draw at random; None: use all of them, or `SAMPLES` if there are more than a
            million. If boards are drawn, hands that are equal up to suits on the board get the same outcomes:
            `SAMPLED_OUTCOMES` quantiles of all their outcomes.

    In hold'em a flop gives 1,081 outcomes, a turn 46, a river 1.

    >>> from buckets.cards import hands, parse_cards
    >>> outcomes(parse_cards("Qs Jh 2h"), hands(Deck(), 2)).shape
    (1326, 1081)
    """
    deck = deck or Deck()
    if samples is None and comb(len(deck) - len(board), max(n_board - len(board), 0)) > MAX_BOARDS:
        samples = SAMPLES
    levels = _levels(final_boards(board, deck, n_board, samples=samples, seed=seed), hands)
    live = np.flatnonzero(~blocked(hands, board))
    if samples is None:
        # Every hand has an outcome on equally many final boards; sorting puts the -1 of blocked boards first.
        n_outcomes = int((levels[:, live[0]] >= 0).sum()) if len(live) else 0
        curves = np.sort(levels.T[live], axis=1, kind="stable")[:, levels.shape[0] - n_outcomes :]
    else:
        kinds = hand_orbits(board, hands, deck)[live]
        curves = np.empty((len(live), SAMPLED_OUTCOMES), dtype=np.int16)
        for kind in np.unique(kinds):
            curves[kinds == kind] = _quantiles(levels[:, live[kinds == kind]], SAMPLED_OUTCOMES)
    opponents = comb(max(len(deck) - n_board - hands.shape[1], 0), hands.shape[1])
    out = np.full((len(hands), curves.shape[1]), np.nan)
    # Without opponents (the deck is too small for two players) every outcome is 1/2.
    out[live] = curves / (2 * opponents) if opponents else 0.5
    return out


def _levels(boards: NDArray[np.int64], hands: NDArray[np.integer]) -> NDArray[np.int16]:
    """Compute ``2 · wins + ties`` of each hand against all others: ``[final board, hand]``; -1: a blocked hand."""
    from buckets.kernels.showdowns import fill_levels

    levels = np.empty((len(boards), len(hands)), dtype=np.int16)
    hand_array = np.array(hands, dtype=np.int64)
    for start in range(0, len(boards), _BOARDS_PER_CALL):
        part = slice(start, start + _BOARDS_PER_CALL)
        fill_levels(strengths(boards[part], hand_array), hand_array, levels[part])
    return levels


def _quantiles(levels: NDArray[np.int16], n: int) -> NDArray[np.int16]:
    """Return the quantiles at (k + 1/2) / n, for each k < n, of levels (``2 · wins + ties``); -1 is a blocked hand."""
    pool = np.sort(levels[levels >= 0], kind="stable")
    ranks = len(pool) * (2 * np.arange(n) + 1) // (2 * n)
    picked: NDArray[np.int16] = pool[ranks]
    return picked
