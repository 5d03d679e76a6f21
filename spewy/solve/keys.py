"""Keys of the lockers: the board, a bar, the line and the numbers of rows, so that a board's chunks share a shard.

``2.QsJh2h8c|cr120c/|40x40``: round, public cards up to suit symmetry (rounds apart by a slash), line, rows.
"""

from buckets.cards import cards_name
from buckets.symmetry import History

PAYOFF, REGRET, STRATEGY, GUESS, META = "payoff", "regret", "strategy", "guess", "meta"


def chunk_key(round_number: int, history: History, line: str, rows: tuple[int, int]) -> bytes:
    """The key of a chunk in every locker."""
    board = "/".join(cards_name(group) for group in history)
    return f"{round_number}.{board}|{line}|{rows[0]}x{rows[1]}".encode()


LEAVES = "leaves"
"""Values of the chance leaves that led to a dropped round."""

TRACE_KEY, TARGET_KEY = b"trace|", b"trace|target"
"""Where the checks are, and what they were measured against: the target as the job file says it."""

DROPPED_KEY = b"dropped|"
"""Where the number of the first dropped round is."""

SWEEP_KEY = b"sweep|"
"""Where the number of finished sweeps is."""
