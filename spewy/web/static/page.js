/** What all pages share: the place in the address, keys, light and dark colours, and remembered answers. */

/** Read the place from the address. */
export function readPlace() {
  const [page, query = ""] = location.hash.slice(1).split("?");
  return { page: page || "look", parameters: Object.fromEntries(new URLSearchParams(query)) };
}

/** Write an address for a place, without parameters that are empty. */
export function placeAddress(page, parameters) {
  const kept = Object.entries(parameters).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const query = new URLSearchParams(kept).toString();
  return `#${page}${query ? `?${query}` : ""}`;
}

// Passes keys to a page or a component, except while a reader writes into a field.

/**
 * Call a function for each key that is pressed inside of an element.
 * @param {EventTarget} target the element, a document or a shadow root.
 * @param {function} obey called with the event; returns whether it obeyed the key.
 */
export function listenToKeys(target, obey) {
  target.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    const [origin] = event.composedPath();
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(origin.tagName)) return;
    if (obey(event)) event.preventDefault();
  });
}

// Lets a reader choose between light and dark colours; the browser remembers the choice.

/** Make a button switch between light and dark colours, and use the colours that were chosen last. */
export function startTheme(button) {
  const chosen = stored("theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
  button.addEventListener("click", () => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
    document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
    store("theme", document.documentElement.dataset.theme);
  });
}

/** Return a choice that the browser remembers; null if there is none. */
export function stored(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null; // the browser keeps nothing for this page
  }
}

/** Let the browser remember a choice. */
export function store(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // the choice holds until the page is closed
  }
}

// Remembers answers to questions, so that a panel which is drawn again does not ask again.

/**
 * Return a function `remembered(key, question)` that waits for `question()` and keeps its answer for the next call with
 * an equal key. Errors are not kept.
 * @param {number} most number of answers to keep.
 */
export function remembering(most = 8) {
  const answers = new Map();
  return async (key, question) => {
    const text = JSON.stringify(key);
    if (!answers.has(text)) {
      answers.set(text, await question());
      if (answers.size > most) answers.delete(answers.keys().next().value);
    }
    return answers.get(text);
  };
}

/** Return a key that identifies a position, its filter, and the saved state of its solve. */
export function positionKey({ folder, position, filter }) {
  return [folder, position.progress, position.line, position.board, filter];
}
