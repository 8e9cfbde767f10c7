import type { Sandbox } from "@codex/exec-server-protocol";
import type { FileSystemLimits } from "../limits.js";
import type { FileMethod } from "./calls.js";

/** Runs the file calls that carry a sandbox. */
export interface SandboxedFiles {
  /** Creates the state of one connection, which the connection ends with `dispose`. */
  connect(limits: FileSystemLimits): SandboxLeases;
}

/** Leases of sandboxes for one connection. */
export interface SandboxLeases {
  /**
   * Leases a helper inside the sandbox, which the caller returns with `release`. Undefined where the sandbox does not
   * restrict files.
   * @throws RpcError -32602 for a sandbox that leaves out what it needs, -32603 for one that cannot be enforced here
   */
  acquire(method: string, sandbox: Sandbox): Promise<SandboxLease | undefined>;
  /** Ends every helper, which undoes unfinished calls. Resolves once all are gone. Idempotent; never rejects. */
  dispose(): Promise<void>;
}

/** Access to the files of this host through a helper inside one sandbox. */
export interface SandboxLease {
  /**
   * Calls a method of ConnectionFileSystem and resolves with its result.
   * @throws RpcError as the method does, or -32603 when the helper has ended: whether the call took effect is unknown
   */
  call(method: FileMethod, params: object): Promise<unknown>;
  /** Marks the lease as long-lived, for an open file handle: other callers do not wait for its release. */
  pin(): void;
  /** Idempotent. */
  release(): void;
}
