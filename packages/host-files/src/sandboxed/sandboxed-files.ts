import type { Sandbox } from "@codex/exec-server-protocol";
import type { FileSystemLimits } from "../limits.js";
import type { FileMethod } from "./calls.js";

/** Where file calls run that carry a sandbox. */
export interface SandboxedFiles {
  /** Makes what belongs to one connection; the connection ends it with `dispose`. */
  connect(limits: FileSystemLimits): ConnectionSandboxes;
}

export interface ConnectionSandboxes {
  /**
   * Undefined where the sandbox holds no files back. Else a place within it, which the caller gives back with `leave`.
   * @throws RpcError -32602 for a sandbox that leaves out what it needs, -32603 for one that cannot be enforced here
   */
  enter(method: string, sandbox: Sandbox): Promise<SandboxPlace | undefined>;
  /** Takes back what was not finished. Resolves when nothing is left. Idempotent; never rejects. */
  dispose(): Promise<void>;
}

/** The files of this host as one sandbox shows them. */
export interface SandboxPlace {
  /**
   * Resolves with what the method of a ConnectionFileSystem does.
   * @throws RpcError as the method, or -32603 when the sandbox has ended: what was done by then is not known
   */
  call(method: FileMethod, params: object): Promise<unknown>;
  /** An open handle is left in it: nobody is made to wait for this place any more. */
  keep(): void;
  /** Idempotent. */
  leave(): void;
}
