import * as z from "zod/mini";
import { outputStreamSchema } from "./messages.js";
import { processOutcomeSchema } from "./outcome.js";
import { countSchema } from "./scalars.js";
import { terminalSizeSchema } from "./unified-exec-request.js";
import { byteRangeSchema } from "./unified-exec-result.js";

/**
 * The `structured` member of a `read_output` call with `chunks: true`: output as it was read, for programs that record or
 * replay it; `data` is base64. Times are milliseconds since the process was started.
 */
export const recordedOutputSchema = z.object({
  sessionId: countSchema,
  command: z.array(z.string()),
  tty: z.boolean(),
  /** When the process was started: Unix time, milliseconds. */
  startedAt: z.number(),
  range: byteRangeSchema,
  /** Bytes written so far. */
  end: countSchema,
  closed: z.boolean(),
  outcome: processOutcomeSchema,
  /** Present only when the process has ended; `128+n` for signal n. */
  exitCode: z.optional(z.int()),
  /** When its end was seen; absent before. */
  exitedAt: z.optional(z.number()),
  /** Parts of the range that were not retained. */
  gone: z.array(byteRangeSchema),
  chunks: z.array(z.object({ offset: countSchema, at: z.number(), stream: outputStreamSchema, data: z.string() })),
  /** Size of the terminal at its beginning; absent on pipes. */
  size: z.optional(terminalSizeSchema),
  /** Later sizes, from byte `offset` on, that are not before the range; after it only where it reaches the end. */
  resizes: z.array(z.object({ seq: countSchema, offset: countSchema, at: z.number(), size: terminalSizeSchema })),
});
/** Output as it was read, with times and terminal sizes. */
export type RecordedOutput = z.infer<typeof recordedOutputSchema>;
