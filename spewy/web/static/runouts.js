/** The panel of next cards: a report over all cards that can be dealt, as a map of cards, as bars and as a table. */

import { el, fill } from "./dom.js";
import { cardList } from "./cards.js";
import { amount } from "./format.js";
import { cardHeat } from "./heatcards.js";
import { positionKey, remembering } from "./remember.js";
import { actionLegend, quantityField, reportBars, reportQuantities, reportRows, reportTable } from "./reportview.js";
import { drawAnswer } from "./waiting.js";

const rememberedPlaces = remembering();
const rememberedReports = remembering();
const startedReports = new Set();
const runoutOrder = { column: "name", ascending: true };

/** Panel "Next cards" of the look page: a report over all cards that can be dealt at a position. */
export const runoutsPanel = {
  id: "runouts",
  title: "Next cards",
  shows: ({ position, summary, source }) => Boolean(source.report) && hasDeals(position, summary),
  draw: drawRunouts,
};

/** Whether cards can follow a position, or were dealt before it. */
function hasDeals(position, summary) {
  if (position.kind !== "decision") return position.kind === "chance" && position.steps.some((step) => cardList(step.name).length);
  const more = cardList(position.board).length < Math.max(...summary.board_sizes);
  return more || position.path.some((stage) => stage.kind === "cards" && stage.dealt);
}

async function drawRunouts(element, context) {
  const { folder, position, place, source, go } = context;
  let places;
  try {
    const query = { folder, line: position.line, board: position.board };
    places = (await rememberedPlaces(positionKey(context), () => source.reports(query))).places;
  } catch (error) {
    fill(element, el("p", { class: "error", role: "alert" }, error.message));
    return;
  }
  if (!places.length) {
    fill(element, el("p", { class: "note" }, "No cards follow here."));
    return;
  }
  const chosen = places.find((each) => each.id === place.deal) || places[0];
  const choices = places.map((each) =>
    el("button", { type: "button", id: `deal-${each.id}`, "aria-pressed": each === chosen ? "true" : "false", onclick: () => go({ deal: each.id }) }, placeTitle(each, position)),
  );
  const body = el("div", {});
  fill(element, el("div", { class: "tools", role: "group", "aria-label": "report" }, choices), body);
  const query = { folder, line: chosen.line, board: chosen.board };
  const key = [folder, position.progress, chosen];
  const started = JSON.stringify([folder, chosen]);
  const compute = () => {
    startedReports.add(started);
    return drawAnswer(
      body,
      "report over cards",
      (progress, wanted) => rememberedReports(key, () => source.report(query, progress, wanted)),
      (report) => runoutNodes(report, chosen, context),
    );
  };
  if (!chosen.slow || startedReports.has(started)) await compute();
  else
    fill(
      body,
      el("p", {}, `This report takes minutes: ${chosen.slow}.`),
      el("button", { type: "button", id: "compute-report", onclick: compute }, "compute it"),
    );
}

function placeTitle({ id, words }, position) {
  if (id === "here") return "this decision after every card";
  return position.kind === "chance" ? "every next card" : `every next card after ${words}`;
}

function runoutNodes(report, { board }, { place, go }) {
  const rows = reportRows(report);
  const quantities = reportQuantities(report);
  const quantity = quantities.find(({ id }) => id === place.of) || quantities[0];
  if (!quantity) return [el("p", { class: "note" }, "No hands come here, so there are no numbers.")];
  const open = (row) => go({ line: report.line, board: board + row.name });
  const single = rows.every((row) => cardList(row.name).length === 1);
  const bars = el("div", {});
  const table = reportTable(report, rows, {
    order: runoutOrder,
    open,
    extra: single ? [] : [{ id: "count", title: "deals", value: (row) => row.count, text: (row) => row.count || "" }],
    sorted: (inOrder) => fill(bars, reportBars(report, inOrder, quantity, open)),
  });
  return [
    el("p", {}, runoutTitle(report)),
    el("div", { class: "tools" }, quantityField(quantities, quantity, (of) => go({ of }))),
    quantity.id === "mix" ? actionLegend(report) : null,
    single ? cardHeat(report, rows, quantity, open) : null,
    bars,
    el("p", { class: "note" }, single ? "Click a card to go there. The weight of a card is how likely it is, given both ranges." : "One deal stands for all that are equal up to suits."),
    table,
  ];
}

function runoutTitle(report) {
  const who = report.player === null ? "nobody acts any more" : `${report.player ? "ip" : "oop"} to act`;
  return `After ${report.words || "the deal"}, then each card: ${who}, pot ${amount(report.pot)} ${report.unit}.`;
}
