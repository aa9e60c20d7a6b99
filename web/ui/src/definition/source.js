/*
 * The dialogs that add, edit and delete a topic or a database: their members as a definition file has
 * them.  A password is only ever sent, as the daemon shows none.
 */
import { html } from "../html.js";
import { t } from "../text.js";
import { ask, path } from "../api.js";
import { go } from "../route.js";
import { Changes } from "./changes.js";
import { quoted } from "../actions/command.js";

const CONNECTION = [["address", true], ["user", true], ["password_file"], ["password_env"], ["password"], ["tls"], ["server_public_key_file"]];
const MEMBERS = {
  topic: [...CONNECTION, ["group"], ["start"], ["time_zone"], ["day_zone"], ["zero_date"], ["on_gap"], ["server_id", false, "number"], ["description"]],
  database: [["topic", true], ["schema"], ...CONNECTION.map(([id]) => [id])],
};
const HELP = ["topic", "schema", "address", "password_file", "start", "on_gap"];
const PLURAL = { topic: "topics", database: "databases" };

/* Where the password is: the value of the field "secret", and the member that has it. */
const SECRETS = { file: "password_file", env: "password_env", typed: "password" };
const TLS_FILES = ["ca_file", "cert_file", "key_file"];

const shown = (v) => (v === undefined || v === null ? "" : typeof v === "object" ? JSON.stringify(v) : String(v));

const secretOf = (before) => Object.keys(SECRETS).find((way) => before?.[SECRETS[way]]) ?? "file";
const tlsOf = (before) => (!before?.tls ? "off" : before.tls.verify === false ? "unchecked" : "on");

/* The daemon shows `***` for a password that it has: a field shows nothing, and nothing typed keeps it. */
const secretFields = (before) => [
  { id: "secret", name: t("source.secret"), type: "select", value: secretOf(before), options: Object.keys(SECRETS).map((way) => [way, t(`source.secret.${way}`)]) },
  ...Object.entries(SECRETS).map(([way, id]) => ({
    id,
    name: t(`source.${id}`),
    type: way === "typed" ? "password" : "text",
    autocomplete: way === "typed" ? "new-password" : "off",
    help: way === "file" ? t("source.password_file.help") : way === "typed" ? t(before?.password ? "source.password.keep" : "source.password.help") : undefined,
    value: way === "typed" ? "" : shown(before?.[id]),
    when: (v) => v.secret === way,
  })),
];

const tlsFields = (kind, before) => [
  { id: "tls", name: "TLS", type: "select", value: tlsOf(before), options: ["off", "on", "unchecked"].map((v) => [v, t(v === "off" && kind === "database" ? "source.tls.of_topic" : `source.tls.${v}`)]) },
  ...TLS_FILES.map((id) => ({
    id: `tls_${id}`,
    name: t(`source.tls.${id}`),
    help: id === "ca_file" ? t("source.tls.ca_file.help") : undefined,
    value: shown(before?.tls?.[id]),
    when: (v) => v.tls !== "off",
  })),
];

function fieldsOf(kind, before, given) {
  const fields = MEMBERS[kind].flatMap(([id, required, type]) => {
    if (id === "password_file") return secretFields(before);
    if (id === "password_env" || id === "password") return [];
    if (id === "tls") return tlsFields(kind, before);
    return { id, name: t(`source.${id}`), help: HELP.includes(id) ? t(`source.${id}.help`) : undefined, required, type: type ?? "text", value: shown(before?.[id] ?? given?.[id]) };
  });
  return before ? fields : [{ id: "name", name: t("source.name"), required: true, value: given?.name ?? "" }, ...fields];
}

/* The tls of the fields; members that have none stay as they are.  undefined: no TLS. */
function tlsValue(before, values) {
  if (values.tls === "off") return undefined;
  const next = { ...before?.tls };
  for (const id of TLS_FILES) {
    if (values[`tls_${id}`]) next[id] = values[`tls_${id}`];
    else delete next[id];
  }
  delete next.verify;
  return values.tls === "unchecked" ? { ...next, verify: false } : next;
}

/* A member as the fields have it; undefined: it is left out.  Of the three passwords only the chosen one counts. */
function memberOf(id, type, before, values) {
  const way = Object.keys(SECRETS).find((x) => SECRETS[x] === id);
  if (way && values.secret !== way) return undefined;
  if (id === "tls") return tlsValue(before, values);
  if (id === "password" && !values.password) return before?.password;
  if (values[id] === "") return undefined;
  return type === "number" ? Number(values[id]) : values[id];
}

/* The definition that the fields describe; members without a field stay as they are. */
export function sourceOf(kind, before, values) {
  const next = { ...before, name: before?.name ?? values.name };
  for (const [id, , type] of MEMBERS[kind]) {
    const value = memberOf(id, type, before, values);
    if (value === undefined) delete next[id];
    else next[id] = value;
  }
  return next;
}

/* "millrace topic set shop address=db2:3306": what differs from before.  A password never stands in it. */
export function commandOf(kind, before, values) {
  const next = sourceOf(kind, before, values);
  const given = MEMBERS[kind]
    .map(([id]) => [id, shown(before?.[id]), shown(next[id])])
    .filter(([, was, is]) => was !== is)
    .map(([id, , is]) => (id === "password" && is ? ' password="$PASSWORD"' : ` ${id}=${is && quoted(is)}`));
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
