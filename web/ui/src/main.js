/* The start of the page: texts, then who looks, then the frame with its screen. */
import { render } from "preact";
import { html } from "./html.js";
import { Frame } from "./frame.js";
import { loadTexts } from "./text.js";
import { askWho } from "./session.js";
import { begin as beginStream } from "./stream.js";
import { begin as beginRoute } from "./route.js";
import { begin as beginTitle } from "./title.js";
import { begin as beginTheme } from "./theme.js";

beginTheme();
beginRoute();
try {
  await Promise.all([loadTexts(), askWho()]);
} catch {
  /* Without its texts the page can say nothing else, in any language. */
  document.getElementById("app").textContent = "The daemon does not answer. 守护进程没有应答。 Демон не отвечает.";
  throw new Error("no texts");
}
beginStream();
beginTitle();
render(html`<${Frame} />`, document.getElementById("app"));
