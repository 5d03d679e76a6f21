/** What a finished hand shows: the cost of each decision, the opponent's range, and the score. */

import { cardList, cardNode, cardText } from "./cards.js";
import { el, fill } from "./dom.js";
import { amount, chips, known, percent, weight } from "./format.js";
import { classOf, gridNode } from "./grid.js";
import { placeAddress } from "./place.js";

/** Make the element of the last finished hand of a sitting, from the server's state of the sitting. */
export function reviewNode(state) {
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
