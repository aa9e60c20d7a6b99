/* The screens, by the first part of the address.  Only the overview is there from the start. */
import { lazy } from "./lazy.js";
import { Overview } from "./screens/overview.js";

export const SCREENS = [
  { id: "overview", show: Overview },
  { id: "topics", show: lazy(() => import("./screens/topics.js"), "Topics") },
  { id: "databases", show: lazy(() => import("./screens/databases.js"), "Databases") },
  { id: "tables", show: lazy(() => import("./screens/tables.js"), "Tables"), one: lazy(() => import("./screens/table.js"), "TableScreen") },
  { id: "versions", show: lazy(() => import("./screens/versions.js"), "Versions") },
  { id: "jobs", show: lazy(() => import("./screens/jobs.js"), "Jobs") },
  { id: "delivery", show: lazy(() => import("./screens/delivery.js"), "Delivery") },
  { id: "cluster", show: lazy(() => import("./screens/cluster.js"), "Cluster") },
  { id: "delayed", show: lazy(() => import("./screens/delayed.js"), "Delayed") },
  { id: "words", show: lazy(() => import("./screens/words.js"), "Words") },
  { id: "letters", show: lazy(() => import("./screens/letters.js"), "Letters") },
  { id: "verify", show: lazy(() => import("./screens/verify.js"), "Verify") },
  { id: "trace", show: lazy(() => import("./screens/trace.js"), "Trace") },
  { id: "doctor", show: lazy(() => import("./screens/doctor.js"), "Doctor") },
  { id: "activity", show: lazy(() => import("./screens/activity.js"), "Activity") },
  { id: "settings", show: lazy(() => import("./screens/settings.js"), "Settings") },
];

/* The screen of an address: that of one thing where the screen has one of its own. */
export function screenOf(parts) {
  const screen = SCREENS.find((s) => s.id === (parts[0] ?? "overview"));
  return screen && (parts.length > 1 && screen.one ? screen.one : screen.show);
}
