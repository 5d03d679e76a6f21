/** The panel of curves: equity, EV and realised equity of both ranges, each sorted from its weakest hand. */

import { el, fill } from "./dom.js";
import { cardText } from "./cards.js";
import { curveChart } from "./chart.js";
import { amount, percent } from "./format.js";
import { positionKey, remembering } from "./remember.js";

const MEASURE_TITLES = {
  equity: "equity, %",
  EV: "EV",
  realisation: "EV realised: EV / (equity · pot), %",
};
const MOST_REALISED = 2.5;
const rememberedCurves = remembering();

/** Panel "Curves" of the look page: equity, EV and realised equity of both ranges at a position, as curves. */
export const curvesPanel = {
  id: "curves",
  title: "Curves",
  shows: ({ position, source }) => Boolean(position.views && source.curves),
  draw: drawCurves,
};

async function drawCurves(element, context) {
  const { position, place, folder, source, go } = context;
  const query = { folder, line: position.line, board: position.board, filter: context.filter };
  fill(element, el("p", { class: "note" }, "…"));
  let answer;
  try {
    answer = await rememberedCurves(positionKey(context), () => source.curves(query));
  } catch (error) {
    fill(element, el("p", { class: "error", role: "alert" }, error.message));
    return;
  }
  const known = Object.keys(MEASURE_TITLES).filter((name) => answer.curves[name].every((curve) => curve.hands.length));
  if (!known.length) {
    fill(element, el("p", { class: "note" }, "EV and equity of these hands are not known here, so there are no curves."));
    return;
  }
  const measure = known.includes(place.curve) ? place.curve : known[0];
  const choices = known.map((name) =>
    el(
      "button",
      { type: "button", id: `curve-${name}`, "aria-pressed": name === measure ? "true" : "false", onclick: () => go({ curve: name }) },
      name === "realisation" ? "EV realised" : name,
    ),
  );
  fill(
    element,
    el("div", { class: "tools", role: "group", "aria-label": "quantity of the curves" }, choices),
    curveChart(answer.curves[measure], chartOptions(measure, answer, position)),
    el("p", { class: "note" }, notes(measure)),
  );
}

function chartOptions(measure, answer, position) {
  const money = measure === "EV";
  const write = money ? amount : (value) => percent(value, value > 0 && value < 0.01 ? 1 : 0);
  const values = answer.curves[measure].flatMap((curve) => curve.value);
  const limits = {
    equity: [0, 1],
    EV: [Math.min(0, ...values), Math.max(position.pot, ...values)],
    realisation: [Math.min(0, ...values), Math.min(MOST_REALISED, Math.max(1, ...values))],
  }[measure];
  return {
    low: limits[0],
    high: limits[1],
    unit: money ? `EV, ${answer.unit}` : MEASURE_TITLES[measure],
    write: money ? (value) => String(Math.round(value * 100) / 100) : (value) => String(Math.round(100 * value)),
    tell: (curve, i) => `${cardText(curve.hands[i])} ${write(curve.value[i])}`,
    label: `${measure} of both ranges, by the share of the range`,
  };
}

function notes(measure) {
  const sorted = "Each player's hands stand in ascending order, as wide as their weight in the range.";
  if (measure === "equity") return `${sorted} Equity is the chance to win without further betting.`;
  if (measure === "EV") return `${sorted} EV is the expected share of the pot from here on.`;
  return `${sorted} 100 % means that a hand wins as much of the pot as its equity; values above ${100 * MOST_REALISED} % are cut off.`;
}
