/** Edits a range on the grid of 13 x 13 hand classes: painting with a weight, text, presets, and the suits of a class. */

import { el, fill } from "./dom.js";
import { RANKS, SUITS, boardCards, cardList, cardNode } from "./cards.js";
import { formationOf, twoSteps } from "./formations.js";
import { percent } from "./format.js";
import { className } from "./grid.js";
import { showFieldError, smallButton } from "./job.js";
import { send } from "./source.js";

const TEXT_MS = 300;
const SUIT_ORDER = "cdhs";

/**
 * Make the editor of one player's range.
 * @param {object} draft the draft.
 * @param {object} options `seat`: `"oop"` or `"ip"`; `title`; `choices`: promise of ranges `{about, text}` to choose from.
 */
export function rangeEditor(draft, { seat, title, choices }) {
  const key = `spot.${seat}`;
  const range = { hands: new Map(), text: null, board: null, found: null, chosen: "AA", asked: 0, timer: null, painting: null };
  const error = el("span", { class: "field-error", role: "alert", id: `range-${seat}-error` });
  const summary = el("span", { class: "note" });
  const field = el("textarea", { id: `range-${seat}`, rows: 7, spellcheck: "false", "aria-describedby": error.id });
  const weight = el("input", { id: `weight-${seat}`, type: "range", min: 0, max: 100, step: 5, value: 100 });
  const weightText = el("output", { for: weight.id }, "100 %");
  const top = el("input", { id: `top-${seat}`, type: "range", min: 0, max: 100, step: 0.5, value: 0 });
  const topText = el("output", { for: top.id }, "");
  const preset = twoSteps({ id: `choice-${seat}`, label: `preset of ${seat}`, picked: (text) => draft.set(key, text) });
  const byText = new Map(); // texts of presets by their groups in one line
  const cells = {};
  const grid = rangeGrid();
  const detail = el("div", { class: "range-detail" });

  draft.claim(key);
  field.addEventListener("input", () => draft.set(key, field.value || undefined));
  weight.addEventListener("input", () => fill(weightText, `${weight.value} %`));
  top.addEventListener("input", () => {
    fill(topText, percent(Number(top.value) / 100));
    draft.set(key, Number(top.value) ? `${top.value}%` : undefined);
  });
  choices
    .then((ranges) => {
      for (const { text } of ranges) byText.set(oneLine(text), text);
      preset.offer(ranges.map(({ about, text }) => ({ ...inParts(about), value: text })));
      showPreset();
    })
    .catch(() => {});

  function inParts(about) {
    const { group, title, owner } = formationOf(about);
    return { group, title, part: owner };
  }

  function showPreset() {
    preset.show(byText.get(oneLine(String(draft.get(key) ?? ""))) || "", "choose a range …");
  }

  function rangeGrid() {
    const table = el("div", { class: "grid range-grid", role: "grid", "aria-label": `${title}: weights of hands` });
    for (let row = 0; row < 13; row++) {
      const line = el("div", { class: "grid-row", role: "row" });
      for (let column = 0; column < 13; column++) {
        const name = className(row, column);
        cells[name] = el(
          "div",
          { class: "cell", role: "gridcell", tabindex: name === "AA" ? "0" : "-1", "data-class": name, onfocus: () => choose(name) },
          el("span", { class: "cell-name" }, name),
          el("span", { class: "cell-number" }),
        );
        line.append(cells[name]);
      }
      table.append(line);
    }
    table.addEventListener("pointerdown", startPainting);
    table.addEventListener("pointermove", (event) => range.painting && paintAt(event));
    for (const end of ["pointerup", "pointercancel"]) table.addEventListener(end, stopPainting);
    table.addEventListener("keydown", obeyKey);
    return table;
  }

  function brush() {
    return Number(weight.value) / 100;
  }

  function startPainting(event) {
    const name = classUnder(event);
    if (!name || event.button) return;
    event.preventDefault();
    grid.setPointerCapture(event.pointerId);
    cells[name].focus({ preventScroll: true });
    const full = handsOf(name).every((hand) => (range.hands.get(hand) || 0) === brush());
    range.painting = { value: full ? 0 : brush(), done: new Set() };
    paintAt(event);
  }

  function paintAt(event) {
    const name = classUnder(event);
    if (!name || range.painting.done.has(name)) return;
    range.painting.done.add(name);
    paintClass(name, range.painting.value);
  }

  function stopPainting() {
    if (!range.painting) return;
    range.painting = null;
    commit();
  }

  function classUnder(event) {
    const under = document.elementFromPoint(event.clientX, event.clientY);
    const cell = under && under.closest("[data-class]");
    return cell && grid.contains(cell) ? cell.dataset.class : null;
  }

  function paintClass(name, value) {
    for (const hand of handsOf(name)) putWeight(hand, value);
    drawCell(name);
    if (range.chosen === name) drawDetail();
  }

  function putWeight(hand, value) {
    if (value) range.hands.set(hand, value);
    else range.hands.delete(hand);
  }

  function obeyKey(event) {
    const name = document.activeElement.dataset.class;
    if (!name || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (step) moveTo(name, step);
    else if (event.key === "Enter" || event.key === " ") paintKey(name, handsOf(name).every((hand) => (range.hands.get(hand) || 0) === brush()) ? 0 : brush());
    else if (/^[0-9]$/.test(event.key)) paintKey(name, Number(event.key) / 10);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function paintKey(name, value) {
    paintClass(name, value);
    commit();
  }

  function moveTo(name, [down, right]) {
    const [row, column] = placeOf(name);
    const next = cells[className(Math.min(12, Math.max(0, row + down)), Math.min(12, Math.max(0, column + right)))];
    cells[name].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  function choose(name) {
    cells[range.chosen].tabIndex = -1;
    cells[range.chosen].removeAttribute("aria-selected");
    range.chosen = name;
    cells[name].tabIndex = 0;
    cells[name].setAttribute("aria-selected", "true");
    drawDetail();
  }

  function drawDetail() {
    const name = range.chosen;
    const pick = (hand) => {
      putWeight(hand, range.hands.get(hand) === brush() ? 0 : brush());
      drawCell(name);
      drawDetail();
      detail.querySelector(`[data-combo="${hand}"]`).focus();
      commit();
    };
    const blocked = boardCards(draft.get("spot.board"));
    fill(detail, suitTable(name, handsOf(name), { weight: (hand) => range.hands.get(hand) || 0, blocked, pick }));
  }

  /** Let the server write the text of the painted range. */
  async function commit() {
    const number = ++range.asked;
    const hands = Object.fromEntries(range.hands);
    const found = await send("/api/range", { hands, board: draft.get("spot.board") || "" }).catch(() => null);
    if (!found || found.error || number !== range.asked) return;
    range.text = found.text;
    range.board = draft.get("spot.board") || "";
    showSummary(found);
    draft.set(key, found.text || undefined);
  }

  /** Ask the server for the hands of the text. */
  async function read(text, board) {
    const number = ++range.asked;
    const found = text.trim() ? await send("/api/range", { text, board }).catch(() => null) : { hands: {}, combos: 0, share: 0, live: 0 };
    if (number !== range.asked || range.painting) return;
    if (!found || found.error) return showStale();
    range.hands = new Map(Object.entries(found.hands));
    for (const name of Object.keys(cells)) drawCell(name);
    drawDetail();
    showSummary(found);
  }

  /** Show that the grid and the counts are not those of the text, which cannot be read. */
  function showStale() {
    fill(summary);
    grid.classList.add("stale");
  }

  function showSummary(found) {
    const { combos, share, live } = found;
    range.found = found;
    grid.classList.remove("stale");
    if (!isShare(String(draft.get(key) ?? ""))) showTop(share);
    const rest = live < combos ? `, ${live.toFixed(1)} on this board` : "";
    fill(summary, `${combos.toFixed(1)} hands, ${percent(share)} of all${rest}`);
  }

  /** Put the slider of the best hands where as many hands are in the range. */
  function showTop(share) {
    if (document.activeElement === top) return;
    top.value = 100 * share;
    fill(topText, percent(share));
  }

  function drawCell(name) {
    const held = handsOf(name).map((hand) => range.hands.get(hand) || 0);
    const mean = held.reduce((sum, each) => sum + each, 0) / held.length;
    const some = held.some((each) => each !== held[0]);
    const number = mean > 0 && (mean < 1 || some) ? (100 * mean).toFixed(0) : "";
    const cell = cells[name];
    cell.style.setProperty("--weight", `${(100 * mean).toFixed(1)}%`);
    cell.classList.toggle("empty", !mean);
    cell.classList.toggle("uneven", some);
    fill(cell.lastChild, number);
    cell.setAttribute("aria-label", `${name}: ${mean ? percent(mean, 0) : "not in the range"}${some ? ", suits differ" : ""}`);
    cell.title = cell.getAttribute("aria-label");
  }

  function refresh() {
    const text = String(draft.get(key) ?? "");
    const board = draft.get("spot.board") || "";
    if (document.activeElement !== field) field.value = text.trim();
    const message = draft.problem(key);
    showFieldError(field, error, message);
    if (message) showStale();
    else if (range.found) showSummary(range.found);
    showPreset();
    if (isShare(text)) showTop(Number.parseFloat(text) / 100);
    if (text === range.text && board === range.board) return;
    const typed = range.text !== null && document.activeElement === field;
    range.text = text;
    range.board = board;
    range.found = null;
    clearTimeout(range.timer);
    range.timer = setTimeout(() => read(text, board), typed ? TEXT_MS : 0);
  }

  drawDetail();
  for (const name of Object.keys(cells)) drawCell(name);
  const node = el(
    "section",
    { class: "range-editor", "aria-label": title },
    el("h2", {}, title, " ", summary),
    el("div", { class: "tools" }, el("label", { for: `choice-${seat}-group` }, "preset"), preset.nodes[0], smallButton("clear", () => draft.set(key, undefined)), preset.nodes[1]),
    el("div", { class: "tools" }, el("label", { for: top.id }, "best hands"), top, topText),
    el("div", { class: "tools" }, el("label", { for: weight.id }, "paint with"), weight, weightText),
    grid,
    el("p", { class: "note" }, "Drag over hands to paint them. Keys: arrows move, Enter paints, 1 to 9 set 10 to 90 %, 0 removes."),
    detail,
    el("label", { for: field.id }, "as text"),
    field,
    error,
  );
  return { node, refresh };
}

/** Whether the text of a range is a share of the best hands, such as 6.5%. */
function isShare(text) {
  return /^\d+(?:\.\d+)?%$/.test(text.trim());
}

function oneLine(text) {
  return text.replace(/\s+/g, "");
}

/** Return the names of the hands of a class, such as AsKs of AKs; the higher card comes first. */
function handsOf(name) {
  const [high, low, kind] = name;
  const found = [];
  for (const first of SUIT_ORDER)
    for (const second of SUIT_ORDER) {
      const pair = high === low;
      const wanted = pair ? SUIT_ORDER.indexOf(first) > SUIT_ORDER.indexOf(second) : (first === second) === (kind === "s");
      if (wanted) found.push(high + first + low + second);
    }
  return found;
}

function placeOf(name) {
  const high = RANKS.indexOf(name[0]);
  const low = RANKS.indexOf(name[1]);
  return name[2] === "o" ? [low, high] : [high, low];
}

// Shows the single hands of a hand class by their suits, and lets a user change their weights.

/**
 * Make a table of the hands of a class: rows are suits of the first card, columns are suits of the second.
 * @param {string} name the class, such as AKo.
 * @param {Array<string>} hands its hands.
 * @param {object} options `weight(hand)`: its weight; `blocked`: cards that no hand can hold; `pick(hand)`: called for a
 *   click.
 */
function suitTable(name, hands, { weight, blocked, pick }) {
  const [firsts, seconds] = [1, 3].map((place) => [...SUITS].filter((suit) => hands.some((hand) => hand[place] === suit)));
  const rows = firsts.map((first) =>
    el(
      "div",
      { class: "suit-row" },
      seconds.map((second) => {
        const hand = hands.find((each) => each[1] === first && each[3] === second);
        return hand ? comboButton(hand, { weight, blocked, pick }) : el("span", { class: "combo none" });
      }),
    ),
  );
  return el("div", { class: "suit-table", role: "group", "aria-label": `hands of ${name}` }, el("b", {}, name), el("div", {}, rows));
}

function comboButton(hand, { weight, blocked, pick }) {
  const cards = cardList(hand);
  const isBlocked = cards.some((card) => blocked.includes(card));
  const share = weight(hand);
  const text = isBlocked ? "blocked" : share ? percent(share, 0) : "–";
  return el(
    "button",
    {
      type: "button",
      class: `combo${share ? " held" : ""}${isBlocked ? " blocked" : ""}`,
      "data-combo": hand,
      "aria-label": `${hand}: ${isBlocked ? "blocked by the board, " : ""}weight ${percent(share, 0)}`,
      style: { "--weight": `${100 * share}%` },
      onclick: () => pick(hand),
    },
    cards.map(cardNode),
    el("small", {}, text),
  );
}
