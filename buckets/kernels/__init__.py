"""Functions compiled by Numba; callers import them only when they compute, since loading them takes time."""

__all__ = [
    "agglomeration",
    "combinations",
    "dealing",
    "nearest",
    "percentiles",
    "showdowns",
    "strength",
]
