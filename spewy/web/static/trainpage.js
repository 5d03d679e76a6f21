/** The page that asks single decisions of solved spots, and scores the answers by the EV that they lose. */

import { el, fill } from "./dom.js";
import { amount, known, percent } from "./format.js";
import { classOf } from "./grid.js";
import { chooseSolve } from "./solvelist.js";
import { placeAddress } from "./page.js";
import { sessionRequests } from "./source.js";
import { choiceKeys, choicesNode, goOnNode, gradeNode, helpDialog, lossGrade, seatMenu, storedSeat, tableNode } from "./table.js";

const TRAIN_SEATS = [
  ["", "both seats"],
  ["oop", "oop: act first after the flop"],
  ["ip", "ip: act last after the flop"],
];

/** Make the trainer in an element; returns its functions `show(parameters)` and `key(event)`. */
export function trainPage(root) {
  const head = el("div", { class: "solve" });
  const body = el("div", { class: "trainer" });
  fill(root, head, body);
  const help = helpDialog(root, "ask the next question");
  const train = { folder: null, seat: "", state: null };
  const requests = sessionRequests(root, { done, failed });

  async function show({ folder, seat = storedSeat("train-seat") }) {
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
      seatMenu("train-seat", "decisions of", TRAIN_SEATS, seat, (value) => {
        location.hash = placeAddress("train", { folder, seat: value });
      }),
      el("a", { href: placeAddress("look", { folder }) }, "look at the solve"),
      el("a", { href: placeAddress("play", { folder }) }, "play whole hands"),
    );
  }

  function draw() {
    const { state } = train;
    const question = state.question || state.answer.question;
    fill(
      body,
      tableNode(
        question.table,
        { title: `Question ${question.number + 1}`, acts: true, help: help.toggle },
        state.question ? choicesNode(answerChoices(question), answer) : scoredNode(state, next),
      ),
      trainScoreNode(state.score),
    );
    const main = body.querySelector("[data-main]");
    if (main) main.focus({ preventScroll: true });
  }

  function key(event) {
    const { state } = train;
    if (event.key === "?") help.toggle();
    else if (!state || requests.waits() || help.isOpen()) return false;
    else if (event.key === "n" && !state.question) next();
    else {
      const action = state.question && choiceKeys(answerChoices(state.question))[event.key];
      if (!action) return false;
      answer(action);
    }
    return true;
  }

  return { show, key };
}

function answerChoices({ actions, texts }) {
  return actions.map((action, i) => ({ action, text: texts[i] }));
}

function scoredNode(state, next) {
  const { answer } = state;
  const { question } = answer;
  const { pot, unit } = question;
  const best = Math.max(...answer.values);
  const rows = answerChoices(question).map(({ action, text }, i) => {
    const played = action === answer.action;
    const loss = best - answer.values[i];
    return el(
      "tr",
      { class: played ? `played graded-${lossGrade(answer.lost_pct, answer.frequencies[i]).style}` : null },
      el("th", { scope: "row" }, text, played ? " (your answer)" : ""),
      el("td", { "data-label": "the strategy" }, percent(answer.frequencies[i])),
      el("td", { "data-label": `EV (${unit})` }, amount(answer.values[i])),
      el("td", { "data-label": `loss (${unit})` }, amount(loss)),
      el("td", { "data-label": "loss (% of pot)" }, amount((100 * loss) / pot)),
      el("td", { class: "words", "data-label": "grade" }, gradeNode((100 * loss) / pot, answer.frequencies[i])),
    );
  });
  const address = placeAddress("look", {
    folder: state.look,
    line: question.line,
    board: question.board,
    hand: classOf(question.hole),
  });
  const text = question.texts[question.actions.indexOf(answer.action)];
  return el(
    "section",
    { class: "scored", "aria-live": "polite" },
    el(
      "p",
      { class: "verdict" },
      gradeNode(answer.lost_pct, answer.frequencies[question.actions.indexOf(answer.action)]),
      ` ${text} loses ${amount(answer.lost)} ${unit}, ${answer.lost_pct.toFixed(2)} % of the pot`,
    ),
    el(
      "table",
      { class: "decisions" },
      el(
        "thead",
        {},
        el("tr", {}, ["action", "the strategy", `EV (${unit})`, `loss (${unit})`, "loss (% of pot)", "grade"].map((title) => el("th", { scope: "col", class: title === "grade" ? "words" : null }, title))),
      ),
      el("tbody", {}, rows),
    ),
    goOnNode("next question", next, el("a", { href: address }, "look at this decision")),
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
