"""Jobs with board buckets: what they may say, what they stand for, and what they are refused for."""

import pytest
from cli_runs import TURN, refused, write
from jobs import toy

from buckets.cards import Deck, canonical_flops, count_boards
from spewy.errors import InputError
from spewy.job.job import Job
from spewy.job.texts import parse_duration

LIMIT = {"name": "limit", "game": {"file": "holdem.limit.2p.reverse_blinds"}}
LEDUC = {"name": "leduc", "game": {"file": "leduc"}}
FEW = {"flop": 100, "turn": 200, "river": 400}


def limit(solve=(), boards=FEW, **sections):
    return Job.of(LIMIT | {"boards": boards, "solve": dict(solve)} | sections)


def test_a_section_of_boards_makes_a_job_dealt():
    assert limit().sampled
    assert not Job.of(LEDUC).sampled
    assert Job.of(LEDUC).dealing is None
    assert Job.of(LEDUC | {"boards": {}}).sampled


def test_what_a_dealt_job_stands_for_when_it_says_nothing():
    job = limit()
    assert job.dealing.board_buckets == (None, 100, 200, 400)
    assert job.dealing.rows == job.rows_by_round == job.problem.rows == (169, 40, 40, 40)
    assert (job.dealing.seed, job.dealing.check_flops, job.dealing.check_seconds) == (0, 5, 1800)
    assert job.dealing.last_deal is None
    assert job.dealing.most_seconds is None


def test_what_a_dealt_job_says_itself():
    solve = {"check_every": "90 s", "check_flops": 7, "max_time": "8 h", "max_sweeps": 1000, "seed": 3}
    solve |= {"answers": 0.25, "target": "150 mbb", "precision": "16-bit"}  # the old name of cfr_br
    told = limit(solve, {"flop": 10}, rows={"preflop": "hands", "turn": 20}).dealing
    assert told.board_buckets == (None, 10, None, None)
    assert told.rows == (None, 40, 20, 40)
    assert (told.check_seconds, told.check_flops, told.most_seconds) == (90, 7, 28800)
    assert (told.last_deal, told.seed, told.cfr_br) == (1000, 3, 0.25)


def test_hands_of_one_card_are_rows_unless_the_job_says_otherwise():
    assert Job.of(LEDUC | {"boards": {}}).dealing.rows == (None, None)
    assert Job.of(LEDUC | {"boards": {}, "rows": {"flop": 3}}).dealing.rows == (None, 3)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90 s", 90), ("30 min", 1800), ("1.5h", 5400), ("0.5 s", 0.5)]
)
def test_times(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "8", "0 s", "-1 h", "8 hours", "nan s", "1e999 h", "min", "8 d"])
def test_what_is_no_time(text):
    with pytest.raises(ValueError, match='expected a positive number and a unit: "90 s", "30 min" or "8 h"'):
        parse_duration(text)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"boards": {"flop": 1756}}, "boards.flop: expected at most 1,755 buckets"),
        (
            {"boards": {"flop": 20, "turn": 19, "river": 40, "remember": True}},
            "boards.turn: expected at least 20 buckets, one for each bucket of the flop, because",
        ),
        ({"boards": {"flop": 20, "remember": True}}, "boards.remember: expected a number of board buckets"),
        ({"boards": {"flop": 20, "remember": "order"}}, "boards.remember: expected a number of board"),
        ({"boards": {"remember": "alike"}}, 'job: boards.remember: expected true, false or "order", found'),
        ({"boards": {"turn": 16433}}, "boards.turn: expected at most 16,432 buckets"),
        ({"boards": {"river": 134460}}, "boards.river: expected at most 134,459 buckets"),
        ({"boards": {"flop": 0}}, 'job: boards.flop: expected "all" or a number of buckets of at least 1'),
        ({"boards": {"flop": True}}, "job: boards.flop: expected"),
        ({"boards": {"flop": "some"}}, "job: boards.flop: expected"),
        ({"boards": {"preflop": 1}}, "job: unknown key boards.preflop"),
        ({"rows": {"river": "hands"}}, "rows.river: expected a number of rows, which the boards of each of"),
        ({"lock": [{"line": "", "strategy": {"fold": 1}}]}, "job: lock has no effect with [boards]"),
        *(
            ({section: {key: value}}, f"job: {section}.{key} has no effect with [boards]")
            for section, key, value in (
                *(("rows", "weights", "ranges"), ("rows", "clustering", "ward")),
                *(("solve", "method", "lp"), ("solve", "variant", "dcfr"), ("solve", "leaves", "live")),
                *(("solve", "integrate", "average"), ("solve", "iterations", 5), ("solve", "tremble", 0.1)),
                *(("solve", "order", "top-down"), ("solve", "symmetry", False)),
            )
        ),
        ({"solve": {"precision": "double"}}, "job: solve.precision: expected 'auto', '16-bit' or 'single'"),
        ({"solve": {"check_every": 10}}, 'job: solve.check_every: expected a time such as "30 min"'),
        ({"solve": {"check_every": "10"}}, "job: solve.check_every: expected a positive number and a unit"),
        ({"solve": {"check_every": 0}}, 'job: solve.check_every: expected a time such as "30 min"'),
        ({"solve": {"check_flops": 0}}, "job: solve.check_flops: expected"),
        ({"solve": {"max_time": "long"}}, "job: solve.max_time: expected a positive number and a unit"),
        ({"solve": {"seed": -1}}, "job: solve.seed: expected"),
        ({"solve": {"cfr_br": 1.5}}, "job: solve.cfr_br: expected"),
        ({"solve": {"cfr_br": -0.1}}, "job: solve.cfr_br: expected"),
        ({"solve": {"cfr_br": float("nan")}}, "job: solve.cfr_br: expected"),
        ({"solve": {"seed": 2**63}}, "job: solve.seed: expected"),
        ({"solve": {"target": "0.3%"}}, "solve.target: expected mbb or chips for a whole game"),
    ],
)
def test_what_a_dealt_job_is_refused_for(change, message):
    with pytest.raises(InputError) as error:
        Job.of(LIMIT | {"boards": FEW} | change)
    assert str(error.value).startswith(message)


def test_classes_of_a_round_that_the_game_has_not():
    with pytest.raises(InputError, match=r"boards\.turn: expected one of the 2 rounds of leduc"):
        Job.of(LEDUC | {"boards": {"turn": 1}})


@pytest.mark.parametrize(
    ("key", "value"),
    [("max_time", "8 h"), ("check_flops", 7), ("seed", 1), ("cfr_br", 0.5), ("check_every", "30 min")],
)
def test_keys_that_only_deals_have(key, value):
    with pytest.raises(
        InputError, match=rf"^job: solve\.{key}( has no effect without|: .* for jobs with) \[boards\]"
    ):
        Job.of(LEDUC | {"solve": {key: value}})


def test_a_spot_has_no_classes_of_boards(tmp_path):
    job = write(tmp_path, TURN + "[boards]\nflop = 10\n")
    assert ": spot has no effect with [boards]" in refused("estimate", job)


def test_a_folder_belongs_to_the_classes_and_not_to_the_deals():
    manifest = limit().manifest()
    same = {"seed": 5, "cfr_br": 0.5, "max_time": "1 h", "check_every": "1 h", "check_flops": 9}
    same |= {"max_sweeps": 7, "workers": 2, "target": "2 mbb", "memory": "1 GiB"}
    assert limit(same).manifest() == manifest
    assert limit(rows={"preflop": 169, "flop": 40}).manifest() == manifest
    assert limit({"precision": "16-bit"}).manifest() != manifest
    assert limit(rows={"flop": 41}).manifest() != manifest
    assert limit(boards=FEW | {"turn": 201}).manifest() != manifest
    back = Job.stored(manifest["job"], "folder")
    assert back.manifest() == manifest
    dealing = limit().dealing
    assert (back.dealing.board_buckets, back.dealing.rows) == (dealing.board_buckets, dealing.rows)


def test_a_folder_without_classes_has_no_key_of_deals():
    job = toy("leduc").manifest()["job"]
    assert job["boards"] is None
    assert not {"cfr_br", "seed", "max_time", "check_flops"} & job["solve"].keys()
    assert set(job["rows"].values()) == {"hands", "equation-1", "uniform"}


@pytest.mark.parametrize(
    ("deck", "n_cards"), [(Deck(), 1), (Deck(), 2), (Deck(), 3), (Deck(3, 2), 2), (Deck(5, 3), 4)]
)
def test_boards_up_to_suits_are_counted_as_they_are_listed(deck, n_cards):
    assert count_boards(deck, n_cards) == len(canonical_flops(deck, n_cards)[0])
