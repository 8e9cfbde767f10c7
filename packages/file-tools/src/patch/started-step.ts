import type { Step } from "@codex/apply-patch";

/** A started step of a plan, with the data to roll it back. */
export interface StartedStep {
  readonly step: Step;
  /** Directories created for it, outermost first. */
  readonly made: string[];
  /** Previous permissions of the file, when the host reports them. */
  readonly mode: number | undefined;
}
