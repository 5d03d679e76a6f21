"""The chart of 169 classes of hands: of spots too, in colour and without."""

import numpy as np
import pytest
from cli_runs import LEDUC, POLARISED, good, refused, write

from spewy.cli import grid as cli_grid
from spewy.cli.grid import grid_text
from spewy.look.grid import Grid


@pytest.fixture(scope="module")
def river(tmp_path_factory):
    folder = tmp_path_factory.mktemp("river")
    good("solve", write(folder, POLARISED), "--out", folder / "out")
    return folder / "out"


def test_a_spot_is_drawn_as_a_grid(river):
    """Kings always bet, jack-high bets half of the time; the other classes are not in the range."""
    lines = good("show", river, "--grid").splitlines()
    assert "c Check, a AllIn(100)" in lines
    cells = {}
    for line in lines[lines.index("c Check, a AllIn(100)") + 1 :][:13]:
        words = line.split()
        cells.update(zip(words[::2], words[1::2], strict=True))
    assert cells["KK"] == "a99"
    assert cells["JTs"][0] in "ca"
    assert cells["AA"] == cells["72o"] == "-"
    assert "reach in %" in lines


def test_games_with_other_hands_have_no_grid(tmp_path):
    good("solve", write(tmp_path, LEDUC), "--out", tmp_path / "out", "--set", "solve.max_sweeps=1")
    assert "grid: expected a hold'em game (two hole cards, 52 cards)" in refused(
        "show", tmp_path / "out", "--grid"
    )


def three_actions(reach):
    mix = np.zeros((3, 13, 13))
    mix[0], mix[1], mix[2] = 0.5, 0.3, 0.2
    return Grid(("Fold", "Call", "AllIn(100)"), np.full((13, 13), reach), mix)


def test_text_tells_the_most_frequent_action_and_its_share():
    lines = grid_text(three_actions(1.0)).splitlines()
    assert lines[0] == "f Fold, c Call, a AllIn(100)"
    assert lines[1].startswith("AA  f50 AKs f50 ")
    assert len(lines) == 14


def test_colours_are_shares_and_brightness_is_reach():
    grid = three_actions(1.0)
    grid.reach[0, 1] = 0.0
    grid.reach[0, 2] = 0.5
    first = list(cli_grid._coloured(grid))[1]
    styles = [str(span.style) for span in first.spans]
    assert [style.split(" on ")[1] for style in styles[:5]] == [
        *["rgb(70,110,190)"] * 3,
        "rgb(70,150,80)",
        "rgb(140,25,40)",
    ]
    assert styles[5] == "dim"
    assert styles[6].endswith("rgb(45,71,123)")
    assert first.plain.startswith("AA    AKs   AQs")
    assert len(first.plain.rstrip()) <= 80


def test_a_terminal_gets_colours_unless_it_wants_none(monkeypatch):
    monkeypatch.setattr(cli_grid, "on_terminal", lambda: True)
    monkeypatch.setattr("spewy.cli.tables.on_terminal", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in grid_text(three_actions(1.0))
    monkeypatch.setenv("NO_COLOR", "1")
    assert "f50" in grid_text(three_actions(1.0))
