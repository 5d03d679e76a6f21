/** A table of rows of hands: which hands share a row, and how each row plays. */

import { el } from "./dom.js";
import { classOf, gridNode } from "./grid.js";
import { amount, known, percent } from "./format.js";
import { scaleColour } from "./scale.js";
import { sortTable } from "./sorttable.js";

const SEATS_OF_ROWS = ["oop", "ip"];
const rowOrder = { column: "place", ascending: true };

/**
 * Make a map and a table of a player's rows.
 * @param {Array<object>} rows the server's rows, that with the least equity first.
 * @param {object} view the player's hands in the position.
 * @param {object} options `selected`: a hand class, or null; `pick(name)`: called with a hand class.
 */
export function handRowsNodes(rows, view, { selected, pick }) {
  const seat = SEATS_OF_ROWS[view.player];
  const placed = rows.map((row, place) => ({ ...row, place }));
  const shown = selected ? placed.filter((row) => row.hands.some((hand) => classOf(hand) === selected)) : placed;
  const every = selected ? el("button", { type: "button", onclick: () => pick("") }, `all rows of ${seat}, not only those of ${selected}`) : null;
  return [
    el("h3", {}, `Rows of ${seat}: ${rows.length}`),
    view.grid ? rowGrid(placed, view, { selected, pick }) : null,
    el("div", { class: "tools" }, every),
    rowTable(shown, view),
  ];
}

function rowTable(rows, view) {
  const columns = [
    { id: "place", title: "row", head: true, value: (row) => row.place, text: (row) => String(row.number) },
    { id: "count", title: "hands", value: (row) => row.hands.length, text: (row) => String(row.hands.length) },
    { id: "reach", title: "in the range", value: (row) => row.reach, text: (row) => amount(row.reach) },
    { id: "equity", title: "equity", value: (row) => row.equity, text: (row) => percent(row.equity) },
    ...view.words.map((word, i) => ({ id: word, title: word, value: (row) => row.strategy[i], text: (row) => percent(row.strategy[i]) })),
    { id: "text", title: "which hands", value: (row) => row.text, text: (row) => el("span", { class: "row-hands" }, row.text) },
  ];
  return sortTable(rows, columns, { order: rowOrder, label: `rows of ${SEATS_OF_ROWS[view.player]}`, most: 60 });
}

function rowGrid(rows, view, options) {
  const values = Array.from({ length: 13 }, () => Array(13).fill(null));
  const byClass = {};
  for (const row of rows) for (const hand of row.hands) (byClass[classOf(hand)] ||= new Set()).add(row);
  const paint = (name) => (byClass[name] ? rowPaint([...byClass[name]], rows.length) : null);
  const grid = gridNode(null, { ...options, label: `rows of ${SEATS_OF_ROWS[view.player]} by hand class`, paint });
  return el("div", { class: "row-grid" }, grid, el("p", { class: "note" }, "The number of a cell is the row of its hands; ×2 means two rows. Dark rows have little equity, yellow rows have much."));
}

function rowPaint(found, count) {
  const mean = found.reduce((total, row) => total + row.place, 0) / found.length;
  const numbers = found.map((row) => row.number).join(", ");
  const { colour, ink } = scaleColour(count > 1 ? mean / (count - 1) : 0.5);
  const equities = found.map((row) => row.equity).filter(known).map((share) => percent(share, 0));
  return { colour, ink, number: found.length > 1 ? `×${found.length}` : String(found[0].number), text: `row ${numbers}${equities.length ? `, equity ${equities.join(", ")}` : ""}` };
}
