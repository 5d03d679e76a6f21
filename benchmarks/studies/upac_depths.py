"""Measures what UPAC's bot loses when it plays a stack by the solve of another stack.

    python -m benchmarks.studies.upac_depths push [--stacks 12,16,20,30,40,50,70,100]
    python -m benchmarks.studies.upac_depths trees LADDER STACK,RUNG ... [--flops 6] [--seed 1]

A *ladder* is a folder with solves of several stacks, its *rungs*; the bot plays each stack by the nearest rung.

"push" computes the exact exploitability of push-or-fold solutions: each stack between two rungs plays the solution of
the nearest rung. "trees" needs a stack (in chips) for which the ladder has a solve. It plays the betting tree of this
solve by the strategy of another rung, as the bot does: board buckets and rows are the same, and bets are translated.
Then it measures the exploitability of the stack's own strategy and of the rung's strategy in the full game, on the
same flops. Where the rung's tree has no decision to translate to, the bot would play by pot odds; here it checks or
calls.
"""

import argparse
import shutil
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from benchmarks.command import as_command
from lockers import open_store
from spewy.competitions.upac.push_fold import push_fold, values
from spewy.competitions.upac.runtime.player import nearest, share, spent, taken_for
from spewy.competitions.upac.runtime.tables import CALL, PLAYER, ROUND, TOTAL, Tree
from spewy.competitions.upac.tables import Decides, rung_folders, tree_tables
from spewy.look.exploit import FlopJudged, JudgingBegan
from spewy.look.folder import open_policy
from spewy.look.judging import judge_folder
from spewy.records.policy import BucketPolicy
from spewy.records.strategy_locker import FOLDER, MOST, write_bucket

BIG_BLIND = 2
EVEN = 0.5
"""Fixed number in place of the bot's random number when a bet lies between two bet sizes of the other tree."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    each = commands.add_parser(
        "push", help="measure push-or-fold solutions that are played with other stacks"
    )
    each.add_argument(
        "--stacks",
        default="12,16,20,30,40,50,70,100",
        help="stacks with a solution (rungs), in chips, with commas between them",
    )
    each = commands.add_parser("trees", help="measure solves whose betting tree is played with another stack")
    each.add_argument("ladder", type=Path, help="folder with the solves, one for each rung (stack size)")
    each.add_argument(
        "pairs",
        nargs="+",
        metavar="STACK,RUNG",
        help="a stack to play, and the rung whose strategy plays it, both in chips",
    )
    each.add_argument(
        "--flops", type=int, default=6, help="number of random flops on which exploitability is measured"
    )
    each.add_argument("--seed", type=int, default=1, help="seed of the random flops")
    args = parser.parse_args()
    if args.command == "push":
        push(tuple(int(stack) for stack in args.stacks.split(",")))
    else:
        trees(args.ladder, args.pairs, args.flops, args.seed)


def push(stacks: tuple[int, ...]) -> None:
    """Print what stacks lose if they push or fold by the solution of the nearest rung: the largest losses, the mean."""
    print("| stack, bb | rung, bb | exploitability, mbb |\n|---|---|---|")
    worst = []
    for stack in range(stacks[0], stacks[-1] + 1):
        rung = stacks[nearest(stacks, stack)]
        found = push_fold(rung)
        lost = values(stack, found.push, found.call)[1] / BIG_BLIND * 1000
        worst.append((lost, stack, rung))
    for lost, stack, rung in sorted(worst, reverse=True)[:8]:
        print(f"| {stack / BIG_BLIND:g} | {rung / BIG_BLIND:g} | {lost:.2f} |")
    print(f"\nmean of {len(worst)} stacks: {np.mean([lost for lost, _, _ in worst]):.2f} mbb")


def trees(ladder: Path, pairs: list[str], flops: int, seed: int) -> None:
    """Print the exploitability of each stack when its own solve plays it, and when another stack's solve does.

    Each of ``pairs`` is "STACK,RUNG" in chips: the stack, and the stack of the other solve.
    """
    folders = {}
    for folder in rung_folders(ladder):
        with open_policy(folder) as policy:
            folders[(policy.problem.game.stacks or (0,))[0]] = folder
    print(
        "| stack, bb | rung, bb | by its own solve, mbb | by the rung, mbb | decisions without a translation |"
    )
    print("|---|---|---|---|---|")
    for pair in pairs:
        stack, rung = (int(chips) for chips in pair.split(","))
        own = _judged(folders[stack], flops, seed)
        with TemporaryDirectory() as temporary:
            other = Path(temporary) / FOLDER
            shutil.copytree(folders[stack] / FOLDER, other)
            nothing = play_by(other, folders[rung])
            theirs = _judged(other, flops, seed)
        print(
            f"| {stack / BIG_BLIND:g} | {rung / BIG_BLIND:g} | {own} | {theirs} | {nothing:.1%} |",
            flush=True,
        )


class Move(NamedTuple):
    """How a decision is played by the strategy at a similar decision of another stack's betting tree.

    Attributes:
        node: number of the decision in the other tree; None: the other tree has no such decision.
        places: for each action of the other tree's decision, the number of the action in the own tree that gets its
            frequency.
        call: number of the action that checks or calls, which is played if ``node`` is None.
    """

    node: int | None
    places: list[int]
    call: int


def play_by(play: Path, rung: Path) -> float:
    """Overwrite the strategies in a strategy locker by the strategies of another stack's solve (a *rung*).

    Args:
        play: folder of the strategy locker to overwrite.
        rung: folder of the solve of the other stack.

    Returns:
        The share of decisions for which the rung's betting tree has no similar decision.
    """
    with open_policy(rung) as theirs, open_policy(play) as mine:
        (tree, own), (other, known) = _tree(mine), _tree(theirs)
        moves = [dict(_moves(tree, other, p)) for p in (0, 1)]
        with open_store(play, mine.strategies.manifest) as store:
            for t, n_board_buckets in enumerate(mine.strategies.saved.board_buckets):
                asked = [
                    [(own[node], move) for node, move in each.items() if own[node].round == t]
                    for each in moves
                ]
                for board_bucket in range(n_board_buckets):
                    of_0, of_1 = (
                        _played(mine, theirs, known, (t, board_bucket, p), asked[p]) for p in (0, 1)
                    )
                    write_bucket(store, t, board_bucket, mine.strategies.lines(t), (of_0, of_1))
        every = [move.node for each in moves for move in each.values()]
        return every.count(None) / len(every)


def _played(
    mine: BucketPolicy,
    theirs: BucketPolicy,
    known: Mapping[int, Decides],
    key: tuple[int, int, int],
    asked: Sequence[tuple[Decides, Move]],
) -> np.ndarray:
    """Return the bytes of a player's strategies in a board bucket, filled with the strategies of another solve.

    Args:
        mine: the strategy locker for which the bytes are made.
        theirs: the other solve.
        known: where the other solve's strategy locker holds each decision, by the decision's number.
        key: (round, board bucket, player).
        asked: the player's decisions in the round, and how each is played by the other solve.
    """
    t, board_bucket, p = key
    lines = mine.strategies.lines(t)
    flat, begins = (
        mine.strategies.bucket_bytes(t, board_bucket, p).copy(),
        np.concatenate([[0], np.cumsum(lines.sizes(p))]),
    )
    wanted = [known[move.node] for _, move in asked if move.node is not None]
    free = iter(
        theirs.strategies.free_slots(
            t, board_bucket, p, [(each.enters, each.first_free, each.n_actions) for each in wanted]
        )
    )
    for decision, move in asked:
        whole = np.zeros((lines.n_rows, decision.n_actions), dtype=np.uint8)
        if move.node is None:
            whole[:, move.call] = MOST
        else:
            found = next(free)
            last = MOST - found.sum(axis=1, dtype=np.int64)[:, None]
            for often, place in zip(np.hstack([found, last]).T, move.places, strict=True):
                whole[:, place] += often.astype(np.uint8)
        batch, lane = lines.place[decision.enters]
        at = lines.free_bytes(flat[begins[batch] :], p, batch, lane, decision.first_free, decision.n_actions)
        at[:] = whole[:, :-1]
    return flat


def _tree(policy: BucketPolicy) -> tuple[Tree, dict[int, Decides]]:
    """Return a solve's betting tree as UPAC's bot stores it, and where the strategy locker holds each decision."""
    nodes, decisions = tree_tables(policy.problem.tree.root)
    stacks = policy.problem.game.stacks
    assert stacks is not None
    at = np.flatnonzero(nodes[:, PLAYER] >= 0).tolist()
    return Tree(stacks[0], nodes.astype(np.int64)), dict(zip(at, decisions, strict=True))


def _moves(tree: Tree, other: Tree, p: int) -> Iterator[tuple[int, Move]]:
    """Yield (decision, `Move`) for each decision of player p, by following both betting trees from the root."""
    queue: deque[tuple[int, int | None]] = deque([(0, 0)])
    while queue:
        node, there = queue.popleft()
        if tree.nodes[node, PLAYER] < 0:
            continue
        same = [PLAYER, ROUND]
        if there is not None and (other.nodes[there, same] != tree.nodes[node, same]).any():
            there = None
        children = tree.children(node)
        call = [int(tree.nodes[child, TOTAL]) for child in children].index(CALL)
        below: list[int | None] = [None] * len(children)
        places: list[int] = []
        if there is not None:
            below = _places(tree, node, other, there)
            places = [call if place is None else place for place in _places(other, there, tree, node)]
        if tree.nodes[node, PLAYER] == p:
            yield node, Move(there, places, call)
            for number, place in reversed([*enumerate(places)]):
                below[place] = number  # if several actions translate to one action, the first
        for child, number in zip(children, below, strict=True):
            queue.append((child, None if there is None or number is None else other.children(there)[number]))


def _places(tree: Tree, node: int, other: Tree, there: int) -> list[int | None]:
    """Return, for each action of a decision, the number of the matching action at another tree's decision, or None."""
    theirs = [int(other.nodes[child, TOTAL]) for child in other.children(there)]
    raises = [(total, place) for place, total in enumerate(theirs) if total > CALL]
    sizes = [share(total, spent(other, there)) for total, _ in raises]
    out: list[int | None] = []
    for child in tree.children(node):
        total = int(tree.nodes[child, TOTAL])
        if total <= CALL:
            out.append(theirs.index(total) if total in theirs else None)
        elif not raises:
            out.append(None)
        elif total >= tree.stack:
            out.append(raises[-1][1])
        else:
            out.append(raises[taken_for(share(total, spent(tree, node)), sizes, EVEN)][1])
    return out


def _judged(folder: Path, flops: int, seed: int) -> str:
    """Measure the exploitability of a folder's strategy locker; return it with its standard error in mbb per hand."""
    found = judge_folder(folder, _print_beginning, flops=flops, seed=seed)
    assert found.sample is not None  # a whole game with board buckets
    return f"{found.exploitability_mbb:.0f} ± {found.sample.stderr_mbb or 0.0:.0f}"


def _print_beginning(event: JudgingBegan | FlopJudged) -> None:
    if isinstance(event, JudgingBegan):
        print(f"{event.name}: best responses on {event.cost.to_judge} flops", file=sys.stderr)


if __name__ == "__main__":
    as_command(main)
