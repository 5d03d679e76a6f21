/** The page that sets up jobs, solves them and watches them. */

import { el, fill } from "./dom.js";
import { createDraft } from "./jobdraft.js";
import { exactShares } from "./lockform.js";
import { placeAddress } from "./place.js";
import { beginWith, setupForm } from "./setupform.js";
import { watchSolve } from "./solveprogress.js";
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
      page.watch = watchSolve(place, { id: parameters.job, origin: parameters.with || "" });
      return;
    }
    if (!page.setup) page.setup = makeSetup();
    document.title = "Set up a job – Spewy";
    fill(root, page.setup.node);
    page.setup.tell("");
    showRunning();
    if (!parameters.from) return page.setup.begin();
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
    location.hash = placeAddress("solve", { job: id, with: draft.origin });
  });
  const running = el("div", { class: "running-solves", "aria-live": "polite" });
  const failure = el("p", { class: "field-error", role: "alert" });
  const node = el(
    "div",
    {},
    el("div", { class: "solve" }, el("h1", {}, "Set up and solve"), beginWith(draft, form.presets, (found) => draft.take(found))),
    running,
    failure,
    form.node,
  );

  /** Begin with the draft of the last visit, or else with a common pot. */
  async function begin() {
    if (draft.text || draft.remembered()) return draft.recheck && draft.data ? draft.recheck() : undefined;
    try {
      draft.take(await ask("/api/setup/preset", FIRST));
    } catch (error) {
      tell(error.message);
    }
  }

  /** Begin with the job of a solve, and add a lock at one of its decisions if the parameters name one. */
  async function from({ from: folder, lock, board, hand }) {
    const found = await ask("/api/setup/solve", { folder });
    if (lock === undefined) return draft.take(found);
    const position = await ask("/api/position", { folder, line: lock, board, ev: 0 });
    const view = position.views[position.player];
    const data = { ...found.data, name: `${folder.split("/").at(-1)}-locked` };
    data.lock = [...(data.lock || []), newLock(position, view, hand)];
    draft.take(await send("/api/setup/check", { data, about: `${folder} with a lock` }), folder);
    form.openLocks();
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

/** Return a lock at a position: the whole range, or one hand class, plays as it does now. */
function newLock(position, view, hand) {
  const shares = hand ? view.grid.classes[hand].frequencies : view.shares;
  const frequencies = exactShares(view.actions, shares);
  return { line: position.line, ...(hand ? { hands: { [hand]: frequencies } } : { strategy: frequencies }) };
}
