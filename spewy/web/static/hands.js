/** A table of single hands: reach, frequencies, EV of each action, EV and equity. */

import { el, fill } from "./dom.js";
import { cardList, cardNode } from "./cards.js";
import { amount, known, percent, weight } from "./format.js";
import { classOf } from "./grid.js";
import { growList } from "./growing.js";

const ROWS_AT_ONCE = 30;

/** Columns of numbers that a solve may not know: title, key of a hand's row, and function that writes a number. */
const HAND_FIGURES = [
  ["EV", "ev", amount],
  ["equity", "equity", percent],
  ["realised", "realisation", (share) => percent(share, 0)],
  ["regret", "regret", amount],
];

/**
 * Make a table of the hands of one class, or of all hands.
 * @param {object} view one player's hands, as the server's position has them.
 * @param {string|null} name hand class; null for all hands with reach.
 */
export function handTable(view, name) {
  const all = Object.entries(view.hands).map(([hand, row], number) => [hand, row, number]);
  const rows = all.filter(([hand, row]) => (name ? classOf(hand) === name : row.reach > 0));
  const figures = HAND_FIGURES.filter(([, key]) => rows.some(([, row]) => known(row[key])));
  const head = [
    ["hand"],
    ...(view.kinds ? [["made hand, draws", "kind"]] : []),
    ...["reach", ...view.words, ...figures.map(([title]) => title)].map((title) => [title]),
  ];
  if (!rows.length) return el("p", { class: "note" }, name ? `no hand of ${name} comes here` : "no hand comes here");
  const body = el("tbody");
  const more = el("div", { class: "more-hands" });
  const scroll = el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "hands" },
    el(
      "table",
      { class: "hands" },
      el("thead", {}, el("tr", {}, head.map(([title, kind]) => el("th", { scope: "col", class: kind }, title)))),
      body,
    ),
    more,
  );
  const addAll = growList(scroll, body, rows.length, (place) => handRow(view, figures, rows[place]), {
    step: ROWS_AT_ONCE,
    grown: (left) =>
      fill(more, left ? el("button", { type: "button", onclick: () => addAll() }, `show all ${rows.length} hands`) : null),
  });
  return scroll;
}

function handRow(view, figures, [hand, row, number]) {
  return el(
    "tr",
    { "data-row": hand },
    el("th", { scope: "row" }, cardList(hand).map(cardNode)),
    view.kinds ? el("td", { class: "kind" }, view.kinds[number]) : null,
    el("td", {}, weight(row.reach)),
    row.strategy.map((share, i) => actionCell(view, row, share, i)),
    figures.map(([, key, write]) => el("td", {}, write(row[key]))),
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
    el(
      "span",
      { class: "mix-text" },
      percent(share),
      known(row.action_ev[number]) ? [" ", el("small", {}, amount(row.action_ev[number]))] : null,
    ),
  );
}
