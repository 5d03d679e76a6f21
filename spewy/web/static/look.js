/** The look component: the ribbon, both players' grids, their hands, and panels with more about the position. */

import { el, fill, growList, noteIfLate } from "./dom.js";
import { boardNode, cardList, cardNode, cardTable } from "./cards.js";
import { amount, known, percent, rarely, weight } from "./format.js";
import { classOf, createGrid } from "./grid.js";

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
    if (known(position.loss)) rows.push(["mean loss", `${amount(position.loss)} a hand`]);
    if (position.rare)
      rows.push(["reached by", `${rarely(position.reached)} of play: frequencies are less certain here`]);
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

// The ribbon: all decisions and deals before a position, and the actions that can follow it.

const SEATS = ["oop", "ip"];
const FLOPS_AT_ONCE = 90;

/**
 * Make the ribbon of a position.
 * @param {object} position the server's position; an exported page marks what its file lacks as `absent`.
 * @param {function} go called with `{line, board}` of another position.
 */
function ribbonNode(position, go) {
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

// A table of single hands: reach, frequencies, EV of each action, EV and equity.

const ROWS_AT_ONCE = 30;

/** Columns of numbers that a solve may not know: title, key of a hand's row, and function that writes a number. */
const HAND_FIGURES = [
  ["EV", "ev", amount],
  ["equity", "equity", percent],
  ["realised", "realisation", (share) => percent(share, 0)],
  ["regret", "regret", amount],
];

/**
 * Make a table of the hands of one class, or of all hands.
 * @param {object} view one player's hands, as the server's position has them.
 * @param {string|null} name hand class; null for all hands with reach.
 */
function handTable(view, name) {
  const all = Object.entries(view.hands).map(([hand, row], number) => [hand, row, number]);
  const rows = all.filter(([hand, row]) => (name ? classOf(hand) === name : row.reach > 0));
  const figures = HAND_FIGURES.filter(([, key]) => rows.some(([, row]) => known(row[key])));
  const head = [
    ["hand"],
    ...(view.kinds ? [["made hand, draws", "kind"]] : []),
    ...["reach", ...view.words, ...figures.map(([title]) => title)].map((title) => [title]),
  ];
  if (!rows.length) return el("p", { class: "note" }, name ? `no hand of ${name} comes here` : "no hand comes here");
  const body = el("tbody");
  const more = el("div", { class: "more-hands" });
  const scroll = el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "hands" },
    el(
      "table",
      { class: "hands" },
      el("thead", {}, el("tr", {}, head.map(([title, kind]) => el("th", { scope: "col", class: kind }, title)))),
      body,
    ),
    more,
  );
  const addAll = growList(scroll, body, rows.length, (place) => handRow(view, figures, rows[place]), {
    step: ROWS_AT_ONCE,
    grown: (left) =>
      fill(more, left ? el("button", { type: "button", onclick: () => addAll() }, `show all ${rows.length} hands`) : null),
  });
  return scroll;
}

function handRow(view, figures, [hand, row, number]) {
  return el(
    "tr",
    { "data-row": hand },
    el("th", { scope: "row" }, cardList(hand).map(cardNode)),
    view.kinds ? el("td", { class: "kind" }, view.kinds[number]) : null,
    el("td", {}, weight(row.reach)),
    row.strategy.map((share, i) => actionCell(view, row, share, i)),
    figures.map(([, key, write]) => el("td", {}, write(row[key]))),
  );
}

function actionCell(view, row, share, number) {
  return el(
    "td",
    { class: "mix" },
    el("span", {
      class: "bar",
      style: { width: `${(100 * share).toFixed(1)}%`, "background-color": view.colours[number] },
    }),
    el(
      "span",
      { class: "mix-text" },
      percent(share),
      known(row.action_ev[number]) ? [" ", el("small", {}, amount(row.action_ev[number]))] : null,
    ),
  );
}

// A card with the hands of one class, beside the grid's cell under the pointer or with the focus.

const GAP = 8;

/**
 * Make an element for the card, and a function `point(name, cell)` that shows a hand class beside a cell of the grid; the
 * name null hides the card. Style sheets put the card below the grid on narrow screens.
 * @param {object} view one player's hands, as the server's position has them.
 */
function handCard(view) {
  const node = el("div", { class: "hand-card", hidden: true });

  function point(name, cell) {
    const rows = name ? Object.entries(view.hands).filter(([hand, row]) => classOf(hand) === name && row.reach > 0) : [];
    node.hidden = !rows.length;
    if (!rows.length) return;
    fill(node, table(view, name, rows));
    place(node, cell.getBoundingClientRect());
  }

  return { node, point };
}

function table(view, name, rows) {
  const numbers = Object.fromEntries(Object.keys(view.hands).map((hand, number) => [hand, number]));
  const columns = ["reach", ...view.words.map((word, i) => [swatch(view, i), word])];
  return el(
    "table",
    {},
    el("thead", {}, el("tr", {}, [name, ...columns, "EV", ""].map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, rows.map(([hand, row]) => line(view, hand, row, numbers[hand]))),
  );
}

function line(view, hand, row, number) {
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, cardList(hand).map(cardNode)),
    el("td", {}, weight(row.reach)),
    row.strategy.map((share) => el("td", {}, percent(share, 0))),
    el("td", {}, amount(row.ev)),
    el("td", { class: "kind" }, view.kinds ? view.kinds[number] : ""),
  );
}

function swatch(view, i) {
  return el("span", { class: "swatch", style: { "background-color": view.colours[i] } });
}

/** Put the card to the right of a cell or, if there is no room, to the left; style sheets ignore this where it is static. */
function place(node, cell) {
  node.style.setProperty("left", "0px"); // where the card has room for its whole width
  const card = node.getBoundingClientRect();
  const right = cell.right + GAP + card.width <= innerWidth;
  const left = right ? cell.right + GAP : cell.left - GAP - card.width;
  const top = Math.min(cell.top, innerHeight - card.height - GAP);
  node.style.setProperty("left", `${Math.max(GAP, left)}px`);
  node.style.setProperty("top", `${Math.max(GAP, top)}px`);
}

// The field for filters of hands: suggests names, and shows an error beside the field.

const SEPARATOR = /[,&;]/;

/**
 * Make the field in which a reader types a filter of hands.
 * @param {object} options `value`: the filter now; `error`: what is wrong with it, or null; `names()`: promise of the
 *   names that a filter can have; `choose(text)`: called with a new filter.
 */
function filterField({ value, error, names, choose }) {
  const list = el("datalist", { id: "filter-names" });
  const input = el("input", {
    id: "filter",
    type: "search",
    list: "filter-names",
    autocomplete: "off",
    value,
    placeholder: "pair+&flush draw",
    title: "hands, such as AK, QQ+, Axs & hh, or kinds of hands, such as pair+&flush draw, set: a comma means or, & means and, + means or better; a semicolon separates filters that must all hold",
    "aria-invalid": error ? "true" : null,
    "aria-describedby": error ? "filter-error" : null,
    onchange: () => choose(input.value.trim()),
    oninput: suggest,
    onfocus: suggest,
  });

  async function suggest() {
    const known = await names().catch(() => []);
    const end = input.value.split(SEPARATOR).at(-1);
    const start = input.value.slice(0, input.value.length - end.length);
    fill(list, known.map((name) => el("option", { value: start + name })));
  }

  return [
    el("label", { for: "filter" }, "filter"),
    input,
    list,
    error ? el("span", { id: "filter-error", class: "field-error", role: "alert" }, error) : null,
  ];
}
