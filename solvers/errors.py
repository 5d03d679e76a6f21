"""Errors of the solvers. Each message says the subject, what was expected and what was found."""

from compiled.errors import SpewyError


class SolverError(SpewyError, ValueError):
    """A game, a discount or an array that a solver refuses; any function that takes such a thing may raise it."""
