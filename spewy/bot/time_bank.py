"""A time limit for a whole match: seconds per hand that a bot saves up, and spends where they help most.

The Annual Computer Poker Competition limits the time of a match: all answers of a player together may take at most a
number of seconds times the number of hands. Most hands never reach a round that is re-solved, so their seconds are left
for the hands that do.
"""

from __future__ import annotations

import math

from spewy.errors import InputError, shown
from spewy.system.clock import MOST_SECONDS

HORIZON = 20
"""Number of hands over which a bot plans to spend what is in the bank."""
PRIOR_HANDS, PRIOR_DECISIONS = 20, 0.5
"""A bot begins as if it had played so many hands, with so many solves a hand."""
RESERVE = 5
"""Seconds of so many hands stay in the bank in the long run, since a hand may need several solves."""
SHARE = 0.5
"""Largest share of the bank that one decision may spend, so that a late decision overdraws nothing."""
MOST_OF_ANSWER = 60.0
"""Largest allowance of a decision in seconds; the ACPC's dealer waits ten minutes for an answer."""
AROUND = 0.002
"""Seconds that each decision is charged for what the bot does not measure, such as messages."""


def importance(pot: float, size: float) -> float:
    """Weight of a solve in the division of time.

    After a time T, a solve loses about ``pot * size / T`` chips, since its iterations take time in proportion to its
    size, and its error is a share of the pot. The sum of all losses is smallest if each solve has time in proportion to
    the square root of its pot and its size.

    Args:
        pot: chips in the middle.
        size: number of strategy entries of the subgame.

    >>> importance(400, 9) / importance(100, 9), importance(100, 36) / importance(100, 9)
    (2.0, 2.0)
    """
    return math.sqrt(pot * size)


class TimeBank:
    """The seconds of a match that a bot has not spent.

    Each hand adds a fixed number of seconds when it begins, and each decision takes what it lasted. So at any time the
    decisions have lasted at most that number times the hands that have begun. The bank knows no clock.

    Args:
        per_hand: seconds that each hand adds.

    Attributes:
        hands: number of hands that have begun.
        spent: seconds that the decisions have lasted.

    Raises:
        InputError: ``per_hand`` is not a positive number of seconds.
    """

    def __init__(self, per_hand: float) -> None:
        if not 0 < per_hand <= MOST_SECONDS:
            raise InputError(
                f"seconds per hand: expected more than 0 and at most {MOST_SECONDS:,.0f}, found {shown(per_hand)}"
            )
        self.per_hand, self.hands, self.spent = per_hand, 0, 0.0
        self._weights = 0.0

    @property
    def left(self) -> float:
        """Seconds in the bank; below 0 if decisions without a solve have overdrawn it."""
        return self.per_hand * self.hands - self.spent

    def new_hand(self) -> None:
        """Add the seconds of a hand that begins."""
        self.hands += 1

    def allowance(self, weight: float, pending: float = 0.0) -> float:
        """Return the seconds that a solve may last now; 0 if the bank is empty.

        The bank divides what it holds beyond its reserve, and what the next hands will add, among the solves that these
        hands are expected to need, in proportion to their weights.

        Args:
            weight: weight of the solve (`importance`).
            pending: seconds that the decision has lasted before, and that are not charged yet.
        """
        left = self.left - pending
        if left <= 0:
            return 0.0
        weights = PRIOR_HANDS * PRIOR_DECISIONS * weight + self._weights
        per_hand = weights / (PRIOR_HANDS + self.hands)
        rate = (left + (HORIZON - RESERVE) * self.per_hand) / (HORIZON * per_hand)
        return min(rate * weight, SHARE * left, MOST_OF_ANSWER)

    def charge(self, seconds: float, weight: float = 0.0) -> None:
        """Take the seconds of a decision out of the bank.

        Args:
            seconds: seconds that the decision lasted.
            weight: weight of the solve; 0 if the decision solved nothing.
        """
        self.spent += seconds + AROUND
        self._weights += weight
