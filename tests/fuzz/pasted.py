"""Ranges, boards and text files as people paste them, each with the right weights counted by loops of its own."""

from collections.abc import Iterator
from random import Random

from .case import Case
from .text import CARDS
from .toml import toml

RANKS, SUITS = "23456789TJQKA", "cdhs"
WEIGHTS = (0.013, 0.25, 0.5, 0.995, 1.0)
SIGNS = (str.maketrans("cdhs", "♣♦♥♠"), str.maketrans("cdhs", "♧♢♡♤"))
ENCODINGS = ("utf-8", "utf-8", "utf-8-sig", "utf-8-sig", "utf-16", "utf-16-le")
BETWEEN = (",", ", ", "; ", ";", " ", "\n", ",\n", " , ")
BETWEEN_CARDS = ("", " ", ",", ", ", " | ", "-", "/")
_DECK = [rank + suit for rank in RANKS for suit in SUITS]
PIO = [_DECK[high] + _DECK[low] for high in range(52) for low in range(high)]
Hand = frozenset[str]
Held = dict[Hand, float]


def pasted(case: Case) -> None:
    """A job with a pasted range and board, solved for a sweep; or files that are to be refused."""
    rng = case.rng
    cards = rng.sample(CARDS, 5)
    text, held = _list(rng) if rng.random() < 0.2 else _range(rng)
    board, encoding = _board(rng, cards), rng.choice(ENCODINGS)
    where = rng.choice(("job", "file", "option"))
    spot = {"board": board, "pot": 100, "stack": rng.choice((100, 100.0)), "oop": text, "ip": "random"}
    arguments: list[object] = []
    if where == "file":
        case.write("range.txt", _line_ends(rng, text).encode(encoding))
        spot["oop"] = "@range.txt"
    if where == "option":
        arguments = ["--set", f"spot.oop={text}"]
        spot["oop"] = "AA"
    data = {"name": "pasted", "game": {"file": "upac"}, "spot": spot, "solve": {"max_sweeps": 1}}
    of_job = encoding if where == "job" else "utf-8"
    job = case.write(
        "job.toml", _line_ends(rng, toml(data | {"bets": {"river": {"bet": "a"}}})).encode(of_job)
    )
    solved = case.spewy("solve", job, *arguments, "--out", "out", "--json")
    live = {hand: weight for hand, weight in held.items() if weight > 0 and not hand & set(cards)}
    if encoding.startswith("utf-16") and where != "option":
        case.expect(solved.code == 2 and "found UTF-16" in solved.error, "expected UTF-16 to be named")
    elif not live:
        case.expect(solved.code == 2, "expected a range without a hand to be refused")
    elif solved.code or case.spewy("solve", job, *arguments, "--out", "out", "--set", "spot.stack=100").code:
        case.expect(False, "expected a pasted range and board to be read")
    else:
        shown = case.spewy("show", "out", "--json").json()["hands"]
        found = {frozenset((name[:2], name[2:])): row["reach"] for name, row in shown.items() if row["reach"]}
        apart = [
            hand for hand in live.keys() | found.keys() if abs(live.get(hand, 0) - found.get(hand, 0)) > 1e-6
        ]
        case.expect(not apart, f"expected other weights of {[''.join(hand) for hand in apart[:6]]}")


def unordered(case: Case) -> None:
    """A list of numbers without its order is refused, unless both orders give the same range."""
    rng = case.rng
    text, held = _list(rng, head="")
    spot = {"board": " ".join(rng.sample(CARDS, 5)), "pot": 10, "stack": 10, "oop": text, "ip": "random"}
    job = case.write("job.toml", toml({"name": "list", "game": {"file": "upac"}, "spot": spot}))
    answer = case.spewy("tree", job)
    same = len(set(held.values())) == 1 and len(held) == len(PIO)
    case.expect(
        answer.code == 0 if same else "expected the order of" in answer.error, "expected a known order"
    )


def _range(rng: Random) -> tuple[str, Held]:
    """A range in one of the spellings of other programs."""
    style = rng.choice(("plain", "weights", "signed percent", "percent", "brackets"))
    weights = (1.0,) if style == "plain" else WEIGHTS
    held: Held = {}
    groups = []
    for _ in range(rng.randint(1, 8)):
        name, hands = _group(rng)
        weight = rng.choice(weights)
        held |= dict.fromkeys(hands, weight)
        groups.append(_written(rng, name, weight, style))
    text = rng.choice(BETWEEN).join(groups)
    if style == "brackets" and rng.random() < 0.3:
        text = "".join(groups)
    return text + rng.choice(("", "", ",", " ;", "\n")), held


def _written(rng: Random, name: str, weight: float, style: str) -> str:
    percent = f"{100 * weight:.6g}"
    match style:
        case "brackets":
            sign = rng.choice(("", "%"))
            return f"[{percent}{sign}]{name}[/{rng.choice((percent + sign, percent, ''))}]"
        case "percent":
            return f"{name}:{percent}"
        case "signed percent":
            return f"{name}{rng.choice((':', ' : '))}{percent}{rng.choice(('%', ' %'))}"
        case "weights":
            rounded = f"{weight}" if weight < 1 else rng.choice(("1", "1.0", "1.0000001", "1.0004"))
            return f"{name}:{rounded}"
    return name


def _group(rng: Random) -> tuple[str, list[Hand]]:
    """The text of a group, and its hands."""
    high, low = sorted(rng.sample(range(13), 2), reverse=True)
    kind = rng.choice(("s", "o", ""))
    match rng.randrange(6):
        case 0:
            name, hands = 2 * RANKS[high], list(_class(high, high, ""))
        case 1:
            name = 2 * RANKS[high] + "+"
            hands = [hand for rank in range(high, 13) for hand in _class(rank, rank, "")]
        case 2:
            name = RANKS[high] + RANKS[low] + kind + "+"
            hands = [hand for kicker in range(low, high) for hand in _class(high, kicker, kind)]
        case 3 if low > 0:
            last = rng.randrange(low)
            dash = rng.choice(("-", "–", " — ", "−"))
            name = f"{RANKS[high]}{RANKS[low]}{kind}{dash}{RANKS[high]}{RANKS[last]}{kind}"
            hands = [hand for kicker in range(last, low + 1) for hand in _class(high, kicker, kind)]
        case 4:
            one, two = rng.sample(CARDS, 2)
            return _letters(rng, _signs(rng, one + two)), [frozenset((one, two))]
        case _:
            name, hands = RANKS[high] + RANKS[low] + kind, list(_class(high, low, kind))
    return _letters(rng, name), hands


def _class(high: int, low: int, kind: str) -> Iterator[Hand]:
    for one in SUITS:
        for two in SUITS:
            if not (high == low and one == two) and (kind == "" or (kind == "s") == (one == two)):
                yield frozenset((RANKS[high] + one, RANKS[low] + two))


def _list(rng: Random, head: str | None = None) -> tuple[str, Held]:
    """A list of numbers in a known order, with few or many hands."""
    chosen = rng.choice(("pio", "spewy"))
    names = PIO
    if chosen == "spewy":
        names = [_DECK[low] + _DECK[high] for low in range(52) for high in range(low + 1, 52)]
    share = rng.choice((0.01, 0.5, 1.0))
    weights = [rng.choice(WEIGHTS) if rng.random() < share else 0.0 for _ in names]
    held = {frozenset((name[:2], name[2:])): weight for name, weight in zip(names, weights, strict=True)}
    begin = rng.choice(("order = ", "Order: ")) + chosen + rng.choice((" ", "\n"))
    if chosen == "pio" and rng.random() < 0.3:
        begin = "set_range OOP "
    numbers = rng.choice((" ", ",", ", ", "\n")).join(map(str, weights))
    return (begin if head is None else head) + numbers, {
        hand: weight for hand, weight in held.items() if weight
    }


def _board(rng: Random, cards: list[str]) -> str:
    text = rng.choice(BETWEEN_CARDS).join(cards)
    return _letters(rng, _signs(rng, text))


def _letters(rng: Random, text: str) -> str:
    return rng.choice((text, text, text.lower(), text.upper()))


def _signs(rng: Random, text: str) -> str:
    """Cards with their suits as letters or as signs, some with the invisible mark of a coloured picture."""
    if rng.random() < 0.6:
        return text
    signs = text.translate(rng.choice(SIGNS))
    return "".join(f"{each}\ufe0f" if each in "♠♥♦♣" and rng.random() < 0.2 else each for each in signs)


def _line_ends(rng: Random, text: str) -> str:
    return text.replace("\n", rng.choice(("\n", "\n", "\r\n")))
