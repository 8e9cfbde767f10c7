import type { Native } from "@codex/native";
import type { WrappedCommand } from "@codex/sandbox";
import type { SessionResources } from "../resources/session-resources.js";
import type { SpawnGated } from "./process-gate.js";
import type { ProcessRecord } from "./process-record.js";

/** What starts and records a process. */
export interface Launcher {
  native: Native;
  record: ProcessRecord;
  /** Runs the call that starts the process, with its mark; see `Marks`. */
  markStart<T>(spawn: () => T): T;
  wrapped: WrappedCommand | undefined;
  resources: SessionResources | undefined;
  /** For a spec with a gate, on a host with `Native.children`. */
  spawnGated: SpawnGated | undefined;
}
