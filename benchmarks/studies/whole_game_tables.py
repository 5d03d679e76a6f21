"""Tables and the picture of two pages on whole games in ``docs/research``, from the results of `whole_games`."""

from itertools import cycle
from pathlib import Path
from typing import Any


def curve_table(curves: dict[str, Any]) -> str:
    lines = [
        "| run | buckets × rows | core-minutes | deals | exploitability, mbb "
        "| dealer's value, mbb | dealer fold / limp / raise |",
        "|---" * 7 + "|",
    ]
    for name, found in curves.items():
        for k, point in enumerate(found["points"]):
            head = f"{name} | {_sizes(found)}" if not k else " | "
            played = " / ".join(_told(point[action], ".3f") for action in ("fold", "limp", "raise"))
            lines.append(
                f"| {head} | {_told(point['core_minutes'], '.3g')} | {point['deals']:,} "
                f"| {_exploitability(point)} | {_with_error(point['value_mbb'], point['value_stderr_mbb'])} "
                f"| {played} |"
            )
    return "\n".join(lines)


def study_table(found: list[dict[str, Any]]) -> str:
    lines = [
        "| buckets × rows | tables, MiB | deals | visits of a bucket | exploitability, mbb |",
        "|---" * 5 + "|",
    ]
    for case in found:
        for k, point in enumerate(case["points"]):
            size = f"{point['classes']:,} × {case['rows']} | {point['table_mib']:.1f}"
            lines.append(
                f"| {size if not k else ' | '} | {point['deals']:,} | {point['visits']:,.0f} "
                f"| {_exploitability(point)} |"
            )
    return "\n".join(lines)


def schedule_table(found: list[dict[str, Any]]) -> str:
    lines = ["| regrets below 0 | all regrets | averages | exploitability, mbb |", "|---" * 4 + "|"]
    for case in found:
        a, b, c = case["alpha"], case["beta"], case["gamma"]
        below = "cut off at 0" if case["clip"] else "halved" if b == 0 else f"times n^{b:g} / (n^{b:g} + 1)"
        kept = "kept" if a is None else f"times n^{a:g} / (n^{a:g} + 1)"
        lines.append(f"| {below} | {kept} | n^{c:g} | {case['exploitability_mbb']:.2f} |")
    return "\n".join(lines)


def answers_table(found: list[dict[str, Any]]) -> str:
    shares = list(dict.fromkeys(case["answers"] for case in found))
    cells: dict[str, dict[float, str]] = {}
    for case in found:
        for point in case["points"]:
            row = f"{case['classes']} × {case['rows']} | {point['deals']:,}"
            cells.setdefault(row, {})[case["answers"]] = _exploitability(point)
    head = " | ".join(f"`cfr_br = {share:g}`" for share in shares)
    lines = [f"| buckets × rows | deals | {head} |", "|---" * (len(shares) + 2) + "|"]
    for row, by_share in cells.items():
        lines.append(f"| {row} | {' | '.join(by_share.get(share, '') for share in shares)} |")
    return "\n".join(lines)


def _sizes(found: dict[str, Any]) -> str:
    board_buckets, rows = (["all" if k is None else k for k in found[key]] for key in ("classes", "rows"))
    same = str(rows[0]) if len(set(rows)) == 1 else "/".join(map(str, rows))
    return f"{'/'.join(map(str, board_buckets))} × {same}"


def _exploitability(point: dict[str, Any]) -> str:
    return _with_error(point["exploitability_mbb"], point["stderr_mbb"])


def _with_error(value: float | None, error: float | None) -> str:
    return _told(value, ".1f") if error is None else f"{value:.0f} ± {error:.0f}"


def _told(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


def draw_curves(data: dict[str, Any], picture: Path) -> None:
    """Draw a picture of exploitability against core-minutes, with one chart for each game."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    by_game: dict[str, dict[str, Any]] = {}
    for name, found in data["curves"].items():
        by_game.setdefault(found["job"], {})[name] = found
    figure = Figure(figsize=(5.6 * len(by_game), 6.2), layout="constrained")
    charts = figure.subplots(1, len(by_game), squeeze=False)
    for ax, (game, curves) in zip(charts[0], by_game.items(), strict=True):
        for (name, found), marker in zip(curves.items(), cycle("osD^vPX*"), strict=False):
            points = found["points"]
            label = (
                f"{name.removeprefix(game).lstrip(', ') or 'deals'}, {'/'.join(map(str, found['classes']))}"
            )
            ax.errorbar(
                [point["core_minutes"] for point in points],
                [point["exploitability_mbb"] for point in points],
                [point["stderr_mbb"] or 0.0 for point in points],
                label=label,
                marker=marker,
                capsize=3,
            )
        ax.set(xscale="log", yscale="log", xlabel="core-minutes", title=game)
        for axis in (ax.xaxis, ax.yaxis):
            low, high = axis.get_view_interval()
            middle = (low * high) ** 0.5  # few points need not fill the chart
            axis.set_view_interval(min(low, middle / 3), max(high, 3 * middle), ignore=True)
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axis.set_minor_formatter(NullFormatter())
        ax.grid(which="both", alpha=0.2)
        ax.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14))
    charts[0][0].set_ylabel("exploitability, mbb per hand")
    figure.savefig(picture, dpi=110)
