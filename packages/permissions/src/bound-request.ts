import { CALL_VARIABLES, type ExecCommandRequest } from "@codex/executor-protocol";

/** Members of a request that determine what is run, where, and in which sandbox. */
export type BoundRequest = Pick<
  ExecCommandRequest,
  | "command"
  | "cwd"
  | "env"
  | "envPolicy"
  | "sandbox"
  | "tty"
  | "size"
  | "stdin"
  | "timeoutMs"
  | "sandboxPermissions"
  | "additionalPermissions"
>;

/**
 * What an approval is for, as text: equal for requests that do the same, whatever the order of their members, and for whichever call.
 */
export function renderBoundRequest(request: BoundRequest): string {
  const { command, cwd, envPolicy, sandbox, tty, size, stdin, timeoutMs } = request;
  const { sandboxPermissions, additionalPermissions } = request;
  const env = Object.fromEntries(Object.entries(request.env).filter(([name]) => !CALL_VARIABLES.includes(name)));
  const bound = { command, cwd, env, envPolicy, sandbox: sandbox ?? null, tty, size, stdin, timeoutMs };
  return JSON.stringify({ ...bound, sandboxPermissions, additionalPermissions }, sortKeys);
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
