"""Figure 1 of the paper with the numbers of a real river: two inputs and three outputs of a chunk."""

from __future__ import annotations

from typing import Any

import common
import matplotlib as mpl
import numpy as np
from matplotlib.colors import TwoSlopeNorm
from matplotlib.patches import FancyArrowPatch

from spewy.look import one_chunk
from spewy.look.colours import action_colours, hex_colour

ROWS = 40
LEAVES = {"cc": "check, check", "r20f": "bet 20, fold", "r20c": "bet 20, call"}
LIMIT = 120


def figure() -> tuple[Any, dict[str, str]]:
    """Draw ranges and leaf matrices on the left, strategies and the root's matrix on the right."""
    game = one_chunk(common.example("R1", f"rows.river={ROWS}"))
    solution = game.by_cfr("dcfr", target_pct=0.05)
    picture = common.new(7.6, 5.4)
    grid = picture.add_gridspec(3, 5, width_ratios=(1, 1, 0.62, 1, 1), hspace=0.12)
    for p, colour in enumerate((common.OOP, common.IP)):
        axis = picture.add_subplot(grid[0, p])
        axis.bar(range(ROWS), game.ranges[p], color=colour, width=0.9)
        axis.set(xticks=(), yticks=())
        axis.set_title(f"range of {('oop', 'ip')[p]}", fontsize=8)
    for k, (line, words) in enumerate(LEAVES.items()):
        axis = picture.add_subplot(grid[1 + k // 2, k % 2])
        draw_matrix(axis, game, game.leaf_payoffs(game.find(line)), f"leaf: {words}")
    rest = picture.add_subplot(grid[2, 1])
    rest.text(0.5, 0.5, f"... {len(game.leaves) - len(LEAVES)} more", ha="center", va="center")
    rest.axis("off")
    middle = picture.add_subplot(grid[:, 2])
    middle.axis("off")
    middle.text(0.5, 0.5, "solve\nthe chunk\n(CFR\nor LP)", ha="center", va="center", fontweight="bold")
    for height in (0.62, 0.38):
        middle.add_patch(
            FancyArrowPatch(
                (0, height),
                (1, height),
                transform=middle.transAxes,
                arrowstyle="-|>",
                mutation_scale=16,
                color=common.GREY,
            )
        )
    for k, (line, who) in enumerate((("", "oop acts first"), ("c", "ip after a check"))):
        draw_strategy(picture.add_subplot(grid[0, 3 + k]), game, solution, line, who)
    root = picture.add_subplot(grid[1:, 3:])
    image = draw_matrix(root, game, solution.payoffs, "payoff matrix of the root")
    root.set(xlabel="row of ip (weak to strong)", ylabel="row of oop (weak to strong)")
    picture.colorbar(image, ax=root, shrink=0.8, label="net chips of oop")
    picture.suptitle(" ")
    for x, words in (
        (0.19, "two inputs: ranges, leaf matrices"),
        (0.77, "three outputs: strategies, root matrix"),
    ):
        picture.text(x, 0.985, words, ha="center", va="top", fontweight="bold", fontsize=10.5)
    return picture, {
        "rows": f"{ROWS} rows",
        "decisions": f"{len(game.decisions)} decisions",
        "leaves": f"{len(game.leaves)} leaves",
        "iterations": f"{solution.iterations} iterations",
    }


def draw_matrix(axis: Any, game: Any, matrix: Any, title: str) -> Any:
    """Draw a payoff matrix: blue where player 0 wins, red where player 0 loses."""
    held = [np.flatnonzero(game.ranges[p] > 0) for p in (0, 1)]
    image = axis.imshow(
        matrix[np.ix_(*held)],
        cmap=mpl.colormaps["RdBu"].with_extremes(bad="#cfcfcf"),
        norm=TwoSlopeNorm(0, -LIMIT, LIMIT),
        origin="lower",
        interpolation="nearest",
        aspect="auto",
    )
    axis.set_title(title, fontsize=8)
    axis.set(xticks=(), yticks=())
    axis.spines[:].set_visible(False)
    return image


def draw_strategy(axis: Any, game: Any, solution: Any, line: str, title: str) -> None:
    """Draw the frequencies of the actions of each row, one above the other."""
    node = game.tree.nodes[game.find(line)]
    rows = np.flatnonzero(game.ranges[node.player] > 0)
    labels = [action.label for action in node.actions]
    base = np.zeros(len(rows))
    shares = game.strategy_at(solution, game.find(line))[:, rows]
    for share, colour in zip(shares, action_colours(labels), strict=True):
        axis.bar(np.arange(len(rows)), share, bottom=base, width=1.0, color=hex_colour(colour))
        base += share
    axis.set_title(title, fontsize=8)
    axis.set(xticks=(), yticks=(), xlim=(-0.5, len(rows) - 0.5), ylim=(0, 1))
