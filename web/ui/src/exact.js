/*
 * JSON of rows, without a loss: browsers round integers above 2^53 and cut 24.50 to 24.5.
 *
 * parseExact() keeps such a number as the object {number: "24.50"}; text() writes it as it came.
 */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

export class Exact {
  constructor(number) {
    this.number = number;
  }
}

/* No value of a row can be taken for a number: the mark is another one each time. */
export function parseExact(text) {
  const mark = `${Math.random()}:`;
  const marked = text.replace(TOKEN, (token) =>
    token[0] === '"' || String(Number(token)) === token ? token : JSON.stringify(mark + token),
  );
  return JSON.parse(marked, (_, value) =>
    typeof value === "string" && value.startsWith(mark) ? new Exact(value.slice(mark.length)) : value,
  );
}

/* As JSON.stringify(value, null, 2), with exact numbers. */
export function text(value, indent = "") {
  const inner = indent + "  ";
  if (value instanceof Exact) return value.number;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const list = Array.isArray(value);
  const parts = list
    ? value.map((v) => inner + text(v ?? null, inner))
    : Object.entries(value).filter(([, v]) => v !== undefined).map(([k, v]) => `${inner}${JSON.stringify(k)}: ${text(v, inner)}`);
  if (parts.length === 0) return list ? "[]" : "{}";
  return `${list ? "[" : "{"}\n${parts.join(",\n")}\n${indent}${list ? "]" : "}"}`;
}
