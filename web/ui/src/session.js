/*
 * Who looks at the page: /api/v1/me.  `me` is null until it is known, {} for somebody unknown.
 */
import { signal } from "@preact/signals";
import { clockOffset } from "./clock.js";

const ROLES = ["viewer", "operator", "admin"];

export const me = signal(null);
/* Why `me` could not be asked: the daemon did not answer. */
export const noAnswer = signal(false);

export async function askWho() {
  try {
    const response = await fetch("api/v1/me", { credentials: "same-origin", signal: AbortSignal.timeout(15000) });
    if (!response.ok) throw new Error(String(response.status));
    clockOffset.value = new Date(response.headers.get("Date")).getTime() - Date.now() || 0;
    me.value = await response.json();
    noAnswer.value = false;
  } catch {
    noAnswer.value = true;
  }
}

export const isKnown = () => ROLES.includes(me.value?.role);

export function signedOut() {
  me.value = { ...me.value, role: undefined, who: "" };
}

/* Whether the caller has this role or a higher one, and the daemon is not read-only. */
export function may(role) {
  const has = ROLES.indexOf(me.value?.role) >= ROLES.indexOf(role);
  return has && (role === "viewer" || !me.value?.read_only);
}

/* Rows and documents: operators see them, and viewers who are allowed to. */
export const maySeeRows = () =>
  ROLES.indexOf(me.value?.role) >= ROLES.indexOf("operator") || me.value?.sees_rows === true;
export const hasRole = (role) => ROLES.indexOf(me.value?.role) >= ROLES.indexOf(role);
