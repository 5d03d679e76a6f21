"""The textbook simplex algorithm on a dense tableau, to measure what it costs to store and multiply zeros.

It solves

    maximise c·z   subject to   A_ub z ≤ 0,   A_eq z = b ≥ 0,   z[:n_positive] ≥ 0, the other z free

in two phases with Dantzig's rule; all free variables share one negative part. The SimplexSolver of Apache Commons Math,
which the paper used, works in the same way; this is compiled code. To avoid cycles, the ratio test uses a slightly
perturbed right-hand side; the tableau also has the exact one. No solver of this project uses the algorithm:
`lp_or_cfr` compares it with HiGHS.
"""

import numba
import numpy as np

OPTIMAL, UNBOUNDED, OUT_OF_PIVOTS = range(3)
TOLERANCE = 1e-9


def maximise(c, A_ub, A_eq, b, n_positive, max_pivots=100_000):
    """Maximise c·z for ``A_ub z ≤ 0``, ``A_eq z = b`` and ``z[:n_positive] ≥ 0``; return value, z and number of pivots.

    Raises:
        ValueError: the program has no optimum, or ``max_pivots`` pivots do not reach it.
    """
    n, n_ub, n_eq = len(c), len(A_ub), len(A_eq)
    m, width = n_ub + n_eq, n + 1 + n_ub + n_eq  # columns: z, the shared negative part, slacks, artificials
    tableau = np.zeros((m + 2, width + 2))  # last columns: right-hand sides, perturbed and exact
    for first, rows in ((0, A_ub), (n_ub, A_eq)):
        tableau[first : first + len(rows), :n] = rows
        tableau[first : first + len(rows), n] = -rows[:, n_positive:].sum(axis=1)
    tableau[np.arange(m), n + 1 + np.arange(m)] = 1.0
    tableau[n_ub:m, -2:] = b[:, None]
    tableau[:m, -2] += 1e-7 * np.random.default_rng(0).uniform(1.0, 2.0, m)
    tableau[m, :n], tableau[m, n] = -c, c[n_positive:].sum()
    artificial = n + 1 + n_ub
    tableau[m + 1, :artificial] = -tableau[n_ub:m, :artificial].sum(axis=0)
    tableau[m + 1, -2:] = -tableau[n_ub:m, -2:].sum(axis=0)
    basis = n + 1 + np.arange(m)
    pivots = 0
    for objective, columns in ((m + 1, width), (m, artificial)):
        status, made = _pivot_to_optimum(tableau, basis, columns, objective, max_pivots - pivots)
        pivots += made
        if status != OPTIMAL:
            raise ValueError(
                f"dense simplex: expected an optimum, found status {status} after {pivots} pivots"
            )
        if objective == m + 1 and tableau[objective, -1] < -1e-6:
            raise ValueError("dense simplex: expected a feasible program, found none")
    z = np.zeros(width)
    z[basis] = tableau[:m, -1]
    out = z[:n].copy()
    out[n_positive:] -= z[n]
    return float(tableau[m, -1]), out, pivots


@numba.njit(cache=True)
def _pivot_to_optimum(tableau, basis, columns, objective, max_pivots):
    """Pivot until none of the first ``columns`` variables improves the objective; return (status, number of pivots).

    The status is `OPTIMAL`, `UNBOUNDED` or `OUT_OF_PIVOTS`.

    Args:
        tableau: the constraints and the objectives, changed in place.
        basis: ``[constraint]``, the basic variable of each constraint, changed in place.
        columns: number of variables that may enter the basis.
        objective: the tableau's row with the objective.
        max_pivots: largest number of pivots.
    """
    m, width = len(basis), tableau.shape[1]
    for made in range(max_pivots):
        enter, lowest = -1, -TOLERANCE
        for j in range(columns):
            if tableau[objective, j] < lowest:
                enter, lowest = j, tableau[objective, j]
        if enter < 0:
            return OPTIMAL, made
        leave, ratio = -1, np.inf
        for i in range(m):
            entry = tableau[i, enter]
            if basis[i] >= columns and abs(entry) > TOLERANCE:
                leave = i  # an artificial that is 0 goes first
                break
            if entry > TOLERANCE and tableau[i, -2] < ratio * entry:
                leave, ratio = i, tableau[i, -2] / entry
        if leave < 0:
            return UNBOUNDED, made
        pivot = tableau[leave, enter]
        for j in range(width):
            tableau[leave, j] /= pivot
        for i in range(tableau.shape[0]):
            factor = tableau[i, enter]
            if i != leave and factor != 0.0:
                for j in range(width):
                    tableau[i, j] -= factor * tableau[leave, j]
        basis[leave] = enter
    return OUT_OF_PIVOTS, max_pivots
