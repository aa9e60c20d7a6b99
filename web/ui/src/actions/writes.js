/* Writes into the index that searches use: pause, resume, write some rows again. */
import { t } from "../text.js";
import { path, post } from "../api.js";
import { link } from "../route.js";
import { keyOptions, keysOf, numberOf, option } from "./command.js";

const ofIndex = (x, ...more) => path(["tables", x.table, "index", ...more]);
const tryIndex = (x, what) => path(["tables", x.table, "index", what], { dry_run: true });

export function pauseAction(x) {
  return {
    title: t("index.pause"),
    does: t("index.pause.does", { index: x.index }),
    doesNot: t("index.pause.does_not"),
    fields: [{ id: "reason", name: t("index.pause.reason"), help: t("index.pause.reason.help") }],
    line: (v) => `millrace index pause ${x.table}${option("reason", v.reason)}`,
    preview: (v) => post(tryIndex(x, "pause"), v.reason ? { reason: v.reason } : {}),
    run: (v) => post(ofIndex(x, "pause"), v.reason ? { reason: v.reason } : {}),
    done: () => t("index.paused"),
  };
}

export function resumeAction(x) {
  return {
    title: t("index.resume"),
    does: t("index.resume.does", { index: x.index }),
    doesNot: t("index.resume.does_not"),
    line: `millrace index resume ${x.table}`,
    preview: () => post(tryIndex(x, "resume"), {}),
    run: () => post(ofIndex(x, "resume"), {}),
    done: () => t("index.resumed"),
  };
}

export function refreshAction(x, keys = "") {
  const of = (v) => (v.which === "keys" ? { keys: keysOf(v.keys) } : { where: v.where, rate: numberOf(v.rate) });
  const byKeys = (v) => v.which === "keys";
  return {
    title: t("refresh"),
    does: t("refresh.does", { index: x.index }),
    doesNot: t("refresh.does_not"),
    fields: [
      { id: "which", name: t("refresh.which"), type: "select", value: keys ? "keys" : "where", options: ["where", "keys"].map((v) => [v, t(`refresh.${v}`)]) },
      { id: "where", name: t("refresh.condition"), type: "text", required: true, help: t("refresh.condition.help"), when: (v) => !byKeys(v) },
      { id: "rate", name: t("build.rate"), type: "number", min: 0, when: (v) => !byKeys(v) },
      { id: "keys", name: t("refresh.ids"), type: "textarea", rows: 3, value: keys, required: true, help: t("refresh.ids.help"), when: byKeys },
    ],
    line: (v) => `millrace index refresh ${x.table}${byKeys(v) ? keyOptions(keysOf(v.keys)) : `${option("where", v.where)}${option("rate", v.rate)}`}`,
    preview: (v) => post(tryIndex(x, "refresh"), of(v)),
    run: (v) => post(ofIndex(x, "refresh"), of(v)),
    done: () => t("refresh.begun"),
    href: (answer) => link(["jobs", answer.job]),
  };
}

export function cancelRefreshAction(x) {
  return {
    title: t("refresh.cancel"),
    does: t("refresh.cancel.does", { index: x.index }),
    doesNot: t("refresh.cancel.does_not"),
    line: `millrace index refresh ${x.table} --cancel`,
    preview: () => post(path(["tables", x.table, "index", "refresh", "cancel"], { dry_run: true }), {}),
    run: () => post(ofIndex(x, "refresh", "cancel"), {}),
    done: () => t("refresh.cancelled"),
  };
}
