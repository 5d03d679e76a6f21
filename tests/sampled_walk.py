"""A single visit of the sampled engine by one player; the engine itself always visits for both."""

from solvers.reference.kernels import UPDATE
from solvers.sampled.passes import Walk, walk


def learn_once(context, discount, p, works, boards, n_boards, out):
    """Let player p learn from one tree of boards, or from the first path.

    Args:
        context: a `solvers.sampled.context.Context`.
        discount: a `solvers.discount.Discount`.
        p: the player.
        works: buffers of the context.
        boards: packed `solvers.sampled.views.Boards`.
        n_boards: number of boards in the tree or path.
        out: room for the values of the first round's hands.
    """
    job = Walk(UPDATE, 0, discount, context._learning[p], works[0], boards, context.n_rounds, out.ctypes.data)
    walk(job, 0, n_boards, 0, -1, True)
