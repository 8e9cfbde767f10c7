import { RpcError } from "@codex/channel";
import { ERROR_CODES } from "./methods.js";
import type { Sandbox } from "./sandbox.js";

/**
 * Rejects a request that asks for a sandbox where none is available: a request never runs without the sandbox it asks
 * for. Returns for no sandbox and for one with permissions `disabled`.
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
