/** Where a patch is applied. */
export interface PatchPlace {
  environment: string;
  /** Absolute. */
  cwd: string;
}

/** A patch that fits the files and is about to be applied. */
export interface PatchRequest extends PatchPlace {
  /** What the person sees who is asked. */
  text: string;
  /** Everything that it writes or removes, absolute. */
  paths: readonly string[];
}

/** Whether a patch is applied, and what its file calls carry. */
export type PatchPermit =
  | { kind: "granted"; fileSandbox: unknown }
  | { kind: "refused"; reason: string }
  /** The person ends the turn. */
  | { kind: "cancelled" };

/** Decides about the file calls of an agent's own tools. */
export interface FilePolicy {
  /** What file calls of a place carry as sandbox; undefined: none. `refused`: nothing is to be done there. */
  sandboxOf(place: PatchPlace): { fileSandbox: unknown } | { refused: string };
  /** Judges a patch, and asks where the policy wants that. The signal ends only the waiting. */
  permit(request: PatchRequest, signal: AbortSignal): Promise<PatchPermit>;
}
