import type { HostPath } from "@codex/exec-server-protocol";

/**
 * Waits without a thread for the remote mounts that paths are on, directly or through links; undefined where there are none.
 * Rejects when nobody waits any more.
 */
export type Reach = (...paths: readonly (HostPath | undefined)[]) => Promise<void> | undefined;
