import * as z from "zod/mini";
import { programReportSchema } from "./exec-gate.js";
import { networkDenialSchema } from "./managed-network.js";
import { processOutcomeSchema } from "./outcome.js";
import { reachedLimitSchema } from "./resource-limits.js";
import { countSchema, processIdSchema } from "./scalars.js";

/** A half-open range `[from, to)` of byte offsets in a session's output log. */
export const byteRangeSchema = z.object({ from: countSchema, to: countSchema });
/** A half-open range `[from, to)` of byte offsets in a session's output log. */
export type ByteRange = z.infer<typeof byteRangeSchema>;

/**
 * A range the result does not carry: cut by the `budget` (still readable), or `evicted` from the log. `estimated`: how much is missing is
 * not known exactly; later offsets count the range as it is here.
 */
export const omittedRangeSchema = z.extend(byteRangeSchema, {
  reason: z.enum(["budget", "evicted"]),
  estimated: z.optional(z.literal(true)),
});
/** A range of output that a result does not carry, and why. */
export type OmittedRange = z.infer<typeof omittedRangeSchema>;

/** A part of the output that a result shows, as text: bytes that are not UTF-8 became U+FFFD. */
const outputTextSchema = z.extend(byteRangeSchema, { text: z.string() });
/** A part of the output that a result shows, as text: bytes that are not UTF-8 became U+FFFD. */
export type OutputText = z.infer<typeof outputTextSchema>;

/** What the text of a result shows besides its other members; only on the wire, where `structuredResults` was requested. */
export const shownSchema = z.object({
  /** The session, where there is more of it to read: it runs, or its output is not complete or was left out. */
  sessionId: z.optional(processIdSchema),
  /** As `exitCode` of a unified-exec result, for the others. */
  exitCode: z.optional(z.int()),
  /** The process has ended, and one that it left behind has its output open. */
  heldOpen: z.optional(z.literal(true)),
  /** Why output was evicted, as the end of a sentence. */
  evictionReason: z.optional(z.string()),
  /** What is shown of the range, in order: where a part does not begin at the end of the last, bytes are left out. */
  output: z.optional(z.array(outputTextSchema)),
  /** Lines of the whole range, where some of it is left out and all of it was read. */
  lines: z.optional(countSchema),
});
/** What the text of a result shows besides its other members; only on the wire, where `structuredResults` was requested. */
export type Shown = z.infer<typeof shownSchema>;

/**
 * What ended the wait of a call. `prompt`: the program was seen to wait for input, which is a hint: it may do other things
 * besides. `quiet`: `prompt` was requested but cannot be detected, and there was no output for a while. `written`: the input
 * was read, or never will be. `window`: the yield window is over.
 */
export const waitEndedSchema = z.enum(["exit", "output", "prompt", "quiet", "written", "window", "cancelled"]);
/** What ended the wait of a call. */
export type WaitEnded = z.infer<typeof waitEndedSchema>;

/** The `structured` member of a successful unified-exec call. */
export const unifiedExecResultSchema = z.object({
  /** 6 lowercase hex digits. */
  chunkId: z.string().check(z.regex(/^[0-9a-f]{6}$/, "6 lowercase hex digits")),
  /** Seconds since the process started (first call) or since the call began. */
  wallTimeSeconds: z.number().check(z.nonnegative()),
  /** Present only if the session still exists after this poll. */
  processId: z.optional(processIdSchema),
  /** Present only when the process has ended; `128+n` for signal n. */
  exitCode: z.optional(z.int()),
  outcome: processOutcomeSchema,
  /** `timeoutMs` ended it, whatever `outcome` is then. */
  timedOut: z.optional(z.boolean()),
  /** The output is complete: no process has the stream open any more. */
  closed: z.boolean(),
  range: byteRangeSchema,
  omitted: z.array(omittedRangeSchema),
  /** ceil(bytes/4) over all bytes of the poll. */
  originalTokenCount: countSchema,
  /** The sandbox is known to have refused something. */
  sandboxDenied: z.boolean(),
  /** What it refused; `certain` as `sandboxDenied`, else a guess from the output, to be shown as one. */
  sandboxDenial: z.optional(z.object({ certain: z.boolean(), reason: z.string() })),
  /** Limits that it has reached, unless `outcome` names them; present only when the process has ended. */
  reachedLimits: z.optional(z.array(reachedLimitSchema)),
  waitEnded: z.optional(waitEndedSchema),
  /** For a command that asked for a snapshot: whether its shell came from one, or read its startup files and why. */
  shellStartup: z.optional(z.object({ kind: z.enum(["snapshot", "login"]), reason: z.optional(z.string()) })),
  /** Programs that the rules of `execGate` did not let run as they were called, since the last result; at most 64. */
  programs: z.optional(z.array(programReportSchema)),
  /** Hosts that its managed network did not let it to, since the last result; at most 64. */
  deniedHosts: z.optional(z.array(networkDenialSchema)),
  /** A safety bound of the executor that changed the request, one sentence each. */
  notices: z.optional(z.array(z.string())),
  shown: z.optional(shownSchema),
});
/** The `structured` member of a successful `exec_command` or `write_stdin` call. */
export type UnifiedExecResult = z.infer<typeof unifiedExecResultSchema>;
