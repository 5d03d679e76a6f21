/** Asks the server for JSON: single questions, long ones, and the requests of a session. */

import { noteIfLate } from "./dom.js";

/** An error that the server has answered, with its text as the message. */
export class AnswerError extends Error {}

/** Ask the server a question (GET), which changes nothing; return a promise of the JSON answer. */
export async function ask(path, query = {}, signal = undefined) {
  return answered(fetch(`${path}?${new URLSearchParams(givenParameters(query))}`, { signal }));
}

/** Return the parameters of a question without those that are empty. */
export function givenParameters(query) {
  return Object.fromEntries(
    Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== ""),
  );
}

/** Send the server a request (POST), which changes something; return a promise of the JSON answer. */
export async function send(path, body = {}) {
  return answered(
    fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  );
}

/**
 * Ask a question whose answer takes a while: ask again until it is there.
 * @param {function} progress called with `{done, total}` while the answer is computed; the total is 0 before it begins.
 * @param {function} wanted whether the answer is still wanted; if it is not, the promise is rejected with an AbortError.
 * @returns {Promise} the answer: an object, or a Blob if it is a picture or a table.
 */
async function askLong(path, query, progress = () => {}, wanted = () => true) {
  for (let pause = 200; ; pause = Math.min(1000, pause * 1.3)) {
    const { status, found } = await replied(fetch(`${path}?${new URLSearchParams(givenParameters(query))}`));
    if (status !== 202) return found;
    progress(found);
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (!wanted()) throw new DOMException("nobody waits for the answer", "AbortError");
  }
}

async function answered(request) {
  return (await replied(request)).found;
}

async function replied(request) {
  let response;
  try {
    response = await request;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new AnswerError("the server does not answer; is spewy serve still running?");
  }
  const isFile = /^(image|text)\//.test(response.headers.get("content-type") || "");
  const found = await (isFile ? response.blob() : response.json()).catch(() => null);
  if (!response.ok || found === null)
    throw new AnswerError((found && found.error) || `the server answered with status ${response.status}`);
  return { status: response.status, found };
}

/**
 * Make a source with the questions about one solution, which a server and a notebook answer. An exported page has a
 * source with `position` alone, so a panel that needs another question shows only if `context.source` has it.
 * @param {function} question asks a question: `question(path, query, signal)` returns a promise of the answer.
 */
export function solutionSource(question) {
  return {
    summary: (folder) => question("/api/summary", { folder }),
    position: (query, signal) => question("/api/position", query, signal),
    filters: () => question("/api/filters"),
    curves: (query) => question("/api/curves", query),
    ranges: (query) => question("/api/ranges", query),
  };
}

/** Make the source of the server's pages: the questions about one solution, and those that only a server answers. */
export function serverSource() {
  return {
    ...solutionSource(ask),
    locks: {
      job: (folder) => ask("/api/setup/solve", { folder }),
      check: (draft) => send("/api/setup/check", draft),
      place: (text) => send("/api/jobs/place", { text }),
      start: (text, again) => send("/api/jobs/start", { text, continue: again }),
      stop: () => send("/api/jobs/stop", {}),
      jobs: () => ask("/api/jobs"),
      progress: (folder) => ask("/api/jobs/progress", { folder }),
    },
    reports: (query) => ask("/api/reports", query),
    report: (query, progress, wanted) => askLong("/api/report", query, progress, wanted),
    reportTable: (query) => askLong("/api/report.csv", query),
    boardsPlace: (query) => ask("/api/boards/place", query),
    boards: (query, progress, wanted) => askLong("/api/boards", query, progress, wanted),
    comparable: (folder) => ask("/api/comparable", { folder }),
    comparison: (query, progress, wanted) => askLong("/api/comparison", query, progress, wanted),
    chunk: (query, progress, wanted) => askLong("/api/chunk", query, progress, wanted),
    bucket: (query, progress, wanted) => askLong("/api/bucket", query, progress, wanted),
    picture: (query, progress, wanted) => askLong("/api/picture", query, progress, wanted),
    tableAddress: (query) => `/api/table.csv?${new URLSearchParams(givenParameters(query))}`,
  };
}

// Requests of a page that keeps a session at the server, one request at a time.

/**
 * Return functions `start(path, body)`, which begins a new session and gives up a request that waits; `go(path, body)`,
 * which does nothing while a request waits; and `waits()`, which says whether a request waits.
 * @param {Element} root element that is marked as busy during requests.
 * @param {object} options `done(state)`: called with an answer; `failed(error)`: called with an error.
 */
export function sessionRequests(root, { done, failed }) {
  let current = null;

  async function start(path, body) {
    const request = {};
    current = request;
    root.setAttribute("aria-busy", "true");
    const answered = noteIfLate(root);
    let state = null;
    let error = null;
    try {
      state = await send(path, body);
    } catch (problem) {
      error = problem;
    }
    answered();
    if (current !== request) return;
    current = null;
    root.removeAttribute("aria-busy");
    if (error) failed(error);
    else done(state);
  }

  return {
    start,
    go: (path, body) => (current ? null : start(path, body)),
    waits: () => current !== null,
  };
}
