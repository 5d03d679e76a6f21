"""Played hands on the page: from a file to the review of a hand, by requests and in a browser."""

import pytest
from cli_runs import good_json
from playwright.sync_api import expect
from web_server import serving

HAND = """\
PokerStars Hand #{number}:  Hold'em No Limit ($0.50/$1.00 USD) - 2026/01/02 3:04:05 ET
Table 'T' 2-max Seat #1 is the button
Seat 1: Ann ($50 in chips)
Seat 2: Bob ($50 in chips)
Ann: posts small blind $0.50
Bob: posts big blind $1
*** HOLE CARDS ***
Dealt to Ann [{hole}]
Ann: raises $9 to $10
Bob: calls $9
*** FLOP *** [Qs 7h 2d]
Bob: checks
Ann: bets $10
Bob: calls $10
*** TURN *** [Qs 7h 2d] [3c]
Bob: checks
Ann: checks
*** RIVER *** [Qs 7h 2d 3c] [9s]
Bob: checks
Ann: bets $20
Bob: folds
Uncalled bet ($20) returned to Ann
Ann collected $40 from pot
*** SUMMARY ***
"""
KINGS = HAND.format(number=180123456789012345, hole="Kh Kc")
FOLD = HAND.format(number=2, hole="Kh Kc").partition("Ann: raises")[0] + "Ann: folds\n"
BAD = HAND.format(number=3, hole="Kh Kc").replace("Bob: calls $9", "Bob: suit $9")
SESSION = "\n\n".join((FOLD, KINGS, BAD))


def sent(pages, path, **content):
    answer = pages.post(path, **content)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture(scope="module")
def folder(solved):
    return solved


def test_a_file_is_a_list_of_spots_and_the_reasons_of_other_hands(pages):
    found = sent(pages, "/api/hands", text=SESSION)
    (hand,) = found["hands"]
    assert (hand["place"], hand["number"], hand["streets"]) == (
        1,
        "180123456789012345",
        ["flop", "turn", "river"],
    )
    assert hand["about"] == "BTN against BB, single raised pot, 50 big blinds deep"
    assert hand["players"] == [{"name": "Bob", "hole": None}, {"name": "Ann", "hole": "KhKc"}]
    assert hand["won"] == [-20, 20]
    fold, bad = found["others"]
    assert fold == {"number": "2", "reason": "hand 2 has no decision on the flop; choose an earlier street"}
    assert bad["reason"].startswith("line 47 (Bob: suit $9): expected folds")


def test_the_spot_of_a_hand_is_a_draft(pages):
    found = sent(pages, "/api/hands/job", text=SESSION, place=1, street="river")
    assert found["problems"] == []
    assert (found["data"]["spot"]["board"], found["data"]["spot"]["pot"]) == ("Qs 7h 2d 3c 9s", 40)
    assert found["data"]["bets"]["river"]["bet"].startswith("50%")
    assert "single raised pot" in found["from_hand"][0]


def test_a_hand_is_reviewed_by_the_solve_that_has_its_spot(pages, folder):
    found = sent(pages, "/api/hands/review", text=SESSION, place=1)
    assert found["folder"].endswith("flop")
    bob, ann = found["decisions"][:2]
    assert (bob["name"], bob["cost"], bob["played"]) == ("Bob", None, "check")
    assert (ann["played"], ann["line"], ann["look"], ann["unit"]) == ("bet 50", "c", True, "chips")
    row = good_json("show", folder / "flop", "--line", "x")["hands"]["KhKc"]
    assert ann["values"] == pytest.approx(row["action_ev"])
    assert ann["frequencies"] == pytest.approx(
        row["frequencies"] if "frequencies" in row else row["strategy"]
    )


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ({}, "expected the text of a file with hands"),
        ({"text": "nonsense"}, "the file"),
        ({"text": SESSION}, "place: expected the place of a hand, 0 to 2, found None"),
        ({"text": SESSION, "place": 3}, "place: expected the place of a hand, 0 to 2, found 3"),
        ({"text": SESSION, "place": 2}, "hand 3: line 47"),
        ({"text": SESSION, "place": 0}, "hand 2 has no decision on the flop"),
        ({"text": SESSION, "place": 1, "street": "noon"}, "street: expected one of flop, turn, river"),
    ],
)
def test_wrong_requests_are_refused(pages, content, error):
    answer = pages.post("/api/hands/job", **content)
    assert (answer.status_code, list(answer.json())) == (400, ["error"])
    assert answer.json()["error"].startswith(error)


def test_hands_are_pasted(page, tmp_path):
    with serving(tmp_path) as server:
        page.goto(f"{server.address}#hands")
        page.fill("#hands-text", SESSION)
        page.locator("#hands-text").blur()
        expect(
            page.get_by_text("the pasted hands: 1 hand with a flop of two players, 2 others")
        ).to_be_visible()


def test_from_a_file_to_the_review_of_a_hand(page, tmp_path):
    with serving(tmp_path) as server:
        page.goto(f"{server.address}#hands")
        page.set_input_files(
            "#hands-file", {"name": "s.txt", "mimeType": "text/plain", "buffer": SESSION.encode()}
        )
        expect(page.get_by_text("s.txt: 1 hand with a flop of two players, 2 others")).to_be_visible()
        page.get_by_role("button", name="180123456789012345").click()
        expect(page.get_by_text("No solve of this server has the spot")).to_be_visible()
        page.get_by_text("Set up its spot from the river").click()
        expect(page.locator("#job-name")).to_have_value("hand-180123456789012345-Qs7h2d3c9s")
        expect(page.get_by_text("ranges: BTN against BB, single raised pot")).to_be_visible()
        page.get_by_role("button", name="Start", exact=True).click()
        expect(page.locator(".state")).to_have_text("target reached")
        page.get_by_text("review the hands").click()
        page.get_by_role("button", name="180123456789012345").click()
        row = page.locator("section.report tbody tr", has_text="Ann")
        expect(row).to_contain_text("bet 20")
        expect(row).to_contain_text("bb")
