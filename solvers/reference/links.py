"""Kernels that carry reach and values between a board and the boards that are dealt from it."""

from compiled import kernel
from solvers.tree import Floats, Ints


@kernel
def gather_rows(parent: Floats, parent_row: Ints, count: int, child: Floats) -> None:
    """Write the reach at the roots of a dealt board from the reach at the chance leaves before it.

    ``child[root, h]`` becomes ``parent[root, parent_row[h]]``, where ``parent_row[h]`` is the hand before the deal.
    """
    for r in range(parent.shape[0]):
        for h in range(count):
            child[r, h] = parent[r, parent_row[h]]


@kernel
def scatter_values(
    child: Floats, image: Ints, scale: float, n_roots: int, count: int, parent: Floats
) -> None:
    """Add the values at the roots of a dealt board, times ``scale``, to the values at the chance leaves before it.

    ``image[h]`` is the number that hand h has on the dealt board; -1: the board blocks the hand.
    """
    factor = parent.dtype.type(scale)
    for r in range(n_roots):
        for h in range(count):
            if image[h] >= 0:
                parent[r, h] += factor * child[r, image[h]]
