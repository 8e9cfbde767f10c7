import type { ExecutorConnection } from "@codex/executor-client";
import { asOrchestratorErrors, OrchestratorError } from "../errors.js";
import type { FileConnector, HostFiles } from "./file-connector.js";

/** The files of executors, connected when they are first used; the connections end with their executors. */
export type ConnectFiles = (executor: ExecutorConnection) => Promise<HostFiles>;

export function createConnect(connectFiles: FileConnector | undefined): ConnectFiles {
  const connected = new WeakMap<ExecutorConnection, Promise<HostFiles>>();
  return async (executor) => {
    if (connectFiles === undefined) {
      throw new OrchestratorError(
        "unsupported",
        "this orchestrator cannot access files: its option `connectFiles` is missing",
      );
    }
    const known = connected.get(executor);
    if (known !== undefined) return known;
    const connecting = connectFiles((signal) => asOrchestratorErrors(executor.openExecServer(signal)));
    connected.set(executor, connecting);
    connecting.catch(() => connected.delete(executor));
    void executor.ended.then(async () => (await connecting.catch(() => undefined))?.close());
    return connecting;
  };
}
