"""Seeded random live games, whose axes all have different lengths so that a transposed index fails, and game files."""

from dataclasses import replace
from itertools import combinations

import numpy as np
from toy_games import as_dealt

from solvers.game import Deal, Hands, LiveGame, Lock, Round
from solvers.tree import DECISION, FOLD, SHOWDOWN, Chance, Decision, Fold, Forest, Showdown

DECK = 9


def random_tree(rng, leaf, depth=4, player=None):
    player = int(rng.integers(2)) if player is None else player
    if depth == 0 or rng.random() < 0.2:
        return leaf()
    children = [random_tree(rng, leaf, depth - 1, 1 - player) for _ in range(rng.integers(1, 4))]
    forced = len(children) == 1 and rng.random() < 0.3
    fold = () if forced else (Fold(float(rng.normal())),)
    return Decision(player, (*fold, *children))


def two_round_game(seed, k=2, groups=None):
    """Two rounds; one card of a deck of nine is dealt between them; hands of k cards; strengths with many ties."""
    rng = np.random.default_rng(seed)
    targets = []

    def chance():
        targets.append(None)
        return Chance(len(targets) - 1)

    first = Decision(0, (chance(), random_tree(rng, chance), Fold(-1.5)))
    second = [
        random_tree(rng, lambda: Showdown(float(rng.random()) + 0.5), depth=3) for _ in range(len(targets))
    ]
    every = np.array(list(combinations(range(DECK), k)))
    held = [np.sort(rng.choice(len(every), size, replace=False)) for size in (len(every) - 2, len(every) - 5)]
    weights = [rng.random(len(h)) for h in held]
    top = [_rows(rng, every, [held[p]], [weights[p]], held[1 - p], groups) for p in (0, 1)]
    boards, kept = list(range(DECK)), ([], [])
    strength = rng.integers(0, 5, (DECK, len(every)))
    for card in boards:
        for p in (0, 1):
            live = [h for h in held[p] if card not in every[h]]
            kept[p].append(np.array(sorted(live, key=lambda h: (strength[card, h], h))))
    low = []
    for p in (0, 1):
        weight = [np.array([weights[p][np.searchsorted(held[p], h)] for h in hands]) for hands in kept[p]]
        low.append(_rows(rng, every, kept[p], weight, kept[1 - p], groups, strength))
    origin, images = [], []
    for p in (0, 1):
        width = low[p].row.shape[1]
        at = np.zeros((DECK, width), dtype=np.int64)
        image = np.full((DECK, len(held[p])), -1)
        for b, hands in enumerate(kept[p]):
            at[b, : len(hands)] = np.searchsorted(held[p], hands)
            image[b, at[b, : len(hands)]] = np.arange(len(hands))
        origin.append(at)
        images.append(image)
    deal = Deal(
        np.array([0, DECK]),
        np.arange(DECK),
        tuple(origin),
        np.arange(DECK + 1),
        tuple(images),
        1 / (DECK - 2 * k),
    )
    rounds = [
        Round(Forest.build([first]), tuple(top), deal),
        Round(Forest.build(second), tuple(low), None),
    ]
    return as_dealt(LiveGame(rounds, (weights[0][None], weights[1][None]), DECK))


def raked(game, seed=0):
    """The game with a rake of its own at every fold and showdown."""
    rng, rounds = np.random.default_rng(seed), []
    for r in game.rounds:
        a = r.forest.arrays
        ends = (a.kind == FOLD) | (a.kind == SHOWDOWN)
        rake = np.where(ends, 0.4 * rng.random(len(ends)), 0.0)
        rounds.append(replace(r, forest=replace(r.forest, arrays=a._replace(rake=rake))))
    return replace(game, rounds=rounds)


def locked(game, seed=0, share=0.4):
    """The game with frequencies given to some rows at about half of the decisions of both players."""
    rng, locks = np.random.default_rng(seed), []
    for t, r in enumerate(game.rounds):
        a = r.forest.arrays
        for n in np.flatnonzero(a.kind == DECISION).tolist():
            if rng.random() < 0.5:
                continue
            p = int(a.player[n])
            boards, width = r.hands[p].row.shape
            drawn = rng.random((boards, int(a.n_actions[n]), width))
            drawn[:, 0][rng.random((boards, width)) < 0.3] = 0.0 if drawn.shape[1] > 1 else 1.0
            frequencies = drawn / drawn.sum(axis=1, keepdims=True)
            free = rng.random((boards, width)) >= share
            locks.append(Lock(t, p, n, np.where(free[:, None], np.nan, frequencies)))
    return replace(game, locks=tuple(locks))


def random_game_file(rng):
    """The text of a random small game's file: limit or no-limit, even stacks or none, bets of 1 to 5 chips."""
    limit, rounds = bool(rng.integers(2)), int(rng.integers(1, 4))
    boards = [0, *rng.integers(0, 2, rounds - 1)]
    hole = 2 if not sum(boards) and rng.random() < 0.5 else 1
    ranks, suits = [(3, 2), (5, 1), (2, 3), (6, 1)][rng.integers(4)]
    blinds = [(1, 1), (2, 1), (1, 2), (3, 1)][rng.integers(4)]

    def row(key, values):
        return f"{key} = {' '.join(map(str, values))}"

    lines = ["GAMEDEF", "limit" if limit else "nolimit", row("numPlayers", [2]), row("numRounds", [rounds])]
    if not limit or rng.random() < 0.5:
        lines.append(row("stack", [int(rng.integers(6, 30) if limit else rng.integers(4, 6))] * 2))
    lines.append(row("blind", blinds))
    if limit:
        lines.append(row("raiseSize", rng.choice([1, 2, 4], rounds)))
        lines.append(row("maxRaises", [1, *rng.integers(0, 3, rounds - 1)]))
    lines.append(row("firstPlayer", rng.integers(1, 3, rounds)))
    lines += [row("numSuits", [suits]), row("numRanks", [ranks]), row("numHoleCards", [hole])]
    return "\n".join([*lines, row("numBoardCards", boards), "END GAMEDEF", ""])


def random_strategies(game, seed):
    """Sums or regrets, half of them 0."""
    rng = np.random.default_rng(seed)
    return [tuple(np.maximum(rng.normal(size=a.shape), 0) for a in pair) for pair in game.zeros()]


def _rows(rng, every, hands, weights, others, groups, strength=None):
    boards, width = len(hands), max(map(len, hands))
    count = np.array([len(h) for h in hands])
    blockers = np.zeros((boards, width, every.shape[1]), dtype=np.int64)
    power, twin = np.zeros((boards, width), dtype=np.int64), np.full((boards, width), -1)
    group = np.tile(np.arange(width), (boards, 1))
    weight = np.zeros((boards, width))
    if not isinstance(others, list):
        others = [others]
    for b, mine in enumerate(hands):
        n = len(mine)
        blockers[b, :n], weight[b, :n] = every[mine], weights[b]
        where = {h: i for i, h in enumerate(others[b].tolist())}
        twin[b, :n] = [where.get(h, -1) for h in mine.tolist()]
        if strength is not None:
            power[b, :n] = strength[b, mine]
        if groups is not None:
            group[b, :n] = rng.integers(0, groups, n)
    return Hands.of(count, blockers, power, twin, group, weight, width if groups is None else groups)
