"""Rake from the job file to the result: by arithmetic, and what is refused."""

import pytest
from cli_runs import KUHN, POLARISED, TURN, good, good_json, refused, write
from jobs import EXAMPLES

from spewy.errors import InputError
from spewy.game.tree import terminal_rake
from spewy.job.job import Job
from spewy.look.chunk_game import one_chunk

PRECISE = ["--set", "solve.target=0.001%"]
ROUNDED = 2e-5  # chips: what single precision leaves of pots of 100 to 300


def rake(text, value):
    return text.replace("stack = 100\n", f"stack = 100\nrake = {value}\n")


def test_rake_of_every_end():
    """A share of what both matched, capped; an uncalled bet goes back unraked."""
    tree = Job.load(EXAMPLES / "T1.toml", ["spot.rake={rate = 0.05, cap = 30}"]).betting_tree
    config = tree.config
    assert terminal_rake(tree.find("r120f"), config) == pytest.approx(0.05 * 200)
    assert terminal_rake(tree.find("r120c/cc"), config) == pytest.approx(0.05 * 440)
    assert terminal_rake(tree.find("r120r300f"), config) == pytest.approx(0.05 * 440)
    assert terminal_rake(tree.find("r900c/"), config) == 30
    with pytest.raises(InputError, match="expected a fold or a showdown, found a chance"):
        terminal_rake(tree.find("cc"), config)


@pytest.mark.parametrize(
    ("value", "taken"),
    [
        ("{ rate = 0.05 }", 5),
        ("{ rate = 0.05, cap = 3 }", 3),
        ('{ rate = "12.5 %" }', 12.5),
        ("{ rate = 0 }", 0),
    ],
)
def test_check_down(value, taken, tmp_path):
    """Nobody can bet: each gets the equity's share of what the house leaves, at ties too."""
    text = POLARISED.replace("KhKd,JcTc,JhTh,JdTd", "AK,KQ:0.25,JJ,TT").replace('"AhAd"', '"KJ,QQ+,TT:0.5"')
    job = write(tmp_path, rake(text, value).replace('oop = { bet = "a" }', 'bet = ""'))
    found = good_json("solve", job, "--out", tmp_path / "out")
    assert found["ev"] == pytest.approx([(100 - taken) * share for share in found["equity"]], abs=ROUNDED)
    assert sum(found["ev"]) == pytest.approx(100 - taken)
    assert found["exploitability"] == pytest.approx(0, abs=ROUNDED)
    for line in ("", "c"):
        for row in good_json("show", tmp_path / "out", "--line", line)["hands"].values():
            assert row["ev"] == pytest.approx((100 - taken) * row["equity"], abs=1e-9)


@pytest.mark.parametrize(("answer", "ev"), [("fold", [90, 0]), ("call", [170, -100])])
def test_forced_all_in(answer, ev, tmp_path):
    """The kings bet all-in, the aces fold (the pot of 100 is raked) or call and lose (the pot of 300 is)."""
    text = rake(POLARISED, "{ rate = 0.1 }").replace("KhKd,JcTc,JhTh,JdTd", "KhKd")
    locks = f"""
[[lock]]
line = ""
strategy = {{ "all-in 100" = 1 }}
[[lock]]
line = "r100"
strategy = {{ {answer} = 1 }}
"""
    found = good_json("solve", write(tmp_path, text + locks), "--out", tmp_path / "out")
    assert found["ev"] == pytest.approx(ev, abs=ROUNDED)
    assert found["exploitability"] == pytest.approx(0, abs=ROUNDED)


def test_polarised_river(tmp_path):
    """A rake of 3 from a called pot of 300: bluffs are 100 / (300 - 3) of all bets, and half of the catchers call.

    ip is indifferent between folding (-50 net) and calling, +147 against a bluff and -150 against value. Bluffs are
    worth 0, what checking is, when half of the bets are called: a fold pays 50 - 3 net, checking loses 50. So
    c · (-150) + (1 - c) · 47 = -50, c = 97 / 197.
    """
    job = write(tmp_path, rake(POLARISED, "{ rate = 0.05, cap = 3 }"))
    found = good_json("solve", job, "--out", tmp_path / "out", *PRECISE)
    assert found["converged"]
    bets = {hand: row["strategy"][1] for hand, row in good_json("show", tmp_path / "out")["hands"].items()}
    value = bets.pop("KhKd")
    assert value == pytest.approx(1, abs=0.01)
    assert sum(bets.values()) / (value + sum(bets.values())) == pytest.approx(100 / 297, abs=0.003)
    facing = good_json("show", tmp_path / "out", "--line", "r100")
    calls = facing["hands"]["AhAd"]["strategy"][facing["actions"].index("call")]
    assert calls == pytest.approx(97 / 197, abs=0.003)
    assert sum(found["ev"]) == pytest.approx(97, abs=ROUNDED)


def test_no_rake_is_the_same_bits_and_another_job(tmp_path):
    text = TURN.replace('"0.5%"', '"0%"\nmax_sweeps = 30')
    without = good_json("solve", write(tmp_path, text), "--out", tmp_path / "without")
    job = write(tmp_path, rake(text, "{ rate = 0, cap = 3 }"))
    zero = good_json("solve", job, "--out", tmp_path / "zero")
    for field in ("exploitability", "ev", "equity"):
        assert zero[field] == without[field]
    assert good("show", tmp_path / "zero", "--json") == good("show", tmp_path / "without", "--json")
    raked = refused("solve", job, "--out", tmp_path / "without", "--set", "spot.rake={rate=0.1}")
    assert "another job" in raked


def test_only_spots_have_rake(tmp_path):
    job = write(tmp_path, KUHN)
    assert "spot.board: expected a value" in refused("estimate", job, "--set", "spot.rake={rate=0.1}")
    assert "unknown key rake" in refused("estimate", job, "--set", "rake={rate=0.1}")


def test_exploit_says_the_same(tmp_path):
    """Best responses do not bracket a value any more: there is none. `exploit` walks in double precision."""
    text = rake(TURN, "{ rate = 0.1 }").replace('"0.5%"', '"0%"\nmax_sweeps = 20')
    solved = good_json("solve", write(tmp_path, text), "--out", tmp_path / "out")
    found = good_json("exploit", tmp_path / "out")
    assert found["exploitability"] == pytest.approx(solved["exploitability"], abs=ROUNDED)
    gains = [best + 50 - ev for best, ev in zip(found["best_response"], solved["ev"], strict=True)]
    assert min(gains) >= -ROUNDED
    assert sum(gains) / 2 == pytest.approx(solved["exploitability"], abs=ROUNDED)
    assert found["value_bracket"] is solved["value_bracket"] is None
    assert "player 0's value" not in good("exploit", tmp_path / "out")
    assert 80 < sum(solved["ev"]) < 90  # less than a tenth of the pot at the root stays never behind


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        ("{ rate = 1 }", [], 'expected a share of the pot below 1; for 1% write 0.01 or "1%", found 1'),
        ("{ rate = 4.5 }", [], 'below 1; for 4.5% write 0.045 or "4.5%", found 4.5'),
        ("{ rate = 500 }", [], "spot.rake.rate: expected a share of the pot below 1, found 500"),
        ('{ rate = "100%" }', [], """rate: expected a percentage below 100%, such as "5%", found '100%'"""),
        ('{ rate = "0.05" }', [], "spot.rake.rate: expected a percentage below 100%"),
        ("{ rate = true }", [], 'spot.rake.rate: expected a share of the pot such as 0.05 or "5%"'),
        ("{ rate = -0.1 }", [], "spot.rake.rate: expected a number greater than or equal to 0, found -0.1"),
        ("{ rate = 0.1, cap = -1 }", [], "rake.cap: expected a number greater than or equal to 0, found -1"),
        ("{ cap = 3 }", [], "spot.rake.rate: expected a value, found none"),
        ("{ rate = 0.1, drop = true }", [], "unknown key spot.rake.drop"),
        ("{ rate = 0.1 }", ["solve.method=lp", "solve.integrate=average"], 'method = "cfr", found "lp"'),
        ("{ rate = 0.1 }", ["solve.integrate=average"], 'solve.integrate = "regret", found "average"'),
        ("{ rate = 0.1 }", ["solve.leaves=stored"], 'solve.leaves = "auto" or "live", found "stored"'),
        ("{ rate = 0.1 }", ["rows.river=3"], 'where rows are buckets, found "auto" and rows.river = 3'),
    ],
)
def test_refused(value, options, message, tmp_path):
    sets = [text for option in options for text in ("--set", option)]
    assert message in refused("solve", write(tmp_path, rake(TURN, value)), "--out", tmp_path / "out", *sets)
    assert not (tmp_path / "out").exists()


def test_buckets_with_live_leaves(tmp_path):
    """Rake goes with buckets too where leaves are live; a bucket has no showdowns of its own."""
    text = rake(TURN, "{ rate = 0.05 }") + 'leaves = "live"\n[rows]\nriver = 2\n'
    job = write(tmp_path, text)
    found = good_json("solve", job, "--out", tmp_path / "out", "--set", "solve.max_sweeps=5")
    assert 85 < sum(found["ev"]) < 95.01


def test_a_chunk_with_rake_is_not_laid_open(tmp_path):
    with pytest.raises(InputError, match="a matrix game only without rake and locks"):
        one_chunk(Job.load(write(tmp_path, rake(TURN, "{ rate = 0.1 }"))))
