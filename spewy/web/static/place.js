/** The place in the page's address: the page's name and its parameters, such as `#look?folder=T1&line=x`. */

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
