/** The page that asks single decisions of solved spots, and scores the answers by the EV that they lose. */

import { el, fill } from "./dom.js";
import { boardNode } from "./cards.js";
import { amount, chips, known, percent } from "./format.js";
import { classOf } from "./grid.js";
import { chooseSolve } from "./solvelist.js";
import { placeAddress } from "./page.js";
import { sessionRequests } from "./source.js";

const TRAIN_SEATS = [
  ["", "both seats"],
  ["oop", "oop"],
  ["ip", "ip"],
];

/** Make the trainer in an element; returns its functions `show(parameters)` and `key(event)`. */
export function trainPage(root) {
  const head = el("div", { class: "solve" });
  const body = el("div", { class: "trainer" });
  fill(root, head, body);
  const train = { folder: null, seat: "", state: null };
  const requests = sessionRequests(root, { done, failed });

  async function show({ folder, seat = "" }) {
    if (!folder) {
      Object.assign(train, { folder: null, state: null });
      document.title = "Train – Spewy";
      fill(head, el("h1", {}, "Train decisions of a solved spot"));
      return chooseSolve(body, "train");
    }
    if (folder === train.folder && seat === train.seat && train.state) return null;
    Object.assign(train, { folder, seat, state: null });
    document.title = `Train ${folder} – Spewy`;
    drawHead();
    fill(body, el("p", { class: "note" }, "dealing …"));
    return requests.start("/api/train/new", { folder, seat });
  }

  function done(state) {
    train.state = state;
    draw();
  }

  function failed(error) {
    fill(
      body,
      el("p", { class: "error", role: "alert" }, error.message),
      el("p", {}, el("button", { type: "button", onclick: again }, "start again")),
    );
  }

  function again() {
    const { folder, seat } = train;
    train.state = null;
    show({ folder, seat });
  }

  function answer(action) {
    requests.go("/api/train/answer", { session: train.state.session, action });
  }

  function next() {
    requests.go("/api/train/next", { session: train.state.session });
  }

  function drawHead() {
    const { folder, seat } = train;
    fill(
      head,
      el("a", { href: "#train" }, "all solves"),
      el("h1", {}, folder),
      el("label", { for: "train-seat" }, "decisions of"),
      el(
        "select",
        {
          id: "train-seat",
          onchange: (event) => {
            location.hash = placeAddress("train", { folder, seat: event.target.value });
          },
        },
        TRAIN_SEATS.map(([value, text]) => el("option", { value, selected: value === seat }, text)),
      ),
      el("a", { href: placeAddress("look", { folder }) }, "look at the solve"),
      el("a", { href: placeAddress("play", { folder }) }, "play whole hands"),
    );
  }

  function draw() {
    const { state } = train;
    const question = state.question || state.answer.question;
    fill(
      body,
      questionNode(question),
      state.question ? answersNode(question, answer) : scoredNode(state, next),
      trainScoreNode(state.score),
    );
    const main = body.querySelector("[data-main]");
    if (main) main.focus({ preventScroll: true });
  }

  function key(event) {
    const { state } = train;
    if (!state || requests.waits()) return false;
    if (event.key === "n" && !state.question) next();
    else {
      const action = state.question && answerKeys(state.question)[event.key];
      if (!action) return false;
      answer(action);
    }
    return true;
  }

  return { show, key };
}

/** Return the action of each key: f folds, c checks or calls, and 1 to 9 are the bets in their order. */
function answerKeys(question) {
  const keys = {};
  let number = 1;
  for (const action of question.actions) {
    if (action === "Fold") keys.f = action;
    else if (action === "Check" || action === "Call") keys.c = action;
    else if (number <= 9) keys[String(number++)] = action;
  }
  return keys;
}

function questionNode(question) {
  const rows = [
    ["hand", boardNode(question.hole)],
    ["board", boardNode(question.board)],
    ["seat", question.player ? "ip" : "oop"],
    ["pot", `${chips(question.pot)} ${question.unit}`],
  ];
  if (question.to_call) rows.push(["to call", chips(question.to_call)]);
  return el(
    "section",
    { class: "felt", "aria-label": `question ${question.number + 1}` },
    el("h2", {}, `Question ${question.number + 1}`),
    el("dl", { class: "facts hole" }, rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    el("p", { class: "betting" }, question.words ? `Betting so far: ${question.words}` : "You are the first to act."),
    el("p", { class: "note keys" }, "Keys: f folds, c checks or calls, 1 to 9 are the bets, n asks the next question."),
  );
}

function answersNode(question, answer) {
  const keys = Object.fromEntries(Object.entries(answerKeys(question)).map(([key, action]) => [action, key]));
  return el(
    "div",
    { class: "choices", role: "group", "aria-label": "your answer" },
    question.actions.map((action, i) =>
      el(
        "button",
        { type: "button", class: "choice", "data-main": keys[action] === "c", "data-action": action, onclick: () => answer(action) },
        question.texts[i],
        keys[action] ? el("kbd", {}, keys[action]) : null,
      ),
    ),
  );
}

function scoredNode(state, next) {
  const { answer } = state;
  const { question } = answer;
  const best = Math.max(...answer.values);
  const rows = question.texts.map((text, i) =>
    el(
      "tr",
      { class: question.actions[i] === answer.action ? "played" : null },
      el("th", { scope: "row" }, text, question.actions[i] === answer.action ? " (your answer)" : ""),
      el("td", { "data-label": "the strategy" }, percent(answer.frequencies[i])),
      el("td", { "data-label": "EV" }, amount(answer.values[i])),
      el("td", { "data-label": "loss" }, amount(best - answer.values[i])),
    ),
  );
  const address = placeAddress("look", {
    folder: state.look,
    line: question.line,
    board: question.board,
    hand: classOf(question.hole),
  });
  return el(
    "section",
    { class: "scored", "aria-live": "polite" },
    el(
      "p",
      { class: "verdict" },
      `${question.texts[question.actions.indexOf(answer.action)]} loses ${amount(answer.lost)} ${question.unit}, `,
      `${answer.lost_pct.toFixed(2)} % of the pot`,
    ),
    el(
      "table",
      { class: "decisions" },
      el("thead", {}, el("tr", {}, ["action", "the strategy", "EV", "loss"].map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, rows),
    ),
    el(
      "div",
      { class: "choices" },
      el("button", { type: "button", class: "choice", "data-main": true, onclick: next }, "next question", el("kbd", {}, "n")),
      el("a", { href: address }, "look at this decision"),
    ),
  );
}

function trainScoreNode(score) {
  const rows = [["decisions", String(score.decisions)]];
  if (known(score.lost))
    rows.push(
      ["EV lost per decision", `${amount(score.lost)} ${score.unit}, ${score.lost_pct.toFixed(2)} % of the pot`],
      ["answers that the strategy plays at least 5 % of the time", percent(score.often, 0)],
    );
  return el("dl", { class: "facts score" }, rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}
