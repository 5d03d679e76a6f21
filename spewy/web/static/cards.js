/** Shows cards in four colours, and lets a user pick cards from a deck. */

import { el } from "./dom.js";

export const RANKS = "AKQJT98765432";
export const SUITS = "shdc";
const SIGNS = { s: "♠", h: "♥", d: "♦", c: "♣" };
const SUIT_NAMES = { s: "of spades", h: "of hearts", d: "of diamonds", c: "of clubs" };

/** Split the names of cards, such as `QsJh2h`, into a list. */
export function cardList(text) {
  return (text || "").match(/[2-9TJQKA][cdhs]/g) || [];
}

/** Split a board that a user typed, such as `qs, J♥ 2h`, into a list of the names of its cards. */
export function boardCards(text) {
  const letters = Object.fromEntries(Object.entries(SIGNS).map(([letter, sign]) => [sign, letter]));
  const typed = (text || "").match(/[2-9TJQKA][cdhs♣♦♥♠]/gi) || [];
  return typed.map((card) => card[0].toUpperCase() + (letters[card[1]] || card[1].toLowerCase()));
}

/** Write cards with the signs of their suits. */
export function cardText(text) {
  return cardList(text)
    .map((card) => card[0] + SIGNS[card[1]])
    .join(" ");
}

/** Make an element for one card. */
export function cardNode(card) {
  return el(
    "span",
    { class: `card suit-${card[1]}`, role: "img", "aria-label": `${card[0]} ${SUIT_NAMES[card[1]]}` },
    card[0],
    SIGNS[card[1]],
  );
}

/** Make an element for several cards. */
export function boardNode(text) {
  return el("span", { class: "board" }, cardList(text).map(cardNode));
}

/**
 * Make a table of the 52 cards from which a user picks one.
 * @param {object} options `enabled(card)`: whether the card can be picked; `pressed(card)`: whether it is picked now;
 *   `pick(card)`: called for a click; `fill(card)`: optional `{colour, text}` of the card's cell; `label`: its name.
 */
export function cardTable({ enabled, pressed = () => false, pick, fill: cellFill = () => null, label }) {
  const rows = [...SUITS].map((suit) =>
    el(
      "div",
      { class: "card-row" },
      [...RANKS].map((rank) => {
        const card = rank + suit;
        const look = cellFill(card);
        return el(
          "button",
          {
            type: "button",
            class: `card pick suit-${suit}`,
            disabled: !enabled(card),
            "aria-pressed": pressed(card) ? "true" : "false",
            "aria-label": `${rank} ${SUIT_NAMES[suit]}${look ? `: ${look.text}` : ""}`,
            title: look ? look.text : null,
            "data-card": card,
            style: look ? { background: look.colour, color: look.ink } : {},
            onclick: () => pick(card),
          },
          rank,
          SIGNS[suit],
        );
      }),
    ),
  );
  return el("div", { class: "card-table", role: "group", "aria-label": label }, rows);
}
