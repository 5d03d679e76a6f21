"""Requests of people who play or train: whole hands, questions, sessions, and what is refused."""

import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
from bot_games import NO_LIMIT_GAME, folder_of
from cli_runs import good_json
from naive_spots import BOARDS

from spewy.bot.agent import LockerBot
from spewy.errors import InputError
from spewy.web.playing import IDLE_SECONDS, MOST_SESSIONS, WARM, Sessions


@pytest.fixture(scope="module")
def folder(playable, tmp_path_factory):
    """A folder with a turn, a batch of two rivers, and a small whole game of no-limit."""
    folder = shutil.copytree(playable, tmp_path_factory.mktemp("play") / "results")
    folder_of(tmp_path_factory.mktemp("game"), NO_LIMIT_GAME, deals=50).rename(folder / "game")
    return folder


def sent(pages, path, **content):
    answer = pages.post(path, **content)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(pages, path, **content):
    answer = pages.post(path, **content)
    assert answer.status_code == 400, answer.text
    assert list(answer.json()) == ["error"]
    return answer.json()["error"]


def whole_hand(pages, state):
    while state["in_play"]:
        state = sent(pages, "/api/play/act", session=state["session"], action="c")
    return state


def test_a_hand_in_a_spot(pages, folder):
    state = sent(pages, "/api/play/new", folder="turn", seat="oop", seed=1)
    assert (state["folder"], state["kind"], state["look"], state["seat"]) == ("turn", "spot", "turn", 0)
    table = state["table"]
    assert (table["pot"], table["stacks"], table["unit"], table["button"]) == (1, [1.5, 1.5], "bb", 1)
    assert [choice["text"] for choice in state["turn"]["choices"]] == ["check", "bet 50 % (0.5)"]
    state = sent(pages, "/api/play/act", session=state["session"], words="b0.5")
    assert state["events"][2]["text"] == "You: bets 0.5"
    report = whole_hand(pages, state)["report"]
    decision = report["decisions"][0]
    assert state["table"]["streets"][0]["actions"][0] == "you bet 50 % (0.5)"
    own = table["hole"][0]
    hole = {own[:2], own[2:]}
    hands = good_json("show", folder / "turn")["hands"]
    row = next(row for name, row in hands.items() if {name[:2], name[2:]} == hole)
    assert decision["values"] == pytest.approx(row["action_ev"])
    assert decision["cost"] == pytest.approx(row["ev"] - row["action_ev"][1], abs=1e-6)
    assert (decision["line"], decision["before"]) == ("", "")
    assert (decision["label"], decision["labels"], decision["pot"]) == (
        "bet 50 % (0.5)",
        ["check", "bet 50 % (0.5)"],
        1,
    )
    assert report["opponent_range"]["grid"]["classes"]
    again = pages.ask("/api/play/state", session=state["session"])
    assert again["report"] == report
    following = sent(pages, "/api/play/next", session=state["session"])
    assert (following["hand"], following["in_play"], following["report"]) == (2, True, report)


def test_the_same_seed_repeats_a_hand_and_no_seed_draws_one(pages):
    first, second = (sent(pages, "/api/play/new", folder="turn", seed=3) for _ in range(2))
    assert {**first, "session": ""} == {**second, "session": ""}
    tables = [sent(pages, "/api/play/new", folder="turn")["table"] for _ in range(8)]
    assert len({str(table["hole"]) for table in tables}) > 1


def test_a_batch_has_a_board_for_each_hand_and_names_its_solve(pages):
    state = sent(pages, "/api/play/new", folder="boards", seed=1)
    seen = set()
    for _ in range(6):
        board = "boards/" + state["table"]["board"]
        assert state["look"] == board
        seen.add(board)
        state = sent(pages, "/api/play/next", session=whole_hand(pages, state)["session"])
    assert seen == {f"boards/{board}" for board in BOARDS[::2]}


def test_a_whole_game_takes_any_size(pages):
    state = sent(pages, "/api/play/new", folder="game", seat="ip", seed=1)
    assert (state["kind"], state["look"], state["unit"]) == ("game", None, "chips")
    least, most = state["turn"]["bounds"]
    assert (least, most) == (20, 400)
    state = sent(pages, "/api/play/act", session=state["session"], action="r33")
    assert "You: raises to 33" in [event["text"] for event in state["events"]]
    report = whole_hand(pages, state)["report"]
    assert report["score"]["expected"] is None
    assert report["score"]["without_luck"]["n"] == 1


def test_a_training(pages, folder):
    state = sent(pages, "/api/train/new", folder="boards", seat="ip", seed=2)
    question = state["question"]
    assert state["look"] == f"boards/{question['folder']}"
    assert (question["player"], state["score"]["decisions"]) == (1, 0)
    scored = sent(pages, "/api/train/answer", session=state["session"], action=question["actions"][0])
    assert scored["question"] is None
    assert scored["answer"]["question"] == question
    assert (scored["score"]["decisions"], scored["score"]["lost"]) == (1, scored["answer"]["lost"])
    following = sent(pages, "/api/train/next", session=state["session"])
    assert following["question"]["number"] == 1
    error = refused(pages, "/api/train/answer", session=state["session"], action="dance")
    assert error.startswith("answer 'dance': expected one of ")


@pytest.mark.parametrize(
    ("path", "content", "error"),
    [
        ("play/new", {"folder": "none"}, "folder 'none': there is no such solve"),
        ("play/new", {}, "parameter folder: expected text, found none"),
        ("play/new", {"folder": ["turn"]}, "parameter folder: expected text"),
        ("play/new", {"folder": "../turn"}, "there is no such solve"),
        ("play/new", {"folder": "turn", "seat": "button"}, "parameter seat: expected oop, ip or nothing"),
        ("play/new", {"folder": "turn", "seed": -1}, "parameter seed: expected 0 to 4294967295, found -1"),
        ("play/new", {"folder": "turn", "seed": True}, "parameter seed: expected 0 to 4294967295"),
        ("play/act", {"session": "x", "action": "c"}, "session 'x' has ended"),
        ("play/next", {}, "parameter session: expected text, found none"),
        ("train/new", {"folder": "game"}, "game is a whole game; the trainer needs a solved spot"),
        ("train/answer", {"session": "x", "action": "c"}, "session 'x' has ended"),
        ("train/next", {"session": "x"}, "start again"),
    ],
)
def test_requests_that_are_refused(pages, path, content, error):
    assert error in refused(pages, f"/api/{path}", **content)


def test_actions_that_are_refused_leave_the_hand_as_it_was(pages):
    state = sent(pages, "/api/play/new", folder="turn", seat="oop", seed=1)
    session = state["session"]
    for wrong, error in (
        ({"action": "r7"}, "the solved tree has no other action"),
        ({"words": "bet 7"}, "the solved tree has no other size"),
        ({}, "parameter action: expected text"),
    ):
        assert error in refused(pages, "/api/play/act", session=session, **wrong)
    assert "hand 1 is not over yet" in refused(pages, "/api/play/next", session=session)
    assert pages.ask("/api/play/state", session=session) == state
    assert pages.get("/api/play/act", session=session, action="c").status_code == 405
    assert pages.get("/api/play/state", session="x").status_code == 400


def test_many_requests_of_one_session_play_one_hand(pages):
    state = sent(pages, "/api/play/new", folder="turn", seat="oop", seed=1)
    with ThreadPoolExecutor(8) as pool:
        answers = pool.map(
            lambda _: pages.post("/api/play/act", session=state["session"], action="c"), range(24)
        )
        codes = [answer.status_code for answer in answers]
    assert set(codes) <= {200, 400}
    end = pages.ask("/api/play/state", session=state["session"])
    assert not end["in_play"]
    own = [event for event in end["events"] if event["kind"] == "action" and event["player"] == 0]
    assert codes.count(200) == len(own) > 0


class Content:
    def __init__(self):
        self.closed, self.cooled = False, 0

    def close(self):
        self.closed = True

    def cool(self):
        self.cooled += 1


def test_sessions_that_others_were_used_after_release_memory():
    sessions, contents = Sessions(), [Content() for _ in range(WARM + 1)]
    names = [sessions.add(content, content.close, content.cool) for content in contents]
    assert [content.cooled for content in contents] == [1, *[0] * WARM]
    with sessions.use(names[0]), sessions.use(names[-1]):
        pass
    assert [content.cooled for content in contents] == [1, 1, *[0] * (WARM - 1)]


def test_a_sitting_goes_on_after_it_has_released_memory(pages):
    first = sent(pages, "/api/play/new", folder="turn", seat="oop", seed=1)
    for _ in range(WARM):
        sent(pages, "/api/play/new", folder="turn", seed=2)
    again = sent(pages, "/api/play/new", folder="turn", seat="oop", seed=1)
    states = [whole_hand(pages, state) for state in (first, again)]
    assert {**states[0], "session": ""} == {**states[1], "session": ""}


def test_bots_of_sittings_that_others_were_used_after_forget_their_solves(pages, monkeypatch):
    bots = []
    monkeypatch.setattr(LockerBot, "forget", lambda bot: bots.append(bot))
    states = [sent(pages, "/api/play/new", folder="game", seat="ip", seed=1) for _ in range(WARM + 1)]
    assert len(bots) == 1
    monkeypatch.undo()
    state = sent(pages, "/api/play/act", session=states[0]["session"], action="r33")
    bots[0].forget()
    assert whole_hand(pages, state)["report"]["score"]["hands"] == 1


def test_sessions_that_are_idle_or_too_many_are_forgotten():
    now = 0.0
    sessions = Sessions(lambda: now)
    contents = [Content() for _ in range(MOST_SESSIONS + 1)]
    names = [sessions.add(content, content.close) for content in contents[:MOST_SESSIONS]]
    with sessions.use(names[0]) as found:
        assert found is contents[0]
    names.append(sessions.add(contents[MOST_SESSIONS], contents[MOST_SESSIONS].close))
    assert [content.closed for content in contents] == [False, True, *[False] * (MOST_SESSIONS - 1)]
    assert len(sessions) == MOST_SESSIONS
    now = IDLE_SECONDS / 2
    with sessions.use(names[0]):
        pass
    now = IDLE_SECONDS * 1.2
    with pytest.raises(InputError, match="has ended: it was idle for an hour"), sessions.use(names[2]):
        pass
    assert [content.closed for content in contents] == [False, *[True] * MOST_SESSIONS]
    sessions.close()
    assert contents[0].closed
    assert len(sessions) == 0
