/*
 * Ctrl-K finds screens, tables, topics, versions and jobs; "table:id" is a trace.  "/" opens it, too, and
 * "?" lists the keys.  Keys without Ctrl can be switched off, as who speaks to the browser may press them
 * unawares.
 */
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { html } from "./html.js";
import { t } from "./text.js";
import { link } from "./route.js";
import { SCREENS } from "./sitemap.js";
import { status } from "./stream.js";
import { finds } from "./table.js";
import { useData } from "./data.js";
import { keep, kept } from "./kept.js";
import { lazy } from "./lazy.js";

const open = signal(false);
const help = signal(false);
const Keys = lazy(() => import("./keys.js"), "Keys");

export const singleKeys = signal(kept("single_keys", "on") === "on");
export function setSingleKeys(on) {
  singleKeys.value = on;
  keep("single_keys", on ? "on" : "off");
}
const MOST = 12;

export const openPalette = () => (open.value = true);

/* "orders:42" or "shop.orders:42" as the trace of that row; undefined if no table is meant. */
export function traceOf(text, tables) {
  const at = text.indexOf(":");
  if (at < 1) return undefined;
  const name = text.slice(0, at).trim();
  const key = text.slice(at + 1).trim();
  const table = tables.find((x) => x.table === name || x.index === name || x.table.endsWith(`.${name}`));
  return table && key ? { table: table.table, key } : undefined;
}

function entries(versions, jobs) {
  const s = status.value;
  return [
    ...SCREENS.map(({ id }) => ({ kind: t("palette.screen"), name: t(`nav.${id}`), href: link([id]) })),
    ...(s?.tables ?? []).map((x) => ({ kind: t("palette.table"), name: x.table, also: x.index, href: link(["tables", x.table]) })),
    ...(s?.topics ?? []).map((x) => ({ kind: t("palette.topic"), name: x.name, href: link(["topics", x.name]) })),
    ...versions.map((x) => ({ kind: t("palette.version"), name: x.name, href: link(["versions", x.index]) })),
    ...jobs.map((x) => ({ kind: t("palette.job"), name: `${x.kind} ${x.id}`, also: x.table, href: link(["jobs", x.id]) })),
  ];
}

function Box() {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const box = useRef(null);
  const versions = useData("versions", { live: false }).data?.items ?? [];
  const jobs = useData("jobs", { live: false }).data?.items ?? [];
  const all = useMemo(() => entries(versions, jobs), [versions, jobs]);
  const trace = traceOf(text, status.value?.tables ?? []);
  const found = [
    ...(trace ? [{ kind: t("palette.trace"), name: `${trace.table} ${trace.key}`, href: link(["trace"], trace) }] : []),
    ...all.filter((e) => finds(text, e.name, e.also)),
  ].slice(0, MOST);
  const close = () => (open.value = false);
  const choose = (e) => {
    close();
    location.hash = e.href;
  };
  // Before anything is painted, so that keys that follow at once go into the box.
  useLayoutEffect(() => {
    const before = document.activeElement;
    box.current.showModal();
    return () => before?.focus?.();
  }, []);
  const keys = (e) => {
    if (e.key === "ArrowDown") setAt(Math.min(found.length - 1, at + 1));
    else if (e.key === "ArrowUp") setAt(Math.max(0, at - 1));
    else if (e.key === "Enter" && found[at]) choose(found[at]);
    else return;
    e.preventDefault();
  };
  return html`<dialog ref=${box} class="palette" aria-label=${t("palette")} onCancel=${close} onClose=${close}>
    <input aria-label=${t("palette")} placeholder=${t("palette.hint")} value=${text} role="combobox" aria-expanded="true" aria-controls="found"
      aria-activedescendant=${found.length ? `found-${at}` : undefined} onKeyDown=${keys} onInput=${(e) => (setText(e.target.value), setAt(0))} />
    <ul id="found" role="listbox" aria-label=${t("palette")}>
      ${found.map(
        (e, i) => html`<li id="found-${i}" role="option" aria-selected=${i === at} onClick=${() => choose(e)}><span class="soft">${e.kind}</span> ${e.name}</li>`,
      )}
    </ul>
    ${found.length === 0 && html`<p class="soft">${t("nothing_found")}</p>`}
  </dialog>`;
}

const isTyping = (e) => /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName);

export function Palette() {
  useEffect(() => {
    const key = (e) => {
      if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") open.value = !open.value;
      else if (!singleKeys.value || isTyping(e) || e.ctrlKey || e.metaKey || e.altKey) return;
      else if (e.key === "/") open.value = true;
      else if (e.key === "?") help.value = true;
      else return;
      e.preventDefault();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
  return html`${open.value && html`<${Box} />`}${help.value && html`<${Keys} close=${() => (help.value = false)} />`}`;
}
