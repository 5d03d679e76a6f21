/** Draws curves of both players as SVG, with axes, a legend, and values at the pointer or at a cursor of the keyboard. */

import { el, fill, svg } from "./dom.js";

const SEAT_NAMES = ["oop", "ip"];
const SMALL = { width: 380, height: 270, left: 46, right: 10, top: 10, bottom: 40 };
const LARGE = { width: 760, height: 330, left: 54, right: 14, top: 12, bottom: 42 };

/**
 * Draw curves that rise from the left to the right.
 * @param {Array<object>} curves for each player `{player, share, value}`: the number `share[i]` is where the step of
 *   height `value[i]` ends.
 * @param {object} options `low`, `high`: the limits of the y axis; `unit`: text of the y axis; `write(value)`: text of a
 *   value; `tell(curve, i)`: text of a step; `label`: accessible name of the chart.
 */
export function curveChart(curves, { low, high, unit, write, tell, label }) {
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
export function ticks(low, high) {
  const rough = (high - low) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((each) => each >= rough * 0.999);
  const found = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + 1e-9 * step; value += step)
    found.push(Math.abs(value) < step / 1e6 ? 0 : value);
  return found;
}
