/*
 * A table of many rows: sorted by a column; rows are drawn as one scrolls to them, or asks for more.
 *
 * A column: {id, name, value(row), cell(row), number}.  `value` sorts and is found by the filter;
 * `cell` draws, and defaults to value.  The order is in the address when `address` is set.
 */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { html } from "./html.js";
import { t } from "./text.js";
import { route, setQuery } from "./route.js";

const STEP = 40;
const collator = new Intl.Collator(undefined, { numeric: true });

function compare(a, b) {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return collator.compare(String(a), String(b));
}

function ordered(rows, columns, order) {
  const down = order.startsWith("-");
  const column = columns.find((c) => c.id === order.replace("-", ""));
  if (!column) return rows;
  const keyed = rows.map((row) => [column.value(row), row]);
  keyed.sort(([a], [b]) => (down ? compare(b, a) : compare(a, b)));
  return keyed.map(([, row]) => row);
}

/* The end of what is drawn.  Whoever scrolls near it gets more by itself. */
function More({ left, more }) {
  const end = useRef(null);
  useEffect(() => {
    const watch = new IntersectionObserver((seen) => seen.some((x) => x.isIntersecting) && more(), { rootMargin: "200px" });
    watch.observe(end.current);
    return () => watch.disconnect();
  });
  return html`<p ref=${end}><button type="button" onClick=${more}>${t("show_more", { n: left })}</button></p>`;
}

export function Table({ caption, columns, rows, id, order: firstOrder = "", address = true, empty }) {
  const [own, setOwn] = useState(firstOrder);
  const [shown, setShown] = useState(STEP);
  const order = address ? (route.value.query.order ?? firstOrder) : own;
  const setOrder = (next) => (address ? setQuery({ order: next }) : setOwn(next));
  const list = useMemo(() => ordered(rows, columns, order), [rows, order]);

  if (rows.length === 0) return empty ?? html`<p class="soft">${t("nothing_found")}</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}>
    <table>
      <caption>${caption} <span class="soft">${t("rows", { n: rows.length })}</span></caption>
      <thead>
        <tr>
          ${columns.map((c) => {
            const on = order.replace("-", "") === c.id;
            const down = on && order.startsWith("-");
            if (!c.value) return html`<th scope="col" class=${c.number ? "number" : ""}>${c.name}</th>`;
            return html`<th scope="col" class=${c.number ? "number" : ""} aria-sort=${on ? (down ? "descending" : "ascending") : undefined}>
              <button type="button" class="sort" onClick=${() => setOrder(on && !down ? `-${c.id}` : c.id)}>
                ${c.name}<span aria-hidden="true">${on ? (down ? " ↓" : " ↑") : ""}</span>
              </button>
            </th>`;
          })}
        </tr>
      </thead>
      <tbody>
        ${list.slice(0, shown).map(
          (row) => html`<tr key=${id ? id(row) : undefined}>
            ${columns.map((c) => html`<td class=${c.number ? "number" : ""} data-label=${c.name}><div>${c.cell ? c.cell(row) : (c.value(row) ?? "–")}</div></td>`)}
          </tr>`,
        )}
      </tbody>
    </table>
    ${list.length > shown && html`<${More} left=${list.length - shown} more=${() => setShown(shown + STEP)} />`}
  </div>`;
}

/* Filters above a table; each is in the address.  A filter: {id, name, options?}. */
export function Filters({ of }) {
  const query = route.value.query;
  return html`<form class="filters" role="search" onSubmit=${(e) => e.preventDefault()}>
    ${of.map(({ id, name, options }) =>
      options
        ? html`<label>${name}
            <select value=${query[id] ?? ""} onChange=${(e) => setQuery({ [id]: e.target.value })}>
              <option value="">${t("all")}</option>
              ${options.map((o) => {
                const [value, label] = Array.isArray(o) ? o : [o, o];
                return html`<option value=${value} selected=${query[id] === value}>${label}</option>`;
              })}
            </select></label>`
        : html`<label>${name}
            <input type="search" value=${query[id] ?? ""} onInput=${(e) => setQuery({ [id]: e.target.value })} /></label>`,
    )}
  </form>`;
}

/* Whether text has what the viewer looks for, without regard to case. */
export const finds = (part, ...texts) => !part || texts.some((x) => String(x ?? "").toLowerCase().includes(part.toLowerCase()));
/* The distinct values of a list, in order. */
export const distinct = (list) => [...new Set(list.filter((x) => x !== null && x !== undefined && x !== ""))].sort(collator.compare);
