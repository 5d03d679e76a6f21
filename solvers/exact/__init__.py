"""The exact engine: games with a row for each hand of two cards, computed with vectors and in threads.

`engine.ExactCfr` solves what `solvers.reference` solves, many times faster, and is tested against it. The files in the
order in which data flows: `program` (betting as lists of steps), `tables` (boards), `storage` (regrets and sums),
`views`; the steps of a pass over one board in `reach`, `totals`, `terminals` and `update`; `plan` (the passes to do),
`passes` (from board to board), `context`, `engine`.

Words that the kernels of this package use:

- A *pass* goes over all boards for one player, the *traverser* (``own`` in names); the *opponent* is ``other``.
- A *block* is 16 hands of a player on a board. Padding rows fill the last block; they never get reach.
- A *slot* is one action of one decision of a player. A player's *sequence* at a node is the player's last slot on the
  way to the node, or the root where the line enters. Regrets are stored by slot, reach by sequence.
- A *leaf pair* is a fold, a showdown or one of each, all after one sequence of the opponent.
- A *workspace* is one thread's arrays ("buffers") for a round. An *offset* counts numbers from the start of an array.
"""

from solvers.exact.engine import ExactCfr, supports, useful_threads

__all__ = ["ExactCfr", "supports", "useful_threads"]
