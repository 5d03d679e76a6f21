"""Slow, obvious twins of the solvers' kernels: loops over hands, one line of mathematics each."""

import numpy as np

from solvers.tree import CHANCE, DECISION, FOLD, SHOWDOWN


def compatible(own, other, b):
    """Whether a hand ``i`` and the other player's hand ``j`` share no card, ``[i, j]``."""
    mine, theirs = own.cards[b, : own.n_hands[b]], other.cards[b, : other.n_hands[b]]
    return ~(mine[:, None, :, None] == theirs[None, :, None, :]).any(axis=(2, 3))


def match(forest, p, source):
    a, out = forest.arrays, np.zeros_like(source, dtype=float)
    for n in range(forest.n_nodes):
        if a.kind[n] == DECISION and a.player[n] == p:
            slots = range(a.slot[n], a.slot[n] + a.n_actions[n])
            for g in range(source.shape[1]):
                positive = [max(source[s, g], 0.0) for s in slots]
                for s, x in zip(slots, positive, strict=True):
                    out[s, g] = x / sum(positive) if sum(positive) > 0 else 1 / len(positive)
    return out


def normalised(game, sources):
    """Strategies of all rounds, `match` by board."""
    return [
        tuple(np.array([match(r.forest, p, board) for board in sources[t][p]]) for p in (0, 1))
        for t, r in enumerate(game.rounds)
    ]


def node_values(game, p, strategies, t, b, n, reach, best=False, best_from=0):
    """Counterfactual values ``[own row]`` at node n of board b, with the opponent's ``reach[row]`` there.

    Plain recursion over the tree and the deals, and at each end a matrix of all pairs of hands; strategies are
    normalised ``[slot, group]``.
    ``best``: responding from round ``best_from`` on.
    Locked rows play what the game's locks say, whoever holds them.
    """
    r = game.rounds[t]
    own, other = r.hands[p], r.hands[1 - p]
    a, kind = r.forest.arrays, r.forest.arrays.kind[n]
    n_own = own.n_hands[b]
    out = np.zeros(n_own)
    if kind in (FOLD, SHOWDOWN):
        chips = np.full((n_own, len(reach)), a.stake[n] if p == 0 else -a.stake[n])
        won = (chips > 0) * 1.0
        if kind == SHOWDOWN:
            order = np.sign(own.strength[b, :n_own, None] - other.strength[b, None, : len(reach)])
            chips, won = order * a.stake[n], (1 + order) / 2
        return np.where(compatible(own, other, b), chips - won * a.rake[n], 0) @ reach
    if kind == CHANCE:
        deal = r.deal
        for e in range(deal.first[b], deal.first[b + 1]):
            c = deal.child[e]
            below = game.rounds[t + 1].hands
            origin = deal.parent_row[1 - p][e, : below[1 - p].n_hands[c]]
            values = node_values(game, p, strategies, t + 1, c, a.target[n], reach[origin], best, best_from)
            for m in range(deal.first_image[e], deal.first_image[e + 1]):
                image = deal.child_row[p][m, :n_own]
                out[image >= 0] += deal.probability * values[image[image >= 0]]
        return out
    children = range(a.first_child[n], a.first_child[n] + a.n_actions[n])
    mover = a.player[n]
    if mover != p:
        for k, child in enumerate(children):
            sigma = played(game, strategies, t, b, n, k, mover)
            out += node_values(game, p, strategies, t, b, child, reach * sigma, best, best_from)
        return out
    values = [node_values(game, p, strategies, t, b, child, reach, best, best_from) for child in children]
    for k, value in enumerate(values):
        out += played(game, strategies, t, b, n, k, p) * value
    if best and t >= best_from:
        return np.where(locked(game, t, b, n)[:n_own], out, np.max(values, axis=0))
    return out


def played(game, strategies, t, b, n, k, mover):
    """Frequencies ``[row]`` of action k at the mover's node."""
    rows, slot = game.rounds[t].hands[mover], game.rounds[t].forest.arrays.slot[n] + k
    out = strategies[t][mover][b][slot][rows.row[b, : rows.n_hands[b]]]
    for lock in game.locks:
        if (lock.round, lock.node) == (t, n):
            given = lock.frequencies[b, k, : len(out)]
            out = np.where(np.isnan(given), out, given)
    return out


def locked(game, t, b, n):
    """Whether each row ``[row]`` of the player to act at node n of board b is locked."""
    for lock in game.locks:
        if (lock.round, lock.node) == (t, n):
            return ~np.isnan(lock.frequencies[b, 0])
    return np.zeros(max(rows.row.shape[1] for rows in game.rounds[t].hands), dtype=bool)


def leaf_matrix(hands0, hands1, weights0, weights1, payoff):
    """``G[x, y]`` of solvers/matrix/leaves.py by a double loop; ``payoff(i, j)`` of two hands, player 0's chips."""
    out = np.zeros((hands0.n_rows, hands1.n_rows))
    for i in range(len(hands0.row)):
        for j in range(len(hands1.row)):
            if not set(hands0.cards[i].tolist()) & set(hands1.cards[j].tolist()):
                out[hands0.row[i], hands1.row[j]] += weights0[i] * weights1[j] * payoff(i, j)
    return out
