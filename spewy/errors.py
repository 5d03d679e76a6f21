"""The named errors of spewy. Every message says the subject, what was expected and what was found."""

__all__ = [
    "InputError",
    "MissingError",
    "NotSolvedError",
    "PeerError",
    "SolveError",
    "SpewyError",
    "path_text",
    "short",
    "shown",
]

MOST_SHOWN, MOST_OF_PATH = 60, 300


class SpewyError(Exception):
    """Base of every error that spewy raises on purpose."""


class InputError(SpewyError):
    """Bad input from outside: a file, a range, a bet size, a betting line. The command line exits with 2."""


class NotSolvedError(InputError):
    """A folder of a solve that has saved nothing yet."""


class MissingError(SpewyError):
    """A package that an extra of the distribution brings is not installed. The command line exits with 1."""


class SolveError(SpewyError):
    """A solve that went wrong though its input was right. The command line exits with 1."""


class PeerError(SpewyError):
    """The other end of a connection vanished, stalled or talked nonsense. The command line exits with 1."""


def short(text: str, most: int = MOST_SHOWN) -> str:
    """Text as messages tell it: of what is long, the beginning and the length.

    >>> short("Qs Jh"), short("9" * 5000)[57:]
    ('Qs Jh', '999... (5,000 characters)')
    """
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"


def shown(value: object) -> str:
    """A value as messages tell it: of what is long, the beginning of its Python form.

    >>> shown("Qs"), shown("9" * 5000)[57:], shown([1] * 100)[55:]
    ("'Qs'", "9999'... (5,000 characters)", '1, 1,... (300 characters)')
    """
    if isinstance(value, str):
        return repr(value[:MOST_SHOWN]) + short(value)[MOST_SHOWN:]
    try:
        return short(repr(value))
    except (ValueError, RecursionError):  # more digits or deeper than Python writes
        return f"a large {type(value).__name__}"


def path_text(path: object) -> str:
    """A path as messages tell it: of what is very long, the beginning and the length."""
    return short(str(path), MOST_OF_PATH)
