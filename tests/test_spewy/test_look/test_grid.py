"""The chart of 169 classes of hands: in colour, without, on 80 columns; hands grouped, sorted and filtered."""

import re

import numpy as np
import pytest
from cli_runs import TURN, good, good_json, on_a_terminal, refused, spewy, write

from spewy.cli import decision as cli_grid
from spewy.cli.decision import grid_text, heat_text
from spewy.look.grid import Grid, HeatMap

RANKS = "AKQJT98765432"


@pytest.fixture(scope="module")
def river(small):
    return small / "polarised"


@pytest.fixture(scope="module")
def turn(tmp_path_factory):
    """A set, top pair, ace high with overcards, and open-ended straight draws, one of them with a flush draw."""
    folder = tmp_path_factory.mktemp("turn")
    text = TURN.replace("Qs 7h 2d 3c", "Qs 9h 8h 2c").replace(
        "AhAd,KdQd,JcTc", "8s8d,KdQd:0.5,7h6h,7c6d,AsKs"
    )
    good("solve", write(folder, text), "--out", folder / "out")
    return folder / "out"


def cells_below(lines, head):
    """Cells by row and column of the chart below a line."""
    start = next(i for i, line in enumerate(lines) if line.startswith(head)) + 1
    assert lines[start].split() == list(RANKS)
    rows = [line.split() for line in lines[start + 1 : start + 14]]
    assert [row[0] for row in rows] == list(RANKS)
    return {(row[0], column): cell for row in rows for column, cell in zip(RANKS, row[1:], strict=True)}


def test_a_spot_is_drawn_as_a_grid(river):
    """Kings always bet, jack-high bets half of the time; the other classes are not in the range."""
    lines = good("show", river, "--grid").splitlines()
    cells = cells_below(lines, "c check, a all-in 100")
    assert cells["K", "K"] == "a100"
    assert cells["J", "T"][0] in "ca"
    assert cells["A", "A"] == cells["2", "7"] == "-"
    assert cells_below(lines, "reach in %")["J", "T"] == "75"


def test_a_pipe_gets_hands_and_a_terminal_the_grid(river):
    assert "KhKd" in good("show", river)
    shown = on_a_terminal("show", river)
    assert "KhKd" not in shown
    assert "\n".join(shown.splitlines()) == good("show", river, "--grid").rstrip()


def test_without_colour_a_grid_is_text_of_80_columns(turn):
    shown = on_a_terminal("show", turn, columns=80, TERM="xterm-256color", NO_COLOR="1")
    assert "\x1b" not in shown
    assert max(map(len, shown.splitlines())) <= 80
    cells_below(shown.splitlines(), "c check, r bet 50")


@pytest.mark.parametrize("options", [[], ["--heat", "equity"], ["--sort", "EV"]])
def test_colours_fit_80_columns(turn, options):
    shown = on_a_terminal("show", turn, *options, columns=80, TERM="xterm-256color", NO_COLOR="")
    assert "\x1b[" in shown
    assert max(len(re.sub("\x1b\\[[0-9;]*m", "", line)) for line in shown.splitlines()) <= 80


def test_a_heat_map_tells_a_number_of_each_class(turn):
    found = good_json("show", turn)["hands"]
    cells = cells_below(good("show", turn, "--heat", "equity").splitlines(), "oop: equity, %")
    assert cells["K", "Q"] == f"{100 * found['KdQd']['equity']:.0f}"
    assert cells["A", "A"] == "-"
    cells = cells_below(good("show", turn, "--heat", "bet 50").splitlines(), "oop: EV of bet 50, chips")
    assert float(cells["K", "Q"]) == pytest.approx(found["KdQd"]["action_ev"][1], abs=0.51)


def test_the_other_player_waits(turn):
    """Both players' EVs, weighed by how likely each hand is against the other range, add up to the pot."""
    found = good_json("show", turn, "--player", "ip")
    assert (found["player"], found["actions"]) == (1, [])
    assert set(found["hands"]) == {"KhKc", "8s7s"}
    assert all(row["strategy"] == [] for row in found["hands"].values())
    after = good_json("show", turn, "--line", "c")
    assert after["player"] == 1
    before = good_json("show", turn, "--line", "c", "--player", "oop")
    assert before["player"] == 0
    assert sum(row["reach"] for row in before["hands"].values()) > 0
    assert "waits  ip, with 2.00 hands" in good("show", turn, "--player", "ip")


def test_ev_of_who_acts_and_of_who_waits_add_up_to_the_pot(river):
    """No hand of one range shares a card with the other: all pairs are as likely."""
    ours, theirs = (good_json("show", river, "--player", seat)["hands"].values() for seat in ("oop", "ip"))
    mean = [np.mean([row["ev"] for row in rows]) for rows in (ours, theirs)]
    assert sum(mean) == pytest.approx(100)
    assert sum(np.mean([row["equity"] for row in rows]) for rows in (ours, theirs)) == pytest.approx(1)


def hand_rows(text):
    """Rows of the list below its head."""
    lines = text.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("hand "))
    return lines[head], lines[head + 1 :]


def test_hands_are_grouped_by_what_they_are(turn):
    head, rows = hand_rows(good("show", turn))
    assert head.split()[-2:] == ["equity", "draws"]
    named = [row.split("  ")[0] if row[0] != " " else row.split()[0] for row in rows]
    assert named == ["set", "8s8d", "top pair", "KdQd", "ace high", "AsKs", "nothing", "7c6d", "7h6h"]
    assert rows[1].startswith("  8s8d  ")
    by_hand = dict(zip(named, rows, strict=True))
    assert by_hand["7h6h"].endswith("flush draw, OESD")
    assert by_hand["7c6d"].endswith("OESD")
    assert by_hand["AsKs"].endswith("overcards")


def test_hands_are_sorted_by_any_column(turn):
    found = good_json("show", turn)["hands"]
    for column, key in (("EV", "ev"), ("equity", "equity"), ("reach", "reach")):
        _, rows = hand_rows(good("show", turn, "--sort", column))
        values = [found[row.split()[0]][key] for row in rows]
        assert len(values) == len(found)
        assert values == sorted(values, reverse=True)
    _, rows = hand_rows(good("show", turn, "--sort", "bet 50"))
    shares = [found[row.split()[0]]["strategy"][1] for row in rows]
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize(
    ("filters", "hands"),
    [
        (["pair+"], {"8s8d", "KdQd"}),
        (["top pair"], {"KdQd"}),
        (["Top-Pair, set"], {"KdQd", "8s8d"}),
        (["flushdraw"], {"7h6h"}),
        (["oesd"], {"7h6h", "7c6d"}),
        (["fd&oesd,set"], {"7h6h", "8s8d"}),
        (["oesd", "flush draw"], {"7h6h"}),
        (["gutshot+"], {"7h6h", "7c6d"}),
        (["draw"], {"7h6h", "7c6d"}),
        (["ace high+"], {"AsKs", "KdQd", "8s8d"}),
        (["quads"], set()),
        (["KdQd"], {"KdQd"}),
        (["76"], {"7h6h", "7c6d"}),
        (["76s, 88+"], {"7h6h", "8s8d"}),
        (["Axs"], {"AsKs"}),
        (["xQ, Axo"], {"KdQd"}),
        (["Kd"], {"KdQd"}),
        (["hh, Ax & ss"], {"7h6h", "AsKs"}),
        (["cd", "draw"], {"7c6d"}),
        (["h"], {"7h6h"}),
    ],
)
def test_a_filter_chooses_hands(turn, filters, hands):
    options = [text for each in filters for text in ("--filter", each)]
    assert set(good_json("show", turn, *options)["hands"]) == hands
    for form in ([], ["--grid"]):
        said = good("show", turn, *form, *options)
        assert re.search(rf"^filter +{re.escape(' and '.join(filters))}$", said, re.MULTILINE)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--filter", "tp"],
            "such as AhKh, AK, AKs, Axs, QQ+, Ah, hh, or a kind of hand, such as set",
        ),
        (["--filter", "AA:0.5"], "found 'AA:0.5'"),
        (["--filter", "flushdrow"], "found 'flushdrow' (nearest: flush draw)"),
        (["--filter", "pair+,"], "found ''"),
        (["--filter", "nut flush blocker+"], "expected a + after a made hand or a draw"),
        (["--sort", "equty"], "found 'equty' (nearest: equity)"),
        (["--heat", "bet50"], "found 'bet50' (nearest: bet 50)"),
        (["--heat", "EV", "--hands"], "choose a list or a grid"),
        (["--plot", "grid.gif"], ".png or .svg or .pdf, found .gif"),
        (["--player", "button"], "'oop', 'ip'"),
    ],
)
def test_what_there_is_not_is_told_with_the_choices(turn, options, said):
    assert said in refused("show", turn, *options)


def test_games_with_other_hands_have_no_grid_and_no_names(small):
    leduc = small / "leduc"
    said = "grid: expected a hold'em game (two hole cards, 52 cards)"
    assert said in refused("show", leduc, "--grid")
    assert "filter: expected a hold'em game" in refused("show", leduc, "--filter", "pair")
    assert "EV, equity" in refused("show", leduc, "--sort", "class")
    head, rows = hand_rows(good("show", leduc, "--sort", "equity"))
    assert head.split()[-1] == "equity"
    assert len(rows) == 6


@pytest.mark.parametrize("options", [[], ["--heat", "equity", "--size", "phone"], ["--player", "ip"]])
def test_pictures_of_a_decision(turn, tmp_path, options):
    file = tmp_path / "grid.png"
    result = spewy("show", turn, "--plot", file, "--json", *options)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith('{"player"')
    assert f"picture in {file}" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["grid.png"]


def three_actions(reach):
    mix = np.zeros((3, 13, 13))
    mix[0], mix[1], mix[2] = 0.5, 0.3, 0.2
    return Grid(("fold", "call", "all-in 100"), np.full((13, 13), reach), mix, np.array([0.5, 0.3, 0.2]))


def test_text_tells_the_most_frequent_action_and_its_share():
    lines = grid_text(three_actions(1.0)).splitlines()
    assert lines[1] == "f fold, c call, a all-in 100"
    assert lines[3].startswith("A   f50   f50 ")
    assert len(lines) == 16


@pytest.mark.parametrize("draw", [cli_grid._plain, cli_grid._coloured])
def test_many_actions_fit_80_columns(draw):
    actions = ("fold", "call", *(f"raise to {1000 * k}" for k in range(1, 12)))
    grid = Grid(actions, np.ones((13, 13)), np.full((13, 13, 13), 1 / 13), np.full(13, 1 / 13))
    lines = [str(line) for line in draw(grid)]  # of rich, the text without colours
    assert max(map(len, lines)) <= 80
    assert all(any(action in line for line in lines) for action in actions)


def test_colours_are_shares_and_brightness_is_reach():
    grid = three_actions(1.0)
    grid.reach[0, 1] = 0.0
    grid.reach[0, 2] = 0.5
    first = list(cli_grid._coloured(grid))[1]
    styles = [str(span.style).split(" on ")[-1] for span in first.spans]
    assert styles[:5] == [*["rgb(150,157,166)"] * 3, "rgb(58,129,190)", "rgb(92,24,98)"]
    assert styles[5] == "dim"
    assert styles[6] == "rgb(101,106,112)"
    assert first.plain.startswith("AA    AKs   AQs")
    assert len(first.plain.rstrip()) <= 80


def test_a_number_that_nobody_knows_is_a_dash():
    values = np.full((13, 13), np.nan)
    values[0, 0] = 0.5
    cells = cells_below(heat_text(HeatMap("EV", values, "{:.1f}".format)).splitlines(), "EV")
    assert cells["A", "A"] == "0.5"
    assert cells["K", "K"] == "-"


def test_a_terminal_gets_colours_unless_it_wants_none(monkeypatch):
    monkeypatch.setattr(cli_grid, "on_terminal", lambda: True)
    monkeypatch.setattr("spewy.cli.tables.on_terminal", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in grid_text(three_actions(1.0))
    monkeypatch.setenv("NO_COLOR", "1")
    assert "f50" in grid_text(three_actions(1.0))
