"""Hand histories, some of whose hands are odd, reviewed against solved spots."""

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

from buckets.cards import parse_cards
from spewy.game.gamefile import load_game
from spewy.match.acpc_text import LoggedHand
from spewy.match.phh import phh_text
from spewy.match.table import Dealt, Table

from .case import Case
from .judge import Answer
from .text import odd_text

BOARDS = {
    **dict.fromkeys(("river", "raked", "locked", "program"), "Ks9d6h3c2s"),
    **dict.fromkeys(("turn", "16-bit", "double", "stored", "buckets", "average", "dropped"), "Qs7h2d3c"),
}
"""Boards of the templates that are spots; each has a pot and a stack of 100 chips."""
RANGES = {4: (("AhAd", "KdQd", "JcTc"), ("KhKc", "8s7s")), 5: (("KhKd", "JcTc", "JhTh", "JdTd"), ("AhAd",))}
"""Hands of both ranges, by the number of public cards; cards of the other ranges lie outside of a spot."""
THREE = 'variant = "NT"\nantes = [0, 0, 0]\nblinds_or_straddles = [1, 2, 0]\nstarting_stacks = [9, 9,9]\nactions = []\n'
"""A hand of three players, which can be read, but is no spot."""
UNREADABLE = (
    'variant = "PO"\nactions = []\n',
    'variant = "NT"\nblinds_or_straddles = [1, 2]\nstarting_stacks = [9, nan]\nactions = ["p2 f"]\n',
    'variant = "NT"\nantes = [1, 0]\nblinds_or_straddles = [1, 2]\nstarting_stacks = [9, 9]\nactions = ["p2 f"]\n',
    'variant = "NT"\nblinds_or_straddles = [1, 2]\nstarting_stacks = [9, 9]\nactions = ["p2 cbr 1e3"]\n',
    'variant = "NT"\nblinds_or_straddles = [1, 2]\nstarting_stacks = [9, 9]\nactions = ["d dh p1 A?A", "p2 f"]\n',
    "variant = \n",
    "actions = 3\n",
)


@dataclass(frozen=True)
class Text:
    """A hand of a history: the TOML table without its first line, and whether the hand must be read."""

    text: str
    is_right: bool


def histories(case: Case) -> None:
    """A file of hands, some of them odd: those that are right are reviewed, the others are named."""
    rng = case.rng
    name = rng.choice(list(BOARDS))
    hands = [_hand(rng, BOARDS[name]) for _ in range(rng.randint(1, 6))]
    content = "\n".join(f"[{number}]\n{each.text}" for number, each in enumerate(hands, start=1))
    is_changed = rng.random() < 0.2
    if is_changed:
        content = odd_text(rng, content, "line")
    options = rng.choice(([], [], ["--player", "a"], ["--tolerance", "0"], ["--hands", "2"], ["--top", "0"]))
    file, lockers = case.write("hands.phhs", content), case.templates / name
    answer = case.spewy("review", file, "--lockers", lockers, *options, *rng.choice((["--json"], [])))
    if not is_changed and not options:
        _check(case, hands, answer)


def _check(case: Case, hands: list[Text], answer: Answer) -> None:
    wrong = [number for number, each in enumerate(hands, start=1) if not each.is_right]
    if len(wrong) == len(hands):
        case.expect(answer.code == 2, "expected a file without a hand that can be read to be refused")
        return
    case.expect(answer.code == 0, "expected the hands that can be read to be reviewed")
    if answer.code or "--json" not in answer.arguments:
        return
    skipped = json.loads(answer.out)["skipped"]
    unread = [each["number"] for each in skipped if not each["read"]]
    case.expect(unread == wrong, f"expected hands {wrong} not to be readable, found {unread}")


def _hand(rng: Random, board: str) -> Text:
    if rng.random() < 0.3:
        text = rng.choice((THREE, *UNREADABLE))
        return Text(text, text == THREE)
    big = rng.choice((2, 4, 10, 100))
    stacks = [3 * big + rng.choice((0, 0, 1, -1, big)), 3 * big + rng.choice((0, 0, 1, 5 * big))]
    game = load_game("holdem.nolimit.2p.reverse_blinds")
    rng.shuffle(stacks)
    played = replace(game, blinds=(big, big // 2), stacks=tuple(stacks))
    suits = str.maketrans("cdhs", "".join(rng.sample("cdhs", 4)))
    first = parse_cards(board.translate(suits))
    cards = (*first, *rng.sample([card for card in range(52) if card not in first], 5 - len(first)))
    ranges = RANGES[len(first) if rng.random() < 0.9 else rng.choice((4, 5))]
    holes = tuple(parse_cards(rng.choice(hands).translate(suits)) for hands in ranges)
    if len({*cards, *holes[0], *holes[1]}) < 9:
        return Text(THREE, True)
    table = Table(played, Dealt(holes, cards))
    planned = ["c"] * (2 + 2 * (len(board) // 2 - 3) + 2 * (rng.random() < 0.9))
    while not table.is_over:
        table.step(planned.pop() if planned else _action(rng, table))
    text = phh_text([LoggedHand(1, table.hand, ("a", "b"))])
    lines = [line for line in text.splitlines()[1:] if not line.startswith("hand =")]
    if rng.random() < 0.5:
        lines = [_in_cents(line) for line in lines]
    if rng.random() < 0.2:
        lines = [line.replace("d dh p1 ", "d dh p1 ??").replace("p1 sm ", "p1 sm ????") for line in lines]
        lines = [_without_card(line) for line in lines]
    return Text("\n".join([*lines, "rake = 0.5", ""]), True)


def _action(rng: Random, table: Table) -> str:
    bounds = table.hand.betting.raise_bounds()
    legal = [action for action in table.legal if action[0] != "r"]
    if bounds is None:
        return rng.choice(legal)
    return rng.choice((*legal, f"r{rng.randint(*bounds)}", f"r{bounds[0]}", f"r{bounds[1]}"))


def _in_cents(line: str) -> str:
    """Divide the amounts of a line by 100."""
    key, _, value = line.partition(" = ")
    if key in ("blinds_or_straddles", "starting_stacks"):
        return f"{key} = [{', '.join(f'{int(each) / 100:.2f}' for each in json.loads(value))}]"
    if key == "min_bet":
        return f"{key} = {float(Fraction(value) / 100)!r}"
    if key != "actions":
        return line
    actions = [
        f"{action.split(' cbr ')[0]} cbr {int(action.split(' cbr ')[1]) / 100:.2f}"
        if " cbr " in action
        else action
        for action in json.loads(value)
    ]
    return f"{key} = {json.dumps(actions)}"


def _without_card(line: str) -> str:
    """Leave the second card of hole cards out that begin with an unknown one."""
    key, _, value = line.partition(" = ")
    if key != "actions":
        return line
    actions = [action[:12] if "p1 ??" in action else action for action in json.loads(value)]
    return f"{key} = {json.dumps([action.split('????')[0] if ' sm ????' in action else action for action in actions])}"
