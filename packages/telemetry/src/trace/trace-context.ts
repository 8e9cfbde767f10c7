import { defined } from "@codex/values";
import { MAX_TRACE_STATE_LENGTH } from "../limits.js";
import type { TraceContext } from "./tracing.js";

/** A parsed W3C trace context. */
export interface ParsedTraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  /** One byte: bit 0 means sampled. */
  flags: number;
  tracestate: string | undefined;
}

/** Undefined for an invalid trace context: the receiver then starts a new trace, as https://www.w3.org/TR/trace-context/ requires. */
export function parseTraceContext(context: TraceContext | null | undefined): ParsedTraceContext | undefined {
  const [, version, traceId, spanId, flags, rest] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(context?.traceparent?.trim() ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const tracestate = context?.tracestate ?? "";
  const isUsable = tracestate !== "" && tracestate.length <= MAX_TRACE_STATE_LENGTH;
  return { traceId, spanId, flags: Number.parseInt(flags, 16), tracestate: isUsable ? tracestate : undefined };
}

/** The W3C `traceparent` and `tracestate` of a context, version 00. */
export function formatTraceContext({ traceId, spanId, flags, tracestate }: ParsedTraceContext): TraceContext {
  const traceparent = `00-${traceId}-${spanId}-${(flags & 0xff).toString(16).padStart(2, "0")}`;
  return { traceparent, ...defined({ tracestate }) };
}
