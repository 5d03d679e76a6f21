"""A person in a solved spot, who plays it or answers questions: costs against `show`, scores, transcripts, refusals."""

import json
import re
from collections import Counter

import numpy as np
import pytest
from cli_runs import CliRunner, good, main, refused
from naive_spots import SMALL_TURN, enumerate_hands, shown_row, solve, solved

from buckets.cards import cards_name, parse_cards
from spewy.errors import InputError
from spewy.match.contest import SpotContest
from spewy.match.sitting import Sitting
from spewy.match.spots import Spots
from spewy.match.table import decisions
from spewy.match.trainer import Trainer, TrainerScore


def sitting_in(spots, seed=1, **settings):
    return Sitting(SpotContest(spots, seed), **settings)


def play(sitting, rng, n):
    """Play hands with random actions; return the reports."""
    reports = []
    for _ in range(n):
        sitting.deal()
        list(sitting.play_on())
        while sitting.in_play:
            actions = sitting.turn.choices.actions
            sitting.act(actions[rng.integers(len(actions))])
            list(sitting.play_on())
        reports.append(sitting.report)
    return reports


@pytest.mark.parametrize("name", ["river", "turn"])
def test_costs_are_differences_of_the_evs_that_show_prints(solved_spots, name):
    rng, n_decisions = np.random.default_rng(4), 0
    with Spots(solved_spots / name) as spots:
        sitting = sitting_in(spots)
        for _ in range(8):
            (report,) = play(sitting, rng, 1)
            state = sitting.to_json()
            cards = state["table"]["hole"][state["seat"]]
            for decided in report.decisions:
                board = cards_name(decided.board)
                _, row = shown_row(solved_spots / name, decided.line, board, cards)
                action_ev = np.array(row["action_ev"])
                played = action_ev[decided.actions.index(decided.action)]
                assert decided.frequencies == pytest.approx(row["strategy"])
                assert decided.values == pytest.approx(action_ev)
                assert decided.cost == pytest.approx(row["ev"] - played, abs=1e-6)
                assert decided.loss == pytest.approx(action_ev.max() - played, abs=1e-6)
                n_decisions += 1
    assert n_decisions >= 8


@pytest.mark.parametrize("person", [0, 1])
def test_the_result_without_luck_is_unbiased_for_any_play_of_the_person(solved_spots, person):
    """The means of results and of estimates over everything that can happen are equal, and luck is gone."""
    with Spots(solved_spots / "river") as spots:
        spot, contest, rng = spots.first, SpotContest(spots), np.random.default_rng(5)
        habits = {}

        def policy(spot, hand, cards):
            if hand.to_act != person:
                return solved(spot, hand, cards)
            actions = [action.acpc for action in spot.node(hand).actions]
            habit = habits.setdefault((cards, hand.betting.line), rng.dirichlet(np.ones(len(actions))))
            return list(zip(actions, habit, strict=True))

        rows = []
        for hand, chance in enumerate_hands(spot, policy):
            judged = contest.judge(hand, person, failed=False)
            assert judged.expected == spot.values[person]
            rows.append((chance, spot.won(hand, person), judged.without_luck))
    chances, won, without_luck = np.array(rows).T
    assert chances @ without_luck == pytest.approx(chances @ won)
    assert abs(chances @ won - spot.values[person]) > 5  # the habits are bad ones

    def spread(values):
        return np.sqrt(chances @ values**2 - (chances @ values) ** 2)

    assert spread(without_luck) < 0.85 * spread(won)


def test_the_strategy_itself_costs_nothing_on_average(solved_spots):
    with Spots(solved_spots / "river") as spots:
        contest = SpotContest(spots)
        total = 0.0
        for hand, chance in enumerate_hands(spots.first, solved):
            judged = contest.judge(hand, 0, failed=False)
            total += chance * sum(each.cost for each in judged.decisions)
    assert total == pytest.approx(0, abs=1e-6)


def test_the_score_compares_with_the_strategy_in_the_same_seats(solved_spots):
    with Spots(solved_spots / "river") as spots:
        sitting = sitting_in(spots)
        reports = play(sitting, np.random.default_rng(6), 6)
        values = spots.first.values
    costs = [sum(each.cost for each in report.decisions) for report in reports]
    score = sitting.score
    assert score.expected == pytest.approx((values[0] + values[1]) / 2)
    assert score.without_luck.mean == pytest.approx(score.expected - np.mean(costs))
    assert score.without_luck.half == pytest.approx(1.959964 * np.std(costs, ddof=1) / np.sqrt(6))
    assert "the strategy itself wins" in score.text


def test_the_same_seed_repeats_boards_cards_and_actions(solved_spots):
    def told(seed):
        with Spots(solved_spots / "boards") as spots:
            sitting = sitting_in(spots, seed)
            rng, texts = np.random.default_rng(7), []
            for _ in range(6):
                play(sitting, rng, 1)
                texts += [event.text for event in sitting.events]
            return texts

    first = told(1)
    assert first == told(1)
    assert first != told(2)
    boards = {text.split()[1] for text in first if text.startswith("River:")}
    assert len(boards) > 1


def test_the_state_offers_the_bets_of_the_tree_only(solved_spots):
    with Spots(solved_spots / "turn") as spots:
        sitting = sitting_in(spots, seat=0)
        sitting.deal()
        list(sitting.play_on())
        state = json.loads(json.dumps(sitting.to_json(), allow_nan=False))
        assert state["turn"] == {
            "pot": 1,
            "to_call": 0,
            "choices": [{"action": "c", "text": "check"}, {"action": "r50", "text": "bet 50 % (0.5)"}],
            "bounds": None,
            "before": 0,
        }
        assert (state["unit"], state["table"]["board"]) == ("bb", "Qs7h2d3c")
        for text in ("bet 33", "b 0.7", "bet 1.51"):
            with pytest.raises(InputError, match=r"check, bet 0\.5; the solved tree has no other size"):
                sitting.say(text)
        with pytest.raises(InputError, match=r"'fold': expected check, bet 0\.5, or \? for help"):
            sitting.say("fold")
        with pytest.raises(
            InputError, match=r"'r60': expected c \(check\), r50 \(bet 0.5\); the solved tree"
        ):
            sitting.act("r60")
        assert sitting.say("b50%").text == "You: bets 0.5"


def test_a_bet_is_no_raise_and_a_raise_is_no_bet(solved_spots):
    with Spots(solved_spots / "turn") as spots:
        sitting, seen = sitting_in(spots, seat=1), set()
        for _ in range(30):
            sitting.deal()
            list(sitting.play_on())
            while sitting.in_play:
                faces_bet = sitting.turn.to_call > 0
                seen.add(faces_bet)
                wrong, why = ("bet", "a bet") if faces_bet else ("raise", "no bet")
                for text in (wrong, f"{wrong} 1.5"):
                    with pytest.raises(InputError, match=f"'{text}': expected .*; there is {why} to raise$"):
                        sitting.say(text)
                sitting.say("c")
                list(sitting.play_on())
    assert seen == {True, False}


def run(command, text, *args):
    return CliRunner().invoke(main, ["play", command, *map(str, args)], input=text)


def test_a_session_in_the_terminal(solved_spots, tmp_path):
    log = tmp_path / "log"
    args = ("--lockers", solved_spots / "turn", "--seed", 3, "--hands", 2, "--seat", "oop", "--log", log)
    result = run("terminal", "bet 0.33\n?\nbet\nc\nx\nc\nc\nc\nc\nc\nc\nc\n", *args)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == f"{solved_spots / 'turn'}, seed 3"
    assert re.fullmatch(r"Hand 1: out of position, with (AdAh|AhAd|KdQd|QdKd), 1.5 behind", lines[2])
    assert lines[3] == "Turn: Qs7h2d3c, pot 1"
    refusal = "'bet 0.33': expected check, bet 0.5; the solved tree has no other size"
    assert lines[4] == f"Pot 1; check, bet 0.5 > {refusal}"
    assert "Only the bets of the solved tree can be played." in lines
    assert "Betting so far: none" in lines
    assert "Pot 1; check, bet 0.5 > You: bets 0.5" in lines
    result_line = r"(The bot shows \w{4}\. )?You (win|lose) [0-9.]+; [+-][0-9.]+ after 1 hand"
    assert sum(re.fullmatch(result_line, line) is not None for line in lines) == 1
    verdict = next(line for line in lines if line.startswith("  turn (first): bets 0.5; the strategy "))
    assert re.search(r"; cost -?[0-9.]+ bb$", verdict)
    assert any(line.startswith("  score after 2: ") and "in your seats" in line for line in lines)
    assert re.fullmatch(r"2 hands, [+-][0-9.]+ bb", lines[-1])
    assert log.read_text().startswith("STATE:0:r50")


def test_commands_with_wrong_input_say_why(solved_spots, tmp_path):
    assert "'--seat'" in refused("play", "terminal", "--lockers", solved_spots / "turn", "--seat", "button")
    assert "does not exist" in refused("play", "terminal", "--lockers", tmp_path / "none")


def test_rounds_that_were_dropped_are_solved_again(solved_spots, tmp_path):
    solve(tmp_path, SMALL_TURN, "turn")
    good("drop", tmp_path / "turn", "--round", "river")
    notes = []
    with Spots(tmp_path / "turn", notes.append) as spots:
        reports = play(sitting_in(spots, 2), np.random.default_rng(1), 4)
    decisions = [each for report in reports for each in report.decisions]
    assert any(each.round == "river" and each.cost is not None for each in decisions)
    assert notes


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
            counts[question.line, frozenset(parse_cards(question.hole))] += 1
    assert set(counts) <= set(expected)
    for key, chance in expected.items():
        share = chance / total
        assert abs(counts[key] - QUESTIONS * share) < 5 * np.sqrt(QUESTIONS * share * (1 - share)) + 1e-9, key


@pytest.mark.parametrize("name", ["river", "turn"])
def test_answers_are_scored_with_the_evs_that_show_prints(solved_spots, name):
    with Spots(solved_spots / name) as spots:
        trainer, rng = Trainer(spots, seed=1), np.random.default_rng(2)
        answers = []
        for _ in range(8):
            question = trainer.deal()
            chosen = int(rng.integers(len(question.actions)))
            answer = trainer.answer(question.actions[chosen])
            shown, row = shown_row(solved_spots / name, question.line, question.board, question.hole)
            assert tuple(shown["actions"]) == question.actions
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
        assert question.actions == ("check", "bet 0.5")
        answer = trainer.answer("b50%")
    assert answer.action == "bet 0.5"
    assert answer.text.startswith("bet 0.5 loses ")
    found = json.loads(json.dumps(answer.to_json(), allow_nan=False))
    assert found["question"]["texts"] == ["check", "bet 50 % (0.5)"]
    table = found["question"]["table"]
    assert (table["person"], table["stacks"], table["bets"], table["hole"][1]) == (
        0,
        [1.5, 1.5],
        [0, 0],
        None,
    )
    assert (found["question"]["unit"], found["question"]["folder"]) == ("bb", "turn")
    assert json.loads(json.dumps(trainer.score.to_json()))["text"].startswith("1 decision: ")


def test_before_the_first_answer_there_is_no_score(solved_spots):
    with Spots(solved_spots / "river") as spots:
        score = Trainer(spots).score
    assert score == TrainerScore(0, None, None, None, "chips")
    assert score.text == "no answer yet"


def test_answers_and_seats_that_are_refused(solved_spots):
    with Spots(solved_spots / "river") as spots:
        trainer = Trainer(spots, seed=1)
        with pytest.raises(InputError, match="no question waits for an answer"):
            trainer.answer("check")
        question = trainer.deal()
        with pytest.raises(
            InputError, match=f"answer 'bet 7': expected one of {', '.join(question.actions)}"
        ):
            trainer.answer("bet 7")
        trainer.answer(question.actions[0])
        with pytest.raises(InputError, match="no question waits for an answer"):
            trainer.answer("check")
        with pytest.raises(InputError, match="seat: expected 0"):
            Trainer(spots, 3)
        with pytest.raises(InputError, match="seed: expected 0 to 4294967295, found -1"):
            Trainer(spots, seed=-1)


def test_the_command_asks_until_the_questions_or_the_input_end(solved_spots):
    folder = solved_spots / "turn"
    result = run("trainer", "what\n" + "c\n" * 5, folder, "--questions", 2, "--seed", 3, "--seat", "oop")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == f"{folder}, seed 3"
    assert sum(line.startswith(("Question 1: oop with ", "Question 2: oop with ")) for line in lines) == 2
    assert any("answer 'what': expected one of " in line for line in lines)
    assert sum(" loses " in line and "the strategy: " in line for line in lines) == 2
    assert lines[-1].startswith("2 decisions: ")
    assert run("trainer", "", folder, "--seed", 3).stdout.splitlines()[-1] == "no answer yet"


def test_folders_without_a_spot_are_refused(tmp_path):
    assert "expected the lockers of a solve" in refused("play", "trainer", tmp_path / "none")
    assert "'--seat'" in refused("play", "trainer", tmp_path, "--seat", "button")
