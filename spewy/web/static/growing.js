/** Long lists that begin with a few nodes and grow as the reader scrolls: hundreds of nodes would delay each click. */

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
