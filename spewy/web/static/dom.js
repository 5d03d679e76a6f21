/** Makes elements of the page; all text goes through text nodes, so nothing is read as HTML. */

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
