"""Errors of the solvers: each message says the subject, what was expected and what was found."""


class SolverError(ValueError):
    """A game, a discount or an array that a solver refuses."""
