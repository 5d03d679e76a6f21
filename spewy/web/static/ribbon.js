/** The ribbon: all decisions and deals before a position, and the actions that can follow it. */

import { el } from "./dom.js";
import { cardList, cardNode, cardTable } from "./cards.js";
import { percent } from "./format.js";
import { growList } from "./growing.js";

const SEATS = ["oop", "ip"];
const FLOPS_AT_ONCE = 90;

/**
 * Make the ribbon of a position.
 * @param {object} position the server's position; an exported page marks what its file lacks as `absent`.
 * @param {function} go called with `{line, board}` of another position.
 */
export function ribbonNode(position, go) {
  const stages = position.path.map((stage, number) =>
    stage.kind === "cards" ? dealtStage(position, stage, number, go) : decisionStage(stage, stage.taken, go),
  );
  if (position.kind === "decision") stages.push(decisionStage(position, null, go));
  else if (position.kind === "chance") stages.push(dealStage(position, go));
  else stages.push(endStage(endText(position)));
  return el("nav", { class: "ribbon", "aria-label": "actions and cards" }, stages);
}

function endStage(text) {
  return el("div", { class: "stage here end" }, el("div", { class: "stage-title" }, text));
}

function endText(position) {
  if (position.kind === "showdown") return `showdown, pot ${position.pot}`;
  return `fold: the other player wins the pot of ${position.pot}`;
}

function decisionStage(stage, taken, go) {
  return el(
    "div",
    { class: `stage${taken === null ? " here" : ""}` },
    el(
      "button",
      {
        type: "button",
        class: "stage-title",
        "aria-current": taken === null ? "step" : null,
        disabled: Boolean(stage.absent),
        title: stage.absent ? "not in this file" : "show this decision",
        onclick: () => go({ line: stage.line, board: stage.board }),
      },
      `${SEATS[stage.player]} to act`,
    ),
    stage.steps.map((step, number) =>
      el(
        "button",
        {
          type: "button",
          class: `step${number === taken ? " taken" : ""}`,
          "aria-pressed": number === taken ? "true" : "false",
          "data-step": step.name,
          disabled: Boolean(step.absent),
          title: step.absent ? "not in this file" : null,
          onclick: () => go({ line: step.line, board: step.board }),
        },
        el("span", { class: "swatch", style: { "background-color": step.colour } }),
        el("span", { class: "step-name" }, step.words),
        el("span", { class: "step-share" }, percent(step.frequency)),
      ),
    ),
  );
}

function dealtStage(position, stage, number, go) {
  const cards = cardList(stage.dealt);
  return el(
    "div",
    { class: "stage" },
    el(
      "button",
      {
        type: "button",
        class: "stage-title",
        disabled: Boolean(stage.absent),
        title: stage.absent ? "not in this file" : "choose other cards",
        onclick: () => go({ line: stage.line, board: stage.board }),
      },
      cards.length > 1 ? "flop" : number && cardList(stage.board).length === 3 ? "turn" : "river",
    ),
    el("div", { class: "stage-cards" }, cards.map(cardNode)),
  );
}

function dealStage(position, go) {
  if (position.absent) return endStage(position.absent);
  const single = position.steps.every((step) => cardList(step.name).length === 1);
  const steps = Object.fromEntries(position.steps.map((step) => [step.name, step]));
  const pick = (name) => go({ line: steps[name].line, board: steps[name].board });
  const choice = single
    ? cardTable({ enabled: (card) => card in steps, pick, label: "next card" })
    : flopList(position.steps, pick);
  return el("div", { class: "stage here" }, el("div", { class: "stage-title" }, "next cards"), choice);
}

function flopList(deals, pick) {
  const list = el("div", { class: "flops" });
  const flop = ({ name }) =>
    el("button", { type: "button", class: "step", "data-step": name, onclick: () => pick(name) }, cardList(name).length ? cardList(name).map(cardNode) : name);
  growList(list, list, deals.length, (number) => flop(deals[number]), { step: FLOPS_AT_ONCE });
  return list;
}
