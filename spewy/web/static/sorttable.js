/** A table that a reader sorts by clicking on the titles of its columns. */

import { el, fill } from "./dom.js";
import { known } from "./format.js";

/**
 * Make a sortable table.
 * @param {Array<object>} rows one object for each row.
 * @param {Array<object>} columns for each column `{id, title, value(row), text(row)}`: `value` sorts, and `text` returns
 *   what the cell shows (text or elements); `head: true` marks the column that names the row.
 * @param {object} options `order`: `{column, ascending}`, which the table changes; `most`: number of rows before a reader
 *   asks for more; `last`: a row that stays last; `sorted(rows)`: called with the rows in their new order.
 */
export function sortTable(rows, columns, { order, label, most = 100, last = null, sorted = () => {} }) {
  const box = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label });
  let shown = most;

  function draw() {
    const inOrder = orderedRows(rows, columns, order);
    fill(
      box,
      el(
        "table",
        { class: "sorted" },
        el("thead", {}, el("tr", {}, columns.map(title))),
        el("tbody", {}, inOrder.slice(0, shown).map(rowNode)),
        last ? el("tfoot", {}, rowNode(last)) : null,
      ),
      inOrder.length > shown ? more(inOrder.length) : null,
    );
    sorted(inOrder);
  }

  function title(column) {
    const here = order.column === column.id;
    const turn = () => {
      order.ascending = here ? !order.ascending : Boolean(column.head);
      order.column = column.id;
      draw();
      box.querySelector(`[data-column="${column.id}"]`).focus();
    };
    return el(
      "th",
      { scope: "col", "aria-sort": here ? (order.ascending ? "ascending" : "descending") : null },
      el("button", { type: "button", "data-column": column.id, onclick: turn }, column.title, el("span", { "aria-hidden": "true" }, here ? (order.ascending ? " ▲" : " ▼") : "")),
    );
  }

  function rowNode(row) {
    return el(
      "tr",
      {},
      columns.map((column) =>
        column.head ? el("th", { scope: "row" }, column.text(row)) : el("td", {}, column.text(row)),
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
export function orderedRows(rows, columns, { column, ascending }) {
  const value = (columns.find(({ id }) => id === column) || columns[0]).value;
  const sign = ascending ? 1 : -1;
  return [...rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (!known(x) || !known(y)) return known(y) - known(x);
    return sign * (x < y ? -1 : x > y ? 1 : 0);
  });
}
