import type { TraceContext } from "@codex/telemetry";
import type { KeptOutput } from "../output/kept-output.js";

/** The call on whose behalf something is done. */
export interface CallScope {
  requestId: string;
  /** Ends the wait of the call; what it started lives on. */
  signal: AbortSignal;
  /** Resolves once the answer was sent. */
  answered: Promise<void>;
  /** On whose behalf, where one orchestrator has several clients. */
  client?: string | undefined;
  /** What the call is part of. */
  trace?: TraceContext | undefined;
  /** Takes the output that belongs to the answer, which may have to be sent again; undefined on a channel that cannot resume. */
  keep?: ((kept: KeptOutput) => void) | undefined;
}
