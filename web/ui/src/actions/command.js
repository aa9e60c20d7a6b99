/* Pieces of command lines and of bodies, from what somebody has put into the fields of a dialog. */

/* A word as a shell reads it. */
export const quoted = (v) => (/^[\w./:@,+%=-]+$/.test(v) ? v : `'${String(v).replaceAll("'", "'\\''")}'`);

const isGiven = (v) => v !== "" && v !== false && v !== undefined && v !== null;

/* " --rate 500", " --hold", or nothing. */
export const option = (name, v) => (!isGiven(v) ? "" : v === true ? ` --${name}` : ` --${name} ${quoted(String(v))}`);

export const numberOf = (v) => (isGiven(v) ? Number(v) : undefined);

/* "42, 43" as ["42", "43"]; a line each if there are lines, so that keys may hold commas. */
export const keysOf = (text) =>
  text
    .split(text.includes("\n") ? "\n" : ",")
    .map((k) => k.trim())
    .filter(Boolean);

export const keyOptions = (keys) => keys.map((k) => option("key", k)).join("");
