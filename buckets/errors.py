"""What this package raises. Each message says the subject, what was expected and what was found."""


class BucketError(ValueError):
    """Anything wrong with what was given to `buckets`."""


class CardError(BucketError):
    """A card, a hand or a deck that cannot be."""


class BoardError(BucketError):
    """A board, a public history or a suit permutation that cannot be."""


class RangeError(BucketError):
    """Hand weights of the wrong length, or negative, or not finite."""
