import type { TraceContext } from "@codex/telemetry";
import type { KeptOutput } from "../output/kept-output.js";

/** The call that a session operation belongs to. */
export interface CallScope {
  requestId: string;
  /** Ends the wait of the call; the process that it started keeps running. */
  signal: AbortSignal;
  /** Ends the wait of the call, as a repeat of it may ask. */
  endWait(): void;
  /** Resolves once the response was sent. */
  answered: Promise<void>;
  /** The client that called, where one orchestrator has several. */
  client?: string | undefined;
  /** The span that the call is part of. */
  trace?: TraceContext | undefined;
  /** Called with the output that belongs to the result, which may have to be sent again; undefined on a channel that cannot resume. */
  keep?: ((kept: KeptOutput) => void) | undefined;
}
