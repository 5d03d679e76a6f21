"""UPAC's sample log, and tables to play from that nobody has to solve."""

import numpy as np

from spewy.competitions.upac.package import packed
from spewy.competitions.upac.runtime.tables import ALWAYS, CURVE_ONE, GRADES, HANDS
from spewy.competitions.upac.tables import push_fold_tables, tree_tables
from spewy.game.gamefile import parse_game
from spewy.game.tree import build_tree
from spewy.game.treeconfig import game_config, player_sizes

SAMPLE = """\
System > round 10/100
Defender < START SB
Challenger < START BB
Defender < PREFLOP 6h 2d
Challenger < PREFLOP 7s 8c
Challenger < STACK 1 74 2 26
Challenger > C
Defender < STACK 2 26 2 74
Defender > F
Defender < END FOLD BB
Challenger < END FOLD BB
System > round 11/100
Defender < START BB
Challenger < START SB
Defender < PREFLOP Js 8d
Challenger < PREFLOP Kc Qs
Defender < STACK 1 24 2 76
Defender > R0
Challenger < STACK 2 76 2 24
Challenger > C
Defender < FLOP 9c 9s 6h
Challenger < FLOP 9c 9s 6h
Challenger < STACK 2 76 2 24
Challenger > C
Defender < STACK 2 24 2 76
Defender > R0
Defender < TURN 6s
Challenger < TURN 6s
Challenger < STACK 2 76 2 24
Challenger > C
Defender < STACK 2 24 2 76
Defender > R0
Defender < RIVER 7h
Challenger < RIVER 7h
Challenger < STACK 2 76 2 24
Challenger > C
Defender < STACK 2 24 2 76
Defender > R0
Defender < END SHOWDOWN WINNER BB SHOWN Kc Qs
Challenger < END SHOWDOWN WINNER BB HIDDEN
System > round 12/100
Defender < START SB
Challenger < START BB
Defender < PREFLOP 9d 7s
Challenger < PREFLOP Qs Kh
Challenger < STACK 1 78 2 22
Challenger > C
Defender < STACK 2 22 2 78
Defender > F
Defender < END FOLD BB
Challenger < END FOLD BB
System > round 13/100
Defender < START BB
Challenger < START SB
Defender < PREFLOP Ac 6h
Challenger < PREFLOP Qs Jh
Defender < STACK 1 20 2 80
Defender > R2
Challenger < STACK 2 80 4 20
Challenger > C
Defender < FLOP 2c Jc 3s
Challenger < FLOP 2c Jc 3s
Challenger < STACK 4 80 4 20
Challenger > C
Defender < STACK 4 20 4 80
Defender > R0
Defender < TURN 2d
Challenger < TURN 2d
Challenger < STACK 4 80 4 20
Challenger > C
Defender < STACK 4 20 4 80
Defender > R0
Defender < RIVER Tc
Challenger < RIVER Tc
Challenger < STACK 4 80 4 20
Challenger > C
Defender < STACK 4 20 4 80
Defender > R0
Defender < END SHOWDOWN WINNER BB SHOWN Qs Jh
Challenger < END SHOWDOWN WINNER BB SHOWN Ac 6h
"""
"""The log of the competition's text, without the times."""

GAME = """\
GAMEDEF
nolimit
numPlayers = 2
numRounds = 4
stack = 30 30
blind = 2 1
firstPlayer = 2 1 1 1
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""


def sample_rounds():
    """The lines of each round of the sample."""
    return [part.splitlines()[1:] for part in SAMPLE.split("System > ")[1:]]


def betting_tree():
    """A small tree, 15 big blinds deep."""
    sizes = player_sizes("50%, a", "2.5x, a")
    return build_tree(game_config(parse_game(GAME, "test"), {0: (sizes, sizes)}))


def fake_tables(n_rungs=1):
    """Two board buckets by their numbers, three rows, and random play in a small tree."""
    rng = np.random.default_rng(5)
    tables = push_fold_tables()
    for n in (3, 4, 5):
        tables[f"{n}-keys"] = np.array([1000, 3_000_000], dtype=np.uint32)
        tables[f"{n}-classes"] = np.array([0, 1], dtype=np.uint8)
    tables["3-rows"] = rng.integers(3, size=(2, len(HANDS))).astype(np.uint8)
    tables["4-curves"] = rng.integers(CURVE_ONE, size=(2, 3, 23)).astype(np.uint16)
    tables["5-rows"] = rng.integers(3, size=(2, GRADES)).astype(np.uint8)
    tables["stacks"] = np.array([30], dtype=np.int32)[:n_rungs]
    nodes, decisions = tree_tables(betting_tree().root)
    tables["0-tree"] = nodes
    for t in range(4):
        n_slots = sum(each.n_actions - 1 for each in decisions if each.round == t)
        shape = (n_slots, 1 if t == 0 else 2, 169 if t == 0 else 3)
        tables[f"0-play-{t}"] = rng.integers(ALWAYS // 3, size=shape).astype(np.uint8)
    return tables


def packed_tables(n_rungs=1):
    """The same as a file's bytes."""
    return packed(fake_tables(n_rungs))
