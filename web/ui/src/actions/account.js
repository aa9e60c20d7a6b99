/* What can be done with users and tokens. */
import { t } from "../text.js";
import { path, put, remove } from "../api.js";

const roles = () => ["viewer", "operator", "admin"].map((r) => [r, t(`role.${r}`)]);
const roleField = (value) => ({ id: "role", name: t("account.role"), type: "select", value, options: roles(), help: t("account.role.help") });
const rowsField = (value) => ({ id: "rows", name: t("account.sees_rows"), type: "checkbox", value, help: t("account.sees_rows.help") });
const rowsOf = (v) => (v.role === "viewer" ? { sees_rows: v.rows } : {});
const rowsOption = (v) => (v.role === "viewer" ? ` --rows ${v.rows ? "yes" : "no"}` : "");
const password = (required) => ({ id: "password", name: t("first.password"), type: "password", required, autocomplete: "new-password", help: required ? t("first.password.help") : t("account.password.keep") });

export const addUser = (after) => ({
  title: t("account.add_user"),
  does: t("account.add_user.does"),
  role: "admin",
  fields: [{ id: "name", name: t("login.name"), required: true }, roleField("viewer"), rowsField(false), password(true)],
  line: (v) => `millrace user add ${v.name || "NAME"} --role ${v.role}${rowsOption(v)}`,
  preview: (v) => put(path(["users", v.name], { new: "true", dry_run: true }), { role: v.role, password: v.password, ...rowsOf(v) }),
  run: (v) => put(path(["users", v.name], { new: "true" }), { role: v.role, password: v.password, ...rowsOf(v) }),
  done: () => t("account.user_added"),
  after,
});

const changeOf = (v) => ({ role: v.role, ...rowsOf(v), ...(v.password ? { password: v.password } : {}) });

export const setUser = (x, after) => ({
  title: t("account.set_user", { name: x.name }),
  does: t("account.set_user.does"),
  role: "admin",
  fields: [roleField(x.role), rowsField(x.sees_rows === true && x.role === "viewer"), password(false)],
  line: (v) => `millrace user set ${x.name} --role ${v.role}${rowsOption(v)}${v.password ? " --password" : ""}`,
  preview: (v) => put(path(["users", x.name], { dry_run: true }), changeOf(v)),
  run: (v) => put(path(["users", x.name]), changeOf(v)),
  done: () => t("account.user_set"),
  after,
});

export const deleteUser = (name, after) => ({
  title: t("account.delete_user", { name }),
  does: t("account.delete_user.does"),
  doesNot: t("account.delete_user.does_not"),
  typed: name,
  danger: true,
  role: "admin",
  line: `millrace user delete ${name}`,
  preview: () => remove(path(["users", name], { dry_run: true })),
  run: () => remove(path(["users", name])),
  done: () => t("account.user_deleted"),
  after,
});

export const addToken = (after) => ({
  title: t("account.add_token"),
  does: t("account.add_token.does"),
  role: "admin",
  fields: [{ id: "name", name: t("login.name"), required: true }, roleField("operator"), rowsField(false), { id: "days", name: t("account.days"), type: "number", min: 1, max: 3650, value: 90 }],
  line: (v) => `millrace token add ${v.name || "NAME"} --role ${v.role} --days ${v.days}${rowsOption(v)}`,
  preview: (v) => put(path(["tokens", v.name], { dry_run: true }), { role: v.role, days: Number(v.days), ...rowsOf(v) }),
  run: (v) => put(path(["tokens", v.name]), { role: v.role, days: Number(v.days), ...rowsOf(v) }),
  done: () => t("account.token_added"),
  after,
});

export const deleteToken = (name, after) => ({
  title: t("account.delete_token", { name }),
  does: t("account.delete_token.does"),
  typed: name,
  danger: true,
  role: "admin",
  line: `millrace token delete ${name}`,
  preview: () => remove(path(["tokens", name], { dry_run: true })),
  run: () => remove(path(["tokens", name])),
  done: () => t("account.token_deleted"),
  after,
});

export const ownPassword = () => ({
  title: t("account.own_password"),
  does: t("account.own_password.does"),
  role: "viewer",
  fields: [{ id: "old", name: t("account.old_password"), type: "password", required: true, autocomplete: "current-password" }, password(true)],
  run: (v) => put("me/password", { old: v.old, new: v.password }),
  done: () => t("account.password_changed"),
});
