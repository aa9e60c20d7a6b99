/* One index: where its versions are in their life, and what can be done now. */
import { html } from "../html.js";
import { t } from "../text.js";
import { link } from "../route.js";
import { number, span } from "../format.js";
import { Ago, CommandLine, Empty, Progress, State, TableState, Terms, Time } from "../parts.js";
import { Action } from "../action.js";
import { Table } from "../table.js";
import { deleteVersionAction, rollbackAction } from "../actions/index.js";
import { doneOf, Left, share, totalOf } from "../jobs/pace.js";
import { LIFE, lifeOf, obstacleOf, present, versionIn } from "./life.js";
import { Operations } from "./operations.js";

function Steps({ of }) {
  const b = of.x?.build;
  if (!b) return null;
  return html`<p><${Progress} done=${doneOf(b)} total=${totalOf(b)} name=${t("version.progress", { version: String(b.version) })} />
      ${" "}${share(b)} · ${t(`job.phase.${b.phase}`)} · <${Left} of=${b} />${" "}
      ${b.job !== undefined && html`<a href=${link(["jobs", String(b.job)])}>${t("version.open_build")}</a>`}</p>
    ${b.waits_for && html`<p class="warn">▲ ${t("job.waits_for")} ${b.waits_for}</p>`}`;
}

function Wait({ of }) {
  const w = of.x?.wait;
  if (!w) return null;
  return html`<div class=${w.reason === "person" ? "empty" : "problem"}><p><strong>${t("version.waits", { version: String(w.version) })}</strong> ${t(`version.wait.${w.reason}`)}</p>
    ${w.detail && w.reason !== "person" && html`<p>${w.detail}</p>`}
    ${w.fix && html`<p><span class="soft">${t("fix")}</span> ${w.fix}</p>`}
    <p class="row">${w.reason === "dead_letters" && html`<a href=${link(["letters"], { index: `${of.index}_v${w.version}` })}>${t("nav.letters")}</a>`}
      ${w.reason === "differs" && html`<a href=${link(["verify"], { tab: "reports", find: of.index })}>${t("nav.verify")}</a>`}</p></div>`;
}

/* The four states as four boxes; each version stands in its own. */
function Box({ of, life }) {
  const here = life === "unavailable" ? [] : versionIn(of, life);
  const isNone = life === "unavailable" && of.list.length === 0;
  return html`<section class="card" aria-label=${t(`state.${life}`)}>
    ${here.length || isNone ? html`<${State} of=${life} />` : html`<span class="soft">${t(`state.${life}`)}</span>`}
    ${here.map((v) => html`<div><strong>v${v.version}</strong> <span class="soft">${t(`state.${v.state}`)}</span></div>`)}
    ${isNone && html`<div class="soft">${t("version.none_yet")}</div>`}
    ${life === "available" && present(of) && html`<code>${of.index} → ${present(of).name}</code>`}
  </section>`;
}

const Life = ({ of }) => html`<div class="cards">${LIFE.map((life) => html`<${Box} key=${life} of=${of} life=${life} />`)}</div>`;

const COLUMNS = (i) => [
  { id: "version", name: t("version.version"), value: (v) => v.version, cell: (v) => html`<strong>v${v.version}</strong> <code>${v.name}</code>` },
  { id: "life", name: t("version.life"), value: (v) => LIFE.indexOf(lifeOf(v.state)), cell: (v) => html`<${State} of=${lifeOf(v.state)} />` },
  { id: "state", name: t("version.exactly"), value: (v) => v.state, cell: (v) => html`<${State} of=${v.state} title=${v.reason} />` },
  { id: "created", name: t("version.created"), value: (v) => v.created, cell: (v) => html`<${Ago} at=${v.created} />` },
  { id: "finished", name: t("version.finished"), value: (v) => v.finished, cell: (v) => html`<${Ago} at=${v.finished} />` },
  { id: "until", name: t("version.kept_until"), value: (v) => v.kept_until ?? v.deleted_after, cell: (v) => html`<${Time} at=${v.kept_until ?? v.deleted_after} />` },
  { id: "why", name: t("version.why_kept"), value: (v) => v.reason, cell: (v) => v.lacks || v.reason || "–" },
  {
    id: "do",
    name: t("version.operations"),
    cell: (v) => html`<div class="row">
      <${Action} small name=${t("rollback")} why=${obstacleOf(i, v, "rollback")} of=${() => rollbackAction(i.x, v.version)} />
      <${Action} small danger role="admin" name=${t("version.delete")} why=${obstacleOf(i, v, "delete")} of=${() => deleteVersionAction(i.x?.table ?? i.index, v)} />
    </div>`,
  },
];

const terms = (i) => {
  const { x } = i;
  const now = present(i);
  return [
    [t("version.alias"), now ? html`<code>${i.index} → ${now.name}</code>` : t("version.alias_none", { index: i.index })],
    [t("table.table"), i.tables.length ? i.tables.map((name, n) => html`${n ? ", " : ""}<a href=${link(["tables", name])}>${name}</a>`) : t("version.why.no_definition")],
    x && [t("topic.topic"), html`<a href=${link(["topics", x.topic])}>${x.topic}</a>`],
    x && [t("version.table_state"), html`<${TableState} of=${x} />`],
    x && [t("table.documents"), html`${number(x.documents)} <span class="soft"><${Ago} at=${x.documents_as_of} /> ${x.documents_reason}</span>`],
    x && [t("column.lag"), `${x.lag_at_most ? "≤ " : ""}${span(x.lag_seconds)}`],
    x && [t("version.verified"), html`<${Ago} at=${x.compared?.at} /> ${x.compared && html`<${State} of=${x.compared.verdict} />`}`],
    x && [t("nav.letters"), x.dead_letters ? html`<a href=${link(["letters"], { table: x.table })}>${number(x.dead_letters)}</a>` : "0"],
  ];
};

export function OneIndex({ of }) {
  const { x } = of;
  return html`${x?.reason && !x.wait && html`<div class="problem"><p><strong>${x.reason}</strong></p>${x.fix && html`<p><span class="soft">${t("fix")}</span> ${x.fix}</p>`}</div>`}
    ${x?.pending && html`<p class="warn">▲ ${t("table.pending")}</p>`}
    <${Wait} of=${of} />
    <${Life} of=${of} />
    <${Steps} of=${of} />
    <${Terms} of=${terms(of)} />
    <h2>${t("version.operations")}</h2>
    <${Operations} of=${of} />
    <${Table} caption=${t("nav.versions")} columns=${COLUMNS(of)} rows=${of.list} id=${(v) => v.name}
      empty=${html`<${Empty} text=${t("version.none_of", { index: of.index })} line=${x ? `millrace index create ${x.table}` : undefined} />`} />
    <${CommandLine} line=${`millrace version list ${of.index}`} />`;
}
