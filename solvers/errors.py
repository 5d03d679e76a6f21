"""Errors of the solvers: each message says the subject, what was expected and what was found."""


class SolverError(ValueError):
    """A game, a schedule or an array that a solver cannot take."""
