"""The exact engine: CFR with a strategy row for each hand of two cards, in vector instructions and threads.

`engine.ExactCfr` solves such games with the same results as `solvers.reference`, many times faster. The modules:

- `tables` has the game as kernels read it: steps of the betting, hands on all boards, maps between rounds.
- `board` has the four steps of a pass on one board, in the order of the formulas, and the tuples that kernels read.
- `passes` goes from board to board, as a `Plan` says.
- `storage` has the regrets and sums, `context` the buffers and threads, and the memory that they take.
- `engine` has the solver. `many` solves many one-round games in one call of a kernel.

Words that the kernels of this package use:

- A *pass* goes over all boards and computes the values of one player, the *traverser*. In names, ``own`` is the
  traverser and ``other`` the opponent.
- A *block* is 16 hands of a player on a board. Padding rows, whose reach is always 0, fill up the last block.
- A *slot* is one action of one decision of a player; regrets are arrays over slots. A player's *sequence* at a node is
  the last slot that the player chose on the way to the node, or, before the player's first action of the round, the
  betting line that entered the round. Reach is an array over sequences.
- A *leaf pair* is a fold, a showdown, or one of each, at which the opponent has the same sequence and hence the same
  reach.
- A *workspace* is a thread's set of buffers for a round. An *offset* counts array elements from the start of a buffer.
"""

from solvers.exact.engine import ExactCfr, supports, useful_threads

__all__ = ["ExactCfr", "supports", "useful_threads"]
