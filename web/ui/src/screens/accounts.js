/* Users, and tokens of scripts.  A token is shown once, when it is made. */
import { useState } from "preact/hooks";
import { html } from "../html.js";
import { t } from "../text.js";
import { useData } from "../data.js";
import { Copy, Empty, Loaded, Time } from "../parts.js";
import { Action } from "../action.js";
import { Table } from "../table.js";
import { addToken, addUser, deleteToken, deleteUser, setUser } from "../actions/account.js";

const role = { id: "role", name: "", value: (x) => x.role, cell: (x) => t(`role.${x.role}`) };

const rows = () => ({ id: "rows", name: t("account.sees_rows"), value: (x) => (x.sees_rows ? t("yes") : t("no")) });

export function Users() {
  const of = useData("users", { role: "admin" });
  return html`<p class="row"><${Action} name=${t("account.add_user")} role="admin" primary of=${() => addUser(of.again)} /></p>
    <${Loaded} of=${of} role="admin" show=${(data) => html`<${Table} caption=${t("settings.tab.users")} address=${false} rows=${data.items} id=${(x) => x.name}
      empty=${html`<${Empty} text=${t("account.no_users")} line="millrace user add NAME --role admin" />`} columns=${[
        { id: "name", name: t("login.name"), value: (x) => x.name },
        { ...role, name: t("account.role") },
        rows(),
        { id: "password", name: t("account.password_set"), value: (x) => x.password_set, cell: (x) => html`<${Time} at=${x.password_set} />` },
        {
          id: "do",
          name: t("database.operations"),
          cell: (x) => html`<span class="row"><${Action} name=${t("source.edit")} role="admin" small of=${() => setUser(x, of.again)} />
            <${Action} name=${t("account.delete")} role="admin" small danger of=${() => deleteUser(x.name, of.again)} /></span>`,
        },
      ]} />`} />`;
}

export function Tokens() {
  const of = useData("tokens", { role: "admin" });
  const [made, setMade] = useState(null);
  return html`<p class="row"><${Action} name=${t("account.add_token")} role="admin" primary of=${() => addToken((x) => (setMade(x), of.again()))} /></p>
    ${made && html`<div class="empty" role="status"><p>${t("account.token_once")}</p><p><code>${made.token}</code> <${Copy} text=${made.token} /></p></div>`}
    <${Loaded} of=${of} role="admin" show=${(data) => html`<${Table} caption=${t("settings.tab.tokens")} address=${false} rows=${data.items} id=${(x) => x.name}
      empty=${html`<${Empty} text=${t("account.no_tokens")} line="millrace token add NAME --role operator" />`} columns=${[
        { id: "name", name: t("login.name"), value: (x) => x.name },
        { ...role, name: t("account.role") },
        rows(),
        { id: "by", name: t("account.added_by"), value: (x) => x.added_by },
        { id: "ends", name: t("account.ends"), value: (x) => x.ends, cell: (x) => html`<${Time} at=${x.ends} />` },
        { id: "do", name: t("database.operations"), cell: (x) => html`<${Action} name=${t("account.delete")} role="admin" small danger of=${() => deleteToken(x.name, of.again)} />` },
      ]} />`} />`;
}
