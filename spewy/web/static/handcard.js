/** A card with the hands of one class, beside the grid's cell under the pointer or with the focus. */

import { el, fill } from "./dom.js";
import { cardList, cardNode } from "./cards.js";
import { amount, percent, weight } from "./format.js";
import { classOf } from "./grid.js";

const GAP = 8;

/**
 * Make an element for the card, and a function `point(name, cell)` that shows a hand class beside a cell of the grid; the
 * name null hides the card. Style sheets put the card below the grid on narrow screens.
 * @param {object} view one player's hands, as the server's position has them.
 */
export function handCard(view) {
  const node = el("div", { class: "hand-card", hidden: true });

  function point(name, cell) {
    const rows = name ? Object.entries(view.hands).filter(([hand, row]) => classOf(hand) === name && row.reach > 0) : [];
    node.hidden = !rows.length;
    if (!rows.length) return;
    fill(node, table(view, name, rows));
    place(node, cell.getBoundingClientRect());
  }

  return { node, point };
}

function table(view, name, rows) {
  const numbers = Object.fromEntries(Object.keys(view.hands).map((hand, number) => [hand, number]));
  const columns = ["reach", ...view.words.map((word, i) => [swatch(view, i), word])];
  return el(
    "table",
    {},
    el("thead", {}, el("tr", {}, [name, ...columns, "EV", ""].map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, rows.map(([hand, row]) => line(view, hand, row, numbers[hand]))),
  );
}

function line(view, hand, row, number) {
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, cardList(hand).map(cardNode)),
    el("td", {}, weight(row.reach)),
    row.strategy.map((share) => el("td", {}, percent(share, 0))),
    el("td", {}, amount(row.ev)),
    el("td", { class: "kind" }, view.kinds ? view.kinds[number] : ""),
  );
}

function swatch(view, i) {
  return el("span", { class: "swatch", style: { "background-color": view.colours[i] } });
}

/** Put the card to the right of a cell or, if there is no room, to the left; style sheets ignore this where it is static. */
function place(node, cell) {
  node.style.setProperty("left", "0px"); // where the card has room for its whole width
  const card = node.getBoundingClientRect();
  const right = cell.right + GAP + card.width <= innerWidth;
  const left = right ? cell.right + GAP : cell.left - GAP - card.width;
  const top = Math.min(cell.top, innerHeight - card.height - GAP);
  node.style.setProperty("left", `${Math.max(GAP, left)}px`);
  node.style.setProperty("top", `${Math.max(GAP, top)}px`);
}
