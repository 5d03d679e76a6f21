/** A map of cards, 13 ranks wide and 4 suits high, coloured by a quantity of a report. */

import { el } from "./dom.js";
import { RANKS, SUITS, cardNode } from "./cards.js";
import { known } from "./format.js";
import { rescaled, scaleColour } from "./scale.js";

/**
 * Make the map of cards for a report, coloured by one of its quantities.
 * @param {object} report report over single cards.
 * @param {Array<object>} rows its rows.
 * @param {object} quantity one of `reportQuantities`.
 * @param {function} open called with the row of a card for a click.
 */
export function cardHeat(report, rows, quantity, open) {
  const byCard = Object.fromEntries(rows.map((row) => [row.name, row]));
  const ranks = [...RANKS].filter((rank) => rows.some((row) => row.name[0] === rank));
  const suits = [...SUITS].filter((suit) => rows.some((row) => row.name[1] === suit));
  const share = quantity.id === "mix" ? null : rescaled(rows.map(quantity.value).filter(known));
  return el(
    "div",
    { class: "heat-cards", role: "group", "aria-label": `cards by ${quantity.title}`, style: { "grid-template-columns": `repeat(${ranks.length}, minmax(0, 3.6rem))` } },
    suits.flatMap((suit) => ranks.map((rank) => heatCard(report, byCard[rank + suit], rank + suit, quantity, share, open))),
  );
}

function heatCard(report, row, card, quantity, share, open) {
  if (!row) return el("span", { class: "heat-card absent" }, cardNode(card));
  const value = quantity.id === "mix" ? null : quantity.value(row);
  const text = quantity.id === "mix" ? "" : quantity.text(value);
  const look = share && known(value) ? scaleColour(share(value)) : null;
  const style = look ? { "background-color": look.colour, color: look.ink } : { "background-image": mixStripes(report, row) };
  const told = quantity.id === "mix" ? report.action_words.map((word, i) => `${word} ${heatShare(row.frequencies[i])}`).join(", ") : `${quantity.title} ${text}`;
  return el(
    "button",
    { type: "button", class: "heat-card", "data-card": card, style, disabled: row.weight === null || row.weight === 0, title: told, "aria-label": `${card}: ${told}`, onclick: () => open(row) },
    cardNode(card),
    known(value) ? el("span", { class: "heat-number" }, quantity.brief(value)) : null,
  );
}

function heatShare(share) {
  return known(share) ? `${(100 * share).toFixed(0)}%` : "–";
}

function mixStripes(report, row) {
  let start = 0;
  const stops = row.frequencies.map((share, i) => {
    const stop = `${report.colours[i]} ${(100 * start).toFixed(1)}% ${(100 * (start + share)).toFixed(1)}%`;
    start += share || 0;
    return stop;
  });
  return stops.length ? `linear-gradient(to right, ${stops.join(", ")})` : "none";
}
