/** The look component: the ribbon, both players' grids, the hands of a class, and panels with more about the position. */

import { el, fill, growList, noteIfLate, sortTable } from "./dom.js";
import { boardNode, cardList, cardNode, cardTable } from "./cards.js";
import { amount, chips, evWriter, fixed, known, percent, rarely, weight } from "./format.js";
import { classOf, createGrid, handClasses, meanOf, mixBar } from "./grid.js";
import { store, stored } from "./page.js";

const SEATS = ["oop", "ip"];
const MEAN_LOSS = "EV that a hand of the range loses here, on average, to its best action: small if the solve is nearly exact, large where a lock forces bad play";
const SEAT_TITLES = ["out of position: acts first after the flop", "in position: acts last after the flop"];
const NO_MARKS = { view: (folder, position, view) => view, mark: () => null };
const HEATS = [
  ["strategy", "strategy"],
  ["both", "strategy and EV"],
  ["EV", "EV"],
  ["equity", "equity, %"],
  ["realisation", "EV realised, %"],
  ["reach", "reach, %"],
  ["regret", "regret to the best action"],
];

function chosenHeat({ heat }) {
  return HEATS.some(([name]) => name === heat) ? heat : "strategy";
}

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
 * @param {object} options `panels`: panels beside the grids, each `{id, title, shows(context), draw(element, context)}`;
 *   `filters`: whether the source can filter hands; `marks`: what the grid and the ribbon show of locks (`locks.js`); `moved(place)`: called with the new place
 *   `{line, board, heat, filter, group, hand, seat, panel}`; `answered(position)`: called with each new position.
 * @returns {object} `show(folder, place, summary)` shows a place, `forget()` makes the next `show` ask again, `key(event)` obeys a key and tells whether it did, and
 *   `context()` is what panels get.
 */
export function createLook(root, source, { panels = [], filters = true, marks = NO_MARKS, moved = () => {}, answered = () => {} }) {
  const look = { place: {}, position: null, asked: null, folder: null, summary: null, filterError: null, filterNames: null };
  const hands = handsNode();
  const [acting, waiting] = [createSeat(), createSeat()];
  const body = el("section", { "aria-label": "the position" });
  const panelBox = el("section", { class: "panels" });

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
        look.position = prepared(position);
        answered(position);
      }
      draw();
    } catch (error) {
      if (error.name === "AbortError") return;
      look.position = null;
      root.classList.remove("whole");
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
    moved({ ...look.place, ...(elsewhere ? { hand: "", seat: "" } : {}), ...change });
  }

  function context() {
    const { position, place, folder, summary, filterError } = look;
    return { position, place, folder, summary, source, go: move, redraw: () => look.position && draw(), filter: filterError ? "" : place.filter || "" };
  }

  function draw() {
    const { position, place } = look;
    const focused = root.getRootNode().activeElement;
    const here = focused && root.contains(focused) ? focused : null;
    const kept = here && (here.getAttribute("data-hand") || here.getAttribute("data-step") || here.id);
    root.classList.add("whole");
    fill(
      root,
      ribbonNode(position, move, (place) => marks.mark(look.folder, place)),
      el("div", { class: "bar" }, facts(position), position.views && position.views[0].grid ? tools(place, position.unit) : null),
      body,
    );
    body.className = position.views ? "decision" : "dealing";
    fill(body, position.views ? bothSeats(position, place) : followingNode(position, move), drawPanels());
    if (kept) {
      const again = root.querySelector(`[data-hand="${kept}"][tabindex="0"], [id="${kept}"]`);
      if (again) again.focus({ preventScroll: true });
    }
    for (const current of root.querySelectorAll('.ribbon > :last-child, .tabs [aria-selected="true"]'))
      scrollSideways(current.closest(".ribbon, .tabs"), current);
  }

  function facts(position) {
    const rows = [
      ["board", position.board ? boardNode(position.board) : "none yet"],
      ["pot", `${chips(position.pot)} ${position.unit}`],
    ];
    if (position.locked) rows.push(["locked", "the job fixes this decision"]);
    if (known(position.loss)) rows.push(["mean loss", `${amount(position.loss)} ${position.unit} a hand`, MEAN_LOSS]);
    if (look.summary && look.summary.quick_loss) rows.push(["a rough answer", look.summary.quick_loss]);
    if (position.rare)
      rows.push(["reached by", `${rarely(position.reached)} of play: frequencies are less certain here`]);
    if (position.board_bucket !== null && position.board_bucket !== undefined)
      rows.push(["board bucket", String(position.board_bucket)]);
    return el("dl", { class: "facts" }, rows.map(([name, value, title = null]) => el("div", { title }, el("dt", {}, name), el("dd", {}, value))));
  }

  function tools(place, unit) {
    const heat = chosenHeat(place);
    const full = stored("bars") === "full";
    const turn = () => {
      store("bars", full ? "reach" : "full");
      draw();
    };
    return el(
      "div",
      { class: "tools" },
      place.group ? el("button", { type: "button", class: "chosen-group", onclick: () => move({ group: "" }) }, `only ${place.group} ×`) : null,
      el("label", { for: "heat" }, "show"),
      el(
        "select",
        { id: "heat", onchange: (event) => move({ heat: event.target.value }) },
        HEATS.map(([value, text]) => el("option", { value, selected: value === heat }, value === "EV" || value === "regret" ? `${text}, ${unit}` : text)),
      ),
      el("button", { type: "button", id: "full-bars", "aria-pressed": full ? "true" : "false", title: "bars as high as their cell, or as high as the reach of the hands", onclick: turn }, "full height"),
      filters ? filterOf(place) : null,
    );
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

  /** Return the nodes of the player who acts, of the other player, and of the hands of a class. */
  function bothSeats(position, place) {
    const views = [position.player, 1 - position.player].map((player) => {
      const view = position.views.find((each) => each.player === player);
      return narrowed(marks.view(look.folder, position, view, place.panel === "lock"), place.group, position.board);
    });
    const nodes = [acting(position, views[0], place), waiting(position, views[1], place)];
    if (!views[0].grid) return nodes;
    const chosen = views.find((view) => view.player === Number(place.seat || position.player));
    hands.keep(place.hand ? { view: chosen, name: place.hand } : null, position);
    return [nodes[0], nodes[1], hands.node];
  }

  /** Make a function that draws a player's hands in an element, always the same, so that only changed cells are laid out. */
  function createSeat() {
    const node = el("article");
    let view = null;
    const grid = createGrid({
      pick: (name) => move(name === look.place.hand && String(view.player) === look.place.seat ? { hand: "" } : { hand: name, seat: String(view.player) }),
      // In a narrow window these hands stand between the grids and the tabs: they would push the grid from under the pointer.
      point: (name) => matchMedia("(min-width: 1000px)").matches && hands.point(name ? { view, name } : null),
    });

    return function seatNode(position, narrow, place) {
      view = narrow;
      const { player } = view;
      const acts = player === position.player;
      const heat = chosenHeat(place);
      node.className = acts ? "seat acts" : "seat waits";
      node.dataset.seat = SEATS[player];
      const head = acts ? el("div", { class: "stage here" }, seatHead(position, view, "to act"), stepsHere(view.steps || position.steps, move)) : seatHead(position, view, "waits");
      if (!view.grid) return fill(node, head, handTable(view, null, position));
      const isChosen = Number(place.seat || position.player) === player;
      grid.draw(view, {
        heat: acts || heat !== "regret" ? heat : "strategy",
        full: acts && stored("bars") === "full",
        selected: isChosen ? place.hand || null : null,
        label: `hands of ${SEATS[player]}`,
      });
      return fill(node, head, grid.node);
    };
  }

  function drawPanels() {
    const { position, place } = look;
    const shown = panels.filter((panel) => panel.shows(context()));
    if (!shown.length) return null;
    const current = shown.find((panel) => panel.id === place.panel) || shown[0];
    const body = el("div", { class: "panel", role: "tabpanel", id: "panel", tabindex: "0", "aria-labelledby": `tab-${current.id}` });
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
    return fill(panelBox, el("div", { class: "tabs", role: "tablist", "aria-label": "panels" }, tabs), body);
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

  return { show, key, context, forget: () => (look.position = null) };
}

function needsAnswer(old, place) {
  return ["line", "board", "filter"].some((name) => (old[name] || "") !== (place[name] || ""));
}

/** Add to a position what follows from its numbers: a row for each hand, with names and figures, and the hand classes. */
function prepared(position) {
  const [first, second] = position.views || [];
  if (second && !second.hands.names) Object.assign(second, { kinds: first.kinds, hands: { ...second.hands, names: first.hands.names } });
  for (const view of position.views || []) {
    view.hands = rowsOf(view.hands);
    Object.values(view.hands).forEach((row, number) => {
      row.kind = view.kinds ? view.kinds[number] : "";
      row.groups = row.kind.includes(",") ? row.kind.split(", ") : [row.kind, "no draw"];
      row.realisation = row.equity > 0 && known(row.ev) ? row.ev / (row.equity * position.pot) : null;
      row.regret = view.actions.length && known(row.ev) && row.action_ev.every(known) ? Math.max(0, Math.max(...row.action_ev) - row.ev) : null;
    });
    if (view.kinds) view.grid = { classes: handClasses(view.hands, position.board) };
    if (view.player !== position.player) view.colours = ["var(--held)"];
  }
  return position;
}

/** Return a row for each hand, by name. */
function rowsOf({ names, columns }) {
  const { strategy, action_ev, ...single } = columns;
  const figures = Object.entries(single);
  const row = (place) => {
    const found = { strategy: strategy.map((of) => of[place]), action_ev: action_ev.map((of) => of[place]) };
    for (const [name, column] of figures) found[name] = column[place];
    return found;
  };
  return Object.fromEntries(names.map((name, number) => [name, row(number)]));
}

/** Whether a hand belongs to a group: a made hand, a draw, or "no draw". */
export function inGroup({ groups }, group) {
  return groups.includes(group);
}

function narrowed(view, group, board) {
  if (!group || !view.grid) return view;
  const hands = Object.fromEntries(Object.entries(view.hands).filter(([, row]) => inGroup(row, group)));
  return { ...view, hands, grid: { classes: handClasses(hands, board) } };
}

function seatHead(position, view, what) {
  const { totals } = position;
  const figures = totals && known(totals.equity[view.player]) ? [["EV", `${evWriter(position.pot)(totals.ev[view.player])} ${position.unit}`], ["equity", percent(totals.equity[view.player])]] : [];
  return el(
    "h2",
    { class: "stage-title", title: SEAT_TITLES[view.player] },
    el("span", {}, `${SEATS[view.player]} ${what}`),
    [["", `${view.combos.toFixed(1)} hands`], ...figures].map(([name, value]) => el("small", {}, name, " ", el("b", {}, value))),
  );
}

// The ribbon: all decisions and deals before a position, and the actions that can follow it.

const FLOPS_AT_ONCE = 90;

/**
 * Make the ribbon of a position: the decisions and deals before it, each action with a line as long as its frequency.
 * @param {object} position the server's position; an exported page marks what its file lacks as `absent`.
 * @param {function} go called with `{line, board}` of another position.
 * @param {function} mark returns the mark of a decision, or null.
 */
export function ribbonNode(position, go, mark = () => null) {
  const stages = position.path.map((stage, number) => (stage.kind === "cards" ? dealtStage(stage, number, go) : decisionStage(stage, go, mark)));
  const here = { decision: SEATS[position.player], chance: "next cards" }[position.kind] || position.kind;
  return el("nav", { class: "ribbon", "aria-label": "actions and cards" }, stages, el("span", { class: "ribbon-end", "aria-current": "step" }, here, mark(position)));
}

function decisionStage(stage, go, mark) {
  const steps = stage.steps.map((step, number) => {
    const taken = number === stage.taken;
    return stepButton(step, { class: taken ? "step taken" : "step", style: shareStyle(step), "aria-pressed": taken ? "true" : "false", "aria-label": step.words }, go, taken ? [swatchOf(step), step.words] : shortWords(step.words));
  });
  return el("div", { class: "stage" }, stageTitle(SEATS[stage.player], "show this decision", stage, go), mark(stage), steps);
}

function stageTitle(text, title, stage, go) {
  return el(
    "button",
    { type: "button", class: "stage-title", disabled: Boolean(stage.absent), title: stage.absent ? "not in this file" : title, onclick: () => go({ line: stage.line, board: stage.board }) },
    text,
  );
}

function stepButton(step, attributes, go, ...children) {
  return el(
    "button",
    {
      type: "button",
      "data-step": step.name,
      disabled: Boolean(step.absent),
      title: step.absent ? "not in this file" : [step.words, known(step.frequency) && percent(step.frequency)].filter(Boolean).join(": "),
      onclick: () => go({ line: step.line, board: step.board }),
      ...attributes,
    },
    ...children,
  );
}

function shareStyle({ frequency, colour }) {
  return { "--share": `${(100 * (frequency || 0)).toFixed(1)}%`, "--colour": colour };
}

function swatchOf({ colour }) {
  return el("span", { class: "swatch", style: { "background-color": colour } });
}

/** Shorten the words of an action: "bet 60 % (120)" to "60 %", "raise to 300" to "300". */
function shortWords(words) {
  return words.startsWith("all-in") ? "all-in" : words.replace(/^(?:bet|raise to) /, "").replace(/ \(.*/, "");
}

/** Make a button for each action, with how often the range takes it. */
export function stepsHere(steps, go) {
  const button = (step) =>
    stepButton(step, { class: "step", style: shareStyle(step) }, go, el("span", { class: "step-name" }, step.words), el("span", { class: "step-share" }, percent(step.frequency), step.note ? el("small", {}, ` ${step.note}`) : null));
  return el("div", { class: "steps" }, steps.map(button));
}

function dealtStage(stage, number, go) {
  const cards = cardList(stage.dealt);
  const name = cards.length > 1 ? "flop" : number && cardList(stage.board).length === 3 ? "turn" : "river";
  return el("div", { class: "stage" }, stageTitle(name, "choose other cards", stage, go), el("span", { class: "stage-cards" }, cards.map(cardNode)));
}

/** Make what stands in place of the grids where nobody acts: the cards that can come, or how the hand ends. */
function followingNode(position, go) {
  if (position.kind === "showdown") return endStage(`showdown, pot ${chips(position.pot)}`);
  if (position.kind === "fold") return endStage(`fold: the other player wins the pot of ${chips(position.pot)}`);
  if (position.absent) return endStage(position.absent);
  const single = position.steps.every((step) => cardList(step.name).length === 1);
  const steps = Object.fromEntries(position.steps.map((step) => [step.name, step]));
  const pick = (name) => go({ line: steps[name].line, board: steps[name].board });
  const choice = single
    ? cardTable({ enabled: (card) => card in steps, pick, label: "next card" })
    : flopList(position.steps, pick);
  return el("div", { class: "stage here" }, el("div", { class: "stage-title" }, "next cards"), choice);
}

function endStage(text) {
  return el("div", { class: "stage here end" }, el("div", { class: "stage-title" }, text));
}

function flopList(deals, pick) {
  const list = el("div", { class: "flops" });
  const flop = ({ name }) =>
    el("button", { type: "button", class: "step", "data-step": name, onclick: () => pick(name) }, cardList(name).length ? cardList(name).map(cardNode) : name);
  growList(list, list, deals.length, (number) => flop(deals[number]), { step: FLOPS_AT_ONCE });
  return list;
}

// The hands of the class under the pointer, or of the class that was clicked; without one, what both ranges win.

/**
 * Make the element of the hands, and its functions: `keep(chosen, position)` sets what it shows while the pointer is
 * elsewhere, `point(chosen)` shows another class until it is called with null. A chosen class is `{view, name}`.
 */
function handsNode() {
  const node = el("section", { class: "class-hands", "aria-label": "hands of the chosen group" });
  const kept = { chosen: null, position: null };

  function keep(chosen, position) {
    Object.assign(kept, { chosen, position });
    point(null);
  }

  function point(chosen) {
    const shown = chosen || kept.chosen;
    fill(node, shown ? classHands(shown, kept.position) : rangesTable(kept.position));
  }

  return { node, keep, point };
}

function classHands({ view, name }, { pot, unit }) {
  const ev = evWriter(pot);
  const rows = Object.entries(view.hands).filter(([hand, row]) => classOf(hand) === name && row.reach > 0);
  const mean = meanOf(rows.map(([, row]) => row));
  const title = el("h3", {}, name, el("small", {}, `${SEATS[view.player]}, ${rows.length} ${rows.length === 1 ? "hand" : "hands"}; ${unitsText(unit)}`));
  if (!rows.length) return [title, el("p", { class: "note" }, `${SEATS[view.player]} does not have ${name} here.`)];
  const figures = [known(mean.ev) && ["EV", (row) => ev(row.ev), "combo-ev"], known(mean.equity) && ["equity", ({ equity }) => inPercent(equity, 1), "combo-equity"]].filter(Boolean);
  const head = ["", view.actions.length ? "strategy" : "reach", ...figures.map(([text]) => text), ""];
  return [
    title,
    el(
      "table",
      { class: "combos" },
      el("thead", {}, el("tr", {}, head.map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, rows.map(([hand, row]) => comboRow(view, figures, cardList(hand).map(cardNode), { ...row, frequencies: row.strategy }, hand))),
      rows.length > 1 ? el("tfoot", {}, comboRow(view, figures, "mean", { ...mean, reach: mean.reach / rows.length, kind: "" })) : null,
    ),
  ];
}

function comboRow(view, figures, name, row, hand = null) {
  const reach = el("span", { class: "reach-bar", style: { "--share": `${100 * row.reach}%` } }, weight(row.reach));
  return el(
    "tr",
    { "data-combo": hand },
    el("th", { scope: "row" }, name),
    el("td", { class: "mix" }, view.actions.length ? mixBar(view, row.frequencies) : reach),
    figures.map(([, write, style]) => el("td", { class: style }, write(row))),
    el("td", { class: "kind", title: row.kind }, row.kind),
  );
}

function rangesTable({ totals, views, pot, unit }) {
  const rows = [["hands", (seat) => views.find((view) => view.player === seat).combos.toFixed(1)]];
  if (totals && totals.equity.some(known))
    rows.push(
      [`EV, ${unit}`, (seat) => evWriter(pot)(totals.ev[seat])],
      ["equity", (seat) => percent(totals.equity[seat])],
      ["EV realised", (seat) => percent(totals.realisation[seat], 0), "EV divided by equity times pot"],
    );
  return [
    el("h3", {}, "both ranges"),
    el(
      "table",
      { class: "ranges" },
      el("thead", {}, el("tr", {}, ["", ...SEATS].map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, rows.map(([name, write, title]) => el("tr", { title }, el("th", { scope: "row" }, name), el("td", {}, write(0)), el("td", {}, write(1))))),
    ),
    el("p", { class: "note" }, "Point at a starting hand to see its hands; click or tap it to keep them here."),
  ];
}

// A table of single hands: reach, frequencies, EV of each action, EV and equity.

const handOrder = { column: "kind", ascending: false };

/** Columns of numbers that a solve may not know: title, key of a hand's row, and function that writes a number but an EV. */
const HAND_FIGURES = [
  ["EV", "ev", null],
  ["equity", "equity", (share) => inPercent(share, 1)],
  ["realised", "realisation", (share) => inPercent(share, 0)],
  ["regret", "regret", (value) => (known(value) ? fixed(value, 2) : "–")],
];

/** Say in which units tables of hands are. */
export function unitsText(unit) {
  return `EV in ${unit}, shares in %`;
}

/** Write a share in a column of percentages, without the sign. */
export function inPercent(share, digits) {
  return known(share) ? fixed(100 * share, digits) : "–";
}

/** Panel "Hands" of the look page: the hands of the chosen class, or all hands of a player. */
export const handsPanel = {
  id: "hands",
  title: "Hands",
  shows: ({ position }) => Boolean(position.views && position.views[0].grid),
  draw(element, { position, place, go }) {
    const seat = Number(place.seat || position.player);
    const view = narrowed(position.views.find((each) => each.player === seat), place.group, position.board);
    const whose = place.group ? `${place.group} of ${SEATS[seat]}` : SEATS[seat];
    const every = place.hand ? el("button", { type: "button", onclick: () => go({ hand: "" }) }, "all hands") : null;
    const title = el("h3", {}, place.hand ? `${place.hand} of ${whose}` : `all hands of ${whose}`);
    fill(element, el("div", { class: "tools" }, title, seatButtons(seat, go), every, el("span", { class: "note" }, unitsText(position.unit))), handTable(view, place.hand || null, position));
  },
};

/** Make the buttons that choose the player whose hands a panel shows. */
export function seatButtons(seat, go) {
  return SEATS.map((name, number) =>
    el("button", { type: "button", "aria-pressed": number === seat ? "true" : "false", onclick: () => go({ seat: String(number), hand: "" }) }, name),
  );
}

/**
 * Make a table of the hands of one class, or of all hands.
 * @param {object} view one player's hands.
 * @param {string|null} name hand class; null for all hands with reach.
 * @param {object} position the position: its pot sets the decimals of EVs.
 */
function handTable(view, name, { pot }) {
  const ev = evWriter(pot);
  const rows = Object.entries(view.hands)
    .map(([hand, row], place) => ({ ...row, hand, place }))
    .filter(({ hand, reach }) => (name ? classOf(hand) === name : reach > 0));
  if (!rows.length) return el("p", { class: "note" }, name ? `no hand of ${name} comes here` : "no hand comes here");
  const strength = view.groups ? Object.fromEntries(view.groups.made.map((made, place) => [made, -place])) : {};
  const columns = [
    { id: "hand", title: "hand", head: true, value: ({ place }) => place, text: ({ hand }) => cardList(hand).map(cardNode) },
    { id: "kind", title: "made hand, draws", style: "kind", value: ({ kind }) => strength[kind.split(", ")[0]], text: ({ kind }) => kind },
    { id: "reach", title: "reach", value: ({ reach }) => reach, text: ({ reach }) => weight(reach) },
    ...view.words.map((word, i) => ({ id: `action-${i}`, title: word, style: "mix", value: ({ strategy }) => strategy[i], text: (row) => actionCell(view, row, i, ev) })),
    ...HAND_FIGURES.filter(([, key]) => rows.some((row) => known(row[key]))).map(([title, key, write]) => ({ id: key, title, value: (row) => row[key], text: (row) => (write || ev)(row[key]) })),
  ];
  const shown = view.kinds ? columns : columns.filter(({ id }) => id !== "kind");
  return sortTable(rows, shown, { order: handOrder, label: "hands", most: 30, style: "hands", mark: ({ hand }) => ({ "data-row": hand }) });
}

function actionCell(view, row, number, ev) {
  const share = row.strategy[number];
  return [
    el("span", { class: "share-bar", style: { width: `${(100 * share).toFixed(1)}%`, "background-color": view.colours[number] } }),
    el("span", { class: "mix-text" }, inPercent(share, 1), known(row.action_ev[number]) ? [" ", el("small", {}, ev(row.action_ev[number]))] : null),
  ];
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
