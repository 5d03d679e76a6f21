"""Legal jobs at the edges: hands that a river blocks altogether, one-hand ranges, equal ranges, suits that swap."""

import jobs
import pytest

from spewy.job.job import Job


def solved(board, oop, ip, *, stack=20, game="holdem.nolimit.2p.reverse_blinds", rows=None, **solve):
    data = {
        "name": "odd",
        "game": {"file": game},
        "spot": {"board": board, "pot": 10, "stack": stack, "oop": oop, "ip": ip},
        "rows": rows or {},
        "solve": {"max_sweeps": 40, "check_every": 40, "target": "0%", **solve},
    }
    if "nolimit" in game:
        data["bets"] = {"flop": {"bet": "100%", "raise": "a"}}
    return jobs.solved(Job.of(data))


FEW = [("AsAc", "KsKc"), ("AsAc", "KsKc,QsQc"), ("QQ,JJ", "QQ,JJ"), ("AsAc,QhJh", "KK")]


@pytest.mark.parametrize(
    ("oop", "ip", "leaves"),
    [
        *((*pair, "live") for pair in FEW),
        *(pytest.param(*pair, "stored", marks=pytest.mark.slow) for pair in FEW),
    ],
)
def test_turns_with_few_hands(oop, ip, leaves):
    result, solution = solved("Ah Kh 7d 2c", oop, ip, leaves=leaves, max_sweeps=60, check_every=60)
    assert result.exploitability_pct < 1.5
    assert sum(result.ev) == pytest.approx(10)
    if (oop, leaves) == ("AsAc", "live"):
        assert sum(1 for _ in solution.frames()) == len(solution.select())


@pytest.mark.parametrize(("precision", "rounded"), [("single", 3e-5), ("double", 1e-11)])
def test_symmetric_suits_are_exact(precision, rounded):
    """A one-suited flop: three suits swap; values are the same with every turn and river solved."""
    options = {"stack": 10, "max_sweeps": 10, "precision": precision}
    on, off = (
        solved("Ah Kh 7h", "AA,KK", "QQ,JJ", symmetry=symmetry, **options)[0] for symmetry in (True, False)
    )
    assert on.exploitability == pytest.approx(off.exploitability, abs=rounded)
    assert on.ev == pytest.approx(off.ev, abs=rounded)


def test_show_names_hands_of_the_board_that_was_asked_for():
    """With symmetry a board may be solved under other suits; hands and their numbers come back in the asked ones."""
    line = "cc/"
    views = []
    options = {"stack": 10, "max_sweeps": 5, "precision": "double"}  # so that only the same hand has the same
    for symmetry in (True, False):
        _, solution = solved("Ah Kh 7h", "AA,KK,Q9s", "QQ,JJ,T9s", symmetry=symmetry, **options)
        node = solution.node(line, "Ah Kh 7h 9s")
        views.append(
            {h: (r, e, q) for h, r, e, q in zip(node.hands, node.reach, node.ev, node.equity, strict=True)}
        )
    assert views[0].keys() == views[1].keys()
    for hand in views[0]:
        assert views[0][hand] == pytest.approx(views[1][hand], abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("leaves", ["live", pytest.param("stored", marks=pytest.mark.slow)])
def test_limit_turn(leaves):
    result, _ = solved(
        "Ah Kh 7d 2c",
        "QQ,JJ,TT,A5s",
        "QQ,JJ,AK",
        stack=200,
        game="holdem.limit.2p.reverse_blinds",
        leaves=leaves,
        max_sweeps=150,
    )
    assert result.exploitability_pct < 1


@pytest.mark.parametrize(
    "solve",
    [
        *(
            pytest.param(way, marks=pytest.mark.slow)
            for way in (
                {"variant": "pcfr+", "leaves": "stored"},
                {"order": "top-down", "leaves": "stored"},
                {"integrate": "average", "max_sweeps": 20},
                {"integrate": "average", "method": "lp", "max_sweeps": 20},
            )
        ),
        {"precision": "single"},
    ],
)
def test_every_way_to_solve_comes_near(solve):
    result, _ = solved("Ah Kh 7d 2c", "QQ,JJ", "QQ,TT,AK", **solve)
    assert result.exploitability_pct < 3
