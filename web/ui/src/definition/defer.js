/* Mark a table as delayed, or not any more: `delayed` of its definition, and nothing else of it. */
import { html } from "../html.js";
import { t } from "../text.js";
import { quoted } from "../actions/command.js";
import { Changes } from "./changes.js";
import { load, store } from "./draft.js";

/* What can be delayed: one table, and not the tables of a pattern. */
export const deferrable = (definitions) => definitions.filter((d) => d.table !== undefined && d.delayed !== true);

/* The definition as marked; top relations are for a delayed table only, so they can go with the mark. */
export function deferred(definition, on, withTop) {
  if (on) return { ...definition, delayed: true };
  const { delayed: _, ...others } = definition;
  if (withTop) delete others.top_relations;
  return others;
}

async function send(name, on, withTop, dryRun) {
  const { definition, etag } = await load(name);
  return store({ now: deferred(definition, on, withTop), base: definition, etag }, dryRun);
}

const lineOf = (name, on, withTop) => `millrace table set ${quoted(name)} delayed=${on}${withTop ? " top_relations=" : ""}`;

/* One of these tables becomes delayed; with several, the dialog asks which. */
export function deferAction(definitions, after) {
  const names = definitions.map((d) => d.table);
  const which = (v) => v.table ?? names[0];
  return {
    title: t("defer"),
    does: names.length === 1 ? t("defer.does", { table: names[0] }) : t("defer.does_any"),
    doesNot: t("defer.does_not"),
    role: "admin",
    fields: names.length === 1 ? [] : [{ id: "table", name: t("table.table"), type: "select", value: names[0], options: names.map((n) => [n, n]) }],
    line: (v) => lineOf(which(v), true),
    preview: (v) => send(which(v), true, false, true),
    show: (answer) => html`<${Changes} of=${answer} />`,
    run: (v) => send(which(v), true, false, false),
    done: () => t("defer.done"),
    href: "#/delayed",
    after,
  };
}

export function undeferAction(definition, after) {
  const name = definition.table ?? definition.pattern;
  const n = definition.top_relations?.length ?? 0;
  const withTop = (v) => n > 0 && v.top === true;
  return {
    title: t("undefer"),
    does: t("undefer.does", { table: name }),
    doesNot: t("undefer.does_not"),
    role: "admin",
    fields: n > 0 ? [{ id: "top", name: t("undefer.top", { n }), type: "checkbox", value: true, help: t("undefer.top.help") }] : [],
    line: (v) => lineOf(name, false, withTop(v)),
    preview: (v) => send(name, false, withTop(v), true),
    show: (answer) => html`<${Changes} of=${answer} />`,
    run: (v) => send(name, false, withTop(v), false),
    done: () => t("undefer.done"),
    after,
  };
}
