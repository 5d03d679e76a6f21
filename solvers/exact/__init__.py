"""The exact engine: live games in which every row is a hand of two cards, in explicit vectors and threads.

`engine.ExactCfr` solves what `solvers.reference` solves, many times faster, and is tested against it. The files in the
order in which data flows: `program` (betting as lists of steps), `tables` (boards and storage), `kernels` (a pass over
one board), `passes` (boards below boards), `rig`, `engine`.
"""

from solvers.exact.engine import ExactCfr, supports, useful_threads

__all__ = ["ExactCfr", "supports", "useful_threads"]
