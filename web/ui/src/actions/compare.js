/* Comparing documents with their rows, repairing what differs, and writing a day once more. */
import { html } from "../html.js";
import { t } from "../text.js";
import { path, post } from "../api.js";
import { link } from "../route.js";
import { WouldRepair } from "../verify/kinds.js";
import { keyOptions, numberOf, option } from "./command.js";

const WAYS = ["all", "sample", "where", "since"];

function body(v) {
  const way = { sample: { sample: numberOf(v.sample) }, where: { where: v.where }, since: { since: v.since } }[v.way] ?? {};
  return {
    ...way,
    repair: v.repair || undefined,
    yes: (v.repair && v.yes) || undefined,
    values: v.values || undefined,
    rate: numberOf(v.rate),
    version: v.way === "all" ? numberOf(v.version) : undefined,
  };
}

function line(table, v) {
  const common = `${option("repair", v.repair)}${option("values", v.values)}${option("rate", v.rate)}`;
  if (v.way === "since") return `millrace check ${table}${option("since", v.since)}${common}`;
  const way = { sample: option("sample", v.sample), where: option("where", v.where) }[v.way] ?? option("version", v.version);
  return `millrace verify ${table}${way}${common}${option("yes", v.repair && v.yes)}`;
}

/* Begin a comparison; `first` sets fields, as {repair: true}. */
export function verifyAction(table, first = {}) {
  const only = (way) => (v) => v.way === way;
  return {
    title: first.repair ? t("compare.repair") : t("verify.start"),
    does: first.repair ? t("compare.repair.does", { table }) : t("verify.start.does", { table }),
    doesNot: first.repair ? t("compare.repair.does_not") : t("compare.does_not"),
    fields: [
      { id: "way", name: t("compare.way"), type: "select", value: first.way ?? "all", options: WAYS.map((w) => [w, t(`compare.way.${w}`)]) },
      { id: "sample", name: t("compare.sample"), type: "number", min: 1, max: 1000000, value: "10000", help: t("compare.sample.help"), when: only("sample") },
      { id: "where", name: t("refresh.condition"), required: true, help: t("compare.where.help"), when: only("where") },
      { id: "since", name: t("compare.since"), help: t("compare.since.help"), when: only("since") },
      { id: "version", name: t("compare.version"), type: "number", min: 0, value: first.version ?? "", help: t("compare.version.help"), when: only("all") },
      { id: "values", name: t("compare.values"), type: "checkbox", value: true, help: t("compare.values.help") },
      { id: "rate", name: t("compare.rate"), type: "number", min: 0 },
      { id: "repair", name: t("compare.and_repair"), type: "checkbox", value: first.repair ?? false, help: t("compare.and_repair.help") },
      { id: "yes", name: t("compare.yes"), type: "checkbox", help: t("compare.yes.help"), when: (v) => v.repair },
    ],
    asksWhy: (v) => v.repair,
    line: (v) => line(table, v),
    canTry: (v) => v.repair,
    preview: (v) => post(path(["tables", table, "verify"], { dry_run: true }), body(v)),
    show: (answer) => html`<p>${t("compare.tried")} <a href=${link(["verify", answer.job])}>${t("open")}</a></p>`,
    run: (v) => post(path(["tables", table, "verify"]), body(v)),
    done: () => t("verify.started"),
    href: (answer) => link(["verify", answer.job]),
  };
}

/* Have the rows of single documents read again where they differ. */
export function repairKeysAction(table, keys, after) {
  return {
    title: t("compare.repair_keys"),
    does: t("compare.repair_keys.does", { n: keys.length, keys: keys.join(", ") }),
    doesNot: t("compare.repair.does_not"),
    asksWhy: true,
    line: `millrace verify ${table}${keyOptions(keys)} --repair`,
    preview: () => post(path(["tables", table, "verify"], { dry_run: true }), { keys, repair: true, values: true }),
    show: (answer) => html`<${WouldRepair} of=${answer} />`,
    run: () => post(path(["tables", table, "verify"]), { keys, repair: true, values: true }),
    done: (answer) => t("compare.repaired", { n: answer.repaired }),
    after,
  };
}

export function replayAction(table) {
  return {
    title: t("replay"),
    does: t("replay.does", { table }),
    doesNot: t("replay.does_not"),
    fields: [
      { id: "day", name: t("replay.day"), type: "date", help: t("replay.day.help") },
      { id: "rate", name: t("replay.rate"), type: "number", min: 0, value: "1000" },
    ],
    line: (v) => `millrace replay ${table}${option("day", v.day)}${option("rate", v.rate)}`,
    preview: (v) => post(path(["tables", table, "replay"], { dry_run: true }), { day: v.day || undefined, rate: numberOf(v.rate) }),
    run: (v) => post(path(["tables", table, "replay"]), { day: v.day || undefined, rate: numberOf(v.rate) }),
    done: () => t("replay.begun"),
    href: (answer) => link(["verify", answer.job]),
  };
}
