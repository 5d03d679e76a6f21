"""A time limit for a whole match: each hand adds seconds to a bank, and the bot spends them where they help most.

The Annual Computer Poker Competition limits the time of a match: all answers of a player together may take at most a
number of seconds times the number of hands. Most hands never reach a round that is re-solved, so their seconds are left
for the hands that do.
"""

from __future__ import annotations

import math

from spewy.errors import InputError, shown
from spewy.system.tools import MOST_SECONDS

HORIZON = 20
"""Number of coming hands over which the bank plans to spend its seconds."""
PRIOR_HANDS, PRIOR_DECISIONS = 20, 0.5
"""Number of hands that the bank pretends to have seen before the first hand, and number of solves in each of them."""
RESERVE = 5
"""Number of hands whose seconds the bank holds back, since one hand may need several solves."""
SHARE = 0.5
"""Largest share of the bank that one decision may spend, so that a decision that runs late does not overdraw it."""
MOST_OF_ANSWER = 60.0
"""Largest allowance of a decision in seconds; the ACPC's dealer waits ten minutes for an answer."""
AROUND = 0.002
"""Seconds charged for each decision in addition to the measured time, because sending messages takes time too."""


def importance(pot: float, size: float) -> float:
    """Weight of a solve: the bank divides time among solves in proportion to their weights.

    A strategy that was solved for a time T loses about ``pot * size / T`` chips: the loss is a share of the pot, which
    falls with each iteration, and an iteration takes time in proportion to the size. The sum of the losses is smallest
    if each solve has time in proportion to the square root of ``pot * size``.

    Args:
        pot: chips in the middle.
        size: size of the subgame: hands times actions, on all boards.

    >>> importance(400, 9) / importance(100, 9), importance(100, 36) / importance(100, 9)
    (2.0, 2.0)
    """
    return math.sqrt(pot * size)


class TimeBank:
    """The seconds of a match that a bot has not spent.

    Each hand adds a fixed number of seconds when it begins. The caller measures each decision and charges its seconds.
    If the bank is empty, solves get no time. So all decisions together last at most the fixed number of seconds times
    the number of hands, except for the short time of decisions without a solve.

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

        The bank adds up the seconds that it has now and those that the next `HORIZON` hands will add, and subtracts the
        seconds of `RESERVE` hands. It divides the result among the solves that it expects in the next `HORIZON` hands,
        in proportion to their weights. One solve gets at most the share `SHARE` of the bank and `MOST_OF_ANSWER`
        seconds.

        Args:
            weight: weight of the solve (`importance`).
            pending: seconds that the current decision has already taken, and that are not charged yet.
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
