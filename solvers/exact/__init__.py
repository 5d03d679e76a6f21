"""The exact engine: live games in which every row is a hand of two cards, in explicit vectors and threads.

`engine.ExactCfr` solves what `solvers.reference` solves, many times faster, and is tested against it. The files in the
order in which data flows: `program` (betting as lists of steps), `tables` (boards), `storage` (regrets and sums),
`views`; the steps of a pass over one board in `reach`, `totals`, `terminals` and `update`; `passes` (boards below
boards), `context`, `engine`.
"""

from solvers.exact.engine import ExactCfr, supports, useful_threads

__all__ = ["ExactCfr", "supports", "useful_threads"]
