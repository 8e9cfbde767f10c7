import type { Item, Usage } from "@codex/model";
import type { CallDecision } from "@codex/orchestrator";

/** An entry of a saved thread; the entries suffice to resume it after a crash and to report on its calls. */
export type ThreadEntry =
  | { readonly type: "item"; readonly item: Item }
  | {
      readonly type: "turn_started";
      readonly turnId: string;
      readonly model: string;
      readonly cwd: string | undefined;
      readonly environment: string | undefined;
    }
  /** Start of the user's prompt; Codex uses such a line to find a thread, and as its title. */
  | { readonly type: "prompt"; readonly text: string }
  /** Written before a call starts; a call without it was never started. */
  | {
      readonly type: "call_started";
      readonly callId: string;
      readonly name: string;
      readonly environment: string | undefined;
    }
  /** What the tool needs to describe the outcome if this process is killed during the call. */
  | { readonly type: "call_checkpoint"; readonly callId: string; readonly checkpoint: object }
  | {
      readonly type: "call_finished";
      readonly callId: string;
      readonly wallMs: number;
      readonly decidedBy?: CallDecision["by"];
      /** The rules that match the call, joined by `; `. */
      readonly rule?: string;
    }
  /** The endpoint supports function tools only. */
  | { readonly type: "functions_only" }
  | { readonly type: "usage"; readonly turnId: string; readonly usage: Usage; readonly total: Usage }
  /** Replaces the history by these items. */
  | {
      readonly type: "compacted";
      readonly items: readonly Item[];
      readonly tokensBefore: number;
      /** Why; empty when written by Codex. */
      readonly reason: string;
    }
  | {
      readonly type: "turn_ended";
      readonly turnId: string;
      readonly outcome: "completed" | "failed" | "interrupted";
      readonly error: string | undefined;
      readonly wallMs: number;
    };

/** An entry could not be saved: the turn ends, since its further entries would be missing from the thread. */
export class ThreadWriteError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ThreadWriteError";
  }
}

/** Persists the entries of a thread. */
export interface ThreadRecorder {
  /** The file that it writes, for hooks. */
  readonly path?: string;
  /**
   * Resolves when the entry survives the end of this process; `call_started`, when it survives the end of the host. Entries keep
   * the order of the calls.
   * @throws ThreadWriteError when it cannot be saved
   */
  append(entry: ThreadEntry): Promise<void>;
}
