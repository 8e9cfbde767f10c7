import * as z from "zod/mini";
import { processOutcomeSchema } from "./outcome.js";
import { resourceUseSchema } from "./resource-limits.js";
import { countSchema } from "./scalars.js";
import type { STANDARD_TOOLS } from "./standard-tools.js";
import { terminalSizeSchema } from "./unified-exec-request.js";
import { byteRangeSchema, shownSchema, type UnifiedExecResult } from "./unified-exec-result.js";

/** One session of `list_sessions`. */
const listedSessionSchema = z.object({
  sessionId: countSchema,
  /** As one line, shortened. */
  command: z.string(),
  cwd: z.string(),
  /** Where the program is that waits for input now; absent where none waits, or it is not known. */
  inputDirectory: z.optional(z.string()),
  tty: z.boolean(),
  /** How long it has been running, or was. */
  seconds: z.number(),
  /** Bytes of output that no call has returned yet. */
  unreadBytes: countSchema,
  /** Of a session with limits. */
  use: z.optional(resourceUseSchema),
  outcome: processOutcomeSchema,
  /** The output is complete: no process has the stream open any more. */
  closed: z.boolean(),
  /** `outcome` in words. */
  state: z.string(),
});
/** One session of `list_sessions`. */
export type ListedSession = z.infer<typeof listedSessionSchema>;

/** The `structured` member of a `list_sessions` call. */
const sessionListSchema = z.object({ sessions: z.array(listedSessionSchema) });
/** The `structured` member of a `list_sessions` call. */
export type SessionList = z.infer<typeof sessionListSchema>;

const processesSchema = z.optional(z.nullable(z.array(z.object({ pid: z.int(), name: z.string() }))));

/** The `structured` member of a `kill_session` call. A call that was cancelled before the session was gone has the first two members only. */
const killedSessionSchema = z.object({
  sessionId: countSchema,
  /** No process of its group is left, nor a descendant that had left it. */
  gone: z.boolean(),
  /** It had not exited when the call arrived. */
  running: z.optional(z.boolean()),
  /** The first processes of its group; null where the host cannot list them. */
  members: processesSchema,
  memberCount: z.optional(z.nullable(countSchema)),
  /** The same for descendants that had left its group. */
  strays: processesSchema,
  strayCount: z.optional(z.nullable(countSchema)),
  /** Signals that were sent, in order, such as `SIGTERM`. */
  signals: z.optional(z.array(z.string())),
  outcome: z.optional(processOutcomeSchema),
  /** Bytes of output that no call has returned yet. */
  unreadBytes: z.optional(countSchema),
  shown: z.optional(shownSchema),
});
/** The `structured` member of a `kill_session` call. */
export type KilledSession = z.infer<typeof killedSessionSchema>;

/** The `structured` member of a `read_output` call; the output itself is the end of the text. */
const outputPartSchema = z.object({
  sessionId: countSchema,
  range: byteRangeSchema,
  /** Bytes written so far. */
  end: countSchema,
  closed: z.boolean(),
  outcome: processOutcomeSchema,
  /** Parts of the range that were not retained. */
  gone: z.array(byteRangeSchema),
  /** A safety bound that changed the request, one sentence each. */
  notices: z.optional(z.array(z.string())),
  shown: z.optional(shownSchema),
});
/** The `structured` member of a `read_output` call. */
export type OutputPart = z.infer<typeof outputPartSchema>;

/** The `structured` member of a `read_screen` call. */
const screenSchema = z.object({
  sessionId: countSchema,
  size: terminalSizeSchema,
  /** Text of each row, without the blanks at its end, and without the empty rows at the end. */
  rows: z.array(z.string()),
  /** Row and column count from 1. */
  cursor: z.object({ row: countSchema, col: countSchema, visible: z.boolean() }),
  /** As the program set it; empty when it did not. */
  title: z.string(),
  /** The program shows its alternate screen, as editors do. */
  alternate: z.boolean(),
  /** What changes the input that the program expects. */
  modes: z.object({
    bracketedPasteMode: z.boolean(),
    applicationCursorKeysMode: z.boolean(),
    applicationKeypadMode: z.boolean(),
    mouseTrackingMode: z.enum(["none", "x10", "vt200", "drag", "any"]),
  }),
  /** Bytes of output that the screen shows the effect of. */
  upTo: countSchema,
  /** Output that was not retained: what it would have changed is missing. */
  gone: z.array(byteRangeSchema),
  outcome: processOutcomeSchema,
  closed: z.boolean(),
  shown: z.optional(shownSchema),
});
/** The `structured` member of a `read_screen` call. */
export type Screen = z.infer<typeof screenSchema>;

/** The `structured` members of the standard tools, by name. */
export interface StandardToolResults {
  exec_command: UnifiedExecResult;
  write_stdin: UnifiedExecResult;
  list_sessions: SessionList;
  kill_session: KilledSession;
  read_output: OutputPart;
  read_screen: Screen;
}

/** The name of a standard tool. */
export type StandardToolName = keyof typeof STANDARD_TOOLS;

/** Schemas of the standard tools without a contract, whose results an executor may answer as it likes. */
export const SESSION_TOOL_RESULTS = {
  list_sessions: sessionListSchema,
  kill_session: killedSessionSchema,
  read_output: outputPartSchema,
  read_screen: screenSchema,
} as const satisfies Partial<Record<StandardToolName, z.ZodMiniType>>;
