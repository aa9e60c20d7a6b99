/* Checks of `status` and `doctor`, in the viewer's language by their id, code and values; and the screen
 * that a check is about.  A check's group names its object: "topic shop", "table shop.orders". */
import { has, t } from "./text.js";
import { link } from "./route.js";
import { span } from "./format.js";

export const checkTitle = (c) => (has(`check.${c.id}`) ? t(`check.${c.id}`) : "");

/* "table shop.orders", with the kind in the viewer's language. */
export function groupName(group) {
  if (has(`group.${group}`)) return t(`group.${group}`);
  const [, kind, name] = /^(\w+) (.+)$/.exec(group) ?? [];
  return has(`group.${kind}`) ? t(`group.${kind}`, { name }) : group;
}

const shownValue = ([name, v]) => [name, /seconds$/.test(name) && v !== null ? span(v) : v];

/* A statement or command, which reads alike in each language. */
const COMMAND = /^(millrace [^,;]*$|GRANT |SET |ALTER |tls:|key:)/;

/* "table.runs.held.disk", "table.runs.held", "table.runs": what has no text of its own has a wider one. */
const wider = (code) => code.split(".").map((_, i, words) => words.slice(0, words.length - i).join(".")).filter((k) => k.includes(".") || k === code || k === "dead_letters");

const alike = (a, b) => a.toLowerCase().replace(/\.$/, "") === b.toLowerCase().replace(/\.$/, "");

/*
 * What a check has found: its text, why that matters, and what helps (fix, a command if isCommand).
 * `said` is the daemon's own sentence, which has the exact cause; `saidFix` its fix, if `fix` is another.
 * A code that this page does not know is said by the daemon alone.
 */
export function findingOf(c) {
  const isOk = c.status === "ok";
  const values = Object.fromEntries(Object.entries(c.values ?? {}).map(shownValue));
  const part = (name) => {
    const key = wider(c.code ?? c.id).find((k) => has(`finding.${k}${name}`) && (!isOk || k.endsWith(".ok")));
    return key ? t(`finding.${key}${name}`, values) : "";
  };
  const text = part("");
  if (!text) return { text: c.message, why: c.why ?? "", fix: c.fix ?? "", isCommand: true, said: "", saidFix: "" };
  const own = isOk ? "" : part(".fix");
  const isCommand = !own || COMMAND.test(c.fix ?? "");
  const saidFix = isCommand || alike(own, c.fix ?? "") ? "" : (c.fix ?? "");
  return { text, why: isOk ? "" : part(".why"), fix: isCommand ? (c.fix ?? "") : own, isCommand, said: c.message, saidFix };
}

const PLACES = [
  [/^topic (.+)$/, (m) => link(["topics", m[1]])],
  [/^table (.+)$/, (m) => link(["tables", m[1]])],
  [/^node (.+)$/, () => link(["cluster"])],
  [/^(cluster|coordination)/, () => link(["cluster"])],
  [/^delivery/, () => link(["delivery"])],
  [/^delayed/, () => link(["delayed"])],
];

/* Where the fix of a table's check can be done, if not at the table. */
const FIXES = [
  [/^millrace delayed run /, () => link(["delayed"])],
  [/^millrace (check|replay|verify) /, () => link(["verify"])],
  [/^millrace dead-letter /, (table) => link(["letters"], { table })],
  [/^millrace index (cutover|resume|rollback|reset) /, (table) => link(["versions", table])],
];

export function checkLink(c) {
  const table = /^table (.+)$/.exec(c.group)?.[1];
  const fix = table && FIXES.find(([command]) => command.test(c.fix ?? ""));
  if (fix) return fix[1](table);
  for (const [pattern, to] of PLACES) {
    const found = pattern.exec(c.group);
    if (found) return to(found);
  }
  return link(["doctor"]);
}
