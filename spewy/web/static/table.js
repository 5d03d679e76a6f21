/** Draws a poker table, the buttons of actions and the grade of a loss, for the pages on which people play and train. */

import { el } from "./dom.js";
import { boardNode, cardList, cardText } from "./cards.js";
import { chips, known, percent } from "./format.js";
import { store, stored } from "./page.js";

/** Losses in % of the pot from which a grade holds, with its name and its style; the smallest loss first. */
const GRADES = [
  [0, "right", "right"],
  [0.5, "inaccurate", "small"],
  [2, "mistake", "large"],
  [5, "blunder", "wrong"],
];
/** Frequency from which an action is right whatever it loses: the solve, which is not exact, mixes it in. */
const OFTEN = 0.2;

/**
 * Make the element of a table as one person sees it.
 * @param {object} table the server's table: cards, stacks, bets, pot and streets.
 * @param {object} options `title`: heading; `acts`: whether the person acts; `help()`: called to open the help.
 * @param {...Node} children what stands in the card below the table, such as buttons.
 */
export function tableNode(table, { title, acts, help }, ...children) {
  return el(
    "section",
    { class: "felt", "aria-label": title },
    el(
      "div",
      { class: "felt-head" },
      el("h2", {}, title),
      el("button", { type: "button", class: "help-button", "aria-label": "help and keys", title: "help and keys (?)", onclick: help }, "?"),
    ),
    el("div", { class: "seats" }, seatNode(table, 1 - table.person, false), potNode(table), seatNode(table, table.person, acts)),
    streetsNode(table),
    acts && table.odds ? el("p", { class: "odds" }, oddsText(table)) : null,
    ...children,
  );
}

function seatNode(table, player, acts) {
  const own = player === table.person;
  const position = player === table.button ? "in position" : "out of position";
  const bet = table.bets[player];
  const cards = table.hole[player];
  return el(
    "div",
    { class: `felt-seat seat-${own ? "own" : "other"}${acts ? " acts" : ""}`, role: "group", "aria-label": own ? "your seat" : "the opponent's seat" },
    el("div", { class: "hole" }, cards ? boardNode(cards) : hiddenCards(table)),
    el(
      "div",
      { class: "seat-name" },
      el("b", {}, own ? "you" : "opponent"),
      player === table.button ? el("span", { class: "button-chip", role: "img", "aria-label": "dealer button" }, "D") : null,
      el("small", {}, position),
      table.stacks ? el("span", { class: "stack" }, `${chips(table.stacks[player])} ${table.unit} left`) : null,
    ),
    el("div", { class: "bet" }, bet ? `${chips(bet)} ${table.unit} in` : ""),
  );
}

function hiddenCards({ hole, person }) {
  return cardList(hole[person]).map(() => el("span", { class: "card card-back", role: "img", "aria-label": "hidden card" }, "?"));
}

function potNode(table) {
  const street = table.streets[table.streets.length - 1];
  return el(
    "div",
    { class: "middle" },
    el("span", { class: "street" }, capital(street.name)),
    table.board ? boardNode(table.board) : el("span", { class: "note" }, "no cards yet"),
    el("span", { class: "pot" }, `pot ${chips(table.pot)} ${table.unit}`),
  );
}

/** List what was bet on each street, such as "Flop Q♠ 7♥ 2♦: you check, opponent bets 33 % (16.88)". */
function streetsNode({ streets }) {
  return el(
    "ol",
    { class: "history", "aria-live": "polite" },
    streets.map(({ name, cards, actions }) =>
      el("li", {}, el("b", {}, capital(name)), cards ? ` ${cardText(cards)}` : "", `: ${actions.length ? actions.join(", ") : "no bets yet"}`),
    ),
  );
}

function oddsText({ to_call, pot, odds, unit }) {
  return `Pot odds: ${chips(to_call)} ${unit} to win ${chips(pot)}; a call needs ${percent(odds)} equity.`;
}

function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

/** Return the action of each key: f folds, c checks or calls, and 1 to 9 are the bets in their order. */
export function choiceKeys(choices) {
  const keys = {};
  let number = 1;
  for (const { action, text } of choices) {
    if (text === "fold") keys.f = action;
    else if (text === "check" || text === "call") keys.c = action;
    else if (number <= 9) keys[String(number++)] = action;
  }
  return keys;
}

/** Make a button for each action `{action, text}`; `act(action)` is called for a click. */
export function choicesNode(choices, act, ...children) {
  const keys = Object.fromEntries(Object.entries(choiceKeys(choices)).map(([key, action]) => [action, key]));
  const buttons = choices.map(({ action, text }) =>
    el(
      "button",
      { type: "button", class: "choice", "data-main": keys[action] === "c", "data-action": action, onclick: () => act(action) },
      text,
      keys[action] ? el("kbd", {}, keys[action]) : null,
    ),
  );
  return el("div", { class: "choices", role: "group", "aria-label": "your action" }, buttons, ...children);
}

/** Make the button that goes on, whose key is n. */
export function goOnNode(text, next, ...children) {
  const button = el("button", { type: "button", class: "choice", "data-main": true, onclick: next }, text, el("kbd", {}, "n"));
  return el("div", { class: "choices" }, button, ...children);
}

/**
 * Return the name and the style of a loss in % of the pot, from right (green) to blunder (red).
 * @param {number} frequency how often the strategy takes the action; what it takes often is right.
 */
export function lossGrade(share, frequency = 0) {
  const loss = frequency >= OFTEN ? 0 : Math.max(0, share);
  const [, text, style] = GRADES.filter(([least]) => least <= loss).pop();
  return { text, style };
}

/** Make an element with the grade of a loss, as `lossGrade` has it; the colour has its name beside it. */
export function gradeNode(share, frequency = 0) {
  if (!known(share)) return "–";
  const { text, style } = lossGrade(share, frequency);
  return el("span", { class: `grade grade-${style}` }, text);
}

/** Make the help of a page: its keys and grades, in a dialog with functions `toggle()` and `isOpen()`. */
export function helpDialog(root, next) {
  const keys = [
    ["f", "fold"],
    ["c", "check or call"],
    ["1 to 9", "bets and raises, in the order of their buttons"],
    ["n", next],
    ["?", "open or close this help"],
  ];
  const close = () => dialog.close();
  const dialog = el(
    "dialog",
    { class: "help", "aria-label": "help and keys", onclick: ({ target }) => (target === dialog ? close() : null) }, // beside it, too
    el("h2", {}, "Keys"),
    el("table", {}, el("tbody", {}, keys.map(([key, text]) => el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, key)), el("td", {}, text))))),
    el("h2", {}, "Grades"),
    el("p", { class: "note" }, "EV that a decision loses to the best action, in % of the pot:"),
    el("ul", { class: "grades" }, GRADES.map(([least], i) => el("li", {}, gradeNode(least), ` ${rangeText(i)}`))),
    el("p", { class: "note" }, `An action that the strategy takes in ${100 * OFTEN} % of the cases or more is right.`),
    el("p", { class: "note" }, "A bet has its size in % of the pot, and in brackets the chips that it puts in during the round."),
    el("button", { type: "button", onclick: close }, "close"),
  );
  root.append(dialog);
  const toggle = () => (dialog.open ? close() : dialog.showModal());
  return { toggle, isOpen: () => dialog.open };
}

function rangeText(i) {
  const [least] = GRADES[i];
  return i + 1 < GRADES.length ? `${least} to ${GRADES[i + 1][0]} %` : `${least} % and more`;
}

/** Make the menu of seats `[value, text]`, whose choice the browser remembers; `choose(value)` is called for a change. */
export function seatMenu(id, label, seats, seat, choose) {
  const changed = ({ target }) => {
    store(id, target.value);
    choose(target.value);
  };
  return [
    el("label", { for: id }, label),
    el("select", { id, onchange: changed }, seats.map(([value, text]) => el("option", { value, selected: value === seat }, text))),
  ];
}

/** Return the seat that was chosen last in a menu; empty without a choice. */
export function storedSeat(id) {
  const seat = stored(id);
  return ["oop", "ip"].includes(seat) ? seat : "";
}
