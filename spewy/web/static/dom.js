/** Makes elements, answers that take a while, long lists and sorted tables; text goes through text nodes, never as HTML. */

import { known } from "./format.js";

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make an HTML element.
 * @param {string} tag name of the element.
 * @param {object} attributes attributes; `on...` functions become listeners, `style` is an object of CSS properties.
 * @param {...(Node|string|number|null|Array)} children content; null is left out.
 */
export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** Make an SVG element; the arguments are those of `el`. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** Replace the content of an element. Nodes that it has already stay where they are, so the browser keeps their layout. */
export function fill(element, ...children) {
  const wanted = flat(children);
  const staying = new Set(wanted);
  for (const child of [...element.childNodes]) if (!staying.has(child)) child.remove();
  let next = element.firstChild;
  for (const child of wanted) {
    if (child === next) next = next.nextSibling;
    else element.insertBefore(typeof child === "string" ? document.createTextNode(child) : child, next);
  }
  return element;
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...flat(children));
  return element;
}

function flat(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}

// Tells a reader who waits for an answer what the server does.

/**
 * Fill an element with an answer that takes a while, and with its progress or its error until then.
 * @param {Element} element element to fill; the question ends when the element leaves the page.
 * @param {string} what name of the answer, for the progress, such as "report".
 * @param {function} question asks: `question(progress, wanted)` returns a promise of the answer.
 * @param {function} draw called with the answer; returns nodes to show.
 */
export async function drawAnswer(element, what, question, draw) {
  fill(element, el("p", { class: "note", role: "status" }, "…"));
  let first = null;
  const progress = ({ done, total }) => {
    if (!first && done) first = { done, time: Date.now() };
    const left = first && done > first.done ? leftText(((Date.now() - first.time) * (total - done)) / (done - first.done)) : "";
    const text = total ? `computing the ${what}: ${done} of ${total}${left}` : `computing the ${what}`;
    fill(
      element,
      el("p", { class: "note", role: "status" }, text, ". You can leave this page; the computation goes on."),
      total ? el("progress", { max: total, value: String(done), "aria-label": `progress of the ${what}` }) : null,
    );
  };
  try {
    const answer = await question(progress, () => element.isConnected);
    fill(element, draw(answer));
  } catch (error) {
    if (error.name !== "AbortError") fill(element, el("p", { class: "error", role: "alert" }, error.message));
  }
}

const LATE_MS = 3000;
const LATE = "The answer takes a while. The first answers after the installation also compile the program, which takes up to a minute.";

/**
 * Show a note at the top of an element if an answer does not come in time.
 * @param {Element} root the element.
 * @returns {function} removes the note; called once the answer is there.
 */
export function noteIfLate(root) {
  const note = el("p", { class: "note", role: "status" }, LATE);
  const timer = setTimeout(() => root.prepend(note), LATE_MS);
  return () => {
    clearTimeout(timer);
    note.remove();
  };
}

function leftText(milliseconds) {
  const seconds = milliseconds / 1000;
  return seconds < 90 ? `, about ${Math.ceil(seconds)} s left` : `, about ${Math.round(seconds / 60)} min left`;
}

// Long lists that begin with a few nodes and grow as the reader scrolls: hundreds of nodes would delay each click.

/**
 * Fill an element with the first nodes of a list, and add more when the reader scrolls near the end.
 * @param {Element} scroll the element that scrolls: `body`, or an element around it.
 * @param {Element} body the element to fill.
 * @param {number} count length of the list.
 * @param {function} make makes the node of a number.
 * @param {object} options `step`: how many nodes there are at first, and how many more each time; `grown(left)`: called
 *   with how many nodes are not there yet.
 * @returns {function} adds all nodes that are still missing.
 */
export function growList(scroll, body, count, make, { step, grown = () => {} }) {
  let made = 0;
  function add(wanted) {
    const first = made;
    made = Math.min(count, made + wanted);
    body.append(...Array.from({ length: made - first }, (_, i) => make(first + i)));
    grown(count - made);
  }
  scroll.addEventListener("scroll", () => {
    if (made < count && scroll.scrollTop + 2 * scroll.clientHeight > scroll.scrollHeight) add(step);
  });
  add(step);
  return () => add(count - made);
}

// A table that a reader sorts by clicking on the titles of its columns.

/**
 * Make a sortable table.
 * @param {Array<object>} rows one object for each row.
 * @param {Array<object>} columns for each column `{id, title, value(row), text(row)}`: `value` sorts (without it the column has no title),
 *   and `text` returns what the cell shows (text or elements); `head: true` marks the column that names the row; `style`: class of the cells.
 * @param {object} options `order`: `{column, ascending}`, which the table changes; `most`: number of rows before a reader
 *   asks for more; `last`: a row that stays last; `sorted(rows)`: called with the rows in their new order; `mark(row)`:
 *   returns attributes of a row's element; `style`: a class of the table.
 */
export function sortTable(rows, columns, { order, label, most = 100, last = null, sorted = () => {}, mark = () => ({}), style = "" }) {
  const box = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label });
  let shown = most;

  function draw() {
    const inOrder = orderedRows(rows, columns, order);
    fill(
      box,
      el(
        "table",
        { class: `sorted ${style}` },
        el("thead", {}, el("tr", {}, columns.map(title))),
        el("tbody", {}, inOrder.slice(0, shown).map(rowNode)),
        last ? el("tfoot", {}, rowNode(last)) : null,
      ),
      inOrder.length > shown ? more(inOrder.length) : null,
    );
    sorted(inOrder);
  }

  function title(column) {
    if (!column.value) return el("td", { class: column.style });
    const here = order.column === column.id;
    const turn = () => {
      order.ascending = here ? !order.ascending : Boolean(column.head);
      order.column = column.id;
      draw();
      box.querySelector(`[data-column="${column.id}"]`).focus();
    };
    return el(
      "th",
      { scope: "col", class: column.style, "aria-sort": here ? (order.ascending ? "ascending" : "descending") : null },
      el("button", { type: "button", "data-column": column.id, onclick: turn }, column.title, el("span", { "aria-hidden": "true" }, here ? (order.ascending ? " ▲" : " ▼") : "")),
    );
  }

  function rowNode(row) {
    return el(
      "tr",
      mark(row),
      columns.map((column) =>
        column.head ? el("th", { scope: "row" }, column.text(row)) : el("td", { class: column.style }, column.text(row)),
      ),
    );
  }

  function more(all) {
    const show = () => {
      shown += 5 * most;
      draw();
    };
    return el("p", {}, el("button", { type: "button", onclick: show }, `more rows (${all - shown} of ${all} are left)`));
  }

  draw();
  return box;
}

/** Sort rows by a column; undefined values come last. */
function orderedRows(rows, columns, { column, ascending }) {
  const value = (columns.find(({ id }) => id === column) || columns[0]).value;
  const sign = ascending ? 1 : -1;
  return [...rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (!known(x) || !known(y)) return known(y) - known(x);
    return sign * (x < y ? -1 : x > y ? 1 : 0);
  });
}
