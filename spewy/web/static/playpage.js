/** The page on which a person plays hands against a solved strategy, with the review of a finished hand. */

import { el, fill } from "./dom.js";
import { boardNode, cardList, cardNode, cardText, sortedHand, withSuits } from "./cards.js";
import { amount, chips, known, percent, weight } from "./format.js";
import { classOf, gridNode } from "./grid.js";
import { chooseSolve } from "./solvelist.js";
import { placeAddress } from "./page.js";
import { sessionRequests } from "./source.js";

const PLAY_SEATS = [
  ["", "alternate seats"],
  ["oop", "oop: act first after the flop"],
  ["ip", "ip: act last after the flop"],
];

/** Make the play page in an element; returns its functions `show(parameters)` and `key(event)`. */
export function playPage(root) {
  const head = el("div", { class: "solve" });
  const table = el("div", { class: "table" });
  const review = el("div", { class: "review" });
  fill(root, head, el("div", { class: "play-columns" }, table, review));
  const play = { folder: null, seat: "", state: null };
  const requests = sessionRequests(root, { done, failed });

  async function show({ folder, seat = "" }) {
    if (!folder) {
      Object.assign(play, { folder: null, state: null });
      document.title = "Play – Spewy";
      fill(head, el("h1", {}, "Play against a solved strategy"));
      fill(review);
      return chooseSolve(table, "play");
    }
    if (folder === play.folder && seat === play.seat && play.state) return null;
    Object.assign(play, { folder, seat, state: null });
    document.title = `Play ${folder} – Spewy`;
    drawHead();
    fill(review);
    fill(table, el("p", { class: "note" }, "opening the strategy …"));
    return requests.start("/api/play/new", { folder, seat });
  }

  function done(state) {
    play.state = state;
    draw();
  }

  function failed(error) {
    if (play.state) draw();
    else fill(table);
    table.append(
      el("p", { class: "error", role: "alert" }, error.message),
      el("p", {}, el("button", { type: "button", onclick: again }, "start again")),
    );
  }

  function again() {
    const { folder, seat } = play;
    play.state = null;
    show({ folder, seat });
  }

  function act(action) {
    requests.go("/api/play/act", { session: play.state.session, action });
  }

  function next() {
    requests.go("/api/play/next", { session: play.state.session });
  }

  function drawHead() {
    const { folder, seat } = play;
    fill(
      head,
      el("a", { href: "#play" }, "all solves"),
      el("h1", {}, folder),
      el("label", { for: "seat" }, "seat"),
      el(
        "select",
        {
          id: "seat",
          onchange: (event) => {
            location.hash = placeAddress("play", { folder, seat: event.target.value });
          },
        },
        PLAY_SEATS.map(([value, text]) => el("option", { value, selected: value === seat }, text)),
      ),
      el("a", { href: placeAddress("look", { folder }) }, "look at the solve"),
      play.state && play.state.kind === "spot" ? el("a", { href: placeAddress("train", { folder }) }, "train single decisions") : null,
    );
  }

  function draw() {
    const { state } = play;
    drawHead();
    fill(table, tableNode(state, { act, next }));
    fill(review, state.report ? reviewNode(state) : null);
    const main = table.querySelector("[data-main]");
    if (main) main.focus({ preventScroll: true });
  }

  function key(event) {
    const { state } = play;
    if (!state || requests.waits()) return false;
    if (event.key === "n" && !state.in_play) next();
    else {
      const action = actionKeys(state)[event.key];
      if (!action) return false;
      act(action);
    }
    return true;
  }

  return { show, key };
}

// A hand at the table: cards, chips, what happened, and buttons for the person's actions.

const SEAT_WORDS = ["out of position", "in position"];
const EVENTS = ["action", "board", "warning", "result"];

/**
 * Make the element of a hand.
 * @param {object} state the server's state of a sitting.
 * @param {object} options `act(action)`: plays an ACPC action; `next()`: deals the next hand.
 */
function tableNode(state, { act, next }) {
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
function actionKeys(state) {
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

// What a finished hand shows: the cost of each decision, the opponent's range, and the score.

/** Make the element of the last finished hand of a sitting, from the server's state of the sitting. */
function reviewNode(state) {
  const { report } = state;
  return el(
    "section",
    { class: "report", "aria-label": "review" },
    el("h2", {}, `Review of hand ${report.number + 1}`),
    scoreNode(report.score),
    report.decisions.length ? decisionsNode(state) : el("p", { class: "note" }, "You had no decision in this hand."),
    report.decisions.length
      ? el("p", { class: "note" }, "Cost is the EV of the strategy's mix less the EV of your action. It is negative if your action is better than the mix, and 0 on average if you play the mix.")
      : null,
    state.kind === "game" && report.decisions.length
      ? el("p", { class: "note" }, "Costs and EVs assume that nobody bets in later rounds.")
      : null,
    report.opponent_range && report.opponent_range.grid ? rangesNode(report) : null,
  );
}

function scoreNode(score) {
  const per = `${score.unit} per hand`;
  const rows = [
    ["hands", String(score.hands)],
    ["won in all", plus(score.total)],
    ["won", `${meanText(score.won)} ${per}`],
  ];
  if (score.without_luck) rows.push(["without luck", `${meanText(score.without_luck)} ${per}`]);
  if (known(score.expected)) rows.push(["the strategy itself in your seats", `${signed(score.expected)} ${per}`]);
  if (score.cost) rows.push(["cost of your decisions", `${meanText(score.cost, amount)} ${per}`]);
  return [
    el("dl", { class: "facts score" }, rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    el("p", { class: "note" }, scoreText(score)),
  ];
}

/** Explain the rows of a score that stand in it. */
function scoreText(score) {
  return [
    "± is a 95 % confidence interval.",
    score.without_luck ? "Without luck: the luck of the cards is estimated and subtracted." : null,
    known(score.expected) ? "The chips that are in the pot at the start count as won, so both seats win on average." : null,
  ]
    .filter(Boolean)
    .join(" ");
}

function decisionsNode(state) {
  const head = ["decision", "you", "the strategy with your hand", "cost", "loss to the best"];
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "your decisions" },
    el(
      "table",
      { class: "decisions" },
      el("thead", {}, el("tr", {}, head.map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, state.report.decisions.map((decision) => decisionRow(state, decision))),
    ),
  );
}

function decisionRow(state, decision) {
  const address = placeAddress("look", { folder: state.look, line: decision.line, board: decision.board });
  const where = `${decision.round} ${cardText(decision.board)}`;
  return el(
    "tr",
    {},
    el(
      "th",
      { scope: "row" },
      state.look ? el("a", { href: address, title: "look at this decision" }, where) : where,
      decision.before ? el("small", {}, ` after ${decision.before}`) : null,
    ),
    el("td", { "data-label": "you" }, decision.played),
    el("td", { class: "mixed", "data-label": "strategy" }, decision.frequencies ? mixNode(decision) : "–"),
    el("td", { class: costClass(decision, state), "data-label": "cost" }, amount(decision.cost)),
    el("td", { "data-label": "loss to the best" }, amount(decision.loss)),
  );
}

function mixNode(decision) {
  return decision.words.map((words, i) =>
    el(
      "span",
      { class: `mix-part${decision.actions[i] === decision.action ? " played" : ""}` },
      `${words} ${percent(decision.frequencies[i], 0)} `,
      decision.values ? el("small", {}, `EV ${amount(decision.values[i])}`) : null,
    ),
  );
}

/** Return the style class of a decision's cost; a cost of more than a twentieth of the pot is highlighted. */
function costClass(decision, state) {
  return decision.cost > 0.05 * state.pot ? "cost high" : "cost";
}

function rangesNode(report) {
  const choices = [
    ["at the end", report.opponent_range],
    ...report.decisions.filter((each) => each.opponent_range).map((each) => [`${each.round}, when you ${bare(each.played)}`, each.opponent_range]),
  ];
  const body = el("div", { class: "range" });
  const choose = (number) => fill(body, rangeNode(choices[number][1]));
  choose(0);
  return el(
    "section",
    { class: "opponent-range" },
    el("label", { for: "range-at" }, "the opponent's range "),
    el(
      "select",
      { id: "range-at", onchange: (event) => choose(Number(event.target.value)) },
      choices.map(([text], number) => el("option", { value: number }, text)),
    ),
    body,
  );
}

function rangeNode(range) {
  const hands = el("p", { class: "note", "aria-live": "polite" }, "Choose a class to see its hands.");
  const pick = (name) => {
    const inside = Object.entries(range.hands).filter(([hand]) => classOf(hand) === name);
    fill(hands, `${name}: `, inside.length ? inside.map(([hand, share]) => [cardList(hand).map(cardNode), ` ${weight(share)} `]) : "none");
  };
  return [
    gridNode(range, { pick, label: "the opponent's range" }),
    el("p", { class: "note" }, "The starting hand that the opponent has most often has a full cell."),
    hands,
  ];
}

/** Turn words such as `bets 120` into `bet 120`. */
function bare(words) {
  return words.replace(/^goes /, "went ").replace(/^(\w+)s\b/, "$1");
}

function plus(value) {
  return `${value > 0 ? "+" : ""}${chips(value)}`;
}

function signed(value) {
  return `${value > 0 ? "+" : ""}${amount(value)}`;
}

function meanText(mean, text = signed) {
  return known(mean.half) ? `${text(mean.mean)} ± ${amount(mean.half)}` : text(mean.mean);
}
