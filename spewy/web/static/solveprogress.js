/** Shows how far a solve or a batch has come, with buttons to stop and to continue it. */

import { el, fill } from "./dom.js";
import { smallButton } from "./boardpicker.js";
import { boardNode } from "./cards.js";
import { convergenceChart } from "./convergence.js";
import { count, duration, known } from "./format.js";
import { placeAddress } from "./place.js";
import { ask, send } from "./source.js";

const PREPARING =
  "The solve is being prepared. The first solve after the installation also compiles the program, which takes about a minute.";
const BEGUN = /^sweep \d|\d deals; /;
const FAST_MS = 1000;
const SLOW_MS = 5000;

/**
 * Show the progress of a solve in an element, and ask the server again and again until `stop()` is called.
 * @param {Element} root element to fill.
 * @param {object} options `id` of the solve; `origin`: id of a solve to compare it with, or empty.
 */
export function watchSolve(root, { id, origin }) {
  const head = el("div", { class: "solve" });
  const actions = el("div", { class: "tools" });
  const failure = el("p", { class: "field-error", role: "alert" });
  const facts = el("dl", { class: "facts" });
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
      saved ? el("a", { class: "primary", href: placeAddress("look", { folder: id }) }, found.kind === "batch" ? "Look at the report" : "Look at the solution") : null,
      saved && found.kind === "solve" && origin ? el("a", { href: placeAddress("look", { folder: id, with: origin, panel: "compare" }) }, `compare it with ${origin}`) : null,
      own && found.job.state === "running" ? smallButton("stop and save", () => act("/api/jobs/stop", {})) : null,
      own && found.job.state === "stopping" ? smallButton("stop at once, without a save", () => act("/api/jobs/stop", { at_once: true })) : null,
      !own && ["stopped", "failed"].includes(state.kind) && found.kind ? smallButton("continue", () => resume()) : null,
      found.kind ? el("a", { href: placeAddress("solve", { from: id }) }, "change the job or its target") : null,
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
    if (!solve || (solve.running && !solve.done)) {
      fill(facts);
      const message = job && job.line;
      return fill(
        body,
        message && BEGUN.test(message) ? null : el("p", { class: "note" }, PREPARING),
        message ? el("p", {}, `Its last message, after ${duration(job.seconds)}: ${message}`) : null,
      );
    }
    const unit = solve.unit === "%" ? "% of the pot" : solve.unit;
    const error = solve.stderr === null ? "" : ` ± ${precise(solve.stderr)}`;
    const rows = [
      ["exploitability", known(solve.exploitability) ? `${precise(solve.exploitability)}${error} ${unit}` : "not measured yet"],
      ["target", known(solve.target) ? `${precise(solve.target)} ${unit}` : "none"],
      [solve.counted, `${count(solve.done)}, of them saved ${count(solve.saved)}`],
      ["speed", known(solve.per_second) && solve.running ? `${precise(solve.per_second)} ${solve.counted} per second` : null],
      ["time", known(solve.seconds) ? duration(solve.seconds) : null],
      ["left", known(solve.seconds_left) ? `about ${duration(solve.seconds_left)}` : null],
      ["value", known(solve.value) ? `${solve.value.toFixed(1)} mbb per hand for player 0` : null],
      ["measuring", solve.checking ? `${solve.checking[0]} of ${solve.checking[1]} flops` : null],
    ];
    fill(facts, rows.filter(([, text]) => text).map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text))));
    fill(body, convergenceChart(wholeCurve(solve), solve));
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
    fill(facts, el("div", {}, el("dt", {}, "boards"), el("dd", {}, `${finished} of ${total} finished`)));
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
  if (solve && solve.finished) return { kind: "ended", text: ended };
  if (found.boards) return found.waiting.length || found.boards.some(isUnfinished) ? { kind: "stopped", text: "not finished" } : { kind: "ended", text: "finished" };
  return { kind: "stopped", text: ended === "interrupted" ? "stopped" : ended || "not running" };
}

function isUnfinished({ solve }) {
  return !solve || !solve.finished;
}

function precise(value) {
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
