"""What notebooks show of decisions and results: their numbers, and no markup but our own."""

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from cli_runs import POLARISED, write
from jobs import EXAMPLES, solved, toy

import spewy
from spewy.game.gamefile import load_game
from spewy.game.hand import Hand
from spewy.game.ranges import parse_range
from spewy.job.job import Job
from spewy.look import BoardBuckets
from spewy.match.acpc_text import LoggedHand
from spewy.match.review import review_hands
from spewy.records.policy import ChunkPolicy
from spewy.system import html

SCRIPT = "<script>alert('x')</script>"


class Cells(HTMLParser):
    """Text and tooltips of a table's cells; fails where a tag is left open."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.titles = [], [], {}
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        if tag == "br":
            return
        self.open.append(tag)
        assert tag != "script"
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._title = dict(attrs).get("title")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
            if self._title:
                self.titles[data] = self._title


@pytest.fixture(scope="module")
def river(tmp_path_factory):
    folder = tmp_path_factory.mktemp("html")
    with spewy.solve(Job.load(write(folder, POLARISED)), folder / "out") as solution:
        yield solution.result, solution


def test_a_decision_of_holdem_is_a_chart(river):
    """Kings always bet, jack-high bets half of the time; aces are the other player's."""
    shown = river[1].node()._repr_html_()
    cells = Cells(shown)
    assert [len(row) for row in cells.rows] == [13] * 13
    assert cells.rows[0][:2] == ["AA", "AKs"]
    assert set(cells.titles) == {"KK", "JTs"}
    assert cells.titles["KK"] == "KK: reach 0.333; check 0.0 %; all-in 100 100.0 %"
    assert shown.startswith("<div><strong>oop to act on Ks9d6h3c2s</strong>")


def test_the_range_that_waits_is_a_chart_without_actions(river):
    cells = Cells(river[1].waiting()._repr_html_())
    assert cells.titles == {"AA": "AA: reach 0.167"}


def test_a_decision_of_a_small_game_is_a_table():
    view = solved(toy("kuhn", max_sweeps=50))[1].node("r")
    head, *rows = Cells(view._repr_html_()).rows
    assert head == ["hand", "reach", "fold", "call", "EV", "equity"]
    assert [row[0] for row in rows] == list(view.hands)
    assert [float(row[2]) for row in rows] == pytest.approx(view.strategy[0].tolist(), rel=1e-3)


def test_a_long_table_ends_and_says_so():
    shown = html.table("many", ["number"], [(number,) for number in range(50)])
    assert len(Cells(shown).rows) == 21
    assert "and 30 more" in shown


def test_a_decision_of_the_policy_is_a_table(river):
    decision = ChunkPolicy(river[1].problem, river[1].store).decision()
    head, *rows = Cells(decision._repr_html_()).rows
    assert head == ["hand", "check", "all-in 100"]
    frequencies = dict(zip(decision.names, decision.frequencies[1], strict=True))
    assert {row[0]: float(row[2]) for row in rows} == pytest.approx(frequencies, rel=1e-3)


def test_results_tell_what_they_reached(river):
    result, solution = river
    told = dict(Cells(result._repr_html_()).rows)
    assert float(told["EV of oop (chips)"]) == pytest.approx(result.ev[0], rel=1e-3)
    assert "value of oop (chips)" not in told
    judged = dict(Cells(solution.exploitability()._repr_html_()).rows)
    told = float(judged["exploitability (% of the pot)"])
    assert told == pytest.approx(result.exploitability_pct, rel=1e-2)


@pytest.fixture(scope="module")
def returned(tmp_path_factory):
    """Objects that the functions of the Python reference return, by the names of the functions."""
    folder = tmp_path_factory.mktemp("returned")
    job = Job.load(EXAMPLES / "T1.toml").replace(max_sweeps=5)
    kuhn = load_game("kuhn")
    hand = Hand.start(kuhn, (kuhn.deck.cards[:1], kuhn.deck.cards[1:2])).apply("c").apply("r").apply("f")
    spewy.solve(toy("kuhn", max_sweeps=20), folder / "kuhn").close()
    with (
        spewy.open_bot(folder / "kuhn") as bot,
        spewy.solve(job, folder / "T1") as solution,
        spewy.open_policy(folder / "T1") as policy,
    ):
        review = review_hands(bot, [LoggedHand(n, hand, ("a", "b")) for n in range(30)])
        node = solution.node("x b120 c", "Qs Jh 2h 8c 3d")
        chunk = solution.chunk()
        score = spewy.play_match("call", "equity", game="leduc", hands=20)
        river = Job.load(EXAMPLES / "R1.toml").replace(max_sweeps=2)
        boards = [f"Qs Jh 2h 8c {card}" for card in ("3d", "3s", "4d", "5d")]
        batch = spewy.solve_batch(river, boards, folder / "set", jobs=1)
        rivers = spewy.solve_rivers(river, boards[:2], np.ones(1326), np.ones(1326))
        yield {
            "job": job,
            "solve section": job.solve,
            "spot section": job.spot.model_copy(update={"oop": ",".join(["0.5"] * 1326)}),
            "solution": solution,
            "result": replace(solution.result, trace=((1, 2.0, 3.0),) * 500),
            "exploitability": solution.exploitability(),
            "evaluations": solution.evaluate(["x: check"]),
            "node": node,
            "steps": solution.node().children,
            "deals": solution.node("x").children[0].children,
            "grid": node.grid(),
            "heat map": node.heat_map("EV"),
            "report": solution.report("x x"),
            "rows of a report": solution.report("x x").rows,
            "policy": policy,
            "decision": policy.decision("x b120 c", "Qs Jh 2h 8c 3d"),
            "actions": policy.decision("x b120 c", "Qs Jh 2h 8c 3d").actions,
            "chunk": chunk,
            "solved chunk": chunk.by_cfr("dcfr", target_pct=5),
            "board buckets": BoardBuckets.of("Ks 7d 2c", rows=40),
            "batch": batch,
            "report of a batch": batch.report(),
            "rivers": rivers,
            "range": parse_range("AA,KK:0.5"),
            "score": score,
            "tallies": score.tallies,
            "review": review,
            "logged hand": LoggedHand(3, hand, ("a", "b")),
            "bot": bot,
            "player": spewy.Player(bot),
        }


def test_what_is_printed_fits_a_screen(returned):
    """`print`, and the last line of a cell of a notebook: at most 25 lines of 120 characters, 4 kB."""
    for name, value in returned.items():
        for text in (str(value), repr(value)):
            assert text.count("\n") < 25, name
            assert len(text.encode()) <= 4000, name
    wide = [name for name, value in returned.items() if isinstance(value, html.Printed)]
    assert len(wide) >= 15
    for name in wide:
        assert max(map(len, str(returned[name]).split("\n"))) <= html.MOST_WIDTH, name
        assert Cells(returned[name]._repr_html_()).rows, name


def test_what_is_printed_is_readable(returned):
    assert str(returned["actions"]) == "(check, bet 220)"
    assert str(returned["decision"]).startswith("oop to act on QsJh2h8c3d after cr120c/\nhand ")
    assert str(returned["node"]).startswith("oop to act on QsJh2h8c3d after cr120c/: check ")
    assert str(returned["report"]).startswith("oop to act on QsJh2h8c after check, check: 48 cards, pot 200")
    assert "all-in 900" in str(returned["report"]).split("\n")[1]
    assert str(returned["job"]).startswith("SpotJob T1\nname ")
    assert str(returned["score"]).startswith("call against equity: 40 hands, 0 and 0 faults\nscore ")
    assert "QsJh2h8c4d" in str(returned["batch"])
    assert str(returned["logged hand"]).startswith("LoggedHand('STATE:3:crf:")


def test_text_is_escaped(river):
    result, solution = river
    named = replace(result, name=SCRIPT)._repr_html_()
    assert "<script" not in named
    assert "&lt;script&gt;" in named
    view = replace(solution.node(), line=SCRIPT, actions=(SCRIPT, "all-in 100"))
    for shown in (view, replace(view, game=None)):
        assert "<script" not in shown._repr_html_()


def test_nobody_in_a_range_leaves_no_nonsense(river):
    view = river[1].node()
    shown = replace(view, reach=np.zeros(len(view.hands)))._repr_html_()
    assert "nan" not in shown
    assert not Cells(shown).titles
