/** The bet sizes of a job by round and player. */

import { el, fill } from "./dom.js";
import { boardCards } from "./cards.js";
import { showFieldError } from "./jobfields.js";

const ROUNDS = ["flop", "turn", "river"];
const SEAT_KEYS = ["oop", "ip"];
const SIZE_KEYS = [
  ["bet", "bet", "33%, 75%"],
  ["raise", "raise", "60%, 2.5x"],
];
const DONKS = [
  ["as", "the bet sizes"],
  ["never", "never"],
  ["own", "own sizes:"],
];

/** Make the fields for bet sizes; a round that the job does not name has the sizes of the round before. */
export function sizesForm(draft) {
  const rounds = ROUNDS.map((name, number) => roundSizes(draft, name, number));
  draft.claim("bets");
  const error = el("span", { class: "field-error", role: "alert" });
  const node = el(
    "div",
    {},
    el(
      "p",
      { class: "note" },
      "Separate sizes by commas: 60% of the pot, 2.5x the bet faced (raises only), ",
      el("span", { class: "unit-example" }, "2.5bb"),
      ", a for all-in, e for the share that ends all-in on the river if it is bet on every round. Empty: never.",
    ),
    rounds.map((round) => round.node),
    error,
  );
  const donks = new Map();

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
    if (!draft.get("spot.boards") && ![3, 4, 5].includes(boardCards(draft.get("spot.board") || "").length)) return;
    fitDonks(firstRound(draft));
    fill(node.querySelector(".unit-example"), draft.get("unit") === "bb" ? "2.5bb" : "100c");
    const first = firstRound(draft);
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
  const donkRow = el("div", { class: "tools donk-row" }, el("label", { for: donk.id }, "oop bets into the last aggressor with"), donk, donkField);
  const node = el(
    "div",
    { class: "round-sizes" },
    el("div", { class: "tools" }, el("h2", {}, name), el("label", { class: "job-choice" }, same, " same for both players")),
    el("div", { class: "size-columns" }, columns),
    donkRow,
    error,
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
    layOut();
    const message = ["bet", "raise", "donk"].map((kind) => draft.problem(`${key}.${kind}`)).find(Boolean) || draft.problem(key);
    for (const row of inputs) for (const { input, kind } of row) showFieldError(input, error, draft.problem(`${key}.${kind}`));
    if (error.textContent !== message) fill(error, message);
  }

  return { node, refresh };
}

/** Return the number of the round in which the job begins: 0 for the flop. */
export function firstRound(draft) {
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
