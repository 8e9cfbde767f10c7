import * as z from "zod/mini";
import { reachedLimitSchema } from "./resource-limits.js";
import { countSchema } from "./scalars.js";

/** What ended a process that was ended by a signal. `self` also covers a signal sent from outside of this system. */
export const endedBySchema = z.enum([
  "self",
  "terminate",
  "timeout",
  "prune",
  "shutdown",
  "oom",
  "sandbox",
  "limit",
  "unknown",
]);
/** What ended a process that was ended by a signal. */
export type EndedBy = z.infer<typeof endedBySchema>;

/**
 * How a process ended, or that it has not. Never invented: a lost channel is `lost`, not an exit.
 * `signal` is a POSIX name such as `SIGKILL`; `lastSeq` is the last output chunk seen before the process was lost.
 */
export const processOutcomeSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("running") }),
  z.object({ kind: z.literal("exited"), code: z.int() }),
  /** `limit`: with `by: "limit"`. */
  z.object({
    kind: z.literal("signaled"),
    signal: z.string(),
    by: endedBySchema,
    limit: z.optional(reachedLimitSchema),
  }),
  z.object({ kind: z.literal("failed_to_start"), reason: z.string() }),
  z.object({ kind: z.literal("lost"), reason: z.string(), lastSeq: countSchema }),
]);
/** How a process ended, or that it has not. */
export type ProcessOutcome = z.infer<typeof processOutcomeSchema>;
