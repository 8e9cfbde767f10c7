import type { ToollessHost } from "@codex/exec-backend";
import { type ExecutorCommandOptions, runExecutor as run } from "@codex/servers/executor";
import type { Telemetry } from "@codex/telemetry";
import { messageOf } from "@codex/values";
import { CommandError, EXIT } from "../exit-codes.js";

/** Serves this host, or programs on an exec-server. @throws CommandError */
export const runExecutor = (options: ExecutorCommandOptions): Promise<void> => run(options, { connectRemote });

/** Loaded on demand: it would slow the start of a local executor. */
async function connectRemote(text: string, telemetry: Telemetry): Promise<ToollessHost> {
  const { connectExecServer } = await import("../exec-server-host.js");
  const { findCommandProblem, parseExecutorAddress } = await import("../executor-address.js");
  const address = parseExecutorAddress(text, "--exec-server");
  const fail = (detail: string, cause?: unknown) =>
    new CommandError(`no exec-server at ${JSON.stringify(text)}: ${detail}`, EXIT.failure, { cause });
  const problem = address.kind === "command" ? findCommandProblem(address.line) : undefined;
  if (problem !== undefined) throw fail(problem);
  return connectExecServer(address, { telemetry }).catch((cause: unknown) => {
    throw fail(messageOf(cause), cause);
  });
}
