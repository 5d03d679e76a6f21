"""All-in equity: the share of the pot that hands win when no betting follows.

The equity of a hand h against an opponent with weights w is

``equity[h] = Σ_B Σ_o w[o] (1[h beats o] + 1/2 1[h ties o]) / Σ_B Σ_o w[o]``

summed over all final boards B that contain the given board, and all opposing hands o that share no card with h or B.

Card removal is exact for both hands. On each final board one pass over the hands in order of strength sums the
weights of all hands so far, in all and per card; the hands that share a card are subtracted by inclusion and exclusion
(M. Johanson et al., "Accelerating Best Response Calculation in Large Extensive Games", IJCAI 2011).
So a hand's sums are accurate to about 1e-15 of the whole range's weight; they are exact if the weights are integers.
"""

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from buckets.cards.cards import NUM_CARDS, Deck, cards_name
from buckets.cards.hands import check_weights
from buckets.cards.strength import strength, strengths
from buckets.errors import BoardError

MAX_BOARDS = 1_000_000
_BOARDS_PER_CALL = 1024  # limits the memory of the strengths to a few MB


def equities(
    board: Sequence[int],
    hands: NDArray[np.integer],
    opp_weights: NDArray[np.floating],
    deck: Deck | None = None,
    n_board: int = 5,
    *,
    samples: int | None = None,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Compute the all-in equity of each hand against the opponent's range: shape (n_hands,).

    A hand gets nan if the board blocks it, or if it shares a card with each opposing hand that has weight.

    Args:
        board: the public cards so far.
        hands: (n_hands, hole_cards); the opponent holds one of these hands, too.
        opp_weights: (n_hands,), the opponent's range.
        deck: the cards of the game; None: 52 cards.
        n_board: number of public cards at the showdown.
        samples: number of final boards to draw at random; None: use all of them.
    """
    totals = showdown_totals(board, hands, opp_weights, deck, n_board, samples=samples, seed=seed)
    out = np.full(len(hands), np.nan)
    np.divide(totals.won, totals.weight, out=out, where=(totals.opponents > 0) & (totals.weight > 0))
    return np.clip(out, 0.0, 1.0, out=out)


def range_equity(
    board: Sequence[int],
    hands: NDArray[np.integer],
    weights: NDArray[np.floating],
    opp_weights: NDArray[np.floating],
    deck: Deck | None = None,
    n_board: int = 5,
    *,
    samples: int | None = None,
    seed: int = 0,
) -> float:
    """Compute the all-in equity of a player's range against the opponent's; nan if each pair of hands shares a card.

    The opponent's equity is 1 minus the result.

    Args:
        board: the public cards so far.
        hands: (n_hands, hole_cards), the hands of both players.
        weights: (n_hands,), the player's range.
        opp_weights: (n_hands,), the opponent's range.
        deck: the cards of the game; None: 52 cards.
        n_board: number of public cards at the showdown.
        samples: number of final boards to draw at random; None: use all of them.
    """
    own, opposing = check_weights(weights, len(hands)), check_weights(opp_weights, len(hands))
    held = (own > 0) | (opposing > 0)
    own = own[held]
    totals = showdown_totals(
        board, np.asarray(hands)[held], opposing[held], deck, n_board, samples=samples, seed=seed
    )
    playable = totals.opponents > 0
    joint = float(own[playable] @ totals.weight[playable])
    return float(own[playable] @ totals.won[playable]) / joint if joint > 0 else float("nan")


class ShowdownTotals(NamedTuple):
    """Sums over all final boards and all opposing hands that share no card with a hand or the board.

    Attributes:
        won: ``[hand]``, weight of the opposing hands that the hand beats, plus half the weight of those that it ties.
        weight: ``[hand]``, weight of the opposing hands.
        opponents: ``[hand]``, number of opposing hands that have weight.
    """

    won: NDArray[np.float64]
    weight: NDArray[np.float64]
    opponents: NDArray[np.int64]


def showdown_totals(
    board: Sequence[int],
    hands: NDArray[np.integer],
    opp_weights: NDArray[np.floating],
    deck: Deck | None = None,
    n_board: int = 5,
    *,
    samples: int | None = None,
    seed: int = 0,
) -> ShowdownTotals:
    """Compute the sums from which `equities` follow (same arguments); integer weights give exact sums."""
    weights = check_weights(opp_weights, len(hands))
    boards = final_boards(board, deck or Deck(), n_board, samples=samples, seed=seed)
    hand_array = np.array(hands, dtype=np.int64)
    if len(boards) == 1:
        return _board_totals(strength(boards[0], hand_array), hand_array, weights)
    from buckets.kernels.showdowns import add_showdowns

    totals = ShowdownTotals(np.zeros(len(hands)), np.zeros(len(hands)), np.zeros(len(hands), dtype=np.int64))
    for start in range(0, len(boards), _BOARDS_PER_CALL):
        power = strengths(boards[start : start + _BOARDS_PER_CALL], hand_array)
        add_showdowns(power, hand_array, weights, totals.won, totals.weight, totals.opponents)
    return totals


def _board_totals(
    power: NDArray[np.int32], hands: NDArray[np.int64], weights: NDArray[np.float64]
) -> ShowdownTotals:
    """Compute the sums on one board, as `buckets.kernels.showdowns.add_showdowns` does, without loading that kernel.

    Both functions add the same numbers in the same order, so their results are equal to the last bit. ``power[hand]``
    is the strength of each hand; -1: the board blocks the hand.
    """
    totals = ShowdownTotals(np.zeros(len(hands)), np.zeros(len(hands)), np.zeros(len(hands), dtype=np.int64))
    order = np.flatnonzero(power >= 0)
    order = order[np.argsort(power[order], kind="stable")]
    held, weight = hands[order], weights[order]
    place, two_cards = np.arange(len(order)), hands.shape[1] == 2
    holds = np.zeros((len(order), NUM_CARDS))
    holds[place[:, None], held] = weight[:, None]
    rest = np.zeros((len(order) + 1, NUM_CARDS))
    np.cumsum(holds, axis=0, out=rest[1:])
    total = np.concatenate([[0.0], np.cumsum(weight)])

    def without(end: Any) -> Any:
        """Sum the weight of the hands that share no card with each hand, among the ``end[hand]`` weakest hands.

        The weight of the hand itself, if it has two cards and is among them, is subtracted.
        """
        left: Any = total[end]
        for card in held.T:
            left = left - rest[end, card]
        return left

    own = weight if two_cards else 0.0  # the hand itself was subtracted once per card
    start, end = (np.searchsorted(power[order], power[order], side) for side in ("left", "right"))
    totals.won[order] = 0.5 * without(start) + 0.5 * (without(end) + own)
    totals.weight[order] = without(np.full(len(order), len(order))) + own
    counts = np.bincount(held[weight > 0].ravel(), minlength=NUM_CARDS)
    totals.opponents[order] = (weight > 0).sum() - counts[held].sum(axis=1) + (own > 0.0)
    return totals


def final_boards(
    board: Sequence[int], deck: Deck, n_board: int, *, samples: int | None = None, seed: int = 0
) -> NDArray[np.int64]:
    """List the boards of `n_board` cards that begin with `board`: shape (n_boards, n_board).

    With `samples`, that many boards are drawn at random instead.
    """
    cards = check_board(board, deck)
    remaining = np.array([card for card in deck.cards if card not in cards], dtype=np.int64)
    n_missing = n_board - len(cards)
    if not 0 <= n_missing <= len(remaining):
        raise BoardError(f"board {_describe(cards)}: expected at most {n_board} cards, got {len(cards)}")
    if samples is None:
        n_boards = comb(len(remaining), n_missing)
        if n_boards > MAX_BOARDS:
            raise BoardError(
                f"final boards: expected at most {MAX_BOARDS:,}, got {n_boards:,}; draw some of them with samples="
            )
        picks = np.array(list(combinations(range(len(remaining)), n_missing)), dtype=np.int64)
    else:
        if samples < 1:
            raise BoardError(f"samples: expected at least 1, got {samples!r}")
        picks = _random_picks(samples, len(remaining), n_missing, seed)
    out = np.empty((len(picks), n_board), dtype=np.int64)
    out[:, : len(cards)] = cards
    out[:, len(cards) :] = remaining[picks]
    return out


def check_board(board: Sequence[int], deck: Deck) -> list[int]:
    """Return the cards of a board as ints; refuse cards that the deck lacks or that occur twice."""
    cards = [int(card) for card in board]
    if len(set(cards)) < len(cards) or not set(cards) <= set(deck.cards):
        raise BoardError(f"board: expected different cards of {deck}, got {_describe(cards)}")
    return cards


def _random_picks(n_rows: int, n_choices: int, n_picks: int, seed: int) -> NDArray[np.int64]:
    """Draw random numbers below `n_choices`: ``[row, pick]``; the numbers of a row are all different."""
    rng = np.random.default_rng(seed)
    picks = np.empty((n_rows, n_picks), dtype=np.int64)
    pending = np.arange(n_rows)
    while len(pending):
        picks[pending] = rng.integers(n_choices, size=(len(pending), n_picks))
        ascending = np.sort(picks[pending], axis=1)
        pending = pending[(ascending[:, 1:] == ascending[:, :-1]).any(axis=1)]
    return picks


def _describe(cards: Sequence[int]) -> str:
    return cards_name(cards) if all(0 <= card < NUM_CARDS for card in cards) else str(list(cards))
