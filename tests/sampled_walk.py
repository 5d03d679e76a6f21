"""A single visit of the sampled engine by one player; the engine itself always visits for both."""

from solvers.reference.kernels import UPDATE
from solvers.sampled.passes import Walk, walk


def learn_once(context, discount, p, works, boards, n_boards, out, cfr_br=0.0):
    """Let player p learn from one tree of boards, or from the first path.

    Args:
        context: a `solvers.sampled.context.Context`.
        discount: a `solvers.discount.Discount`.
        p: the player.
        works: buffers of the context.
        boards: packed `solvers.sampled.views.Boards`.
        n_boards: number of boards in the tree or path.
        out: room for the values of the first round's hands.
        cfr_br: share of the opponent's play that is its best answer.
    """
    views = context._learning[p], context._learning[1 - p]
    job = Walk(UPDATE, 0, discount, cfr_br, views, works, boards, context.n_rounds, out.ctypes.data)
    walk(job, 0, n_boards, 0, -1, True)
