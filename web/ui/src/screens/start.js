/*
 * The first run: from an empty daemon to the first search, in six steps.  Each shows whether it is done,
 * by what the daemon says, so that a reload loses nothing.  A new topic is tested at once, and what was found
 * stays until a database is named.
 */
import { html } from "../html.js";
import { t } from "../text.js";
import { link } from "../route.js";
import { useData } from "../data.js";
import { CommandLine, Copy } from "../parts.js";
import { Action } from "../action.js";
import { sourceAction } from "../definition/source.js";
import { addTable } from "../definition/add_table.js";
import { buildAction } from "../actions/index.js";
import { ServerTest } from "./server_test.js";

const searchOf = (s, x) => `curl '${s.search.url ?? s.search.addresses?.[0]?.address ?? ""}/${x.index}/_search?pretty'`;

function steps(s, databases) {
  const topic = s.topics[0];
  const table = s.tables[0];
  const built = s.tables.find((x) => x.version);
  const runs = s.topics.some((x) => x.state === "running");
  return [
    { id: "topic", done: s.topics.length > 0, line: "millrace topic add NAME address=HOST user=USER password_file=FILE", show: () => html`<${Action} name=${t("source.add_topic")} role="admin" primary of=${() => sourceAction("topic")} />` },
    { id: "test", done: runs, line: "millrace doctor", stays: databases.length === 0, show: () => topic && html`<${ServerTest} atOnce group=${`topic ${topic.name}`} key=${topic.name} />` },
    {
      id: "database",
      done: databases.length > 0,
      line: "millrace database add NAME topic=TOPIC",
      show: () => topic && html`<${Action} name=${t("source.add_database")} role="admin" primary of=${() => sourceAction("database", { given: { topic: topic.name } })} />`,
    },
    { id: "table", done: s.tables.length > 0, line: "millrace table add DATABASE.TABLE", show: () => html`<${Action} name=${t("table.add")} role="admin" primary of=${addTable} />` },
    {
      id: "build",
      done: built !== undefined,
      line: `millrace index create ${table?.table ?? "DATABASE.TABLE"}`,
      show: () => table && html`<p class="row"><a href=${link(["tables", table.table], { tab: "document" })}>${t("start.preview")}</a><${Action} name=${t("build.create")} primary of=${() => buildAction(table)} /></p>`,
    },
    {
      id: "search",
      done: false,
      show: () => built && html`<p class="command"><code>${searchOf(s, built)}</code> <${Copy} text=${searchOf(s, built)} /></p>`,
    },
  ];
}

export const isBegun = (s) => s.tables.some((x) => x.version);

export function Start({ of }) {
  const databases = useData("databases").data?.items ?? [];
  const all = steps(of, databases);
  const now = all.findIndex((x) => !x.done);
  return html`<section aria-label=${t("start.title")}><h2>${t("start.title")}</h2>
    <ol class="checks">${all.map(
      (x, i) => html`<li aria-current=${i === now ? "step" : undefined}>
        <span class=${x.done ? "ok" : i === now ? "work" : "off"}><span aria-hidden="true">${x.done ? "●" : i === now ? "◐" : "○"}</span>
          <strong> ${t(`start.${x.id}`)}</strong></span>
        ${(i === now || (x.stays && i < now)) && html`<p>${t(`start.${x.id}.what`)}</p>${x.show()}${x.line && html`<${CommandLine} line=${x.line} />`}`}</li>`,
    )}</ol></section>`;
}
