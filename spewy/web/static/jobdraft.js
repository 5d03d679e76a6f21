/** The job that a user sets up: its data, its text, and what the server's validation found. */

import { send } from "./source.js";

const KEPT = "spewy-job-draft";
const CHECK_MS = 250;

/**
 * Make an empty draft. It checks itself after each change, and keeps its text in the browser, so that closing the page
 * loses nothing.
 * @returns {object} the draft: `data`, `text`, `problems`, `notes`, `facts` and `place` of the last check, `origin` (the
 *   solve that locks were added to), and the functions below.
 */
export function createDraft() {
  const listeners = new Set();
  const claimed = new Set();
  const draft = {
    data: null,
    text: "",
    about: "",
    origin: "",
    problems: [],
    notes: [],
    facts: null,
    place: null,
    checking: false,
    failure: "",
    get,
    set,
    setText,
    take,
    remembered,
    subscribe: (listener) => listeners.add(listener),
    claim: (key) => claimed.add(key),
    problem,
    otherProblems: () => draft.problems.filter(({ key }) => !claimant(key)),
    recheck: () => checkSoon({ data: draft.data, about: draft.about }, 0),
  };
  let asked = 0;
  let timer = null;

  /** Return the value at a path such as `spot.pot`; undefined if there is none. */
  function get(path) {
    return path.split(".").reduce((value, key) => (value === undefined || value === null ? undefined : value[key]), draft.data);
  }

  /** Change the value at a path; undefined removes it, with tables that get empty. */
  function set(path, value) {
    draft.data = withValue(draft.data || {}, path.split("."), value);
    tell();
    checkSoon({ data: draft.data, about: draft.about }, CHECK_MS);
  }

  /** Replace the whole job by the text of a job file. */
  function setText(text, delay = CHECK_MS) {
    draft.text = text;
    draft.about = firstComment(text);
    keep();
    checkSoon({ text }, delay);
  }

  /** Replace the draft by one that the server has checked, such as the draft of a preset. */
  function take(found, origin = "") {
    draft.origin = origin;
    draft.about = firstComment(found.text);
    asked += 1;
    clearTimeout(timer);
    accept(found, true);
  }

  /** Load the draft of the last visit; returns whether there is one. */
  function remembered() {
    try {
      const kept = JSON.parse(localStorage.getItem(KEPT));
      if (!kept || !kept.text) return false;
      draft.origin = kept.origin || "";
      setText(kept.text, 0);
      return true;
    } catch {
      return false;
    }
  }

  /** Return the message of a problem with a key, or with a key below it that no other field shows. */
  function problem(key) {
    const found = draft.problems.find((each) => claimant(each.key) === key);
    return found ? found.message : "";
  }

  function claimant(key) {
    for (let path = key; path; path = path.slice(0, Math.max(0, path.lastIndexOf("."))))
      if (claimed.has(path)) return path;
    return null;
  }

  function checkSoon(question, delay) {
    clearTimeout(timer);
    draft.checking = true;
    timer = setTimeout(() => check(question), delay);
  }

  async function check(question) {
    const number = ++asked;
    try {
      const found = await send("/api/setup/check", question);
      if (number === asked) accept(found, "text" in question);
    } catch (error) {
      if (number !== asked) return;
      Object.assign(draft, { checking: false, facts: null, place: null, problems: [], failure: error.message });
      tell();
    }
  }

  async function accept(found, withData) {
    const number = asked;
    Object.assign(draft, { text: found.text, problems: found.problems, notes: found.notes, facts: found.facts });
    Object.assign(draft, { checking: false, failure: "", place: null });
    if (withData && found.data) draft.data = found.data;
    keep();
    tell();
    if (!found.facts) return;
    let place;
    try {
      place = await send("/api/jobs/place", { text: found.text });
    } catch (error) {
      place = { state: "refused", message: error.message.replace(/^name: /, "") };
    }
    if (number !== asked) return;
    draft.place = place;
    tell();
  }

  function keep() {
    try {
      localStorage.setItem(KEPT, JSON.stringify({ text: draft.text, origin: draft.origin }));
    } catch {
      // The browser has no room or forbids it; then the draft lives as long as the page.
    }
  }

  function tell() {
    for (const listener of listeners) listener(draft);
  }

  return draft;
}

/** Return a copy of nested objects with another value at a path; undefined removes the value. */
export function withValue(data, [key, ...rest], value) {
  const copy = Array.isArray(data) ? [...data] : { ...data };
  const inner = rest.length ? withValue(copy[key] && typeof copy[key] === "object" ? copy[key] : {}, rest, value) : value;
  const empty = inner === undefined || (rest.length && !Array.isArray(inner) && !Object.keys(inner).length);
  if (empty) delete copy[key];
  else copy[key] = inner;
  return copy;
}

function firstComment(text) {
  const [, comment = ""] = /^# (.*)/.exec(text) || [];
  return comment.startsWith("Written by") ? "" : comment;
}
