/* Checks of `status` and `doctor`: a title in the viewer's language by the check's id, and the screen
 * that it is about.  A check's group names its object: "topic shop", "table shop.orders". */
import { has, t } from "./text.js";
import { link } from "./route.js";

export const checkTitle = (c) => (has(`check.${c.id}`) ? t(`check.${c.id}`) : "");

const PLACES = [
  [/^topic (.+)$/, (m) => link(["topics", m[1]])],
  [/^table (.+)$/, (m) => link(["tables", m[1]])],
  [/^node (.+)$/, () => link(["cluster"])],
  [/^(cluster|coordination)/, () => link(["cluster"])],
  [/^delivery/, () => link(["delivery"])],
  [/^delayed/, () => link(["delayed"])],
];

export function checkLink(c) {
  for (const [pattern, to] of PLACES) {
    const found = pattern.exec(c.group);
    if (found) return to(found);
  }
  return link(["doctor"]);
}
