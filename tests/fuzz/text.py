"""Odd values, and changes of texts by character and by token."""

import re
from random import Random

ODD_CHARACTERS = [*" ,:;-+/%.=_#'\"[]{}()\\\n\t\0é🂡\u202e０½\ufeffexA09"]
ODD_TEXTS = (
    *(
        "",
        " ",
        ",",
        "-",
        "--",
        "+",
        "0",
        "-1",
        "nan",
        "inf",
        "-inf",
        "1e999",
        "1e-400",
        "0x10",
        "1_000",
        "١٢٣",
    ),
    *(
        "None",
        "true",
        "[]",
        "{}",
        "random",
        "hands",
        "../..",
        "/",
        ".",
        "~",
        "a/b",
        "%s%n",
        "{0}",
        "\0",
        "😀" * 9,
    ),
    *("A" * 5000, "9" * 400, "As" * 300, "c" * 1000, "/" * 300, "AA," * 2000, "[" * 600, "é" * 400),
)
ODD_INTEGERS = (
    *(-1, 0, 1, 2, 3, 7, 13, 52, 255, 256, 1326, 10_000, 10_001, 10**9 - 1, 10**9, 10**9 + 1),
    *(2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63), -(2**63) - 1, 10**400),
)
ODD_REALS = (
    *(0.0, -0.0, 0.5, 1.0, 1.0000001, -1e-9, 1e-12, 1e-300, 5e-324, 1e15, 1e300, 1.7e308),
    *(float("nan"), float("inf"), float("-inf")),
)
ODD_NUMBERS = (*ODD_INTEGERS, *ODD_REALS)
RANKS, SUITS = "23456789TJQKA", "cdhs"
CARDS = tuple(rank + suit for rank in RANKS for suit in SUITS)
TOKENS = {
    "board": (*CARDS, "2x", "1s", "10h", "as", "AS", "Ts9s"),
    "range": (
        *("AA", "QQ+", "22+", "AKs", "AKo", "AK", "KQs-T9s", "A5s-A2s", "99-66", "T9s+", "AsKs", "AhAd"),
        *("2c2d", "AA:0.5", "KK:0", "QQ:1e-7", "JJ:1", "TT:1.0001", "99:-1", "88:nan", "77:1e-300"),
        *("66:", ":0.5", "random", "A", "AAs", "KAo", "AsAs", "22-", "A2-K3", "AKs-QJ", "0.5", "1"),
        *("55:1e-4", "44:0.00001", "aks", "a5s+", "AHKH", "12.5%", "top 3%", "0%", "101%", "@none.txt"),
        *("@", "# no", "QQ\nJJ", "%", "[50]AA[/50]", "[50]KK", "[/50]", "QQ[/50]", "[25]JJ[/50]", "[]"),
        *("[50][50]", "[1e9]TT[/1e9]"),
    ),
    "sizes": (
        *("50%", "33.3%", "2.5x", "100c", "e", "3e", "e200%", "a", "0%", "0c", "1c", "1000000000c"),
        *("1e9%", ".5%", "0.0001%", "99999999999%", "1x", "0.5x", "999e", "0e", "e0%", "aa", "5", "%"),
        *("x", "-5%", "1000000000000c"),
    ),
    "line": (
        *("c", "f", "r", "/", "cc/", "r20", "r50c", "r100", "r0", "r-1", "r999999999999", "b50", "k"),
        *("cc", "r1e2", "x ", "b50% ", "Bet(50) ", "Check, ", "call ", "all-in", "B33%", "bet "),
        *("raise to 100 ", "r1.5", "b2.5bb", "bet", "b", "raise", "raise ", "r ", "b ", "raise to 50 "),
        *("Raise(100) ", "bet 100 ", "a", "a ", "b50", "b(", "Bet(", "bet(50)%", "k/", "AllIn(100)"),
        *("b999999999999999", "b.5", "c c / ", "fold"),
    ),
    "target": (
        *("0.1%", "1%", "0%", "100%", "1 mbb", "0.01 chips", "0 chips", "%", "nan%", "inf chips", "-1%"),
        "1e-400%",
    ),
    "memory": ("1 GiB", "1 KiB", "0 GiB", "500 MiB", "1e99 TiB", "nan GiB", "2 GB", "1e-9 KiB", "64 MiB"),
    "any": ODD_TEXTS,
}
_WORDS = re.compile(r"\s+|[,/:;=]|[^\s,/:;=]+")


def choose(rng: Random, *weighted: tuple[float, object]) -> object:
    """One of these, by weight."""
    weights, things = zip(*weighted, strict=True)
    return rng.choices(things, weights)[0]


def odd_text(rng: Random, text: str, kind: str = "any") -> str:
    """The text changed in one to three places; most often by tokens of its kind."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        change = rng.choice((_by_token, _by_token, _by_character, _by_character, _by_span))
        text = change(rng, text, TOKENS[kind])
    return rng.choice(ODD_TEXTS) if rng.random() < 0.06 else text


def some_text(rng: Random, kind: str, most: int = 5, between: str = ",") -> str:
    """A text of a few tokens, most of which are right."""
    return between.join(rng.choices(TOKENS[kind], k=rng.randint(1, most)))


def argument(text: str) -> str:
    """The text as a command's argument, which cannot hold a zero byte."""
    return text.replace("\0", "")


def _by_token(rng: Random, text: str, tokens: tuple[str, ...]) -> str:
    words = _WORDS.findall(text) or [""]
    place = rng.randrange(len(words))
    match rng.randrange(5):
        case 0:
            words[place] = rng.choice(tokens)
        case 1:
            words.insert(place, rng.choice(tokens) + rng.choice((",", " ", "", "/")))
        case 2:
            del words[place]
        case 3:
            words.insert(place, words[rng.randrange(len(words))])
        case _:
            other = rng.randrange(len(words))
            words[place], words[other] = words[other], words[place]
    return "".join(words)


def _by_character(rng: Random, text: str, _: tuple[str, ...]) -> str:
    place = rng.randint(0, len(text))
    match rng.randrange(4):
        case 0:
            return text[:place] + rng.choice(ODD_CHARACTERS) + text[place:]
        case 1:
            return text[:place] + text[place + 1 :]
        case 2:
            return text[:place] + rng.choice(ODD_CHARACTERS) + text[place + 1 :]
        case _:
            return text[:place] + text[place : place + 1].swapcase() + text[place + 1 :]


def _by_span(rng: Random, text: str, _: tuple[str, ...]) -> str:
    first, last = sorted((rng.randint(0, len(text)), rng.randint(0, len(text))))
    match rng.randrange(4):
        case 0:
            return text[:first] + text[last:]
        case 1:
            return text[:last] + text[first:]
        case 2:
            return text[:first] + text[first:last] * rng.choice((2, 40)) + text[last:]
        case _:
            return text[first:last]
