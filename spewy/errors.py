"""The named errors of spewy. Every message says the subject, what was expected and what was found."""

__all__ = ["InputError", "SpewyError", "short", "shown"]

MOST_SHOWN = 60


class SpewyError(Exception):
    """Base of every error that spewy raises on purpose."""


class InputError(SpewyError):
    """Bad input from outside: a file, a range, a bet size, a betting line. The command line exits with 2."""


def short(text: str) -> str:
    """Text as messages tell it: of what is long, the beginning and the length.

    >>> short("Qs Jh"), short("9" * 5000)[57:]
    ('Qs Jh', '999... (5,000 characters)')
    """
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}... ({len(text):,} characters)"


def shown(value: object) -> str:
    """A value as messages tell it: the beginning of its Python form.

    >>> shown("Qs"), shown([1] * 100)[55:]
    ("'Qs'", ' 1, 1... (300 characters)')
    """
    try:
        return short(repr(value))
    except (ValueError, RecursionError):  # more digits or deeper than Python writes
        return f"a large {type(value).__name__}"
