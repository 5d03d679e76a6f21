/** The form that sets up a job: name, board, ranges, bet sizes and locks. */

import { showLines } from "./beginwith.js";
import { el, fill } from "./dom.js";
import { RANKS, SUITS, boardCards, cardTable } from "./cards.js";
import { roundText } from "./format.js";
import { jobCost, jobField, jobGroup, jobText, jobTree, showFieldError, smallButton } from "./job.js";
import { placeAddress } from "./page.js";
import { rangeEditor } from "./rangeeditor.js";
import { ask, send } from "./source.js";

const PRECISIONS = [
  ["", "automatic"],
  ["16-bit", "16-bit (half the memory)"],
  ["single", "single"],
  ["double", "double"],
];
const SAVED = [
  ["", "all rounds"],
  ["flop", "the flop only"],
  ["turn", "flop and turn"],
];

/**
 * Make the form of a draft.
 * @param {object} draft the draft.
 * @param {function} started called with the id of a solve that has begun.
 */
export function setupForm(draft, started) {
  const known = ask("/api/presets");
  const presets = known.then((found) => found.presets);
  const choices = known.then((found) => found.ranges);
  const unit = jobField(draft, { key: "unit", label: "amounts in", options: [["bb", "big blinds"], ["chips", "chips"]] });
  unit.input.addEventListener("change", () => unit.input.value === "chips" && draft.set("unit", undefined));
  const refreshUnit = unit.refresh;
  unit.refresh = () => {
    refreshUnit();
    if (draft.get("unit") === undefined) unit.input.value = "chips";
  };
  const board = boardPicker(draft, rename);
  const ranges = [
    rangeEditor(draft, { seat: "oop", title: "oop, first to act", choices }),
    rangeEditor(draft, { seat: "ip", title: "ip, last to act", choices }),
  ];
  const sizes = sizesForm(draft);
  const locks = lockForm(draft);
  const lockBox = el("details", { class: "job-group" }, el("summary", {}, "Locks ", el("span", { class: "note lock-count" })), locks.node);
  const pot = [
    jobField(draft, { key: "spot.pot", label: "pot", number: true }),
    jobField(draft, { key: "spot.stack", label: "stack behind", number: true, hint: "of the player with fewer chips" }),
    unit,
    jobField(draft, { key: "spot.rake.rate", label: "rake", example: "none", hint: "5, 5 % or 0.05: a number below 1 is a share", read: rakeRate, echo: shareText }),
    jobField(draft, { key: "spot.rake.cap", label: "rake at most", example: "no limit", number: true }),
  ];
  const solving = [
    jobField(draft, { key: "solve.target", label: "solve to", example: "0.3%", hint: "exploitability, such as 0.5%" }),
    jobField(draft, { key: "solve.workers", label: "threads", example: "1", number: true }),
    jobField(draft, { key: "solve.memory", label: "memory at most", example: "2 GiB" }),
    jobField(draft, { key: "solve.precision", label: "precision", options: PRECISIONS }),
    jobField(draft, { key: "solve.max_sweeps", label: "sweeps at most", example: "1000", number: true }),
    jobField(draft, { key: "save.rounds", label: "keep strategies of", options: SAVED }),
  ];
  const thresholds = [
    jobField(draft, { key: "tree.add_allin", label: "add an all-in up to", number: true, hint: "times the pot" }),
    jobField(draft, { key: "tree.force_allin", label: "all-in if it leaves at most", number: true, hint: "times the pot behind" }),
    jobField(draft, { key: "tree.allin_from", label: "all-in above", number: true, hint: "of the stack, all bets together" }),
    jobField(draft, { key: "tree.merge", label: "merge sizes closer than", number: true, hint: "times the pot" }),
    jobField(draft, { key: "tree.min_bet", label: "smallest bet", number: true }),
    jobField(draft, { key: "tree.max_raises", label: "raises of a round at most", number: true, example: "no limit" }),
  ];
  const start = starter(draft, started);
  const tree = jobTree(draft, { lock: lockHere });
  const cost = jobCost(draft);
  const text = jobText(draft);
  const whole = el("p", { class: "note" }, "This job is a whole game, without a board and ranges. Change its game and its bet sizes in the job file below.");
  const spotOnly = [
    el("div", { class: "setup-top" }, jobGroup("Board", board.node), jobGroup("Pot and stacks", fieldNodes(pot))),
    jobGroup("Ranges", el("div", { class: "grids" }, fieldNodes(ranges))),
    jobGroup("Bet sizes", sizes.node, el("details", {}, el("summary", {}, "All-ins, smallest bet and number of raises"), fieldNodes(thresholds))),
  ];
  const form = el(
    "div",
    { class: "setup-form" },
    whole,
    spotOnly,
    lockBox,
    jobGroup("Solving", fieldNodes(solving)),
    text.node,
  );
  const parts = [board, ...pot, ...ranges, sizes, locks, ...solving, ...thresholds, start, tree, cost, text];
  const side = el("div", { class: "setup-side" }, start.node, cost.node, tree.node);
  const node = el("div", { class: "setup" }, form, side);

  function refresh() {
    if (!draft.data) return;
    const hasSpot = Boolean(draft.get("spot"));
    whole.hidden = hasSpot;
    for (const group of spotOnly) group.hidden = !hasSpot;
    for (const part of parts) part.refresh();
    const number = (draft.get("lock") || []).length;
    fill(lockBox.querySelector(".lock-count"), number || "none");
  }

  /** Put the new cards into the name of the job if it ends with the old ones, or did so before the board was cleared. */
  let withoutCards = null;
  function rename(before, after) {
    const name = String(draft.get("name") || "");
    if (before ? !name.endsWith(before) : name !== withoutCards) return;
    withoutCards = name.slice(0, name.length - before.length);
    draft.set("name", withoutCards + after);
  }

  async function lockHere(line) {
    const found = await send("/api/setup/tree", { data: { ...draft.data, lock: undefined }, line }).catch(() => null);
    if (!found) return;
    lockBox.open = true;
    locks.add({ line, strategy: evenly((found.root.actions || []).map((action) => action.label)) });
    lockBox.scrollIntoView({ block: "start", behavior: "smooth" });
  }

  draft.subscribe(refresh);
  return { node, presets };
}

function fieldNodes(fields) {
  return fields.map((field) => field.node);
}

/** Read a rake: a number from 1 on is percent, a smaller one is a share of the pot. */
function rakeRate(typed) {
  const [, number, sign] = /^(\d+\.?\d*|\.\d+)\s*(%?)$/.exec(typed) || [];
  if (number === undefined) return typed;
  return sign || Number(number) >= 1 ? `${Number(number)}%` : Number(number);
}

function shareText(value) {
  const [, percents] = /^([\d.]+)%$/.exec(value) || [];
  const share = percents ? Number(percents) / 100 : value;
  return typeof share === "number" ? `= ${Number((100 * share).toFixed(4))} %` : "";
}

const MISSING = { name: "the name", "spot.board": "the board", "spot.boards": "the boards", "spot.pot": "the pot", "spot.stack": "the stack", "spot.oop": "the range of oop", "spot.ip": "the range of ip" };

function missingName(key) {
  return MISSING[key] || key;
}

// The name of a job, its errors, and the button that starts the solve.

const QUICK = "The flop or turn after about 3 seconds; then the whole game, exactly";

/** Make the box that starts the solve of a draft; `started(id)` is called once the solve has begun. */
function starter(draft, started) {
  const name = jobField(draft, { key: "name", label: "name", size: 20, blank: "" });
  const errors = el("div", { role: "alert" });
  const missing = el("p", { class: "note", role: "status" });
  const notes = el("div");
  const place = el("div", { "aria-live": "polite" });
  const button = el("button", { type: "button", class: "primary", onclick: () => start(false) }, "Start");
  const quick = el("button", { type: "button", title: QUICK, onclick: () => start(true) }, "Quick answer first");
  const failure = el("p", { class: "field-error", role: "alert" });
  const state = el("div", { class: "start-state" }, name.node.querySelector(".field-error"), missing, place, errors, notes, failure);
  const node = el("section", { class: "job-box", "aria-label": "start" }, el("div", { class: "start-line" }, name.node, el("div", { class: "start-buttons" }, button, quick)), state);

  function refresh() {
    name.refresh();
    const state = draft.place ? draft.place.state : null;
    const others = draft.otherProblems().map(({ message, key }) => (key ? `${key}: ${message}` : message));
    const inFields = draft.problems.length - others.length;
    const lines = [draft.failure, ...others, inFields ? inFields === 1 ? "One field has an error, shown beside it." : `${inFields} fields have errors, shown beside them.` : ""].filter(Boolean);
    showLines(errors, lines, "error");
    fill(missing, draft.missing.length ? `Still to fill in: ${[...new Set(draft.missing.map(missingName))].join(", ")}.` : null);
    showLines(notes, draft.notes, "note");
    fill(place, placeText());
    button.disabled = draft.checking || !draft.facts || !["new", "same", "file"].includes(state);
    quick.disabled = button.disabled || state === "same" || !draft.facts.quick;
    fill(button, state === "same" ? "Continue the solve" : state === "file" ? "Replace the job file and start" : "Start");
  }

  function placeText() {
    if (!draft.place) return null;
    const { state, message, free } = draft.place;
    if (state === "new") return null;
    const bad = state === "other" || state === "refused";
    return el(
      "p",
      { class: bad ? "field-error" : "note" },
      message,
      free && state !== "same" ? [" ", smallButton(`use ${free}`, () => draft.set("name", free))] : null,
    );
  }

  async function start(first) {
    button.disabled = quick.disabled = true;
    fill(failure);
    try {
      const go = draft.place && draft.place.state !== "new";
      const found = await send("/api/jobs/start", { text: draft.text, continue: go, quick: first });
      if (found.started) return started(found.id);
      draft.recheck();
    } catch (error) {
      const [, id] = /^(.+) is being solved; /.exec(error.message) || [];
      fill(failure, error.message, id ? [" ", el("a", { href: placeAddress("solve", { job: id }) }, "show it")] : null);
      button.disabled = quick.disabled = false;
    }
  }

  return { node, refresh };
}

// Chooses the board of a job: one board, several boards, or flops that represent all flops.

const KINDS = [
  ["one", "one board"],
  ["flops", "flops for all 1,755"],
  ["list", "several"],
];
const MOST_CARDS = 5;
const USUAL_SUBSET = 25;

/** Make the board picker of a draft; `renamed(old, new)` is called with the cards before and after a change. */
function boardPicker(draft, renamed) {
  const table = el("div");
  const wanted = el("span", { class: "note" });
  const error = el("span", { class: "field-error", role: "alert", id: "board-error", "data-label": "board" });
  const field = el("input", { id: "board-text", size: 14, placeholder: "3 to 5 cards", autocomplete: "off", spellcheck: "false", "aria-label": "cards of the board", "aria-describedby": error.id });
  const subset = el("input", { id: "board-subset", type: "number", min: 1, max: 1755, size: 5 });
  const list = el("textarea", { id: "board-list", rows: 3, spellcheck: "false", placeholder: "Ks 7h 2d, Qs Jh 2h" });
  const kinds = KINDS.map(([value, text]) => {
    const input = el("input", { type: "radio", name: "board-kind", value, onchange: () => chooseKind(value) });
    return { value, input, node: el("label", { class: "job-choice" }, input, " ", text) };
  });
  const one = el(
    "div",
    {},
    el("div", { class: "tools" }, field, smallButton("random", randomFlop, { title: "a random flop" }), smallButton("clear", () => setBoard("")), wanted),
    table,
  );
  const many = el("div", { class: "tools" }, el("label", { for: subset.id }, "number of flops"), subset, el("span", { class: "note" }, "they represent all 1,755: each is solved for itself and has a weight; reports add them up"));
  const several = el("div", {}, el("label", { for: list.id }, "boards, separated by commas"), list);
  field.addEventListener("input", () => setBoard(field.value));
  subset.addEventListener("input", () => draft.set("spot.boards", { subset: Number(subset.value) || subset.value }));
  list.addEventListener("input", () => draft.set("spot.boards", boardNames(list.value)));
  draft.claim("spot.board");
  draft.claim("spot.boards");

  function kind() {
    const boards = draft.get("spot.boards");
    return boards === undefined ? "one" : Array.isArray(boards) ? "list" : "flops";
  }

  function chooseKind(value) {
    const board = draft.get("spot.board") || (draft.get("spot.boards") || [])[0] || "";
    const spot = { ...draft.get("spot") };
    delete spot.board;
    delete spot.boards;
    const boards = { one: { board }, flops: { boards: { subset: USUAL_SUBSET } }, list: { boards: board ? [board] : [] } }[value];
    draft.set("spot", { ...boards, ...spot });
    if (value === "flops" && draft.get("save.rounds") === undefined) draft.set("save.rounds", "flop");
    if (value !== "flops") draft.set("save.rounds", undefined);
    if (value === "flops") draft.set("solve.workers", 1);
  }

  function setBoard(text) {
    const before = boardCards(draft.get("spot.board")).join("");
    draft.set("spot.board", text.trim() || undefined);
    renamed(before, boardCards(text).join(""));
  }

  function randomFlop() {
    const deck = [...RANKS].flatMap((rank) => [...SUITS].map((suit) => rank + suit));
    const cards = Array.from({ length: 3 }, () => deck.splice(Math.floor(Math.random() * deck.length), 1)[0]);
    setBoard(cards.sort((a, b) => RANKS.indexOf(a[0]) - RANKS.indexOf(b[0])).join(" "));
  }

  function toggle(card) {
    const cards = boardCards(draft.get("spot.board"));
    setBoard((cards.includes(card) ? cards.filter((each) => each !== card) : [...cards, card]).join(" "));
  }

  function refresh() {
    const now = kind();
    for (const each of kinds) each.input.checked = each.value === now;
    one.hidden = now !== "one";
    many.hidden = now !== "flops";
    several.hidden = now !== "list";
    const message = draft.problem("spot.board") || draft.problem("spot.boards");
    showFieldError({ one: field, flops: subset, list }[now], error, message);
    if (now === "flops" && document.activeElement !== subset) subset.value = draft.get("spot.boards.subset");
    if (now === "list" && document.activeElement !== list) list.value = draft.get("spot.boards").join(", ");
    if (now !== "one") return;
    const text = draft.get("spot.board") || "";
    const cards = boardCards(text);
    if (document.activeElement !== field) field.value = text;
    fill(wanted, cards.length && cards.length < 3 ? `${3 - cards.length} more` : null);
    if (table.dataset.cards === cards.join("")) return;
    const focused = table.contains(document.activeElement) ? document.activeElement.dataset.card : null;
    table.dataset.cards = cards.join("");
    fill(
      table,
      cardTable({
        enabled: (card) => cards.includes(card) || cards.length < MOST_CARDS,
        pressed: (card) => cards.includes(card),
        pick: toggle,
        label: "cards of the board",
      }),
    );
    if (focused) table.querySelector(`[data-card="${focused}"]`).focus();
  }

  const node = el("div", {}, el("div", { class: "tools", role: "radiogroup", "aria-label": "boards" }, kinds.map((each) => each.node)), one, many, several, error);
  return { node, refresh };
}

// The bet sizes of a job by round and player.

const ROUNDS = ["flop", "turn", "river"];
const SEAT_KEYS = ["oop", "ip"];
const SIZE_KEYS = [
  ["bet", "bet", "33%, 75%"],
  ["raise", "raise", "60%, 2.5x"],
];
const DONKS = [
  ["as", "the sizes of a bet"],
  ["never", "never"],
  ["own", "own sizes:"],
];

/** Make the fields for bet sizes; a round that the job does not name has the sizes of the round before. */
function sizesForm(draft) {
  const rounds = ROUNDS.map((name, number) => roundSizes(draft, name, number));
  draft.claim("bets");
  const error = el("span", { class: "field-error", role: "alert" });
  const node = el(
    "div",
    {},
    el(
      "p",
      { class: "note" },
      "Separate sizes by commas: 60% of the pot, 2.5x the bet faced, 3xc three times the call (raises only), ",
      el("span", { class: "unit-example" }, "2.5bb"),
      ", a for all-in, a300% for all-in up to 300% of the pot, e for the share that ends all-in on the river if it is bet on every round. Empty: never.",
    ),
    rounds.map((round) => round.node),
    error,
  );
  const donks = new Map();
  let first = 0;

  /** Remove donk sizes where nobody can donk: on the first round; put them back once the round is a later one again. */
  function fitDonks(first) {
    ROUNDS.forEach((name, number) => {
      const key = `bets.${name}.donk`;
      const now = draft.get(key);
      if (number <= first && now !== undefined) {
        donks.set(key, now);
        draft.set(key, undefined);
      } else if (number > first && donks.has(key)) {
        const before = donks.get(key);
        donks.delete(key);
        if (now === undefined && draft.get(`bets.${name}`)) draft.set(key, before);
      }
    });
  }

  function refresh() {
    // An unfinished board changes nothing, so that a user who picks other cards keeps the sizes of later rounds.
    if (draft.get("spot.boards") || boardCards(draft.get("spot.board") || "").length >= 3) first = firstRound(draft);
    fitDonks(first);
    fill(node.querySelector(".unit-example"), draft.get("unit") === "bb" ? "2.5bb" : "100c");
    rounds.forEach((round, number) => {
      round.node.hidden = number < first;
      if (number >= first) round.refresh(number === first);
    });
    const hidden = ROUNDS.slice(0, first).flatMap((name) => ["", ".bet", ".raise", ".donk"].map((key) => draft.problem(`bets.${name}${key}`)));
    const message = draft.problem("bets") || hidden.find(Boolean) || "";
    if (error.textContent !== message) fill(error, message);
  }
  return { node, refresh };
}

function roundSizes(draft, name, number) {
  const key = `bets.${name}`;
  const same = el("input", { type: "checkbox", id: `same-${name}` });
  const inputs = SEAT_KEYS.map((seat) => SIZE_KEYS.map(([kind, , example]) => sizeInput(seat, kind, example)));
  const donk = el("select", { id: `donk-${name}` }, DONKS.map(([value, text]) => el("option", { value }, text)));
  const donkField = el("input", { id: `donk-sizes-${name}`, size: 10, autocomplete: "off", "aria-label": `sizes of donk bets on the ${name}` });
  const error = el("span", { class: "field-error", role: "alert", id: `sizes-${name}-error` });
  for (const kind of ["bet", "raise", "donk"]) draft.claim(`${key}.${kind}`);
  draft.claim(key);

  function sizeInput(seat, kind, example) {
    const id = `sizes-${name}-${seat}-${kind}`;
    const input = el("input", { id, size: 13, autocomplete: "off", spellcheck: "false", placeholder: "never", title: `for example ${example}` });
    input.addEventListener("input", () => write());
    return { input, node: el("span", { class: "size-field" }, el("label", { for: id }, kind), input), kind, seat };
  }

  /** Write all inputs of the round into the job: the values of ip for both players, and those of oop that differ. */
  function write() {
    const [oop, ip] = inputs.map((row) => Object.fromEntries(row.map(({ kind, input }) => [kind, input.value.trim()])));
    const both = same.checked ? oop : ip;
    const own = Object.fromEntries(Object.entries(oop).filter(([kind, text]) => !same.checked && text !== ip[kind]));
    const section = { ...both };
    const donks = donkSizes();
    if (donks !== undefined) section.donk = donks;
    if (Object.keys(own).length) section.oop = own;
    draft.set(key, section);
  }

  function donkSizes() {
    if (number === firstRound(draft)) return undefined;
    return { as: undefined, never: "", own: donkField.value.trim() || " " }[donk.value];
  }

  same.addEventListener("change", () => {
    const [oop, ip] = inputs;
    oop.forEach(({ input }, i) => (same.checked ? (ip[i].input.value = input.value) : null));
    layOut();
    write();
  });
  donk.addEventListener("change", () => {
    if (donk.value === "own" && !donkField.value.trim()) donkField.value = "50%";
    write();
  });
  donkField.addEventListener("input", write);

  const columns = SEAT_KEYS.map((seat, i) => el("div", { class: "size-column" }, el("b", {}), inputs[i].map((each) => each.node)));
  const donkRow = el("div", { class: "tools donk-row" }, el("label", { for: donk.id, title: "oop bets first into the player who bet or raised last on the round before" }, "donk bet"), donk, donkField);
  const donkNote = el("p", { class: "note" }, "A bet of oop is a donk bet here if ip raised last before the flop; let oop have other sizes, or none, to change it.");
  const node = el(
    "div",
    { class: "round-sizes" },
    el("div", { class: "tools" }, el("h2", {}, name), el("label", { class: "job-choice" }, same, " same for both players"), error),
    el("div", { class: "size-columns" }, columns),
    donkRow,
    donkNote,
  );

  function layOut() {
    columns[1].hidden = same.checked;
    fill(columns[0].firstChild, same.checked ? "" : "oop");
    fill(columns[1].firstChild, "ip");
    donkField.hidden = donk.value !== "own";
  }

  function refresh(first) {
    const [oop, ip] = SEAT_KEYS.map((seat) => effectiveSizes(draft, name, seat));
    const focused = node.contains(document.activeElement);
    if (!focused) {
      same.checked = SIZE_KEYS.every(([kind]) => oop[kind] === ip[kind]);
      for (const [i, sizes] of [oop, ip].entries()) for (const { input, kind } of inputs[i]) input.value = sizes[kind];
      donk.value = oop.donk === undefined ? "as" : oop.donk.trim() ? "own" : "never";
      donkField.value = oop.donk || "";
    }
    donkRow.hidden = first;
    donkNote.hidden = !first || name !== "flop";
    layOut();
    const message = ["bet", "raise", "donk"].map((kind) => draft.problem(`${key}.${kind}`)).find(Boolean) || draft.problem(key);
    for (const row of inputs) for (const { input, kind } of row) showFieldError(input, error, draft.problem(`${key}.${kind}`));
    if (error.textContent !== message) fill(error, message);
  }

  return { node, refresh };
}

/** Return the number of the round in which the job begins: 0 for the flop. */
function firstRound(draft) {
  const boards = draft.get("spot.boards");
  const board = Array.isArray(boards) ? boards[0] : draft.get("spot.board");
  return Math.min(2, Math.max(0, boardCards(board || "").length - 3));
}

/** Return the bet, raise and donk sizes of a player on a round; undefined donk sizes are the bet sizes. */
function effectiveSizes(draft, round, seat) {
  const names = ["preflop", ...ROUNDS];
  const bets = draft.get("bets") || {};
  const name = names.slice(0, names.indexOf(round) + 1).reverse().find((each) => bets[each]);
  const section = (name && bets[name]) || {};
  const own = section[seat] || {};
  const text = (value) => (value === undefined || value === null ? undefined : String(value));
  return {
    bet: text(own.bet) ?? text(section.bet) ?? "",
    raise: text(own.raise) ?? text(section.raise) ?? "",
    donk: text(own.donk) ?? text(section.donk),
  };
}

// The locks of a job: decisions where the whole range, or some hands, take each action with a given frequency.

const SEATS_OF_LOCK = ["oop", "ip"];

/** Make the fields for the locks of a draft; `add(lock)` adds a lock. */
function lockForm(draft) {
  const list = el("div", {});
  const node = el(
    "div",
    {},
    el(
      "p",
      { class: "note" },
      "A lock fixes how often hands take each action at one decision, and the solve finds how both players adapt to it. ",
      "Choose a decision in the betting tree, or open a solve, go to a decision and choose “Lock”.",
    ),
    list,
  );
  const decisions = new Map();
  draft.claim("lock");

  function add(lock) {
    draft.set("lock", [...(draft.get("lock") || []), lock]);
  }

  function change(number, lock) {
    const locks = [...(draft.get("lock") || [])];
    if (lock) locks[number] = lock;
    else locks.splice(number, 1);
    draft.set("lock", locks.length ? locks : undefined);
  }

  function refresh() {
    if (list.contains(document.activeElement) && document.activeElement.tagName === "INPUT") return showErrors();
    const locks = draft.get("lock");
    fill(list, Array.isArray(locks) ? locks.map((lock, number) => lockCard(lock, number)) : null);
    showErrors();
  }

  function showErrors() {
    const message = draft.problem("lock");
    const own = list.querySelector(".lock-error") || list.appendChild(el("p", { class: "field-error lock-error", role: "alert" }));
    if (own.textContent !== message) fill(own, message);
  }

  function lockCard(lock, number) {
    if (typeof lock === "string") return textCard(lock, number);
    const body = el("div", {}, el("p", { class: "note" }, "…"));
    const card = el("section", { class: "lock-card", "aria-label": `lock ${number + 1}` }, body);
    decisionAt(lock.line).then(
      (decision) => fill(body, lockRows(lock, number, decision)),
      (error) => fill(body, el("p", { class: "field-error" }, error.message), removeButton(number)),
    );
    return card;
  }

  /** Make the card of a lock that is written as text, such as `x: bet`. */
  function textCard(lock, number) {
    const field = el("input", { type: "text", size: 40, value: lock, "aria-label": `lock ${number + 1} as text`, spellcheck: "false" });
    field.addEventListener("input", () => change(number, field.value));
    return el("section", { class: "lock-card", "aria-label": `lock ${number + 1}` }, el("div", { class: "tools" }, field, removeButton(number)));
  }

  /** Ask for the decision after a line, in the job without locks; answers are kept while the job stays the same. */
  function decisionAt(line) {
    const data = { ...draft.data, lock: undefined };
    const key = JSON.stringify([line, data.game, data.unit, data.spot, data.bets, data.tree]);
    if (!decisions.has(key)) decisions.set(key, send("/api/setup/tree", { data, line }));
    return decisions.get(key);
  }

  function lockRows(lock, number, { words, root }) {
    const actions = root.actions || [];
    const labels = actions.map((action) => action.label);
    const board = el("input", { type: "text", size: 14, value: lock.board || "", placeholder: "every board", "aria-label": "board of the lock", spellcheck: "false" });
    board.addEventListener("input", () => change(number, withoutGaps({ ...draft.get("lock")[number], board: board.value.trim() || undefined })));
    const groups = Object.entries(lock.hands || {});
    return [
      el("div", { class: "tools" }, el("b", {}, `${SEATS_OF_LOCK[root.player]} ${roundText(root.round)}`), words ? ` after ${words}` : " at the start", removeButton(number)),
      el("label", { class: "job-choice" }, "board ", board),
      el(
        "div",
        { class: "scroll" },
        el(
          "table",
          { class: "lock-table" },
          el("thead", {}, el("tr", {}, el("th", {}, "hands"), actions.map((action) => el("th", {}, el("span", { class: "swatch", style: { "background-color": action.colour } }), `${action.words}, %`)), el("th", {}))),
          el(
            "tbody",
            {},
            lock.strategy === undefined ? null : frequencyRow("whole range", lock.strategy, labels, (value) => change(number, withoutGaps({ ...draft.get("lock")[number], strategy: value }))),
            groups.map(([name, value]) => groupRow(number, name, value, labels)),
          ),
        ),
      ),
      el(
        "div",
        { class: "tools" },
        lock.strategy === undefined ? smallButton("add the whole range", () => change(number, { ...lock, strategy: evenly(labels) })) : null,
        smallButton("add hands", () => change(number, { ...lock, hands: { ...lock.hands, [freeGroup(lock.hands, draft.get(`spot.${SEATS_OF_LOCK[root.player]}`))]: evenly(labels) } })),
      ),
    ];
  }

  function groupRow(number, name, value, labels) {
    const field = el("input", { type: "text", size: 12, value: name, "aria-label": "hands", spellcheck: "false", title: "for example QQ+,AKs or AsKs" });
    let current = name;
    const put = (next, frequencies) => {
      const lock = draft.get("lock")[number];
      const hands = Object.entries(lock.hands || {}).filter(([each]) => each !== current && each !== next);
      current = next === null ? current : next;
      const kept = next === null ? hands : [...hands, [next, frequencies]];
      change(number, withoutGaps({ ...lock, hands: kept.length ? Object.fromEntries(kept) : undefined }));
    };
    field.addEventListener("change", () => put(field.value.trim() || current, draft.get("lock")[number].hands[current]));
    return frequencyRow(field, value, labels, (frequencies) => (frequencies ? put(current, frequencies) : put(null)));
  }

  function frequencyRow(title, value, labels, changed) {
    const shares = labels.map((label, i) => (Array.isArray(value) ? value[i] : value[label]) || 0);
    const sum = el("span", { class: "note" });
    const inputs = labels.map((label, i) =>
      el("input", { type: "number", min: 0, max: 100, step: "any", value: percentOf(shares[i]), "aria-label": `frequency of ${label} in %`, oninput: () => update() }),
    );
    function update() {
      const frequencies = inputs.map((input) => Number((Number(input.value) / 100).toFixed(8)));
      tellSum(frequencies);
      changed(Object.fromEntries(labels.map((label, i) => [label, frequencies[i]])));
    }
    function tellSum(frequencies) {
      const total = frequencies.reduce((before, each) => before + each, 0);
      fill(sum, Math.abs(total - 1) < 1e-6 ? "" : `sum ${percentOf(total)} %`);
    }
    tellSum(shares);
    const remove = smallButton("×", () => changed(undefined), { "aria-label": "remove this row" });
    return el("tr", {}, el("th", { scope: "row" }, title), inputs.map((input) => el("td", {}, input)), el("td", {}, sum, " ", remove));
  }

  function removeButton(number) {
    return smallButton("remove the lock", () => change(number, null));
  }

  return { node, refresh, add };
}

/** Return equal frequencies of actions. */
function evenly(labels) {
  return exactShares(labels, labels.map(() => 1 / labels.length));
}

/** Return frequencies by action, rounded to four decimals so that they sum to 1. */
function exactShares(labels, shares) {
  const rounded = shares.map((share) => Math.round(1e4 * (share || 0)));
  const largest = rounded.indexOf(Math.max(...rounded));
  rounded[largest] += 1e4 - rounded.reduce((sum, each) => sum + each, 0);
  return Object.fromEntries(labels.map((label, i) => [label, rounded[i] / 1e4]));
}

function percentOf(share) {
  return Number((100 * share).toFixed(4));
}

/** Return the first group in the text of a range that has no row yet. */
function freeGroup(hands, range) {
  const groups = String(range || "").match(/\b[AKQJT2-9]{2}[so]?\b/g) || [];
  return groups.find((name) => !(name in (hands || {}))) || "AA";
}

function withoutGaps(lock) {
  return Object.fromEntries(Object.entries(lock).filter(([, value]) => value !== undefined));
}
