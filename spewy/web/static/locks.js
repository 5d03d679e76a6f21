/** The Lock tab: locks hand by hand at decisions of a solve, drafted before a new solve plays them, and their marks. */

import { cardList } from "./cards.js";
import { el, fill, svg } from "./dom.js";
import { amount, percent, rarely, signedText } from "./format.js";
import { classOf, handClasses } from "./grid.js";
import { inGroup } from "./look.js";
import { placeAddress, readPlace } from "./page.js";

const LOCK_STEPS = [-100, 100, -10, -5, -1, 1, 5, 10];
const WHOLE_STEPS = { "-100": "never", 100: "always" };
const LOCK_DECIMALS = 6;
const ALMOST = 1e-9;
const ROUNDED_APART = 1e-4;
const POLL_MS = 1000;
const MOST_UNDONE = 50;
const LOCK_SEATS = ["oop", "ip"];
const LOCK_NOTE =
  "Each hand moves by the same number of points, and its other actions keep their proportion. A hand stops at 0 and 100 %, and the others do not make up for it. A hand that always took the action gets the other actions as the hands together take them. While this tab is open, the grid shows the lock.";

/** The drafts by folder. Each has `locks`, a `Map` by place, and `status`, the element that tells how its solve goes. */
const lockDrafts = new Map();

function lockDraft(folder) {
  if (!lockDrafts.has(folder)) lockDrafts.set(folder, { locks: new Map(), status: el("div", { role: "status" }), runs: false, scope: {} });
  return lockDrafts.get(folder);
}

const lockPlace = ({ line, board }) => `${line}|${board}`;

function lockAt(folder, place) {
  return lockDrafts.has(folder) ? lockDrafts.get(folder).locks.get(lockPlace(place)) : undefined;
}

// How a lock changes: by shares of each hand, `{hand: [action]}`, which sum to 1.

/** Move an action's share by `change`, between 0 and 1; the other shares keep their proportion, or get that of `others`. */
function movedShares(shares, action, change, others) {
  const target = Math.min(1, Math.max(0, shares[action] + change));
  const rest = shares.reduce((sum, share, i) => (i === action ? sum : sum + share), 0);
  return shares.map((share, i) => (i === action ? target : (1 - target) * (rest > ALMOST ? share / rest : others[i])));
}

/** Return the proportions of all actions but one in a mean, or equal ones; for hands that always take the one action. */
function proportions(mean, action) {
  const rest = mean.reduce((sum, share, i) => (i === action ? sum : sum + share), 0);
  return mean.map((share, i) => (i === action ? 0 : rest > ALMOST ? share / rest : 1 / (mean.length - 1)));
}

/** Return the mean shares of hands, weighted by reach; without weights if none of them comes to the decision. */
function meanShares(lock, strategy, hands) {
  const reached = hands.some((hand) => lock.reach[hand] > 0);
  const weights = hands.map((hand) => (reached ? lock.reach[hand] : 1));
  const whole = weights.reduce((sum, each) => sum + each, 0);
  return lock.actions.map((_, i) => hands.reduce((sum, hand, at) => sum + weights[at] * strategy[hand][i], 0) / whole);
}

/** Make a lock of a decision in which each hand plays as in the solve. */
function lockOf(position, words) {
  const view = position.views.find(({ player }) => player === position.player);
  const rows = Object.entries(view.hands);
  const exact = ({ strategy }) => strategy.map((share) => share / strategy.reduce((sum, each) => sum + each, 0));
  const own = Object.fromEntries(rows.map(([hand, row]) => [hand, exact(row)]));
  const solved = view.kinds ? alike(own, position.board) : own;
  const reach = Object.fromEntries(rows.map(([hand, row]) => [hand, row.reach]));
  const { line, board, player } = position;
  return { line, board, player, words, actions: view.actions, grouped: Boolean(view.kinds), reach, solved, now: solved, before: [], told: "" };
}

/**
 * Give equal shares to hands that differ only by suits which the board treats alike, if only rounding sets them apart:
 * a lock that tells such suits apart makes the new solve up to six times as large.
 */
function alike(strategy, board) {
  const cards = cardList(board);
  const ranksOf = (suit) => (card) => (card[1] === suit ? card[0] : "-");
  const kind = (suit) => [...cards.slice(0, 3).map(ranksOf(suit)).sort(), ...cards.slice(3).map(ranksOf(suit))].join("");
  const first = {};
  const shares = Object.entries(strategy).map(([hand, own]) => {
    const name = classOf(hand);
    const kinds = hand[0] === name[0] ? [kind(hand[1]), kind(hand[3])] : [kind(hand[3]), kind(hand[1])];
    const key = [name, ...(name[2] ? kinds : kinds.sort())].join();
    const given = (first[key] ||= own);
    return [hand, given.every((share, i) => Math.abs(share - own[i]) < ROUNDED_APART) ? given : own];
  });
  return Object.fromEntries(shares);
}

function keepForUndo(lock) {
  lock.before = [...lock.before, lock.now].slice(-MOST_UNDONE);
}

/** Move an action's share of some hands by `change`, and tell what became of hands that reach 0 or 100 %. */
function moveHands(lock, hands, action, change, name) {
  if (lock.actions.length < 2 || !hands.length) return;
  const mean = meanShares(lock, lock.now, hands);
  const others = proportions(mean, action);
  keepForUndo(lock);
  const clipped = hands.filter((hand) => lock.now[hand][action] + change > 1 + ALMOST || lock.now[hand][action] + change < -ALMOST);
  lock.now = { ...lock.now, ...Object.fromEntries(hands.map((hand) => [hand, movedShares(lock.now[hand], action, change, others)])) };
  const moved = meanShares(lock, lock.now, hands)[action] - mean[action];
  const end = change > 0 ? "100 %" : "0 %";
  const rest = clipped.length && Math.abs(change) < 1 ? ` ${clipped.length} of ${hands.length} ${hands.length === 1 ? "hand" : "hands"} stopped at ${end}, so the mean moved by ${points(moved)}.` : "";
  lock.told = Math.abs(change) < 1 ? `${name} ${points(change)} points.${rest}` : `${name} ${end}.`;
}

function points(share) {
  return signedText(share, (size) => (100 * size).toFixed(1));
}

function isChanged(lock, hand) {
  return lock.now[hand].some((share, i) => Math.abs(share - lock.solved[hand][i]) > 10 ** -LOCK_DECIMALS);
}

function changedHands(lock) {
  return Object.keys(lock.now).filter((hand) => isChanged(lock, hand));
}

// Marks: what the grid and the ribbon show of the drafts.

/** What the look component asks about locks: the marked view of a player's hands, and the mark of a decision. */
export const lockMarks = {
  /** Return a view with the hand classes that a lock changes as `marked`, and `steps` that say whose shares they have: the lock's, as the hands, if they `show`. */
  view(folder, position, view, show) {
    const lock = view.player === position.player ? lockAt(folder, position) : undefined;
    if (!lock || !view.grid) return view;
    const changed = changedHands(lock);
    const marked = new Set(changed.map(classOf));
    const shares = meanShares(lock, lock.now, Object.keys(lock.now));
    const steps = changed.length ? position.steps.map((step, i) => (show ? { ...step, frequency: shares[i], note: "locked" } : { ...step, note: "without the lock" })) : position.steps;
    if (!show) return { ...view, marked, steps };
    const hands = Object.fromEntries(Object.entries(view.hands).map(([hand, row]) => [hand, { ...row, strategy: lock.now[hand] || row.strategy }]));
    return { ...view, marked, steps, hands, grid: { classes: handClasses(hands, position.board) } };
  },
  /** Return the mark of a decision, or null if it is not locked. */
  mark(folder, place) {
    if (!lockAt(folder, place)) return null;
    const padlock = svg("path", { d: "M3 7V5a3 3 0 0 1 6 0v2h1v6H2V7zm1.5 0h3V5a1.5 1.5 0 0 0-3 0z", fill: "currentColor" });
    return svg("svg", { class: "lock-mark", viewBox: "0 0 12 14", role: "img", "aria-label": "locked" }, padlock);
  },
};

// The tab.

/** Panel "Lock" of the look page: a draft of locks by hand, and the solve that plays them. */
export const lockPanel = {
  id: "lock",
  title: "Lock",
  shows: ({ position, source, summary }) =>
    Boolean(source.locks && position.kind === "decision" && position.views && summary && !summary.board_buckets),
  draw(element, context) {
    const { folder, position } = context;
    const draft = lockDraft(folder);
    const lock = lockAt(folder, position);
    const rare = position.rare ? el("p", { class: "note", id: "lock-rare" }, `Only ${rarely(position.reached)} of play comes here: a lock changes little, and the solve is less certain here.`) : null;
    fill(element, rare, lock ? lockEditor(lock, draft, context) : beginLock(draft, context), lockList(draft, context), solveTools(draft, context), lock ? el("p", { class: "note" }, LOCK_NOTE) : null);
  },
};

function beginLock(draft, context) {
  const { position, folder, source, filter, redraw } = context;
  const seat = LOCK_SEATS[position.player];
  const failure = el("span", { class: "field-error", role: "alert" });

  async function begin() {
    try {
      const { line, board } = position;
      const whole = filter ? await source.position({ folder, line, board, ev: 0 }) : position;
      draft.locks.set(lockPlace(position), lockOf(whole, decisionWords(position)));
      redraw();
    } catch (error) {
      fill(failure, error.message);
    }
  }

  return [
    el("p", {}, `A lock fixes how often each hand of ${seat} takes each action here. It begins with each hand's own frequencies in this solve, which you then move. A new solve finds how both players adapt to it.`),
    el("p", { class: "tools" }, el("button", { type: "button", class: "primary", id: "lock-begin", onclick: begin }, `Lock ${seat} here`), failure),
  ];
}

function decisionWords({ path, player }) {
  const taken = path.map((stage) => (stage.kind === "cards" ? stage.dealt : stage.steps[stage.taken].words));
  return `${LOCK_SEATS[player]} ${taken.length ? `after ${taken.join(", ")}` : "at the start"}`;
}

/** Return the scopes of a change, each `{id, text, hands}`: the range, what the grid shows, groups, a cell and its hands. */
function lockScopes(lock, { position, place, filter }) {
  const view = position.views.find(({ player }) => player === position.player);
  const rows = Object.entries(view.hands).filter(([, row]) => !place.group || inGroup(row, place.group));
  const names = (found) => found.map(([hand]) => hand).filter((hand) => hand in lock.now);
  const all = Object.keys(lock.now);
  const own = place.hand && Number(place.seat || position.player) === position.player;
  const cell = own ? rows.filter(([hand]) => classOf(hand) === place.hand) : [];
  const groups = view.groups ? [...view.groups.made, ...view.groups.draws] : [];
  return [
    { id: "range", text: "the whole range", hands: all },
    filter || place.group ? { id: "shown", text: `the filtered hands (${[filter, place.group].filter(Boolean).join("; ")})`, hands: names(rows) } : null,
    cell.length ? { id: "cell", text: `the cell ${place.hand}`, hands: names(cell) } : null,
    ...names(cell).map((hand) => ({ id: hand, text: `the hand ${hand}`, hands: [hand] })),
    ...groups.map((group) => ({ id: `group ${group}`, text: `the group ${group}`, hands: names(Object.entries(view.hands).filter(([, row]) => inGroup(row, group))) })),
  ].filter((scope) => scope && scope.hands.length);
}

function lockEditor(lock, draft, context) {
  const { position, place, filter, redraw } = context;
  const view = position.views.find(({ player }) => player === position.player);
  const scopes = lockScopes(lock, context);
  // Another filter, group or cell is a new choice of hands; the choice in the field holds until then.
  const chosenBy = [lock.line, lock.board, filter, place.group, place.hand, place.seat].join("|");
  if (draft.scope.chosenBy !== chosenBy) draft.scope = { chosenBy, id: place.hand ? "cell" : "shown" };
  const scope = scopes.find(({ id }) => id === draft.scope.id) || scopes[0];
  const [solved, now] = [meanShares(lock, lock.solved, scope.hands), meanShares(lock, lock.now, scope.hands)];

  const act = (change) => () => {
    change();
    redraw();
  };
  const row = (word, i) => {
    const move = (change) => moveHands(lock, scope.hands, i, change, `${scope.text}: ${word}`);
    const told = el("output", { id: `lock-mean-${i}` }, percent(now[i]));
    const slider = el("input", {
      type: "range",
      id: `lock-slider-${i}`,
      min: "0",
      max: "100",
      step: "any",
      value: String(100 * now[i]),
      "aria-label": `${word}, % of ${scope.text}`,
      oninput: () => fill(told, percent(slider.value / 100)),
      onchange: act(() => move(slider.value / 100 - now[i])),
    });
    const step = (size) => {
      const text = WHOLE_STEPS[size] || signedText(size, String);
      return el("button", { type: "button", class: "small", id: `lock-step-${i}-${size}`, "aria-label": WHOLE_STEPS[size] ? `${text} ${word}` : `${word} ${text} points`, onclick: act(() => move(size / 100)) }, text);
    };
    return el(
      "tr",
      { "data-action": view.actions[i] },
      el("th", { scope: "row" }, el("span", { class: "swatch", style: { "background-color": view.colours[i] } }), word),
      el("td", {}, percent(solved[i])),
      el("td", { class: "lock-mean" }, told),
      el("td", {}, slider),
      el("td", { class: "lock-steps" }, LOCK_STEPS.map(step)),
    );
  };
  const undo = () => {
    lock.now = lock.before.at(-1);
    lock.before = lock.before.slice(0, -1);
    lock.told = "Undone.";
  };
  const restore = () => {
    keepForUndo(lock);
    lock.now = { ...lock.now, ...Object.fromEntries(scope.hands.map((hand) => [hand, lock.solved[hand]])) };
    lock.told = `${scope.text}: back to the solve's strategy.`;
  };
  const choice = el(
    "select",
    { id: "lock-scope", onchange: act(() => (draft.scope.id = choice.value)) },
    scopes.map(({ id, text, hands }) => el("option", { value: id, selected: id === scope.id }, `${text}: ${hands.length} ${hands.length === 1 ? "hand" : "hands"}`)),
  );
  return [
    el(
      "div",
      { class: "tools" },
      el("label", { for: "lock-scope" }, "move"),
      choice,
      el("button", { type: "button", id: "lock-undo", disabled: !lock.before.length, onclick: act(undo) }, "undo"),
      el("button", { type: "button", id: "lock-restore", title: "back to the solve's strategy, for the hands that are chosen here", onclick: act(restore) }, "back to the solve"),
    ),
    el(
      "table",
      { class: "lock-table" },
      el("thead", {}, el("tr", {}, ["", "solve", "lock", "", "by points"].map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, view.words.map(row)),
    ),
    el("p", { class: "note", id: "lock-told", role: "status" }, lock.told),
  ];
}

function lockList(draft, { folder, go, redraw }) {
  if (!draft.locks.size) return null;
  const item = (lock) => {
    const changed = changedHands(lock).length;
    const where = [lock.words, lock.board && `on ${lock.board}`].filter(Boolean).join(" ");
    const remove = () => {
      draft.locks.delete(lockPlace(lock));
      redraw();
    };
    return el(
      "li",
      {},
      el("button", { type: "button", class: "link", onclick: () => go({ line: lock.line, board: lock.board }) }, where),
      el("span", { class: "note" }, changed ? ` ${changed} of ${Object.keys(lock.now).length} hands changed ` : " as in the solve "),
      el("button", { type: "button", class: "small", "aria-label": `remove the lock of ${where}`, onclick: remove }, "remove"),
    );
  };
  return [el("h3", {}, `Locks for a new solve of ${folder}`), el("ul", { class: "lock-list" }, [...draft.locks.values()].map(item))];
}

// The solve with the locks.

/** Write a lock as a table `[[lock]]` of a job: each hand's shares, hands with equal shares together. */
function jobLock({ line, board, now, grouped }) {
  const groups = new Map();
  for (const [hand, shares] of Object.entries(now)) {
    const written = roundedShares(shares);
    const key = grouped ? written.join() : hand;
    if (!groups.has(key)) groups.set(key, { names: [], written });
    groups.get(key).names.push(hand);
  }
  const hands = Object.fromEntries([...groups.values()].map(({ names, written }) => [names.join(","), written]));
  return { line, ...(board ? { board } : {}), hands };
}

/** Round shares; the largest takes the rest, so that they sum to 1. */
function roundedShares(shares) {
  const scale = 10 ** LOCK_DECIMALS;
  const whole = shares.map((share) => Math.round(share * scale));
  const largest = whole.indexOf(Math.max(...whole));
  whole[largest] += scale - whole.reduce((sum, each) => sum + each, 0);
  return whole.map((each) => each / scale);
}

/** Return the draft, checked by the server, of a solve's job with the draft's locks; they replace its locks of these places. */
async function lockedJob(source, folder, draft, name) {
  const { data } = await source.locks.job(folder);
  const own = (data.lock || []).filter((lock) => !draft.locks.has(lockPlace({ line: lock.line, board: lock.board || "" })));
  const lock = [...own, ...[...draft.locks.values()].map(jobLock)];
  const found = await source.locks.check({ data: { ...data, name, lock }, about: `${folder} with locks` });
  if (found.problems.length) throw new Error(`${found.problems[0].key} ${found.problems[0].message}`.trim());
  return found;
}

function solveTools(draft, context) {
  const { folder, source } = context;
  if (!draft.locks.size) return draft.status;
  const name = draft.name || `${folder.split("/").at(-1)}-locked`;
  const field = el("input", { id: "lock-name", size: "24", value: name, spellcheck: "false", autocomplete: "off", oninput: () => (draft.name = field.value.trim()) });
  const failed = async (error) => {
    fill(draft.status, el("p", { class: "error", role: "alert" }, error.message));
    const { job } = await source.locks.jobs().catch(() => ({}));
    if (job && job.state === "running") draft.status.append(el("button", { type: "button", id: "lock-instead", onclick: () => solveInstead(job.id) }, `stop ${job.id}, which is saved, and solve this`));
  };

  async function solveInstead(id) {
    fill(draft.status, el("p", { class: "note" }, `${id} is being stopped.`));
    try {
      await source.locks.stop();
      for (let job = { state: "stopping" }; job && job.state !== "ended"; ({ job } = await source.locks.progress(id))) await new Promise((done) => setTimeout(done, POLL_MS));
      await solve();
    } catch (error) {
      failed(error);
    }
  }

  async function solve() {
    draft.runs = button.disabled = true;
    fill(draft.status, el("p", { class: "note" }, "The job is being checked."));
    try {
      let found = await lockedJob(source, folder, draft, field.value.trim());
      let place = await source.locks.place(found.text);
      if (place.state === "other" || place.state === "file") {
        draft.name = field.value = place.free;
        found = await lockedJob(source, folder, draft, place.free);
        place = await source.locks.place(found.text);
      }
      const started = await source.locks.start(found.text, place.state === "same");
      if (!started.started) throw new Error(started.message);
      await watchLocked(draft, started.id, context);
    } catch (error) {
      failed(error);
    }
    draft.runs = button.disabled = false;
    context.redraw();
  }

  async function download() {
    try {
      const found = await lockedJob(source, folder, draft, field.value.trim());
      const link = el("a", { href: URL.createObjectURL(new Blob([found.text], { type: "text/plain" })), download: `${field.value.trim()}.toml` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    } catch (error) {
      failed(error);
    }
  }

  const button = el("button", { type: "button", class: "primary", id: "lock-solve", disabled: draft.runs, onclick: solve }, "Solve");
  return [
    el("div", { class: "tools" }, el("label", { for: "lock-name" }, "name"), field, button, el("button", { type: "button", id: "lock-file", onclick: download }, "job file")),
    draft.status,
  ];
}

/** Return the opponent's decision just before a locked one, or the locked one itself if it begins its round. */
const answeredLine = (line) => line.replace(/[fcr][\d.]*$/, "");

/** Tell how a solve goes until it ends; then compare it with the first solve where the opponent adapts, if the reader still looks at that solve. */
async function watchLocked(draft, id, { folder, position, source, go }) {
  const lock = lockAt(folder, position) || [...draft.locks.values()][0];
  const link = el("a", { href: placeAddress("solve", { job: id }) }, id);
  for (;;) {
    const { job, solve } = await source.locks.progress(id);
    if (job && job.error) throw new Error(job.error);
    if (job ? job.state === "ended" : !solve || !solve.running) break;
    const gap = solve && solve.exploitability !== null ? `, exploitability ${amount(solve.exploitability)} ${solve.unit}` : "";
    fill(draft.status, el("p", { class: "note" }, link, ` is being solved: ${solve ? `${solve.done} ${solve.counted}` : "it begins"}${gap}${solve && solve.saving ? ", saving" : ""}`));
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
  const place = { line: answeredLine(lock.line), board: lock.board, panel: "compare", with: id };
  fill(draft.status, el("p", { class: "note" }, link, " is solved: ", el("a", { href: placeAddress("look", { folder, ...place }) }, "compare it with this solve")));
  const { page, parameters } = readPlace();
  if (page === "look" && parameters.folder === folder) go({ ...place, hand: "" });
}
