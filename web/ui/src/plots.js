/*
 * Plots of lag, rate and latency from /api/v1/history, with the same figures as a table.  The drawing
 * library is loaded only where something is drawn.
 */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { html } from "./html.js";
import { t } from "./text.js";
import { useData } from "./data.js";
import { theme } from "./theme.js";
import { milliseconds, number, span, time } from "./format.js";
import { path } from "./api.js";
import { Problem, Stale } from "./parts.js";

/*
 * Each plot: the names of its lists in the answer (the first is its title's), those of each topic or of
 * delivery as a whole, and how a figure is written.
 */
const STEP_MS = 10000; /* the daemon measures as often */

const PLOTS = [
  { id: "lag_seconds", write: span, floor: 5 },
  { id: "changes_per_second", write: (v) => number(v, 1), floor: 1 },
  { id: "documents_per_second", write: (v) => number(v, 1), floor: 1 },
  { id: "commit_to_acknowledged_p99_seconds", write: milliseconds, floor: 0.01 },
  { id: "bulk_p99_seconds", write: milliseconds, floor: 0.01, whole: true },
];

function Drawing({ name, times, series, write, floor }) {
  const place = useRef(null);
  useEffect(() => {
    let drawn = null;
    let gone = false;
    import("./plot.js").then(({ draw }) => {
      if (!gone && place.current) drawn = draw(place.current, { name, times, series, write, floor });
    });
    return () => {
      gone = true;
      drawn?.destroy();
    };
  }, [times, series, theme.value]);
  return html`<div class="plot" ref=${place} role="img" aria-label=${name}></div>`;
}

function summary(series, write) {
  const all = series.flatMap((s) => s.values.filter((v) => v !== null));
  if (all.length === 0) return t("plot.nothing");
  return t("plot.summary", { least: write(Math.min(...all)), most: write(Math.max(...all)), last: write(all[all.length - 1]) });
}

function PlotTable({ times, series, write }) {
  const step = Math.max(1, Math.ceil(times.length / 48));
  const rows = times.map((at, i) => i).filter((i) => i % step === 0);
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${t("plot.table")}><table>
    <thead><tr><th scope="col">${t("column.at")}</th>${series.map((s) => html`<th scope="col" class="number">${s.name}</th>`)}</tr></thead>
    <tbody>${rows.map(
      (i) => html`<tr><td data-label=${t("column.at")}>${time(new Date(times[i] * 1000).toISOString())}</td>
        ${series.map((s) => html`<td class="number" data-label=${s.name}>${s.values[i] === null ? "–" : write(s.values[i])}</td>`)}</tr>`,
    )}</tbody></table></div>`;
}

/* One list of times for all topics, as the drawing library wants it: seconds since 1970. */
export function seriesOf(history, { id, whole }) {
  const first = Math.floor(new Date(history.from).getTime() / 1000);
  const times = Array.from({ length: history.steps }, (_, i) => first + i * history.step_seconds);
  const series = whole ? [{ name: t("plot.delivery"), values: history.delivery[id] }] : history.topics.map((x) => ({ name: x.topic, values: x[id] }));
  return { times, series: series.filter((x) => x.values) };
}

export function Plots({ topic }) {
  const [hours, setHours] = useState(1);
  const [asTable, setAsTable] = useState(false);
  const of = useData(path(["history"], { topic, hours }), { live: false });
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && of.again(), STEP_MS);
    return () => clearInterval(timer);
  }, [topic, hours]);
  const shown = useMemo(() => (of.data ? PLOTS.map((plot) => ({ ...plot, ...seriesOf(of.data, plot) })) : []), [of.data]);
  if (of.data === null && of.problem) return html`<section aria-label=${t("plot.title")}><h2>${t("plot.title")}</h2><${Problem} of=${of.problem} again=${of.again} /></section>`;
  if (of.data === null || of.data.topics.length === 0) return null;
  return html`<section aria-label=${t("plot.title")}>
    <div class="heading"><h2>${t("plot.title")}</h2><div class="row">
      ${[1, 6, 24].map((h) => html`<button type="button" class="small" aria-pressed=${h === hours} onClick=${() => setHours(h)}>${h} ${t("unit.h")}</button>`)}
      <button type="button" class="small" aria-pressed=${asTable} onClick=${() => setAsTable(!asTable)}>${t("plot.table")}</button>
    </div></div>
    ${of.problem && html`<${Stale} at=${of.at} problem=${of.problem} again=${of.again} />`}
    <div class="columns">${shown.map(({ id, write, floor, times, series }) => {
      return html`<figure key=${id}><figcaption>${t(`plot.${id}`)} <span class="soft">${summary(series, write)}</span></figcaption>
        ${asTable ? html`<${PlotTable} times=${times} series=${series} write=${write} />` : html`<${Drawing} name=${t(`plot.${id}`)} times=${times} series=${series} write=${write} floor=${floor} />`}
      </figure>`;
    })}</div></section>`;
}
