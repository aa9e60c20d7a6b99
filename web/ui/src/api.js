/*
 * Requests to the daemon.  Every failure is a Problem: what the daemon said (RFC 9457), or that it
 * did not answer.  Paths are relative, so that a path prefix needs nothing here.
 */
import { parseExact, text } from "./exact.js";
import { signedOut } from "./session.js";

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail ?? body.title ?? "");
    this.status = status;
    this.code = body.code ?? (status === 0 ? "no-answer" : "unknown");
    this.detail = body.detail ?? "";
    this.fix = body.fix ?? "";
    this.errors = body.errors ?? [];
    this.body = body;
  }
}

const TIMEOUT_MS = 30000;

/*
 * What run() sends first has this Idempotency-Key, so that whoever presses a button again, as no answer
 * came, starts nothing twice; and the reason that the audit log keeps, if there is one.
 */
let current = null;
export function sending(by, run) {
  current = by;
  try {
    return run();
  } finally {
    current = null;
  }
}
const withReason = (path) => (current?.why ? `${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams({ why: current.why })}` : path);
export const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");

async function answerOf(response) {
  const body = await response.text();
  const type = response.headers.get("Content-Type") ?? "";
  if (!type.includes("json")) return body;
  try {
    return parseExact(body);
  } catch {
    return {};
  }
}

/* Send a request and return its answer: {data, etag, status}. */
export async function ask(method, path, body, { headers = {}, timeout = TIMEOUT_MS, signal } = {}) {
  const options = { method, headers: { ...headers }, credentials: "same-origin" };
  const limit = AbortSignal.timeout(timeout);
  options.signal = signal ? AbortSignal.any([signal, limit]) : limit;
  if (method === "POST" && current) options.headers["Idempotency-Key"] = current.key;
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = text(body);
  }
  let response;
  try {
    response = await fetch(`api/v1/${method === "GET" ? path : withReason(path)}`, options);
  } catch (e) {
    if (signal?.aborted) throw e;
    throw new Problem(0, { detail: e.name === "TimeoutError" ? "timeout" : "" });
  }
  const data = await answerOf(response);
  if (!response.ok) {
    const problem = new Problem(response.status, typeof data === "object" ? data : {});
    if (problem.code === "log-in-needed") signedOut();
    throw problem;
  }
  return { data, etag: response.headers.get("ETag"), status: response.status };
}

export const get = async (path, options) => (await ask("GET", path, undefined, options)).data;
export const post = async (path, body = {}, options) => (await ask("POST", path, body, options)).data;
export const patch = async (path, body, options) => (await ask("PATCH", path, body, options)).data;
export const put = async (path, body, options) => (await ask("PUT", path, body, options)).data;
export const remove = async (path, options) => (await ask("DELETE", path, undefined, options)).data;

/* "tables/shop.orders/trace?key=1" from ["tables", "shop.orders", "trace"] and {key: 1}. */
export function path(parts, query = {}) {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(query)) if (v !== undefined && v !== null && v !== "") q.set(k, v);
  const query_text = q.toString();
  return parts.map(encodeURIComponent).join("/") + (query_text ? `?${query_text}` : "");
}
