export { commandIn, describeBlocked } from "./describe-blocked.js";
export {
  type CompactionSubject,
  type Hook,
  HookError,
  type HookEvent,
  type HookPlace,
  type HookReport,
  type HookSubject,
  type Hooks,
  type PermissionVerdict,
  type PostToolUseAnswer,
  type PreToolUseAnswer,
  type StartAnswer,
  type StopAnswer,
  type ToolHooks,
  type ToolUse,
} from "./hook.js";
