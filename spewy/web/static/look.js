/** The look page: the ribbon, both players' grids, and panels with more about the position. */

import { el, fill } from "./dom.js";
import { boardNode } from "./cards.js";
import { filterField } from "./filterfield.js";
import { amount, known, percent } from "./format.js";
import { createGrid } from "./grid.js";
import { handCard } from "./handcard.js";
import { handTable } from "./hands.js";
import { ribbonNode } from "./ribbon.js";
import { noteIfLate } from "./waiting.js";

const SEAT_TITLES = ["oop (first to act)", "ip (last to act)"];
const HEATS = [
  ["strategy", "strategy"],
  ["reach", "reach, %"],
  ["EV", "EV"],
  ["equity", "equity, %"],
  ["realisation", "EV realised, %"],
  ["regret", "regret to the best action"],
];

/** Scroll a box sideways until a part of it is visible; the page itself stays where it is. */
function scrollSideways(box, part) {
  const [outer, inner] = [box.getBoundingClientRect(), part.getBoundingClientRect()];
  if (inner.left < outer.left) box.scrollLeft -= outer.left - inner.left;
  else if (inner.right > outer.right) box.scrollLeft += inner.right - outer.right;
}

/**
 * Show positions of a solution in an element.
 * @param {Element} root element to fill.
 * @param {object} source answers questions about the solution: `position(query, signal)`, and more for some panels.
 * @param {object} options `panels`: panels below the grids, each `{id, title, shows(context), draw(element, context)}`;
 *   `filters`: whether the source can filter hands; `moved(place)`: called with the new place
 *   `{line, board, heat, filter, hand, seat, panel}`; `answered(position)`: called with each new position.
 * @returns {object} `show(folder, place, summary)` shows a place, `key(event)` obeys a key and tells whether it did, and
 *   `context()` is what panels get.
 */
export function createLook(root, source, { panels = [], filters = true, moved = () => {}, answered = () => {} }) {
  const look = { place: {}, position: null, asked: null, folder: null, summary: null, filterError: null, filterNames: null };
  const handsPanel = { id: "hands", title: "Hands", shows: ({ position }) => Boolean(position.views && position.views[0].grid), draw: drawHands };
  const all = [handsPanel, ...panels];
  const seats = [0, 1].map(createSeat);
  const grids = el("div", { class: "grids" });
  const decision = el("section", { class: "decision", "aria-label": "both players' hands" });

  async function show(folder, place, summary = null) {
    if (look.asked) look.asked.abort();
    const asked = new AbortController();
    const changed = folder !== look.folder || needsAnswer(look.place, place) || !look.position;
    Object.assign(look, { asked, folder, place, summary: summary || look.summary });
    root.setAttribute("aria-busy", "true");
    const ended = noteIfLate(root);
    try {
      if (changed) {
        const position = await askedPosition(folder, place, asked.signal);
        if (asked.signal.aborted) return;
        look.position = position;
        answered(position);
      }
      draw();
    } catch (error) {
      if (error.name === "AbortError") return;
      look.position = null;
      fill(root, el("p", { class: "error", role: "alert" }, error.message), restart());
    } finally {
      ended();
      if (look.asked === asked) root.removeAttribute("aria-busy");
    }
  }

  /** Ask for a position; if its filter alone is wrong, return the position of all hands and remember the error. */
  async function askedPosition(folder, place, signal) {
    const query = { folder, line: place.line, board: place.board };
    look.filterError = null;
    if (!place.filter) return source.position(query, signal);
    try {
      return await source.position({ ...query, filter: place.filter }, signal);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      const position = await source.position(query, signal);
      look.filterError = error.message;
      return position;
    }
  }

  function restart() {
    return el("p", {}, el("button", { type: "button", onclick: () => move({ line: "", board: "" }) }, "back to the first decision"));
  }

  function move(change) {
    const elsewhere = "line" in change || "board" in change;
    moved({ ...look.place, ...(elsewhere ? { hand: "" } : {}), ...change });
  }

  function context() {
    const { position, place, folder, summary, filterError } = look;
    return { position, place, folder, summary, source, go: move, filter: filterError ? "" : place.filter || "" };
  }

  function draw() {
    const { position, place } = look;
    const focused = root.getRootNode().activeElement;
    const here = focused && root.contains(focused) ? focused : null;
    const kept = here && (here.getAttribute("data-hand") || here.getAttribute("data-step") || here.id);
    fill(root, ribbonNode(position, move), facts(position), position.views ? decisionNode(position, place) : null, drawPanels());
    if (kept) {
      const again = root.querySelector(`[data-hand="${kept}"][tabindex="0"], [id="${kept}"]`);
      if (again) again.focus({ preventScroll: true });
    }
    for (const current of root.querySelectorAll('.stage.here, .tabs [aria-selected="true"]'))
      scrollSideways(current.closest(".ribbon, .tabs"), current);
  }

  function facts(position) {
    const rows = [
      ["board", position.board ? boardNode(position.board) : "none yet"],
      ["pot", `${amount(position.pot)} ${position.unit}`],
    ];
    if (position.totals && position.totals.equity.some(known))
      for (const seat of [0, 1])
        rows.push([
          SEAT_TITLES[seat].slice(0, 3).trim(),
          `EV ${amount(position.totals.ev[seat])}, equity ${percent(position.totals.equity[seat])}, ` +
            `realised ${percent(position.totals.realisation[seat], 0)}`,
        ]);
    if (position.board_bucket !== null && position.board_bucket !== undefined)
      rows.push(["board bucket", String(position.board_bucket)]);
    return el("dl", { class: "facts" }, rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
  }

  function decisionNode(position, place) {
    const heat = place.heat || "strategy";
    const tools = el(
      "div",
      { class: "tools" },
      el("label", { for: "heat" }, "show"),
      el(
        "select",
        { id: "heat", onchange: (event) => move({ heat: event.target.value }) },
        HEATS.map(([value, text]) => el("option", { value, selected: value === heat }, text)),
      ),
      filters ? filterOf(place) : null,
    );
    fill(grids, position.views.map((view) => seats[view.player](position, view, heat, place)));
    return fill(decision, position.views[0].grid ? tools : null, grids);
  }

  function filterOf(place) {
    return filterField({
      value: place.filter || "",
      error: look.filterError,
      names: filterNames,
      choose: (text) => move({ filter: text }),
    });
  }

  async function filterNames() {
    if (!look.filterNames) look.filterNames = (await source.filters()).names;
    return look.filterNames;
  }

  /** Make a function that draws a player's hands at a position in an element, always the same, and returns the element. */
  function createSeat(player) {
    const node = el("article", { class: "seat" });
    let card = null;
    const grid = createGrid({
      pick: (name) => move({ hand: name, seat: String(player), panel: "hands" }),
      point: (name, cell) => card.point(name, cell),
      label: `hands of ${SEAT_TITLES[player]}`,
    });

    return function seatNode(position, view, heat, place) {
      const acts = player === position.player;
      const shares = view.words.map((word, i) =>
        el(
          "li",
          {},
          el("span", { class: "swatch", style: { "background-color": view.colours[i] } }),
          word,
          " ",
          el("b", {}, percent(view.shares[i])),
        ),
      );
      const head = [
        el("h2", {}, SEAT_TITLES[player], acts ? " to act" : " waits", el("small", {}, ` ${view.combos.toFixed(1)} hands`)),
        el("ul", { class: "shares" }, shares),
      ];
      if (!view.grid) return fill(node, head, handTable(view, null));
      const isChosen = Number(place.seat || position.player) === player;
      card = handCard(view);
      grid.draw(view, {
        heat: acts || heat !== "regret" ? heat : "strategy",
        selected: isChosen ? place.hand || null : null,
      });
      return fill(node, head, grid.node, card.node);
    };
  }

  function drawHands(element, { position, place }) {
    const seat = Number(place.seat || position.player);
    const view = position.views.find((each) => each.player === seat);
    const title = place.hand ? `${place.hand} of ${SEAT_TITLES[seat]}` : `all hands of ${SEAT_TITLES[seat]}`;
    const choices = position.views.map((each) =>
      el(
        "button",
        {
          type: "button",
          "aria-pressed": each.player === seat ? "true" : "false",
          onclick: () => move({ seat: String(each.player) }),
        },
        each.player ? "ip" : "oop",
      ),
    );
    const every = place.hand ? el("button", { type: "button", onclick: () => move({ hand: "" }) }, "all hands") : null;
    fill(element, el("h3", {}, title), el("div", { class: "tools" }, choices, every), handTable(view, place.hand || null));
  }

  function drawPanels() {
    const { position, place } = look;
    const shown = all.filter((panel) => panel.shows(context()));
    if (!shown.length) return null;
    const current = shown.find((panel) => panel.id === place.panel) || shown[0];
    const body = el("div", { class: "panel", role: "tabpanel", id: "panel", "aria-labelledby": `tab-${current.id}` });
    const tabs = shown.map((panel) =>
      el(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${panel.id}`,
          "aria-selected": panel === current ? "true" : "false",
          "aria-controls": "panel",
          onclick: () => move({ panel: panel.id }),
        },
        panel.title,
      ),
    );
    current.draw(body, context());
    return el("section", { class: "panels" }, el("div", { class: "tabs", role: "tablist", "aria-label": "panels" }, tabs), body);
  }

  function back() {
    const last = look.position && look.position.path.at(-1);
    if (last) move({ line: last.line, board: last.board });
  }

  function take(number) {
    const step = look.position && look.position.steps[number];
    if (step && look.position.kind === "decision") move({ line: step.line, board: step.board });
  }

  function key(event) {
    if (event.key === "ArrowLeft" || event.key === "Backspace") back();
    else if (/^[1-9]$/.test(event.key)) take(Number(event.key) - 1);
    else {
      const target = { "/": "#filter", g: '[data-hand][tabindex="0"]' }[event.key];
      const element = target && root.querySelector(target);
      if (!element) return false;
      element.focus();
    }
    return true;
  }

  return { show, key, context };
}

function needsAnswer(old, place) {
  return ["line", "board", "filter"].some((name) => (old[name] || "") !== (place[name] || ""));
}
