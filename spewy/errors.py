"""Errors of Spewy, and functions that format values for error messages.

All errors, also those of `buckets`, `lockers` and `solvers`, derive from `SpewyError`, which `compiled.errors` defines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from compiled.errors import SpewyError

__all__ = [
    "MOST_OF_ERROR",
    "InputError",
    "MissingError",
    "NotSolvedError",
    "PeerError",
    "SolveError",
    "SpewyError",
    "error_line",
    "nearest",
    "one_line",
    "path_text",
    "short",
    "shown",
    "size_text",
    "visible",
]

MOST_SHOWN, MOST_OF_PATH, MOST_OF_ERROR = 60, 300, 200


class InputError(SpewyError):
    """Bad input, such as in a file, a range, a bet size or a betting line. The command line exits with 2.

    Any function raises it for arguments, files or folders that it cannot use, also where its docstring names only other
    errors. The message says what was expected.
    """


class NotSolvedError(InputError):
    """The folder of a solve holds no saved strategy yet."""


class MissingError(SpewyError):
    """An optional package (of one of the distribution's extras) is not installed. The command line exits with 1."""


class SolveError(SpewyError):
    """A solve failed although its input was valid. The command line exits with 1."""


class PeerError(SpewyError):
    """The other end of a connection closed it, stalled or broke the protocol. The command line exits with 1."""


def visible(text: str) -> str:
    r"""Escape control characters in a text, since a terminal would execute them.

    >>> visible("Dürer"), visible(chr(27) + "[2J")
    ('Dürer', '\\x1b[2J')
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def short(text: str, most: int = MOST_SHOWN) -> str:
    """Format a text for a message: escape control characters, and replace the end of a long text by its length.

    >>> short("Qs Jh"), short("9" * 5000)[57:]
    ('Qs Jh', '999... (5,000 characters)')
    """
    return visible(text[:most]) + _rest(text, most)


def one_line(text: str, most: int | None = None) -> str:
    r"""Join a text's lines into one line and escape control characters; cut the line after ``most`` characters.

    >>> one_line("no such\n    file")
    'no such file'
    """
    line = " ".join(text.split())
    return visible(line) if most is None else short(line, most)


def error_line(error: BaseException, most: int = MOST_OF_ERROR) -> str:
    """Describe an error of a library in one line: its class and its text.

    >>> error_line(KeyError("name"))
    "KeyError: 'name'"
    """
    return one_line(f"{type(error).__name__}: {error}", most)


def shown(value: object) -> str:
    """Format a value for a message as ``repr`` does; the length of a long text replaces its end.

    >>> shown("Qs"), shown("9" * 5000)[57:], shown([1] * 100)[55:]
    ("'Qs'", "9999'... (5,000 characters)", '1, 1,... (300 characters)')
    """
    if isinstance(value, str):
        return repr(value[:MOST_SHOWN]) + _rest(value, MOST_SHOWN)
    try:
        return short(repr(value))
    except (ValueError, RecursionError):  # Python refuses to write very large integers and very deep lists
        return f"a large {type(value).__name__}"


def nearest(word: str, known: Iterable[str] | Mapping[str, str]) -> str:
    """Return the known name that is most similar to a word, as the end of a message; an empty text if none is similar.

    Args:
        word: the unknown word.
        known: the names, with which the word is compared; or a mapping to the names from texts to compare with.

    >>> nearest("traget", ["target", "memory"]), nearest("x", ["target"]), nearest("evv", {"ev": "EV"})
    (' (nearest: target)', '', ' (nearest: EV)')
    """
    from difflib import get_close_matches

    names = known if isinstance(known, Mapping) else {name: name for name in known}
    close = get_close_matches(word, names, 1)
    return f" (nearest: {names[close[0]]})" if close else ""


def path_text(path: object) -> str:
    """Format a path for a message by `short`, which replaces the end of a very long path by the path's length."""
    return short(str(path), MOST_OF_PATH)


def size_text(n_bytes: int) -> str:
    """Format a number of bytes.

    >>> size_text(512), size_text(3 * 2**20), size_text(5 * 2**30)
    ('512 B', '3.0 MiB', '5.0 GiB')
    """
    amount, unit = float(n_bytes), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if amount < 1024 or unit == "TiB":
            break
        amount /= 1024
    return f"{amount:.0f} B" if unit == "B" else f"{amount:.1f} {unit}"


def _rest(text: str, most: int) -> str:
    return "" if len(text) <= most else f"... ({len(text):,} characters)"
