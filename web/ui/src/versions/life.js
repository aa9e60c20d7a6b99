/*
 * The life of index versions: unavailable, changing, available, history.  The daemon's own words are
 * finer and stand beside these four.
 */
import { t } from "../text.js";

export const LIFE = ["unavailable", "changing", "available", "history"];

const PLACE = {
  changing: "changing",
  waiting: "changing",
  available: "available",
  returning: "history",
  kept: "history",
  history: "history",
  retired: "history",
  dropped: "history",
};

export const lifeOf = (state) => PLACE[state] ?? "unavailable";

/* Until when a version is kept, and why it is not current, if it is not. */
function addKept(v, kept) {
  const k = kept?.find((one) => one.version === v.version);
  if (!k) return;
  v.kept_until ??= k.until;
  v.lacks = k.state === "held" ? k.reason : "";
}

/*
 * All that the daemon has of indexes, by alias: {index, tables, x, list}.  `x` is the state of the
 * table that the calls name, undefined if no definition names the index; `list` its versions, newest first.
 */
export function indexesOf(status, versions, indexes) {
  const all = new Map();
  const of = (name) => {
    if (!all.has(name)) all.set(name, { index: name, tables: [], x: undefined, list: [] });
    return all.get(name);
  };
  for (const x of status?.tables ?? []) {
    const i = of(x.index);
    i.tables.push(x.table);
    i.x ??= x;
  }
  const known = new Map((indexes ?? []).map((v) => [v.name, v]));
  for (const v of versions ?? []) {
    of(v.index).list.push({ ...known.get(v.name), ...v });
    known.delete(v.name);
  }
  for (const v of known.values()) of(v.index).list.push(v);
  for (const i of all.values()) {
    i.list.sort((a, b) => b.version - a.version);
    for (const v of i.list) addKept(v, i.x?.kept);
  }
  return [...all.values()].sort((a, b) => a.index.localeCompare(b.index));
}

export const versionIn = (i, life) => i.list.filter((v) => lifeOf(v.state) === life);
export const present = (i) => i.list.find((v) => v.state === "available");
export const coming = (i) => i.list.find((v) => lifeOf(v.state) === "changing");

/* Where the index as a whole is in its life. */
export const wholeLife = (i) => (present(i) ? (coming(i) ? "changing" : "available") : coming(i) ? "changing" : i.list.length ? "history" : "unavailable");

/* Why an operation is not possible now; undefined if it is.  The daemon judges in the end. */
export function obstacles(i) {
  const { x } = i;
  const next = coming(i);
  const waits = next && (next.state === "waiting" || x?.wait);
  const gone = x ? undefined : t("version.why.no_definition");
  const building = next && !waits ? t("version.why.building", { version: String(next.version) }) : undefined;
  const waiting = waits ? t("version.why.waits", { version: String(next.version) }) : undefined;
  const none = present(i) ? undefined : t("version.why.none");
  const held = x?.state === "held" ? t("version.why.held") : undefined;
  return {
    build: gone ?? building ?? waiting,
    cutover: gone ?? building ?? (waits ? undefined : t("version.why.no_wait")),
    pause: gone ?? none ?? building ?? held,
    resume: gone ?? (held ? undefined : t("version.why.not_held")),
    rollback: gone ?? none ?? building ?? held,
    refresh: gone ?? none ?? held,
    verify: gone ?? none,
    reset: gone ?? (next ? undefined : t("version.why.nothing_to_reset")),
    removeAll: i.list.some((v) => v.state === "history" || v.state === "retired") ? undefined : t("version.why.no_history"),
  };
}

/* Why one version cannot be returned to, or deleted. */
export function obstacleOf(i, v, operation) {
  const all = obstacles(i);
  if (operation === "rollback") {
    if (v.state === "available") return t("version.why.is_present");
    if (v.state !== "kept") return t("version.why.not_current");
    return all.rollback ?? (v.lacks || undefined);
  }
  if (v.state === "available") return t("version.why.in_use");
  if (v.state === "returning") return t("version.why.returning");
  if (v.state === "dropped") return t("version.why.dropped");
  return lifeOf(v.state) === "changing" ? t("version.why.reset_instead") : undefined;
}
