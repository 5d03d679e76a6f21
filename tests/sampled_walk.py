"""A single visit of the sampled engine by one player; the engine itself always visits for both."""

from solvers.reference.kernels import UPDATE
from solvers.sampled.passes import walk


def learn_once(rig, schedule, p, scratch, boards, n_boards, out):
    """Let player p learn from one tree of boards, or from the first path.

    Args:
        rig: a `solvers.sampled.rig.Rig`.
        schedule: a `solvers.sampled.passes.Schedule`.
        p: the player.
        scratch: buffers that the rig made.
        boards: packed `solvers.sampled.views.Boards`.
        n_boards: number of boards in the tree or path.
        out: room for the values of the first round's hands.
    """
    tables = rig._learning[p], rig._learning[1 - p]
    walk(
        UPDATE, 0, schedule, tables, scratch, boards, 0, n_boards, rig.n_rounds, out.ctypes.data, 0, -1, True
    )
