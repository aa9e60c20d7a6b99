/*
 * The address: "#/tables/shop.orders?tab=columns".  The screen, what it is about, and its filters
 * are in it, so that a link shows the same, and Back works.
 */
import { signal } from "@preact/signals";

export const route = signal({ parts: [], query: {} });

function read() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return {
    parts: path.split("/").filter(Boolean).map(decode),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function link(parts, query = {}) {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(query)) if (v !== undefined && v !== "") q.set(k, v);
  const text = q.toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

export function go(parts, query) {
  location.hash = link(parts, query);
}

/* Change filters in place: typing in a filter leaves no trail of addresses. */
export function setQuery(changes) {
  const query = { ...route.value.query, ...changes };
  history.replaceState(null, "", link(route.value.parts, query));
  route.value = read();
}

export function begin() {
  route.value = read();
  addEventListener("hashchange", () => {
    const before = route.value.parts.join("/");
    route.value = read();
    if (route.value.parts.join("/") !== before) scrollTo(0, 0);
  });
}
