export { createHooks, type Hooks, type HooksOptions } from "./create-hooks.js";
export { hookEvents, type ReadHooks, readHooks } from "./definitions.js";
export {
  type Hook,
  HookError,
  type HookEvent,
  type HookPlace,
  type HookReport,
  type HookSubject,
  type PermissionVerdict,
  type PostToolUseAnswer,
  type PreToolUseAnswer,
  type StartAnswer,
  type StopAnswer,
  type ToolHooks,
  type ToolUse,
} from "./hook.js";
