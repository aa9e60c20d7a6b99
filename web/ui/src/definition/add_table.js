/* The dialog that adds a table: its name is enough, as the server tells its columns. */
import { t } from "../text.js";
import { put } from "../api.js";
import { go } from "../route.js";
import { Changes } from "./changes.js";
import { html } from "../html.js";
import { quoted } from "../actions/command.js";

const body = (v) => (v.index ? { table: v.table, index: v.index } : { table: v.table });
const store = (v, query) => put(`tables/${encodeURIComponent(v.table)}?new=true${query}`, body(v));

export function addTable() {
  let added = "";
  return {
    title: t("table.add"),
    does: t("table.add.does"),
    doesNot: t("table.add.does_not"),
    role: "admin",
    fields: [
      { id: "table", name: t("table.add.table"), required: true, help: t("table.add.table.help") },
      { id: "index", name: t("table.add.index"), help: t("table.add.index.help") },
    ],
    line: (v) => `millrace table add ${v.table ? quoted(v.table) : "DATABASE.TABLE"}${v.index ? ` index=${quoted(v.index)}` : ""}`,
    preview: (v) => store(v, "&dry_run=true"),
    show: (answer) => html`<${Changes} of=${answer} />`,
    run: async (v) => {
      added = v.table;
      return store(v, "");
    },
    done: () => t("table.added"),
    after: () => go(["tables", added], { tab: "columns" }),
  };
}
