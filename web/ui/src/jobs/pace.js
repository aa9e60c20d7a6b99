/*
 * How far a job is and how long it still takes.  Totals are estimates: a share stays below 100 % until
 * the job is over, and what is left is never "0 s".
 */
import { html } from "../html.js";
import { t } from "../text.js";
import { Exact } from "../exact.js";
import { number, percent, span } from "../format.js";

const plain = (v) => (v instanceof Exact ? Number(v.number) : v);

/* Jobs of changed rows count documents, all others rows. */
export const doneOf = (job) => plain(job.rows_done ?? job.documents_done) ?? 0;
export function totalOf(job) {
  if (job.rows_total !== undefined) return plain(job.rows_total);
  const left = plain(job.remaining);
  return left === undefined || left === null ? null : doneOf(job) + left;
}

const isOver = (job) => job.state === "done" || job.state === "complete";
/* A build whose rows are all written, while its version waits to be published. */
const isFilled = (job) => job.state === "waiting" && job.kind === "index";
export const isAlmostDone = (job) => !isOver(job) && totalOf(job) > 0 && doneOf(job) >= totalOf(job);
export const isBeyond = (job) => !isOver(job) && totalOf(job) > 0 && doneOf(job) > totalOf(job);

export function share(job) {
  if (isOver(job)) return percent(100);
  const total = totalOf(job);
  if (!(total > 0)) return "";
  if (job.phase === "finishing" || isFilled(job)) return t("job.all_read");
  return isAlmostDone(job) ? t("job.finishing") : percent(Math.min(99.9, (100 * doneOf(job)) / total));
}

export function amount(job) {
  const total = totalOf(job);
  const done = number(doneOf(job));
  return total > 0 && !isBeyond(job) ? t("job.of_about", { done, total: number(total) }) : done;
}

export function Left({ of }) {
  if (isOver(of)) return html`<span>–</span>`;
  if (isFilled(of)) return html`<span>${t("job.left.person")}</span>`;
  if (of.slow) return html`<span class="warn">▲ ${t("job.left.never")}</span>`;
  const s = plain(of.remaining_seconds);
  if (s === undefined || s === null) return html`<span class="soft">${t("job.left.unknown")}</span>`;
  return html`<span>${s < 1 || isAlmostDone(of) ? t("job.left.soon") : t("job.left", { span: span(Math.ceil(s)) })}</span>`;
}
