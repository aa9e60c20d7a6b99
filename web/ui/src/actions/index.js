/* What can be done with a table's index: each says what it will do, and the command that does it. */
export { buildAction, changeBuildAction, cutoverAction, resetAction } from "./build.js";
export { deleteVersionAction, deleteVersionsAction, rollbackAction } from "./versions.js";
export { cancelRefreshAction, pauseAction, refreshAction, resumeAction } from "./writes.js";
export { repairKeysAction, replayAction, verifyAction } from "./compare.js";
export { doneDelayedAction, runDelayedAction } from "./delayed.js";
