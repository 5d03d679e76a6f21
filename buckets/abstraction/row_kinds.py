"""Constants of the rows of an abstraction, shared by the modules that build and read it."""

__all__ = ["BY_BOARD", "BY_GRADE", "BY_HAND", "GRADES", "MAX_ROWS", "NO_ROW"]

GRADES = 255
"""Number of grades of strength, from 0 for the weakest hands.

In arrays of grades this number says that the board blocks the hand.
"""

MAX_ROWS = 255
"""Largest number of rows of a board bucket, since a row is stored in a byte; not a limit if each hand is a row."""

NO_ROW = 255
"""The row of a hand that the board blocks."""

BY_BOARD, BY_GRADE, BY_HAND = range(3)
"""How to find the row of a hand: by canonical board and hand, by board bucket and grade, or each hand is a row."""
