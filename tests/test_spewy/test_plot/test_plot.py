"""Pictures: what they draw, where their ticks and labels are, and that commands write them before they print."""

import subprocess
from dataclasses import replace

import numpy as np
import pytest
from cli_runs import COMMAND

import spewy
from spewy import plot
from spewy.game.gamefile import load_game
from spewy.game.nodes import Label
from spewy.game.tree import build_tree
from spewy.game.treeconfig import player_sizes, spot_config
from spewy.look.buckets import BoardBuckets
from spewy.look.colours import action_colours, lightness
from spewy.look.compare import compare
from spewy.look.report import report

mpl = pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def solution(small):
    with spewy.Solution.open(small / "turn") as solution:
        yield solution


@pytest.fixture(scope="module")
def checked(solution):
    return report(solution, "cc/")


@pytest.fixture(scope="module")
def buckets():
    return BoardBuckets.of("Ks 7d 2c 9h", rows=12)


def axes():
    from matplotlib.figure import Figure

    return Figure().subplots()


@pytest.fixture(scope="module")
def made(solution, checked, buckets):
    """What charts are drawn of."""
    grid, comparison = solution.node().grid(), compare(solution, solution)
    difference = grid.reach - 0.5
    return {
        **{"grid": grid, "reach": grid.reach, "difference": difference, "comparison": comparison},
        **{"report": checked, "buckets": buckets},
    }


CHARTS = [
    *[("hand_chart", "grid", ()), ("heat_chart", "reach", ()), ("difference_chart", "difference", ())],
    *[("report_frequencies", "report", ()), ("report_frequencies", "report", ("horizontal",))],
    *[("report_shares", "report", ()), ("report_shares", "report", ("horizontal",))],
    *[("report_realisation", "report", ()), ("report_realisation", "report", ("horizontal",))],
    *[("comparison_frequencies", "comparison", ()), ("outcome_curves", "buckets", ())],
    ("bucket_chart", "buckets", ()),
]
"""Charts, what they are drawn of, and where the words stand."""


@pytest.mark.parametrize(("chart", "of", "options"), CHARTS)
def test_each_chart_draws_on_the_axes_that_it_is_given(chart, of, options, made):
    ax = axes()
    assert getattr(plot, chart)(made[of], ax, *options) is ax
    assert ax.has_data() or ax.images


def test_no_difference_is_white_in_the_middle_of_the_scale(made):
    image = plot.difference_chart(made["difference"], axes()).images[0]
    assert image.norm.vmin == -image.norm.vmax
    assert min(image.cmap(image.norm(0.0))) > 0.9


@pytest.mark.parametrize("size", ["screen", "phone"])
def test_boards_have_room_in_the_widest_and_the_narrowest_size(checked, size, tmp_path):
    """A warning that there is none is an error."""
    figure = plot.report_figure(replace(checked, by="board"), "check, check", size)
    plot.save(figure, tmp_path / "boards.png")
    inches = [ax.get_position().width * figure.get_figwidth() for ax in figure.axes]
    assert len(inches) == 3
    assert min(inches) > 0.2 * figure.get_figwidth()


@pytest.mark.parametrize("size", plot.SIZES)
def test_a_comparison_is_bars_and_two_charts(made, solution, size):
    figure = plot.comparison_figure(solution.job.rules, made["comparison"], "check", size)
    assert len(figure.axes) >= 3
    assert figure.get_suptitle().endswith("check: oop to act")


def test_ticks_are_whole_percent_at_even_steps(checked):
    for chart in (plot.report_shares, plot.report_realisation):
        ticks = chart(checked, axes()).get_yticks()
        assert np.allclose(ticks, np.round(ticks))
        assert len(set(np.round(np.diff(ticks), 9))) == 1


def test_both_players_have_an_ev_and_no_line_joins_suits(checked):
    ax = plot.report_shares(checked, axes())
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [label.rsplit("  ", 1)[0] for label in labels] == ["equity oop", "EV oop", "equity ip", "EV ip"]
    assert all(line.get_linestyle() == "None" for line in ax.lines)


def test_actions_are_told_in_words_and_none_that_nobody_takes(checked):
    def without_the_last(row):
        return replace(row, frequencies=(1.0, *(0.0 for _ in row.frequencies[1:])))

    def labels(found):
        return [each.get_text() for each in plot.report_frequencies(found, axes()).get_legend().get_texts()]

    assert labels(checked)[0].startswith("check  ")
    rows = tuple(without_the_last(row) for row in checked.rows)
    only = replace(checked, rows=rows, average=without_the_last(checked.average))
    assert labels(only) == ["check  100%"]


def test_a_figure_of_one_action_has_no_panel_for_it(checked):
    assert len(plot.report_figure(checked).axes) == 3
    assert len(plot.report_figure(replace(checked, actions=("check",))).axes) == 2
    figure = plot.report_figure(checked, "check, check")
    assert figure.get_suptitle().startswith("Q♠ 7♥ 2♦ 3♣: check, check, then each card; oop to act")


def test_names_of_curves_do_not_overlap(buckets):
    ax = plot.outcome_curves(buckets, axes())
    heights = sorted(text.xyann[1] for text in ax.texts)
    assert len(heights) == 9
    assert min(np.diff(heights)) > 3


def test_buckets_have_a_colour_bar(buckets):
    bar = plot.bucket_chart(buckets, axes()).child_axes[0]
    assert bar.get_ylabel() == "bucket"
    assert bar.get_ylim() == (0, 11)


def test_colours_of_actions_differ_in_lightness_from_one_bet_to_the_next():
    bets = [Label("Bet", share) for share in (0.25, 0.75, 1.5)]
    shades = [lightness(c) for c in action_colours((*bets, "all-in 9"))]
    assert min(-np.diff(shades)) > 0.05


def test_a_size_has_one_colour_on_three_rounds():
    """Bets of 60 % are rounded to chips in each pot; the largest and only other size does not matter."""
    sizes = player_sizes("60%, a", "2.5x")
    config = spot_config(
        load_game("holdem.nolimit.2p.reverse_blinds"), 1, 205, 4000, dict.fromkeys((1, 2, 3), (sizes, sizes))
    )
    node, colours = build_tree(config).root, set()
    for _ in range(3):
        labels = [action.label for action in node.actions]
        (bet,) = [label for label in labels if label.startswith("bet ")]
        colours.add(action_colours(labels)[labels.index(bet)])
        node = node.children[labels.index(bet)]
        node = node.children[[action.kind for action in node.actions].index("call")]
        if node.kind == "chance":
            node = node.children[0]
    assert len(colours) == 1


@pytest.mark.parametrize("size", plot.SIZES)
def test_figures_have_the_size_that_they_are_for(made, size, tmp_path):
    figure = plot.decision_figure([made["grid"]] * 2, "title", size)
    assert figure.get_figwidth() == plot.SIZES[size].width
    assert (figure.get_figheight() > figure.get_figwidth()) == (size == "phone")
    if size == "screen":
        plot.save(figure, tmp_path / "grid.svg")
        assert (tmp_path / "grid.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("command", "files"),
    [
        (["show", "{folder}", "--plot", "{out}/a.png"], ["a.png"]),
        (
            ["report", "{folder}", "--line", "cc/", "--csv", "{out}/a.csv", "--plot", "{out}/a.png"],
            ["a.csv", "a.png"],
        ),
        pytest.param(["buckets", "Ks7d2c9h3s", "--plot", "{out}/a.png"], ["a.png"], marks=pytest.mark.slow),
    ],
)
def test_files_are_there_though_nobody_reads_the_table(small, tmp_path, command, files):
    filled = [word.format(folder=small / "turn", out=tmp_path) for word in command]
    with subprocess.Popen([*COMMAND, *filled], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        running.communicate(timeout=300)
    assert sorted(path.name for path in tmp_path.iterdir()) == files


@pytest.fixture(scope="module")
def river():
    from spewy.look import one_chunk

    return one_chunk(spewy.Job.load("examples/R1.toml", ["rows.river=40"]))


def test_ranges_of_a_chunk_are_bars_in_the_colours_of_the_players(river):
    axes = plot.ranges_figure(river).axes
    for p, ax in enumerate(axes):
        assert [bar.get_height() for bar in ax.patches] == pytest.approx(river.ranges[p].tolist())
        assert mpl.colors.to_hex(ax.patches[0].get_facecolor()) == plot.SEAT_COLOURS[p]
    assert axes[0].get_title() == f"Range of oop: {river.ranges[0].sum():.0f} hands in 37 rows"


def test_payoffs_of_a_chunk_share_a_scale_around_zero(river):
    leaves = {"checked": river.find("cc"), "all-in": river.find("r170c")}
    figure = plot.payoffs_figure(
        river, {name: river.leaf_payoffs(n) for name, n in leaves.items()}, limit=120
    )
    images = [ax.images[0] for ax in figure.axes if ax.images]
    rows = [np.flatnonzero(weights > 0) for weights in river.ranges]
    for image, n in zip(images, leaves.values(), strict=True):
        shown = np.ma.filled(image.get_array(), np.nan)
        assert np.array_equal(shown, river.leaf_payoffs(n)[np.ix_(*rows)], equal_nan=True)
        assert (image.norm.vmin, image.norm.vcenter, image.norm.vmax) == (-120, 0, 120)
    labels = [label.get_text() for label in figure.axes[0].yaxis.get_ticklabels()]
    assert [int(label) for label in labels] == [int(rows[0][k]) for k in figure.axes[0].get_yticks()]


def test_strategies_of_a_chunk_are_stacked_bars_in_the_colours_of_the_actions(river):
    solution = river.by_cfr(target_pct=5)
    figure = plot.strategies_figure(river, solution, {"": "to open", "r45": "facing a bet"}, "R1")
    opening, facing = figure.axes
    assert (opening.get_title(), facing.get_title()) == ("oop to open", "ip facing a bet")
    for ax, line, player in ((opening, "", 0), (facing, "r45", 1)):
        n, held = river.find(line), np.flatnonzero(river.ranges[player] > 0)
        heights = np.array([bar.get_height() for bar in ax.patches]).reshape(-1, len(held))
        assert heights == pytest.approx(100 * river.strategy_at(solution, n)[:, held])
        labels = [action.label for action in river.tree.nodes[n].actions]
        colours = [mpl.colors.to_hex(bar.get_facecolor()) for bar in ax.patches[:: len(held)]]
        assert colours == plot.action_colours(labels)
