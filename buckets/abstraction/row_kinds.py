"""How rows of a round are found and numbered: what those who make an abstraction and those who read it agree on."""

__all__ = ["BY_BOARD", "BY_GRADE", "BY_HAND", "GRADES", "MAX_ROWS", "NO_ROW"]

GRADES = 255
"""Into which percentiles of strength are cut; this number itself says that the board hits a hand."""

MAX_ROWS = 255
"""Rows of a class, at most, where they are not single hands: a row is a byte."""

NO_ROW = 255

BY_BOARD, BY_GRADE, BY_HAND = range(3)
"""How rows of a round are found: in a table by board and hand, or by class and grade of strength, or one by one."""
