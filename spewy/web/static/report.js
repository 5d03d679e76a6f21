/** A report over cards or boards as bars, as a table and as a map of cards, and the panel of next cards. */

import { drawAnswer, el, fill, sortTable, svg } from "./dom.js";
import { RANKS, SUITS, cardList, cardNode, cardText } from "./cards.js";
import { amount, chips, evWriter, fixed, known, percent, rescaled, scaleColour } from "./format.js";
import { positionKey, remembering } from "./page.js";

const SEATS_OF_REPORT = ["oop", "ip"];
const BAR_HEIGHT = 190;
const MOST_LABELS = 52;

/** Return the rows of a report as a list, each with its `name`. */
export function reportRows(report) {
  return Object.entries(report.cards || report.boards).map(([name, row]) => ({ name, ...row }));
}

/**
 * Return the quantities of a report: each has an `id`, a `title`, `value(row)`, `text(value)`, and `brief(value)` with a
 * shorter text; the quantity `mix` is the frequencies of all actions and has no value.
 */
export function reportQuantities(report) {
  const found = report.actions.map((action, i) => ({
    id: action,
    title: `how often ${report.action_words[i]}`,
    short: report.action_words[i],
    value: (row) => row.frequencies[i],
    text: percent,
    brief: briefShare,
  }));
  const figures = [
    ["ev", `EV in ${report.unit}`, "EV", evWriter(report.pot), (value) => fixed(value, Math.abs(value) < 100 ? 1 : 0)],
    ["equity", "equity", "equity", percent, briefShare],
    ["realisation", "EV realised", "realised", (value) => percent(value, 0), briefShare],
  ];
  for (const [key, title, short, text, brief] of figures)
    for (const seat of [0, 1])
      found.push({
        id: `${key}_${SEATS_OF_REPORT[seat]}`,
        title: `${title} of ${SEATS_OF_REPORT[seat]}`,
        short: `${short} ${SEATS_OF_REPORT[seat]}`,
        value: (row) => row[key][seat],
        text,
        brief,
      });
  const useful = found.filter((quantity) => known(quantity.value(report.average)));
  return report.actions.length > 1 ? [{ id: "mix", title: "how often each action" }, ...useful] : useful;
}

function briefShare(share) {
  return (100 * share).toFixed(0);
}

/** Make a select field with which a reader chooses the quantity of a report to show. */
export function quantityField(quantities, chosen, choose) {
  return [
    el("label", { for: "report-quantity" }, "show"),
    el(
      "select",
      { id: "report-quantity", onchange: (event) => choose(event.target.value) },
      quantities.map(({ id, title }) => el("option", { value: id, selected: id === chosen.id }, title)),
    ),
  ];
}

/** Make a legend of the actions with their frequencies on average. */
export function actionLegend(report) {
  return el(
    "ul",
    { class: "shares" },
    report.action_words.map((word, i) =>
      el("li", {}, el("span", { class: "swatch", style: { "background-color": report.colours[i] } }), word, " ", el("b", {}, percent(report.average.frequencies[i]))),
    ),
  );
}

/**
 * Draw bars of a quantity, one for each row, with a line at the average.
 * @param {Array<object>} rows rows in the order of the bars.
 * @param {object} options `open(row)`: called for a click on a bar.
 */
export function reportBars(report, rows, quantity, open) {
  const width = 1000;
  const step = width / Math.max(rows.length, 1);
  const told = el("p", { class: "chart-values", "aria-live": "polite" }, "Point at a bar to see its values.");
  const tell = (row) => fill(told, el("b", {}, cardText(row.name)), " ", rowText(report, row, quantity));
  const heights = quantity.id === "mix" ? null : barScale(rows.map(quantity.value), quantity.value(report.average));
  const bars = rows.map((row, i) =>
    svg(
      "g",
      { onpointerenter: () => tell(row), onclick: () => open(row) },
      svg("rect", { class: "bar-back", x: i * step, y: 0, width: step, height: BAR_HEIGHT }),
      quantity.id === "mix" ? stackedBar(report, row, i, step) : plainBar(quantity.value(row), heights, i, step),
    ),
  );
  const mean = heights ? svg("line", { class: "bar-mean", x1: 0, x2: width, y1: heights(quantity.value(report.average)), y2: heights(quantity.value(report.average)) }) : null;
  return el(
    "div",
    {},
    svg(
      "svg",
      { class: "bars", style: { width: `min(100%, ${5 * rows.length}rem)` }, viewBox: `0 0 ${width} ${BAR_HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": `bars: ${quantity.title}, by ${report.cards ? "card" : "board"}; the table has the numbers` },
      bars,
      mean,
    ),
    rows.length <= MOST_LABELS ? barLabels(rows) : null,
    told,
    heights ? el("p", { class: "note" }, barNote(rows, quantity, quantity.value(report.average))) : null,
  );
}

function barLabels(rows) {
  const cells = rows.map((row) => el("span", {}, cardList(row.name).map((card) => el("span", { class: `suit-${card[1]}` }, cardText(card)))));
  return el("div", { class: rows.length > 14 ? "bar-labels many" : "bar-labels", "aria-hidden": "true", style: { width: `min(100%, ${5 * rows.length}rem)` } }, cells);
}

function barNote(rows, quantity, mean) {
  const values = rows.map(quantity.value).filter(known);
  const [low, high] = [Math.min(...values), Math.max(...values)].map(quantity.text);
  return `${quantity.title}: the lowest bar is ${low}, the highest ${high}; the dashed line is the average, ${quantity.text(mean)}.`;
}

function rowText(report, row, quantity) {
  const shares = report.action_words.map((word, i) => `${word} ${percent(row.frequencies[i])}`);
  const seats = [0, 1].map((seat) => `EV ${SEATS_OF_REPORT[seat]} ${amount(row.ev[seat])} ${report.unit}, equity ${percent(row.equity[seat])}`);
  const first = quantity.id === "mix" ? shares : [`${quantity.short} ${quantity.text(quantity.value(row))}`, ...shares];
  return [...first, ...seats].join(", ");
}

function stackedBar(report, row, i, step) {
  let below = 0;
  return row.frequencies.map((share, a) => {
    const height = (share || 0) * BAR_HEIGHT;
    below += height;
    return svg("rect", { x: i * step, y: BAR_HEIGHT - below, width: step * 0.92, height, fill: report.colours[a] });
  });
}

function plainBar(value, height, i, step) {
  if (!known(value)) return null;
  return svg("rect", { class: "bar-plain", x: i * step, y: height(value), width: step * 0.92, height: BAR_HEIGHT - height(value) });
}

/** Return a function from a value to its height in the drawing; the lowest bar keeps a tenth of the height. */
function barScale(values, mean) {
  const all = [...values, mean].filter(known);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  return (value) => BAR_HEIGHT * (1 - (high > low ? 0.1 + (0.88 * (value - low)) / (high - low) : 0.5));
}

/**
 * Make the table of a report.
 * @param {object} options `order`: the order of the rows, which the table changes; `open(row)`: called for a click on a
 *   row's name; `extra`: more columns; `sorted(rows)`: called with the rows in their order.
 */
export function reportTable(report, rows, { order, open, extra = [], sorted }) {
  const quantities = reportQuantities(report).filter(({ id }) => id !== "mix");
  const name = {
    id: "name",
    title: report.cards ? "card" : "board",
    head: true,
    value: (row) => row.place,
    text: (row) => (row.place === null ? "average" : nameButton(row, open)),
  };
  const weight = { id: "weight", title: "weight", value: (row) => row.weight, text: (row) => percent(row.weight, 2) };
  const figures = quantities.map(({ id, short, value, text }) => ({ id, title: short, value, text: (row) => text(value(row)) }));
  const placed = rows.map((row, place) => ({ ...row, place }));
  return sortTable(placed, [name, weight, ...figures, ...extra], {
    order,
    label: `table by ${name.title}`,
    last: { ...report.average, name: "average", place: null },
    sorted,
  });
}

function nameButton(row, open) {
  return el("button", { type: "button", class: "cards-button", "data-open": row.name, onclick: () => open(row) }, cardList(row.name).map(cardNode));
}

// The panel of next cards: a report over all cards that can be dealt, as a map of cards, as bars and as a table.

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

function runoutNodes(report, { board }, { folder, place, source, go }) {
  const rows = reportRows(report);
  const quantities = reportQuantities(report);
  const usual = report.actions.length === 1 ? quantities.find(({ id }) => id === `ev_${SEATS_OF_REPORT[report.player]}`) : null;
  const quantity = quantities.find(({ id }) => id === place.of) || usual || quantities[0];
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
    el("div", { class: "tools" }, quantityField(quantities, quantity, (of) => go({ of })), tableButton(source, { folder, line: report.line, board })),
    quantity.id === "mix" ? actionLegend(report) : null,
    single ? cardHeat(report, rows, quantity, open) : null,
    bars,
    el("p", { class: "note" }, single ? "Click a card to go there. The weight of a card is how likely it is, given both ranges." : "One deal stands for all that are equal up to suits."),
    table,
  ];
}

/** Make a button that saves the table of a report as the file of `spewy report --csv`. */
function tableButton(source, query) {
  const failure = el("span", { class: "field-error", role: "alert" });
  const save = async () => {
    fill(failure);
    try {
      const href = URL.createObjectURL(await source.reportTable(query));
      const name = [query.folder, query.line, query.board].filter(Boolean).join("-").replace(/[^\w.-]+/g, "_");
      el("a", { href, download: `${name}-cards.csv` }).click();
    } catch (error) {
      fill(failure, error.message);
    }
  };
  return [el("button", { type: "button", class: "small", id: "report-csv", title: "save the table, as spewy report --csv does", onclick: save }, "CSV"), failure];
}

function runoutTitle(report) {
  const who = report.player === null ? "nobody acts any more" : `${report.player ? "ip" : "oop"} to act`;
  return `After ${report.words || "the deal"}, then each card: ${who}, pot ${chips(report.pot)} ${report.unit}.`;
}

// A map of cards, 13 ranks wide and 4 suits high, coloured by a quantity of a report.

/**
 * Make the map of cards for a report, coloured by one of its quantities.
 * @param {object} report report over single cards.
 * @param {Array<object>} rows its rows.
 * @param {object} quantity one of `reportQuantities`.
 * @param {function} open called with the row of a card for a click.
 */
function cardHeat(report, rows, quantity, open) {
  const byCard = Object.fromEntries(rows.map((row) => [row.name, row]));
  const ranks = [...RANKS].filter((rank) => rows.some((row) => row.name[0] === rank));
  const suits = [...SUITS].filter((suit) => rows.some((row) => row.name[1] === suit));
  const share = quantity.id === "mix" ? null : rescaled(rows.map(quantity.value).filter(known));
  return el(
    "div",
    { class: "heat-cards", role: "group", "aria-label": `cards by ${quantity.title}`, style: { "grid-template-columns": `repeat(${ranks.length}, minmax(0, 3.6rem))` } },
    suits.flatMap((suit) => ranks.map((rank) => heatCard(report, byCard[rank + suit], rank + suit, quantity, share, open))),
  );
}

function heatCard(report, row, card, quantity, share, open) {
  if (!row) return el("span", { class: "heat-card absent" }, cardNode(card));
  const value = quantity.id === "mix" ? null : quantity.value(row);
  const text = quantity.id === "mix" ? "" : quantity.text(value);
  const look = share && known(value) ? scaleColour(share(value)) : null;
  const style = look ? { "background-color": look.colour, color: look.ink } : { "background-image": mixStripes(report, row) };
  const told = quantity.id === "mix" ? report.action_words.map((word, i) => `${word} ${heatShare(row.frequencies[i])}`).join(", ") : `${quantity.title} ${text}`;
  return el(
    "button",
    { type: "button", class: "heat-card", "data-card": card, style, disabled: row.weight === null || row.weight === 0, title: told, "aria-label": `${card}: ${told}`, onclick: () => open(row) },
    cardNode(card),
    known(value) ? el("span", { class: "heat-number" }, quantity.brief(value)) : null,
  );
}

function heatShare(share) {
  return known(share) ? `${(100 * share).toFixed(0)}%` : "–";
}

function mixStripes(report, row) {
  let start = 0;
  const stops = row.frequencies.map((share, i) => {
    const stop = `${report.colours[i]} ${(100 * start).toFixed(1)}% ${(100 * (start + share)).toFixed(1)}%`;
    start += share || 0;
    return stop;
  });
  return stops.length ? `linear-gradient(to right, ${stops.join(", ")})` : "none";
}
