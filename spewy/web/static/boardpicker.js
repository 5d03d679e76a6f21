/** Chooses the board of a job: one board, several boards, or flops that represent all flops. */

import { el, fill } from "./dom.js";
import { RANKS, SUITS, boardCards, boardNode, cardTable } from "./cards.js";
import { showFieldError } from "./jobfields.js";

const KINDS = [
  ["one", "one board"],
  ["flops", "flops that represent all 1,755"],
  ["list", "several boards"],
];
const MOST_CARDS = 5;
const USUAL_SUBSET = 25;

/** Make the board picker of a draft; `renamed(old, new)` is called with the cards before and after a change. */
export function boardPicker(draft, renamed) {
  const table = el("div");
  const chosen = el("div", { class: "board-chosen" });
  const error = el("span", { class: "field-error", role: "alert", id: "board-error" });
  const field = el("input", { id: "board-text", size: 16, autocomplete: "off", spellcheck: "false", "aria-describedby": error.id });
  const subset = el("input", { id: "board-subset", type: "number", min: 1, max: 1755, size: 5 });
  const list = el("textarea", { id: "board-list", rows: 3, spellcheck: "false", placeholder: "Ks 7h 2d, Qs Jh 2h" });
  const kinds = KINDS.map(([value, text]) => {
    const input = el("input", { type: "radio", name: "board-kind", value, onchange: () => chooseKind(value) });
    return { value, input, node: el("label", { class: "job-choice" }, input, " ", text) };
  });
  const one = el(
    "div",
    {},
    el("div", { class: "tools" }, chosen, el("label", { for: field.id }, "cards"), field, smallButton("random flop", randomFlop), smallButton("clear", () => setBoard(""))),
    table,
  );
  const many = el("div", { class: "tools" }, el("label", { for: subset.id }, "number of flops"), subset, el("span", { class: "note" }, "each is solved for itself and has a weight; reports add them up"));
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
    const isEmpty = now === "one" && !draft.get("spot.board");
    showFieldError({ one: field, flops: subset, list }[now], error, message && isEmpty ? "choose three to five cards" : message);
    if (now === "flops" && document.activeElement !== subset) subset.value = draft.get("spot.boards.subset");
    if (now === "list" && document.activeElement !== list) list.value = draft.get("spot.boards").join(", ");
    if (now !== "one") return;
    const text = draft.get("spot.board") || "";
    const cards = boardCards(text);
    if (document.activeElement !== field) field.value = text;
    fill(chosen, cards.length ? boardNode(cards.join("")) : el("span", { class: "note" }, "pick three to five cards"));
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

/** Make a small button. */
export function smallButton(text, onclick, attributes = {}) {
  return el("button", { type: "button", class: "small", onclick, ...attributes }, text);
}

function boardNames(text) {
  return text
    .split(/[,\n]/)
    .map((each) => each.trim())
    .filter(Boolean);
}
