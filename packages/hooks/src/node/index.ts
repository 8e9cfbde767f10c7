export { createHooks, type HooksOptions } from "./create-hooks.js";
export { hookEvents, type ReadHooks, readHooks } from "./definitions.js";
