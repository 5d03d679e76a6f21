"""``spewy sizes``: the losses are differences of solves, and more sizes never lose more."""

import pytest
from cli_runs import KUHN, good, good_json, refused, write
from jobs import parsed_job

from spewy import InputError, choose_sizes, solve

RIVER = """
name = "river"
[game]
file = "holdem.nolimit.2p.reverse_blinds"
[spot]
board = "Td 9d 6h Qc As"
pot = 60
stack = 170
oop = "TT-77,AJs,KQs,QJs,JTs,87s,AJo"
ip = "AA-22,AQs,KJs,T9s,98s,AJo,KQo"
[bets.river]
bet = "33%"
raise = "a"
"""
JOB = parsed_job(RIVER)


def value(sizes, player):
    with solve(JOB.replace({f"bets.river.{player}.bet": sizes, "solve.target": "0.01%"})) as solution:
        return solution.result.ev[["oop", "ip"].index(player)]


@pytest.mark.parametrize("player", ["oop", "ip"])
def test_losses_are_differences_of_solves(player):
    found = choose_sizes(JOB, player, sizes="50%, 100%, a", target="0.01%")
    assert [row.count for row in found.losses] == [1] * 3 + [2] * 3
    whole = value("50%, 100%, a", player)
    assert found.ev == pytest.approx(whole)
    for row in found.losses:
        assert row.ev == pytest.approx(value(row.sizes, player))
        assert row.loss_pct == pytest.approx(100 * (whole - row.ev) / 60)
        assert row.loss_pct > -row.error_pct
        assert 0 < row.error_pct < 0.05
    assert found.best(1).loss_pct == min(row.loss_pct for row in found.losses[:3])
    assert found.best(2).loss_pct <= found.best(1).loss_pct + 0.05


def test_the_command_prints_what_python_returns(tmp_path):
    file = write(tmp_path, RIVER)
    found = good_json("sizes", file, "--kind", "raise", "--sizes", "2.5x, a", "--most", "1", "--player", "ip")
    expected = choose_sizes(JOB, "ip", kind="raise", sizes="2.5x, a", most=1)
    assert found == expected.to_json()
    text = good("sizes", file, "--sizes", "50%, a", "--most", "1")
    assert text.splitlines()[0].startswith("river: bets.river.oop.bet; EV ")
    assert f'--set "bets.river.oop.bet={choose_sizes(JOB, sizes="50%, a", most=1).best(1).sizes}"' in text


def test_amounts_are_in_the_unit_of_the_job():
    text = 'unit = "bb"' + RIVER.replace("pot = 60", "pot = 0.6").replace("stack = 170", "stack = 1.7")
    in_blinds, in_chips = (choose_sizes(job, sizes="50%, a", most=1) for job in (parsed_job(text), JOB))
    assert in_blinds.unit == "bb"
    assert 100 * in_blinds.ev == pytest.approx(in_chips.ev, rel=1e-3)
    for ours, theirs in zip(in_blinds.losses, in_chips.losses, strict=True):
        assert ours.loss_pct == pytest.approx(theirs.loss_pct, abs=0.05)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sizes": "50%"}, "two or more different sizes"),
        ({"sizes": "50%, 50%"}, "two or more different sizes"),
        ({"sizes": "50%, fifty"}, "fifty"),
        ({"most": 2}, "1 to 1 sizes together"),
        ({"player": "co"}, "expected oop or ip"),
        ({"sizes": ", ".join(f"{n}%" for n in range(10, 100)), "most": 2}, "at most 1,000"),
        ({"round_name": "flop"}, "flop"),
    ],
)
def test_wrong_arguments_are_named(changes, words):
    with pytest.raises(InputError, match=words):
        choose_sizes(JOB, **{"sizes": "50%, a", "most": 1} | changes)


def test_a_whole_game_has_no_sizes_to_choose(tmp_path):
    assert "expected a no-limit spot" in refused("sizes", write(tmp_path, KUHN))
