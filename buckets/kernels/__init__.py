"""What Numba compiles, one file for each module of `buckets` that calls it, when it has something to compute."""

__all__ = [
    "agglomeration",
    "combinations",
    "dealing",
    "equity",
    "nearest",
    "outcomes",
    "percentiles",
    "strength",
]
