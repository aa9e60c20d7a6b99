/* Builds of index versions: begin, change while it runs, publish, give up. */
import { html } from "../html.js";
import { t } from "../text.js";
import { path, patch, post } from "../api.js";
import { link } from "../route.js";
import { number } from "../format.js";
import { Terms } from "../parts.js";
import { numberOf, option } from "./command.js";

const buildBody = (v) => ({
  hold: v.hold || undefined,
  rate: numberOf(v.rate),
  chunk: numberOf(v.chunk),
  buckets: numberOf(v.buckets),
  buckets_by: v.buckets_by || undefined,
  nodes: numberOf(v.nodes),
  keep: numberOf(v.keep),
  verify: v.verify || undefined,
  take_index: v.take === "index" || undefined,
  take_alias: v.take === "alias" || undefined,
});

const buildLine = (table, v) =>
  `millrace index create ${table}${option("hold", v.hold)}${option("rate", v.rate)}${option("chunk", v.chunk)}` +
  `${option("buckets", v.buckets)}${option("buckets-by", v.buckets_by)}${option("nodes", v.nodes)}${option("keep", v.keep)}` +
  `${option("verify", v.verify)}${v.take ? ` --take-${v.take}` : ""}`;

const choices = (id, values) => [["", t("build.as_set")], ...values.map((v) => [v, t(`${id}.${v}`)])];

const Cost = ({ of }) =>
  html`<${Terms} of=${[
    [t("build.buckets"), number(of.buckets)],
    [t("build.buckets_by"), t(`build.buckets_by.${of.buckets_by}`)],
    of.rows !== undefined && [t("build.cost.rows"), of.rows ? number(of.rows) : t("build.cost.unknown")],
    of.rows_examined !== undefined && [t("build.cost.examined"), number(of.rows_examined)],
  ]} />`;

const count = (id, help, more) => ({ id, name: t(`build.${id}`), type: "number", min: 0, help: help && t(`build.${id}.help`), ...more });

export function buildAction(x) {
  const target = path(["tables", x.table, "index"]);
  const when = (v) => v.more;
  return {
    title: t("build.create"),
    does: t("build.create.does", { index: x.index }),
    doesNot: t("build.create.does_not"),
    fields: [
      { id: "hold", name: t("build.hold"), type: "checkbox", help: t("build.hold.help") },
      count("rate", true),
      { id: "verify", name: t("build.verify"), type: "select", options: choices("build.verify", ["sample", "full", "none"]) },
      count("keep", true),
      { id: "more", name: t("build.more"), type: "checkbox" },
      count("buckets", true, { max: 1000, when }),
      { id: "buckets_by", name: t("build.buckets_by"), type: "select", options: choices("build.buckets_by", ["column", "key", "mod"]), when },
      count("nodes", true, { when }),
      count("chunk", true, { when }),
      { id: "take", when, name: t("build.take"), type: "select", options: ["", "index", "alias"].map((v) => [v, t(`build.take.${v || "no"}`)]), help: t("build.take.help") },
    ],
    line: (v) => buildLine(x.table, v),
    preview: (v) => post(target, { ...buildBody(v), dry_run: true }),
    show: (answer) => html`<${Cost} of=${answer} />`,
    run: (v) => post(target, buildBody(v)),
    done: () => t("build.created"),
    href: (answer) => link(["jobs", answer.job]),
  };
}

/* Rate and nodes of a build that runs; `job` is a build of GET jobs. */
export function changeBuildAction(job) {
  const limits = (v) => ({ rate: numberOf(v.rate), nodes: numberOf(v.nodes) });
  return {
    title: t("build.change"),
    does: t("build.change.does", { index: job.index, version: String(job.version) }),
    doesNot: t("build.change.does_not"),
    fields: [
      count("rate", false, { help: t("build.change.zero") }),
      count("nodes", false, { value: job.nodes_limit ? String(job.nodes_limit) : "", help: t("build.change.zero") }),
    ],
    line: (v) => `millrace index set ${job.table}${option("rate", v.rate)}${option("nodes", v.nodes)}`,
    preview: (v) => patch(path(["tables", job.table, "index"], { dry_run: true }), limits(v)),
    run: (v) => patch(path(["tables", job.table, "index"]), limits(v)),
    done: () => t("build.changed"),
  };
}

/* Publish a version that waits; `wait` is that of the status. */
export function cutoverAction(x, wait) {
  const letters = wait?.dead_letters ?? 0;
  return {
    title: t("cutover"),
    does: t("cutover.does", { index: x.index, version: String(wait?.version ?? ""), old: String(x.version ?? "–") }),
    doesNot: x.version ? t("cutover.does_not", { old: String(x.version) }) : "",
    fields: letters
      ? [{ id: "letters", name: t("cutover.letters"), type: "number", min: 0, value: String(letters), help: t("cutover.letters.help", { n: letters }) }]
      : [],
    asksWhy: true,
    line: (v) => `millrace index cutover ${x.table}${option("accept-dead-letters", v.letters)}`,
    preview: (v) => post(path(["tables", x.table, "index", "cutover"], { dry_run: true }), { accept_dead_letters: numberOf(v.letters) }),
    run: (v) => post(path(["tables", x.table, "index", "cutover"]), { accept_dead_letters: numberOf(v.letters) }),
    done: () => t("cutover.done"),
    href: (answer) => link(["jobs", answer.job]),
  };
}

/* The way out of any bad state: give up the version that is built or waits. */
export function resetAction(x, version) {
  return {
    title: t("index.reset"),
    does: t("index.reset.does", { index: x.index, version: String(version ?? "") }),
    doesNot: x.version ? t("index.reset.does_not", { version: String(x.version) }) : t("index.reset.does_not.none"),
    typed: x.index,
    danger: true,
    line: `millrace index reset ${x.table} --yes`,
    preview: () => post(path(["tables", x.table, "index", "reset"], { dry_run: true }), {}),
    run: () => post(path(["tables", x.table, "index", "reset"]), {}),
    done: () => t("index.reset.done"),
  };
}
