/* Doctor: every requirement on the servers, with what fails first, why, and what helps. */
import { html } from "../html.js";
import { t } from "../text.js";
import { route } from "../route.js";
import { hasRole } from "../session.js";
import { status } from "../stream.js";
import { useData } from "../data.js";
import { CommandLine, Heading, Loaded, State } from "../parts.js";
import { Filters, finds, distinct } from "../table.js";
import { worst } from "../state.js";
import { checkTitle, findingOf, groupName } from "../checks.js";
import { Checks } from "./server_test.js";

const RANK = { fail: 0, warn: 1, skip: 2, ok: 3 };

function groupsOf(items) {
  const groups = new Map();
  for (const c of items) groups.set(c.group, [...(groups.get(c.group) ?? []), c]);
  return [...groups].map(([name, list]) => ({ name, list: list.sort((a, b) => RANK[a.status] - RANK[b.status]), state: worst(list.map((c) => c.status)) }));
}

function Shown({ items }) {
  const q = route.value.query;
  const rows = items.filter((c) => (!q.state || c.status === q.state) && finds(q.find, groupName(c.group), c.message, c.id, checkTitle(c), findingOf(c).text));
  return html`<${Filters} of=${[
      { id: "find", name: t("filter.find") },
      { id: "state", name: t("column.state"), options: distinct(items.map((c) => c.status)).map((s) => [s, t(`state.${s}`)]) },
    ]} />
    ${rows.length === 0 && html`<p>${t("nothing_found")}</p>`}
    ${groupsOf(rows).map((g) => html`<details open=${g.state !== "ok"} key=${g.name}><summary><strong>${groupName(g.name)}</strong>${" "}
      <${State} of=${g.state} word=${t(`overview.look.${g.state}`)} /> <span class="soft">${t("overview.checks", { n: g.list.length })}</span></summary><${Checks} items=${g.list} /></details>`)}`;
}

/* A viewer sees the checks that the daemon makes by itself. */
const Known = () => html`<p class="soft">${t("doctor.known")}</p><${Shown} items=${status.value?.checks ?? []} />`;

const lookOf = (data) => (!data.ok ? "fail" : data.items.some((c) => c.status === "warn") ? "warn" : "ok");

function Asked() {
  const of = useData("doctor", { live: false });
  return html`<p class="row"><button type="button" onClick=${of.again}>${t("doctor.again")}</button></p>
    <${Loaded} of=${of} show=${(data) => html`<p><${State} of=${lookOf(data)} word=${t(`doctor.${lookOf(data)}`)} /></p><${Shown} items=${data.items} />`} />
    <${CommandLine} line="millrace doctor" />`;
}

export const Doctor = () => html`<${Heading} title=${t("nav.doctor")} />${hasRole("operator") ? html`<${Asked} />` : html`<${Known} />`}`;
