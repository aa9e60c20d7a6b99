/* Delivery: what waits, what is on its way, every figure since the start, and the settings at run time. */
import { html } from "../html.js";
import { t } from "../text.js";
import { link, route } from "../route.js";
import { status } from "../stream.js";
import { bytes, milliseconds, number } from "../format.js";
import { Ago, Heading, Loaded, State, Tabs, Terms } from "../parts.js";
import { Action } from "../action.js";
import { Finding } from "../finding.js";
import { Table } from "../table.js";
import { cancelDrain, drain } from "../actions/delivery.js";
import { DeliverySettings } from "./delivery_settings.js";

const TABS = ["now", "statistics", "settings"];

/* Tables whose documents wait, as the engine takes none: the fuse of their index is blown. */
const heldOf = (of) => of.tables.filter((x) => x.state === "held" || x.wait || x.reason);

/* Why a table waits, as the checks of status say it. */
function Held({ of, checks }) {
  const found = checks.filter((c) => c.group === `table ${of.table}` && /^table\.(runs|current)$/.test(c.id) && c.status !== "ok");
  return found.length > 0 ? found.map((c) => html`<${Finding} of=${c} />`) : of.reason;
}

function Now({ of }) {
  const d = of.delivery;
  return html`<${Terms} of=${[
      [t("delivery.queued"), number(d.queued)],
      [t("delivery.loading"), number(d.loading)],
      [t("delivery.in_flight"), number(d.in_flight)],
      [t("delivery.bytes_held"), bytes(d.bytes_held)],
      [t("delivery.requests"), number(d.requests)],
      [t("delivery.requests_failed"), number(d.requests_failed)],
      [t("delivery.retries"), number(d.retries)],
      [t("delivery.blocked"), number(d.blocked)],
    ]} />
    <p class="row"><${Action} name=${t("drain.title")} of=${drain} /><${Action} name=${t("drain.cancel")} of=${cancelDrain} /></p>
    <h2>${t("delivery.held")}</h2>
    ${heldOf(of).length === 0 ? html`<p>${t("delivery.none_held")}</p>` : html`<ul class="checks">${heldOf(of).map(
      (x) => html`<li><a href=${link(["tables", x.table])}>${x.index}</a> <${State} of=${x.state} /> <${Held} of=${x} checks=${of.checks} /></li>`,
    )}</ul>`}
    <h2>${t("delivery.purged")}</h2>
    ${d.purged.length === 0 ? html`<p>${t("delivery.none_purged")}</p>` : html`<ul>${d.purged.map((p) => html`<li>${p.index}: ${number(p.changes)}</li>`)}</ul>`}
    <h2>${t("overview.engine")}</h2>
    <p><${State} of=${of.search.health} /> ${of.search.flavor} ${of.search.version} · <${Ago} at=${of.search.as_of} /> ${of.search.reason}</p>
    <${Table} caption=${t("delivery.addresses")} address=${false} rows=${of.search.addresses} id=${(x) => x.address} columns=${[
      { id: "address", name: t("delivery.address"), value: (x) => x.address },
      { id: "state", name: t("column.state"), value: (x) => x.state, cell: (x) => html`<${State} of=${x.state} />` },
      { id: "since", name: t("delivery.since"), value: (x) => x.since, cell: (x) => html`<${Ago} at=${x.since} />` },
      { id: "reason", name: t("topic.reason"), value: (x) => x.reason },
    ]} />`;
}

const isCounter = (v) => "total" in v;
const isSeconds = (name) => name.endsWith("_seconds");

function Statistics({ of }) {
  const all = Object.entries(of.delivery.statistics ?? {});
  const part = (name) => (v) => (isSeconds(name) ? milliseconds(v) : number(v, 1));
  const counters = all.filter(([, v]) => isCounter(v));
  const spreads = all.filter(([, v]) => !isCounter(v));
  const spread = (id) => ({ id, name: t(`statistic.${id}`), value: ([, v]) => v[id], cell: ([name, v]) => (v.count ? part(name)(v[id]) : "–"), number: true });
  return html`<p class="soft">${t("delivery.since_start")} <${Ago} at=${of.started} /></p>
    <${Table} caption=${t("delivery.counters")} address=${false} rows=${counters} id=${([name]) => name} columns=${[
      { id: "name", name: t("statistic.name"), value: ([name]) => t(`statistic.${name}`) },
      { id: "total", name: t("statistic.total"), value: ([, v]) => v.total, cell: ([, v]) => number(v.total), number: true },
      { id: "minute", name: t("statistic.last_minute"), value: ([, v]) => v.last_minute, cell: ([, v]) => number(v.last_minute), number: true },
    ]} />
    <${Table} caption=${t("delivery.spreads")} address=${false} rows=${spreads} id=${([name]) => name} columns=${[
      { id: "name", name: t("statistic.name"), value: ([name]) => t(`statistic.${name}`) },
      { id: "count", name: t("statistic.count"), value: ([, v]) => v.count, cell: ([, v]) => number(v.count), number: true },
      ...["min", "mean", "median", "p95", "p99", "p999", "max"].map(spread),
    ]} />`;
}

const SHOW = { now: Now, statistics: Statistics, settings: DeliverySettings };

export function Delivery() {
  const tab = TABS.includes(route.value.query.tab) ? route.value.query.tab : "now";
  return html`<${Heading} title=${t("nav.delivery")} />
    <${Tabs} of=${TABS.map((id) => [id, t(`delivery.tab.${id}`)])} now=${tab} to=${(id) => link(["delivery"], { tab: id })} />
    <${Loaded} of=${{ data: status.value, problem: null }} show=${(data) => html`<${SHOW[tab]} of=${data} />`} />`;
}
