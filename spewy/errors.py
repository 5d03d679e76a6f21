"""The named errors of spewy. Every message says the subject, what was expected and what was found."""

__all__ = ["InputError", "SpewyError"]


class SpewyError(Exception):
    """Base of every error that spewy raises on purpose."""


class InputError(SpewyError):
    """Bad input from outside: a file, a range, a bet size, a betting line. The command line exits with 2."""
