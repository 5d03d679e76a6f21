"""Leduc hold'em, or Kuhn poker, with random strategies in its store, for tests of what reads one."""

from class_numbers import ClassSums

from buckets.abstraction import Abstraction, AbstractionSpec
from spewy.job.job import Job

JOBS = {
    "hands": ({"flop": "all"}, {"preflop": "hands", "flop": "hands"}),
    "classes": ({"flop": 2}, {"preflop": 2, "flop": 3}),
}


KUHN = {}, {"preflop": 3}


def stored(folder, boards, rows, deals=3, seed=0, game="leduc"):
    """Random strategies in a play locker."""
    job = Job.of({"name": game, "game": {"file": game}, "boards": boards, "rows": rows})
    board_buckets = Abstraction.build(
        AbstractionSpec(
            job.rules.deck, 1, job.rules.num_board_cards, ("all", *boards.values()), tuple(rows.values())
        )
    )
    sums = ClassSums(job.betting_tree, board_buckets.n_board_buckets, board_buckets.n_rows, seed)
    sums.arrays = board_buckets.arrays
    with sums.create(folder / "play", job.manifest()) as store:
        sums.write(store, deals)
    return folder
