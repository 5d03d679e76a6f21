/** A table of single hands: reach, frequencies, EV of each action, EV and equity. */

import { el } from "./dom.js";
import { cardList, cardNode } from "./cards.js";
import { amount, percent, weight } from "./format.js";
import { classOf } from "./grid.js";

/**
 * Make a table of the hands of one class, or of all hands.
 * @param {object} view one player's hands, as the server's position has them.
 * @param {string|null} name hand class; null for all hands with reach.
 * @param {number} most largest number of rows.
 */
export function handTable(view, name, most = 200) {
  const all = Object.entries(view.hands).map(([hand, row], number) => [hand, row, number]);
  const rows = all.filter(([hand, row]) => (name ? classOf(hand) === name : row.reach > 0));
  const head = ["hand", "made hand, draws", "reach", ...view.words, "EV", "equity", "realised", "regret"];
  const body = rows
    .slice(0, most)
    .map(([hand, row, number]) =>
      el(
        "tr",
        { "data-row": hand },
        el("th", { scope: "row" }, cardList(hand).map(cardNode)),
        el("td", { class: "kind" }, view.kinds ? view.kinds[number] : ""),
        el("td", {}, weight(row.reach)),
        row.strategy.map((share, i) => actionCell(view, row, share, i)),
        el("td", {}, amount(row.ev)),
        el("td", {}, percent(row.equity)),
        el("td", {}, percent(row.realisation, 0)),
        el("td", {}, amount(row.regret)),
      ),
    );
  const more = rows.length > most ? el("p", { class: "note" }, `and ${rows.length - most} more hands`) : null;
  if (!rows.length) return el("p", { class: "note" }, name ? `no hand of ${name} comes here` : "no hand comes here");
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "hands" },
    el(
      "table",
      { class: "hands" },
      el("thead", {}, el("tr", {}, head.map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, body),
    ),
    more,
  );
}

function actionCell(view, row, share, number) {
  return el(
    "td",
    { class: "mix" },
    el("span", {
      class: "bar",
      style: { width: `${(100 * share).toFixed(1)}%`, "background-color": view.colours[number] },
    }),
    el("span", { class: "mix-text" }, percent(share), " ", el("small", {}, amount(row.action_ev[number]))),
  );
}
