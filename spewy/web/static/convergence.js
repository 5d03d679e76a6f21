/** Draws how exploitability has fallen over time, on a logarithmic scale. */

import { el, svg } from "./dom.js";
import { duration } from "./format.js";

const WIDE = { width: 720, height: 300, left: 62, right: 14, top: 14, bottom: 40 };
const NARROW = { width: 360, height: 260, left: 56, right: 10, top: 14, bottom: 40 };

/**
 * Draw the curve of a solve's exploitability over time.
 * @param {Array<Array<number>>} curve for each check the sweeps, the seconds and the exploitability.
 * @param {object} options `unit` of exploitability; `target`, or null.
 */
export function convergenceChart(curve, { unit, target }) {
  const points = curve.filter(([, , value]) => value > 0);
  if (points.length < 2) return el("p", { class: "note" }, "The curve begins after two checks.");
  const box = matchMedia("(max-width: 640px)").matches ? NARROW : WIDE;
  const values = points.map(([, , value]) => value);
  const low = Math.log10(Math.min(...values, target || Infinity)) - 0.05;
  const high = Math.log10(Math.max(...values, target || 0)) + 0.05;
  const last = points.at(-1)[1] || 1;
  const x = (seconds) => box.left + (seconds / last) * (box.width - box.left - box.right);
  const y = (value) => box.top + ((high - Math.log10(value)) / (high - low)) * (box.height - box.top - box.bottom);
  const path = points.map(([, seconds, value], i) => `${i ? "L" : "M"}${x(seconds).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const text = `exploitability fell from ${writeLevel(values[0])} to ${writeLevel(values.at(-1))} ${unit} in ${duration(last)}`;
  return svg(
    "svg",
    { class: "convergence", viewBox: `0 0 ${box.width} ${box.height}`, role: "img", "aria-label": text },
    chartLevels(low, high).map((value) => [
      svg("line", { class: "chart-grid", x1: box.left, x2: box.width - box.right, y1: y(value), y2: y(value) }),
      svg("text", { x: box.left - 6, y: y(value) + 4, "text-anchor": "end" }, writeLevel(value)),
    ]),
    [0, 0.5, 1].map((share) =>
      svg("text", { x: x(share * last), y: box.height - box.bottom + 16, "text-anchor": ["start", "middle", "end"][2 * share] }, share ? duration(share * last) : "0"),
    ),
    svg("text", { class: "chart-unit", x: x(last / 2), y: box.height - 6, "text-anchor": "middle" }, "time"),
    svg("text", { class: "chart-unit", x: -(box.height - box.bottom + box.top) / 2, y: 11, transform: "rotate(-90)", "text-anchor": "middle" }, `exploitability, ${unit === "%" ? "% of the pot" : unit}`),
    target > 0 ? [svg("line", { class: "target-line", x1: box.left, x2: box.width - box.right, y1: y(target), y2: y(target) }), svg("text", { class: "target-text", x: box.left + 4, y: y(target) - 4 }, "target")] : null,
    svg("path", { class: "convergence-line", d: path }),
  );
}

/** Return round numbers between two powers of ten, given by their exponents. */
function chartLevels(low, high) {
  const found = [];
  const steps = high - low > 2 ? [1] : high - low > 1 ? [1, 3] : [1, 2, 5];
  for (let power = Math.floor(low); power <= high; power++)
    for (const step of steps) {
      const exponent = Math.log10(step) + power;
      if (exponent >= low && exponent <= high) found.push(step * 10 ** power);
    }
  return found;
}

function writeLevel(value) {
  return String(Number(value.toPrecision(2)));
}
