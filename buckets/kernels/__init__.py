"""Functions compiled by Numba. Loading them takes time, so other modules import them where they call them."""

__all__ = ["clustering", "combinations", "dealing", "percentiles", "showdowns", "strength"]
