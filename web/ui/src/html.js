/* Templates: tagged strings instead of a build step for markup.  All values are escaped by preact. */
import { h } from "preact";
import htm from "htm";

export const html = htm.bind(h);
