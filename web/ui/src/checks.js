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

/* Where the fix of a table's check can be done, if not at the table. */
const FIXES = [
  [/^millrace delayed run /, () => link(["delayed"])],
  [/^millrace (check|replay|verify) /, () => link(["verify"])],
  [/^millrace dead-letter /, (table) => link(["letters"], { table })],
  [/^millrace index (cutover|resume|rollback|reset) /, (table) => link(["versions", table])],
];

export function checkLink(c) {
  const table = /^table (.+)$/.exec(c.group)?.[1];
  const fix = table && FIXES.find(([command]) => command.test(c.fix ?? ""));
  if (fix) return fix[1](table);
  for (const [pattern, to] of PLACES) {
    const found = pattern.exec(c.group);
    if (found) return to(found);
  }
  return link(["doctor"]);
}
