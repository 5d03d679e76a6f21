"""Errors of this package. Each message says the subject, the expectation and the actual value."""

from compiled.errors import SpewyError


class BucketError(SpewyError, ValueError):
    """Base class of the errors of `buckets`: an argument is wrong."""


class CardError(BucketError):
    """A card, a hand or a deck is not valid."""


class BoardError(BucketError):
    """A board, a public history, a suit permutation or the specification of an abstraction is not valid."""


class RangeError(BucketError):
    """Weights have the wrong length, are negative, or are not finite."""
