/*
 * The list `columns` of a definition, changed by one entry at a time.  An edit writes the member that it
 * is about; every other entry and member stays as it is, also what no editor shows.  Without `columns`
 * and with `*`, the document shows columns that the table gets later, too: an edit keeps that.
 */
import { withField } from "./members.js";

const REST = "*";

/* A column of a definition as an object: "id" stands for {name: "id"}. */
export const columnOf = (c) => (c !== null && typeof c === "object" ? c : { name: String(c) });
/* And back, as people write it. */
const brief = (c) => (Object.keys(c).length === 1 && typeof c.name === "string" ? c.name : c);

const nameOf = (entry) => String(columnOf(entry).name ?? "");
const isBare = (entry) => Object.keys(columnOf(entry)).length === 1;
/* Servers compare names of columns without regard to case. */
const alike = (a, b) => a.toLowerCase() === b.toLowerCase();

export const entriesOf = (definition) => definition.columns ?? [REST];
export const hasRest = (definition) => entriesOf(definition).some((e) => nameOf(e) === REST);

const isRest = (entry) => nameOf(entry) === REST && isBare(entry);
const isSkipped = (entry) => columnOf(entry).skip === true;
const isGiven = (v) => v !== "" && v !== false && v !== undefined && !(Array.isArray(v) && v.length === 0);

/* No `columns` and `*` alone say the same. */
function written(definition, entries) {
  const next = { ...definition, columns: entries };
  if (entries.length === 1 && isRest(entries[0])) delete next.columns;
  return next;
}

/* Where a new entry goes: behind the column that comes before it at the server, as far as that is listed. */
function placeOf(entries, server, name) {
  const order = server.map((s) => s.name.toLowerCase());
  const rank = (entry) => order.indexOf(nameOf(entry).toLowerCase());
  const mine = order.indexOf(name.toLowerCase());
  const behind = entries.findLastIndex((e) => rank(e) >= 0 && rank(e) < mine);
  const before = entries.findIndex((e) => rank(e) > mine);
  return behind >= 0 ? behind + 1 : before >= 0 ? before : entries.length;
}

/*
 * What an editor shows: a line for each entry, the server's columns in their order, then those that only
 * the definition has; and one for each column without an entry, whose `at` is null.
 */
export function linesOf(server, definition) {
  const entries = entriesOf(definition);
  const rest = hasRest(definition);
  const places = entries.map((_, at) => at).filter((at) => !isRest(entries[at]));
  const lineAt = (at, s) => ({ server: s, at, name: nameOf(entries[at]), mine: columnOf(entries[at]), on: !isSkipped(entries[at]) });
  const lines = server.flatMap((s) => {
    const own = places.filter((at) => alike(nameOf(entries[at]), s.name));
    if (own.length > 0) return own.map((at) => lineAt(at, s));
    return [{ server: s, at: null, place: placeOf(entries, server, s.name), name: s.name, mine: { name: s.name }, on: rest && !s.invisible }];
  });
  const only = places.filter((at) => !server.some((s) => alike(nameOf(entries[at]), s.name)));
  return [...lines, ...only.map((at) => lineAt(at, null))];
}

/* The list with the line's entry as `column`; without one if `*` says the same. */
function withEntry(definition, line, column) {
  const entries = [...entriesOf(definition)];
  const at = line.at ?? line.place;
  entries.splice(at, line.at === null ? 0 : 1, brief(column));
  const isSaid = hasRest(definition) && line.server && !line.server.invisible && isBare(column);
  if (isSaid && entries.filter((e) => alike(nameOf(e), line.name)).length === 1) entries.splice(at, 1);
  return written(definition, entries);
}

const without = (definition, line) => written(definition, entriesOf(definition).filter((_, at) => at !== line.at));

/* A member of the line's entry gets a value; an empty one takes it out. */
export function withMember(definition, line, member, value) {
  const column = { ...line.mine, [member]: value };
  if (!isGiven(value)) delete column[member];
  return withEntry(definition, line, column);
}

/*
 * Show the line's column, or leave it out.  What is left out keeps its members, so that it can be shown
 * again; but no server has what is only in the definition, so that goes.
 */
export function withShown(definition, line, on) {
  if (on) return withMember(definition, line, "skip", undefined);
  if (line.at !== null && (!line.server || "value" in line.mine)) return without(definition, line);
  const isListed = line.at !== null && isBare(line.mine);
  if (isListed && (!hasRest(definition) || line.server.invisible)) return without(definition, line);
  return withEntry(definition, line, { ...line.mine, skip: true });
}

/* A list of some columns gets those that it lacks; what is left out on purpose stays so. */
export function withAll(server, definition) {
  if (hasRest(definition)) return definition;
  return server
    .filter((s) => !s.invisible)
    .reduce((now, s) => {
      const line = linesOf(server, now).find((l) => l.server?.name === s.name);
      return line.at === null ? withShown(now, line, true) : now;
    }, definition);
}

/* Show columns that the table gets later, or list those that it has now. */
export function withLater(server, definition, on) {
  const entries = entriesOf(definition);
  if (on) return hasRest(definition) ? definition : written(definition, [...entries, REST]);
  const listed = linesOf(server, definition).filter((l) => l.at === null && l.on).map((l) => l.name);
  return { ...definition, columns: entries.flatMap((e) => (isRest(e) ? listed : [e])) };
}

/* Whether the column is part of the documents' id: by the definition, or by the server's key. */
export const isKey = (serverKey, definition, name) => [definition.key ?? serverKey].flat().some((k) => alike(k, name));

/* The key with the column or without it; the server's key needs no words. */
export function withKey(serverKey, definition, name, on) {
  const own = [definition.key ?? serverKey].flat();
  const key = on ? [...own, name] : own.filter((k) => !alike(k, name));
  const { key: _, ...others } = definition;
  const isServers = key.length === serverKey.length && key.every((k, i) => alike(k, serverKey[i]));
  return key.length === 0 || isServers ? others : { ...definition, key: key.length > 1 ? key : key[0] };
}

/* What the dialog of a line says, written into its entry; members that nobody has changed stay. */
export function withFields(definition, line, fields, typed) {
  const column = fields.reduce((c, field) => withField(c, field, typed[field.id]), line.mine);
  return column === line.mine ? definition : withEntry(definition, line, column);
}
