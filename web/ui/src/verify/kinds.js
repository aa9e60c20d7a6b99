/* What a repair does to a document, by what is wrong with it. */
import { html } from "../html.js";
import { t } from "../text.js";
import { State } from "../parts.js";

const REPAIR = { missing: "writes", different: "writes", wrong_routing: "moves", extra: "deletes", unexplained: "deletes" };

export const canRepair = (kind) => kind in REPAIR;
export const repairText = (kind) => t(`compare.repair.${REPAIR[kind] ?? "nothing"}`);
export const repairable = (r) => Object.keys(REPAIR).reduce((n, k) => n + (r.counts[k] ?? 0) - (r.repaired_counts[k] ?? 0), 0);

/* How many could not be judged: they may be missing or old, although nothing is known to differ. */
const count = (x) => Number(x?.number ?? x ?? 0);
export const notJudged = (r) => (r.equal === undefined ? 0 : Math.max(0, count(r.documents) - count(r.equal) - count(r.differing)));

export function Verdict({ of, title }) {
  const apart = of.verdict === "equal" ? notJudged(of) : 0;
  return apart > 0 ? html`<${State} of="warn" word=${t("compare.equal_but", { n: apart })} title=${title} />` : html`<${State} of=${of.verdict} title=${title} />`;
}

/* What a repair of these documents would do, from a look at them now. */
export function WouldRepair({ of }) {
  if (of.differences.length === 0) return html`<p>${t("compare.nothing_to_repair")}</p>`;
  return html`<ul>${of.differences.map((d) => html`<li><code>${d.id}</code> ${t(`difference.${d.kind}`)}: ${repairText(d.kind)}</li>`)}</ul>`;
}
