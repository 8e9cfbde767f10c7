import type { OutputStream, ProcessOutcome } from "@codex/executor-protocol";
import type { ClientError } from "../errors.js";

/** How a process ended, as the server tells it. */
export interface Exit {
  /** 128 + the number of a signal, as servers tell it. */
  exitCode: number;
  sandboxDenied: boolean;
  /** Where the server tells more. */
  outcome?: Extract<ProcessOutcome, { kind: "exited" | "signaled" }>;
}

/** What the server tells of a process, by one counter from 1. `closed` is the last. */
export type NumberedEvent =
  | { kind: "output"; seq: number; stream: OutputStream; bytes: Buffer }
  | ({ kind: "exited"; seq: number } & Exit)
  | { kind: "closed"; seq: number };

/**
 * What a consumer is told of a process, in the order of `seq`, each once. `closed` or `failed` is the last.
 *
 * `gap`: the server kept too little output while the connection was away, and `chunks` pieces of it are gone. How many
 * bytes they had is not known, so byte offsets of the output log count what was received alone.
 */
export type ProcessEvent =
  | NumberedEvent
  | { kind: "gap"; chunks: number }
  /** Nothing more can be learned of the process; it may still run. */
  | { kind: "failed"; error: ClientError };

/** All chunks after a given `seq` as `process/read` tells them, and the state at the last answer. */
export interface Catchup {
  chunks: Extract<NumberedEvent, { kind: "output" }>[];
  /** The number the next event will have. */
  nextSeq: number;
  exit: Exit | undefined;
  closed: boolean;
}
