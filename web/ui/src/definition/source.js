/*
 * The dialogs that add, edit and delete a topic or a database: their members as a definition file has
 * them.  A password is only ever sent, as the daemon shows none.
 */
import { html } from "../html.js";
import { t } from "../text.js";
import { ask, path } from "../api.js";
import { text } from "../exact.js";
import { go } from "../route.js";
import { Changes } from "./changes.js";
import { quoted } from "../actions/command.js";

const CONNECTION = [
  ["address", true],
  ["user", true],
  ["password_file"],
  ["password_env"],
  ["tls", false, "json"],
  ["server_public_key_file"],
];
const MEMBERS = {
  topic: [...CONNECTION, ["group"], ["start"], ["time_zone"], ["day_zone"], ["zero_date"], ["on_gap"], ["server_id", false, "number"], ["description"]],
  database: [["topic", true], ["schema"], ...CONNECTION.map(([id, , type]) => [id, false, type])],
};
const PLURAL = { topic: "topics", database: "databases" };

const shown = (v) => (v === undefined || v === null ? "" : typeof v === "object" ? text(v) : String(v));

function fieldsOf(kind, before, given) {
  const fields = MEMBERS[kind].map(([id, required, type]) => ({
    id,
    name: t(`source.${id}`),
    help: id === "topic" || id === "schema" || id === "address" || id === "password_file" || id === "start" || id === "on_gap" || id === "tls" ? t(`source.${id}.help`) : undefined,
    required,
    type: type === "number" ? "number" : "text",
    value: shown(before?.[id] ?? given?.[id]),
  }));
  return before ? fields : [{ id: "name", name: t("source.name"), required: true, value: given?.name ?? "" }, ...fields];
}

/* A member of JSON that is none goes as text: the daemon says what is wrong with it. */
function valueOf(type, v) {
  if (type === "number") return Number(v);
  if (type !== "json") return v;
  try {
    return JSON.parse(v);
  } catch {
    return v;
  }
}

/* The definition that the fields describe; members without a field stay as they are. */
export function sourceOf(kind, before, values) {
  const next = { ...before, name: before?.name ?? values.name };
  for (const [id, , type] of MEMBERS[kind]) {
    if (values[id] === "") delete next[id];
    else next[id] = valueOf(type, values[id]);
  }
  return next;
}

/* "millrace topic set shop address=db2:3306": what differs from before. */
function commandOf(kind, before, values) {
  const given = MEMBERS[kind].filter(([id]) => shown(before?.[id]) !== values[id]).map(([id]) => ` ${id}=${quoted(values[id])}`);
  return `millrace ${kind} ${before ? "set" : "add"} ${before?.name ?? (values.name || "NAME")}${given.join("")}`;
}

async function store(kind, before, etag, values, dryRun) {
  const definition = sourceOf(kind, before, values);
  const query = { dry_run: dryRun ? "true" : "", new: before ? "" : "true" };
  const headers = before && etag ? { "If-Match": etag } : {};
  return (await ask("PUT", path([PLURAL[kind], definition.name], query), definition, { headers })).data;
}

export function sourceAction(kind, { before, etag, given, after } = {}) {
  return {
    title: before ? t(`source.edit_${kind}`) : t(`source.add_${kind}`),
    does: t(`source.${kind}.does`),
    doesNot: t("source.does_not"),
    role: "admin",
    fields: fieldsOf(kind, before, given),
    line: (v) => commandOf(kind, before, v),
    preview: (v) => store(kind, before, etag, v, true),
    show: (answer) => html`<${Changes} of=${answer} />`,
    run: (v) => store(kind, before, etag, v, false),
    done: () => t("draft.stored"),
    after,
  };
}

export function deleteSource(kind, name, etag) {
  const drop = async (query) => (await ask("DELETE", path([PLURAL[kind], name], query), undefined, { headers: etag ? { "If-Match": etag } : {} })).data;
  return {
    title: t(`source.delete_${kind}`),
    does: t(`source.delete_${kind}.does`, { name }),
    doesNot: t("source.delete.does_not"),
    typed: name,
    danger: true,
    role: "admin",
    line: `millrace ${kind} delete ${name}`,
    preview: () => drop({ dry_run: true }),
    run: () => drop(),
    done: () => t("source.deleted"),
    after: () => go([PLURAL[kind]]),
  };
}
