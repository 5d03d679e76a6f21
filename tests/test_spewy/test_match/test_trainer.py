"""A trainer: which decisions it asks, how it scores answers, and what it refuses."""

import json
from collections import Counter

import numpy as np
import pytest
from cli_runs import CliRunner, good_json, main, refused
from naive_spots import enumerate_hands, solved

from spewy.errors import InputError
from spewy.match.spots import Spots
from spewy.match.table import decisions
from spewy.match.trainer import Trainer, TrainerScore

QUESTIONS = 400


@pytest.mark.parametrize("seat", [0, None])
def test_each_decision_is_asked_as_often_as_play_comes_there(solved_spots, seat):
    with Spots(solved_spots / "river") as spots:
        expected = Counter()
        for hand, chance in enumerate_hands(spots.first, solved):
            for state, _ in decisions(hand):
                if seat in (None, state.to_act):
                    expected[state.betting.line, frozenset(hand.hole[state.to_act])] += chance
        total = sum(expected.values())
        trainer, counts = Trainer(spots, seat, seed=5), Counter()
        for _ in range(QUESTIONS):
            question = trainer.deal()
            cards = {trainer_card(question.hole[:2]), trainer_card(question.hole[2:])}
            counts[question.line, frozenset(cards)] += 1
    assert set(counts) <= set(expected)
    for key, chance in expected.items():
        share = chance / total
        assert abs(counts[key] - QUESTIONS * share) < 5 * np.sqrt(QUESTIONS * share * (1 - share)) + 1e-9, key


def trainer_card(name):
    return 4 * "23456789TJQKA".index(name[0]) + "cdhs".index(name[1])


@pytest.mark.parametrize("name", ["river", "turn"])
def test_answers_are_scored_with_the_evs_that_show_prints(solved_spots, name):
    with Spots(solved_spots / name) as spots:
        trainer, rng = Trainer(spots, seed=1), np.random.default_rng(2)
        answers = []
        for _ in range(8):
            question = trainer.deal()
            chosen = int(rng.integers(len(question.actions)))
            answer = trainer.answer(question.actions[chosen])
            shown = good_json("show", solved_spots / name, "--line", question.line, "--board", question.board)
            assert tuple(shown["actions"]) == question.actions
            hole = {question.hole[:2], question.hole[2:]}
            row = next(row for hand, row in shown["hands"].items() if {hand[:2], hand[2:]} == hole)
            assert answer.values == pytest.approx(row["action_ev"])
            assert answer.frequencies == pytest.approx(row["strategy"])
            lost = max(row["action_ev"]) - row["action_ev"][chosen]
            assert answer.lost == pytest.approx(lost)
            assert answer.lost_pct == pytest.approx(100 * lost / question.pot)
            assert answer.cost == pytest.approx(row["ev"] - row["action_ev"][chosen], abs=1e-6)
            assert answer.frequency == pytest.approx(row["strategy"][chosen])
            assert answer.best == question.actions[int(np.argmax(row["action_ev"]))]
            answers.append(answer)
    score = trainer.score
    assert score.decisions == 8
    assert score.lost == pytest.approx(np.mean([answer.lost for answer in answers]))
    assert score.lost_pct == pytest.approx(np.mean([answer.lost_pct for answer in answers]))
    assert score.often == np.mean([answer.frequency >= 0.05 for answer in answers])


def test_questions_are_those_of_the_seed(solved_spots):
    def asked(seed):
        with Spots(solved_spots / "boards") as spots:
            trainer = Trainer(spots, seed=seed)
            return [trainer.deal() for _ in range(10)]

    assert asked(1) == asked(1)
    assert asked(1) != asked(2)
    assert len({question.board for question in asked(1)}) > 1
    assert {question.player for question in asked(1)} == {0, 1}


def test_a_question_and_its_answer_in_words_and_json(solved_spots):
    with Spots(solved_spots / "turn") as spots:
        trainer = Trainer(spots, 0, seed=1)
        while (question := trainer.deal()).line:
            pass
        assert question.text.endswith(" on Qs7h2d3c; pot 1")
        assert question.texts == ("check", "bet 0.5")
        answer = trainer.answer("b50%")
    assert answer.action == "Bet(0.5)"
    assert answer.text.startswith("bet 0.5 loses ")
    found = json.loads(json.dumps(answer.to_json(), allow_nan=False))
    assert (found["question"]["unit"], found["question"]["folder"]) == ("bb", "turn")
    assert json.loads(json.dumps(trainer.score.to_json()))["text"].startswith("1 decision: ")


def test_before_the_first_answer_there_is_no_score(solved_spots):
    with Spots(solved_spots / "river") as spots:
        score = Trainer(spots).score
    assert score == TrainerScore(0, None, None, None, "chips")
    assert score.text == "no answer yet"


def test_what_is_refused(solved_spots):
    with Spots(solved_spots / "river") as spots:
        trainer = Trainer(spots, seed=1)
        with pytest.raises(InputError, match="no question waits for an answer"):
            trainer.answer("check")
        question = trainer.deal()
        with pytest.raises(InputError, match=f"answer 'bet 7': expected one of {', '.join(question.texts)}"):
            trainer.answer("bet 7")
        trainer.answer(question.texts[0])
        with pytest.raises(InputError, match="no question waits for an answer"):
            trainer.answer("check")
        with pytest.raises(InputError, match="seat: expected 0"):
            Trainer(spots, 3)
        with pytest.raises(InputError, match="seed: expected 0 to 4294967295, found -1"):
            Trainer(spots, seed=-1)


def run(text, *args):
    return CliRunner().invoke(main, ["play", "trainer", *map(str, args)], input=text)


def test_the_command_asks_until_the_questions_or_the_input_end(solved_spots):
    folder = solved_spots / "turn"
    result = run("what\n" + "c\n" * 5, folder, "--questions", 2, "--seed", 3, "--seat", "oop")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == f"{folder}, seed 3"
    assert sum(line.startswith(("Question 1: oop with ", "Question 2: oop with ")) for line in lines) == 2
    assert any("answer 'what': expected one of " in line for line in lines)
    assert sum(" loses " in line and "the strategy: " in line for line in lines) == 2
    assert lines[-1].startswith("2 decisions: ")
    assert run("", folder, "--seed", 3).stdout.splitlines()[-1] == "no answer yet"


def test_folders_without_a_spot_are_refused(tmp_path):
    assert "expected the lockers of a solve" in refused("play", "trainer", tmp_path / "none")
    assert "'--seat'" in refused("play", "trainer", tmp_path, "--seat", "button")
