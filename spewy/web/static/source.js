/** Asks the server for JSON. */

/** An answer of the server that is an error. */
export class AnswerError extends Error {}

/** Ask a question that changes nothing. */
export async function ask(path, query = {}, signal = undefined) {
  const parameters = new URLSearchParams(
    Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== ""),
  );
  return answered(fetch(`${path}?${parameters}`, { signal }));
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

/** Source of positions for the look page: a function for each question. */
export function serverSource() {
  return {
    folders: () => ask("/api/folders"),
    summary: (folder) => ask("/api/summary", { folder }),
    position: (query, signal) => ask("/api/position", query, signal),
    tableAddress: (query) => `/api/table.csv?${new URLSearchParams(query)}`,
  };
}
