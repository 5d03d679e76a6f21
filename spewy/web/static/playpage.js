/** The page on which a person plays hands against a solved strategy, with the review of a finished hand. */

import { el, fill } from "./dom.js";
import { cardList, cardNode, cardText } from "./cards.js";
import { amount, chips, known, percent, weight } from "./format.js";
import { classOf, gridNode } from "./grid.js";
import { chooseSolve } from "./solvelist.js";
import { placeAddress } from "./page.js";
import { sessionRequests } from "./source.js";
import { choiceKeys, choicesNode, goOnNode, gradeNode, helpDialog, lossGrade, seatMenu, storedSeat, tableNode } from "./table.js";

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
  const help = helpDialog(root, "deal the next hand");
  const play = { folder: null, seat: "", state: null };
  const sittings = new Map(); // by folder and seat: the server's last state, and the decisions of each finished hand
  const requests = sessionRequests(root, { done, failed });

  async function show({ folder, seat = storedSeat("play-seat") }) {
    if (!folder) {
      Object.assign(play, { folder: null, state: null });
      document.title = "Play – Spewy";
      fill(head, el("h1", {}, "Play against a solved strategy"));
      fill(review);
      return chooseSolve(table, "play");
    }
    if (folder === play.folder && seat === play.seat && play.state) return null;
    const { state = null } = sittings.get(sittingKey(folder, seat)) || {};
    Object.assign(play, { folder, seat, state });
    document.title = `Play ${folder} – Spewy`;
    if (state) return draw();
    drawHead();
    fill(review);
    fill(table, el("p", { class: "note" }, "opening the strategy …"));
    return requests.start("/api/play/new", { folder, seat });
  }

  function done(state) {
    play.state = state;
    const key = sittingKey(play.folder, play.seat);
    const { decisions = new Map() } = sittings.get(key) || {};
    if (state.report) decisions.set(state.report.number, state.report.decisions);
    sittings.set(key, { state, decisions });
    const { turn } = state;
    if (turn && turn.choices.length === 1 && !turn.bounds) return act(turn.choices[0].action); // no choice
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
    sittings.delete(sittingKey(folder, seat));
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
      seatMenu("play-seat", "seat", PLAY_SEATS, seat, (value) => {
        location.hash = placeAddress("play", { folder, seat: value });
      }),
      el("a", { href: placeAddress("look", { folder }) }, "look at the solve"),
      play.state && play.state.kind === "spot" ? el("a", { href: placeAddress("train", { folder }) }, "train single decisions") : null,
      play.state && play.state.hand > 1 ? el("button", { type: "button", id: "play-anew", onclick: again }, "begin anew") : null,
    );
  }

  function draw() {
    const { state } = play;
    drawHead();
    fill(table, handNode(state, { act, next, help: help.toggle }));
    fill(review, state.report ? [reviewNode(state), sittingNode(state, sittings.get(sittingKey(play.folder, play.seat)).decisions)] : null);
    const main = table.querySelector("[data-main]");
    if (main) main.focus({ preventScroll: true });
  }

  function key(event) {
    const { state } = play;
    if (event.key === "?") help.toggle();
    else if (!state || requests.waits() || help.isOpen()) return false;
    else if (event.key === "n" && !state.in_play) next();
    else {
      const action = state.turn && choiceKeys(state.turn.choices)[event.key];
      if (!action) return false;
      act(action);
    }
    return true;
  }

  return { show, key };
}

const sittingKey = (folder, seat) => `${folder}|${seat}`;

/**
 * Make the element of a hand.
 * @param {object} state the server's state of a sitting.
 * @param {object} options `act(action)`: plays an ACPC action; `next()`: deals the next hand; `help()`: opens the help.
 */
function handNode(state, { act, next, help }) {
  const { turn } = state;
  return tableNode(
    state.table,
    { title: `Hand ${state.hand}`, acts: Boolean(turn), help },
    state.events.filter(({ kind }) => kind === "warning").map(({ text }) => el("p", { class: "error" }, text)),
    state.in_play || !state.report ? null : el("p", { class: "result", "aria-live": "polite" }, resultText(state.report.won, state.table.unit)),
    turn ? choicesNode(turn.choices, act, freeBet(turn, act)) : null,
    state.in_play ? null : goOnNode("next hand", next),
  );
}

function resultText(won, unit) {
  return won ? `You ${won > 0 ? "win" : "lose"} ${chips(Math.abs(won))} ${unit}.` : "You win nothing.";
}

/** Make a field for any size between the smallest and the largest bet, as chips put in during this round. */
function freeBet({ bounds, before, choices }, act) {
  if (!bounds) return null;
  const [least, most] = bounds.map((total) => total - before);
  const field = el("input", { id: "bet", type: "number", min: least, max: most, step: 1, value: least, required: true });
  return el(
    "form",
    {
      class: "free-bet",
      onsubmit: (event) => {
        event.preventDefault();
        act(`r${Math.round(Number(field.value)) + before}`);
      },
    },
    el("label", { for: "bet" }, `or any size, ${least} to ${most}`),
    field,
    el("button", { type: "submit" }, choices.some(({ text }) => text.startsWith("raise")) ? "raise" : "bet"),
  );
}

// What a finished hand shows: the loss of each decision, the opponent's range, and the score.

/** Make the element of the last finished hand of a sitting, from the server's state of the sitting. */
function reviewNode(state) {
  const { report } = state;
  return el(
    "section",
    { class: "report", "aria-label": "review" },
    el("h2", {}, `Review of hand ${report.number + 1}`),
    scoreNode(report.score),
    report.decisions.length ? decisionsNode(state) : el("p", { class: "note" }, "You had no decision in this hand."),
    report.decisions.length ? el("p", { class: "note" }, "Loss: what the best action wins more than yours, on average.") : null,
    state.kind === "game" && report.decisions.length
      ? el("p", { class: "note" }, "Losses and EVs assume that nobody bets in later rounds.")
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
    score.cost ? "Cost: the EV of the strategy's mix less the EV of your action; 0 on average if you play the mix." : null,
    known(score.expected) ? "The chips that are in the pot at the start count as won, so both seats win on average." : null,
  ]
    .filter(Boolean)
    .join(" ");
}

const WORST = 10;

/**
 * Make the element of all hands of a sitting: how many decisions had which grade, and those that lost most.
 * @param {Map} played the decisions of each hand, by its number from 0; those with a single action do not count.
 */
function sittingNode(state, played) {
  const choices = [...played]
    .flatMap(([number, decisions]) => decisions.map((decision) => ({ ...decision, number })))
    .filter((decision) => isChoice(decision) && decision.frequencies && known(decision.loss));
  if (played.size < 2 || !choices.length) return null;
  const grades = new Map();
  for (const decision of choices) {
    const { text } = lossGrade(lossShare(decision), playedOften(decision));
    grades.set(text, (grades.get(text) || 0) + 1);
  }
  const lost = choices.reduce((sum, { loss }) => sum + loss, 0);
  const worst = choices.filter(({ loss }) => loss > 0).sort((a, b) => b.loss - a.loss).slice(0, WORST);
  return el(
    "section",
    { class: "report", "aria-label": "all hands" },
    el("h2", {}, `All ${played.size} hands`),
    el("p", {}, `${choices.length} decisions with a choice lost ${amount(lost / choices.length)} ${state.unit} each on average: ${[...grades].map(([text, n]) => `${n} ${text}`).join(", ")}.`),
    worst.length ? decisionsNode(state, worst, ({ number }) => `hand ${number + 1}, `) : null,
  );
}

const isChoice = ({ frequencies }) => !frequencies || frequencies.length > 1;
const lossShare = ({ loss, pot }) => (known(loss) ? (100 * loss) / pot : null);
const playedOften = ({ frequencies, actions, action }) => (frequencies ? frequencies[actions.indexOf(action)] : 0);

/** Make a table of decisions; `about(decision)` is what stands before the round of each. */
function decisionsNode(state, decisions = state.report.decisions, about = () => "") {
  const head = ["decision", "you", "grade", "the strategy with your hand", `loss (${state.unit})`];
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": about(decisions[0]) ? "the decisions that lost most" : "your decisions" },
    el(
      "table",
      { class: "decisions" },
      el("thead", {}, el("tr", {}, head.map((text, i) => el("th", { scope: "col", class: i < 4 ? "words" : null }, text)))),
      el("tbody", {}, decisions.map((decision) => decisionRow(state, decision, about(decision)))),
    ),
  );
}

function decisionRow(state, decision, about) {
  const address = placeAddress("look", { folder: state.look, line: decision.line, board: decision.board });
  const where = `${about}${decision.round} ${cardText(decision.board)}`;
  const share = lossShare(decision);
  const frequency = playedOften(decision);
  return el(
    "tr",
    { class: known(share) ? `graded-${lossGrade(share, frequency).style}` : null },
    el("th", { scope: "row" }, state.look ? el("a", { href: address, title: "look at this decision" }, where) : where),
    el("td", { class: "words", "data-label": "you" }, decision.label),
    el("td", { class: "words", "data-label": "grade" }, isChoice(decision) ? gradeNode(share, frequency) : "no choice"),
    el("td", { class: "words", "data-label": "strategy" }, decision.frequencies ? mixNode(decision) : "–"),
    el("td", { class: "loss", "data-label": `loss (${state.unit})` }, amount(decision.loss), known(share) ? el("small", {}, ` ${amount(share)} % of pot`) : null),
  );
}

function mixNode(decision) {
  return decision.labels.map((words, i) =>
    el(
      "span",
      { class: `mix-part${decision.actions[i] === decision.action ? " played" : ""}` },
      `${words}: ${percent(decision.frequencies[i], 0)} `,
      decision.values ? el("small", {}, `EV ${amount(decision.values[i])}`) : null,
    ),
  );
}

function rangesNode(report) {
  const choices = [
    ["at the end", report.opponent_range],
    ...report.decisions.filter((each) => each.opponent_range).map((each) => [`${each.round}, before you ${each.label.replace("all-in", "go all-in")}`, each.opponent_range]),
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
  const hands = el("p", { class: "note", "aria-live": "polite" }, "Choose a hand group to see its hands.");
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

function plus(value) {
  return `${value > 0 ? "+" : ""}${chips(value)}`;
}

function signed(value) {
  return `${value > 0 ? "+" : ""}${amount(value)}`;
}

function meanText(mean, text = signed) {
  return known(mean.half) ? `${text(mean.mean)} ± ${amount(mean.half)}` : text(mean.mean);
}
