/** Asks the server for JSON. */

/** An answer of the server that is an error. */
export class AnswerError extends Error {}

/** Ask a question that changes nothing. */
export async function ask(path, query = {}, signal = undefined) {
  return answered(fetch(`${path}?${new URLSearchParams(givenParameters(query))}`, { signal }));
}

/** Return the parameters of a question without those that are empty. */
export function givenParameters(query) {
  return Object.fromEntries(
    Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== ""),
  );
}

/** Send a request that changes something. */
export async function send(path, body = {}) {
  return answered(
    fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  );
}

async function answered(request) {
  let response;
  try {
    response = await request;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new AnswerError("the server does not answer; is spewy serve still running?");
  }
  const found = await response.json().catch(() => null);
  if (!response.ok || found === null)
    throw new AnswerError((found && found.error) || `the server answered with status ${response.status}`);
  return found;
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
  };
}

/** Make the source of the server's pages: the questions about one solution, and those that only a server answers. */
export function serverSource() {
  return {
    ...solutionSource(ask),
    folders: () => ask("/api/folders"),
    tableAddress: (query) => `/api/table.csv?${new URLSearchParams(query)}`,
  };
}
