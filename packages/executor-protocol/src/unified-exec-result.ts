import * as z from "zod/mini";
import { processOutcomeSchema } from "./outcome.js";
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
  waitEnded: z.optional(waitEndedSchema),
  /** For a command that asked for a snapshot: whether its shell came from one, or read its startup files and why. */
  shellStartup: z.optional(z.object({ kind: z.enum(["snapshot", "login"]), reason: z.optional(z.string()) })),
  /** A safety bound of the executor that changed the request, one sentence each. */
  notices: z.optional(z.array(z.string())),
});
/** The `structured` member of a successful `exec_command` or `write_stdin` call. */
export type UnifiedExecResult = z.infer<typeof unifiedExecResultSchema>;
