"""The named errors of spewy. Every message says the subject, what was expected and what was found."""

__all__ = ["InputError", "SolveError", "SpewyError"]


class SpewyError(Exception):
    """Base of every error that spewy raises on purpose."""


class InputError(SpewyError):
    """Bad input from outside: a file, a range, a bet size, a betting line. The command line exits with 2."""


class SolveError(SpewyError):
    """A solve that went wrong though its input was right. The command line exits with 1."""
