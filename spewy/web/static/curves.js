/** The panel of curves: equity, EV and realised equity of both ranges, each sorted from its weakest hand. */

import { el, fill, svg } from "./dom.js";
import { cardText } from "./cards.js";
import { amount, percent } from "./format.js";
import { positionKey, remembering } from "./page.js";

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

// Draws curves of both players as SVG, with axes, a legend, and values at the pointer or at a cursor of the keyboard.

const SEAT_NAMES = ["oop", "ip"];
const SMALL = { width: 380, height: 270, left: 46, right: 10, top: 10, bottom: 40 };
const LARGE = { width: 760, height: 260, left: 54, right: 14, top: 12, bottom: 42 };

/**
 * Draw curves that rise from the left to the right.
 * @param {Array<object>} curves for each player `{player, share, value}`: the number `share[i]` is where the step of
 *   height `value[i]` ends.
 * @param {object} options `low`, `high`: the limits of the y axis; `unit`: text of the y axis; `write(value)`: text of a
 *   value; `tell(curve, i)`: text of a step; `label`: accessible name of the chart.
 */
function curveChart(curves, { low, high, unit, write, tell, label }) {
  const box = matchMedia("(max-width: 640px)").matches ? SMALL : LARGE;
  const x = (share) => box.left + share * (box.width - box.left - box.right);
  const y = (value) => {
    const part = (Math.min(high, Math.max(low, value)) - low) / (high - low || 1);
    return box.height - box.bottom - part * (box.height - box.top - box.bottom);
  };
  const cursor = svg("line", { class: "chart-cursor", y1: box.top, y2: box.height - box.bottom, visibility: "hidden" });
  const drawing = svg(
    "svg",
    { class: "chart", viewBox: `0 0 ${box.width} ${box.height}`, "aria-hidden": "true" },
    yAxis(box, low, high, y, write),
    xAxis(box, x),
    svg("text", { class: "chart-unit", x: -(box.height - box.bottom) / 2, y: 11, transform: "rotate(-90)", "text-anchor": "middle" }, unit),
    curves.map((curve) => svg("path", { class: `chart-line seat-${curve.player}`, d: stepPath(curve, x, y) })),
    cursor,
  );
  const values = el("p", { class: "chart-values", "aria-live": "polite" }, "Point at the curves to see hands and values.");
  const slider = el(
    "div",
    { class: "chart-area", tabindex: "0", role: "slider", "aria-label": label, "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": "50" },
    drawing,
  );

  function point(share) {
    const at = Math.min(1, Math.max(0, share));
    cursor.setAttribute("visibility", "visible");
    cursor.setAttribute("x1", x(at));
    cursor.setAttribute("x2", x(at));
    const texts = curves.map((curve) => [
      el("span", { class: `chart-key seat-${curve.player}` }),
      el("b", {}, SEAT_NAMES[curve.player]),
      ` ${tell(curve, stepAt(curve, at))}`,
    ]);
    fill(values, el("span", { class: "chart-at" }, `at ${Math.round(100 * at)} % of the range:`), texts.map((text) => el("span", {}, text)));
    slider.setAttribute("aria-valuenow", String(Math.round(100 * at)));
    slider.setAttribute("aria-valuetext", values.textContent);
  }

  slider.addEventListener("pointermove", (event) => {
    const area = drawing.getBoundingClientRect();
    const inside = ((event.clientX - area.left) / area.width) * box.width;
    point((inside - box.left) / (box.width - box.left - box.right));
  });
  slider.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -100, End: 100 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    point((Number(slider.getAttribute("aria-valuenow")) + step) / 100);
  });
  return el("div", {}, legend(curves), slider, values);
}

function legend(curves) {
  return el(
    "p",
    { class: "chart-legend" },
    curves.map((curve) => el("span", {}, el("span", { class: `chart-key seat-${curve.player}` }), SEAT_NAMES[curve.player])),
  );
}

function stepPath(curve, x, y) {
  let before = 0;
  const steps = curve.value.map((value, i) => {
    const step = `${i ? "L" : "M"}${x(before).toFixed(1)} ${y(value).toFixed(1)}H${x(curve.share[i]).toFixed(1)}`;
    before = curve.share[i];
    return step;
  });
  return steps.join("");
}

function stepAt(curve, share) {
  const i = curve.share.findIndex((end) => end >= share);
  return i < 0 ? curve.share.length - 1 : i;
}

function xAxis(box, x) {
  return [
    [0, 0.25, 0.5, 0.75, 1].map((share) =>
      svg("text", { x: x(share), y: box.height - box.bottom + 15, "text-anchor": share ? (share === 1 ? "end" : "middle") : "start" }, `${100 * share} %`),
    ),
    svg("text", { class: "chart-unit", x: x(0.5), y: box.height - 6, "text-anchor": "middle" }, "share of the range, from its weakest hands"),
  ];
}

function yAxis(box, low, high, y, write) {
  return ticks(low, high).map((value) => [
    svg("line", { class: "chart-grid", x1: box.left, x2: box.width - box.right, y1: y(value), y2: y(value) }),
    svg("text", { x: box.left - 5, y: y(value) + 4, "text-anchor": "end" }, write(value)),
  ]);
}

/** Return round numbers between two limits, about five of them. */
function ticks(low, high) {
  const rough = (high - low) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((each) => each >= rough * 0.999);
  const found = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + 1e-9 * step; value += step)
    found.push(Math.abs(value) < step / 1e6 ? 0 : value);
  return found;
}
