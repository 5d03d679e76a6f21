/** Passes keys to a page or a component, except while a reader writes into a field. */

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
