"""Constants of the rows of an abstraction, shared by the modules that build and read it."""

__all__ = ["BY_BOARD", "BY_GRADE", "BY_HAND", "GRADES", "MAX_ROWS", "NO_ROW"]

GRADES = 255
"""Number of grades into which percentiles of strength are cut; this value says that the board blocks the hand."""

MAX_ROWS = 255
"""Largest number of rows of a class, unless each hand is a row: a row is stored in a byte."""

NO_ROW = 255
"""The row of a hand that the board blocks."""

BY_BOARD, BY_GRADE, BY_HAND = range(3)
"""How rows of a round are looked up: by board and hand, by class and grade of strength, or each hand is a row."""
