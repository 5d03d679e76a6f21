"""Betting trees of other programs, from their texts, by their own rules: naive twins of what `spewy.bridges` reads.

A tree is that of `spewy tree --json`: nested dictionaries. Amounts in labels are street totals.
"""

import json
import math
import re
from dataclasses import dataclass, field, replace

ROUNDS = ("flop", "turn", "river")


def half_up(value):
    return math.floor(value + 0.5)


@dataclass(frozen=True)
class State:
    """A decision; chips since the root by player, and those of the round before."""

    pot: int
    stack: int
    round: str
    player: int = 0
    put_in: tuple = (0, 0)
    before: int = 0
    step: int = 1
    bets: int = 0
    checked: bool = False
    donk: bool = False
    line: tuple = field(default=())

    @property
    def own(self):
        return self.put_in[self.player]

    @property
    def highest(self):
        return max(self.put_in)

    @property
    def faces(self):
        return self.highest > self.own

    @property
    def after_call(self):
        return self.pot + 2 * self.highest


def tree(state, bets):
    """Return the tree below a decision; ``bets`` returns totals since the root."""
    actions = {}
    if state.faces:
        actions["fold"] = "terminal"
    ends = state.faces or state.checked
    actions["call" if state.faces else "check"] = (
        after_round(state, bets)
        if ends
        else tree(replace(state, player=1, checked=True, donk=False, line=(*state.line, "X")), bets)
    )
    other = state.put_in[1 - state.player]
    totals = sorted(set(bets(state))) if state.highest < state.stack and other < state.stack else []
    for total in totals:
        kind = "all-in" if total == state.stack else "raise to" if state.bets else "bet"
        amount = total - state.before
        put_in = tuple(total if p == state.player else chips for p, chips in enumerate(state.put_in))
        word = {"all-in": "A", "raise to": "R", "bet": "B"}[kind] + str(amount)
        below = replace(
            state,
            player=1 - state.player,
            put_in=put_in,
            step=max(state.step, total - state.highest),
            bets=state.bets + 1,
            donk=False,
            line=(*state.line, word),
        )
        actions[f"{kind} {amount}"] = tree(below, bets)
    form = {"actions": actions, "put_in": list(state.put_in)}
    if state.line and state.line[-1] == "|":
        form["new_street"] = True
    return form


def after_round(state, bets):
    if state.round == "river" or state.highest == state.stack:
        return "terminal"
    following = State(
        state.pot,
        state.stack,
        ROUNDS[ROUNDS.index(state.round) + 1],
        put_in=(state.highest,) * 2,
        before=state.highest,
        donk=state.player == 0 and state.faces,
        line=(*state.line, "C" if state.faces else "X", "|"),
    )
    return tree(following, bets)


def root(cards, pot, stack):
    return State(int(pot), int(stack), ROUNDS[len(cards) - 3])


def pioviewer_tree(text):
    """PioViewer's boxes (manual, Postflop tree building), or the lines of ``add_line``."""
    rows = dict(re.findall(r"^#([^#\r\n]+)#([^\r\n]*)", text.lstrip("\ufeff"), re.MULTILINE))
    start = root(re.findall(r"[2-9TJQKA][cdhs]", rows["Board"]), rows["Pot"], rows["EffectiveStacks"])
    listed = [list(map(int, line.split())) for line in re.findall(r"^add_line ([\d ]+)", text, re.MULTILINE)]
    threshold = float(rows.get("AllinThreshold") or 100) / 100
    limit = float(rows.get("AddAllinOnlyIfLessThanThisTimesThePot") or 1e9) / 100
    merge = float(rows["MergeSimilarBetsThreshold"]) / 100 if rows.get("MergeSimilarBets") == "True" else 0
    caps = rows.get("CapPerStreet", "0").split("\\n") if rows.get("CapEnabled") == "True" else ["0"]
    caps = [int(cap) or 99 for cap in caps * (3 if len(caps) == 1 else 1)]

    def totals(state):
        if listed:
            return from_lines(state)
        suffix = "IP" if state.player else ""
        box = f"{state.round.title()}Config{suffix}"
        kind = "Raise" if state.faces else "DonkBet" if state.donk else "Bet"
        words = re.split(r"[\s,]+", rows.get(f"{box}.{kind}Size", "").strip())
        if state.bets >= caps[ROUNDS.index(state.round)]:
            return []
        if state.player and state.bets >= 2 and rows.get(f"{box}.Dont3bet") == "True":
            return []
        found = [amount(state, word) for word in words if word]
        adds = (
            rows.get(f"{box}.AddAllin") == "True" and state.stack - state.highest <= limit * state.after_call
        )
        if found and adds:
            found.append(state.stack)
        found = [max(each, min(state.highest + state.step, state.stack)) for each in found]
        found = [state.stack if each > threshold * state.stack else each for each in found]
        return merged(state, found, merge)

    def amount(state, word):
        to_call = state.highest - state.own
        if word == "a":
            return state.stack
        if word.endswith("x"):
            return state.own + half_up(float(word[:-1]) * to_call)
        if word.endswith("c"):
            return state.highest + int(word[:-1])
        if "e" in word:
            left = int(word[:-1] or 3 - ROUNDS.index(state.round)) - max(state.bets - 1, 0)
            return geometric(state, left)
        return state.highest + half_up(state.after_call * float(word) / 100)

    def from_lines(state):
        spent, numbers, before, player = [0, 0], [], 0, 0
        for word in state.line:
            if word == "|":
                before, player = max(spent), 0
                continue
            spent[player] = max(spent) if word in "XC" else before + int(word[1:])
            numbers.append(spent[player])
            player = 1 - player
        return [
            line[len(numbers)]
            for line in listed
            if line[: len(numbers)] == numbers
            and len(line) > len(numbers)
            and line[len(numbers)] > max(spent)
        ]

    return tree(start, totals)


def geometric(state, left, most=math.inf):
    behind = state.stack - state.highest
    share = ((2 * behind / state.after_call + 1) ** (1 / max(left, 1)) - 1) / 2
    return state.highest + half_up(state.after_call * min(share, most))


def merged(state, totals, threshold):
    """Keep the largest bet X % of the pot, drop each Y % with (100 + X) / (100 + Y) < 1 + threshold, and go on."""
    kept = []
    for total in sorted(set(totals), reverse=True):
        share = (total - state.highest) / state.after_call
        if not kept or (1 + kept[-1][1]) / (1 + share) > (1 + threshold) * (1 + 1e-12) or not threshold:
            kept.append((total, share))
    return [total for total, _ in kept]


def texassolver_tree(text):
    """TexasSolver's console without its all-ins for rounds and players that the script gives none."""
    commands = [
        (row.split("//")[0].split()[0], "".join(row.split("//")[0].split()[1:]))
        for row in text.lstrip("\ufeff").splitlines()
        if row.strip() and not row.startswith("#")
    ]
    last = dict(commands)
    start = root(last["set_board"].split(","), last["set_pot"], last["set_effective_stack"])
    half = start.pot / 2
    sizes, allins = {}, set()
    for name, value in commands:
        if name == "set_bet_sizes":
            seat, round_, kind, *numbers = value.split(",")
            if kind == "allin":
                allins.add((seat, round_))
            else:
                sizes[seat, round_, kind] = [float(number) for number in numbers]
    threshold = float(last.get("set_allin_threshold", 0.67))
    most = int(last.get("set_raise_limit", 4))

    def totals(state):
        if state.bets and state.bets >= most:
            return []
        seat = ("oop", "ip")[state.player]
        kind = "raise" if state.faces else "donk" if state.donk else "bet"
        commits = [half + chips for chips in state.put_in]
        mine, theirs, whole = commits[state.player], commits[1 - state.player], half + state.stack
        added = []
        for percent in sizes.get((seat, state.round, kind), []):
            chips = half_up(percent / 100 * 2 * max(commits)) + (theirs - mine if state.faces else 0)
            added.append(whole - mine if chips + mine > whole * threshold else min(chips, whole - mine))
        if (seat, state.round) in allins:
            added.append(whole - mine)
        gap = theirs - mine
        return [int(state.own + chips) for chips in added if chips >= 2 * gap and chips > gap]

    return tree(start, totals)


def postflop_tree(text, board=None):
    """The trees of postflop-solver: clamp, then force all-in, then merge."""
    found = json.loads(text.lstrip("\ufeff"))
    if "data" in found:
        found = next(item["value"] for item in found["data"] if not item["isGroup"])
    config = {key.lower(): value for key, value in found.get("config", found).items()}
    cards = board or config["board"]
    cards = re.findall("..", cards) if isinstance(cards, str) else cards
    start = root(cards, config["startingpot"], config["effectivestack"])
    share = {name: config[f"{name}threshold"] / 100 for name in ("addallin", "forceallin", "merging")}
    edits = {
        name: {tuple(re.split(r"[-|]", line)) for line in config[name].split(",") if line}
        for name in ("addedlines", "removedlines")
    }

    def totals(state):
        seat = ("oop", "ip")[state.player]
        donk = state.donk and config["donkoption"]
        kind = "raise" if state.faces else "donk" if donk else "bet"
        words = [word for word in re.split(r"[\s,]+", config[f"{seat}{state.round}{kind}"]) if word]
        found = [amount for word in words for amount in amounts(state, word)]
        if state.stack <= state.highest + half_up(state.after_call * share["addallin"]):
            found.append(state.stack)
        smallest = min(state.highest + state.step, state.stack)
        found = [min(max(total, smallest), state.stack) for total in found]
        found = [
            state.stack
            if state.stack
            <= total + half_up((state.after_call + 2 * (total - state.highest)) * share["forceallin"])
            else total
            for total in found
        ]
        found = set(merged(state, found, share["merging"]))
        here = tuple(word for word in state.line if word != "|")
        for name, change in (("addedlines", found.add), ("removedlines", found.discard)):
            for line in edits[name]:
                if line[:-1] == here:
                    change(state.before + int(line[-1][1:]))
        return found

    def amounts(state, word):
        if word == "a":
            return [state.stack]
        if word.endswith("x"):
            return [state.before + half_up(float(word[:-1]) * (state.highest - state.before))]
        if capped := re.fullmatch(r"(\d+)c(?:(\d+)r)?", word):
            return [state.highest + int(capped[1])] if state.bets <= int(capped[2] or 99) else []
        if curve := re.fullmatch(r"(\d*)e(\d*)", word):
            left = int(curve[1] or 3 - ROUNDS.index(state.round)) - max(state.bets - 1, 0)
            return [geometric(state, left, float(curve[2] or math.inf) / 100)]
        return [state.highest + half_up(state.after_call * float(word) / 100)]

    return tree(start, totals)
