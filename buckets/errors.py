"""Errors of this package. Each message says the subject, the expectation and the actual value."""


class BucketError(ValueError):
    """Base class of the errors of `buckets`: an argument is wrong."""


class CardError(BucketError):
    """A card, a hand or a deck that does not exist."""


class BoardError(BucketError):
    """A board, a public history, a suit permutation or an abstraction that does not exist."""


class RangeError(BucketError):
    """Weights of the wrong length, negative weights, or weights that are not finite."""
