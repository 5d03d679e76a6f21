/** The page that sets up jobs, solves them and watches them. */

import { beginWith } from "./beginwith.js";
import { el, fill, svg } from "./dom.js";
import { boardNode } from "./cards.js";
import { count, duration, known } from "./format.js";
import { createDraft, smallButton } from "./job.js";
import { heldHands } from "./handspage.js";
import { placeAddress } from "./page.js";
import { setupForm } from "./setup.js";
import { ask, send } from "./source.js";

const FIRST = { name: "srp-btn-bb", board: "Ks7h2d" };
const RUNNING_MS = 3000;

/** Make the solve page in an element; returns its function `show(parameters)`. */
export function solvePage(root) {
  const page = { setup: null, watch: null, timer: null };

  async function show(parameters) {
    if (page.watch) page.watch.stop();
    clearTimeout(page.timer);
    page.watch = null;
    if (parameters.job) {
      const place = el("div", { class: "solve-progress" });
      fill(root, el("p", {}, el("a", { href: "#solve" }, "set up another job")), place);
      page.watch = watchSolve(place, parameters.job);
      return;
    }
    if (!page.setup) page.setup = makeSetup();
    document.title = "Set up a job – Spewy";
    fill(root, page.setup.node);
    page.setup.tell("");
    showRunning();
    if (!parameters.from && !parameters.hand) return page.setup.begin();
    history.replaceState(null, "", "#solve");
    try {
      await page.setup.from(parameters);
    } catch (error) {
      page.setup.tell(error.message);
    }
  }

  /** Show which solves run now, as long as the form is shown. */
  async function showRunning() {
    const found = await ask("/api/jobs").catch(() => null);
    if (page.watch || !page.setup || !root.contains(page.setup.node)) return;
    if (found) page.setup.showRunning(found.running);
    page.timer = setTimeout(showRunning, RUNNING_MS);
  }

  return { show };
}

function makeSetup() {
  const draft = createDraft();
  const form = setupForm(draft, (id) => {
    location.hash = placeAddress("solve", { job: id });
  });
  const running = el("div", { class: "running-solves", "aria-live": "polite" });
  const failure = el("p", { class: "field-error", role: "alert" });
  const node = el(
    "div",
    {},
    el("h1", {}, "Set up and solve"),
    beginWith(draft, form.presets),
    running,
    failure,
    form.node,
  );

  /** Begin with the draft of the last visit, or else with a common pot. */
  async function begin() {
    if (draft.text || draft.remembered()) return draft.recheck && draft.data ? draft.recheck() : undefined;
    try {
      draft.take(await ask("/api/setup/preset", FIRST), { begun: `preset:${FIRST.name}` });
    } catch (error) {
      tell(error.message);
    }
  }

  /** Begin with the job of a solve, or else with a hand. */
  async function from({ from: folder, hand, street }) {
    if (!folder) return fromHand(Number(hand), street);
    draft.take(await ask("/api/setup/solve", { folder }), { begun: `solve:${folder}` });
  }

  /** Begin with the spot of a hand from the file on the page of hands, and say which ranges were taken. */
  async function fromHand(place, street) {
    const found = await send("/api/hands/job", { text: heldHands.text, place, street });
    draft.take(found);
    tell(found.from_hand.join("; "));
  }

  function showRunning(ids) {
    if (running.dataset.ids === ids.join()) return;
    running.dataset.ids = ids.join();
    fill(running, ids.map((id) => el("p", { class: "note" }, el("a", { href: placeAddress("solve", { job: id }) }, id), " is being solved")));
  }

  function tell(text) {
    fill(failure, text);
  }

  return { node, begin, from, showRunning, tell };
}

// Shows how far a solve or a batch has come, with buttons to stop and to continue it.

const PREPARING =
  "The solve is being prepared. The first solve after the installation also compiles the program, which takes about a minute.";
const BEGUN = /^sweep \d|\d deals; /;
const FAST_MS = 1000;
const SLOW_MS = 5000;

const QUICK_STAYS = "Look shows the quick answer until the whole solve replaces it.";

function factList(rows) {
  return el("dl", { class: "facts" }, rows.filter(([, text]) => text).map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text))));
}

/** The figures of a quick answer: those of its solve while it runs, else what is saved. */
function quickFacts(solve) {
  const here = solve.of_quick;
  return [
    ["exploitability", "not measured"],
    ["sweeps", count(solve.quick ? solve.quick.sweeps : solve.done)],
    ["time", here && known(solve.seconds) ? duration(solve.seconds) : null],
    ["left", here && solve.running ? timeLeft(solve) : null],
  ];
}

/** The figures of a whole solve; before it has begun, only its target. */
function wholeFacts(solve) {
  const unit = solve.unit === "%" ? "% of the pot" : solve.unit;
  const target = ["target", known(solve.target) ? `${precise(solve.target)} ${unit}` : "none"];
  if (solve.of_quick) return [target, ["state", "not begun"]];
  const error = solve.stderr === null ? "" : ` ± ${precise(solve.stderr)}`;
  return [
    ["exploitability", known(solve.exploitability) ? `${precise(solve.exploitability)}${error} ${unit}` : "not measured yet"],
    target,
    [solve.counted, `${count(solve.done)}, of them saved ${count(solve.quick ? 0 : solve.saved)}`],
    ["speed", known(solve.per_second) && solve.running ? `${precise(solve.per_second)} ${solve.counted} per second` : null],
    ["time", known(solve.seconds) ? duration(solve.seconds) : null],
    ["state", solve.saving ? "saving: a large solve takes minutes" : null],
    ["left", solve.running && !solve.saving ? timeLeft(solve) : null],
    ["value", known(solve.value) ? `${solve.value.toFixed(1)} mbb per hand for player 0` : null],
    ["measuring", solve.checking ? `${solve.checking[0]} of ${solve.checking[1]} flops` : null],
  ];
}

/** The time left; it is known from the second check of exploitability on. */
function timeLeft(solve) {
  return known(solve.seconds_left) ? `about ${duration(solve.seconds_left)}` : "…";
}

/**
 * Show the progress of a solve in an element, and ask the server again and again until `stop()` is called.
 * @param {Element} root element to fill.
 * @param {string} id id of the solve.
 */
function watchSolve(root, id) {
  const head = el("div", { class: "solve" });
  const actions = el("div", { class: "tools" });
  const failure = el("p", { class: "field-error", role: "alert" });
  const facts = el("div");
  const body = el("div");
  const watch = { timer: null, stopped: false, points: new Map(), drawn: "" };
  fill(root, head, actions, failure, facts, body);

  async function look() {
    let wait = SLOW_MS;
    try {
      if (!document.hidden) {
        const found = await ask("/api/jobs/progress", { folder: id });
        if (watch.stopped) return;
        if (runsNow(found)) wait = FAST_MS;
        draw(found);
      }
    } catch (error) {
      if (watch.stopped) return;
      watch.drawn = ""; // the next answer replaces the error
      fill(failure, error.message);
    }
    watch.timer = setTimeout(look, wait);
  }

  function draw(found) {
    const state = stateOf(found);
    const shown = JSON.stringify([state, found.solve, found.boards, found.job && found.job.line]);
    if (shown === watch.drawn) return;
    watch.drawn = shown;
    document.title = `${id}: ${state.text} – Spewy`;
    fill(head, el("h1", {}, id), el("span", { class: `state ${state.kind}`, role: "status" }, state.text));
    fill(failure, found.job && found.job.error ? found.job.error : "");
    drawActions(found, state);
    if (found.kind === "batch") drawBatch(found);
    else drawSolve(found);
  }

  function drawActions(found, state) {
    const own = found.job && found.job.state !== "ended";
    const saved = found.kind === "batch" ? found.boards.some((each) => each.solve && each.solve.saved) : found.solve && found.solve.saved > 0;
    const focused = actions.contains(document.activeElement) ? document.activeElement.textContent : null;
    fill(
      actions,
      saved ? el("a", { class: "primary", href: placeAddress("look", { folder: id }) }, found.kind === "batch" ? "Look at the report" : found.solve.quick ? "Look at the quick answer" : "Look at the solution") : null,
      own && found.job.state === "running" ? smallButton("stop and save", () => act("/api/jobs/stop", {})) : null,
      own && found.job.state === "stopping" ? smallButton("stop at once, without a save", () => act("/api/jobs/stop", { at_once: true })) : null,
      !own && ["stopped", "failed"].includes(state.kind) && found.kind ? smallButton("continue", () => resume()) : null,
      !own && found.solve && found.solve.of_quick && state.kind === "ended" ? smallButton("solve the whole game", () => resume()) : null,
      found.kind ? el("a", { href: placeAddress("solve", { from: id }) }, "change the job or its target") : null,
      saved && heldHands.text ? el("a", { href: "#hands" }, "review the hands") : null,
    );
    if (focused) [...actions.querySelectorAll("button")].find((each) => each.textContent === focused)?.focus();
  }

  async function act(path, parameters) {
    fill(failure);
    try {
      await send(path, parameters);
      clearTimeout(watch.timer);
      look();
    } catch (error) {
      fill(failure, error.message);
    }
  }

  /** Continue the solve with the job that its folder holds. */
  async function resume() {
    try {
      const { text } = await ask("/api/setup/solve", { folder: id });
      await act("/api/jobs/start", { text, continue: true });
    } catch (error) {
      fill(failure, error.message);
    }
  }

  function drawSolve({ solve, job }) {
    if (!solve || (solve.running && !solve.done && !solve.quick)) {
      fill(facts);
      const message = job && job.line;
      return fill(
        body,
        message && BEGUN.test(message) ? null : el("p", { class: "note" }, PREPARING),
        message ? el("p", {}, `Its last message, after ${duration(job.seconds)}: ${message}`) : null,
      );
    }
    const parts = solve.quick || solve.of_quick ? [["quick answer", quickFacts(solve)], ["whole solve", wholeFacts(solve)]] : [["", wholeFacts(solve)]];
    fill(facts, parts.map(([title, rows]) => [title ? el("h2", {}, title) : null, factList(rows)]));
    fill(
      body,
      solve.quick ? el("p", { class: "note" }, QUICK_STAYS, solve.quick.loss ? ` Measured: ${solve.quick.loss}.` : "") : null,
      solve.of_quick || !solve.done ? null : convergenceChart(wholeCurve(solve), solve, body.clientWidth),
    );
  }

  /** Return the saved checks and those that this page has seen since the last save. */
  function wholeCurve(solve) {
    for (const point of solve.curve) watch.points.set(point[0], point);
    if (known(solve.exploitability) && known(solve.seconds) && !watch.points.has(solve.measured_at))
      watch.points.set(solve.measured_at, [solve.measured_at, solve.seconds, solve.exploitability]);
    return [...watch.points.values()].sort((a, b) => a[1] - b[1]);
  }

  function drawBatch({ boards, waiting }) {
    const finished = boards.filter((each) => !isUnfinished(each)).length;
    const total = boards.length + waiting.length;
    fill(facts, factList([["boards", `${finished} of ${total} finished`]]));
    fill(
      body,
      el("progress", { class: "batch-bar", max: total, value: finished, "aria-label": "finished boards" }),
      el("ul", { class: "batch-boards" }, boards.map(boardRow), waiting.map((name) => el("li", { class: "waiting" }, boardNode(name), el("span", { class: "note" }, " not begun")))),
    );
  }

  function boardRow({ id: name, solve, problem }) {
    const board = boardNode(name.slice(id.length + 1));
    const shown = solve && solve.saved ? el("a", { href: placeAddress("look", { folder: name }) }, board) : board;
    const gap = solve && known(solve.exploitability) ? ` ${precise(solve.exploitability)} %` : "";
    return el("li", { class: solve && solve.running ? "running" : "" }, shown, el("span", { class: "note" }, gap, solve && solve.running ? ", running" : "", problem ? ` ${problem}` : ""));
  }

  document.addEventListener("visibilitychange", lookAgain);
  function lookAgain() {
    if (document.hidden || watch.stopped) return;
    clearTimeout(watch.timer);
    look();
  }

  look();
  return {
    stop() {
      watch.stopped = true;
      clearTimeout(watch.timer);
      document.removeEventListener("visibilitychange", lookAgain);
    },
  };
}

function runsNow({ job, solve, boards }) {
  if (job && job.state !== "ended") return true;
  return Boolean((solve && solve.running) || (boards && boards.some((each) => each.solve && each.solve.running)));
}

function stateOf(found) {
  const { job, solve } = found;
  if (job && job.state === "stopping") return { kind: "running", text: "stopping, saves first" };
  if (job && job.error) return { kind: "failed", text: "failed" };
  if (runsNow(found)) return { kind: "running", text: job ? "running" : "running in another process" };
  const ended = solve && solve.ended;
  if (solve && solve.finished) return { kind: "ended", text: solve.of_quick ? "quick answer" : ended };
  if (found.boards) return found.waiting.length || found.boards.some(isUnfinished) ? { kind: "stopped", text: "not finished" } : { kind: "ended", text: "finished" };
  return { kind: "stopped", text: ended === "interrupted" ? "stopped" : ended || "not running" };
}

function isUnfinished({ solve }) {
  return !solve || !solve.finished;
}

function precise(value) {
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

// Draws how exploitability has fallen over time, on a logarithmic scale.

const CHART = { height: 320, left: 62, right: 16, top: 14, bottom: 40, narrowest: 320, widest: 1400 };
const TIMES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800, 43200, 86400];
const TICK_PIXELS = 90;

/**
 * Draw the curve of a solve's exploitability over time.
 * @param {Array<Array<number>>} curve for each check the sweeps, the seconds and the exploitability.
 * @param {object} options `unit` of exploitability; `target`, or null.
 * @param {number} space width of the place in pixels.
 */
function convergenceChart(curve, { unit, target }, space) {
  const points = curve.filter(([, , value]) => value > 0);
  if (points.length < 2) return el("p", { class: "note" }, "The curve begins after two checks.");
  const box = { ...CHART, width: Math.min(CHART.widest, Math.max(CHART.narrowest, space)) };
  const values = points.map(([, , value]) => value);
  const levels = chartLevels(Math.min(...values, target || Infinity), Math.max(...values, target || 0));
  const [low, high] = [Math.log10(levels[0]), Math.log10(levels.at(-1))];
  const last = points.at(-1)[1] || 1;
  const x = (seconds) => box.left + (seconds / last) * (box.width - box.left - box.right);
  const y = (value) => box.top + ((high - Math.log10(value)) / (high - low)) * (box.height - box.top - box.bottom);
  const path = points.map(([, seconds, value], i) => `${i ? "L" : "M"}${x(seconds).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const text = `exploitability fell from ${writeLevel(values[0])} to ${writeLevel(values.at(-1))} ${unit} in ${duration(last)}`;
  return svg(
    "svg",
    { class: "convergence", width: box.width, height: box.height, viewBox: `0 0 ${box.width} ${box.height}`, role: "img", "aria-label": text },
    levels.map((value) => [
      svg("line", { class: "chart-grid", x1: box.left, x2: box.width - box.right, y1: y(value), y2: y(value) }),
      svg("text", { x: box.left - 6, y: y(value) + 4, "text-anchor": "end" }, writeLevel(value)),
    ]),
    chartTimes(last, (box.width - box.left - box.right) / TICK_PIXELS).map((seconds) => [
      svg("line", { class: "chart-grid", x1: x(seconds), x2: x(seconds), y1: box.top, y2: box.height - box.bottom }),
      svg("text", { class: "chart-time", x: x(seconds), y: box.height - box.bottom + 16, "text-anchor": "middle" }, timeText(seconds)),
    ]),
    svg("text", { class: "chart-unit", x: x(last / 2), y: box.height - 6, "text-anchor": "middle" }, "time"),
    svg("text", { class: "chart-unit", x: -(box.height - box.bottom + box.top) / 2, y: 11, transform: "rotate(-90)", "text-anchor": "middle" }, `exploitability, ${unit === "%" ? "% of the pot" : unit}`),
    target > 0 ? [svg("line", { class: "target-line", x1: box.left, x2: box.width - box.right, y1: y(target), y2: y(target) }), svg("text", { class: "target-text", x: box.left + 4, y: y(target) - 4 }, "target")] : null,
    svg("path", { class: "convergence-line", d: path }),
  );
}

/** Return round numbers, the first at most `least` and the last at least `largest`; there are two or more. */
function chartLevels(least, largest) {
  const decades = Math.log10(largest / least);
  const steps = decades > 3 ? [1] : decades > 1.5 ? [1, 3] : [1, 2, 5];
  const found = [];
  for (let power = Math.floor(Math.log10(least)); found.length < 2 || found.at(-1) < largest; power++)
    for (const step of steps) {
      const level = Number(`${step}e${power}`);
      while (found.length && level <= least) found.pop();
      if (found.length < 2 || found.at(-1) < largest) found.push(level);
    }
  return found;
}

/** Return round times from 0 to the last second of a curve: at most `most` besides 0. */
function chartTimes(last, most) {
  const step = TIMES.find((each) => last / each <= most) || 86400 * Math.ceil(last / 86400 / most);
  return Array.from({ length: Math.floor(last / step) + 1 }, (_, i) => i * step);
}

function timeText(seconds) {
  const parts = [[3600, "h"], [60, "min"], [1, "s"]];
  const [unit, name] = parts.find(([each]) => seconds >= each && Number.isInteger(Number((seconds / each).toFixed(9)) * (each > 1 ? 2 : 10))) || parts[2];
  return seconds ? `${Number((seconds / unit).toFixed(1))} ${name}` : "0";
}

function writeLevel(value) {
  return String(Number(value.toPrecision(2)));
}
