import type { OutputLog, SandboxDenial } from "@codex/exec-backend";
import { getSignalNumber } from "@codex/exec-backend";
import type { ExitStatus } from "@codex/native";
import type { WrappedCommand } from "@codex/sandbox";
import { DENIAL_OUTPUT_BYTES, DENIAL_OUTPUT_MS } from "./limits.js";
import { settledWithin } from "./settled-within.js";

/** How a sandboxed command ended, reported once none of its processes runs. */
export interface SandboxedExit {
  /** Undefined when it was never started. */
  status: ExitStatus | undefined;
  denial: SandboxDenial | undefined;
}

/** Called when the spawned process has ended: waits until the whole sandbox has. Never rejects. */
export async function settleSandboxedExit(
  wrapped: WrappedCommand,
  spawned: ExitStatus,
  { log, streamsEnded }: { readonly log: OutputLog; readonly streamsEnded: Promise<void> },
): Promise<SandboxedExit> {
  await wrapped.release();
  const status = getStatus(wrapped, spawned);
  if (status !== undefined && "code" in status && status.code === 0 && !wrapped.isBroken())
    return { status, denial: undefined };
  await settledWithin(streamsEnded, DENIAL_OUTPUT_MS);
  const { chunks } = await log.read(Math.max(0, log.end - DENIAL_OUTPUT_BYTES));
  const output = Buffer.concat(chunks.map(({ bytes }) => bytes)).toString();
  return { status, denial: wrapped.findDenial({ exitCode: getCode(status), output }) };
}

/** When the wrapper is killed, the command is killed with it; when it exits, it has reported the status of the command. */
function getStatus({ status }: WrappedCommand, spawned: ExitStatus): ExitStatus | undefined {
  if (status === undefined || "signal" in spawned) return spawned;
  return status.exitCode === undefined ? undefined : { code: status.exitCode };
}

function getCode(status: ExitStatus | undefined): number | undefined {
  if (status === undefined || "code" in status) return status?.code;
  return 128 + (getSignalNumber(status.signal) ?? 0);
}
