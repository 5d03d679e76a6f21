/** Shows the single hands of a hand class by their suits, and lets a user change their weights. */

import { el } from "./dom.js";
import { SUITS, cardList, cardNode } from "./cards.js";
import { percent } from "./format.js";

/**
 * Make a table of the hands of a class: rows are suits of the first card, columns are suits of the second.
 * @param {string} name the class, such as AKo.
 * @param {Array<string>} hands its hands.
 * @param {object} options `weight(hand)`: its weight; `blocked`: cards that no hand can hold; `pick(hand)`: called for a
 *   click.
 */
export function suitTable(name, hands, { weight, blocked, pick }) {
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
