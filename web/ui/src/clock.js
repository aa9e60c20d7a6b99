/* The daemon's clock: the browser's may be a day off, so ages are counted from the daemon's. */
import { signal } from "@preact/signals";

/* Milliseconds that the daemon's clock is ahead of the browser's. */
export const clockOffset = signal(0);
export const now = () => Date.now() + clockOffset.value;

/* A signal that changes each second, for whatever shows an age. */
export const second = signal(0);
setInterval(() => {
  if (!document.hidden) second.value++;
}, 1000);
