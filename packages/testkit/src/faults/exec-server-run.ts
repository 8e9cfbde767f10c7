import { RpcError } from "@codex/channel";
import { createRemoteBackend } from "@codex/exec-server-client";
import { driveProcess } from "./drive-process.js";
import type { Target } from "./exec-server-targets.js";
import type { RunResult } from "./run-result.js";
import { runSeed, type TargetContext } from "./run-seed.js";

/** A run of a client of an exec-server. Never rejects. */
export function runExecServer(
  seed: number,
  kind: string,
  open: (context: TargetContext) => Promise<Target>,
): Promise<RunResult> {
  return runSeed(seed, kind, {
    open,
    async prepare({ client, mayBeLost }) {
      const backend = createRemoteBackend(client);
      const codesOnly = await client.list().then(
        () => false,
        (error: unknown) => error instanceof RpcError,
      );
      return (script) => driveProcess({ ...script, client, backend, mayBeLost, codesOnly });
    },
    closeOurEnd: ({ client }) => client.close(),
  });
}
