/** A hand at the table: cards, chips, what happened, and buttons for the person's actions. */

import { boardNode, cardList, sortedHand, withSuits } from "./cards.js";
import { el } from "./dom.js";
import { chips } from "./format.js";

const SEAT_WORDS = ["out of position", "in position"];
const EVENTS = ["action", "board", "warning", "result"];

/**
 * Make the element of a hand.
 * @param {object} state the server's state of a sitting.
 * @param {object} options `act(action)`: plays an ACPC action; `next()`: deals the next hand.
 */
export function tableNode(state, { act, next }) {
  return el(
    "section",
    { class: "felt", "aria-label": `hand ${state.hand}` },
    el("h2", {}, `Hand ${state.hand}`, el("small", {}, ` you are ${SEAT_WORDS[state.seat]}`)),
    cardsNode(state),
    chipsNode(state),
    el("ol", { class: "history", "aria-live": "polite" }, historyNodes(state)),
    state.turn ? choicesNode(state, act) : nextNode(state, next),
    el("p", { class: "note keys" }, "Keys: f folds, c checks or calls, 1 to 9 are the bets, n deals the next hand."),
  );
}

/** Return the ACPC action of each key: f folds, c checks or calls, and 1 to 9 are the bets in their order. */
export function actionKeys(state) {
  const keys = {};
  if (!state.turn) return keys;
  let number = 1;
  for (const { action } of state.turn.choices) {
    if (action === "f" || action === "c") keys[action] = action;
    else if (number <= 9) keys[String(number++)] = action;
  }
  return keys;
}

function cardsNode(state) {
  const shown = state.report && !state.in_play ? state.report.opponent_hand : null;
  const hidden = cardList(state.hole).map(() => el("span", { class: "card card-back", role: "img", "aria-label": "hidden card" }, "?"));
  const rows = [
    ["your hand", boardNode(sortedHand(state.hole))],
    ["board", state.board ? boardNode(state.board) : el("span", { class: "note" }, "no cards yet")],
    ["opponent", shown ? boardNode(sortedHand(shown)) : el("span", { class: "board" }, hidden)],
  ];
  return el("dl", { class: "facts hole" }, rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

function chipsNode(state) {
  const { turn, unit, behind, seat } = state;
  const rows = [["pot", `${chips(state.pot)} ${unit}`]];
  if (turn && turn.to_call) rows.push(["to call", chips(turn.to_call)]);
  if (behind) rows.push(["you have behind", chips(behind[seat])], ["opponent has", chips(behind[1 - seat])]);
  return el("dl", { class: "facts" }, rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

function historyNodes(state) {
  return state.events
    .filter((event) => EVENTS.includes(event.kind))
    .map((event) => el("li", { class: `event-${event.kind}` }, withSuits(event.text)));
}

function choicesNode(state, act) {
  const keys = Object.fromEntries(Object.entries(actionKeys(state)).map(([key, action]) => [action, key]));
  const buttons = state.turn.choices.map(({ action, text }) =>
    el(
      "button",
      { type: "button", class: `choice choice-${action[0]}`, "data-main": action === "c", "data-action": action, onclick: () => act(action) },
      text,
      keys[action] ? el("kbd", {}, keys[action]) : null,
    ),
  );
  return el("div", { class: "choices", role: "group", "aria-label": "your action" }, buttons, freeBet(state, act));
}

function freeBet(state, act) {
  const { bounds, choices, to_call } = state.turn;
  if (!bounds) return null;
  const word = to_call || choices.some(({ text }) => text.startsWith("raise")) ? "raise" : "bet";
  const [least, most] = bounds;
  const field = el("input", { id: "bet", type: "number", min: least, max: most, step: 1, value: least, required: true });
  return el(
    "form",
    {
      class: "free-bet",
      onsubmit: (event) => {
        event.preventDefault();
        act(`r${Math.round(Number(field.value))}`);
      },
    },
    el("label", { for: "bet" }, `or any total in this hand, ${least} to ${most}`),
    field,
    el("button", { type: "submit" }, word),
  );
}

function nextNode(state, next) {
  if (state.in_play) return null;
  return el(
    "div",
    { class: "choices" },
    el("button", { type: "button", class: "choice", "data-main": true, onclick: next }, "next hand", el("kbd", {}, "n")),
  );
}
