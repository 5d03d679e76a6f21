/** Requests of a page that keeps a session at the server, one request at a time. */

import { send } from "./source.js";
import { noteIfLate } from "./waiting.js";

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
