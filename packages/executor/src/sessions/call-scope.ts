import type { TraceContext } from "@codex/telemetry";
import type { KeptOutput } from "../output/kept-output.js";

/** The call on whose behalf something is done. */
export interface CallScope {
  requestId: string;
  /** Ends the wait of the call; what it started lives on. */
  signal: AbortSignal;
  /** Resolves once the answer is on its way. */
  answered: Promise<void>;
  /** What the call is part of. */
  trace?: TraceContext | undefined;
  /** Takes what belongs to the answer, which may have to be given again; undefined where nobody could ask for it. */
  keep?: ((kept: KeptOutput) => void) | undefined;
}
