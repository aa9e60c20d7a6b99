/* Delayed tables: have the documents read again that their changes concern, or let the changes be. */
import { html } from "../html.js";
import { t } from "../text.js";
import { path, post } from "../api.js";
import { number } from "../format.js";
import { Terms } from "../parts.js";

/* What a run would take, an item for each table and each of its top relations. */
const Cost = ({ of }) =>
  of.items.length === 0
    ? html`<p>${t("delayed.nothing_waits")}</p>`
    : html`<h3>${t("delayed.cost")}</h3>${of.items.map(
        (x) => html`<${Terms} of=${[
          [t("delayed.table"), x.table],
          [t("delayed.snapshots"), number(x.snapshots)],
          [t("delayed.found_by"), t(`delayed.found_by.${x.found_by}`)],
          x.documents_of && [t("delayed.documents_of"), x.documents_of],
          x.statements !== undefined && [t("delayed.statements"), number(x.statements)],
          x.rows_examined !== undefined && [t("delayed.examined"), number(x.rows_examined)],
        ]} />`,
      )}`;

/* `what` is {all: true}, {table} or {ids: [17]}. */
export function runDelayedAction(what) {
  const one = what.ids?.[0];
  const which = what.all ? "--all" : one !== undefined ? `--one ${one}` : what.table;
  return {
    title: t("delayed.run"),
    does: one !== undefined ? t("delayed.run.one", { id: String(one) }) : what.all ? t("delayed.run.all") : t("delayed.run.table", { table: what.table }),
    doesNot: one !== undefined ? t("delayed.run.one_stays") : t("delayed.run.does_not"),
    line: `millrace delayed run ${which}`,
    preview: () => post("delayed/run", { ...what, dry_run: true }),
    show: (answer) => html`<${Cost} of=${answer} />`,
    run: () => post("delayed/run", what),
    done: (answer) => t("delayed.run.begun", { n: answer.count }),
    href: "#/delayed?tab=runs",
  };
}

/* `snapshots` all wait; `typed` is the name to type for many of them. */
export function doneDelayedAction(snapshots, typed, after) {
  const ids = snapshots.map((s) => s.id);
  return {
    title: t("delayed.mark_done"),
    does: t("delayed.mark_done.does", { n: ids.length }),
    doesNot: t("delayed.mark_done.does_not"),
    typed,
    danger: true,
    line: `millrace delayed done ${ids.join(" ")}`,
    preview: () => post(path(["delayed", "done"], { dry_run: true }), { ids }),
    run: () => post("delayed/done", { ids }),
    done: (answer) => t("delayed.marked_done", { n: answer.count }),
    after,
  };
}
