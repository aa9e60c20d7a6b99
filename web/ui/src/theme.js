/* Dark and light: the system's choice, or the viewer's. */
import { signal, effect } from "@preact/signals";
import { keep, kept } from "./kept.js";

export const theme = signal(kept("theme", "auto"));

export function begin() {
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
    keep("theme", theme.value);
  });
}
