/* Versions that exist: return to an older one, delete one, delete all that nothing uses. */
import { t } from "../text.js";
import { path, post, remove } from "../api.js";

/* Who undoes a bad cut-over is in a hurry, and this can be undone as well: no name is typed. */
export function rollbackAction(x, to) {
  return {
    title: t("rollback"),
    does: t("rollback.does", { index: x.index, from: String(x.version), to: String(to) }),
    doesNot: t("rollback.does_not", { from: String(x.version) }),
    asksWhy: true,
    line: `millrace index rollback ${x.table} --to ${to}`,
    preview: () => post(path(["tables", x.table, "index", "rollback"], { dry_run: true }), { to }),
    run: () => post(path(["tables", x.table, "index", "rollback"]), { to }),
    done: (answer) => t("rollback.done", { to: String(answer.version) }),
  };
}

/* `name` is the table, or the alias that no definition names any more. */
export function deleteVersionAction(name, version) {
  return {
    title: t("version.delete"),
    does: t("version.delete.does", { name: version.name }),
    doesNot: version.state === "kept" ? t("version.delete.kept") : t("version.delete.does_not"),
    typed: version.name,
    danger: true,
    line: `millrace index delete ${name} ${version.version} --yes`,
    preview: () => remove(path(["tables", name, "versions", String(version.version)], { dry_run: true })),
    run: () => remove(path(["tables", name, "versions", String(version.version)])),
    done: () => t("version.deleted", { n: 1 }),
  };
}

export function deleteVersionsAction(name, index, versions) {
  return {
    title: t("version.delete_all"),
    does: t("version.delete_all.does", { names: versions.map((v) => v.name).join(", ") }),
    doesNot: t("version.delete_all.does_not"),
    typed: index,
    danger: true,
    line: `millrace index delete ${name} --yes`,
    preview: () => remove(path(["tables", name, "versions"], { dry_run: true })),
    run: () => remove(path(["tables", name, "versions"])),
    done: (answer) => t("version.deleted", { n: answer.count }),
  };
}
