import type { OutputStream, ProcessOutcome } from "@codex/executor-protocol";
import type { ClientError } from "../errors.js";

/** How a process ended, as reported by the server. */
export interface Exit {
  /** 128 + n for signal n and -1 for an unknown one, unless `outcome` is more precise. */
  exitCode: number;
  sandboxDenied: boolean;
  /** Only from servers that distinguish signals from exit codes. */
  outcome?: Extract<ProcessOutcome, { kind: "exited" | "signaled" | "failed_to_start" }>;
}

/** Events of a process as the server numbers them, from 1. `closed` is the last. */
export type NumberedEvent =
  | {
      kind: "output";
      seq: number;
      stream: OutputStream;
      bytes: Buffer;
      /** Bytes of output before it; only from servers that report them where output was evicted before it. */
      bytesBefore?: number;
    }
  | ({ kind: "exited"; seq: number } & Exit)
  | { kind: "closed"; seq: number };

/**
 * Events of a process as a consumer receives them: in the order of `seq`, each once. `closed` or `failed` is the last.
 *
 * `gap`: the server evicted `chunks` chunks of output before they were received. `endsAt`: the bytes of output up to its end, where
 * the server reports them. `chunkBytes`: usual size of the chunks that were read with it, 0 for none.
 */
export type ProcessEvent =
  | NumberedEvent
  | { kind: "gap"; chunks: number; chunkBytes: number; endsAt?: number }
  /** The state of the process can no longer be determined; it may still be running. */
  | { kind: "failed"; error: ClientError };

/** All chunks after a given `seq`, as read with `process/read`, and the state of the process at the last read. */
export interface Catchup {
  chunks: Extract<NumberedEvent, { kind: "output" }>[];
  /** The number the next event will have. */
  nextSeq: number;
  exit: Exit | undefined;
  closed: boolean;
}
