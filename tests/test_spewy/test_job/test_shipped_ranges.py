"""Shipped ranges, by hand and from solves: their weights, their presets, and their names in jobs."""

import re
import tomllib
from importlib.resources import files

import pytest
from cli_runs import good

from benchmarks.studies.preflop_ranges import FEWEST, NAMES, RAISES, STEP
from spewy import Job
from spewy.errors import InputError
from spewy.game.ranges import parse_range
from spewy.job.shipped import presets, shipped_ranges

FILES = sorted(files("spewy").joinpath("presets/preflop").iterdir(), key=lambda file: file.name)
SOLVED = [tomllib.loads(file.read_text("utf-8")) for file in FILES]
DEPTHS = [int(re.search(r"\d+", file.name)[0]) for file in FILES]
JOB = """
name = "river"
unit = "bb"
[game]
file = "holdem.nolimit.2p.reverse_blinds"
[spot]
board = "Ks 7h 2d 5c 9s"
pot = 5
stack = 20
oop = "@{oop}"
ip = {{ file = "{ip}" }}
[bets.river]
bet = "100%"
"""


def weights(name):
    return parse_range(shipped_ranges()[name].text).weights


@pytest.mark.parametrize("name", shipped_ranges())
def test_a_range_is_one_and_says_what_it_is(name):
    given = shipped_ranges()[name]
    assert parse_range(given.text).combos >= FEWEST
    assert given.about.endswith(".")


def test_solves_of_several_depths_belong_to_the_program():
    assert len(DEPTHS) >= 3
    assert set(DEPTHS) <= set(RAISES)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("line", ["", *NAMES])
def test_the_actions_of_a_decision_are_at_most_the_range_that_reaches_it(depth, line):
    """The last two letters of a line are actions of different players; the player acted before them, or never."""
    named = [f"hu-{depth}bb-{NAMES[line + letter]}" for letter in "cra" if line + letter in NAMES]
    actions = [weights(name) for name in named if name in shipped_ranges()]
    if not actions:
        return
    reached = weights(f"hu-{depth}bb-{NAMES[line[:-1]]}") if len(line) > 1 else 1.0
    assert (sum(actions) <= reached + STEP / 2 * (len(actions) + 1) + 1e-9).all()


@pytest.mark.parametrize("depth", DEPTHS)
def test_good_hands_are_played_first(depth):
    named = [name for name in (f"hu-{depth}bb-{NAMES[line]}" for line in "cra") if name in shipped_ranges()]
    played = sum(weights(name) for name in named)
    for good_hands, bad_hands in (("JJ+,AK", "72o,32o"), ("22+", "94o-92o,82o,72o")):
        best, worst = (parse_range(text).weights > 0 for text in (good_hands, bad_hands))
        assert played[best].mean() >= 0.9
        assert played[worst].mean() < played[best].mean()


@pytest.mark.parametrize("name", [name for solved in SOLVED for name in solved["presets"]])
def test_a_preset_has_the_chips_and_the_ranges_of_its_depth(name):
    known, depth = presets()[name], int(re.search(r"\d+", name)[0])
    assert known.pot / 2 + known.stack == pytest.approx(depth)
    assert known.raiser is None or name != f"hu-{depth}bb-limped"
    assert all(f"{depth} big blinds" in given.about for given in known.ranges)


def test_a_job_takes_ranges_by_name_unless_there_is_a_file(tmp_path):
    oop, ip = "hu-bb-calls-btn", f"hu-{DEPTHS[-1]}bb-btn-raises"
    (tmp_path / "job.toml").write_text(JOB.format(oop=oop, ip=ip))
    job = Job.load(tmp_path / "job.toml")
    assert [each.combos for each in job.ranges] == [
        parse_range(shipped_ranges()[name].text, job.board).combos for name in (oop, ip)
    ]
    (tmp_path / ip).write_text("AA")
    assert Job.load(tmp_path / "job.toml").ranges[1].combos == 6
    assert Job.load(tmp_path / "job.toml").ranges[0] == job.ranges[0]


def test_a_misspelt_name_is_corrected(tmp_path):
    (tmp_path / "job.toml").write_text(JOB.format(oop="hu-btn-open", ip="hu-btn-opens"))
    with pytest.raises(InputError, match=r"spot.oop: .* found 'hu-btn-open', nearest to hu-btn-opens"):
        Job.load(tmp_path / "job.toml")


def test_the_command_lists_ranges_and_takes_them_by_name(tmp_path):
    listed = good("new", "--list-ranges").splitlines()
    assert [line.split()[0] for line in listed] == list(shipped_ranges())
    name = listed[-1].split()[0]
    spot = ("--pot", 5, "--stack", 20, "--board", "Ks 7h 2d 5c 9s")
    good("new", tmp_path / "job.toml", *spot, "--oop", f"@{name}", "--ip", "@hu-btn-opens")
    assert Job.load(tmp_path / "job.toml").ranges[0].combos <= parse_range(shipped_ranges()[name].text).combos
