/* The keys of the page, as "?" shows them. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "./html.js";
import { t } from "./text.js";
import { Terms } from "./parts.js";

export const keyTerms = () => [["Ctrl K", t("palette")], ["/", t("palette")], ["?", t("settings.keys")], ["Esc", t("close")]];

export function Keys({ close }) {
  const box = useRef(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    box.current.showModal();
    return () => before?.focus?.();
  }, []);
  return html`<dialog ref=${box} aria-labelledby="keys-title" onCancel=${close} onClose=${close}>
    <h2 id="keys-title">${t("settings.keys")}</h2>
    <${Terms} of=${keyTerms()} />
    <p class="soft">${t("settings.keys.where")}</p>
    <p class="row end"><button type="button" onClick=${close}>${t("close")}</button></p>
  </dialog>`;
}
