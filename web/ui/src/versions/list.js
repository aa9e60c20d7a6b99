/* All indexes with their versions by the life cycle: one row an index. */
import { html } from "../html.js";
import { t } from "../text.js";
import { link, route } from "../route.js";
import { number, time } from "../format.js";
import { Ago, Empty, State, TableState } from "../parts.js";
import { distinct, Filters, finds, Table } from "../table.js";
import { Left, share } from "../jobs/pace.js";
import { LIFE, present, versionIn, wholeLife } from "./life.js";

function Changing({ of }) {
  if (versionIn(of, "changing").length === 0) return html`<span>–</span>`;
  const build = of.x?.build;
  const wait = of.x?.wait;
  return versionIn(of, "changing").map(
    (v) => html`<div><${State} of=${v.state} word=${`v${v.version} ${t(`state.${v.state}`)}`} title=${wait?.detail} />
      ${build && build.version === v.version && html` <span class="soft">${share(build)} <${Left} of=${build} /></span>`}
      ${wait && wait.version === v.version && html` <span class="soft">${t(`version.wait.${wait.reason}`)}</span>`}</div>`,
  );
}

function Past({ of }) {
  const past = versionIn(of, "history");
  if (past.length === 0) return html`<span>–</span>`;
  return past.map(
    (v) => html`<div>v${v.version} <span class="soft">${t(`state.${v.state}`)}${v.kept_until ? ` ${t("version.until", { time: time(v.kept_until) })}` : ""}</span></div>`,
  );
}

const topicOf = (i) => i.x?.topic ?? i.list[0]?.topic;

const COLUMNS = () => [
  { id: "index", name: t("table.index"), value: (i) => i.index, cell: (i) => html`<a href=${link(["versions", i.index])}>${i.index}</a>` },
  { id: "life", name: t("version.life"), value: (i) => LIFE.indexOf(wholeLife(i)), cell: (i) => html`<${State} of=${wholeLife(i)} />` },
  { id: "state", name: t("version.table_state"), value: (i) => i.x?.state ?? "retired", cell: (i) => (i.x ? html`<${TableState} of=${i.x} />` : html`<${State} of="retired" />`) },
  {
    id: "now",
    name: t("version.serves"),
    value: (i) => present(i)?.version,
    cell: (i) => {
      const v = present(i);
      return v ? html`<code>${i.index} → ${v.name}</code> <span class="soft">${t("version.documents", { n: i.x?.documents ?? 0 })}</span>` : "–";
    },
  },
  { id: "next", name: t("version.next"), value: (i) => versionIn(i, "changing")[0]?.version, cell: (i) => html`<${Changing} of=${i} />` },
  { id: "past", name: t("version.past"), value: (i) => versionIn(i, "history").length, cell: (i) => html`<${Past} of=${i} />` },
  { id: "verified", name: t("version.verified"), value: (i) => i.x?.compared?.at, cell: (i) => html`<${Ago} at=${i.x?.compared?.at} />` },
];

export function VersionList({ of }) {
  const q = route.value.query;
  const rows = of.filter(
    (i) =>
      finds(q.find, i.index, ...i.tables, ...i.list.map((v) => v.name)) &&
      (!q.topic || topicOf(i) === q.topic) &&
      (!q.life || wholeLife(i) === q.life) &&
      (!q.state || i.x?.state === q.state || i.list.some((v) => v.state === q.state)),
  );
  const states = distinct(of.flatMap((i) => [i.x?.state, ...i.list.map((v) => v.state)]));
  return html`<${Filters} of=${[
      { id: "find", name: t("filter.table_or_index") },
      { id: "topic", name: t("topic.topic"), options: distinct(of.map(topicOf)) },
      { id: "life", name: t("version.life"), options: LIFE.map((l) => [l, t(`state.${l}`)]) },
      { id: "state", name: t("column.state"), options: states.map((s) => [s, t(`state.${s}`)]) },
    ]} />
    <p class="soft">${t("version.life.what")}</p>
    <${Table} caption=${t("version.indexes")} columns=${COLUMNS()} rows=${rows} id=${(i) => i.index}
      empty=${of.length === 0 && html`<${Empty} text=${t("version.empty")} line="millrace table add DATABASE.TABLE"><p><a href="#/tables">${t("nav.tables")}</a></p></${Empty}>`} />
    <p class="soft">${t("version.total", { n: of.reduce((n, i) => n + i.list.length, 0), indexes: number(of.length) })}</p>`;
}
