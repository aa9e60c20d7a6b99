/* A report as a file: JSON as the daemon gave it, or the differences as CSV. */
import { html } from "../html.js";
import { t } from "../text.js";
import { text } from "../exact.js";

/* Spreadsheets run what begins so: an apostrophe makes it a text. */
const DANGEROUS = /^[=+\-@\t\r]/;
const NUMBER = /^-?\d+(\.\d+)?$/;

export function csvCell(v) {
  const s = v === null || v === undefined ? "" : typeof v === "object" ? text(v) : String(v);
  const safe = DANGEROUS.test(s) && !NUMBER.test(s) ? `'${s}` : s;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const HEAD = ["id", "routing", "kind", "version", "repaired", "path", "path_kind", "wanted", "found"];

export function csvOf(report) {
  const lines = (report.differences ?? []).flatMap((d) => {
    const first = [d.id, d.routing, d.kind, d.version, d.repaired];
    return d.paths?.length ? d.paths.map((p) => [...first, p.path, p.kind, p.wanted, p.found]) : [[...first, "", "", "", ""]];
  });
  return [HEAD, ...lines].map((l) => l.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

function save(name, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const a = document.createElement("a");
  a.href = address;
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

export function Export({ of }) {
  const name = `millrace-${of.index}-v${of.version}-${of.job ?? "documents"}`;
  return html`<button type="button" onClick=${() => save(`${name}.json`, "application/json", text(of))}>${t("compare.export", { form: "JSON" })}</button>
    ${of.differences && html`<button type="button" onClick=${() => save(`${name}.csv`, "text/csv", csvOf(of))}>${t("compare.export", { form: "CSV" })}</button>`}`;
}
