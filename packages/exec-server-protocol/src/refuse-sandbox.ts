import { RpcError } from "@codex/channel";
import { ERROR_CODES } from "./methods.js";
import type { Sandbox } from "./sandbox.js";

/**
 * Refuses what would have to run in a sandbox: files have none here, and nothing is done without the sandbox it was
 * asked for. Returns for no sandbox and for one with permissions `disabled`.
 * @throws RpcError -32603
 */
export function refuseSandbox(method: string, sandbox: Sandbox | undefined): void {
  if (sandbox === undefined || sandbox.permissions.type === "disabled") return;
  throw new RpcError(
    ERROR_CODES.internal,
    `${method} was refused: it asks for a sandbox with permissions \`${sandbox.permissions.type}\`, ` +
      "and this exec-server has no sandbox; permissions `disabled` run without one",
  );
}
