/* The settings of delivery at run time: what counts, where it comes from, what the file says. */
import { html } from "../html.js";
import { t } from "../text.js";
import { patch, path, post } from "../api.js";
import { useData } from "../data.js";
import { Loaded } from "../parts.js";
import { Action } from "../action.js";
import { Table } from "../table.js";
import { quoted } from "../actions/command.js";

const change = (x, again) => ({
  title: t("setting.change"),
  does: t("setting.change.does", { name: x.name }),
  role: "admin",
  fields: [{ id: "value", name: x.name, value: String(x.value ?? ""), required: true }],
  line: (v) => `millrace config delivery set ${x.name}=${quoted(v.value)}`,
  preview: (v) => patch(path(["config", "delivery"], { dry_run: true }), { [x.name]: v.value }),
  run: (v) => patch("config/delivery", { [x.name]: v.value }),
  done: () => t("setting.changed"),
  after: again,
});

const reset = (again) => ({
  title: t("setting.reset"),
  does: t("setting.reset.does"),
  role: "admin",
  line: "millrace config delivery set --reset",
  preview: () => post(path(["config", "delivery", "reset"], { dry_run: true })),
  run: () => post("config/delivery/reset"),
  done: () => t("setting.changed"),
  after: again,
});

export function DeliverySettings() {
  const of = useData("config/delivery", { role: "admin" });
  return html`<${Loaded} of=${of} role="admin" show=${(data) => html`
    <p class="row"><${Action} name=${t("setting.reset")} role="admin" of=${() => reset(of.again)} /></p>
    <${Table} caption=${t("delivery.tab.settings")} address=${false} rows=${data.items} id=${(x) => x.name} columns=${[
      { id: "name", name: t("setting.name"), value: (x) => x.name, cell: (x) => html`<code>${x.name}</code>` },
      { id: "value", name: t("setting.value"), value: (x) => x.value, cell: (x) => html`<code>${String(x.value)}</code>` },
      { id: "origin", name: t("setting.origin"), value: (x) => x.origin },
      { id: "configured", name: t("setting.configured"), value: (x) => x.configured },
      { id: "do", name: t("database.operations"), cell: (x) => html`<${Action} name=${t("setting.change")} role="admin" small of=${() => change(x, of.again)} />` },
    ]} />`} />`;
}
