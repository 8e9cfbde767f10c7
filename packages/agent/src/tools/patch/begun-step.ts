import type { Step } from "@codex/apply-patch";

/** A step of a plan that was begun, and what is needed to undo it. */
export interface BegunStep {
  readonly step: Step;
  /** Directories that were made for it, outermost first. */
  readonly made: string[];
  /** Permissions of the file that was there, where the host tells them. */
  readonly mode: number | undefined;
}
